#include "oracles/interpreter/convert.h"

#include "oracles/interpreter/loops.h"

namespace assay::interpreter {
namespace {

void to_bool(Slot* out, const Operand* src, int64_t n, Types /*types*/) {
  each(out, src[0], n, [](Slot a) { return Slot{a != 0}; });
}
void float_to_bool(Slot* out, const Operand* src, int64_t n, Types /*types*/) {
  each(out, src[0], n, [](Slot a) { return Slot{(a & ~kSign) != 0}; });
}
void int_to_int(Slot* out, const Operand* src, int64_t n, Types types) {
  const int unused = 64 - uop::bits_of(types.result);
  if (is_signed(types.result)) {
    each(out, src[0], n, [=](Slot a) { return cut<true>(a, unused); });
  } else {
    each(out, src[0], n, [=](Slot a) { return cut<false>(a, unused); });
  }
}

void signed_to_double(Slot* out, const Operand* src, int64_t n, Types /*types*/) {
  each(out, src[0], n, [](Slot a) { return slot(static_cast<double>(static_cast<int64_t>(a))); });
}
void unsigned_to_double(Slot* out, const Operand* src, int64_t n, Types /*types*/) {
  each(out, src[0], n, [](Slot a) { return slot(static_cast<double>(a)); });
}

// A double that rounds to any narrower float as the integer does: past 53 bits the last one kept
// is odd if any of those lost is not zero.
double to_odd(Slot magnitude) {
  if (magnitude >> 53 == 0) return static_cast<double>(magnitude);
  const Slot lost = magnitude & 0x7FF;
  return static_cast<double>((magnitude & ~Slot{0x7FF}) | (lost != 0 ? Slot{0x800} : 0));
}
void signed_to_float(Slot* out, const Operand* src, int64_t n, Types /*types*/) {
  each(out, src[0], n, [](Slot a) {
    const bool negative = static_cast<int64_t>(a) < 0;
    return slot(negative ? -to_odd(0 - a) : to_odd(a));
  });
}
void unsigned_to_float(Slot* out, const Operand* src, int64_t n, Types /*types*/) {
  each(out, src[0], n, [](Slot a) { return slot(to_odd(a)); });
}

void float_to_signed(Slot* out, const Operand* src, int64_t n, Types types) {
  const double end = std::ldexp(1.0, uop::bits_of(types.result) - 1);
  const Slot none = poison(types.result);
  each(out, src[0], n, [=](Slot a) {
    const double x = std::trunc(number(a));
    return x >= -end && x < end ? static_cast<Slot>(static_cast<int64_t>(x)) : none;
  });
}
void float_to_unsigned(Slot* out, const Operand* src, int64_t n, Types types) {
  const double end = std::ldexp(1.0, uop::bits_of(types.result));
  const Slot none = poison(types.result);
  each(out, src[0], n, [=](Slot a) {
    const double x = std::trunc(number(a));
    return x >= 0 && x < end ? static_cast<Slot>(x) : none;
  });
}

Scalar int_to_float(Types types) {
  const bool has_sign = is_signed(types.operand);
  if (types.result == DType::F64)
    return {has_sign ? signed_to_double : unsigned_to_double, nullptr, types};
  return rounded({has_sign ? signed_to_float : unsigned_to_float, nullptr, types});
}

// Through bytes, a piece at a time.
void through_bytes(Slot* out, const Operand* src, int64_t n, Types types) {
  constexpr int64_t kPiece = 256;
  Slot in[kPiece];
  std::byte bytes[kPiece * 8];
  for (int64_t done = 0; done < n; done += kPiece) {
    const int64_t count = n - done < kPiece ? n - done : kPiece;
    const Slot* from = src[0].data + done * src[0].stride;
    for (int64_t i = 0; i < count; i++) in[i] = from[i * src[0].stride];
    encode(types.operand, in, bytes, count);
    decode(types.result, bytes, out + done, count);
  }
}

bool has_layout(DType t) { return uop::is_fixed_int(t) || uop::is_float(t); }

}  // namespace

std::optional<Scalar> cast_of(Types types) {
  const auto [to, from] = types;
  if (to == DType::Void || from == DType::Void) return std::nullopt;
  if (to == from) return moved(to);
  if (uop::is_float(from)) {
    if (to == DType::Bool) return Scalar{float_to_bool, nullptr, types};
    if (uop::is_float(to)) return rounded({moved(to).loop, nullptr, types});
    return Scalar{is_signed(to) ? float_to_signed : float_to_unsigned, nullptr, types};
  }
  if (to == DType::Bool) return Scalar{to_bool, nullptr, types};
  if (uop::is_float(to)) return int_to_float(types);
  return Scalar{int_to_int, nullptr, types};
}

std::optional<Scalar> bitcast_of(Types types) {
  const auto [to, from] = types;
  if (to == from) return moved(to);
  const bool equal = uop::bits_of(to) == uop::bits_of(from);
  if (!equal || !has_layout(to) || !has_layout(from)) return std::nullopt;
  const bool ints = uop::is_fixed_int(to) && uop::is_fixed_int(from);
  return Scalar{ints ? int_to_int : through_bytes, nullptr, types};
}

}  // namespace assay::interpreter
