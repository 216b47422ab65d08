#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "oracles/reference/evaluating.h"
#include "oracles/reference/extreme.h"
#include "oracles/reference/lanes.h"

namespace assay::reference {
namespace {

using enum tensor::Op;

// The first elements of each sorted lane, k of them or all, or the positions they come from.
Result<Array> first_sorted(const Evaluating& e, bool descending, std::optional<int64_t> k,
                           Elements Sorted::* what) {
  const Array& x = e.x();
  ASSAY_TRY(axis, e.axis("axis", x.shape.size()));
  const int64_t n = x.shape.empty() ? 1 : x.shape[static_cast<size_t>(axis)];
  if (k && *k > n) {
    return Error{fmt::format("the first {} of an axis of {}", *k, n), 0, 0};
  }
  ASSAY_TRY(spent, e.spend(8 * x.elements.size()));
  (void)spent;
  const bool is_value = what == &Sorted::values;
  Array result = by_lane(x, axis, k.value_or(n), is_value ? x.dtype : uop::I32,
                         [&](std::span<const Bounded> lane, std::span<Bounded> out) {
                           const Sorted all = sorted(x.dtype, lane, descending);
                           mapped(out) = (all.*what).head(std::ssize(out));
                         });
  // What is picked from a value without axes has the axis that it is picked along.
  if (k && x.shape.empty()) result.shape = {*k};
  return result;
}

Result<Array> sort(const Evaluating& e) {
  return first_sorted(e, e.flag("descending"), std::nullopt, &Sorted::values);
}

Result<Array> argsort(const Evaluating& e) {
  return first_sorted(e, e.flag("descending"), std::nullopt, &Sorted::places);
}

Result<Array> topk(const Evaluating& e) {
  ASSAY_TRY(k, e.size("k"));
  return first_sorted(e, e.flag("largest"), k, &Sorted::values);
}

Result<Array> argtopk(const Evaluating& e) {
  ASSAY_TRY(k, e.size("k"));
  return first_sorted(e, e.flag("largest"), k, &Sorted::places);
}

constexpr EvaluateRow kOrderRows[] = {
    {Sort, sort}, {ArgSort, argsort}, {TopK, topk}, {ArgTopK, argtopk}};

}  // namespace

std::span<const EvaluateRow> order_rows() { return kOrderRows; }

}  // namespace assay::reference
