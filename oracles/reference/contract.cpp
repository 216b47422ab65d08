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

// The elements of one result after the other: a row or a column where they stand evenly apart.
class Reader {
 public:
  explicit Reader(const Factor& factor)
      : factor_(factor),
        step_(even_step(factor.inner)),
        held_(step_ ? 0 : std::ssize(factor.inner)) {}

  ConstLane of(size_t result) {
    const Elements& x = factor_.elements;
    const int64_t begin = factor_.outer[result];
    const auto n = std::ssize(factor_.inner);
    if (step_) return lane_of(x, begin + factor_.inner[0], n, *step_);
    if (begin != collected_) held_ = x.tail(x.size() - begin)(std::span(factor_.inner));
    collected_ = begin;
    return lane_of(std::as_const(held_), 0, n, 1);
  }

 private:
  const Factor& factor_;
  std::optional<int64_t> step_;
  Elements held_;
  int64_t collected_ = -1;  // neighbouring results often have an operand in common
};

Result<Array> matmul(const Evaluating& e) {
  ASSAY_TRY(m, matrices(e.x().shape, e.y().shape));
  const Type acc = e.accumulator(e.x().dtype);
  const Factor x{elements_at(e.x(), acc), places(m.x_outer), places(m.x_inner)};
  const Factor y{elements_at(e.y(), acc), places(m.y_outer), places(m.y_inner)};
  return contracted(e, std::move(m.shape), x, y);
}

void scale(std::vector<Axis>& axes, int64_t by) {
  for (Axis& axis : axes) {
    for (int64_t& step : axis) step *= by;
  }
}

constexpr EvaluateRow kContractRows[] = {
    {MatMul, matmul}, {Einsum, einsum}, {Conv, conv}, {ConvTranspose, conv_transpose}};

}  // namespace

Elements elements_at(const Array& x, DType t) { return cast(x.elements, x.dtype, t); }

Elements dots(Type t, const Factor& x, const Factor& y) {
  const auto n = static_cast<int64_t>(x.inner.size());
  if (n == 0) return Elements::Constant(std::ssize(x.outer), sum(t, {}));
  Reader xs(x);
  Reader ys(y);
  return Elements::NullaryExpr(std::ssize(x.outer), [&](int64_t i) {
    const ConstLane a = xs.of(static_cast<size_t>(i));
    const ConstLane b = ys.of(static_cast<size_t>(i));
    return dot(t, a.data(), a.innerStride(), b.data(), b.innerStride(), n);
  });
}

Result<Array> contracted(const Evaluating& e, Dims shape, const Factor& x, const Factor& y) {
  const DType t = e.x().dtype;
  const Type acc = e.accumulator(t);
  const size_t products = x.outer.size() * std::max<size_t>(1, x.inner.size());
  ASSAY_TRY(spent, e.spend(static_cast<int64_t>(products)));
  (void)spent;
  return Array{t, std::move(shape), cast(dots(acc, x, y), acc, t)};
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

std::span<const EvaluateRow> contract_rows() { return kContractRows; }

}  // namespace assay::reference
