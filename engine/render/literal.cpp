#include "engine/render/literal.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <string_view>

#include "engine/check.h"

namespace assay::render {
namespace {

using uop::DType;
using uop::Int128;
using uop::Value;

template <typename... Args>
void put(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

Precedence append_bits(std::string& out, Value v) {
  switch (v.dtype) {
    case DType::F16: put(out, "as_half((ushort){:#x})", v.bits); break;
    case DType::F32: put(out, "as_float({:#x}u)", v.bits); break;
    default: put(out, "as_double({:#x}UL)", v.bits); break;
  }
  return kPostfix;
}

Precedence append_float(std::string& out, Value v) {
  constexpr double kFewDigits = 1 << 20;
  const double x = uop::as_double(v);
  if (!std::isfinite(x)) return append_bits(out, v);
  if (v.dtype == DType::F16) out += "(half)";
  const bool is_whole = std::fabs(x) < kFewDigits && x == std::trunc(x);
  if (is_whole) {
    put(out, "{}{}.0", std::signbit(x) ? "-" : "", static_cast<int64_t>(std::fabs(x)));
  } else {
    put(out, "{:a}", x);
  }
  if (v.dtype != DType::F64) out += 'f';
  return std::signbit(x) || v.dtype == DType::F16 ? kUnary : kPrimary;
}

std::string_view suffix(DType t) {
  if (t == DType::U32) return "u";
  if (t == DType::I64) return "L";
  return t == DType::U64 ? "UL" : "";
}

Precedence append_int(std::string& out, Value v) {
  const Int128 n = uop::as_int(v);
  const std::string_view end = suffix(v.dtype);
  const bool is_least =
      (v.dtype == DType::I32 || v.dtype == DType::I64) && n == uop::min_int(v.dtype);
  if (is_least) {
    put(out, "-{}{} - 1{}", static_cast<uint64_t>(-(n + 1)), end, end);
    return kSum;
  }
  put(out, "{}{}{}", n < 0 ? "-" : "", static_cast<uint64_t>(n < 0 ? -n : n), end);
  return n < 0 ? kUnary : kPrimary;
}

}  // namespace

Precedence append_literal(std::string& out, Value v) {
  if (v.dtype == DType::Bool) {
    out += v.bits != 0 ? "true" : "false";
    return kPrimary;
  }
  if (uop::is_fixed_int(v.dtype)) return append_int(out, v);
  const bool has_text = v.dtype == DType::F16 || v.dtype == DType::F32 || v.dtype == DType::F64;
  ASSAY_CHECK(has_text, "no literal of type {}", to_text(v.dtype));
  return append_float(out, v);
}

}  // namespace assay::render
