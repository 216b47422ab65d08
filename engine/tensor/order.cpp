#include <fmt/format.h>

#include "engine/tensor/families.h"
#include "engine/tensor/functions.h"

namespace assay::tensor {
namespace {

// Below in the order of sorting: NaN is above all numbers.
Term is_below(Term x, Term y) {
  const Term below = lt(x, y);
  if (!uop::is_float(x.dtype())) return below;
  return either(below, both(is_nan(y), negation(is_nan(x))));
}

// Where each element of an axis goes: the number of those that come before it, equal ones in their
// order. x has a new leading axis for them: [n, .., 1, ..] beside [1, .., n, ..].
Term ranks(Term x, int64_t axis, bool descending) {
  const Dim n = x.size(axis);
  const Term other = insert_axis(move_axis(x, axis, 0), axis + 1);
  const Term self = insert_axis(x, 0);
  const Term first = descending ? is_below(self, other) : is_below(other, self);
  const Term last = descending ? is_below(other, self) : is_below(self, other);
  const int64_t rank = self.rank();
  const Term is_earlier =
      lt(positions(n, 0, rank, uop::Index), positions(n, axis + 1, rank, uop::Index));
  const Term is_before = either(first, both(negation(last), is_earlier));
  return sum(cast(is_before, uop::I32), {0});
}

// What the first k places of the sorted axis hold: elements, or where they stand.
enum class Holds : uint8_t { Elements, Positions };

Term sorted(Term x, int64_t axis, bool descending, Dim k, Holds holds) {
  const Dim n = x.size(axis);
  const Term rank = insert_axis(move_axis(ranks(x, axis, descending), axis, 0), axis + 1);
  const Term place = positions(k, axis + 1, rank.rank(), uop::I32);
  const Term held = holds == Holds::Elements ? insert_axis(move_axis(x, axis, 0), axis + 1)
                                             : positions(n, 0, rank.rank(), uop::I32);
  return pick(eq(rank, place), held);
}

// Ranks that disagree with each other, or with what is moved, are of no order: each element is
// compared as it is held.
Result<Ref> ordered(const Building& b, bool descending, const Ref* count, Holds holds) {
  Term x = computed_once(operand(b, 0));
  ASSAY_TRY(axis, b.axis("axis", static_cast<size_t>(x.rank())));
  const bool is_scalar = x.rank() == 0;
  if (is_scalar) x = insert_axis(x, 0);
  const Dim k = count == nullptr ? x.size(axis) : Dim{&b.g, *count};
  if (is_beyond(k, x.size(axis))) {
    return Error{fmt::format("{} takes {} of axis {} of {}", b.row().text, text_of(k), axis,
                             uop::shape_text(x.shape()))};
  }
  const Term result = sorted(x, axis, descending, k, holds);
  return is_scalar && count == nullptr ? drop_axis(result, 0).u : result.u;
}

template <Holds kHolds>
Result<Ref> sort(const Building& b) {
  return ordered(b, b.flag("descending"), nullptr, kHolds);
}

template <Holds kHolds>
Result<Ref> top(const Building& b) {
  const Ref k = b.size("k");
  return ordered(b, b.flag("largest"), &k, kHolds);
}

constexpr BuildRow kOrderRows[] = {
    {Op::Sort, sort<Holds::Elements>},
    {Op::ArgSort, sort<Holds::Positions>},
    {Op::TopK, top<Holds::Elements>},
    {Op::ArgTopK, top<Holds::Positions>},
};

}  // namespace

std::span<const BuildRow> order_builds() { return kOrderRows; }

}  // namespace assay::tensor
