#include "fuzz/trial/term_trial.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/codegen/decompose.h"
#include "engine/uop/rules/rules.h"
#include "engine/uop/simplify.h"
#include "engine/uop/verify.h"
#include "fuzz/trial/firing_judge.h"
#include "props/firings/term.h"

namespace assay::fuzz {

using props::TermMaker;
namespace {

using uop::DType;
using uop::Pat;
using uop::Ref;

struct RuleOfTerms {
  const uop::Rule* rule;
  std::vector<DType> types;  // that it is about
};

// Whether a rule is one of scalars: of any set that simplifies, or one of those that lower integers
// and is a term, which programs may have no occasion for.
bool is_of_terms(const uop::RuleSet& set, const uop::Rule& rule) {
  return &set != &uop::movement_rules() &&
         (&set != &codegen::lower_integer_rules() || rule.by == nullptr);
}

std::vector<const uop::RuleSet*> sets_of_terms() {
  const auto all = uop::all_rules();
  std::vector<const uop::RuleSet*> sets(all.begin(), all.end());
  sets.push_back(&codegen::lower_integer_rules());
  return sets;
}

const std::vector<RuleOfTerms>& rules_of_terms() {
  static const std::vector<RuleOfTerms> rows = [] {
    std::vector<RuleOfTerms> result;
    for (const uop::RuleSet* set : sets_of_terms()) {
      for (const uop::Rule& rule : set->rules()) {
        if (!is_of_terms(*set, rule)) continue;
        RuleOfTerms row = {&rule, {}};
        for (int i = 0; i < uop::kDTypeCount; i++) {
          if (rule.over.has(DType(i))) row.types.push_back(DType(i));
        }
        if (!row.types.empty()) result.push_back(std::move(row));
      }
    }
    return result;
  }();
  return rows;
}

// Finds the types of holes by where they stand.
class HoleTypes {
 public:
  explicit HoleTypes(DType operands) : operands_(operands) {}

  void visit(const Pat& p, DType t) {
    if (p->what == Pat::What::Hole || p->what == Pat::What::Constant) {
      types.emplace(p->name, type_in(p->over, t));
    }
    const bool turns = p->what == Pat::What::Apply && (info(p->op).typing == uop::Typing::Compare ||
                                                       info(p->op).typing == uop::Typing::Convert);
    for (size_t i = 0; i < p->args.size(); i++) {
      const bool is_condition = p->op == uop::Op::Where && i == 0;
      visit(p->args[i], is_condition ? DType::Bool : turns ? operands_ : t);
    }
    collect_constants(p);
  }

  std::map<std::string_view, DType> types;
  std::map<std::string_view, bool> is_constant;

 private:
  // One of a hole's types, the one of its place where it may have that.
  DType type_in(uop::TypeSet over, DType t) const {
    if (over.has(t)) return t;
    for (int i = 0; !over.has(operands_) && i < uop::kDTypeCount; i++) {
      if (over.has(DType(i))) return DType(i);
    }
    return operands_;
  }
  void collect_constants(const Pat& p) {
    if (p->what == Pat::What::Constant) is_constant[p->name] = true;
  }

  DType operands_;  // of comparisons and casts
};

// The pattern in a place of a type: a conversion without a type of its own has that of its place,
// which is `operands` where it is compared.
Pat placed(const Pat& p, DType type, DType operands) {
  if (p->what != Pat::What::Apply) return p;
  const uop::Typing typing = info(p->op).typing;
  const bool converts = typing == uop::Typing::Convert;
  const DType place = typing == uop::Typing::Compare ? operands : converts ? DType::Void : type;
  std::vector<Pat> args;
  for (size_t i = 0; i < p->args.size(); i++) {
    const bool is_condition = p->op == uop::Op::Where && i == 0;
    args.push_back(placed(p->args[i], is_condition ? DType::Bool : place, DType::Void));
  }
  const Pat result(p->op, std::move(args));
  const DType own = converts && p->type == DType::Void ? type : p->type;
  return own == DType::Void ? result : result.as(own);
}

constexpr DType kOperands[] = {DType::Index, DType::Index, DType::Index, DType::I32,
                               DType::U8,    DType::F32,   DType::Bool};

// The rule's match at type t; null where it has no value. Where types of holes were guessed wrong
// it is ill-formed.
Ref instance_of(const uop::Rule& rule, DType t, uop::Graph& g, TermMaker& maker, Choices& c) {
  const uop::Typing typing =
      rule.match->what == Pat::What::Apply ? info(rule.match->op).typing : uop::Typing::Same;
  const bool turns = typing == uop::Typing::Compare || typing == uop::Typing::Convert;
  const DType operands = turns ? t : kOperands[c.below(std::size(kOperands))];
  DType root = t;
  if (typing == uop::Typing::Compare) root = DType::Bool;
  if (typing == uop::Typing::Convert) root = kOperands[c.below(std::size(kOperands))];
  HoleTypes found(operands);
  found.visit(rule.match, root);
  const std::vector<std::string_view> holes = uop::hole_names(rule.match);
  uop::Match match;
  for (size_t i = 0; i < holes.size(); i++) {
    const DType type = found.types[holes[i]];
    if (found.is_constant[holes[i]]) {
      const bool is_small = type == DType::Index || c.chance(2, 3);
      match.holes[i] = g.constant(is_small && type != DType::Bool
                                      ? uop::of_int(type, c.between(uop::is_unsigned(type) ? 0 : -4,
                                                                    type == DType::Index ? 32 : 9))
                                      : c.value(type));
    } else {
      match.holes[i] = maker.term(type, static_cast<int>(c.below(3)));
    }
  }
  return uop::Builder(placed(rule.match, root, operands), holes).build(g, match, root);
}

// Sets of one rule each, under the names of the sets that they are of, by the operation at the root
// of what they match.
std::span<const uop::RuleSet* const> rules_alone(uop::Op root) {
  struct Alone {
    std::vector<std::unique_ptr<uop::RuleSet>> sets;
    std::vector<const uop::RuleSet*> by_root[uop::kOpCount];
  };
  static const Alone alone = [] {
    Alone a;
    for (const uop::RuleSet* set : sets_of_terms()) {
      for (const uop::Rule& rule : set->rules()) {
        if (!is_of_terms(*set, rule)) continue;
        a.sets.push_back(std::make_unique<uop::RuleSet>(set->name(), std::vector{rule}));
      }
    }
    for (const auto& set : a.sets) {
      for (int i = 0; i < uop::kOpCount; i++) {
        if (set->roots().has(static_cast<uop::Op>(i))) a.by_root[i].push_back(set.get());
      }
    }
    return a;
  }();
  return alone.by_root[static_cast<int>(root)];
}

}  // namespace

Ref make_term(uop::Graph& g, Choices& c) {
  TermMaker maker(g, c);
  const std::vector<RuleOfTerms>& rules = rules_of_terms();
  const RuleOfTerms& row = rules[c.below(rules.size())];
  const DType t = row.types[c.below(row.types.size())];
  if (row.rule->by == nullptr && c.chance(7, 8)) {
    const Ref made = instance_of(*row.rule, t, g, maker, c);
    if (made != nullptr && !uop::verify(g, made)) return made;
  } else if (row.rule->by != nullptr && c.chance(7, 8)) {
    std::vector<uop::Op> roots;
    for (int i = 0; i < uop::kOpCount; i++) {
      const auto op = static_cast<uop::Op>(i);
      if (row.rule->roots.has(op) && uop::is_scalar(op) && info(op).over.has(t)) {
        roots.push_back(op);
      }
    }
    if (!roots.empty()) {
      return maker.rooted(roots[c.below(roots.size())], t, static_cast<int>(c.below(8)));
    }
  }
  return maker.term(t, static_cast<int>(c.between(1, 16)));
}

std::optional<Finding> try_term(uop::Graph& g, Ref term, const uop::Switches& switches,
                                uop::Watch* watch) {
  FiringJudge judge;
  Watches watches({&judge, watch});
  uop::Run run(g, switches, &watches);
  const Result<Ref> simple = uop::simplify(run, term);
  for (const uop::RuleSet* set : rules_alone(term->op)) {
    // One that has no end by itself is one of those that only end together.
    (void)run.rewrite({&set, 1}, term);
  }
  if (judge.counterexample()) {
    const std::string& why = *judge.counterexample();
    return Finding{"firings", why.substr(0, why.find(' ')), "value", why};
  }
  if (!simple.ok()) return Finding{"simplify", "circle", "", simple.error().message};
  const Result<Ref> again = uop::simplify(run, simple.value());
  if (again.ok() && again.value() == simple.value()) return std::nullopt;
  return Finding{"simplify", "twice", "", "to simplify again changes the term"};
}

}  // namespace assay::fuzz
