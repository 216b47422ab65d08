#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/uop/uop.h"
#include "fuzz/trial/case.h"
#include "oracles/choices.h"
#include "props/firings/term.h"

namespace assay::fuzz {

using oracles::Choices;

// A term keeps to so many operations, each counted as often as it stands in its text.
inline constexpr size_t kMostTermOps = 64;

// What a mutation works on: the nodes of a term, in the order of their sources.
class TermMutator {
 public:
  TermMutator(uop::Graph& graph, uop::Ref term, Choices& choices);

  uop::Graph& g;
  Choices& c;
  uop::Ref root;
  std::vector<uop::Ref> nodes;
  props::TermMaker maker;

  // One of the nodes for which `claim` holds, or null.
  template <typename Claim>
  uop::Ref some(Claim claim) {
    std::vector<uop::Ref> all;
    for (const uop::Ref u : nodes) {
      if (claim(u)) all.push_back(u);
    }
    return all.empty() ? nullptr : all[c.below(all.size())];
  }
  uop::Ref any() { return nodes[c.below(nodes.size())]; }
  // The term with another node in the place of this one.
  uop::Ref with(uop::Ref u, uop::Ref other);
};

// A way to change a term: what it becomes, or null where it finds nothing to change.
struct TermMutation {
  std::string_view name;
  int weight;
  uop::Ref (*apply)(TermMutator& m);
};
std::span<const TermMutation> term_mutations();

// Another term of scalars, by a mutation or by a few: well-formed, of variables and constants, and
// judgeable (below), whatever such term it is that is changed. `done` collects names of mutations.
uop::Ref mutate_term(uop::Graph& g, uop::Ref term, Choices& choices,
                     std::vector<std::string_view>* done = nullptr);
// A part of b (a term of the same graph) in the place of a part of a, or beside a.
uop::Ref splice_terms(uop::Graph& g, uop::Ref a, uop::Ref b, Choices& choices);

// The same of the terms of a case (fuzz/trial/graph_case.h), each changed or spliced with one of
// another case. What is no such term, such as movement, is made anew.
Case mutate_terms(const Case& c, const Case& other, Choices& choices);

// Whether a term is one that firings can be judged on: scalar operations over variables, constants
// and Invalid, no more of them than may be, a variable of each name, and no NaN that arithmetic
// makes is read as an integer (which of its bit patterns that is, nothing says).
bool is_term_to_try(uop::Graph& g, uop::Ref term);

}  // namespace assay::fuzz
