#include "engine/uop/dtype.h"

#include <array>

namespace assay::uop {
namespace {

constexpr std::string_view kTexts[] = {
#define DTYPE(name, text, kind, bits) text,
#include "engine/uop/dtype.def"
#undef DTYPE
};

struct NamedSet {
  TypeSet types;
  std::string_view name;
};
constexpr NamedSet kNamedSets[] = {
    {kBool, "bool"},       {kIndex, "index"},       {kLogic, "ints bool"}, {kInts, "ints"},
    {kSigned, "signed"},   {kUnsigned, "unsigned"}, {kFixedInts, "fixed"}, {kFloats, "floats"},
    {kNumbers, "numbers"}, {kScalars, "scalars"},
};

// What each type can be promoted to directly. It is the lattice of the peers (and of JAX), where
// integers of any width join a float at that float.
TypeSet promotes_to(DType t) {
  switch (t) {
    case Void: return {};
    case Bool: return {I8, U8, Index};
    case Index: return {};
    case I8: return {I16};
    case U8: return {I16, U16};
    case I16: return {I32};
    case U16: return {I32, U32};
    case I32: return {I64};
    case U32: return {I64, U64};
    case I64: return {U64};
    case U64: return {E4M3, E5M2};
    case E4M3: return {F16, BF16};
    case E5M2: return {F16, BF16};
    case F16: return {F32};
    case BF16: return {F32};
    case F32: return {F64};
    case F64: return {};
  }
  return {};
}

TypeSet upper_bounds(DType t) {
  TypeSet above = {t};
  for (;;) {
    TypeSet next = above;
    for (int i = 0; i < kDTypeCount; i++) {
      if (above.has(DType(i))) next = next | promotes_to(DType(i));
    }
    if (next == above) return above;
    above = next;
  }
}

using Join = std::array<std::array<DType, kDTypeCount>, kDTypeCount>;

// Void stands for "no join", but for void with itself.
Join make_join() {
  std::array<TypeSet, kDTypeCount> above;
  for (int i = 0; i < kDTypeCount; i++) above[i] = upper_bounds(DType(i));
  Join join{};
  for (int a = 0; a < kDTypeCount; a++) {
    for (int b = 0; b < kDTypeCount; b++) {
      const TypeSet common = above[a] & above[b];
      // The least one: all common bounds lie above it. Where two are least (f16 and bf16 over the
      // 8-bit floats) the first has no common bound below it.
      for (int c = kDTypeCount - 1; c >= 0; c--) {
        bool least = common.has(DType(c));
        for (int o = 0; o < kDTypeCount; o++) {
          if (o != c && common.has(DType(o)) && above[o].has(DType(c))) least = false;
        }
        if (least) join[a][b] = DType(c);
      }
    }
  }
  return join;
}

}  // namespace

std::string_view to_text(DType t) { return kTexts[static_cast<int>(t)]; }

std::optional<DType> dtype_from_text(std::string_view text) {
  for (int i = 0; i < kDTypeCount; i++) {
    if (kTexts[i] == text) return DType(i);
  }
  return std::nullopt;
}

std::string to_text(TypeSet types) {
  for (const NamedSet& named : kNamedSets) {
    if (named.types == types) return std::string(named.name);
  }
  std::string text;
  for (int i = 0; i < kDTypeCount; i++) {
    if (!types.has(DType(i))) continue;
    if (!text.empty()) text += ' ';
    text += kTexts[i];
  }
  return text;
}

std::optional<DType> promote(DType a, DType b) {
  static const Join join = make_join();
  const DType t = join[static_cast<int>(a)][static_cast<int>(b)];
  if (t == Void && (a != Void || b != Void)) return std::nullopt;
  return t;
}

bool is_lossless(DType from, DType to) {
  if (from == to) return true;
  if (from == Void || to == Void || from == Index) return false;  // no width holds `index`
  if (from == Bool) return true;
  if (to == Bool) return false;
  if (is_int(to))
    return is_int(from) && min_int(to) <= min_int(from) && max_int(from) <= max_int(to);
  const FloatFormat f = format_of(to);
  if (is_int(from)) {
    // Every magnitude has a place in the mantissa, and the largest one is finite.
    const int magnitude_bits = bits_of(from) - (kind_of(from) == Kind::Signed ? 1 : 0);
    return magnitude_bits <= f.mantissa_bits + 1 && magnitude_bits <= f.bias();
  }
  const FloatFormat g = format_of(from);
  // Exponents shift the subnormals too: the least subnormal of `from` must be one of `to`.
  const bool range =
      g.bias() <= f.bias() && g.bias() + g.mantissa_bits <= f.bias() + f.mantissa_bits;
  return range && g.mantissa_bits <= f.mantissa_bits && (f.has_infinity || !g.has_infinity);
}

}  // namespace assay::uop
