#include "engine/uop/text.h"

#include <fmt/format.h>

#include <charconv>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "engine/check.h"
#include "engine/uop/node_map.h"
#include "engine/uop/scan.h"
#include "engine/uop/verify.h"
#include "engine/uop/walk.h"

namespace assay::uop {
namespace {

using TokenKind = Token::Kind;

void append_numbers(std::string& out, std::span<const int64_t> numbers, std::string_view before) {
  for (const int64_t n : numbers) {
    fmt::format_to(std::back_inserter(out), "{}{}", before, n);
    before = " ";
  }
}

// The nodes of a text by name. Printed names, which count the nodes, are found by their number;
// others in a tree, which no choice of names can make slow.
class Names {
 public:
  Ref find(std::string_view name) const {
    if (const auto n = number_of(name); n && *n < numbered_.size() && numbered_[*n] != nullptr) {
      return numbered_[*n];
    }
    const auto found = others_.find(name);
    return found == others_.end() ? nullptr : found->second;
  }

  // The next node of the text; the name is new.
  void add(std::string_view name, Ref u) {
    const bool counts = number_of(name) == numbered_.size();
    if (!counts) others_.emplace(name, u);
    numbered_.push_back(counts ? u : nullptr);
  }

 private:
  static std::optional<size_t> number_of(std::string_view name) {
    const std::string_view digits = name.substr(1);
    size_t n = 0;
    const char* begin = digits.data();
    const char* end = begin + digits.size();
    const auto [stop, trouble] = std::from_chars(begin, end, n);
    const bool is_plain = digits == "0" || !digits.starts_with('0');
    if (trouble != std::errc() || stop != end || !is_plain) return std::nullopt;
    return n;
  }

  std::vector<Ref> numbered_;  // null where the node has another name
  std::map<std::string_view, Ref> others_;
};

// Reads with an error that sticks: after the first one, every read does nothing and yields a value
// that is not used.
class Parser {
 public:
  Parser(Graph& g, std::string_view text) : g_(g), scanner_(text), token_(scanner_.next()) {}

  Result<Parsed> run() {
    skip_lines();
    std::string stage = header();
    Ref root = nullptr;
    for (skip_lines(); token_.kind != TokenKind::TextEnd; skip_lines()) root = node();
    if (root == nullptr) expected("a node");
    if (error_) return *std::move(error_);
    return Parsed{root, std::move(stage)};
  }

 private:
  void fail(std::string_view piece, std::string message, size_t skip = 0) {
    if (!error_) error_ = scanner_.error(piece, std::move(message), skip);
    token_ = {TokenKind::TextEnd, {}};
  }
  void expected(std::string_view what) {
    if (!error_) error_ = scanner_.expected(what, token_);
    token_ = {TokenKind::TextEnd, {}};
  }

  bool at(TokenKind kind) const { return token_.kind == kind; }
  std::string_view take() {
    const std::string_view text = token_.text;
    if (!error_) token_ = scanner_.next();
    return text;
  }
  std::string_view take(TokenKind kind, std::string_view what) {
    if (!at(kind)) expected(what);
    return take();
  }
  void skip_lines() {
    while (at(TokenKind::LineEnd)) take();
  }
  void end_line() {
    if (!token_.ends_line()) expected("the end of the line");
    take();
  }

  // What from_text reads from a word.
  template <typename T>
  T word(std::optional<T> (*from_text)(std::string_view), std::string_view what) {
    const auto found = at(TokenKind::Word) ? from_text(token_.text) : std::nullopt;
    if (!found) expected(what);
    take();
    return found.value_or(T());
  }
  template <typename Int>
  Int number() {
    Int n = 0;
    const char* begin = token_.text.data();
    const char* end = begin + token_.text.size();
    const auto [stop, trouble] = std::from_chars(begin, end, n);
    if (!at(TokenKind::Word) || trouble != std::errc() || stop != end) {
      expected(fmt::format("a number of {} bits", std::numeric_limits<Int>::digits + 1));
    }
    take();
    return n;
  }
  Value value(DType t) {
    const auto found = at(TokenKind::Word) ? value_from_text(t, token_.text) : std::nullopt;
    if (!found) expected(fmt::format("a value of type {}", to_text(t)));
    take();
    return found.value_or(Value());
  }
  Op op() {
    if (at(TokenKind::Word) && !op_from_text(token_.text)) {
      fail(token_.text, "unknown operation " + quoted(token_.text));
    }
    return word(op_from_text, "an operation");
  }
  bool at_item() const { return !error_ && !at(TokenKind::Close); }

  std::string header();
  std::string name_in_quotes();
  size_t unescape(std::string_view body, size_t i, std::string& out);
  void read_sources();
  void read_numbers();
  Arg argument(Op op, DType t);
  Arg argument_of(ArgKind kind, DType t);
  Ref node();

  Graph& g_;
  Scanner scanner_;
  Token token_;
  Names names_;
  std::optional<Error> error_;
  std::vector<Ref> sources_;
  std::vector<int64_t> numbers_;
};

std::string Parser::header() {
  if (token_.text != "uop") expected("'uop'");
  take();
  const std::string_view version = token_.text;
  const bool is_number = version.find_first_not_of("0123456789") == std::string_view::npos;
  if (!at(TokenKind::Word) || !is_number) expected("the version of the format");
  if (version != "1") {
    fail(version, fmt::format("version {} of the format is not known, only 1 is", version));
  }
  take();
  if (!at(TokenKind::Word) || !is_stage_name(token_.text)) expected("the name of a stage");
  std::string stage(take());
  end_line();
  return stage;
}

// The byte that stands escaped at body[i], where a backslash is; yields what follows it.
size_t Parser::unescape(std::string_view body, size_t i, std::string& out) {
  constexpr std::string_view kEscapes = "\"\\nt";
  constexpr std::string_view kMeanings = "\"\\\n\t";
  const std::string_view rest = body.substr(i + 1);
  const size_t known = rest.empty() ? std::string_view::npos : kEscapes.find(rest[0]);
  if (known != std::string_view::npos) {
    out += kMeanings[known];
    return i + 2;
  }
  const std::string_view digits = rest.starts_with('x') ? rest.substr(1, 2) : std::string_view();
  uint8_t byte = 0;
  const auto [stop, trouble] =
      std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
  if (trouble == std::errc() && stop == digits.data() + 2) {
    out += static_cast<char>(byte);
    return i + 4;
  }
  const size_t shown = rest.starts_with('x') ? 4 : 2;
  fail(body, "unknown escape " + quoted(body.substr(i, shown)), i);
  return body.size();
}

std::string Parser::name_in_quotes() {
  if (at(TokenKind::OpenQuote)) fail(token_.text, "the quote is not closed");
  const std::string_view quote = take(TokenKind::Quote, "a name between quotes");
  if (error_) return {};
  const std::string_view body = quote.substr(1, quote.size() - 2);
  std::string name;
  for (size_t i = 0; i < body.size();) {
    if (body[i] == '\\') {
      i = unescape(body, i, name);
    } else {
      name += body[i++];
    }
  }
  return name;
}

void Parser::read_sources() {
  sources_.clear();
  while (at(TokenKind::Name)) {
    const std::string_view name = take();
    const Ref u = names_.find(name);
    if (u == nullptr) fail(name, fmt::format("{} is not defined yet", name));
    sources_.push_back(u);
  }
}

void Parser::read_numbers() {
  numbers_.clear();
  while (at_item()) numbers_.push_back(number<int64_t>());
}

Arg Parser::argument(Op op, DType t) {
  const ArgKind kind = info(op).arg;
  const bool may_be_absent = kind == ArgKind::None || kind == ArgKind::Info;
  if (may_be_absent && token_.ends_line()) return {};
  if (kind == ArgKind::None) expected("a source or the end of the line");
  if (!at(TokenKind::Open)) expected("a source or '{'");
  take();
  const Arg arg = error_ ? Arg() : argument_of(kind, t);
  take(TokenKind::Close, "'}'");
  return arg;
}

Arg Parser::argument_of(ArgKind kind, DType t) {
  switch (kind) {
    case ArgKind::None:
    case ArgKind::Value: break;
    case ArgKind::Number: return Arg::number(number<int64_t>());
    case ArgKind::Axis: {
      const auto n = number<int32_t>();
      return Arg::axis(n, word(axis_type_from_text, "a type of axis"));
    }
    case ArgKind::Place: {
      const auto n = number<int32_t>();
      return Arg::place(n, word(addr_space_from_text, "an address space"));
    }
    case ArgKind::Fold: {
      const Op fold = op();
      return Arg::fold(fold, number<int32_t>());
    }
    case ArgKind::Numbers: read_numbers(); return g_.numbers(numbers_);
    case ArgKind::Name: return g_.name(name_in_quotes());
    case ArgKind::Symbol: {
      const std::string name = name_in_quotes();
      numbers_.clear();
      while (at_item()) numbers_.push_back(static_cast<int64_t>(value(t).bits));
      return g_.symbol(name, numbers_);
    }
    case ArgKind::Info: {
      const std::string name = name_in_quotes();
      read_numbers();
      return g_.info(name, numbers_);
    }
  }
  ASSAY_CHECK(false, "an argument of kind {} has no braces", int(kind));
}

Ref Parser::node() {
  const std::string_view name = take(TokenKind::Name, "a node");
  if (name == "%") fail(name, "expected the name of a node after '%'");
  if (!error_ && names_.find(name) != nullptr) {
    fail(name, fmt::format("{} is defined already", name));
  }
  take(TokenKind::Equals, "'='");
  const std::string_view op_text = token_.text;
  const Op code = op();
  const DType t = word(dtype_from_text, "a type");
  const bool has_value = info(code).arg == ArgKind::Value;
  const Value held = has_value && !error_ ? value(t) : Value();
  read_sources();
  const Arg arg = has_value ? Arg::value(held) : argument(code, t);
  end_line();
  if (error_) return nullptr;
  const UOp made = {code, t, 0, arg, sources_};
  if (auto bad = verify_node(&made)) {
    fail(op_text, std::move(*bad));
    return nullptr;
  }
  const Ref u = g_.make(code, t, sources_, arg);
  names_.add(name, u);
  return u;
}

}  // namespace

void append_arg(std::string& out, Ref u) {
  const Arg arg = u->arg;
  const auto end = std::back_inserter(out);
  switch (arg.kind) {
    case ArgKind::None:
    case ArgKind::Value: return;
    case ArgKind::Number: fmt::format_to(end, " {{{}}}", arg.number()); return;
    case ArgKind::Axis:
      fmt::format_to(end, " {{{} {}}}", arg.number(), to_text(arg.axis_type()));
      return;
    case ArgKind::Place:
      fmt::format_to(end, " {{{} {}}}", arg.number(), to_text(arg.addr_space()));
      return;
    case ArgKind::Fold:
      fmt::format_to(end, " {{{} {}}}", to_text(arg.fold_op()), arg.number());
      return;
    case ArgKind::Numbers:
      out += " {";
      append_numbers(out, arg.numbers(), "");
      break;
    case ArgKind::Name:
      out += " {";
      append_quoted(out, arg.name());
      break;
    case ArgKind::Symbol:
      out += " {";
      append_quoted(out, arg.name());
      for (const int64_t n : arg.numbers()) {
        fmt::format_to(end, " {}", to_text(Value{u->dtype, static_cast<uint64_t>(n)}));
      }
      break;
    case ArgKind::Info:
      out += " {";
      append_quoted(out, arg.name());
      append_numbers(out, arg.numbers(), " ");
      break;
  }
  out += '}';
}

bool is_stage_name(std::string_view text) {
  return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.-") ==
                              std::string_view::npos;
}

std::string to_text(Graph& g, Ref root, std::string_view stage) {
  ASSAY_CHECK(is_stage_name(stage), "{} is no name of a stage", stage);
  std::string out = fmt::format("uop 1 {}\n", stage);
  const auto end = std::back_inserter(out);
  const std::vector<Ref> order = toposort(g, root);
  NodeMap<uint32_t> places;
  uint32_t place = 0;
  for (const Ref u : order) {
    fmt::format_to(end, "%{} = {} {}", place, to_text(u->op), to_text(u->dtype));
    if (u->arg.kind == ArgKind::Value) fmt::format_to(end, " {}", to_text(u->value()));
    for (const Ref s : u->src) fmt::format_to(end, " %{}", places.at(s));
    append_arg(out, u);
    out += '\n';
    places.set(u, place++);
  }
  return out;
}

Result<Parsed> from_text(Graph& g, std::string_view text) { return Parser(g, text).run(); }

}  // namespace assay::uop
