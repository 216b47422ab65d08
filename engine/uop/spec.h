#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/uop/uop.h"

namespace assay::uop {

// A claim about each node of a graph, or about all of them together.
class Invariant {
 public:
  using Broken = std::optional<std::string>;
  // What breaks the claim at u, or nothing. Only what lies at and below u may be looked at, since
  // each node of a graph is asked once. `called` is u's name in the text: "%3 = add".
  using OfNode = Broken (*)(Graph& g, Ref u, std::string_view called);
  // What breaks it below root, or nothing.
  using OfGraph = Broken (*)(Graph& g, Ref root);

  Invariant(std::string_view name, OfNode of_node);
  Invariant(std::string_view name, OfGraph of_graph);

  Broken breach(Graph& g, Ref root) const;
  // The first of several that is broken: "not NAME: …".
  static Broken first_breach(std::span<const Invariant* const> invariants, Graph& g, Ref root);

 private:
  static bool keep_nodes(std::span<const Invariant* const> invariants, Graph& g, Ref root);

  std::string_view name_;
  OfNode of_node_ = nullptr;
  OfGraph of_graph_ = nullptr;
  uint32_t bit_;  // its own, in Facts::kept
};

// What may appear in a graph, and what holds of it.
struct Spec {
  std::string_view name;
  OpSet ops;
  std::vector<const Invariant*> invariants;
};

// The ops of root and of all below it, bodies of CALLs included.
OpSet ops_below(Graph& g, Ref root);

// Whether every graph that meets `a` meets `b`: set inclusion, so that it can be asked of the
// passes of a pipeline without running them.
bool implies(const Spec& a, const Spec& b);

// What of the spec the graph breaks first: "kernel: %3 = barrier does not belong here".
std::optional<std::string> breach(const Spec& spec, Graph& g, Ref root);

// Every node is what verify() asks for.
const Invariant& well_formed();
// No node has type `index`: what a device runs has widths. Only the sizes of a BUFFER, a PARAM and
// a SHRINK, which are constants that nothing computes with, keep it.
const Invariant& fixed_width();

// Any well-formed graph.
const Spec& graph_spec();
// Well-formed scalar terms.
const Spec& term_spec();

}  // namespace assay::uop
