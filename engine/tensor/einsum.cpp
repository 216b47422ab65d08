#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "engine/tensor/families.h"
#include "engine/tensor/functions.h"

namespace assay::tensor {
namespace {

// What names each axis of an operand or of the result: a letter, or for one of those that "..."
// stands for, its place from the right: -1 is the last.
using Labels = std::vector<int>;

Error malformed(std::string_view text) {
  return Error{fmt::format("einsum takes an equation like ij,jk->ik; it is {}", text)};
}

// The labels of one part of an equation. "..." are `dots` axes.
Result<Labels> labels_of(std::string_view part, int64_t dots, std::string_view text) {
  Labels labels;
  bool has_dots = false;
  for (size_t i = 0; i < part.size(); i++) {
    const char c = part[i];
    if (c == ' ') continue;
    if (('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z')) {
      labels.push_back(c);
      continue;
    }
    if (has_dots || part.substr(i, 3) != "...") return malformed(text);
    has_dots = true;
    i += 2;
    for (int64_t k = dots; k > 0; k--) labels.push_back(static_cast<int>(-k));
  }
  return labels;
}

int64_t letters_in(std::string_view part) {
  return std::ranges::count_if(part, [](char c) { return c != ' ' && c != '.'; });
}

struct Equation {
  std::vector<Labels> operands;
  Labels result;
};

// Without an arrow: the dots, and each letter that stands once, in order.
Labels implied_result(const Equation& e) {
  Labels all;
  for (const Labels& labels : e.operands) all.insert(all.end(), labels.begin(), labels.end());
  std::ranges::sort(all);
  Labels once;
  for (const int label : all) {
    const bool is_first = once.empty() || once.back() != label;
    if (label < 0 ? is_first : std::ranges::count(all, label) == 1) once.push_back(label);
  }
  return once;
}

Result<Equation> parsed(const Building& b) {
  const std::string_view text = b.word("equation");
  const size_t arrow = text.find("->");
  std::string_view left = text.substr(0, arrow);
  Equation e;
  int64_t most_dots = 0;
  for (size_t i = 0; i < b.operands.size(); i++) {
    const size_t comma = left.find(',');
    if ((comma == std::string_view::npos) != (i + 1 == b.operands.size())) {
      return Error{fmt::format("einsum of {} operands by {}", b.operands.size(), text)};
    }
    const std::string_view part = left.substr(0, comma);
    const int64_t dots = operand(b, i).rank() - letters_in(part);
    const bool has_dots = part.find('.') != std::string_view::npos;
    if (dots < 0 || (dots > 0 && !has_dots)) {
      return Error{
          fmt::format("einsum names by {} the axes of {}", part, uop::shape_text(b.shape_of(i)))};
    }
    ASSAY_TRY(labels, labels_of(part, dots, text));
    e.operands.push_back(labels);
    most_dots = std::max(most_dots, dots);
    left.remove_prefix(std::min(left.size(), part.size() + 1));
  }
  e.result = implied_result(e);
  if (arrow == std::string_view::npos) return e;
  ASSAY_TRY(result, labels_of(text.substr(arrow + 2), most_dots, text));
  e.result = result;
  return e;
}

// Of axes that one letter names the elements with equal indices.
Result<Term> with_letters_once(Term x, Labels& labels) {
  for (size_t second = 1; second < labels.size(); second++) {
    const auto found = std::ranges::find(labels, labels[second]);
    const auto i = static_cast<int64_t>(found - labels.begin());
    const auto j = static_cast<int64_t>(second);
    if (i == j) continue;
    if (!may_be_equal(x.size(i), x.size(j))) {
      return Error{
          fmt::format("einsum has a letter of two sizes in {}", uop::shape_text(x.shape()))};
    }
    x = move_axis(move_axis(x, j, x.rank() - 1), i, x.rank() - 2);
    x = diagonal(x);
    x = move_axis(x, x.rank() - 1, i);
    labels.erase(labels.begin() + j);
    second--;
  }
  return x;
}

// An axis for each label of `order`: where x has none, of size 1.
Term arranged(Term x, const Labels& labels, const Labels& order) {
  Axes axes;
  Dims dims;
  for (const int label : order) {
    const auto found = std::ranges::find(labels, label);
    if (found == labels.end()) {
      dims.push_back(x.dim(1).u);
      continue;
    }
    axes.push_back(found - labels.begin());
    dims.push_back(x.size(axes.back()).u);
  }
  return reshape(permute(x, axes), dims);
}

Result<Ref> einsum(const Building& b) {
  const DType t = b.x()->dtype;
  ASSAY_TRY(acc, accumulation(b, t, uop::is_float(t) ? sum_type(t) : t));
  ASSAY_TRY(equation, parsed(b));
  std::map<int, Dim> sizes;
  std::vector<Term> operands;
  for (size_t i = 0; i < b.operands.size(); i++) {
    Labels& labels = equation.operands[i];
    ASSAY_TRY(x, with_letters_once(cast(operand(b, i), acc), labels));
    for (size_t axis = 0; axis < labels.size(); axis++) {
      const Dim n = x.size(static_cast<int64_t>(axis));
      const auto known = sizes.emplace(labels[axis], n).first;
      if (labels[axis] < 0 || may_be_equal(known->second, n)) continue;
      return Error{
          fmt::format("einsum has a letter {} of two sizes", static_cast<char>(labels[axis]))};
    }
    operands.push_back(x);
  }
  Labels sorted = equation.result;
  std::ranges::sort(sorted);
  const bool is_distinct = std::ranges::adjacent_find(sorted) == sorted.end();
  const bool is_known = std::ranges::all_of(sorted, [&](int l) { return sizes.contains(l); });
  if (!is_distinct || !is_known) return malformed(b.word("equation"));
  Labels order;
  for (const auto& [label, size] : sizes) {
    if (!std::ranges::binary_search(sorted, label)) order.push_back(label);
  }
  Axes summed(order.size());
  for (size_t i = 0; i < summed.size(); i++) summed[i] = static_cast<int64_t>(i);
  order.insert(order.end(), equation.result.begin(), equation.result.end());
  Term product = arranged(operands[0], equation.operands[0], order);
  for (size_t i = 1; i < operands.size(); i++) {
    product = product * arranged(operands[i], equation.operands[i], order);
  }
  return cast(sum(product, summed), t).u;
}

constexpr BuildRow kEinsumRows[] = {{Op::Einsum, einsum}};

}  // namespace

std::span<const BuildRow> einsum_builds() { return kEinsumRows; }

}  // namespace assay::tensor
