#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "oracles/reference/evaluating.h"
#include "oracles/reference/extreme.h"
#include "oracles/reference/lanes.h"
#include "oracles/reference/scalar.h"
#include "oracles/reference/statistics.h"

namespace assay::reference {
namespace {

using enum tensor::Op;
using Set = std::span<const Bounded>;

// What a reduce folds and the shape that is left.
struct Reduced {
  Sets sets;
  Dims shape;
};

Result<Reduced> reduced(const Evaluating& e) {
  const Array& x = e.x();
  ASSAY_TRY(axes, e.axes("axes", x.shape.size()));
  Dims kept;
  for (size_t i = 0; i < x.shape.size(); ++i) {
    const bool is_over = std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) != axes.end();
    if (!is_over) kept.push_back(x.shape[i]);
    if (is_over && e.flag("keep")) kept.push_back(1);
  }
  ASSAY_TRY(left, count_of(kept));
  ASSAY_TRY(spent, e.spend(left + x.elements.size()));
  (void)spent;
  return Reduced{sets_over(x.shape, axes), std::move(kept)};
}

// fold(elements) of every set, the elements cast to type `in`, the results from there to `out`.
template <typename Fold>
Result<Array> reduce(const Evaluating& e, DType in, DType out, Fold fold) {
  ASSAY_TRY(r, reduced(e));
  const Array& x = e.x();
  if (in == x.dtype) return Array{out, std::move(r.shape), folded(x.elements, r.sets, fold)};
  return Array{out, std::move(r.shape), folded(cast(x.elements, x.dtype, in), r.sets, fold)};
}

// The same in the type to accumulate in, with results at the type of x.
template <typename Fold>
Result<Array> reduce_float(const Evaluating& e, Fold fold) {
  const DType t = e.x().dtype;
  const At at{e.accumulator(t)};
  return reduce(e, at.t, t, [&](Set x) { return cast(fold(at, x), at.t, t); });
}

// A fold in the type to accumulate in, which is that of the result but for floats.
Result<Array> accumulate(const Evaluating& e, Bounded (*fold)(Type, Set)) {
  const DType t = e.x().dtype;
  const Type acc = e.accumulator(t);
  const DType out = uop::is_float(t) ? t : acc.dtype;
  return reduce(e, acc, out, [&](Set x) { return cast(fold(acc, x), acc, out); });
}

Result<Array> sum_of(const Evaluating& e) { return accumulate(e, sum); }
Result<Array> product_of(const Evaluating& e) { return accumulate(e, product); }

Result<Array> max_of(const Evaluating& e) {
  const Type t = e.type();
  return reduce(e, t, t, [&](Set x) { return maximum(t, x); });
}

Result<Array> min_of(const Evaluating& e) {
  const Type t = e.type();
  return reduce(e, t, t, [&](Set x) { return minimum(t, x); });
}

Result<Array> mean_of(const Evaluating& e) {
  return reduce_float(e, [&](const At& at, Set x) { return mean(at, x, e.is_fixed); });
}

Result<Array> var_of(const Evaluating& e) {
  const int64_t correction = e.integer("correction");
  return reduce_float(
      e, [&](const At& at, Set x) { return variance(at, x, mean(at, x, e.is_fixed), correction); });
}

Result<Array> std_of(const Evaluating& e) {
  const int64_t correction = e.integer("correction");
  return reduce_float(e, [&](const At& at, Set x) {
    return at.sqrt(variance(at, x, mean(at, x, e.is_fixed), correction));
  });
}

Result<Array> any_of(const Evaluating& e) { return reduce(e, uop::Bool, uop::Bool, any); }

Result<Array> all_of(const Evaluating& e) { return reduce(e, uop::Bool, uop::Bool, all); }

Result<Array> log_sum_exp(const Evaluating& e) {
  return reduce_float(e, [](const At& at, Set x) {
    const Bounded largest = maximum(at.t, x);
    const bool is_finite = !largest.is_known() || std::isfinite(largest.value);
    const Bounded m = is_finite ? largest : at.number(0);
    const Elements shifted =
        mapped(x).unaryExpr([&](const Bounded& v) { return at.exp(at.sub(v, m)); });
    return at.add(at.log(sum(at.t, span_of(shifted))), m);
  });
}

// The position of the largest, or the least, along one axis or of the flattened.
Result<Array> place_of(const Evaluating& e, bool largest) {
  const Array& x = e.x();
  const size_t rank = x.shape.size();
  const bool is_last = e.flag("last");
  Array lanes = x;
  int64_t axis = 0;
  if (e.has("axis")) {
    ASSAY_TRY(named, e.axis("axis", rank));
    axis = named;
  } else {
    lanes.shape = {x.elements.size()};
  }
  const int64_t n = lanes.shape.empty() ? 1 : lanes.shape[static_cast<size_t>(axis)];
  if (n == 0) return Error{fmt::format("{} of an empty axis", e.row().text), 0, 0};
  Array result = by_lane(lanes, axis, 1, uop::I32, [&](Set lane, std::span<Bounded> out) {
    out[0] = place_of_extreme(x.dtype, lane, largest, is_last);
  });
  if (e.flag("keep")) {
    if (!e.has("axis")) result.shape.assign(rank, 1);
  } else if (!result.shape.empty()) {
    result.shape.erase(result.shape.begin() + axis);
  }
  ASSAY_TRY(spent, e.spend(x.elements.size()));
  (void)spent;
  return result;
}

Result<Array> argmax(const Evaluating& e) { return place_of(e, true); }
Result<Array> argmin(const Evaluating& e) { return place_of(e, false); }

constexpr EvaluateRow kReduceRows[] = {
    {Sum, sum_of},   {Prod, product_of}, {Max, max_of},    {Min, min_of},
    {Mean, mean_of}, {Var, var_of},      {Std, std_of},    {Any, any_of},
    {All, all_of},   {ArgMax, argmax},   {ArgMin, argmin}, {LogSumExp, log_sum_exp},
};

}  // namespace

std::span<const EvaluateRow> reduce_rows() { return kReduceRows; }

}  // namespace assay::reference
