#include "engine/tensor/families.h"
#include "engine/tensor/functions.h"
#include "engine/uop/eval.h"

namespace assay::tensor {
namespace {

// Axes longer than kLongest are scanned in parts of kPart.
constexpr int64_t kLongest = 512;
constexpr int64_t kPart = 256;

// Folds of the elements up to each, or of those before it.
Term folded(Fn f, Term x, int64_t axis, bool inclusive) {
  const Dim n = x.size(axis);
  const int64_t rank = x.rank() + 1;
  const Term from = insert_axis(move_axis(x, axis, 0), axis + 1);
  const Term source = positions(n, 0, rank, uop::Index);
  const Term target = positions(n, axis + 1, rank, uop::Index);
  const Term is_taken = inclusive ? le(source, target) : lt(source, target);
  return reduce(f, where(is_taken, from, value(x, uop::unit_of(f, x.dtype()))), {0});
}

Term scanned(Fn f, Term x, int64_t axis) {
  const Dim n = x.size(axis);
  if (!is_const(n.u) || is_at_most(n, n.of(kLongest))) return folded(f, x, axis, true);
  const Dim parts = (n + (kPart - 1)) / kPart;
  const Dim zero = n.of(0);
  x = pad(x, axis, zero, parts * kPart - n, uop::unit_of(f, x.dtype()));
  x = split_axis(x, axis, {parts.u, n.of(kPart).u});
  const Term inner = folded(f, x, axis + 1, true);
  const Term totals = drop_axis(shrink(inner, axis + 1, n.of(kPart - 1), n.of(1)), axis + 1);
  const Term before = insert_axis(folded(f, totals, axis, false), axis + 1);
  return shrink(join_axes(call(f, before, inner), axis, 2), axis, zero, n);
}

// A function of an axis; of a scalar, of its one element.
template <typename Function>
Result<Ref> along_axis(const Building& b, Term x, DType result, Function function) {
  ASSAY_TRY(axis, b.axis("axis", static_cast<size_t>(x.rank())));
  if (x.rank() > 0) return cast(function(x, axis), result).u;
  const Term one = insert_axis(x, 0);
  return cast(drop_axis(function(one, 0), 0), result).u;
}

template <Fn f>
Result<Ref> accumulate_along(const Building& b) {
  const Term x = operand(b, 0);
  const DType t = x.dtype();
  ASSAY_TRY(acc, accumulation(b, t, sum_type(t)));
  return along_axis(b, cast(x, acc), uop::is_float(t) ? t : acc,
                    [](Term v, int64_t axis) { return scanned(f, v, axis); });
}

Result<Ref> cummax(const Building& b) {
  const Term x = operand(b, 0);
  return along_axis(b, x, x.dtype(),
                    [](Term v, int64_t axis) { return scanned(Fn::Max, v, axis); });
}

Term below_largest(Term x, int64_t axis) { return x - reduce(Fn::Max, x, {axis}, true); }

Term log_softmax(Term x, int64_t axis) {
  const Term m = below_largest(x, axis);
  return m - log(sum(exp(m), {axis}, true));
}

template <Term (*f)(Term, int64_t)>
Result<Ref> normalize(const Building& b) {
  const Term x = operand(b, 0);
  ASSAY_TRY(acc, accumulation(b, x.dtype(), sum_type(x.dtype())));
  return along_axis(b, cast(x, acc), x.dtype(), f);
}

constexpr BuildRow kScanRows[] = {
    {Op::Softmax, normalize<softmax>},
    {Op::LogSoftmax, normalize<log_softmax>},
    {Op::CumSum, accumulate_along<Fn::Add>},
    {Op::CumProd, accumulate_along<Fn::Mul>},
    {Op::CumMax, cummax},
};

}  // namespace

std::span<const BuildRow> scan_builds() { return kScanRows; }

Term softmax(Term x, int64_t axis) {
  const Term e = exp(below_largest(x, axis));
  return e / sum(e, {axis}, true);
}

}  // namespace assay::tensor
