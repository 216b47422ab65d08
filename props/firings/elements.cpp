#include "props/firings/elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/uop/refines.h"
#include "oracles/interpreter/numbers.h"
#include "oracles/interpreter/poison.h"

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

bool agree(Value x, Value y, double most) {
  if (uop::same_value(x, y)) return true;
  return uop::is_float(x.dtype) && most > 0 &&
         std::fabs(uop::as_double(x) - uop::as_double(y)) <= most;
}

}  // namespace

Difference difference_of(const Elements& wanted, const Elements& got, const Rounding& rounding,
                         const std::function<Result<Elements>()>& again) {
  using oracles::Answer;
  if (wanted.dtype != got.dtype || wanted.shape != got.shape) {
    return {Answer::Fail, "shapes differ"};
  }
  if (wanted.bytes == got.bytes) return {};
  const auto width = static_cast<size_t>(uop::bytes_of(wanted.dtype));
  const size_t count = wanted.bytes.size() / width;
  const double most = allowance_of(wanted, count, rounding);
  std::vector<bool> open;
  const auto is_open = [&](size_t element) -> Result<bool> {
    if (open.empty()) {
      ASSAY_TRY(marks, interpreter::unspecified_bytes(
                           {wanted.bytes}, [&]() -> Result<interpreter::Storages> {
                             ASSAY_TRY(other, again());
                             return interpreter::Storages{std::move(other.bytes)};
                           }));
      open = std::move(marks[0]);
    }
    return interpreter::is_marked(open, element, width);
  };
  for (size_t i = 0; i < count; i++) {
    const Value x = value_at(wanted, i);
    const Value y = value_at(got, i);
    if (agree(x, y, most)) continue;
    const Result<bool> is_anything = is_open(i);
    if (!is_anything.ok()) return {Answer::Unknown, to_string(is_anything.error())};
    if (is_anything.value()) continue;
    return {Answer::Fail,
            fmt::format("element {} is {}, then {}", i, uop::to_text(x), uop::to_text(y))};
  }
  return {};
}

}  // namespace assay::props
