#include "engine/codegen/load_collapse.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "engine/codegen/forms.h"
#include "engine/codegen/opt.h"
#include "engine/uop/bounds.h"
#include "engine/uop/dim.h"
#include "engine/uop/eval.h"
#include "engine/uop/gate.h"
#include "engine/uop/given.h"
#include "engine/uop/rules/rules.h"
#include "engine/uop/scope.h"
#include "engine/uop/sum.h"
#include "engine/uop/walk.h"

namespace assay::codegen {
namespace {

using uop::Bounds;
using uop::DType;
using uop::Graph;
using uop::Op;
using uop::Ref;

// What a fold takes in: a value where all conditions hold, else the fold's unit.
struct Selected {
  std::vector<Ref> conditions;
  Ref value;
};

bool is_value(Ref u, uop::Value v) { return uop::is_const(u) && u->value() == v; }

// The condition that holds where c does not, if there is one without a `not`.
Ref denied(Graph& g, Ref c) {
  if (c->op == Op::Not) return c->src[0];
  return c->op == Op::Ne ? g.alu(Op::Eq, {c->src[0], c->src[1]}) : nullptr;
}

void add_conjuncts(std::vector<Ref>& conditions, Ref c) {
  const std::vector<Ref> parts = uop::conjuncts(c);
  conditions.insert(conditions.end(), parts.begin(), parts.end());
}

Selected selected(Graph& g, Ref x, uop::Value unit) {
  Selected s = {{}, x};
  while (s.value->op == Op::Where) {
    const Ref u = s.value;
    const Ref not_first = is_value(u->src[1], unit) ? denied(g, u->src[0]) : nullptr;
    if (is_value(u->src[2], unit)) {
      add_conjuncts(s.conditions, u->src[0]);
      s.value = u->src[1];
    } else if (not_first != nullptr) {
      add_conjuncts(s.conditions, not_first);
      s.value = u->src[2];
    } else {
      break;
    }
  }
  const Ref u = s.value;
  const bool is_flag = u->op == Op::Cast && u->src[0]->dtype == DType::Bool;
  const Ref flag = is_flag ? u->src[0] : u;
  const bool is_zero_otherwise = unit == uop::zero_of(u->dtype);
  if (flag->dtype == DType::Bool && !uop::is_const(flag) && is_zero_otherwise) {
    add_conjuncts(s.conditions, flag);
    s.value = g.constant(uop::one_of(u->dtype));
  }
  return s;
}

// The integer that u is, as a term of type `index`; null where it may be no such.
Ref as_index(Graph& g, Ref u) {
  if (u->dtype == DType::Index) return u;
  if (!uop::is_fixed_int(u->dtype)) return nullptr;
  if (uop::is_const(u)) {
    const uop::Int128 n = uop::as_int(u->value());
    return uop::fits(DType::Index, n) ? g.constant(uop::of_int(DType::Index, n)) : nullptr;
  }
  if (u->op == Op::Cast && u->src[0]->dtype == DType::Index) {
    const Bounds b = uop::bounds(g, u->src[0]);
    if (b.lo >= uop::min_int(u->dtype) && b.hi <= uop::max_int(u->dtype)) return u->src[0];
  }
  if (u->dtype == DType::U64 && uop::bounds(g, u).hi > uop::max_int(DType::Index)) return nullptr;
  return g.make(Op::Cast, DType::Index, {u});
}

// a - b as rest + sign * range; nothing where it depends on the range in another way.
struct Linear {
  Ref rest;
  int sign;
};
std::optional<Linear> linear_in(Graph& g, Ref a, Ref b, Ref range) {
  const Ref x = as_index(g, a);
  const Ref y = as_index(g, b);
  if (x == nullptr || y == nullptr) return std::nullopt;
  std::optional<uop::Sum> sum = uop::sum_of(g, x);
  const std::optional<uop::Sum> less = uop::sum_of(g, y);
  if (!sum || !less || !sum->add(g, *less, -1)) return std::nullopt;
  int64_t factor = 0;
  for (const uop::Sum::Term& t : sum->terms()) {
    if (t.atom == range) factor = t.factor;
    if (t.atom != range && uop::depends_on(g, t.atom, range)) return std::nullopt;
  }
  if ((factor != 1 && factor != -1) || !sum->add(g, range, -factor)) return std::nullopt;
  return Linear{uop::build(g, *sum), static_cast<int>(factor)};
}

Ref times(Graph& g, Ref u, int64_t factor) {
  uop::Sum sum;
  const std::optional<uop::Sum> terms = uop::sum_of(g, u);
  if (terms && sum.add(g, *terms, factor)) return uop::build(g, sum);
  const Ref n = uop::dim(g, factor);
  return g.alu(Op::Mul, {u, n});
}

// The one iteration that the condition allows, if it names one.
Ref only_iteration(Graph& g, Ref condition, Ref range) {
  if (condition->op != Op::Eq) return nullptr;
  const std::optional<Linear> l = linear_in(g, condition->src[0], condition->src[1], range);
  return l ? times(g, l->rest, -l->sign) : nullptr;
}

// Where x is an iteration of the range; null where it always is.
Ref inside(Graph& g, Ref x, Ref range) {
  const Bounds b = uop::bounds(g, x);
  Ref gate = nullptr;
  if (b.lo < 0) {
    const Ref minus_one = uop::dim(g, -1);
    gate = g.alu(Op::Lt, {minus_one, x});
  }
  const Ref count = range->src[0];
  if (b.hi < uop::bounds(g, count).lo) return gate;
  const Ref below = g.alu(Op::Lt, {x, count});
  return uop::both(g, gate, below);
}

// A term at range = x. What is read there is read where the gate holds only.
class At {
 public:
  At(Graph& g, Ref range, Ref x, Ref gate) : g_(g), range_(range), gate_(gate) {
    done_.set(range, x);
  }

  Ref operator()(Ref root) {
    std::vector<Ref> stack = {root};
    while (!stack.empty()) {
      const Ref u = stack.back();
      if (!is_done(u)) {
        const size_t height = stack.size();
        for (const Ref s : u->src) {
          if (!is_done(s)) stack.push_back(s);
        }
        if (stack.size() > height) continue;
        done_.set(u, rebuilt(u));
      }
      stack.pop_back();
    }
    return now(root);
  }

 private:
  bool is_done(Ref u) { return done_.has(u) || !uop::depends_on(g_, u, range_); }
  Ref now(Ref u) { return done_.has(u) ? done_.at(u) : u; }

  Ref rebuilt(Ref u) {
    sources_.clear();
    for (const Ref s : u->src) sources_.push_back(now(s));
    if (u->op == Op::Index) sources_[1] = uop::also_gated(g_, sources_[1], gate_);
    return g_.with_sources(u, sources_);
  }

  Graph& g_;
  Ref range_;
  Ref gate_;
  uop::NodeMap<Ref> done_;
  std::vector<Ref> sources_;
};

// The fold's operand, with all of it that needs the range at the one iteration that counts.
Ref picked(Graph& g, Ref fold, Ref range) {
  const uop::Value unit = uop::unit_of(fold->arg.fold_op(), fold->dtype);
  Selected s = selected(g, fold->src[0], unit);
  for (size_t i = 0; i < s.conditions.size(); ++i) {
    const Ref x = only_iteration(g, s.conditions[i], range);
    if (x == nullptr) continue;
    s.conditions.erase(s.conditions.begin() + static_cast<std::ptrdiff_t>(i));
    const Ref gate = inside(g, x, range);
    At at(g, range, x, gate);
    const Ref otherwise = g.constant(unit);
    Ref result = at(s.value);
    // What a condition reads is there only where the gate holds, so it is asked within.
    for (size_t k = s.conditions.size(); k-- > 0;) {
      const Ref condition = at(s.conditions[k]);
      result = g.make(Op::Where, fold->dtype, {condition, result, otherwise});
    }
    if (gate == nullptr) return result;
    return g.make(Op::Where, fold->dtype, {gate, result, otherwise});
  }
  return nullptr;
}

// From which iteration on and up to which a condition holds; null where it sets no end.
struct Interval {
  Ref from = nullptr;
  Ref to = nullptr;
};
std::optional<Interval> interval_of(Graph& g, Ref condition, Ref range) {
  const bool is_denied = condition->op == Op::Not;
  const Ref c = is_denied ? condition->src[0] : condition;
  if (c->op != Op::Lt) return std::nullopt;
  const std::optional<Linear> l = linear_in(g, c->src[0], c->src[1], range);
  if (!l) return std::nullopt;
  // rest + r < 0 is r < -rest, and rest - r < 0 is r >= rest + 1.
  const Ref end = times(g, l->rest, -l->sign);
  const Ref one = uop::dim(g, 1);
  const Ref at = l->sign > 0 ? end : uop::dim_add(g, end, one);
  return (l->sign > 0) != is_denied ? Interval{nullptr, at} : Interval{at, nullptr};
}

// The sum of equal values, as often as conditions of the range hold.
Ref counted(Graph& g, Ref fold, Ref range) {
  if (fold->arg.fold_op() != Op::Add || !uop::is_fixed_int(fold->dtype)) return nullptr;
  const uop::Value zero = uop::zero_of(fold->dtype);
  const Selected s = selected(g, fold->src[0], zero);
  if (uop::depends_on(g, s.value, range)) return nullptr;
  Ref from = uop::dim(g, 0);
  Ref to = range->src[0];
  std::vector<Ref> others;
  for (const Ref c : s.conditions) {
    if (!uop::depends_on(g, c, range)) {
      others.push_back(c);
      continue;
    }
    const std::optional<Interval> i = interval_of(g, c, range);
    if (!i) return nullptr;
    if (i->from != nullptr) from = g.alu(Op::Max, {from, i->from});
    if (i->to != nullptr) to = g.alu(Op::Min, {to, i->to});
  }
  const Ref length = uop::dim_sub(g, to, from);
  const Ref none = uop::dim(g, 0);
  const Ref times_held = g.alu(Op::Max, {length, none});
  const Ref n = g.make(Op::Cast, fold->dtype, {times_held});
  Ref result = g.alu(Op::Mul, {s.value, n});
  for (size_t k = others.size(); k-- > 0;) {
    const Ref otherwise = g.constant(zero);
    result = g.make(Op::Where, fold->dtype, {others[k], result, otherwise});
  }
  return result;
}

// The fold without one of its ranges, or null.
Ref without_a_range(Graph& g, Ref fold) {
  for (size_t i = 1; i < fold->src.size(); ++i) {
    const Ref range = fold->src[i];
    const bool is_plain = range->op == Op::Range && range->dtype == DType::Index;
    if (!is_plain) continue;
    Ref result = picked(g, fold, range);
    if (result == nullptr) result = counted(g, fold, range);
    if (result == nullptr) continue;
    std::vector<Ref> sources(fold->src.begin(), fold->src.end());
    sources[0] = result;
    sources.erase(sources.begin() + static_cast<std::ptrdiff_t>(i));
    if (sources.size() > 1) return g.with_sources(fold, sources);
    if (!uop::is_float(fold->dtype)) return result;
    const Ref unit = g.constant(uop::unit_of(fold->arg.fold_op(), fold->dtype));
    return g.alu(fold->arg.fold_op(), {result, unit});
  }
  return nullptr;
}

Result<Ref> collapse(uop::Run& run, Ref kernel) {
  if (has_opts(kernel)) return kernel;
  Graph& g = run.graph();
  uop::NodeMap<Ref> done;
  std::vector<Ref> sources;
  for (const Ref u : uop::toposort(g, kernel)) {
    sources.clear();
    for (const Ref s : u->src) sources.push_back(done.at(s));
    Ref now = std::ranges::equal(sources, u->src) ? u : g.with_sources(u, sources);
    while (now->op == Op::Reduce) {
      const Ref next = without_a_range(g, now);
      if (next == nullptr) break;
      ASSAY_TRY(simple, run.rewrite(uop::symbolic_rules(), next));
      now = simple;
    }
    done.set(u, now);
  }
  return done.at(kernel);
}

}  // namespace

const uop::Pass& load_collapse() {
  static const uop::Pass pass = {.name = "load_collapse",
                                 .accepts = scheduled_form(),
                                 .yields = scheduled_form(),
                                 .rules = {},
                                 .function = collapse};
  return pass;
}

}  // namespace assay::codegen
