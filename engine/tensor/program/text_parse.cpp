#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/tensor/program/parser.h"
#include "engine/tensor/program/text.h"

namespace assay::tensor {
namespace {

constexpr int64_t kVersion = 1;
constexpr std::string_view kReserved[] = {"shard", "capture", "replay", "image"};

// Appends the comment lines at the front of a text from `at` on; where the next line begins.
size_t read_header(std::string_view text, size_t at, std::string& header) {
  while (at < text.size()) {
    const size_t line_end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, line_end - at);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r')) {
      line.remove_suffix(1);
    }
    if (!line.empty() && line.front() != '#') break;
    if (!line.empty()) header.append(line).append("\n");
    at = std::min(line_end + 1, text.size());
  }
  return at;
}

}  // namespace

bool is_reserved(std::string_view word) {
  return std::ranges::find(kReserved, word) != std::end(kReserved);
}

Result<Program> Parser::run() {
  tokens_ = Tokens(text_, read_header(text_, 0, program_.header));
  if (auto error = version()) return *std::move(error);
  if (tokens_.now().kind == Token::Kind::LineEnd) {
    tokens_ = Tokens(text_, read_header(text_, tokens_.end_of_now(), program_.header));
  }
  while (tokens_.now().kind != Token::Kind::TextEnd) {
    if (tokens_.now().kind == Token::Kind::LineEnd) {
      tokens_.take();
      continue;
    }
    if (auto error = statement()) return *std::move(error);
    if (auto error = line_end()) return *std::move(error);
  }
  return std::move(program_);
}

Parser::Done Parser::version() {
  if (!tokens_.take_if("tp")) return tokens_.expected("'tp 1', the version of the language");
  const Token token = tokens_.now();
  const auto number = read_int(tokens_, "the number of a version");
  if (!number.ok()) return number.error();
  if (number.value() != kVersion) {
    return tokens_.error(token.text, fmt::format("version {} is not known", number.value()));
  }
  if (!tokens_.now().ends_line()) return tokens_.expected("the end of the line");
  return std::nullopt;
}

Parser::Done Parser::line_end() {
  if (!tokens_.now().ends_line()) return tokens_.expected("the end of the line");
  return std::nullopt;
}

Parser::Done Parser::statement() {
  struct Row {
    std::string_view word;
    Done (Parser::*read)();
  };
  static constexpr Row kRows[] = {{"var", &Parser::variable},
                                  {"kernel", &Parser::hint},
                                  {"force", &Parser::force},
                                  {"bind", &Parser::bind},
                                  {"expect", &Parser::expect}};
  const Token& first = tokens_.now();
  if (is_reserved(first.text)) {
    return tokens_.error(first.text, fmt::format("'{}' is not in this engine yet", first.text));
  }
  const auto* row = std::ranges::find(kRows, first.text, &Row::word);
  const bool is_name = tokens_.next().is(":") || tokens_.next().is(":=");
  return row == std::end(kRows) || is_name ? define_or_write() : (this->*row->read)();
}

// var n in 1..16 = 5
Parser::Done Parser::variable() {
  const int line = tokens_.line();
  const Token word = tokens_.take();
  if (!program_.statements.empty()) {
    return tokens_.error(word.text, "variables stand before all other statements");
  }
  const auto name = new_name("the name of a variable");
  if (!name.ok()) return name.error();
  if (!tokens_.take_if("in")) return tokens_.expected("'in'");
  const auto lo = read_int(tokens_, "the least value");
  if (!lo.ok()) return lo.error();
  if (!tokens_.take_if("..")) return tokens_.expected("'..'");
  const auto hi = read_int(tokens_, "the largest value");
  if (!hi.ok()) return hi.error();
  if (!tokens_.take_if("=")) return tokens_.expected("'='");
  const std::string_view piece = tokens_.now().text;
  const auto value = read_int(tokens_, "a value");
  if (!value.ok()) return value.error();
  if (value.value() < lo.value() || hi.value() < value.value()) {
    return tokens_.error(piece,
                         fmt::format("{} is not in {}..{}", value.value(), lo.value(), hi.value()));
  }
  names_.emplace(name.value().text,
                 Named{true, static_cast<int32_t>(program_.variables.size()), line});
  program_.variables.push_back(
      {std::string(name.value().text), lo.value(), hi.value(), value.value(), line});
  bound_.push_back(value.value());
  return std::nullopt;
}

Result<Token> Parser::new_name(std::string_view what) {
  const Token token = tokens_.now();
  if (token.kind != Token::Kind::Word) return tokens_.expected(what);
  if (is_keyword(token.text)) {
    return tokens_.error(token.text, fmt::format("'{}' is a keyword", token.text));
  }
  const auto found = names_.find(token.text);
  if (found != names_.end()) {
    return tokens_.error(token.text, fmt::format("'{}' is already defined on line {}", token.text,
                                                 found->second.line));
  }
  return tokens_.take();
}

Result<int32_t> Parser::value(std::string_view what) {
  const Token token = tokens_.now();
  if (token.kind != Token::Kind::Word || is_keyword(token.text)) return tokens_.expected(what);
  const auto found = names_.find(token.text);
  if (found == names_.end()) {
    return tokens_.error(token.text, fmt::format("there is no value '{}'", token.text));
  }
  if (found->second.is_variable) {
    return tokens_.error(token.text,
                         fmt::format("'{}' is a variable, which only sizes hold", token.text));
  }
  tokens_.take();
  return found->second.place;
}

// A value, or a literal that type t can hold.
Result<Operand> Parser::operand(DType t) {
  if (starts_literal(tokens_.now())) {
    ASSAY_TRY(literal, read_literal(tokens_, t));
    return Operand{-1, literal};
  }
  ASSAY_TRY(place, value("a value or a number"));
  return Operand{place, {}};
}

Parser::Done Parser::define_or_write() {
  if (tokens_.now().kind != Token::Kind::Word) return tokens_.expected("a statement");
  if (tokens_.next().is(":=")) return write();
  if (!tokens_.next().is(":") && !is_keyword(tokens_.now().text)) {
    const Token name = tokens_.take();
    return tokens_.expected(fmt::format("':' or ':=' after {}", quoted(name.text)));
  }
  const auto name = new_name("a statement");
  if (!name.ok()) return name.error();
  tokens_.take();
  return define(name.value());
}

// v := x
Parser::Done Parser::write() {
  const int line = tokens_.line();
  const auto target = value("a value");
  if (!target.ok()) return target.error();
  tokens_.take();
  auto source = operand(program_.define(target.value()).dtype);
  if (!source.ok()) return source.error();
  add(line, Write{target.value(), std::move(source).value()});
  return std::nullopt;
}

// force v, w
Parser::Done Parser::force() {
  const int line = tokens_.line();
  Force result;
  do {
    tokens_.take();
    const auto one = value("a value");
    if (!one.ok()) return one.error();
    result.values.push_back(one.value());
  } while (tokens_.now().is(","));
  add(line, std::move(result));
  return std::nullopt;
}

// bind n = 3
Parser::Done Parser::bind() {
  const int line = tokens_.line();
  tokens_.take();
  const Token name = tokens_.now();
  const auto found = names_.find(name.text);
  if (found == names_.end() || !found->second.is_variable) return tokens_.expected("a variable");
  tokens_.take();
  if (!tokens_.take_if("=")) return tokens_.expected("'='");
  const std::string_view piece = tokens_.now().text;
  const auto number = read_int(tokens_, "a value");
  if (!number.ok()) return number.error();
  const Variable& v = program_.variables[static_cast<size_t>(found->second.place)];
  if (number.value() < v.lo || v.hi < number.value()) {
    return tokens_.error(
        piece, fmt::format("{} is in {}..{}, not {}", v.name, v.lo, v.hi, number.value()));
  }
  bound_[static_cast<size_t>(found->second.place)] = number.value();
  add(line, Bind{found->second.place, number.value()});
  return std::nullopt;
}

// expect y = [1, _] or error "…"
Parser::Done Parser::expect() {
  const int line = tokens_.line();
  tokens_.take();
  Expect result;
  const bool is_error = tokens_.now().is_word("error") && !tokens_.next().is("=");
  if (!is_error) {
    const auto place = value("a value or 'error'");
    if (!place.ok()) return place.error();
    result.value = place.value();
    if (!tokens_.take_if("=")) return tokens_.expected("'='");
    const Define& define = program_.define(result.value);
    const std::string_view piece = tokens_.now().text;
    auto data = read_data(tokens_, define.dtype, read_expected);
    if (!data.ok()) return data.error();
    result.data = std::move(data).value();
    if (auto error = check_count(result.data, define, piece)) return error;
  }
  if (is_error || tokens_.take_if("or")) {
    if (auto error = expected_error(result)) return error;
  }
  add(line, std::move(result));
  return std::nullopt;
}

Parser::Done Parser::expected_error(Expect& expect) {
  if (!tokens_.take_if("error")) return tokens_.expected("'error'");
  auto text = read_text(tokens_);
  if (!text.ok()) return text.error();
  expect.error = std::move(text).value();
  return std::nullopt;
}

Result<Program> from_text(std::string_view text) { return Parser(text).run(); }

}  // namespace assay::tensor
