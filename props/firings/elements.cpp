#include "props/firings/elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/uop/refines.h"
#include "oracles/interpreter/numbers.h"

namespace assay::props {
namespace {

using interpreter::Elements;
using uop::Value;

Value value_at(const Elements& x, size_t i) {
  const auto width = static_cast<size_t>(uop::bytes_of(x.dtype));
  Value v = {x.dtype, 0};
  std::memcpy(&v.bits, &x.bytes[i * width], width);
  v.bits = interpreter::wrapped(v.bits, x.dtype);
  return v;
}

bool is_poison(Value v) {
  if (uop::is_float(v.dtype)) return uop::is_nan(v);
  return v.bits == interpreter::poison(v.dtype);
}

// How far apart floats may lie, as a distance.
double allowance_of(const Elements& a, size_t count, const Rounding& rounding) {
  if (!uop::is_float(a.dtype) || rounding.units == 0) return 0;
  double most = rounding.most;
  for (size_t i = 0; i < count; i++) {
    const double x = std::fabs(uop::as_double(value_at(a, i)));
    if (std::isfinite(x)) most = std::max(most, x);
  }
  const Value one = uop::one_of(a.dtype);
  const double epsilon = uop::as_double({a.dtype, one.bits + 1}) - uop::as_double(one);
  return most * rounding.units * epsilon;
}

}  // namespace

std::string difference_of(const Elements& a, const Elements& b, const Rounding& rounding) {
  if (a.dtype != b.dtype || a.shape != b.shape) return "shapes differ";
  if (a.bytes == b.bytes) return "";
  const size_t count = a.bytes.size() / static_cast<size_t>(uop::bytes_of(a.dtype));
  const double most = allowance_of(a, count, rounding);
  for (size_t i = 0; i < count; i++) {
    const Value x = value_at(a, i);
    const Value y = value_at(b, i);
    if (uop::same_value(x, y) || (rounding.undefined && is_poison(x))) continue;
    const bool close = uop::is_float(x.dtype) && most > 0 &&
                       std::fabs(uop::as_double(x) - uop::as_double(y)) <= most;
    if (!close) {
      return fmt::format("element {} is {}, then {}", i, uop::to_text(x), uop::to_text(y));
    }
  }
  return "";
}

}  // namespace assay::props
