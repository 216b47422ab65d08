#include "oracles/reference/test_programs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "engine/tensor/program/text.h"
#include "oracles/reference/array.h"

namespace assay::reference {
namespace {

using tensor::Literal;

std::string text_of(const Bounded& x, DType t) {
  if (x.certainty == Certainty::Unspecified) return "_";
  if (x.certainty == Certainty::Ambiguous) return "?";
  if (t == uop::U64) return fmt::format("{}", static_cast<uint64_t>(x.integer));
  if (!uop::is_float(t)) return fmt::format("{}", x.integer);
  if (std::isnan(x.value)) return "nan";
  return fmt::format("{}{}", x.value, x.is_exact() ? "" : "~");
}

// Whether a correct result may be this literal; what is written in decimals may be half a unit off.
bool may_be(const Bounded& x, const Literal& literal, DType t) {
  if (literal.kind == Literal::Kind::Any) return true;
  const uint64_t bits = tensor::bits_at(literal, t).value_or(0);
  const Bounded wanted = from_bits(t, bits);
  if (!x.is_known()) return false;
  if (!uop::is_float(t)) return x.integer == wanted.integer;
  if (std::isnan(wanted.value) || std::isnan(x.value)) {
    return std::isnan(wanted.value) && std::isnan(x.value);
  }
  if (x.is_exact()) {
    const bool same_sign = std::signbit(x.value) == std::signbit(wanted.value);
    return x.value == wanted.value && (same_sign || x.loose_zero);
  }
  const double unit = std::ldexp(std::abs(wanted.value), -uop::format_of(t).mantissa_bits);
  return std::abs(x.value - wanted.value) <= x.bound + unit / 2;
}

// A bound that lets anything pass tests nothing.
bool is_tight(const Bounded& x, DType t) {
  if (!uop::is_float(t) || x.is_exact()) return true;
  const double unit = std::ldexp(1, -uop::format_of(t).mantissa_bits);
  return x.bound <= 64 * unit * std::max(1.0, std::abs(x.value));
}

std::string judge_array(const Array& array, const tensor::Expect& expect) {
  const bool is_one = expect.data.size() == 1;
  if (!is_one && std::ssize(expect.data) != array.elements.size()) {
    return fmt::format("{} elements are expected, there are {}", expect.data.size(),
                       array.elements.size());
  }
  for (size_t i = 0; i < static_cast<size_t>(array.elements.size()); ++i) {
    const Literal& literal = expect.data[is_one ? 0 : i];
    const bool passes = may_be(array.elements[i], literal, array.dtype);
    if (passes &&
        (literal.kind == Literal::Kind::Any || is_tight(array.elements[i], array.dtype))) {
      continue;
    }
    return fmt::format("element {} of {}, bound {}", i, to_text(array), array.elements[i].bound);
  }
  return "";
}

}  // namespace

Result<std::vector<Array>> evaluated(std::string_view program) {
  ASSAY_TRY(parsed, tensor::from_text(fmt::format("tp 1\n{}", program)));
  return evaluate(parsed);
}

std::string to_text(const Array& array) {
  std::vector<std::string> elements;
  for (const Bounded& x : array.elements) elements.push_back(text_of(x, array.dtype));
  return fmt::format("{}{} {{{}}}", uop::to_text(array.dtype), to_text(array.shape),
                     fmt::join(elements, ", "));
}

std::string judged(std::string_view program) {
  const Result<tensor::Program> parsed = tensor::from_text(fmt::format("tp 1\n{}", program));
  if (!parsed.ok()) return to_string(parsed.error());
  const Result<std::vector<Array>> values = evaluate(parsed.value());
  if (!values.ok()) return to_string(values.error());
  const std::vector<tensor::Output> outputs = tensor::outputs(parsed.value());
  int expected = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto place = static_cast<size_t>(outputs[i].statement);
    if (place >= parsed.value().statements.size()) continue;
    const tensor::Statement& statement = parsed.value().statements[place];
    const auto* expect = std::get_if<tensor::Expect>(&statement.what);
    if (expect == nullptr) continue;
    ++expected;
    const std::string wrong = judge_array(values.value()[i], *expect);
    if (!wrong.empty()) return fmt::format("line {}: {}", statement.line, wrong);
  }
  return expected == 0 ? "nothing is expected" : "";
}

std::string error_of(std::string_view program) {
  const Result<std::vector<Array>> values = evaluated(program);
  return values.ok() ? "no error" : to_string(values.error());
}

}  // namespace assay::reference
