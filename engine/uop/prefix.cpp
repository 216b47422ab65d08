#include "engine/uop/prefix.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "engine/uop/node_map.h"
#include "engine/uop/verify.h"
#include "engine/uop/walk.h"

namespace assay::uop {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";
constexpr std::string_view kWordEnds = " \t\r\n()";

// What a word after a parenthesis stands for: `op`, on its two operands swapped, then negated.
struct Head {
  Op op;
  bool swapped = false;
  bool negated = false;
};

std::optional<Head> head_from_text(std::string_view text) {
  if (text == ">") return Head{Op::Lt, true, false};
  if (text == ">=") return Head{Op::Lt, false, true};
  if (text == "<=") return Head{Op::Lt, true, true};
  auto op = op_from_symbol(text);
  if (!op) op = op_from_text(text);
  if (!op || !is_scalar(*op)) return std::nullopt;
  return Head{*op};
}

bool divides(Op op) { return op == Op::Div || op == Op::Mod || op == Op::TDiv || op == Op::TMod; }

// Whether op may be written with more operands than it has.
bool is_chained(Op op) { return (info(op).traits & kAssociates) != 0; }

DType result_type(Op op, DType to, std::span<const Ref> operands) {
  const Typing typing = info(op).typing;
  if (typing == Typing::Compare) return Bool;
  return typing == Typing::Convert || operands.empty() ? to : operands.back()->dtype;
}

class PrefixParser {
 public:
  PrefixParser(Graph& g, std::string_view text, const Leaves& leaves, DType literals)
      : g_(g), text_(text), leaves_(leaves), literals_(literals) {}

  Result<Ref> run();

 private:
  // An open parenthesis, whose operands end operands_.
  struct Frame {
    Head head;
    DType to;  // of a conversion
    std::string_view word;
    size_t first;  // of its operands
  };

  // The next parenthesis or word; empty at the end of the text.
  std::string_view next();
  Error error(std::string_view piece, std::string message) const {
    return error_at(text_, static_cast<size_t>(piece.data() - text_.data()), std::move(message));
  }
  Error expected(std::string_view what, std::string_view found) const {
    const std::string shown = found.empty() ? "the end of the text" : quoted(found);
    return error(found, fmt::format("expected {}, found {}", what, shown));
  }
  std::optional<Error> open();
  std::optional<Error> close();
  std::optional<Error> leaf(std::string_view word);
  std::optional<Error> fold(const Frame& frame, std::span<const Ref> operands);
  Ref literal(std::string_view word);

  Graph& g_;
  std::string_view text_;
  const Leaves& leaves_;
  DType literals_;
  size_t at_ = 0;
  std::vector<Frame> frames_;
  std::vector<Ref> operands_;
};

std::string_view PrefixParser::next() {
  at_ = std::min(text_.find_first_not_of(kSpaces, at_), text_.size());
  const size_t begin = at_;
  if (at_ == text_.size()) return text_.substr(at_);
  const bool is_parenthesis = text_[at_] == '(' || text_[at_] == ')';
  at_ = is_parenthesis ? at_ + 1 : std::min(text_.find_first_of(kWordEnds, at_), text_.size());
  return text_.substr(begin, at_ - begin);
}

Result<Ref> PrefixParser::run() {
  while (!frames_.empty() || operands_.empty()) {
    const std::string_view word = next();
    std::optional<Error> trouble;
    if (word == "(") {
      trouble = open();
    } else if (word == ")" && !frames_.empty()) {
      trouble = close();
    } else if (word.empty() || word == ")") {
      trouble = expected(frames_.empty() ? "a term" : "an operand or ')'", word);
    } else {
      trouble = leaf(word);
    }
    if (trouble) return *std::move(trouble);
  }
  const std::string_view rest = next();
  if (!rest.empty()) return expected("the end of the text", rest);
  return operands_.back();
}

std::optional<Error> PrefixParser::open() {
  const std::string_view word = next();
  if (word.empty() || word == "(" || word == ")") return expected("an operation", word);
  const auto head = head_from_text(word);
  if (!head) return error(word, "unknown operation " + quoted(word));
  DType to = Void;
  if (info(head->op).typing == Typing::Convert) {
    const std::string_view type = next();
    const auto found = dtype_from_text(type);
    if (!found) return expected("a type", type);
    to = *found;
  }
  frames_.push_back({*head, to, word, operands_.size()});
  return std::nullopt;
}

std::optional<Error> PrefixParser::close() {
  const Frame frame = frames_.back();
  frames_.pop_back();
  std::vector<Ref> operands(operands_.begin() + static_cast<ptrdiff_t>(frame.first),
                            operands_.end());
  operands_.resize(frame.first);
  if (frame.head.swapped && operands.size() == 2) std::swap(operands[0], operands[1]);
  return fold(frame, operands);
}

// Applies the operation of `frame`, and pushes what comes of it.
std::optional<Error> PrefixParser::fold(const Frame& frame, std::span<const Ref> operands) {
  const Op op = frame.head.op;
  const bool is_chain = is_chained(op) && operands.size() > 2;
  const size_t taken = is_chain ? 2 : operands.size();
  std::vector<Ref> src(operands.begin(), operands.begin() + static_cast<ptrdiff_t>(taken));
  for (size_t i = taken;; i++) {
    const UOp made = {op, result_type(op, frame.to, src), 0, {}, src};
    if (auto bad = verify_node(&made)) return error(frame.word, std::move(*bad));
    const Ref u = g_.make(op, made.dtype, src);
    if (i == operands.size()) {
      operands_.push_back(frame.head.negated ? g_.alu(Op::Not, {u}) : u);
      return std::nullopt;
    }
    src = {u, operands[i]};
  }
}

std::optional<Error> PrefixParser::leaf(std::string_view word) {
  const Ref u = literal(word);
  if (u != nullptr) {
    const bool is_divisor = !frames_.empty() && divides(frames_.back().head.op) &&
                            operands_.size() == frames_.back().first + 1;
    if (is_divisor && is_const(u) && is_int(u->dtype) && u->value() == zero_of(u->dtype)) {
      return error(word, "division by zero");
    }
    operands_.push_back(u);
    return std::nullopt;
  }
  const auto found = leaves_.find(word);
  if (found != leaves_.end()) {
    operands_.push_back(found->second);
    return std::nullopt;
  }
  const size_t sign = word.starts_with('-') ? 1 : 0;
  const bool is_number = word.size() > sign && '0' <= word[sign] && word[sign] <= '9';
  if (is_number) return expected(fmt::format("a value of type {}", to_text(literals_)), word);
  return error(word, "unknown name " + quoted(word));
}

// The node of a word that reads as a literal, or null.
Ref PrefixParser::literal(std::string_view word) {
  if (word == "invalid") return g_.make(Op::Invalid, literals_, {});
  if (const auto truth = value_from_text(Bool, word)) return g_.constant(*truth);
  const auto v = value_from_text(literals_, word);
  return v ? g_.constant(*v) : nullptr;
}

// The word that a leaf is written as.
Result<std::string> leaf_text(Ref u) {
  if (u->op == Op::Const) return to_text(u->value());
  if (u->op == Op::Invalid) return std::string("invalid");
  if (u->op == Op::Range) return fmt::format("r{}", u->arg.number());
  if (u->op != Op::Variable && u->op != Op::Special) {
    return Error{fmt::format("{} has no prefix text", to_text(u->op))};
  }
  const std::string_view name = u->arg.name();
  if (!name.empty() && name.find_first_of(kWordEnds) == std::string_view::npos) {
    return std::string(name);
  }
  return Error{fmt::format("the name {} of {} is no word", quoted(name), to_text(u->op))};
}

// How many operations and leaves the text of root has, up to one more than may be.
size_t count_terms(Graph& g, Ref root) {
  NodeMap<size_t> counts;
  for (const Ref u : toposort(g, root)) {
    size_t n = 1;
    const size_t operands = is_scalar(u->op) ? u->src.size() : 0;
    for (const Ref s : u->src.first(operands)) {
      n = std::min(n + counts.at(s), kMaxPrefixNodes + 1);
    }
    counts.set(u, n);
  }
  return counts.at(root);
}

void append_head(std::string& out, Ref u) {
  out += '(';
  out += info(u->op).symbol;
  if (info(u->op).typing != Typing::Convert) return;
  out += ' ';
  out += to_text(u->dtype);
}

}  // namespace

Result<Ref> from_prefix(Graph& g, std::string_view text, const Leaves& leaves, DType literals) {
  return PrefixParser(g, text, leaves, literals).run();
}

Result<std::string> to_prefix(Graph& g, Ref root) {
  struct Frame {
    Ref u;
    size_t next;
  };
  if (count_terms(g, root) > kMaxPrefixNodes) {
    return Error{fmt::format("the prefix text has more than {} terms", kMaxPrefixNodes)};
  }
  std::string out;
  std::vector<Frame> stack = {{root, 0}};
  while (!stack.empty()) {
    Frame& top = stack.back();
    const Ref u = top.u;
    if (!is_scalar(u->op)) {
      ASSAY_TRY(word, leaf_text(u));
      out += word;
      stack.pop_back();
      continue;
    }
    if (top.next == u->src.size()) {
      out += ')';
      stack.pop_back();
      continue;
    }
    if (top.next == 0) append_head(out, u);
    out += ' ';
    stack.push_back({u->src[top.next++], 0});
  }
  return out;
}

}  // namespace assay::uop
