#include "engine/uop/value.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "engine/check.h"
#include "engine/uop/functions.h"

namespace assay::uop {
namespace {

constexpr uint64_t ones(int n) { return n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1; }

int width_of(UInt128 x) {
  const auto high = static_cast<uint64_t>(x >> 64);
  if (high != 0) return 128 - std::countl_zero(high);
  return 64 - std::countl_zero(static_cast<uint64_t>(x));
}

// Drops the lowest `shift` bits of x, rounding to nearest, ties to even.
UInt128 shift_right_to_even(UInt128 x, int shift) {
  if (shift <= 0) return x << -shift;
  if (shift > 128) return 0;  // x has at most 128 bits, so it is below one half
  const UInt128 kept = shift == 128 ? 0 : x >> shift;
  const UInt128 lost = x - (shift == 128 ? 0 : kept << shift);
  const UInt128 half = UInt128{1} << (shift - 1);
  const bool up = lost > half || (lost == half && (kept & 1) != 0);
  return kept + (up ? 1 : 0);
}

struct Fields {
  bool negative;
  uint64_t exponent;
  uint64_t mantissa;
};

Fields fields_of(Value v) {
  const FloatFormat f = format_of(v.dtype);
  return {(v.bits >> (bits_of(v.dtype) - 1)) != 0,
          (v.bits >> f.mantissa_bits) & ones(f.exponent_bits), v.bits & ones(f.mantissa_bits)};
}

Value with_sign(DType t, bool negative, uint64_t magnitude) {
  return {t, magnitude | (uint64_t{negative} << (bits_of(t) - 1))};
}

uint64_t infinity_bits(FloatFormat f) { return ones(f.exponent_bits) << f.mantissa_bits; }

// The largest finite magnitude: one below infinity, or one below e4m3's NaN.
uint64_t largest_bits(FloatFormat f) {
  return f.has_infinity ? infinity_bits(f) - 1 : ones(f.exponent_bits + f.mantissa_bits) - 1;
}

bool is_infinite(Value v) {
  const FloatFormat f = format_of(v.dtype);
  return f.has_infinity && (v.bits & ones(bits_of(v.dtype) - 1)) == infinity_bits(f);
}

Value infinity_of(DType t, bool negative) {
  const FloatFormat f = format_of(t);
  return f.has_infinity ? with_sign(t, negative, infinity_bits(f)) : nan_of(t);
}

std::optional<Value> float_to_int(Value v, DType to) {
  if (is_nan(v) || is_infinite(v)) return std::nullopt;
  const double cut = std::trunc(as_double(v));
  if (std::fabs(cut) >= 0x1p65) return std::nullopt;
  const auto exact = static_cast<Int128>(cut);
  if (!fits(to, exact)) return std::nullopt;
  return of_int(to, exact);
}

Value float_to_float(Value v, DType to) {
  if (is_nan(v)) return nan_of(to);
  const Fields in = fields_of(v);
  if (is_infinite(v)) return infinity_of(to, in.negative);
  const FloatFormat f = format_of(v.dtype);
  const bool normal = in.exponent != 0;
  const uint64_t mantissa = in.mantissa | (uint64_t{normal} << f.mantissa_bits);
  const int exponent = static_cast<int>(normal ? in.exponent : 1) - f.bias() - f.mantissa_bits;
  return round_to(to, in.negative, mantissa, exponent);
}

std::string float_to_text(Value v) {
  if (is_nan(v)) {
    return v == nan_of(v.dtype) ? "nan" : fmt::format("nan:{:#x}", v.bits);
  }
  const double x = as_double(v);
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  std::string text =
      v.dtype == F32 ? fmt::format("{}", static_cast<float>(x)) : fmt::format("{}", x);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::optional<Value> float_from_text(DType t, std::string_view text) {
  if (text == "nan") return nan_of(t);
  if (text == "inf" || text == "-inf") {
    if (!format_of(t).has_infinity) return std::nullopt;
    return infinity_of(t, text[0] == '-');
  }
  const char* end = text.data() + text.size();
  if (text.starts_with("nan:0x")) {
    Value v = {t, 0};
    const auto [stop, trouble] = std::from_chars(text.data() + 6, end, v.bits, 16);
    if (trouble != std::errc() || stop != end || (v.bits & ~ones(bits_of(t))) != 0) {
      return std::nullopt;
    }
    return is_nan(v) ? std::optional(v) : std::nullopt;
  }
  // Looked at for its form only: as a double it would be rounded once too often.
  double x = 0;
  const auto [stop, trouble] = std::from_chars(text.data(), end, x);
  const bool in_form = trouble == std::errc() || trouble == std::errc::result_out_of_range;
  const bool named = text.find_first_of("nN") != std::string_view::npos;
  if (!in_form || stop != end || named) return std::nullopt;
  return decimal(t, text);
}

std::optional<Value> int_from_text(DType t, std::string_view text) {
  const bool negative = text.starts_with('-');
  const char* begin = text.data() + (negative ? 1 : 0);
  const char* end = text.data() + text.size();
  uint64_t magnitude = 0;
  const auto [stop, trouble] = std::from_chars(begin, end, magnitude);
  if (trouble != std::errc() || stop != end) return std::nullopt;
  const Int128 value = negative ? -Int128{magnitude} : Int128{magnitude};
  if (!fits(t, value)) return std::nullopt;
  return of_int(t, value);
}

}  // namespace

Value round_to(DType t, bool negative, UInt128 mantissa, int exponent) {
  const FloatFormat f = format_of(t);
  if (mantissa == 0) return with_sign(t, negative, 0);
  const int least = f.min_exponent();
  const int top = exponent + width_of(mantissa) - 1;
  const int last = std::max(top - f.mantissa_bits, least);
  if (top > f.max_exponent()) return infinity_of(t, negative);
  const UInt128 rounded = shift_right_to_even(mantissa, last - exponent);
  // The hidden bit adds one to the exponent field, and so does a carry out of the mantissa.
  const uint64_t magnitude =
      (static_cast<uint64_t>(last - least) << f.mantissa_bits) + static_cast<uint64_t>(rounded);
  if (magnitude > largest_bits(f)) return infinity_of(t, negative);
  return with_sign(t, negative, magnitude);
}

Value of_int(DType t, Int128 value) {
  ASSAY_CHECK(t != Index || fits(t, value), "index constants hold 64 bits");
  if (t == Bool) return of_bool(value != 0);
  if (is_int(t)) return {t, static_cast<uint64_t>(static_cast<int64_t>(wrap(t, value)))};
  const bool negative = value < 0;
  return round_to(t, negative, negative ? -static_cast<UInt128>(value) : UInt128(value), 0);
}

Value of_double(DType t, double value) {
  return float_to_float({F64, std::bit_cast<uint64_t>(value)}, t);
}

double as_double(Value v) {
  if (v.dtype == F64) return std::bit_cast<double>(v.bits);
  if (v.dtype == F32) return std::bit_cast<float>(static_cast<uint32_t>(v.bits));
  return std::bit_cast<double>(float_to_float(v, F64).bits);
}

bool is_nan(Value v) {
  if (!is_float(v.dtype)) return false;
  const FloatFormat f = format_of(v.dtype);
  return (v.bits & ones(bits_of(v.dtype) - 1)) >
         (f.has_infinity ? infinity_bits(f) : largest_bits(f));
}

Value nan_of(DType t) {
  const FloatFormat f = format_of(t);
  if (!f.has_infinity) return {t, ones(f.exponent_bits + f.mantissa_bits)};
  return {t, infinity_bits(f) | (uint64_t{1} << (f.mantissa_bits - 1))};
}

std::optional<Value> cast(Value v, DType to) {
  if (v.dtype == to) return v;
  if (is_float(v.dtype)) {
    if (to == Bool) return of_bool((v.bits & ones(bits_of(v.dtype) - 1)) != 0);
    return is_float(to) ? float_to_float(v, to) : float_to_int(v, to);
  }
  const Int128 value = as_int(v);
  if (to == Index && !fits(Index, value)) return std::nullopt;
  return of_int(to, value);
}

std::optional<Value> bitcast(Value v, DType to) {
  if (v.dtype == to) return v;
  const TypeSet laid_out = kFixedInts | kFloats;
  if (!laid_out.has(v.dtype) || !laid_out.has(to) || bits_of(v.dtype) != bits_of(to)) {
    return std::nullopt;
  }
  const uint64_t raw = v.bits & ones(bits_of(v.dtype));
  if (is_float(to)) return Value{to, raw};
  return of_int(to, Int128{raw});
}

Value lowest(DType t) {
  if (!is_float(t)) return of_int(t, min_int(t));
  const FloatFormat f = format_of(t);
  return with_sign(t, true, f.has_infinity ? infinity_bits(f) : largest_bits(f));
}

Value highest(DType t) {
  if (!is_float(t)) return of_int(t, max_int(t));
  const FloatFormat f = format_of(t);
  return with_sign(t, false, f.has_infinity ? infinity_bits(f) : largest_bits(f));
}

std::string to_text(Value v) {
  if (v.dtype == Bool) return v.bits != 0 ? "true" : "false";
  if (is_float(v.dtype)) return float_to_text(v);
  if (kind_of(v.dtype) == Kind::Unsigned) return fmt::format("{}", v.bits);
  return fmt::format("{}", static_cast<int64_t>(v.bits));
}

std::optional<Value> value_from_text(DType t, std::string_view text) {
  if (t == Bool) {
    if (text == "true") return of_bool(true);
    if (text == "false") return of_bool(false);
    return std::nullopt;
  }
  if (is_float(t)) return float_from_text(t, text);
  if (is_int(t)) return int_from_text(t, text);
  return std::nullopt;
}

}  // namespace assay::uop
