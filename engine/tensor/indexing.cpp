#include <fmt/format.h>

#include "engine/tensor/families.h"
#include "engine/tensor/functions.h"

namespace assay::tensor {
namespace {

// A type that holds every value of type t and every position below n.
DType position_type(DType t, Dim n) {
  if (t == uop::U64) return t;
  const uop::Int128 last = uop::bounds(*n.g, n.u).hi;
  const bool is_narrow = t != uop::I64 && t != uop::U32 && last <= uop::max_int(uop::I32);
  return is_narrow ? uop::I32 : uop::I64;
}

// Whether the positions i are each of 0 … n - 1, which lie along `axis`.
Term is_position(Term i, Dim n, int64_t axis) {
  const DType t = position_type(i.dtype(), n);
  return eq(cast(i, t), positions(n, axis, i.rank(), t));
}

// Both values have one rank, and i is no longer than x in any axis but one.
Result<bool> fits_within(const Building& b, Term i, Term x, int64_t axis) {
  bool fits = i.rank() == x.rank() && x.rank() > 0;
  for (int64_t k = 0; fits && k < x.rank(); k++) {
    fits = k == axis || !is_beyond(i.size(k), x.size(k));
  }
  if (fits) return true;
  return Error{fmt::format("{} of {} at positions of shape {} along axis {}", b.row().text,
                           uop::shape_text(x.shape()), uop::shape_text(i.shape()), axis)};
}

Result<Ref> gather(const Building& b) {
  Term x = operand(b, 0);
  const Term i = operand(b, 1);
  ASSAY_TRY(axis, b.axis("axis", static_cast<size_t>(x.rank())));
  if (const Result<bool> fit = fits_within(b, i, x, axis); !fit.ok()) return fit.error();
  for (int64_t k = 0; k < x.rank(); k++) {
    if (k != axis) x = shrink(x, k, x.dim(0), i.size(k));
  }
  // [n, .., 1, ..] where i is [1, .., j, ..].
  const Dim n = x.size(axis);
  const Term source = insert_axis(move_axis(x, axis, 0), axis + 1);
  return pick(is_position(insert_axis(i, 0), n, 0), source).u;
}

Result<Ref> take(const Building& b) {
  const Term x = operand(b, 0);
  Term i = operand(b, 1);
  ASSAY_TRY(axis, b.axis("axis", static_cast<size_t>(x.rank())));
  if (x.rank() == 0) return Error{"take from a scalar, which has no axis"};
  // [n, before.., 1.., after..] where i is [1, 1.., i.., 1..].
  const Dim n = x.size(axis);
  Term source = move_axis(x, axis, 0);
  const int64_t rank = i.rank();
  for (int64_t k = 0; k < rank; k++) source = insert_axis(source, axis + 1);
  for (int64_t k = 0; k <= axis; k++) i = insert_axis(i, 0);
  while (i.rank() < source.rank()) i = insert_axis(i, i.rank());
  return pick(is_position(i, n, 0), source).u;
}

// A value of i's shape, longer by zeros where x is.
Term grown(Term v, Term x, int64_t axis) {
  for (int64_t k = 0; k < x.rank(); k++) {
    if (k != axis) v = pad(v, k, x.dim(0), x.size(k) - v.size(k));
  }
  return v;
}

struct Scattering {
  Term x;
  Term y;       // [j, .., 1, ..]
  Term is_hit;  // [j, .., n, ..]
  int64_t axis;
};

Term unit_like(Term y, std::string_view how) {
  const DType t = y.dtype();
  if (how == "add") return value(y, uop::zero_of(t));
  if (how == "mul") return value(y, uop::one_of(t));
  return value(y, how == "max" ? uop::lowest(t) : uop::highest(t));
}

struct Fold {
  std::string_view how;
  Fn f;
};
constexpr Fold kFolds[] = {{"add", Fn::Add}, {"mul", Fn::Mul}, {"max", Fn::Max}, {"min", Fn::Min}};

// x, folded with all that hits it. What nothing hits stays as it is, bit by bit.
Term folded(const Scattering& s, const Fold& fold) {
  const Term all = reduce(fold.f, where(s.is_hit, s.y, unit_like(s.y, fold.how)), {0});
  const Term any = grown(reduce(Fn::Or, s.is_hit, {0}), s.x, s.axis);
  return where(any, call(fold.f, s.x, grown(all, s.x, s.axis)), s.x);
}

// x, or the last that hits it: its place, counted from 1, is the largest of a hit.
Term replaced(const Scattering& s) {
  const Dim n = s.is_hit.size(0);
  const Term place = positions(n, 0, s.is_hit.rank(), uop::I32);
  const Term counted = place + value(place, uop::one_of(uop::I32));
  const Term zero = value(place, uop::zero_of(uop::I32));
  const Term last = reduce(Fn::Max, where(s.is_hit, counted, zero), {0});
  const Term value_of_last = pick(eq(counted, insert_axis(last, 0)), s.y);
  const Term any = grown(lt(zero, last), s.x, s.axis);
  return where(any, grown(value_of_last, s.x, s.axis), s.x);
}

Result<Ref> scatter(const Building& b) {
  const Term x = operand(b, 0);
  const Term i = operand(b, 1);
  Term y = operand(b, 2);
  ASSAY_TRY(axis, b.axis("axis", static_cast<size_t>(x.rank())));
  if (const Result<bool> fit = fits_within(b, i, x, axis); !fit.ok()) return fit.error();
  const Result<Shape> both = uop::broadcast(b.g, y.shape(), i.shape());
  bool is_covered = both.ok() && both.value().size() == i.shape().size();
  for (int64_t k = 0; is_covered && k < i.rank(); k++) {
    is_covered = may_be_equal({&b.g, both.value()[static_cast<size_t>(k)]}, i.size(k));
  }
  if (!is_covered) {
    return Error{fmt::format("scatter of values of shape {} to positions of shape {}",
                             uop::shape_text(y.shape()), uop::shape_text(i.shape()))};
  }
  y = expand(y, dims_of(i));
  const Term from = insert_axis(move_axis(y, axis, 0), axis + 1);
  const Term to = insert_axis(move_axis(i, axis, 0), axis + 1);
  const Scattering s = {x, from, is_position(to, x.size(axis), axis + 1), axis};
  const std::string_view how = b.word("reduce");
  for (const Fold& fold : kFolds) {
    if (fold.how != how) continue;
    if (uop::info(fold.f).over.has(x.dtype())) return folded(s, fold).u;
    return Error{fmt::format("scatter folds {} by {}", uop::to_text(x.dtype()), how)};
  }
  return replaced(s).u;
}

Result<Ref> one_hot(const Building& b) {
  const Term i = operand(b, 0);
  ASSAY_TRY(axis, b.axis("axis", static_cast<size_t>(i.rank()) + 1));
  ASSAY_TRY(on, b.constant("on", b.dtype()));
  ASSAY_TRY(off, b.constant("off", b.dtype()));
  const Term hit = is_position(insert_axis(i, axis), {&b.g, b.size("classes")}, axis);
  return where(hit, {&b.g, on}, {&b.g, off}).u;
}

constexpr BuildRow kIndexingRows[] = {
    {Op::Gather, gather},
    {Op::Take, take},
    {Op::Scatter, scatter},
    {Op::OneHot, one_hot},
};

}  // namespace

std::span<const BuildRow> indexing_builds() { return kIndexingRows; }

}  // namespace assay::tensor
