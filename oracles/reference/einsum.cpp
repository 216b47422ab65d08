#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <utility>

#include "oracles/reference/contract.h"
#include "oracles/reference/lanes.h"
#include "oracles/reference/scalar.h"

namespace assay::reference {
namespace {

// An axis of a term: its letter, or where "..." stands for it, kDots + its place from the right.
using Label = size_t;
constexpr Label kDots = 256;
constexpr size_t kLabels = kDots + 64;
using Term = std::vector<Label>;
constexpr std::string_view kEllipsis = "...";

// The axes that a term names, of a value of this rank; of the result, "..." is `dots` axes.
Result<Term> parsed(std::string_view text, size_t dots) {
  Term term;
  bool has_dots = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (std::isalpha(static_cast<unsigned char>(text[i])) != 0) {
      term.push_back(static_cast<unsigned char>(text[i]));
      continue;
    }
    if (has_dots || text.substr(i, kEllipsis.size()) != kEllipsis) {
      return Error{fmt::format("{} is no term of an equation", quoted(text)), 0, 0};
    }
    has_dots = true;
    i += kEllipsis.size() - 1;
    for (size_t k = dots; k-- > 0;) term.push_back(kDots + k);
  }
  return term;
}

size_t letters_of(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(),
                                           [](unsigned char c) { return std::isalpha(c) != 0; }));
}

struct Equation {
  std::vector<Term> terms;
  Term result;
  std::array<int64_t, kLabels> sizes{};  // of each label; 0 for those that are not there
  std::array<bool, kLabels> is_there{};
};

std::vector<std::string> split(std::string_view text, char by) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == by) parts.emplace_back();
    if (c != by && c != ' ') parts.back() += c;
  }
  return parts;
}

// Where no result is written: the labels that stand once, "..." first, letters in their order.
Term implied(const std::vector<Term>& terms, size_t dots) {
  std::array<int, kLabels> times{};
  for (const Term& term : terms) {
    for (const Label label : term) ++times[label];
  }
  Term result;
  for (size_t k = dots; k-- > 0;) result.push_back(kDots + k);
  for (Label label = 0; label < kDots; ++label) {
    if (times[label] == 1) result.push_back(label);
  }
  return result;
}

// Gives each label of a term its size; only the axes of "..." broadcast.
Result<bool> measure(Equation& equation, const Term& term, const Dims& shape) {
  for (size_t i = 0; i < term.size(); ++i) {
    int64_t& size = equation.sizes[term[i]];
    const bool is_new = !equation.is_there[term[i]];
    const bool repeats = term[i] >= kDots && (size == 1 || shape[i] == 1);
    if (is_new || (repeats && size == 1)) size = shape[i];
    if (!is_new && !repeats && size != shape[i]) {
      return Error{fmt::format("an axis of einsum is {} and {}", size, shape[i]), 0, 0};
    }
    equation.is_there[term[i]] = true;
  }
  return true;
}

Result<Equation> equation_of(const Evaluating& e) {
  const std::string text = e.word("equation");
  const size_t arrow = text.find("->");
  const std::vector<std::string> parts = split(std::string_view(text).substr(0, arrow), ',');
  if (parts.size() != e.operands.size()) {
    return Error{fmt::format("{} terms for {} operands", parts.size(), e.operands.size()), 0, 0};
  }
  Equation equation;
  size_t most_dots = 0;
  for (size_t k = 0; k < parts.size(); ++k) {
    const Dims& shape = e.operands[k]->shape;
    const bool has_dots = parts[k].find('.') != std::string::npos;
    const size_t letters = letters_of(parts[k]);
    if (letters > shape.size() || (!has_dots && letters != shape.size())) {
      return Error{fmt::format("{} does not name the axes of {}", quoted(parts[k]), to_text(shape)),
                   0, 0};
    }
    const size_t dots = std::min(shape.size() - letters, kLabels - kDots);
    if (has_dots) most_dots = std::max(most_dots, dots);
    ASSAY_TRY(term, parsed(parts[k], dots));
    ASSAY_TRY(measured, measure(equation, term, shape));
    (void)measured;
    equation.terms.push_back(std::move(term));
  }
  if (arrow == std::string::npos) {
    equation.result = implied(equation.terms, most_dots);
    return equation;
  }
  ASSAY_TRY(result, parsed(split(std::string_view(text).substr(arrow + 2), ',')[0], most_dots));
  equation.result = std::move(result);
  return equation;
}

// Every label of the result is an axis of some operand, and stands once.
Result<bool> judge(const Equation& equation) {
  std::array<bool, kLabels> seen{};
  for (const Label label : equation.result) {
    if (!equation.is_there[label] || seen[label]) {
      return Error{fmt::format("the result of the equation names {} {}", static_cast<char>(label),
                               seen[label] ? "twice" : "alone"),
                   0, 0};
    }
    seen[label] = true;
  }
  return true;
}

// The axes of an operand by label: those that it names twice move along its diagonal.
std::vector<Axis> axes_by(const Equation& equation, const Term& labels, const Term& term,
                          const Dims& shape) {
  const Dims strides = strides_of(shape);
  std::vector<Axis> axes;
  for (const Label label : labels) {
    int64_t stride = 0;
    for (size_t i = 0; i < term.size(); ++i) {
      if (term[i] == label && shape[i] != 1) stride += strides[i];
    }
    axes.push_back(steps(equation.sizes[label], stride));
  }
  return axes;
}

// All factors but the last as one, multiplied in any order.
Factor product_of(Type t, const std::vector<Factor>& factors) {
  const size_t n = factors[0].inner.size();
  Factor all;
  all.outer.reserve(factors[0].outer.size());
  all.inner = steps(static_cast<int64_t>(n), 1);
  all.elements.resize(std::ssize(factors[0].outer) * std::ssize(factors[0].inner));
  Elements together(std::ssize(factors) - 1);
  for (size_t i = 0; i < factors[0].outer.size(); ++i) {
    all.outer.push_back(static_cast<int64_t>(i * n));
    for (size_t k = 0; k < n; ++k) {
      for (int64_t f = 0; f < together.size(); ++f) {
        const Factor& factor = factors[static_cast<size_t>(f)];
        together[f] = factor.elements[factor.outer[i] + factor.inner[k]];
      }
      all.elements[static_cast<int64_t>(i * n + k)] = product(t, span_of(together));
    }
  }
  return all;
}

}  // namespace

Result<Array> einsum(const Evaluating& e) {
  ASSAY_TRY(equation, equation_of(e));
  ASSAY_TRY(judged, judge(equation));
  (void)judged;
  Term summed;
  for (Label label = 0; label < kLabels; ++label) {
    const auto end = equation.result.end();
    const bool is_kept = std::find(equation.result.begin(), end, label) != end;
    if (equation.is_there[label] && !is_kept) summed.push_back(label);
  }
  Dims shape;
  Dims inner;
  for (const Label label : equation.result) shape.push_back(equation.sizes[label]);
  for (const Label label : summed) inner.push_back(equation.sizes[label]);
  ASSAY_TRY(results, count_of(shape));
  ASSAY_TRY(terms, count_of(inner));
  ASSAY_TRY(spent, e.spend(results * std::max<int64_t>(1, terms)));
  (void)spent;
  const Type acc = e.accumulator(e.x().dtype);
  std::vector<Factor> factors;
  for (size_t k = 0; k < e.operands.size(); ++k) {
    const Array& x = *e.operands[k];
    const Term& term = equation.terms[k];
    factors.push_back({elements_at(x, acc),
                       places(axes_by(equation, equation.result, term, x.shape)),
                       places(axes_by(equation, summed, term, x.shape))});
  }
  if (factors.size() == 1) {
    const Elements sums = folded(factors[0].elements, {factors[0].outer, factors[0].inner},
                                 [&](std::span<const Bounded> x) { return sum(acc, x); });
    return Array{e.x().dtype, std::move(shape), cast(sums, acc, e.x().dtype)};
  }
  if (factors.size() > 2) {
    ASSAY_TRY(products, count_of({results, terms}));
    (void)products;
    factors = {product_of(acc, factors), factors.back()};
  }
  return contracted(e, std::move(shape), factors[0], factors[1]);
}

}  // namespace assay::reference
