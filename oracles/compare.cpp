#include "oracles/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/check.h"
#include "oracles/reference/rounding.h"

namespace assay::oracles {
namespace {

using reference::Array;
using reference::Bounded;
using reference::Certainty;
using tensor::Literal;
using uop::DType;
using uop::Int128;

// How far one element is off, and how far it may be.
struct JudgedOne {
  double error = 0;
  double bound = 0;
  bool is_right = true;
};

constexpr JudgedOne kRight;
constexpr JudgedOne kWrong = {std::numeric_limits<double>::infinity(), 0, false};

uint64_t bits_at(std::span<const std::byte> bytes, size_t element, size_t width) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + element * width, width);
  return bits;
}

double number_of(DType t, uint64_t bits) {
  if (t == DType::F32) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  if (t == DType::F64) return std::bit_cast<double>(bits);
  return reference::from_bits(t, bits).value;
}

double distance(const Bounded& expected, double actual) {
  if (!std::isfinite(actual)) return std::numeric_limits<double>::infinity();
  const reference::Pair d = reference::two_sum(actual, -expected.value);
  return std::isfinite(d.hi) ? std::fabs(d.hi + (d.lo - expected.low)) : HUGE_VAL;
}

JudgedOne judge_float(const Bounded& expected, double actual) {
  if (!expected.is_exact()) {
    const double error = distance(expected, actual);
    const bool is_below = expected.nonnegative && actual < 0;
    return {error, expected.bound, error <= expected.bound && !is_below};
  }
  if (std::isnan(expected.value)) return std::isnan(actual) ? kRight : kWrong;
  if (expected.value != actual) return {distance(expected, actual), 0, false};
  const bool same_sign = std::signbit(actual) == std::signbit(expected.value);
  return same_sign || expected.loose_zero ? kRight : kWrong;
}

JudgedOne judge(const Bounded& expected, DType t, uint64_t bits) {
  if (uop::is_float(t)) return judge_float(expected, number_of(t, bits));
  const int unused = 64 - 8 * uop::bytes_of(t);
  const uint64_t wanted = static_cast<uint64_t>(expected.integer) << unused >> unused;
  return wanted == bits ? kRight : kWrong;
}

// `error` beyond what the bound allows counts as an infinite multiple where there is no bound.
double error_by_bound(const JudgedOne& judged) {
  if (judged.is_right && judged.error == 0) return 0;
  if (judged.bound == 0) return std::numeric_limits<double>::infinity();
  return judged.error / judged.bound;
}

std::vector<int64_t> index_of(const std::vector<int64_t>& shape, int64_t element) {
  std::vector<int64_t> index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = element % shape[axis];
    element /= shape[axis];
  }
  return index;
}

std::string float_text(DType t, double x) {
  if (std::isnan(x)) return "nan";
  return t == DType::F64 ? fmt::format("{:.17g}", x) : fmt::format("{:.9g}", x);
}
std::string integer_text(DType t, int64_t x) {
  if (t == DType::Bool && (x == 0 || x == 1)) return x == 1 ? "true" : "false";
  return t == DType::U64 ? fmt::format("{}", static_cast<uint64_t>(x)) : fmt::format("{}", x);
}
std::string text_of(DType t, const Bounded& x) {
  if (!uop::is_float(t)) return integer_text(t, x.integer);
  if (x.is_exact()) return (x.loose_zero ? "+-" : "") + float_text(t, x.value);
  return fmt::format("{:.17g}", x.value);
}
std::string text_of(DType t, uint64_t bits) {
  if (uop::is_float(t)) return float_text(t, number_of(t, bits));
  // A byte that is no bool shows as it is.
  if (t == DType::Bool) return integer_text(t, static_cast<int64_t>(bits));
  return integer_text(t, reference::from_bits(t, bits).integer);
}
std::string text_of(DType t, const Literal& literal) {
  if (literal.kind == Literal::Kind::Any) return "_";
  if (literal.kind == Literal::Kind::Float) return float_text(t, literal.real);
  return integer_text(literal.kind == Literal::Kind::Bool ? DType::Bool : DType::I64,
                      static_cast<int64_t>(literal.integer));
}

// Counts x by what is known of it; whether it is looked at.
bool count(Comparison& comparison, const Bounded& x) {
  switch (x.certainty) {
    case Certainty::Exact: comparison.exact++; return true;
    case Certainty::Bounded: comparison.bounded++; return true;
    case Certainty::Unspecified: comparison.unspecified++; return false;
    case Certainty::Ambiguous: comparison.ambiguous++; return false;
  }
  return false;
}

// Judges all elements: judge(i) for each, text(i) for what stands in the place of the actual one.
template <typename Judge, typename Text>
Comparison compared(const Array& expected, Judge judge_at, Text text_at) {
  Comparison result;
  double worst = -1;
  size_t place = 0;
  JudgedOne worst_judged;
  for (size_t i = 0; i < static_cast<size_t>(expected.elements.size()); i++) {
    if (!count(result, expected.elements[i])) continue;
    const JudgedOne judged = judge_at(i, result);
    if (!judged.is_right) result.wrong++;
    const double badness = error_by_bound(judged);
    if (badness <= worst) continue;
    worst = badness;
    place = i;
    worst_judged = judged;
  }
  if (worst < 0) return result;
  result.worst = {index_of(expected.shape, static_cast<int64_t>(place)),
                  text_of(expected.dtype, expected.elements[place]),
                  text_at(place),
                  worst_judged.bound,
                  worst_judged.error,
                  worst};
  return result;
}

JudgedOne judge_literal(const Bounded& value, DType t, const Literal& expected) {
  if (expected.kind == Literal::Kind::Any) return kRight;
  const bool is_real = expected.kind == Literal::Kind::Float;
  if (!uop::is_float(t)) {
    // A whole float stands for its integer.
    const bool is_whole = !is_real || std::trunc(expected.real) == expected.real;
    if (!is_whole || (is_real && std::fabs(expected.real) >= 0x1p64)) return kWrong;
    const Int128 wanted = is_real ? static_cast<Int128>(expected.real) : expected.integer;
    const bool is_held = uop::fits(t, wanted);
    return is_held && reference::of_integer(t, wanted).integer == value.integer ? kRight : kWrong;
  }
  const Bounded wanted =
      is_real ? reference::of_double(t, expected.real) : reference::of_integer(t, expected.integer);
  if (!std::isfinite(value.value) || !std::isfinite(wanted.value)) {
    return judge_float(value, wanted.value);
  }
  if (wanted.value == 0 && std::signbit(wanted.value) && value.is_exact()) {
    return judge_float(value, wanted.value);
  }
  const reference::Format& f = reference::format(t);
  const double bound = value.bound + 4 * reference::ulp(f, std::fabs(value.value));
  const double error = distance(value, wanted.value);
  return {error, bound, error <= bound};
}

}  // namespace

Comparison compare(const Array& expected, std::span<const std::byte> actual) {
  const DType t = expected.dtype;
  const auto width = static_cast<size_t>(uop::bytes_of(t));
  ASSAY_CHECK(actual.size() == expected.elements.size() * width,
              "{} bytes stand for {} elements of {}", actual.size(), expected.elements.size(),
              uop::to_text(t));
  const auto judge_at = [&](size_t i, Comparison& result) {
    const Bounded& x = expected.elements[i];
    const uint64_t bits = bits_at(actual, i, width);
    const JudgedOne judged = judge(x, t, bits);
    if (x.is_exact() || !judged.is_right) return judged;
    const double unit = reference::ulp(reference::format(t), std::fabs(number_of(t, bits)));
    // Half of the least f64 is no double.
    const double least = std::max(unit / 2, 0x1p-1074);
    result.sharpness.push_back(x.bound / std::max(judged.error, least));
    return judged;
  };
  return compared(expected, judge_at,
                  [&](size_t i) { return text_of(t, bits_at(actual, i, width)); });
}

Comparison compare(const Array& value, std::span<const Literal> expected) {
  ASSAY_CHECK(expected.size() == 1 || std::ssize(expected) == value.elements.size(),
              "{} literals stand for {} elements", expected.size(), value.elements.size());
  const auto literal_at = [&](size_t i) { return expected[expected.size() == 1 ? 0 : i]; };
  const auto judge_at = [&](size_t i, Comparison&) {
    return judge_literal(value.elements[i], value.dtype, literal_at(i));
  };
  return compared(value, judge_at, [&](size_t i) { return text_of(value.dtype, literal_at(i)); });
}

std::string to_text(const Comparison& c) {
  std::string text = fmt::format("{} exact, {} bounded, {} unspecified, {} ambiguous", c.exact,
                                 c.bounded, c.unspecified, c.ambiguous);
  if (c.wrong > 0) text += fmt::format(", {} wrong", c.wrong);
  if (c.exact + c.bounded == 0) return text;
  text += fmt::format("; worst [{}]: expected {}, is {}", fmt::join(c.worst.index, ", "),
                      c.worst.expected, c.worst.actual);
  if (c.worst.bound == 0) return text + (c.wrong > 0 ? ", which must be equal" : "");
  return text + fmt::format(", off by {:.3g} with a bound of {:.3g} ({:.3g})", c.worst.error,
                            c.worst.bound, c.worst.error_by_bound);
}

}  // namespace assay::oracles
