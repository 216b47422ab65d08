#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/uop/uop.h"

namespace assay::uop {

// A claim about a whole graph.
struct Invariant {
  std::string_view name;
  // What breaks the claim, or nothing.
  std::optional<std::string> (*breach)(Graph& g, Ref root);
};

// What may appear in a graph, and what holds of it.
struct Spec {
  std::string_view name;
  OpSet ops;
  std::vector<const Invariant*> invariants;
};

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
