#include "engine/tensor/program/ops.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "engine/check.h"

namespace assay::tensor {
namespace {

using uop::kBool;
using uop::kFixedInts;
using uop::kFloats;
using uop::kLogic;
using uop::kNumbers;
using uop::kScalars;
using enum uop::DType;

struct KindRow {
  std::string_view text;
  AttrKind kind;
};
constexpr KindRow kKinds[] = {
    {"axis", AttrKind::Axis},     {"axes", AttrKind::Axes},     {"int", AttrKind::Int},
    {"size", AttrKind::Size},     {"sizes", AttrKind::Sizes},   {"bool", AttrKind::Bool},
    {"number", AttrKind::Number}, {"type", AttrKind::Type},     {"word", AttrKind::Word},
    {"text", AttrKind::Text},     {"slices", AttrKind::Slices}, {"data", AttrKind::Data},
};

// What stands before `mark`; `rest` keeps what stands after it.
std::string_view cut(std::string_view& rest, char mark) {
  const size_t at = std::min(rest.find(mark), rest.size());
  const std::string_view head = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return head;
}

std::string_view without_spaces_around(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

bool is_signature_name(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return ('a' <= c && c <= 'z') || c == '_'; });
}

OperandRow operand_row(std::string_view text) {
  OperandRow result;
  result.repeats = text.ends_with("...");
  if (result.repeats) text.remove_suffix(3);
  result.optional = text.ends_with('?');
  if (result.optional) text.remove_suffix(1);
  result.name = text;
  ASSAY_CHECK(is_signature_name(text), "operand '{}'", text);
  return result;
}

std::vector<OperandRow> operand_rows(std::string_view text) {
  std::vector<OperandRow> result;
  while (!text.empty()) {
    const OperandRow one = operand_row(without_spaces_around(cut(text, ',')));
    ASSAY_CHECK(result.empty() || !result.back().repeats, "{} comes after one that repeats",
                one.name);
    ASSAY_CHECK(result.empty() || !result.back().optional || one.optional,
                "{} comes after one that may be left out", one.name);
    result.push_back(one);
  }
  return result;
}

// "axes:axes?", "alpha:number=0.01", "mode:word(a|b)=a".
AttrRow attr_row(std::string_view text) {
  AttrRow result;
  result.name = cut(text, ':');
  ASSAY_CHECK(is_signature_name(result.name), "attribute '{}'", result.name);
  std::string_view kind = cut(text, '=');
  result.fallback = text;
  result.optional = kind.ends_with('?');
  if (result.optional) kind.remove_suffix(1);
  if (kind.ends_with(')')) {
    kind.remove_suffix(1);
    std::string_view words = kind;
    kind = cut(words, '(');
    while (!words.empty()) result.words.push_back(cut(words, '|'));
  }
  const auto* row = std::ranges::find(kKinds, kind, &KindRow::text);
  ASSAY_CHECK(row != std::end(kKinds), "attribute {} of kind '{}'", result.name, kind);
  result.kind = row->kind;
  ASSAY_CHECK((result.kind == AttrKind::Word) == !result.words.empty(), "{}", result.name);
  ASSAY_CHECK(!result.optional || result.fallback.empty(), "{}", result.name);
  return result;
}

std::vector<AttrRow> attr_rows(std::string_view text) {
  std::vector<AttrRow> result;
  text = without_spaces_around(text);
  while (!text.empty()) {
    result.push_back(attr_row(cut(text, ' ')));
    text = without_spaces_around(text);
  }
  return result;
}

OpRow op_row(Op op, std::string_view text, Family family, TypeSet over, ResultType result,
             std::string_view signature, std::string_view says) {
  std::string_view attrs = signature;
  const std::string_view operands = without_spaces_around(cut(attrs, ';'));
  return {op,        text, family, over, result, operand_rows(operands), attr_rows(attrs),
          signature, says};
}

using NamedOp = std::pair<std::string_view, Op>;

// In the order of their texts.
std::vector<NamedOp> ops_by_text() {
  std::vector<NamedOp> result;
  for (const OpRow& r : all_ops()) result.emplace_back(r.text, r.op);
  std::ranges::sort(result);
  return result;
}

}  // namespace

size_t OpRow::min_operands() const {
  return static_cast<size_t>(
      std::ranges::count_if(operands, [](const OperandRow& o) { return !o.optional; }));
}

size_t OpRow::max_operands() const {
  const bool repeats = !operands.empty() && operands.back().repeats;
  return repeats ? std::numeric_limits<size_t>::max() : operands.size();
}

size_t OpRow::attr(std::string_view name) const {
  const auto found = std::ranges::find(attrs, name, &AttrRow::name);
  ASSAY_CHECK(found != attrs.end(), "{} has no attribute {}", text, name);
  return static_cast<size_t>(found - attrs.begin());
}

std::span<const OpRow> all_ops() {
  static const std::vector<OpRow> rows = {
#define TP(name, text, family, over, result, signature, says) \
  op_row(Op::name, text, Family::family, TypeSet(over), ResultType::result, signature, says),
#include "engine/tensor/program/ops.def"
#undef TP
  };
  return rows;
}

std::optional<Op> op_from_text(std::string_view text) {
  static const std::vector<NamedOp> named = ops_by_text();
  const auto found = std::ranges::lower_bound(named, text, {}, &NamedOp::first);
  if (found == named.end() || found->first != text) return std::nullopt;
  return found->second;
}

}  // namespace assay::tensor
