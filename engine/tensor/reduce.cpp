#include <fmt/format.h>

#include "engine/tensor/families.h"
#include "engine/tensor/functions.h"

namespace assay::tensor {
namespace {

struct Reduced {
  Term x;
  Axes axes;
  bool keep;
};

Result<Reduced> reduced(const Building& b) {
  const Term x = operand(b, 0);
  ASSAY_TRY(axes, b.axes("axes", static_cast<size_t>(x.rank())));
  return Reduced{x, axes, b.flag("keep")};
}

// The operand at the type to accumulate in.
Result<Reduced> accumulated(const Building& b) {
  ASSAY_TRY(r, reduced(b));
  ASSAY_TRY(acc, accumulation(b, r.x.dtype(), sum_type(r.x.dtype())));
  r.x = cast(r.x, acc);
  return r;
}

// What was accumulated, at the type of the operand if that is a float.
Ref rounded(const Building& b, Term x) {
  return uop::is_float(b.x()->dtype) ? cast(x, b.x()->dtype).u : x.u;
}

template <Fn f>
Result<Ref> accumulate(const Building& b) {
  ASSAY_TRY(r, accumulated(b));
  return rounded(b, reduce(f, r.x, r.axes, r.keep));
}

template <Fn f>
Result<Ref> extreme(const Building& b) {
  ASSAY_TRY(r, reduced(b));
  return reduce(f, r.x, r.axes, r.keep).u;
}

template <Fn f>
Result<Ref> truth(const Building& b) {
  ASSAY_TRY(r, reduced(b));
  return reduce(f, cast(r.x, uop::Bool), r.axes, r.keep).u;
}

Result<Ref> mean_of(const Building& b) {
  ASSAY_TRY(r, accumulated(b));
  return rounded(b, mean(r.x, r.axes, r.keep));
}

// In the type to accumulate in.
Result<Term> variance(const Building& b) {
  ASSAY_TRY(r, accumulated(b));
  const Term d = r.x - mean(r.x, r.axes, true);
  const Term squares = sum(d * d, r.axes, r.keep);
  Dim count = r.x.dim(1);
  for (const int64_t axis : r.axes) count = count * r.x.size(axis);
  const Dim freedom = largest(count - b.integer("correction"), count.of(0));
  return squares / at_type(freedom, r.x.dtype());
}

Result<Ref> var(const Building& b) {
  ASSAY_TRY(v, variance(b));
  return rounded(b, v);
}

Result<Ref> deviation(const Building& b) {
  ASSAY_TRY(v, variance(b));
  return rounded(b, sqrt(v));
}

// The first or last place of what is largest or least, which has to be found again bit by bit. NaNs
// are both, as they are for max and min.
template <Fn f>
Result<Ref> place(const Building& b) {
  Term x = computed_once(operand(b, 0));
  const int64_t rank = x.rank();
  int64_t axis = 0;
  const bool is_flat = rank == 0 || !b.has("axis");
  if (b.has("axis")) {
    ASSAY_TRY(named, b.axis("axis", static_cast<size_t>(rank)));
    axis = named;
  }
  if (is_flat) x = join_axes(x, 0, rank);
  if (x.size(axis).is(0)) return Error{fmt::format("{} of an empty axis", b.row().text)};
  const Term found = reduce(f, x, {axis}, true);
  const Term same = eq(x, found);
  const Term is_found = uop::is_float(x.dtype()) ? either(same, is_nan(x)) : same;
  const Term at = positions(x.size(axis), axis, x.rank(), uop::I32);
  const bool last = b.flag("last");
  const Term none = value(at, last ? uop::lowest(uop::I32) : uop::highest(uop::I32));
  Term places = reduce(last ? Fn::Max : Fn::Min, where(is_found, at, none), {axis}, b.flag("keep"));
  if (is_flat && b.flag("keep")) {
    places = reshape(places, Dims(static_cast<size_t>(rank), x.dim(1).u));
  }
  return places.u;
}

Result<Ref> logsumexp(const Building& b) {
  ASSAY_TRY(r, accumulated(b));
  const Term m = reduce(Fn::Max, r.x, r.axes, true);
  const Term zero = number(m, 0);
  const Term is_finite = eq(m - m, zero);
  const Term base = where(is_finite, m, zero);
  const Term logarithm = log(sum(exp(r.x - base), r.axes, r.keep));
  return rounded(b, logarithm + (r.keep ? base : reshape(base, dims_of(logarithm))));
}

constexpr BuildRow kReduceRows[] = {
    {Op::Sum, accumulate<Fn::Add>},
    {Op::Prod, accumulate<Fn::Mul>},
    {Op::Max, extreme<Fn::Max>},
    {Op::Min, extreme<Fn::Min>},
    {Op::Mean, mean_of},
    {Op::Var, var},
    {Op::Std, deviation},
    {Op::Any, truth<Fn::Or>},
    {Op::All, truth<Fn::And>},
    {Op::ArgMax, place<Fn::Max>},
    {Op::ArgMin, place<Fn::Min>},
    {Op::LogSumExp, logsumexp},
};

}  // namespace

std::span<const BuildRow> reduce_builds() { return kReduceRows; }

DType sum_type(DType t) {
  if (uop::is_float(t)) return t == uop::F64 ? t : uop::F32;
  if (uop::bits_of(t) >= 32) return t;
  return uop::kind_of(t) == uop::Kind::Unsigned ? uop::U32 : uop::I32;
}

Result<DType> accumulation(const Building& b, DType t, DType fallback) {
  if (!b.has("acc")) return fallback;
  const DType acc = b.type("acc");
  const bool is_narrowed = uop::is_float(t) && !uop::is_float(acc);
  if (!is_narrowed && uop::kNumbers.has(acc) && acc != uop::Index) return acc;
  return Error{fmt::format("{} of {} cannot accumulate in {}", b.row().text, uop::to_text(t),
                           uop::to_text(acc))};
}

Term at_type(Dim n, DType t) {
  if (!is_const(n.u)) return cast({n.g, n.u}, t);
  return {n.g, n.g->constant(uop::of_int(t, static_cast<int64_t>(n.u->arg.bits)))};
}

Term sum(Term x, const Axes& axes, bool keep) { return reduce(Fn::Add, x, axes, keep); }

Term mean(Term x, const Axes& axes, bool keep) {
  Dim count = x.dim(1);
  for (const int64_t axis : axes) count = count * x.size(axis);
  const Term total = sum(x, axes, keep);
  const Term n = at_type(count, x.dtype());
  return total * (is_const(n.u) ? number(n, 1 / uop::as_double(n.u->value())) : recip(n));
}

Term normalized(Term x, const Axes& axes, double eps) {
  const Term d = x - mean(x, axes, true);
  return d * rsqrt(mean(d * d, axes, true) + eps);
}

}  // namespace assay::tensor
