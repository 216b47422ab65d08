#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

#include "engine/check.h"
#include "engine/tensor/program/text.h"
#include "engine/uop/scan.h"

namespace assay::tensor {
namespace {

using Kind = SizeStep::Kind;
using Variables = std::vector<Variable>;

template <typename T>
void append_number(std::string& out, T number) {
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof digits, number);
  out.append(digits, end.ptr);
}

void append_real(std::string& out, double real) {
  if (std::isnan(real)) {
    out += "nan";
    return;
  }
  const size_t start = out.size();
  append_number(out, real);
  if (out.find_first_not_of("-0123456789", start) == std::string::npos) out += ".0";
}

void append(std::string& out, const Literal& literal) {
  switch (literal.kind) {
    case Literal::Kind::Bool: out += literal.integer != 0 ? "true" : "false"; return;
    case Literal::Kind::Float: append_real(out, literal.real); return;
    case Literal::Kind::Any: out += '_'; return;
    case Literal::Kind::Int: break;
  }
  if (literal.integer == static_cast<int64_t>(literal.integer)) {
    append_number(out, static_cast<int64_t>(literal.integer));
  } else {
    fmt::format_to(std::back_inserter(out), "{}", literal.integer);
  }
}

struct Written {
  std::string text;
  int binds;  // as tightly as its loosest operator; numbers and names the most
};

struct PrintedSign {
  Kind kind;
  std::string_view text;
  int binds;
};
constexpr PrintedSign kPrintedSigns[] = {{Kind::Add, " + ", 1},
                                         {Kind::Sub, " - ", 1},
                                         {Kind::Mul, " * ", 2},
                                         {Kind::Div, " // ", 2},
                                         {Kind::Mod, " % ", 2}};

Written joined(const PrintedSign& sign, const Written& a, const Written& b) {
  Written result = {"", sign.binds};
  const bool a_needs_parentheses = a.binds < sign.binds;
  const bool b_needs_parentheses = b.binds <= sign.binds;
  if (a_needs_parentheses) result.text += '(';
  result.text += a.text;
  if (a_needs_parentheses) result.text += ')';
  result.text += sign.text;
  if (b_needs_parentheses) result.text += '(';
  result.text += b.text;
  if (b_needs_parentheses) result.text += ')';
  return result;
}

void append(std::string& out, const Size& size, const Variables& variables) {
  if (size.is_number()) return append_number(out, size.number);
  std::vector<Written> stack;
  for (const SizeStep& step : size.steps) {
    if (step.kind == Kind::Number) {
      stack.push_back({std::to_string(step.number), 3});
      continue;
    }
    if (step.kind == Kind::Variable) {
      const auto place = static_cast<size_t>(step.number);
      ASSAY_CHECK(place < variables.size(), "a size names variable {}", place);
      stack.push_back({variables[place].name, 3});
      continue;
    }
    ASSAY_CHECK(stack.size() >= 2, "a size is no term");
    const Written b = std::move(stack.back());
    stack.pop_back();
    const auto sign = static_cast<size_t>(step.kind) - static_cast<size_t>(Kind::Add);
    stack.back() = joined(kPrintedSigns[sign], stack.back(), b);
  }
  ASSAY_CHECK(stack.size() == 1, "a size is no term");
  out += stack.back().text;
}

void append(std::string& out, const Slice& slice, const Variables& variables) {
  const bool has_step = !(slice.step == Size{1, {}});
  const bool is_whole = slice.begin == Size{} && !slice.end && !has_step;
  if (!is_whole) append(out, slice.begin, variables);
  out += ':';
  if (slice.end) append(out, *slice.end, variables);
  if (!has_step) return;
  out += ':';
  append(out, slice.step, variables);
}

template <typename T, typename One>
void append_list(std::string& out, const std::vector<T>& list, const One& one) {
  out += '[';
  for (size_t i = 0; i < list.size(); i++) {
    if (i > 0) out += ", ";
    one(list[i]);
  }
  out += ']';
}

// Appends the value of an attribute; a word stands bare and a text in quotes.
struct AttrPrinter {
  std::string& out;
  const Variables& variables;
  AttrKind kind;

  void operator()(std::monostate) const {}
  void operator()(bool value) const { out += value ? "true" : "false"; }
  void operator()(int64_t value) const { append_number(out, value); }
  void operator()(const Size& size) const { append(out, size, variables); }
  void operator()(const Literal& literal) const { append(out, literal); }
  void operator()(DType type) const { out += uop::to_text(type); }
  void operator()(const std::string& text) const {
    if (kind == AttrKind::Word) {
      out += text;
    } else {
      uop::append_quoted(out, text);
    }
  }
  void operator()(const std::vector<int64_t>& list) const {
    append_list(out, list, [&](int64_t i) { append_number(out, i); });
  }
  void operator()(const std::vector<Size>& list) const {
    append_list(out, list, [&](const Size& s) { append(out, s, variables); });
  }
  void operator()(const std::vector<Slice>& list) const {
    append_list(out, list, [&](const Slice& s) { append(out, s, variables); });
  }
  void operator()(const std::vector<Literal>& list) const {
    append_list(out, list, [&](const Literal& l) { append(out, l); });
  }
};

// Whether the attribute says no more than its absence would. Lists and sizes have no defaults.
bool is_default(const AttrValue& value, const AttrValue& fallback) {
  if (std::holds_alternative<std::monostate>(value)) return true;
  if (value.index() != fallback.index()) return false;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag == std::get<bool>(fallback);
  if (const auto* number = std::get_if<int64_t>(&value)) {
    return *number == std::get<int64_t>(fallback);
  }
  if (const auto* text = std::get_if<std::string>(&value)) {
    return *text == std::get<std::string>(fallback);
  }
  const auto* literal = std::get_if<Literal>(&value);
  return literal != nullptr && same(*literal, std::get<Literal>(fallback));
}

// Appends one statement.
struct StatementPrinter {
  std::string& out;
  const Program& program;

  void append_name(int32_t value) const { out += program.define(value).name; }
  void append_operand(const Operand& x) const {
    if (x.is_absent()) {
      out += "none";
    } else if (x.is_literal()) {
      append(out, x.literal);
    } else {
      append_name(x.value);
    }
  }

  void operator()(const Define& d) const;
  void operator()(const Write& w) const {
    append_name(w.target);
    out += " := ";
    append_operand(w.value);
  }
  void operator()(const Force& f) const {
    for (size_t i = 0; i < f.values.size(); i++) {
      out += i == 0 ? "force " : ", ";
      append_name(f.values[i]);
    }
  }
  void operator()(const Bind& b) const {
    const Variable& v = program.variables[static_cast<size_t>(b.variable)];
    fmt::format_to(std::back_inserter(out), "bind {} = {}", v.name, b.value);
  }
  void operator()(const Expect& e) const;
};

void StatementPrinter::operator()(const Define& d) const {
  const OpRow& op = row(d.op);
  out += d.name;
  out += ": ";
  out += uop::to_text(d.dtype);
  append_list(out, d.shape, [&](const Size& s) { append(out, s, program.variables); });
  out += " = ";
  out += op.text;
  out += '(';
  size_t written = d.operands.size();
  while (written > 0 && d.operands[written - 1].is_absent()) written--;
  std::string_view comma;
  for (size_t i = 0; i < written; i++) {
    out += std::exchange(comma, ", ");
    append_operand(d.operands[i]);
  }
  const std::vector<AttrValue>& defaults = default_attrs(d.op);
  for (size_t i = 0; i < d.attrs.size(); i++) {
    if (is_default(d.attrs[i], defaults[i])) continue;
    out += std::exchange(comma, ", ");
    out += op.attrs[i].name;
    out += '=';
    std::visit(AttrPrinter{out, program.variables, op.attrs[i].kind}, d.attrs[i]);
  }
  out += ')';
  if (d.device.empty()) return;
  out += d.op == Op::Copy ? " to " : " on ";
  out += d.device;
}

void StatementPrinter::operator()(const Expect& e) const {
  out += "expect ";
  if (e.may_be_value()) {
    append_name(e.value);
    out += " = ";
    append_list(out, e.data, [&](const Literal& l) { append(out, l); });
    if (e.error) out += " or ";
  }
  if (!e.error) return;
  out += "error ";
  uop::append_quoted(out, *e.error);
}

}  // namespace

std::string to_text(const Literal& literal) {
  std::string out;
  append(out, literal);
  return out;
}

std::string to_text(const Size& size, const std::vector<Variable>& variables) {
  std::string out;
  append(out, size, variables);
  return out;
}

std::string to_text(const Statement& statement, const Program& program) {
  std::string out;
  std::visit(StatementPrinter{out, program}, statement.what);
  return out;
}

std::string to_text(const Program& program) {
  std::string out = "tp 1\n";
  out += program.header;
  for (const Variable& v : program.variables) {
    fmt::format_to(std::back_inserter(out), "var {} in {}..{} = {}\n", v.name, v.lo, v.hi, v.value);
  }
  for (const Hint& h : program.hints) {
    fmt::format_to(std::back_inserter(out), "kernel {}: {}\n", h.kernel, h.opts);
  }
  for (const Statement& s : program.statements) {
    std::visit(StatementPrinter{out, program}, s.what);
    out += '\n';
  }
  return out;
}

}  // namespace assay::tensor
