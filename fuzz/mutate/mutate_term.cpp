#include "fuzz/mutate/mutate_term.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/uop/node_map.h"
#include "engine/uop/text.h"
#include "engine/uop/verify.h"
#include "engine/uop/walk.h"
#include "fuzz/trial/graph_case.h"
#include "fuzz/trial/term_trial.h"

namespace assay::fuzz {

using uop::DType;
using uop::Op;
using uop::Ref;

namespace {

// Whether the bits of u are known where u is NaN: as given, or never.
bool has_known_bits(Ref u) {
  if (uop::is_const(u) || u->op == Op::Variable || u->op == Op::Invalid || u->op == Op::Bitcast) {
    return true;
  }
  if (u->op != Op::Where || !uop::is_const(u->src[2]) || uop::is_nan(u->src[2]->value())) {
    return false;
  }
  const Ref is_number = u->src[0];
  return is_number->op == Op::Eq && is_number->src[0] == u->src[1] &&
         is_number->src[1] == u->src[1];
}

// The same term, in which zero stands for a NaN whose bits are read.
Ref with_known_bits(uop::Graph& g, Ref root) {
  uop::NodeMap<Ref> made;
  for (const Ref u : uop::toposort(g, root)) {
    std::vector<Ref> src;
    for (const Ref s : u->src) src.push_back(made.at(s));
    if (u->op == Op::Bitcast && uop::is_float(src[0]->dtype) && !has_known_bits(src[0])) {
      const Ref is_number = g.alu(Op::Eq, {src[0], src[0]});
      src[0] = g.alu(Op::Where, {is_number, src[0], g.constant(uop::zero_of(src[0]->dtype))});
    }
    made.set(u, g.with_sources(u, src));
  }
  return made.at(root);
}

// The operations of a term as its text has them, up to one more than may be.
size_t ops_in_text(uop::Graph& g, Ref root) {
  uop::NodeMap<size_t> counts;
  for (const Ref u : uop::toposort(g, root)) {
    size_t n = uop::is_scalar(u->op) ? 1 : 0;
    for (const Ref s : u->src) n = std::min(n + counts.at(s), kMostTermOps + 1);
    counts.set(u, n);
  }
  return counts.at(root);
}

std::map<std::string_view, Ref> variables_of(uop::Graph& g, Ref root) {
  std::map<std::string_view, Ref> variables;
  for (const Ref u : uop::toposort(g, root)) {
    if (u->op == Op::Variable) variables.emplace(u->arg.name(), u);
  }
  return variables;
}

// The variable u under another name.
Ref renamed(uop::Graph& g, Ref u, std::string_view name) {
  const std::vector<int64_t> ends(u->arg.numbers().begin(), u->arg.numbers().end());
  return g.make(Op::Variable, u->dtype, {}, g.symbol(name, ends));
}

// b in which each variable that has a namesake in a is that one where their types agree, and has a
// name of its own where they do not.
Ref joined(uop::Graph& g, Ref a, Ref b) {
  const std::map<std::string_view, Ref> known = variables_of(g, a);
  uop::Substitution map;
  for (const Ref u : uop::toposort(g, b)) {
    if (u->op != Op::Variable) continue;
    const auto found = known.find(u->arg.name());
    if (found == known.end() || found->second == u) continue;
    map[u] = found->second->dtype == u->dtype
                 ? found->second
                 : renamed(g, u, fmt::format("{}_{}", u->arg.name(), to_text(u->dtype)));
  }
  return map.empty() ? b : uop::substitute(g, b, map);
}

// One variable of each name: others of that name give way to the first.
Ref with_one_of_a_name(uop::Graph& g, Ref root) {
  const std::map<std::string_view, Ref> first = variables_of(g, root);
  uop::Substitution map;
  std::map<std::pair<std::string_view, DType>, Ref> others;
  for (const Ref u : uop::toposort(g, root)) {
    if (u->op != Op::Variable || first.at(u->arg.name()) == u) continue;
    const Ref one = first.at(u->arg.name());
    if (one->dtype == u->dtype) {
      map[u] = one;
      continue;
    }
    Ref& other = others[{u->arg.name(), u->dtype}];
    if (other == nullptr) {
      std::string name = fmt::format("{}_{}", u->arg.name(), to_text(u->dtype));
      while (first.contains(name)) name += "_";
      other = renamed(g, u, name);
    }
    map[u] = other;
  }
  return map.empty() ? root : uop::substitute(g, root, map);
}

// What may be tried of it, or null.
Ref settled(uop::Graph& g, Ref root) {
  if (root == nullptr) return nullptr;
  root = with_known_bits(g, with_one_of_a_name(g, root));
  return is_term_to_try(g, root) ? root : nullptr;
}

}  // namespace

TermMutator::TermMutator(uop::Graph& graph, Ref term, Choices& choices)
    : g(graph), c(choices), root(term), nodes(uop::toposort(graph, term)), maker(graph, choices) {}

Ref TermMutator::with(Ref u, Ref other) {
  return u == root ? other : uop::substitute(g, root, {{u, other}});
}

Ref mutate_term(uop::Graph& g, Ref term, Choices& c, std::vector<std::string_view>* done) {
  const std::span<const TermMutation> rows = term_mutations();
  uint64_t weights = 0;
  for (const TermMutation& row : rows) weights += static_cast<uint64_t>(row.weight);
  const int64_t times = c.chance(1, 2) ? 1 : c.between(2, 4);
  Ref result = term;
  int64_t changes = 0;
  for (int attempt = 0; attempt < 32 && changes < times; attempt++) {
    const TermMutation* row = rows.data();
    for (uint64_t at = c.below(weights); at >= static_cast<uint64_t>(row->weight); row++) {
      at -= static_cast<uint64_t>(row->weight);
    }
    TermMutator m(g, result, c);
    const Ref changed = settled(g, row->apply(m));
    if (changed == nullptr || changed == result) continue;
    result = changed;
    changes++;
    if (done != nullptr) done->push_back(row->name);
  }
  return result;
}

Ref splice_terms(uop::Graph& g, Ref a, Ref b, Choices& c) {
  TermMutator to(g, a, c);
  TermMutator from(g, joined(g, a, b), c);
  for (int attempt = 0; attempt < 8; attempt++) {
    const Ref part = from.any();
    const Ref place = to.some([&](Ref u) { return u->dtype == part->dtype && u != part; });
    Ref made = nullptr;
    if (place != nullptr) {
      made = to.with(place, part);
    } else {
      const Ref other = to.some([](Ref u) { return uop::kScalars.has(u->dtype); });
      made = to.with(other, g.make(Op::Cast, other->dtype, {part}));
    }
    if (const Ref result = settled(g, made); result != nullptr && result != a) return result;
  }
  return a;
}

Case mutate_terms(const Case& c, const Case& other, Choices& choices) {
  const std::vector<std::string_view> others = graphs_of(other);
  Case result = c;
  result.graph.clear();
  for (const std::string_view text : graphs_of(c)) {
    uop::Graph g;
    const auto term_of = [&](std::string_view of) -> Ref {
      const Result<uop::Parsed> parsed = uop::from_text(g, of);
      return parsed.ok() && is_term_to_try(g, parsed.value().root) ? parsed.value().root : nullptr;
    };
    const Ref term = term_of(text);
    const Ref with = choices.chance(1, 8) ? term_of(others[choices.below(others.size())]) : nullptr;
    const Ref made = term == nullptr   ? make_term(g, choices)
                     : with != nullptr ? splice_terms(g, term, with, choices)
                                       : mutate_term(g, term, choices);
    result.graph += uop::to_text(g, made, "term");
  }
  return result;
}

bool is_term_to_try(uop::Graph& g, Ref term) {
  std::map<std::string_view, Ref> variables;
  for (const Ref u : uop::toposort(g, term)) {
    const bool is_leaf = u->op == Op::Const || u->op == Op::Variable || u->op == Op::Invalid;
    if (!is_leaf && !uop::is_scalar(u->op)) return false;
    if (uop::verify_node(u)) return false;
    if (u->op == Op::Variable && variables.emplace(u->arg.name(), u).first->second != u) {
      return false;
    }
    if (u->op == Op::Bitcast && uop::is_float(u->src[0]->dtype) && !has_known_bits(u->src[0])) {
      return false;
    }
  }
  return ops_in_text(g, term) <= kMostTermOps;
}

}  // namespace assay::fuzz
