#include "oracles/reference/promote.h"

#include <array>
#include <utility>

namespace assay::reference {
namespace {

using enum uop::DType;
using tensor::Literal;

// Each type and those it is promoted to at once.
constexpr std::pair<DType, DType> kSteps[] = {
    {Bool, I8},  {Bool, U8},   {I8, I16},   {U8, I16},    {U8, U16},  {I16, I32},  {U16, I32},
    {U16, U32},  {I32, I64},   {U32, I64},  {U32, U64},   {I64, U64}, {U64, E4M3}, {U64, E5M2},
    {E4M3, F16}, {E4M3, BF16}, {E5M2, F16}, {E5M2, BF16}, {F16, F32}, {BF16, F32}, {F32, F64},
};

constexpr size_t place(DType t) { return static_cast<size_t>(t); }

// above[a][b]: a can be promoted to b. The steps stand in rising order of their first type, so one
// pass from the last to the first closes them.
using Above = std::array<std::array<bool, uop::kDTypeCount>, uop::kDTypeCount>;
constexpr Above closed() {
  Above above{};
  for (size_t t = place(Bool); t < above.size(); ++t) above[t][t] = t != place(Index);
  for (size_t k = std::size(kSteps); k-- > 0;) {
    const auto [from, to] = kSteps[k];
    for (size_t t = 0; t < above.size(); ++t) above[place(from)][t] |= above[place(to)][t];
  }
  return above;
}
constexpr Above kAbove = closed();

// A common type that no other common type can be promoted to; the first of them by DType.
DType least_common(size_t a, size_t b) {
  for (size_t t = 0; t < kAbove.size(); ++t) {
    if (!kAbove[a][t] || !kAbove[b][t]) continue;
    bool is_least = true;
    for (size_t s = 0; s < kAbove.size(); ++s) {
      is_least &= s == t || !kAbove[a][s] || !kAbove[b][s] || !kAbove[s][t];
    }
    if (is_least) return static_cast<DType>(t);
  }
  return Void;
}

using Table = std::array<std::array<DType, uop::kDTypeCount>, uop::kDTypeCount>;
const Table& joins() {
  static const Table table = [] {
    Table all{};
    for (size_t a = 0; a < all.size(); ++a) {
      for (size_t b = 0; b < all.size(); ++b) all[a][b] = least_common(a, b);
    }
    return all;
  }();
  return table;
}

}  // namespace

std::optional<DType> joined(DType a, DType b) {
  const DType t = joins()[place(a)][place(b)];
  if (t == Void) return std::nullopt;
  return t;
}

DType beside(const Literal& number, DType t) {
  return number.kind == Literal::Kind::Float && !uop::is_float(t) ? F32 : t;
}

std::optional<Bounded> number_at(const Literal& number, DType t) {
  const std::optional<uint64_t> bits = tensor::bits_at(number, t);
  if (!bits) return std::nullopt;
  return from_bits(t, *bits);
}

}  // namespace assay::reference
