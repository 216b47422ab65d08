#include "engine/codegen/lane_bits.h"

#include "engine/check.h"

namespace assay::codegen {
namespace {

using uop::DType;
using uop::Op;
using uop::Ref;

Ref converted(LaneTerms& terms, Op op, DType t, Ref u) {
  return u->dtype == t ? u : terms.make(op, t, {u});
}

Ref shifted_by(LaneTerms& terms, Op op, Ref u, int distance) {
  if (distance == 0) return u;
  const Ref by = terms.constant(u->dtype, distance);
  return terms.make(op, u->dtype, {u, by});
}

// The part of some bits that begins at the lowest but so many.
Ref part_of(LaneTerms& terms, Ref bits, DType to, int first) {
  const Ref low = shifted_by(terms, Op::Shr, bits, first);
  const Ref part = converted(terms, Op::Cast, uop::unsigned_of(to), low);
  return converted(terms, Op::Bitcast, to, part);
}

Ref joined(LaneTerms& terms, std::span<const Ref> parts, DType from, DType to) {
  ASSAY_CHECK(!parts.empty(), "nothing to join");
  Ref all = nullptr;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Ref bits = converted(terms, Op::Bitcast, uop::unsigned_of(from), parts[i]);
    const Ref wide = converted(terms, Op::Cast, uop::unsigned_of(to), bits);
    const Ref part = shifted_by(terms, Op::Shl, wide, static_cast<int>(i) * uop::bits_of(from));
    all = i == 0 ? part : terms.make(Op::Or, part->dtype, {all, part});
  }
  return converted(terms, Op::Bitcast, to, all);
}

}  // namespace

bool rebits(LaneTerms& terms, std::span<const Ref> lanes, DType from, DType to,
            std::vector<Ref>& out) {
  out.clear();
  const int before = uop::bits_of(from);
  const int after = uop::bits_of(to);
  if (before > after) {
    for (const Ref lane : lanes) {
      const Ref bits = converted(terms, Op::Bitcast, uop::unsigned_of(from), lane);
      for (int first = 0; first < before; first += after) {
        out.push_back(part_of(terms, bits, to, first));
      }
    }
    return true;
  }
  const auto rate = static_cast<size_t>(after / before);
  if (lanes.size() % rate != 0) return false;
  for (size_t i = 0; i < lanes.size(); i += rate) {
    out.push_back(joined(terms, lanes.subspan(i, rate), from, to));
  }
  return true;
}

}  // namespace assay::codegen
