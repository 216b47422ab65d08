#pragma once

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/uop/pattern.h"
#include "engine/uop/refines.h"
#include "engine/uop/rewrite.h"
#include "engine/uop/rule.h"

// Tries to refute a rule, for tests: its pattern is written out with random terms for the holes,
// the rule itself is applied, and what it makes is judged by evaluation.
namespace assay::uop {

struct RuleBudget {
  int firings = 60;             // that are judged
  int attempts = 4000;          // terms that are made at most
  size_t points = 48;           // of one judgement
  size_t exhaustive = 1 << 16;  // points of the judgements of plain holes
};

struct RuleVerdict {
  int firings = 0;
  size_t points = 0;
  std::vector<int> fired;  // how often each of the rule's ways to match fired
  std::optional<std::string> counterexample;
};

namespace detail {

// A term for a rule's pattern, random where the pattern leaves a choice.
class Instance {
 public:
  // `plain`: every hole is a variable that may be anything.
  Instance(Graph& g, Random& random, bool plain) : g_(g), random_(random), plain_(plain) {}

  // The match side with `over` the type that the rule's `over` speaks of; null where no types fit.
  Ref make(const Pat& match, DType over) {
    const Typing typing = info(match->op).typing;
    if (typing == Typing::Convert) {
      const DType own = match->type != Void ? match->type : any_type(kScalars);
      const Ref operand = term(match->args[0], over);
      return operand == nullptr ? nullptr : g_.make(match->op, own, {operand});
    }
    return apply(match, typing == Typing::Compare ? Bool : over, over);
  }

 private:
  DType any_type(TypeSet types) {
    std::vector<DType> all;
    for (int i = 0; i < kDTypeCount; i++) {
      if (types.has(DType(i))) all.push_back(DType(i));
    }
    return all[random_.below(all.size())];
  }

  // The types that all holes of a comparison's or cast's operand allow, and a known hole's own.
  TypeSet types_of(const Pat& pat) const {
    if (pat->what == Pat::What::Hole || pat->what == Pat::What::Constant) {
      const auto known = holes_.find(pat->name);
      return known == holes_.end() ? pat->over : TypeSet{known->second->dtype};
    }
    if (pat->what != Pat::What::Apply) return kScalars;
    const Typing typing = info(pat->op).typing;
    if (typing == Typing::Compare) return kBool;
    if (typing == Typing::Convert) return pat->type != Void ? TypeSet{pat->type} : kScalars;
    TypeSet types = info(pat->op).over;
    for (size_t i = pat->op == Op::Where ? 1 : 0; i < pat->args.size(); i++) {
      types = types & types_of(pat->args[i]);
    }
    return types;
  }

  TypeSet operand_types(const Pat& pat) const {
    TypeSet types = kScalars;
    for (const Pat& arg : pat->args) types = types & types_of(arg);
    return types;
  }

  Ref term(const Pat& pat, DType t) {
    switch (pat->what) {
      case Pat::What::Literal: return g_.constant(of_int(t, pat->literal));
      case Pat::What::Hole:
      case Pat::What::Constant: return hole(pat, t);
      default: break;
    }
    const Typing typing = info(pat->op).typing;
    if (typing != Typing::Compare && typing != Typing::Convert) return apply(pat, t, t);
    const TypeSet types = operand_types(pat);
    if (types.empty() || (typing == Typing::Compare && t != Bool)) return nullptr;
    return apply(pat, t, any_type(types));
  }

  Ref apply(const Pat& pat, DType own, DType operands) {
    if (pat->args.empty()) return g_.make(pat->op, own, {});
    std::vector<Ref> sources;
    for (size_t i = 0; i < pat->args.size(); i++) {
      const bool condition = pat->op == Op::Where && i == 0;
      const Ref s = term(pat->args[i], condition ? Bool : operands);
      if (s == nullptr) return nullptr;
      sources.push_back(s);
    }
    if (commutes(pat->op) && random_.once_in(2)) std::swap(sources[0], sources[1]);
    return g_.make(pat->op, own, sources);
  }

  Ref hole(const Pat& pat, DType t) {
    const auto known = holes_.find(pat->name);
    if (known != holes_.end()) return known->second->dtype == t ? known->second : nullptr;
    if (!pat->over.has(t)) return nullptr;
    const Ref u = pat->what == Pat::What::Constant ? g_.constant(any_value(random_, t))
                                                   : operand(pat->name, t);
    holes_[pat->name] = u;
    return u;
  }

  Ref operand(std::string_view name, DType t) {
    if (plain_) return g_.variable(name, t);
    switch (random_.below(10)) {
      case 0: return g_.make(Op::Invalid, t, {});
      case 1: {
        const Ref p = g_.variable(fmt::format("{}.p", name), Bool);
        return g_.make(Op::Where, t, {p, variable(name, t), g_.make(Op::Invalid, t, {})});
      }
      case 2:
      case 3: {  // unspecified where a divisor is zero
        const Ref n = g_.variable(fmt::format("{}.n", name), I8);
        const Ref d = g_.variable(fmt::format("{}.d", name), of_int(I8, -1), of_int(I8, 1));
        const Ref sign = g_.alu(Op::Lt, {g_.alu(Op::Div, {n, d}), g_.constant(I8, 0)});
        return g_.make(Op::Where, t, {sign, variable(name, t), g_.constant(zero_of(t))});
      }
      case 4: return g_.constant(any_value(random_, t));
      default: return variable(name, t);
    }
  }

  Ref variable(std::string_view name, DType t) {
    if (is_float(t) || t == Bool || random_.once_in(4)) return g_.variable(name, t);
    Value lo = any_value(random_, t);
    Value hi = any_value(random_, t);
    if (random_.once_in(3)) {  // a short range
      const Int128 last = std::min(as_int(lo) + Int128{random_.below(12)}, max_int(t));
      hi = of_int(t, last);
    }
    if (as_int(hi) < as_int(lo)) std::swap(lo, hi);
    return g_.variable(name, lo, hi);
  }

  Graph& g_;
  Random& random_;
  bool plain_;
  std::map<std::string_view, Ref> holes_;
};

inline size_t variable_holes(const Pat& pat, std::map<std::string_view, bool>& seen) {
  if (pat->what == Pat::What::Hole) seen[pat->name] = true;
  for (const Pat& arg : pat->args) variable_holes(arg, seen);
  return seen.size();
}

// Applies each way to match that the dispatch would try, and judges what fires.
inline void try_instance(Graph& g, const RuleSet& set, const Rule& rule, Ref before, Random& random,
                         size_t points, RuleVerdict& verdict) {
  Run run(g);
  const auto entries = set.entries(before->op);
  size_t way = 0;
  for (const RuleSet::Entry& entry : entries) {
    if (entry.compiled->rule != &rule) continue;
    const size_t index = way++;
    const Op first = before->src.empty() ? Op::Noop : before->src[0]->op;
    const Op second = before->src.size() < 2 ? Op::Noop : before->src[1]->op;
    if (!entry.first.has(first) || !entry.second.has(second)) continue;
    if (!entry.over.has(judged_type(before))) continue;
    const Ref after = apply(run, entry, before);
    if (after == nullptr || after == before) continue;
    verdict.firings++;
    verdict.fired[index]++;
    if (after->dtype != before->dtype) {
      verdict.counterexample = fmt::format("{} and {} differ in type", shown(before), shown(after));
      return;
    }
    const Judged judged = judge(g, before, after, random, points);
    verdict.points += judged.points - judged.excused;
    if (judged.counterexample) {
      verdict.counterexample = judged.counterexample;
      return;
    }
  }
}

}  // namespace detail

// Looks for an instance of a pattern rule of `set` at type `over` that changes a value.
inline RuleVerdict check_rule(const RuleSet& set, const Rule& rule, DType over, uint64_t seed,
                              const RuleBudget& budget = {}) {
  Random random(seed);
  RuleVerdict verdict;
  size_t ways = 0;
  for (const RuleSet::Entry& e : set.entries(rule.match->op)) {
    ways += e.compiled->rule == &rule ? 1 : 0;
  }
  verdict.fired.assign(ways, 0);
  std::map<std::string_view, bool> names;
  const bool narrow = bits_of(over) <= 8 && detail::variable_holes(rule.match, names) <= 2;
  for (int attempt = 0; attempt < budget.attempts && !verdict.counterexample; attempt++) {
    const bool enough =
        verdict.firings >= budget.firings && verdict.points > 0 &&
        std::find(verdict.fired.begin(), verdict.fired.end(), 0) == verdict.fired.end();
    if (enough) break;
    Graph g;
    // One hole in 256 values is judged at all of them each time; two, on the first occasion.
    const bool plain = attempt % 2 == 0;
    const bool all = plain && narrow && (names.size() < 2 || verdict.firings == 0);
    const Ref before = detail::Instance(g, random, plain).make(rule.match, over);
    if (before == nullptr) continue;
    detail::try_instance(g, set, rule, before, random, all ? budget.exhaustive : budget.points,
                         verdict);
  }
  return verdict;
}

}  // namespace assay::uop
