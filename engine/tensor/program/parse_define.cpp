#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/tensor/program/contents.h"
#include "engine/tensor/program/parser.h"

namespace assay::tensor {
namespace {

constexpr size_t kMostAxes = 32;

std::string operand_names(const OpRow& op) {
  std::string result;
  for (const OperandRow& o : op.operands) {
    result += fmt::format("{}{}{}{}", result.empty() ? "" : ", ", o.name, o.repeats ? "..." : "",
                          o.optional ? "?" : "");
  }
  return result.empty() ? "no operands" : result;
}

std::string attribute_names(const OpRow& op) {
  if (op.attrs.empty()) return "it has none";
  std::vector<std::string_view> names;
  names.reserve(op.attrs.size());
  for (const AttrRow& a : op.attrs) names.push_back(a.name);
  return fmt::format("it has {}", fmt::join(names, ", "));
}

bool has_device(Op op) {
  return row(op).family == Family::Source || op == Op::RandomBits || op == Op::RandomUniform;
}

}  // namespace

// name: dtype[shape] = op(operands, attr=value) on DEVICE
Parser::Done Parser::define(const Token& name) {
  const int line = tokens_.line();
  Define define;
  define.name = name.text;
  const auto type = read_type(tokens_);
  if (!type.ok()) return type.error();
  define.dtype = type.value();
  const std::string_view shape_piece = tokens_.now().text;
  auto shape = read_sizes(tokens_, names_);
  if (!shape.ok()) return shape.error();
  define.shape = std::move(shape).value();
  if (define.shape.size() > kMostAxes) {
    return tokens_.error(shape_piece, fmt::format("{} has {} axes, more than {}", define.name,
                                                  define.shape.size(), kMostAxes));
  }
  if (!tokens_.take_if("=")) return tokens_.expected("'='");
  const Token op = tokens_.now();
  if (op.kind != Token::Kind::Word) return tokens_.expected("an op");
  if (is_reserved(op.text)) {
    return tokens_.error(op.text, fmt::format("'{}' is not in this engine yet", op.text));
  }
  const auto found = op_from_text(op.text);
  if (!found) return tokens_.error(op.text, fmt::format("there is no op {}", quoted(op.text)));
  tokens_.take();
  define.op = *found;
  if (auto error = arguments(define)) return error;
  if (auto error = place_on_device(define)) return error;
  if (define.op == Op::Input) {
    if (auto trouble = contents_error(define)) return tokens_.error(op.text, *std::move(trouble));
  }
  names_.emplace(name.text, Named{false, static_cast<int32_t>(program_.statements.size()), line});
  add(line, std::move(define));
  return std::nullopt;
}

// (x, y, axes=[1])
Parser::Done Parser::arguments(Define& define) {
  const OpRow& op = row(define.op);
  if (!tokens_.take_if("(")) return tokens_.expected("'('");
  define.attrs.resize(op.attrs.size());
  bool first = true;
  bool named = false;
  while (!tokens_.now().is(")")) {
    if (!first && !tokens_.take_if(",")) return tokens_.expected("',' or ')'");
    first = false;
    const bool is_attribute = tokens_.now().kind == Token::Kind::Word && tokens_.next().is("=");
    if (named && !is_attribute) return tokens_.expected("an attribute");
    named = is_attribute;
    if (auto error = is_attribute ? attribute(define) : argument(define)) return error;
  }
  const Token close = tokens_.take();
  const size_t given = define.operands.size();
  if (given < op.operands.size()) define.operands.resize(op.operands.size(), Operand{-2, {}});
  if (auto error = check_arguments(define, close, given)) return error;
  const std::vector<AttrValue>& defaults = default_attrs(define.op);
  for (size_t i = 0; i < define.attrs.size(); i++) {
    if (std::holds_alternative<std::monostate>(define.attrs[i])) define.attrs[i] = defaults[i];
  }
  return std::nullopt;
}

Parser::Done Parser::argument(Define& define) {
  const OpRow& op = row(define.op);
  const std::string_view piece = tokens_.now().text;
  const size_t place = define.operands.size();
  if (place >= op.max_operands()) {
    return tokens_.error(piece, fmt::format("{} takes {}", op.text, operand_names(op)));
  }
  if (tokens_.now().is_word("none")) {
    const OperandRow& wanted = op.operands[std::min(place, op.operands.size() - 1)];
    if (!wanted.optional) {
      return tokens_.error(piece, fmt::format("{} of {} cannot be left out", wanted.name, op.text));
    }
    tokens_.take();
    define.operands.push_back(Operand{-2, {}});
    return std::nullopt;
  }
  auto one = operand(DType::Void);
  if (!one.ok()) return one.error();
  define.operands.push_back(std::move(one).value());
  return std::nullopt;
}

Parser::Done Parser::attribute(Define& define) {
  const OpRow& op = row(define.op);
  const Token name = tokens_.take();
  const auto found = std::ranges::find(op.attrs, name.text, &AttrRow::name);
  if (found == op.attrs.end()) {
    return tokens_.error(name.text, fmt::format("{} has no attribute {}; {}", op.text,
                                                quoted(name.text), attribute_names(op)));
  }
  AttrValue& place = define.attrs[static_cast<size_t>(found - op.attrs.begin())];
  if (!std::holds_alternative<std::monostate>(place)) {
    return tokens_.error(name.text, fmt::format("'{}' is given twice", name.text));
  }
  tokens_.take();
  const std::string_view piece = tokens_.now().text;
  auto read = read_attr(tokens_, op, *found, define.dtype, names_);
  if (!read.ok()) return read.error();
  place = std::move(read).value();
  if (found->kind != AttrKind::Data) return std::nullopt;
  return check_count(std::get<std::vector<Literal>>(place), define, piece);
}

// That nothing required is missing.
Parser::Done Parser::check_arguments(const Define& define, const Token& close, size_t given) const {
  const OpRow& op = row(define.op);
  if (given < op.min_operands()) {
    return tokens_.error(close.text, fmt::format("{} takes {}", op.text, operand_names(op)));
  }
  for (size_t i = 0; i < op.attrs.size(); i++) {
    const AttrRow& a = op.attrs[i];
    const bool is_absent = std::holds_alternative<std::monostate>(define.attrs[i]);
    if (is_absent && !a.optional && a.fallback.empty()) {
      return tokens_.error(close.text, fmt::format("{} needs {}", op.text, a.name));
    }
  }
  return std::nullopt;
}

Parser::Done Parser::place_on_device(Define& define) {
  const bool is_copy = define.op == Op::Copy;
  if (is_copy && !tokens_.take_if("to")) return tokens_.expected("'to' and a device");
  if (!is_copy && !tokens_.now().is_word("on")) return std::nullopt;
  if (!is_copy && !has_device(define.op)) {
    return tokens_.error(tokens_.now().text,
                         fmt::format("{} is where its operands are", row(define.op).text));
  }
  if (!is_copy) tokens_.take();
  auto device = read_device(tokens_);
  if (!device.ok()) return device.error();
  define.device = std::move(device).value();
  return std::nullopt;
}

// One element for all, or one for each that the shape has as the variables are bound here.
Parser::Done Parser::check_count(const std::vector<Literal>& data, const Define& define,
                                 std::string_view piece) const {
  if (data.size() == 1) return std::nullopt;
  const auto count = element_count(define.shape, bound_);
  if (!count) return tokens_.error(piece, fmt::format("the shape of {} has no size", define.name));
  if (*count == static_cast<int64_t>(data.size())) return std::nullopt;
  return tokens_.error(
      piece, fmt::format("{} has {} elements, {} are given", define.name, *count, data.size()));
}

}  // namespace assay::tensor
