#include "props/firings/scalar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/uop/refines.h"
#include "engine/uop/sample.h"
#include "engine/uop/target.h"
#include "engine/uop/walk.h"
#include "oracles/reference/licence.h"
#include "oracles/smt/encode.h"
#include "oracles/smt/equal.h"

namespace assay::props {
namespace {

using reference::Fn;
using uop::Cell;
using uop::Graph;
using uop::Op;
using uop::OpSet;
using uop::Probe;
using uop::Ref;
using uop::Value;

std::optional<Fn> inexact_function(Op op) {
  switch (op) {
    case Op::Recip: return Fn::Recip;
    case Op::FDiv: return Fn::Div;
    case Op::Sqrt: return Fn::Sqrt;
    case Op::Exp: return Fn::Exp;
    case Op::Exp2: return Fn::Exp2;
    case Op::Log: return Fn::Log;
    case Op::Log2: return Fn::Log2;
    case Op::Sin: return Fn::Sin;
    case Op::Cos: return Fn::Cos;
    case Op::Tan: return Fn::Tan;
    case Op::Pow: return Fn::Pow;
    default: return std::nullopt;
  }
}

// Units in the last place that a device may be off which computes u; 0 where it may not.
double units_of(Ref u) {
  const auto fn = uop::is_float(u->dtype) ? inexact_function(u->op) : std::nullopt;
  if (!fn) return 0;
  const double limit = reference::full_profile().format(u->dtype).limit(*fn);
  return limit > 0.5 ? limit : 0;
}

// How far a lies from b, in units in the last place of b; infinite where one is no number and the
// other is. Past the largest number the line goes on as if exponents had no end.
double units_apart(Value a, Value b) {
  if (uop::same_value(a, b)) return 0;
  const reference::Format& f = reference::format(b.dtype);
  const double x = uop::as_double(a);
  const double y = uop::as_double(b);
  if (std::isnan(x) || std::isnan(y)) return reference::kInfinity;
  const double end = 2 * (f.largest / 2 + f.largest * f.epsilon / 4);
  const auto on_line = [&](double v) { return std::isinf(v) ? std::copysign(end, v) : v; };
  const double apart = std::fabs(on_line(x) - on_line(y));
  if (apart == 0) return x == y ? 0 : reference::kInfinity;
  return apart / reference::ulp(f, std::min(std::fabs(on_line(y)), f.largest));
}

std::vector<Ref> leaves_of(Graph& g, const ScalarPair& pair) {
  std::vector<Ref> leaves;
  const auto add = [&](Ref term) {
    const uop::Evaluator evaluator(g, term);
    for (const Ref leaf : evaluator.leaves()) {
      if (std::find(leaves.begin(), leaves.end(), leaf) == leaves.end()) leaves.push_back(leaf);
    }
  };
  add(pair.before);
  add(pair.after);
  for (const Ref condition : pair.when) add(condition);
  return leaves;
}

std::string values_text(const std::vector<Ref>& leaves, const std::vector<Value>& values) {
  std::string text;
  for (size_t i = 0; i < leaves.size(); i++) {
    text += fmt::format(" {}={}", leaves[i]->arg.name(), uop::to_text(values[i]));
  }
  return text;
}

struct Compared {
  size_t points = 0;  // where the first term has a value or is Invalid
  double units = 0;   // the largest distance
  bool is_exhaustive = false;
  std::string difference;
};

// Compares both terms where all conditions hold; results may be `units` apart.
Compared compare(Graph& g, const ScalarPair& pair, double units, uint64_t seed, size_t most) {
  const std::vector<Ref> leaves = leaves_of(g, pair);
  Probe before(g, pair.before, leaves);
  Probe after(g, pair.after, leaves);
  std::vector<Probe> conditions;
  for (const Ref c : pair.when) conditions.emplace_back(g, c, leaves);
  uop::Random random(seed);
  uop::Points points(leaves, random, most);
  Compared result;
  result.is_exhaustive = points.is_exhaustive();
  while (const std::vector<Value>* values = points.next()) {
    const bool holds = std::all_of(conditions.begin(), conditions.end(), [&](Probe& c) {
      const Cell cell = c.run(*values);
      return cell.defined() && cell.value.bits != 0;
    });
    if (!holds) continue;
    const Cell a = before.run(*values);
    if (a.state == Cell::State::Unspecified) continue;
    const Cell b = after.run(*values);
    double apart = reference::kInfinity;
    if (a.state == b.state) {
      apart = 0;
      if (a.defined() && !uop::same_value(a.value, b.value)) {
        apart = units > 0 ? units_apart(b.value, a.value) : reference::kInfinity;
      }
    }
    const bool is_unspecified = b.state == Cell::State::Unspecified;
    if (is_unspecified && uop::leaves_64_bits(g, pair.after, leaves, *values)) continue;
    result.points++;
    result.units = std::max(result.units, apart);
    // The exact result lies within half a unit of what is compared with.
    if (apart <= (units > 0 ? units + 0.5 : 0)) continue;
    result.difference =
        fmt::format("{} is {} and {} is {} at{}", uop::shown(pair.before), uop::shown(a),
                    uop::shown(pair.after), uop::shown(b), values_text(leaves, *values));
    return result;
  }
  return result;
}

constexpr const char* kUndefined = "undefined";
// All of so many values of the leaves are looked at, where there are no more.
constexpr size_t kFewPoints = 1 << 14;
// Of floats: how many operations a solver decides in the time that there is for a firing.
constexpr size_t kFewFloats = 6;
constexpr OpSet kHardFloats = {Op::FDiv, Op::Recip, Op::Sqrt, Op::Fma, Op::Exp, Op::Exp2,
                               Op::Log,  Op::Log2,  Op::Sin,  Op::Cos, Op::Tan, Op::Pow};

constexpr OpSet kQuotients = {Op::Div, Op::Mod, Op::TDiv, Op::TMod};
constexpr int kWideBits = 32;

// Whether solvers are of no use: functions of floats, many roundings, quotients of wide integers.
bool is_hard(Graph& g, const ScalarPair& pair) {
  size_t floats = 0;
  OpSet wide;
  const Ref both = g.make(Op::Group, uop::DType::Void, {pair.before, pair.after});
  for (const Ref u : uop::toposort(g, both)) {
    if (!uop::is_scalar(u->op)) continue;
    if (u->op == Op::Threefry || u->op == Op::Pow) return true;
    if (uop::is_fixed_int(u->dtype) && uop::bits_of(u->dtype) >= kWideBits) wide.insert(u->op);
    if (!uop::is_float(u->dtype) || u->op == Op::Where) continue;
    if (kHardFloats.has(u->op)) return true;
    floats++;
  }
  return floats > kFewFloats || wide.meets(kQuotients);
}

Outcome outcome_of(const ScalarPair& pair, const Compared& compared, double units) {
  const Strength strength = compared.is_exhaustive ? Strength::Exhaustive : Strength::Sampled;
  if (!compared.difference.empty()) {
    if (pair.is_free) return {{Answer::Fail, strength, compared.difference}, "evaluation"};
    return {{Answer::Unknown, Strength::Sampled,
             "differ, at values that may never be: " + compared.difference},
            "opaque"};
  }
  if (compared.points == 0 && !compared.is_exhaustive) {
    return {{Answer::Unknown, Strength::Sampled,
             "no value of the leaves gives a value: " + uop::shown(pair.before)},
            kUndefined};
  }
  std::string evidence = fmt::format("{} points", compared.points);
  if (units > 0) evidence += fmt::format(", within {:.2f} units of {}", compared.units, units);
  return {{Answer::Pass, strength, std::move(evidence)},
          compared.is_exhaustive ? "enumeration" : "evaluation"};
}

}  // namespace

Outcome judge_by_points(Graph& g, const ScalarPair& pair, uint64_t seed, size_t points) {
  uop::Random random(seed);
  const bool is_small = uop::Points(leaves_of(g, pair), random, kFewPoints).is_exhaustive();
  return outcome_of(pair, compare(g, pair, 0, seed, is_small ? kFewPoints : points), 0);
}

namespace {

// Whether no value of the leaves gives the first term a value, or makes it Invalid: then anything
// may stand in its place.
bool is_never_defined(Graph& g, const ScalarPair& pair, Context& context) {
  smt::Formula f;
  smt::Encoder encoder(g, f, smt::View::AtWidth);
  const std::optional<smt::Encoded> before = encoder.encode(pair.before);
  if (!before) return false;
  for (const smt::Term fact : encoder.facts()) f.require(fact);
  f.require(f.either(before->is_defined, before->is_invalid));
  return context.prover.decide(f, "firing").answer == smt::Satisfiable::No;
}

Outcome judge_terms(Graph& g, const ScalarPair& pair, Context& context, size_t points) {
  if (pair.before == pair.after) return {{Answer::Pass, Strength::Proved, "equal"}, "folding"};
  const double units = uop::is_const(pair.after) ? 0 : units_of(pair.before);
  if (units > 0) {
    const auto limit = uop::ulp_limit(context.target, pair.before->op, pair.before->dtype);
    const double most = std::max(units, limit.value_or(0));
    return outcome_of(pair, compare(g, pair, most, context.seed, 4 * points), most);
  }
  if (is_hard(g, pair)) {
    Outcome sampled = judge_by_points(g, pair, context.seed, 8 * points);
    if (sampled.method != kUndefined) return sampled;
  }
  const smt::Refines asked =
      smt::refines(g, pair.before, pair.after, pair.when, context.prover, "firing");
  if (asked.verdict.answer == Answer::Pass) return {asked.verdict, asked.method};
  if (asked.verdict.answer == Answer::Fail) {
    if (pair.is_free) return {asked.verdict, asked.method};
    return {{Answer::Unknown, Strength::Sampled,
             "differ, at values that may never be: " + asked.verdict.evidence},
            "opaque"};
  }
  return judge_by_points(g, pair, context.seed, points);
}

}  // namespace

Outcome judge_scalar(Graph& g, const ScalarPair& pair, Context& context, size_t points) {
  Outcome outcome = judge_terms(g, pair, context, points);
  const bool is_open = outcome.verdict.answer == Answer::Unknown && outcome.method == "undefined";
  if (!is_open || !is_never_defined(g, pair, context)) return outcome;
  return {{Answer::Pass, Strength::Proved, "it never has a value"}, "vacuous"};
}

Outcome recall_scalar(Graph& g, const ScalarPair& pair, Context& context) {
  if (context.firings == nullptr) return judge_scalar(g, pair, context);
  const uop::Key key = pair.key(g);
  const auto known = context.firings->known.find(key);
  if (known != context.firings->known.end()) return known->second;
  return context.firings->known.emplace(key, judge_scalar(g, pair, context)).first->second;
}

}  // namespace assay::props
