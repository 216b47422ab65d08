#include <fmt/format.h>

#include <algorithm>

#include "engine/tensor/families.h"
#include "engine/tensor/functions.h"

namespace assay::tensor {
namespace {

Term with_rank(Term x, int64_t rank) {
  while (x.rank() < rank) x = insert_axis(x, 0);
  return x;
}

// Products of rows of x [.., m, k] and columns of y [.., k, n], summed at their type.
Term product(Term x, Term y) {
  const int64_t rank = std::max(x.rank(), y.rank());
  x = insert_axis(move_axis(with_rank(x, rank), rank - 1, 0), rank);
  y = insert_axis(move_axis(with_rank(y, rank), rank - 2, 0), rank - 1);
  return sum(x * y, {0});
}

Error do_not_fit(const Building& b, Term x, Term y) {
  return Error{fmt::format("{} of shapes {} and {}", b.row().text, uop::shape_text(x.shape()),
                           uop::shape_text(y.shape()))};
}

// Integers add up at their own type: a product is as wide as its factors anyway.
DType product_type(DType t) { return uop::is_float(t) ? sum_type(t) : t; }

Result<Ref> matmul(const Building& b) {
  Term x = operand(b, 0);
  Term y = operand(b, 1);
  const DType t = x.dtype();
  ASSAY_TRY(acc, accumulation(b, t, product_type(t)));
  const bool is_row = x.rank() == 1;
  const bool is_column = y.rank() == 1;
  const bool has_axes = x.rank() > 0 && y.rank() > 0;
  if (!has_axes || !may_be_equal(x.size(x.rank() - 1), y.size(is_column ? 0 : y.rank() - 2))) {
    return do_not_fit(b, x, y);
  }
  if (is_row) x = insert_axis(x, 0);
  if (is_column) y = insert_axis(y, 1);
  Term result = product(cast(x, acc), cast(y, acc));
  if (is_column) result = drop_axis(result, result.rank() - 1);
  if (is_row) result = drop_axis(result, result.rank() - (is_column ? 1 : 2));
  return cast(result, t).u;
}

bool broadcasts_to(Term x, Term y) {
  bool fits = x.rank() <= y.rank();
  for (int64_t i = 1; fits && i <= x.rank(); i++) {
    fits = may_broadcast(x.size(x.rank() - i), y.size(y.rank() - i));
  }
  return fits;
}

// Scores that a mask forbids are -inf.
Result<Term> masked(const Building& b, Term scores) {
  const Term none = value(scores, uop::lowest(scores.dtype()));
  if (has_operand(b, 3)) {
    const Term mask = operand(b, 3);
    if (!broadcasts_to(mask, scores)) return do_not_fit(b, scores, mask);
    const bool is_choice = mask.dtype() == uop::Bool;
    scores = is_choice ? where(mask, scores, none) : scores + cast(mask, scores.dtype());
  }
  if (!b.flag("causal")) return scores;
  const int64_t rank = scores.rank();
  const Term row = positions(scores.size(rank - 2), rank - 2, rank, uop::Index);
  const Term column = positions(scores.size(rank - 1), rank - 1, rank, uop::Index);
  return where(lt(row, column), none, scores);
}

Result<Ref> attention(const Building& b) {
  const Term q = operand(b, 0);
  const Term k = operand(b, 1);
  const Term v = operand(b, 2);
  const DType t = q.dtype();
  ASSAY_TRY(acc, accumulation(b, t, product_type(t)));
  for (const Term x : {q, k, v}) {
    if (x.rank() < 2) return Error{fmt::format("attention of a value of rank {}", x.rank())};
  }
  const Dim width = q.size(q.rank() - 1);
  if (!may_be_equal(width, k.size(k.rank() - 1))) return do_not_fit(b, q, k);
  if (!may_be_equal(k.size(k.rank() - 2), v.size(v.rank() - 2))) return do_not_fit(b, k, v);
  const Term turned = cast(move_axis(k, k.rank() - 1, k.rank() - 2), acc);
  const Term dots = product(cast(q, acc), turned);
  const Term scale = b.has("scale") ? number(dots, b.number("scale")) : rsqrt(at_type(width, acc));
  ASSAY_TRY(scores, masked(b, dots * scale));
  return cast(product(softmax(scores, scores.rank() - 1), cast(v, acc)), t).u;
}

constexpr BuildRow kContractRows[] = {
    {Op::MatMul, matmul},
    {Op::Attention, attention},
};

}  // namespace

std::span<const BuildRow> contract_builds() { return kContractRows; }

}  // namespace assay::tensor
