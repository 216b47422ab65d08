#include "oracles/reference/licence.h"

namespace assay::reference {
namespace {

using enum uop::DType;

constexpr uop::TypeSet kWide = {F32, F64};
// Below f32 functions are computed in f32 and rounded once more, which no limit at f32 brings to
// more than one unit.
constexpr uop::TypeSet kNarrow = {E4M3, E5M2, F16, BF16};

// At f64 division and the square root are rounded once.
constexpr Limit kFullProfile[] = {
    {Fn::Recip, {F32}, 2.5}, {Fn::Recip, kNarrow, 1}, {Fn::Div, {F32}, 2.5}, {Fn::Div, kNarrow, 1},
    {Fn::Sqrt, {F32}, 3},    {Fn::Sqrt, kNarrow, 1},  {Fn::Exp, kWide, 4},   {Fn::Exp, kNarrow, 1},
    {Fn::Exp2, kWide, 4},    {Fn::Exp2, kNarrow, 1},  {Fn::Log, kWide, 4},   {Fn::Log, kNarrow, 1},
    {Fn::Log2, kWide, 4},    {Fn::Log2, kNarrow, 1},  {Fn::Sin, kWide, 4},   {Fn::Sin, kNarrow, 1},
    {Fn::Cos, kWide, 4},     {Fn::Cos, kNarrow, 1},   {Fn::Tan, kWide, 5},   {Fn::Tan, kNarrow, 1},
    {Fn::Pow, kWide, 16},    {Fn::Pow, kNarrow, 1},
};

}  // namespace

Licence::Licence(bool contracts, uop::TypeSet flushes, std::span<const Limit> limits)
    : formats_(std::to_array(kFormats)) {
  for (Format& f : formats_) {
    f.contracts = contracts;
    if (flushes.has(f.dtype)) f.flush = f.tiny / f.epsilon;
    f.limits.fill(0.5);
    for (const std::span<const Limit> rows : {std::span<const Limit>(kFullProfile), limits}) {
      for (const Limit& row : rows) {
        if (!row.over.has(f.dtype)) continue;
        f.limits[static_cast<size_t>(row.fn)] = std::max(row.ulps, 0.5);
      }
    }
  }
}

Licence looser(const Licence& a, const Licence& b) {
  Licence both = a;
  for (size_t i = 0; i < both.formats_.size(); ++i) {
    Format& f = both.formats_[i];
    const Format& other = b.formats_[i];
    f.contracts |= other.contracts;
    f.flush = std::max(f.flush, other.flush);
    for (size_t fn = 0; fn < f.limits.size(); ++fn) {
      f.limits[fn] = std::max(f.limits[fn], other.limits[fn]);
    }
  }
  return both;
}

const Licence& full_profile() {
  static const Licence licence(true, {}, {});
  return licence;
}

bool is_arithmetic(Fn fn) {
  switch (fn) {
    case Fn::Square:
    case Fn::Recip:
    case Fn::Sqrt:
    case Fn::Exp:
    case Fn::Exp2:
    case Fn::Log:
    case Fn::Log2:
    case Fn::Sin:
    case Fn::Cos:
    case Fn::Tan:
    case Fn::Trunc:
    case Fn::Floor:
    case Fn::Ceil:
    case Fn::Round:
    case Fn::Add:
    case Fn::Sub:
    case Fn::Mul:
    case Fn::Div:
    case Fn::Max:
    case Fn::Min:
    case Fn::Pow:
    case Fn::Fma: return true;
    default: return false;
  }
}

}  // namespace assay::reference
