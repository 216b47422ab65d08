#include "engine/uop/unspecified.h"

#include <algorithm>
#include <cmath>

#include "engine/uop/bounds.h"

namespace assay::uop {
namespace {

bool lies_within(Bounds b, Int128 lo, Int128 hi) { return b.lo >= lo && b.hi <= hi; }

bool cast_may_be_unspecified(Graph& g, Ref u) {
  const Ref s = u->src[0];
  if (!is_int(u->dtype)) return false;
  if (!is_float(s->dtype)) return u->dtype == Index && bounds(g, s).hi > max_int(Index);
  const FloatBounds f = float_bounds(g, s);
  const bool is_small = std::fabs(f.lo) < 0x1p64 && std::fabs(f.hi) < 0x1p64;
  if (f.may_be_nan || !is_small) return true;
  return !fits(u->dtype, static_cast<Int128>(std::trunc(f.lo))) ||
         !fits(u->dtype, static_cast<Int128>(std::trunc(f.hi)));
}

bool bitcast_may_be_unspecified(Ref u) {
  constexpr TypeSet kLaidOut = kFixedInts | kFloats;
  const DType from = u->src[0]->dtype;
  if (from == u->dtype) return false;
  return !kLaidOut.has(from) || !kLaidOut.has(u->dtype) || bits_of(from) != bits_of(u->dtype);
}

// Whether u may be unspecified for operands that are not.
bool is_cause(Graph& g, Ref u) {
  switch (u->op) {
    case Op::Div:
    case Op::Mod:
    case Op::TDiv:
    case Op::TMod: {
      const Bounds b = bounds(g, u->src[1]);
      return b.lo <= 0 && b.hi >= 0;
    }
    case Op::Shl:
    case Op::Shr: return !lies_within(bounds(g, u->src[1]), 0, bits_of(u->dtype) - 1);
    case Op::Pow: return is_int(u->dtype) && bounds(g, u->src[1]).lo < 0;
    case Op::Cast: return cast_may_be_unspecified(g, u);
    case Op::Bitcast: return bitcast_may_be_unspecified(u);
    default: return false;
  }
}

}  // namespace

bool may_be_unspecified(Graph& g, Ref u) {
  NodeMap<uint8_t>& map = g.facts().may_be_unspecified;
  return derive(map, u, [&](Ref v) -> uint8_t {
           if (v->op == Op::Load) return 0;
           const auto is_known = [&](Ref s) { return map.at(s) != 0; };
           return std::any_of(v->src.begin(), v->src.end(), is_known) || is_cause(g, v) ? 1 : 0;
         }) != 0;
}

}  // namespace assay::uop
