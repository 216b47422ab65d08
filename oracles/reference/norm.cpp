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
Result<std::vector<Bounded>> beside(const Evaluating& e, size_t operand, const Dims& sizes,
                                    DType t) {
  if (!e.has_operand(operand)) return std::vector<Bounded>();
  const Array& w = *e.operands[operand];
  const Result<Dims> shape = broadcast(w.shape, sizes);
  if (!shape.ok() || shape.value() != sizes) {
    return Error{fmt::format("{} is {} for elements of {}", e.row().operands[operand].name,
                             to_text(w.shape), to_text(sizes)),
                 0, 0};
  }
  return gathered(elements_at(w, t), places(expanded(w.shape, sizes)));
}

// x as sets that are normed each by itself, w and b for each element of one (or none).
struct Norming {
  At at;  // the type to accumulate in
  std::vector<Bounded> x;
  Sets sets;
  std::vector<Bounded> w, b;
};

Result<Norming> norming(const Evaluating& e) {
  const Array& x = e.x();
  const At at{e.accumulator(x.dtype)};
  ASSAY_TRY(axes, e.axes("axes", x.shape.size()));
  std::sort(axes.begin(), axes.end());
  Dims sizes;
  for (const int64_t axis : axes) sizes.push_back(x.shape[static_cast<size_t>(axis)]);
  ASSAY_TRY(w, beside(e, 1, sizes, at.t));
  ASSAY_TRY(b, beside(e, 2, sizes, at.t));
  ASSAY_TRY(spent, e.spend(4 * static_cast<int64_t>(x.elements.size())));
  (void)spent;
  return Norming{at, elements_at(x, at.t), sets_over(x.shape, axes), std::move(w), std::move(b)};
}

// The mean of squares, plus eps, as what to multiply by.
Bounded scale_of(const At& at, const Bounded& eps, std::span<const Bounded> x) {
  std::vector<Bounded> squares;
  squares.reserve(x.size());
  for (const Bounded& v : x) squares.push_back(at.square(v));
  return rsqrt(at, at.add(mean(at, squares), eps));
}

// (x - mean) * rsqrt(var + eps), the variance biased and in two passes.
void standardize(const At& at, const Bounded& eps, std::span<Bounded> x) {
  const Bounded m = mean(at, x);
  for (Bounded& v : x) v = at.sub(v, m);
  const Bounded scale = scale_of(at, eps, x);
  for (Bounded& v : x) v = at.mul(v, scale);
}

// x * rsqrt(mean(x * x) + eps).
void by_root_mean_square(const At& at, const Bounded& eps, std::span<Bounded> x) {
  const Bounded scale = scale_of(at, eps, x);
  for (Bounded& v : x) v = at.mul(v, scale);
}

using Norm = void (*)(const At&, const Bounded& eps, std::span<Bounded> x);

// Every set changed by `norm`, then times w and plus b, back at the type of x.
Result<Array> normed(const Evaluating& e, Norm norm) {
  ASSAY_TRY(n, norming(e));
  ASSAY_TRY(eps, e.number("eps", n.at.t));
  const Array& x = e.x();
  Array result{x.dtype, x.shape, std::vector<Bounded>(x.elements.size())};
  std::vector<Bounded> set(n.sets.inner.size());
  for (const int64_t begin : n.sets.outer) {
    const auto place = [&](size_t k) { return static_cast<size_t>(begin + n.sets.inner[k]); };
    for (size_t k = 0; k < set.size(); ++k) set[k] = n.x[place(k)];
    norm(n.at, eps, set);
    for (size_t k = 0; k < set.size(); ++k) {
      if (!n.w.empty()) set[k] = n.at.mul(set[k], n.w[k]);
      if (!n.b.empty()) set[k] = n.at.add(set[k], n.b[k]);
      result.elements[place(k)] = cast(set[k], n.at.t, x.dtype);
    }
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
  ASSAY_TRY(w, beside(e, 1, channels, at.t));
  ASSAY_TRY(b, beside(e, 2, channels, at.t));
  ASSAY_TRY(eps, e.number("eps", at.t));
  ASSAY_TRY(spent, e.spend(4 * static_cast<int64_t>(x.elements.size())));
  (void)spent;
  Array result{x.dtype, x.shape, elements_at(x, at.t)};
  if (result.elements.empty()) return result;
  // The channels of a group lie together, and so do the elements of a channel.
  const size_t size = result.elements.size() / static_cast<size_t>(x.shape[0] * groups);
  for (size_t begin = 0; begin < result.elements.size(); begin += size) {
    standardize(at, eps, std::span(result.elements).subspan(begin, size));
  }
  const size_t inner = result.elements.size() / static_cast<size_t>(x.shape[0] * x.shape[1]);
  for (size_t i = 0; i < result.elements.size(); ++i) {
    const size_t channel = i / inner % static_cast<size_t>(x.shape[1]);
    Bounded& v = result.elements[i];
    if (!w.empty()) v = at.mul(v, w[channel]);
    if (!b.empty()) v = at.add(v, b[channel]);
    v = cast(v, at.t, x.dtype);
  }
  return result;
}

Result<Array> batch_norm(const Evaluating& e) {
  Array x = e.x();
  const At at{x.dtype};
  if (x.shape.empty()) return Error{"batch_norm needs an axis, [] has none", 0, 0};
  ASSAY_TRY(axis, e.axis("axis", x.shape.size()));
  const int64_t n = x.shape[static_cast<size_t>(axis)];
  ASSAY_TRY(m, beside(e, 1, {n}, at.t));
  ASSAY_TRY(var, beside(e, 2, {n}, at.t));
  ASSAY_TRY(w, beside(e, 3, {n}, at.t));
  ASSAY_TRY(b, beside(e, 4, {n}, at.t));
  ASSAY_TRY(eps, e.number("eps", at.t));
  ASSAY_TRY(spent, e.spend(4 * static_cast<int64_t>(x.elements.size())));
  (void)spent;
  std::vector<Bounded> scale;
  for (size_t k = 0; k < var.size(); ++k) {
    const Bounded r = rsqrt(at, at.add(var[k], eps));
    scale.push_back(w.empty() ? r : at.mul(w[k], r));
  }
  const auto inner = strides_of(x.shape)[static_cast<size_t>(axis)];
  for (size_t i = 0; i < x.elements.size(); ++i) {
    const auto channel = static_cast<size_t>(static_cast<int64_t>(i) / inner % n);
    Bounded& v = x.elements[i];
    v = at.mul(at.sub(v, m[channel]), scale[channel]);
    if (!b.empty()) v = at.add(v, b[channel]);
  }
  return x;
}

constexpr EvaluateRow kRows[] = {
    {LayerNorm, layer_norm}, {RmsNorm, rms_norm}, {GroupNorm, group_norm}, {BatchNorm, batch_norm}};

}  // namespace

std::span<const EvaluateRow> norm_rows() { return kRows; }

}  // namespace assay::reference
