#include "engine/uop/test_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace assay::uop {
namespace {

// OCP 8-bit floating point: sign, exponent, mantissa; the hidden bit is absent where the exponent
// is zero. e4m3 gives up one pattern of the top exponent, e5m2 all of them.
long double decode_e4m3(unsigned bits) {
  const unsigned e = (bits >> 3) & 15;
  const unsigned m = bits & 7;
  const long double sign = (bits & 0x80) != 0 ? -1 : 1;
  if (e == 15 && m == 7) return std::copysign(std::numeric_limits<long double>::quiet_NaN(), sign);
  return sign * (e == 0 ? std::ldexp(m, -9) : std::ldexp(8 + m, static_cast<int>(e) - 10));
}

long double decode_e5m2(unsigned bits) {
  const unsigned e = (bits >> 2) & 31;
  const unsigned m = bits & 3;
  const long double sign = (bits & 0x80) != 0 ? -1 : 1;
  if (e == 31) {
    return sign * (m == 0 ? std::numeric_limits<long double>::infinity()
                          : std::numeric_limits<long double>::quiet_NaN());
  }
  return sign * (e == 0 ? std::ldexp(m, -16) : std::ldexp(4 + m, static_cast<int>(e) - 17));
}

// The finite numbers of a type that are not negative, at the index that is their bits, and one more
// past the largest.
std::vector<long double> make_line(DType t) {
  std::vector<long double> line;
  for (uint64_t bits = 0; std::isfinite(decode({t, bits})); bits++) {
    line.push_back(decode({t, bits}));
  }
  const long double top = line.back();
  line.push_back(top + (top - line[line.size() - 2]));
  return line;
}

const std::vector<long double>& line_of(DType t) {
  static const std::array<std::vector<long double>, 4> lines = {make_line(E4M3), make_line(E5M2),
                                                                make_line(F16), make_line(BF16)};
  return lines[static_cast<size_t>(std::ranges::find(kSmallFloats, t) - kSmallFloats)];
}

}  // namespace

Value f32(float x) { return {F32, std::bit_cast<uint32_t>(x)}; }
Value f64(double x) { return {F64, std::bit_cast<uint64_t>(x)}; }

std::vector<Value> all_values(DType t) {
  std::vector<Value> values;
  const uint64_t half = uint64_t{1} << (bits_of(t) - 1);  // to extend the sign
  const uint64_t count = uint64_t{1} << bits_of(t);
  values.reserve(count);
  for (uint64_t i = 0; i < count; i++) {
    values.push_back({t, kSigned.has(t) ? (i ^ half) - half : i});
  }
  return values;
}

std::vector<Value> some_values(DType t) {
  if (bits_of(t) <= 16) return all_values(t);
  std::vector<Value> values;
  const bool is_32 = bits_of(t) == 32;
  const auto add = [&](uint64_t bits) {
    if (is_32)
      bits = t == I32 ? static_cast<uint64_t>(static_cast<int32_t>(bits)) : bits << 32 >> 32;
    values.push_back({t, bits});
  };
  // For integers, powers of two and their neighbours; for floats, among others, both zeros,
  // infinities, the ends of the subnormals, and NaNs with and without payload.
  for (int shift = 0; shift < 64; shift++) {
    for (int off = -2; off <= 2; off++) {
      add((uint64_t{1} << shift) + static_cast<uint64_t>(off));
      add(~(uint64_t{1} << shift) + static_cast<uint64_t>(off));
    }
  }
  if (is_float(t)) {
    const uint64_t infinity = is_32 ? 0x7f800000 : 0x7ff0000000000000;
    for (const uint64_t sign : {uint64_t{0}, is_32 ? uint64_t{1} << 31 : uint64_t{1} << 63}) {
      for (int off = -2; off <= 2; off++) add((infinity | sign) + static_cast<uint64_t>(off));
    }
  }
  Random random(static_cast<uint64_t>(t));
  for (int i = 0; i < 5000; i++) values.push_back(any_bits(random, t));
  return values;
}

long double decode(Value v) {
  if (v.dtype == E4M3) return decode_e4m3(static_cast<unsigned>(v.bits));
  if (v.dtype == E5M2) return decode_e5m2(static_cast<unsigned>(v.bits));
  if (v.dtype == F16) {
    return static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(v.bits)));
  }
  if (v.dtype == BF16) return std::bit_cast<float>(static_cast<uint32_t>(v.bits << 16));
  if (v.dtype == F32) return std::bit_cast<float>(static_cast<uint32_t>(v.bits));
  if (v.dtype == F64) return std::bit_cast<double>(v.bits);
  const bool plus = v.dtype == Bool || kUnsigned.has(v.dtype);
  return plus ? static_cast<long double>(v.bits)
              : static_cast<long double>(static_cast<int64_t>(v.bits));
}

Value default_nan(DType t) {
  switch (t) {
    case E4M3: return {t, 0x7f};
    case E5M2: return {t, 0x7e};
    case F16: return {t, 0x7e00};
    case BF16: return {t, 0x7fc0};
    case F32: return {t, 0x7fc00000};
    default: return {t, 0x7ff8000000000000};
  }
}

Value nearest(DType t, long double x) {
  if (std::isnan(x)) return default_nan(t);
  // The processor rounds an 80-bit number to these in one step.
  if (t == F32) return f32(static_cast<float>(x));
  if (t == F64) return f64(static_cast<double>(x));
  const std::vector<long double>& line = line_of(t);
  const long double magnitude = std::fabs(x);
  const uint64_t past = line.size() - 1;  // the bits of what comes after the largest number
  auto bits =
      static_cast<uint64_t>(std::upper_bound(line.begin(), line.end(), magnitude) - line.begin()) -
      1;
  if (bits < past) {
    const long double middle = (line[bits] + line[bits + 1]) / 2;
    if (magnitude > middle || (magnitude == middle && bits % 2 != 0)) bits++;
  }
  if (bits >= past && t == E4M3) return default_nan(t);
  bits = std::min(bits, past);  // `past` is the bits of infinity
  return {t, bits | (std::signbit(x) ? uint64_t{1} << (bits_of(t) - 1) : 0)};
}

long double next_magnitude(Value v) { return line_of(v.dtype)[v.bits + 1]; }

Value any_bits(Random& random, DType t) {
  const uint64_t raw = random.next();
  const int bits = t == Bool ? 1 : bits_of(t);
  if (is_float(t) && bits > 8 && random.next() % 2 == 0) {
    const double near_one =
        std::ldexp(static_cast<double>(raw >> 11), static_cast<int>(random.next() % 12) - 58);
    return nearest(t, random.next() % 2 == 0 ? near_one : -near_one);
  }
  const uint64_t top = raw >> (64 - bits);
  const bool extend = t == Index || kSigned.has(t);
  return {t, extend ? static_cast<uint64_t>(static_cast<int64_t>(raw) >> (64 - bits)) : top};
}

std::string show(const std::optional<Value>& v) {
  if (!v) return "nothing";
  return fmt::format("{}:{:#x} ({})", to_text(v->dtype), v->bits, static_cast<double>(decode(*v)));
}

void Ledger::same(std::string_view what, std::span<const Value> in, const std::optional<Value>& got,
                  const std::optional<Value>& want) {
  compared_++;
  if (got == want) return;
  if (differ_++ != 0) return;
  first_ = fmt::format("{} of", what);
  for (const Value v : in) first_ += " " + show(v);
  first_ += " is " + show(got) + " and should be " + show(want);
}

std::string Ledger::trouble() const {
  if (compared_ == 0) return "nothing was compared";
  return differ_ == 0 ? "" : fmt::format("{} of {} differ: {}", differ_, compared_, first_);
}

}  // namespace assay::uop
