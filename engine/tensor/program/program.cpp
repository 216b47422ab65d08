#include "engine/tensor/program/program.h"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>

#include "engine/check.h"
#include "engine/uop/value.h"

namespace assay::tensor {
namespace {

using Kind = SizeStep::Kind;

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

// Rounds down; nothing by zero or past 64 bits.
std::optional<int64_t> divide(int64_t a, int64_t b) {
  if (b == 0 || (a == kLeast && b == -1)) return std::nullopt;
  const int64_t cut = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? cut - 1 : cut;
}

std::optional<int64_t> apply(Kind kind, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (kind) {
    case Kind::Number:
    case Kind::Variable: return std::nullopt;
    case Kind::Add:
      return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Kind::Sub:
      return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Kind::Mul:
      return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Kind::Div: return divide(a, b);
    case Kind::Mod: {
      if (b == -1) return 0;
      const auto quotient = divide(a, b);
      return quotient ? std::optional(a - *quotient * b) : std::nullopt;
    }
  }
  return std::nullopt;
}

// The exact integer that a finite whole double is, where 128 bits hold it.
std::optional<Int128> whole(double x) {
  if (!(std::fabs(x) < 0x1p126) || std::trunc(x) != x) return std::nullopt;
  return static_cast<Int128>(x);
}

// The double nearest to the shortest decimal that reads back to this f32.
double shortest(float x) {
  char digits[32];
  const char* end = std::to_chars(std::begin(digits), std::end(digits), x).ptr;
  double result = 0;
  std::from_chars(std::begin(digits), end, result);
  return static_cast<float>(result) == x ? result : static_cast<double>(x);
}

// The places that statements read: not those that they only write to.
std::vector<char> read_values(const Program& program) {
  std::vector<char> result(program.statements.size(), 0);
  const auto reads = [&](const Operand& x) {
    if (x.value >= 0) result[static_cast<size_t>(x.value)] = 1;
  };
  for (const Statement& s : program.statements) {
    if (const auto* define = std::get_if<Define>(&s.what)) {
      for (const Operand& x : define->operands) reads(x);
    } else if (const auto* write = std::get_if<Write>(&s.what)) {
      reads(write->value);
    }
  }
  return result;
}

}  // namespace

std::optional<int64_t> evaluate(const Size& size, const std::vector<int64_t>& values) {
  if (size.is_number()) return size.number;
  std::vector<int64_t> stack;
  for (const SizeStep& step : size.steps) {
    if (step.kind == Kind::Number) {
      stack.push_back(step.number);
      continue;
    }
    if (step.kind == Kind::Variable) {
      const auto variable = static_cast<size_t>(step.number);
      ASSAY_CHECK(variable < values.size(), "a size names variable {}", variable);
      stack.push_back(values[variable]);
      continue;
    }
    ASSAY_CHECK(stack.size() >= 2, "a size is no term");
    const int64_t b = stack.back();
    stack.pop_back();
    const auto result = apply(step.kind, stack.back(), b);
    if (!result) return std::nullopt;
    stack.back() = *result;
  }
  ASSAY_CHECK(stack.size() == 1, "a size is no term");
  return stack.back();
}

std::optional<uint64_t> bits_at(const Literal& literal, DType t) {
  if (literal.kind == Literal::Kind::Any || t == DType::Void) return std::nullopt;
  if (literal.kind == Literal::Kind::Float && uop::is_float(t)) {
    return uop::of_double(t, literal.real).bits;
  }
  std::optional<Int128> integer = literal.integer;
  if (literal.kind == Literal::Kind::Float) integer = whole(literal.real);
  if (!integer || (!uop::is_float(t) && !uop::fits(t, *integer))) return std::nullopt;
  return uop::of_int(t, *integer).bits;
}

Literal literal_of(uint64_t bits, DType t) {
  const uop::Value v = {t, bits};
  if (uop::is_float(t)) {
    if (uop::is_nan(v)) return {Literal::Kind::Float, 0, std::numeric_limits<double>::quiet_NaN()};
    const double x = uop::as_double(v);
    return {Literal::Kind::Float, 0, t == DType::F32 ? shortest(static_cast<float>(x)) : x};
  }
  return {t == DType::Bool ? Literal::Kind::Bool : Literal::Kind::Int, uop::as_int(v), 0};
}

bool same(const Literal& a, const Literal& b) {
  if (a.kind != b.kind) return false;
  if (a.kind == Literal::Kind::Any) return true;
  if (a.kind != Literal::Kind::Float) return a.integer == b.integer;
  if (std::isnan(a.real) || std::isnan(b.real)) return std::isnan(a.real) == std::isnan(b.real);
  return a.real == b.real && std::signbit(a.real) == std::signbit(b.real);
}

std::optional<int64_t> element_count(const std::vector<Size>& shape,
                                     const std::vector<int64_t>& values) {
  std::optional<int64_t> result = 1;
  bool has_zero = false;
  for (const Size& size : shape) {
    const auto n = evaluate(size, values);
    if (!n || *n < 0) return std::nullopt;
    has_zero = has_zero || *n == 0;
    if (result) result = apply(Kind::Mul, *result, *n);
  }
  return has_zero ? 0 : result;
}

std::vector<Output> outputs(const Program& program) {
  std::vector<Output> result;
  const auto end = static_cast<int32_t>(program.statements.size());
  for (int32_t at = 0; at < end; at++) {
    const auto& what = program.statements[static_cast<size_t>(at)].what;
    if (const auto* force = std::get_if<Force>(&what)) {
      for (const int32_t value : force->values) result.push_back({value, at});
    }
    const auto* expect = std::get_if<Expect>(&what);
    if (expect != nullptr && expect->may_be_value()) result.push_back({expect->value, at});
  }
  if (!result.empty()) return result;
  const std::vector<char> read = read_values(program);
  for (int32_t at = 0; at < end; at++) {
    const auto place = static_cast<size_t>(at);
    const bool defines = std::holds_alternative<Define>(program.statements[place].what);
    if (defines && read[place] == 0) result.push_back({at, end});
  }
  return result;
}

int32_t storage_of(const Program& program, int32_t value) {
  while (true) {
    const Define& define = program.define(value);
    if (row(define.op).family != Family::View || define.operands[0].value < 0) return value;
    value = define.operands[0].value;
  }
}

}  // namespace assay::tensor
