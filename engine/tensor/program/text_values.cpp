#include "engine/tensor/program/text_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <utility>

#include "engine/check.h"
#include "engine/tensor/program/text.h"

namespace assay::tensor {
namespace {

using Kind = SizeStep::Kind;
using uop::UInt128;

constexpr std::string_view kKeywords[] = {"_",      "bind",  "capture", "expect", "false",
                                          "force",  "image", "inf",     "nan",    "none",
                                          "replay", "shard", "true",    "var"};

// A term longer than this is no program of anyone.
constexpr size_t kMostSteps = 1000;

struct SignRow {
  std::string_view text;
  Kind kind;
  int binds;  // the more, the closer
};
constexpr SignRow kSigns[] = {{"+", Kind::Add, 1},
                              {"-", Kind::Sub, 1},
                              {"*", Kind::Mul, 2},
                              {"//", Kind::Div, 2},
                              {"%", Kind::Mod, 2}};

const SignRow* sign_of(const Token& token) {
  if (token.kind != Token::Kind::Sign) return nullptr;
  const auto* row = std::ranges::find(kSigns, token.text, &SignRow::text);
  return row == std::end(kSigns) ? nullptr : row;
}

// The digits of a whole number; nothing for other numbers and past 127 bits.
std::optional<Int128> whole_number(std::string_view text) {
  UInt128 result = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    if (result >> 123 != 0) return std::nullopt;
    result = result * 10 + static_cast<UInt128>(c - '0');
  }
  return static_cast<Int128>(result);
}

// The double nearest to a decimal, past the ends too; nothing for what is no decimal.
std::optional<double> decimal(std::string_view text) {
  double result = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), result);
  if (read.ptr != text.data() + text.size()) return std::nullopt;
  if (read.ec == std::errc::result_out_of_range) {
    return std::strtod(std::string(text).c_str(), nullptr);
  }
  return result;
}

// A number or inf or nan, its sign read before.
Result<Literal> read_unsigned(Tokens& tokens, bool negative) {
  const Token token = tokens.now();
  std::optional<double> real;
  if (token.is_word("inf")) real = std::numeric_limits<double>::infinity();
  if (token.is_word("nan")) real = std::numeric_limits<double>::quiet_NaN();
  if (token.kind == Token::Kind::Number) {
    const auto integer = whole_number(token.text);
    if (integer && !(negative && *integer == 0)) {
      tokens.take();
      return Literal{Literal::Kind::Int, negative ? -*integer : *integer, 0};
    }
    real = decimal(token.text);
  }
  if (!real) return tokens.expected("a number");
  tokens.take();
  return Literal{Literal::Kind::Float, 0, negative && !token.is_word("nan") ? -*real : *real};
}

// The byte that a quoted text begins with, taken off it; nothing for an unknown escape.
std::optional<char> take_byte(std::string_view& rest) {
  const char first = rest.front();
  rest.remove_prefix(1);
  if (first != '\\') return first;
  const char c = rest.empty() ? '\0' : rest.front();
  if (c == 'x' && rest.size() >= 3) {
    unsigned byte = 0;
    const auto read = std::from_chars(rest.data() + 1, rest.data() + 3, byte, 16);
    if (read.ptr != rest.data() + 3) return std::nullopt;
    rest.remove_prefix(3);
    return static_cast<char>(byte);
  }
  if (rest.empty()) return std::nullopt;
  rest.remove_prefix(1);
  if (c == '"' || c == '\\') return c;
  if (c == 'n') return '\n';
  return c == 't' ? std::optional('\t') : std::nullopt;
}

// A size as it is read: terms in postfix order, and the operators and parentheses still open.
struct Term {
  std::vector<SizeStep> steps;
  std::vector<const SignRow*> open;  // nullptr is a parenthesis

  void close_down_to(int binds) {
    while (!open.empty() && open.back() != nullptr && open.back()->binds >= binds) {
      steps.push_back({open.back()->kind, 0});
      open.pop_back();
    }
  }
};

Result<SizeStep> read_factor(Tokens& tokens, const Names& names) {
  const Token token = tokens.now();
  if (token.kind != Token::Kind::Word || is_keyword(token.text)) {
    ASSAY_TRY(number, read_int(tokens, "a size"));
    return SizeStep{Kind::Number, number};
  }
  const auto found = names.find(token.text);
  if (found == names.end()) {
    return tokens.error(token.text, fmt::format("there is no variable {}", quoted(token.text)));
  }
  if (!found->second.is_variable) {
    return tokens.error(token.text, fmt::format("{} is a value, and sizes are made of variables",
                                                quoted(token.text)));
  }
  tokens.take();
  return SizeStep{Kind::Variable, found->second.place};
}

// Reads operators and closing parentheses after a factor; whether another factor must follow.
bool read_operators(Tokens& tokens, Term& term, size_t& parentheses) {
  while (parentheses > 0 && tokens.now().is(")")) {
    tokens.take();
    term.close_down_to(0);
    term.open.pop_back();
    parentheses--;
  }
  const SignRow* sign = sign_of(tokens.now());
  if (sign == nullptr) return false;
  tokens.take();
  term.close_down_to(sign->binds);
  term.open.push_back(sign);
  return true;
}

template <typename T, typename Read>
Result<std::vector<T>> read_list(Tokens& tokens, const Read& read) {
  std::vector<T> result;
  if (!tokens.take_if("[")) return tokens.expected("'['");
  if (tokens.take_if("]")) return result;
  while (true) {
    ASSAY_TRY(one, read());
    result.push_back(std::move(one));
    if (tokens.take_if("]")) return result;
    if (!tokens.take_if(",")) return tokens.expected("',' or ']'");
  }
}

bool ends_slice_part(const Token& token) { return token.is(":") || token.is(",") || token.is("]"); }

// 0:4:2, with what is missing 0, the end, and 1.
Result<Slice> read_slice(Tokens& tokens, const Names& names) {
  Slice result;
  if (!ends_slice_part(tokens.now())) {
    ASSAY_TRY(begin, read_size(tokens, names));
    result.begin = std::move(begin);
  }
  if (!tokens.take_if(":")) return tokens.expected("':'");
  if (!ends_slice_part(tokens.now())) {
    ASSAY_TRY(end, read_size(tokens, names));
    result.end = std::move(end);
  }
  if (!tokens.take_if(":")) return result;
  if (ends_slice_part(tokens.now())) return result;
  ASSAY_TRY(step, read_size(tokens, names));
  result.step = std::move(step);
  return result;
}

Result<bool> read_bool(Tokens& tokens) {
  if (tokens.take_if("true")) return true;
  if (tokens.take_if("false")) return false;
  return tokens.expected("true or false");
}

Result<std::string> read_word(Tokens& tokens, const OpRow& row, const AttrRow& attr) {
  const Token token = tokens.now();
  if (std::ranges::find(attr.words, token.text) == attr.words.end()) {
    return tokens.error(token.text, fmt::format("{} of {} is {}, found {}", attr.name, row.text,
                                                fmt::join(attr.words, " or "), quoted(token.text)));
  }
  tokens.take();
  return std::string(token.text);
}

// The value of a Result as the value of an attribute.
template <typename T>
Result<AttrValue> as_attr(Result<T> result) {
  if (!result.ok()) return result.error();
  return AttrValue(std::move(result).value());
}

}  // namespace

bool is_keyword(std::string_view word) { return std::ranges::binary_search(kKeywords, word); }

bool starts_literal(const Token& token) {
  if (token.kind == Token::Kind::Number || token.is("-")) return true;
  return token.is_word("true") || token.is_word("false") || token.is_word("inf") ||
         token.is_word("nan");
}

Result<int64_t> read_int(Tokens& tokens, std::string_view what) {
  const std::string_view start = tokens.now().text;
  const bool negative = tokens.take_if("-");
  const Token token = tokens.now();
  const auto number =
      token.kind == Token::Kind::Number ? whole_number(token.text) : std::optional<Int128>();
  if (!number) return tokens.expected(what);
  const Int128 value = negative ? -*number : *number;
  if (value != static_cast<int64_t>(value)) {
    return tokens.error(start, fmt::format("{} is past 64 bits", quoted(token.text)));
  }
  tokens.take();
  return static_cast<int64_t>(value);
}

Result<Literal> read_literal(Tokens& tokens, DType t) {
  const std::string_view start = tokens.now().text;
  Literal literal;
  if (tokens.now().is_word("true") || tokens.now().is_word("false")) {
    literal = {Literal::Kind::Bool, tokens.take().text == "true" ? 1 : 0, 0};
  } else {
    const bool negative = tokens.take_if("-");
    ASSAY_TRY(number, read_unsigned(tokens, negative));
    literal = number;
  }
  if (t == DType::Void || uop::is_float(t) || bits_at(literal, t)) return literal;
  return tokens.error(start, fmt::format("{} cannot hold {}", to_text(t), to_text(literal)));
}

Result<Literal> read_expected(Tokens& tokens, DType t) {
  if (tokens.take_if("_")) return Literal{Literal::Kind::Any, 0, 0};
  return read_literal(tokens, t);
}

Result<Size> read_size(Tokens& tokens, const Names& names) {
  if (tokens.now().kind == Token::Kind::Number && sign_of(tokens.next()) == nullptr) {
    ASSAY_TRY(number, read_int(tokens, "a size"));
    return Size{number, {}};
  }
  const std::string_view start = tokens.now().text;
  Term term;
  size_t parentheses = 0;
  do {
    while (tokens.take_if("(")) {
      term.open.push_back(nullptr);
      parentheses++;
    }
    ASSAY_TRY(factor, read_factor(tokens, names));
    term.steps.push_back(factor);
    if (term.steps.size() + term.open.size() > kMostSteps) {
      return tokens.error(start, fmt::format("a size has more than {} parts", kMostSteps));
    }
  } while (read_operators(tokens, term, parentheses));
  if (parentheses > 0) return tokens.expected("an operator or ')'");
  term.close_down_to(0);
  if (term.steps.size() == 1 && term.steps[0].kind == Kind::Number) {
    return Size{term.steps[0].number, {}};
  }
  return Size{0, std::move(term.steps)};
}

Result<std::vector<Size>> read_sizes(Tokens& tokens, const Names& names) {
  return read_list<Size>(tokens, [&] { return read_size(tokens, names); });
}

Result<DType> read_type(Tokens& tokens) {
  const auto type = uop::dtype_from_text(tokens.now().text);
  if (!type || *type == DType::Void || *type == DType::Index) return tokens.expected("a type");
  tokens.take();
  return *type;
}

Result<std::string> read_text(Tokens& tokens) {
  const Token token = tokens.now();
  if (token.kind != Token::Kind::Quote) return tokens.expected("a text in quotes");
  std::string result;
  std::string_view rest = token.text.substr(1, token.text.size() - 2);
  while (!rest.empty()) {
    const std::string_view piece = rest;
    const auto byte = take_byte(rest);
    if (!byte) return tokens.error(piece, R"(unknown escape; there are \" \\ \n \t \xHH)");
    result += *byte;
  }
  tokens.take();
  return result;
}

Result<std::string> read_device(Tokens& tokens) {
  const Token name = tokens.now();
  if (name.kind != Token::Kind::Word) return tokens.expected("a device");
  tokens.take();
  std::string result(name.text);
  if (!tokens.take_if(":")) return result;
  ASSAY_TRY(number, read_int(tokens, "the number of a device"));
  if (number < 0) return tokens.error(name.text, "the number of a device is negative");
  return fmt::format("{}:{}", result, number);
}

Result<std::vector<Literal>> read_data(Tokens& tokens, DType t,
                                       Result<Literal> (*read)(Tokens&, DType)) {
  if (tokens.now().is("[")) {
    return read_list<Literal>(tokens, [&] { return read(tokens, t); });
  }
  ASSAY_TRY(one, read(tokens, t));
  return std::vector<Literal>{one};
}

Result<AttrValue> read_attr(Tokens& tokens, const OpRow& row, const AttrRow& attr, DType t,
                            const Names& names) {
  switch (attr.kind) {
    case AttrKind::Axis:
    case AttrKind::Int: return as_attr(read_int(tokens, "a whole number"));
    case AttrKind::Axes:
      return as_attr(read_list<int64_t>(tokens, [&] { return read_int(tokens, "an axis"); }));
    case AttrKind::Size: return as_attr(read_size(tokens, names));
    case AttrKind::Sizes: return as_attr(read_sizes(tokens, names));
    case AttrKind::Bool: return as_attr(read_bool(tokens));
    case AttrKind::Number: return as_attr(read_literal(tokens, t));
    case AttrKind::Type: return as_attr(read_type(tokens));
    case AttrKind::Word: return as_attr(read_word(tokens, row, attr));
    case AttrKind::Text: return as_attr(read_text(tokens));
    case AttrKind::Slices:
      return as_attr(read_list<Slice>(tokens, [&] { return read_slice(tokens, names); }));
    case AttrKind::Data: return as_attr(read_data(tokens, t, read_literal));
  }
  ASSAY_CHECK(false, "attribute {} of {}", attr.name, row.text);
}

const std::vector<AttrValue>& default_attrs(Op op) {
  static const std::vector<std::vector<AttrValue>> defaults = [] {
    std::vector<std::vector<AttrValue>> result;
    for (const OpRow& r : all_ops()) {
      auto& attrs = result.emplace_back();
      for (const AttrRow& attr : r.attrs) {
        auto& value = attrs.emplace_back();
        if (attr.fallback.empty()) continue;
        Tokens tokens(attr.fallback);
        auto read = read_attr(tokens, r, attr, DType::Void, {});
        ASSAY_CHECK(read.ok() && tokens.now().ends_line(), "{} of {}", attr.name, r.text);
        value = std::move(read).value();
      }
    }
    return result;
  }();
  return defaults[static_cast<size_t>(op)];
}

}  // namespace assay::tensor
