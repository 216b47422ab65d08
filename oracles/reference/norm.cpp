#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "oracles/reference/composites.h"
#include "oracles/reference/contract.h"
#include "oracles/reference/evaluating.h"
#include "oracles/reference/lanes.h"
#include "oracles/reference/statistics.h"

namespace assay::reference {
namespace {

using enum tensor::Op;

// An operand for each element of a set, in the type to compute in; absent where it is empty.
Result<Elements> operand_beside(const Evaluating& e, size_t operand, const Dims& sizes, DType t) {
  if (!e.has_operand(operand)) return Elements();
  const Array& w = *e.operands[operand];
  const Result<Dims> shape = broadcast(w.shape, sizes);
  if (!shape.ok() || shape.value() != sizes) {
    return Error{fmt::format("{} is {} for elements of {}", e.row().operands[operand].name,
                             to_text(w.shape), to_text(sizes)),
                 0, 0};
  }
  return elements_at(moved(w, expanded(w.shape, sizes)), t);
}

// x as sets that are normed each by itself, w and b for each element of one (or none).
struct Norming {
  At at;  // the type to accumulate in
  Elements x;
  Sets sets;
  Elements w, b;
};

Result<Norming> norming(const Evaluating& e) {
  const Array& x = e.x();
  const At at{e.accumulator(x.dtype)};
  ASSAY_TRY(axes, e.axes("axes", x.shape.size()));
  std::sort(axes.begin(), axes.end());
  Dims sizes;
  for (const int64_t axis : axes) sizes.push_back(x.shape[static_cast<size_t>(axis)]);
  ASSAY_TRY(w, operand_beside(e, 1, sizes, at.t));
  ASSAY_TRY(b, operand_beside(e, 2, sizes, at.t));
  ASSAY_TRY(spent, e.spend(4 * x.elements.size()));
  (void)spent;
  return Norming{at, elements_at(x, at.t), sets_over(x.shape, axes), std::move(w), std::move(b)};
}

// How sets are normed.
struct Norm {
  Bounded eps;
  bool is_fixed;  // of means
};

// The mean of squares, plus eps, as what to multiply by.
Bounded scale_of(const At& at, const Norm& how, std::span<const Bounded> x) {
  const Elements squares = mapped(x).unaryExpr([&](const Bounded& v) { return at.square(v); });
  return rsqrt(at, at.add(mean(at, span_of(squares), how.is_fixed), how.eps));
}

// (x - mean) * rsqrt(var + eps), the variance biased and in two passes.
void standardize(const At& at, const Norm& how, std::span<Bounded> x) {
  const Bounded m = mean(at, x, how.is_fixed);
  for (Bounded& v : x) v = at.sub(v, m);
  const Bounded scale = scale_of(at, how, x);
  for (Bounded& v : x) v = at.mul(v, scale);
}

// x * rsqrt(mean(x * x) + eps).
void by_root_mean_square(const At& at, const Norm& how, std::span<Bounded> x) {
  const Bounded scale = scale_of(at, how, x);
  for (Bounded& v : x) v = at.mul(v, scale);
}

using Norms = void (*)(const At&, const Norm& how, std::span<Bounded> x);

// Every set changed by `norm`, then times w and plus b, back at the type of x.
Result<Array> normed(const Evaluating& e, Norms norm) {
  ASSAY_TRY(n, norming(e));
  ASSAY_TRY(eps, e.number("eps", n.at.t));
  const Array& x = e.x();
  const auto times = [&](const Bounded& a, const Bounded& b) { return n.at.mul(a, b); };
  const auto plus = [&](const Bounded& a, const Bounded& b) { return n.at.add(a, b); };
  Array result{x.dtype, x.shape, Elements(x.elements.size())};
  if (x.elements.size() == 0) return result;
  for (const int64_t begin : n.sets.outer) {
    Elements set = set_at(n.x, n.sets, begin);
    norm(n.at, {eps, e.is_fixed}, span_of(set));
    if (n.w.size() > 0) set = set.binaryExpr(n.w, times);
    if (n.b.size() > 0) set = set.binaryExpr(n.b, plus);
    set_at(result.elements, n.sets, begin) = cast(set, n.at.t, x.dtype);
  }
  return result;
}

Result<Array> layer_norm(const Evaluating& e) { return normed(e, standardize); }
Result<Array> rms_norm(const Evaluating& e) { return normed(e, by_root_mean_square); }

Result<Array> group_norm(const Evaluating& e) {
  const Array& x = e.x();
  const At at{e.accumulator(x.dtype)};
  const int64_t groups = e.integer("groups");
  if (x.shape.size() < 2 || groups < 1 || x.shape[1] % groups != 0) {
    return Error{
        fmt::format("{} is not divided in {} groups of channels", to_text(x.shape), groups), 0, 0};
  }
  const Dims channels = {x.shape[1]};
  ASSAY_TRY(w, operand_beside(e, 1, channels, at.t));
  ASSAY_TRY(b, operand_beside(e, 2, channels, at.t));
  ASSAY_TRY(eps, e.number("eps", at.t));
  ASSAY_TRY(spent, e.spend(4 * x.elements.size()));
  (void)spent;
  Array result{x.dtype, x.shape, elements_at(x, at.t)};
  if (result.elements.size() == 0) return result;
  // The channels of a group lie together, and so do the elements of a channel.
  const int64_t size = result.elements.size() / (x.shape[0] * groups);
  for (auto rest = span_of(result.elements); !rest.empty();) {
    standardize(at, {eps, e.is_fixed}, rest.first(static_cast<size_t>(size)));
    rest = rest.subspan(static_cast<size_t>(size));
  }
  const int64_t inner = result.elements.size() / (x.shape[0] * x.shape[1]);
  for (int64_t i = 0; i < result.elements.size(); ++i) {
    const int64_t channel = i / inner % x.shape[1];
    Bounded& v = result.elements[i];
    if (w.size() > 0) v = at.mul(v, w[channel]);
    if (b.size() > 0) v = at.add(v, b[channel]);
    v = cast(v, at.t, x.dtype);
  }
  return result;
}

Result<Array> batch_norm(const Evaluating& e) {
  Array x = e.x();
  const At at{e.type()};
  if (x.shape.empty()) return Error{"batch_norm needs an axis, [] has none", 0, 0};
  ASSAY_TRY(axis, e.axis("axis", x.shape.size()));
  const int64_t n = x.shape[static_cast<size_t>(axis)];
  ASSAY_TRY(m, operand_beside(e, 1, {n}, at.t));
  ASSAY_TRY(var, operand_beside(e, 2, {n}, at.t));
  ASSAY_TRY(w, operand_beside(e, 3, {n}, at.t));
  ASSAY_TRY(b, operand_beside(e, 4, {n}, at.t));
  ASSAY_TRY(eps, e.number("eps", at.t));
  ASSAY_TRY(spent, e.spend(4 * x.elements.size()));
  (void)spent;
  const Elements scale = Elements::NullaryExpr(var.size(), [&](int64_t k) {
    const Bounded r = rsqrt(at, at.add(var[k], eps));
    return w.size() == 0 ? r : at.mul(w[k], r);
  });
  const auto inner = strides_of(x.shape)[static_cast<size_t>(axis)];
  for (int64_t i = 0; i < x.elements.size(); ++i) {
    const int64_t channel = i / inner % n;
    Bounded& v = x.elements[i];
    v = at.mul(at.sub(v, m[channel]), scale[channel]);
    if (b.size() > 0) v = at.add(v, b[channel]);
  }
  return x;
}

constexpr EvaluateRow kNormRows[] = {
    {LayerNorm, layer_norm}, {RmsNorm, rms_norm}, {GroupNorm, group_norm}, {BatchNorm, batch_norm}};

}  // namespace

std::span<const EvaluateRow> norm_rows() { return kNormRows; }

}  // namespace assay::reference
