#include <bit>

#include "engine/codegen/decompose.h"
#include "engine/codegen/integer_parts.h"
#include "engine/uop/bounds.h"
#include "engine/uop/rewrite.h"

namespace assay::codegen {
namespace {

using uop::Bool;
using uop::Bounds;
using uop::bounds;
using uop::Graph;
using uop::Int128;
using uop::kBool;
using uop::kFixedInts;
using uop::kNumbers;
using uop::Op;
using uop::Pat;
using uop::Ref;
using uop::Run;

template <Term (*function)(Term, Term)>
Ref of_two(Run& run, Ref u) {
  Graph& g = run.graph();
  return function({&g, u->src[0]}, {&g, u->src[1]}).u;
}

// Whether what is done to integers by C's operator of this name is right.
bool is_plain(Graph& g, Ref u) {
  const Bounds x = bounds(g, u->src[0]);
  const Bounds y = bounds(g, u->src[1]);
  const bool cuts = u->op == Op::TDiv || u->op == Op::TMod;
  if (!cuts && (x.lo < 0 || y.lo < 0)) return false;
  return is_safe_divisor(g, u->src[0], u->src[1]);
}

Ref divide(Run& run, Ref u) {
  Graph& g = run.graph();
  if (!uop::is_const(u->src[1]) && is_plain(g, u)) return nullptr;
  const Term x = {&g, u->src[0]};
  const Term y = {&g, u->src[1]};
  const std::optional<Term> by_constant = divided_by_constant(u->op, x, y);
  if (by_constant) return by_constant->u;
  if (is_plain(g, u)) return nullptr;
  return divided(u->op, x, y).u;
}

Ref shift(Run& run, Ref u) {
  Graph& g = run.graph();
  const Bounds by = bounds(g, u->src[1]);
  const int last = uop::bits_of(u->dtype) - 1;
  if (by.lo >= 0 && by.hi <= last) return nullptr;
  const Term amount = {&g, u->src[1]};
  if (!uop::is_const(amount.u)) return g.alu(u->op, {u->src[0], (amount & last).u});
  return g.alu(u->op, {u->src[0], amount.integer(int64_t(by.lo) & last).u});
}

Ref to_integer(Run& run, Ref u) {
  Graph& g = run.graph();
  if (!uop::is_fixed_int(u->dtype)) return nullptr;
  const Ref safe = safe_for_cast({&g, u->src[0]}, u->dtype).u;
  return safe == u->src[0] ? nullptr : g.make(Op::Cast, u->dtype, {safe});
}

}  // namespace

const uop::RuleSet& lower_integer_rules() {
  using uop::by;
  const Pat x = uop::any("x");
  const Pat y = uop::any("y");
  const Pat z = uop::any("z");
  static const uop::RuleSet rules(
      "lower_integer",
      {
          // name, over, match, replace
          {"max", kFixedInts, uop::max(x, y), uop::where(x < y, y, x)},
          {"min", kFixedInts, uop::min(x, y), uop::where(y < x, y, x)},
          {"max_bool", kBool, uop::max(x, y), Pat(Op::Or, {x, y})},
          {"min_bool", kBool, uop::min(x, y), Pat(Op::And, {x, y})},
          {"neg", kFixedInts, Pat(Op::Neg, {x}), 0 - x},
          {"fma", kFixedInts, Pat(Op::Fma, {x, y, z}), x * y + z},
          {"to_bool", kNumbers, uop::cast(x).as(Bool), x != 0},
          by("divide", kFixedInts, {Op::Div, Op::Mod, Op::TDiv, Op::TMod}, divide,
             "quotients and remainders are C's, of operands that C divides as asked; none traps"),
          by("shift", kFixedInts, {Op::Shl, Op::Shr}, shift,
             "a shift is by less than the width: the amount modulo the width"),
          by("pow", kFixedInts, {Op::Pow}, of_two<integer_power>,
             "a power is squares and products, one of each for each bit of the exponent"),
          by("threefry", {uop::U64}, {Op::Threefry}, of_two<threefry>,
             "Threefry-2x32 in 20 rounds of 32-bit words"),
          by("to_integer", uop::kFloats, {Op::Cast}, to_integer,
             "a float that an integer does not hold is cast as 0"),
      });
  return rules;
}

}  // namespace assay::codegen
