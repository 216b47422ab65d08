#include <utility>

#include "oracles/reference/evaluating.h"
#include "oracles/reference/lanes.h"
#include "oracles/reference/scalar.h"
#include "oracles/reference/statistics.h"

namespace assay::reference {
namespace {

using enum tensor::Op;
using In = std::span<const Bounded>;
using Out = std::span<Bounded>;

// Every lane changed by f, from type `in` to type `out`.
template <typename F>
Result<Array> scan(const Evaluating& e, Type in, DType out, F f) {
  const Array& x = e.x();
  ASSAY_TRY(axis, e.axis("axis", x.shape.size()));
  ASSAY_TRY(spent, e.spend(2 * x.elements.size()));
  (void)spent;
  const int64_t n = x.shape.empty() ? 1 : x.shape[static_cast<size_t>(axis)];
  Elements lane(n);
  Elements result(n);
  return by_lane(x, axis, n, out, [&](In from, Out to) {
    cast(span_of(lane), from, x.dtype, in);
    f(in, span_of(result), span_of(std::as_const(lane)));
    cast(to, span_of(std::as_const(result)), in, out);
  });
}

Result<Array> softmax_of(const Evaluating& e) {
  const DType t = e.x().dtype;
  return scan(e, e.accumulator(t), t, [](Type acc, Out out, In x) { softmax(At{acc}, x, out); });
}

Result<Array> log_softmax(const Evaluating& e) {
  const DType t = e.x().dtype;
  return scan(e, e.accumulator(t), t, [](Type acc, Out out, In x) {
    const At at{acc};
    const Bounded largest = maximum(acc, x);
    for (size_t i = 0; i < x.size(); ++i) out[i] = at.exp(at.sub(x[i], largest));
    const Bounded total = at.log(sum(acc, out));
    for (size_t i = 0; i < x.size(); ++i) out[i] = at.sub(at.sub(x[i], largest), total);
  });
}

// The type of the result of a scan that accumulates.
DType accumulated(const Evaluating& e) {
  const DType t = e.x().dtype;
  return uop::is_float(t) ? t : e.accumulator(t).dtype;
}

Result<Array> cumsum(const Evaluating& e) {
  return scan(e, e.accumulator(e.x().dtype), accumulated(e), scan_sum);
}

Result<Array> cumprod(const Evaluating& e) {
  return scan(e, e.accumulator(e.x().dtype), accumulated(e), scan_product);
}

Result<Array> cummax(const Evaluating& e) { return scan(e, e.type(), e.x().dtype, scan_maximum); }

constexpr EvaluateRow kScanRows[] = {
    {Softmax, softmax_of}, {LogSoftmax, log_softmax}, {CumSum, cumsum},
    {CumProd, cumprod},    {CumMax, cummax},
};

}  // namespace

std::span<const EvaluateRow> scan_rows() { return kScanRows; }

}  // namespace assay::reference
