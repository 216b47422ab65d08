#include "oracles/reference/contract.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "oracles/reference/scalar.h"

namespace assay::reference {
namespace {

using enum tensor::Op;

// How far apart the places are, if evenly: such elements need not be collected.
std::optional<int64_t> even_step(std::span<const int64_t> at) {
  if (at.size() < 2) return 1;
  const int64_t step = at[1] - at[0];
  for (size_t i = 2; i < at.size(); ++i) {
    if (at[i] - at[i - 1] != step) return std::nullopt;
  }
  return step;
}

// The elements of one result after the other.
class Reader {
 public:
  explicit Reader(const Factor& factor)
      : factor_(factor), step_(even_step(factor.inner)), held_(step_ ? 0 : factor.inner.size()) {}

  int64_t step() const { return step_.value_or(1); }

  const Bounded* of(size_t result) {
    const int64_t begin = factor_.outer[result];
    if (step_) return &factor_.elements[static_cast<size_t>(begin + factor_.inner[0])];
    if (begin == collected_) return held_.data();
    for (size_t k = 0; k < held_.size(); ++k) {
      held_[k] = factor_.elements[static_cast<size_t>(begin + factor_.inner[k])];
    }
    collected_ = begin;
    return held_.data();
  }

 private:
  const Factor& factor_;
  std::optional<int64_t> step_;
  std::vector<Bounded> held_;
  int64_t collected_ = -1;  // neighbouring results often have an operand in common
};

Result<Array> matmul(const Evaluating& e) {
  ASSAY_TRY(m, matrices(e.x().shape, e.y().shape));
  const DType acc = e.accumulator(e.x().dtype);
  const Factor x{elements_at(e.x(), acc), places(m.x_outer), places(m.x_inner)};
  const Factor y{elements_at(e.y(), acc), places(m.y_outer), places(m.y_inner)};
  return contracted(e, std::move(m.shape), x, y);
}

void scale(std::vector<Axis>& axes, int64_t by) {
  for (Axis& axis : axes) {
    for (int64_t& step : axis) step *= by;
  }
}

constexpr EvaluateRow kRows[] = {
    {MatMul, matmul}, {Einsum, einsum}, {Conv, conv}, {ConvTranspose, conv_transpose}};

}  // namespace

std::vector<Bounded> elements_at(const Array& x, DType t) {
  if (x.dtype == t) return x.elements;
  std::vector<Bounded> elements(x.elements.size());
  cast(elements, x.elements, x.dtype, t);
  return elements;
}

std::vector<Bounded> dots(DType t, const Factor& x, const Factor& y) {
  const auto n = static_cast<int64_t>(x.inner.size());
  if (n == 0) return std::vector<Bounded>(x.outer.size(), sum(t, {}));
  Reader xs(x);
  Reader ys(y);
  std::vector<Bounded> results;
  results.reserve(x.outer.size());
  for (size_t i = 0; i < x.outer.size(); ++i) {
    results.push_back(dot(t, xs.of(i), xs.step(), ys.of(i), ys.step(), n));
  }
  return results;
}

Result<Array> contracted(const Evaluating& e, Dims shape, const Factor& x, const Factor& y) {
  const DType t = e.x().dtype;
  const DType acc = e.accumulator(t);
  const size_t products = x.outer.size() * std::max<size_t>(1, x.inner.size());
  ASSAY_TRY(spent, e.spend(static_cast<int64_t>(products)));
  (void)spent;
  Array result{t, std::move(shape), dots(acc, x, y)};
  cast(result.elements, result.elements, acc, t);
  return result;
}

Result<Matrices> matrices(const Dims& x, const Dims& y) {
  if (x.empty() || y.empty()) {
    return Error{fmt::format("matmul of {} and {}: both need an axis", to_text(x), to_text(y)), 0,
                 0};
  }
  Dims rows = x;
  Dims columns = y;
  if (x.size() == 1) rows.insert(rows.begin(), 1);
  if (y.size() == 1) columns.push_back(1);
  const int64_t height = rows[rows.size() - 2];
  const int64_t n = rows.back();
  const int64_t width = columns.back();
  if (columns[columns.size() - 2] != n) {
    return Error{fmt::format("matmul of {} and {}: {} columns meet {} rows", to_text(x), to_text(y),
                             n, columns[columns.size() - 2]),
                 0, 0};
  }
  const Dims x_lead(rows.begin(), rows.end() - 2);
  const Dims y_lead(columns.begin(), columns.end() - 2);
  ASSAY_TRY(lead, broadcast(x_lead, y_lead));
  Matrices m;
  // The leading axes count whole matrices.
  m.x_outer = expanded(x_lead, lead);
  m.y_outer = expanded(y_lead, lead);
  scale(m.x_outer, height * n);
  scale(m.y_outer, n * width);
  m.x_outer.push_back(steps(height, n));
  m.x_outer.push_back(steps(width, 0));
  m.y_outer.push_back(steps(height, 0));
  m.y_outer.push_back(steps(width, 1));
  m.x_inner.push_back(steps(n, 1));
  m.y_inner.push_back(steps(n, width));
  m.shape = std::move(lead);
  if (x.size() > 1) m.shape.push_back(height);
  if (y.size() > 1) m.shape.push_back(width);
  ASSAY_TRY(elements, count_of(m.shape));
  (void)elements;
  return m;
}

std::span<const EvaluateRow> contract_rows() { return kRows; }

}  // namespace assay::reference
