#include <fmt/format.h>

#include <utility>

#include "oracles/reference/contract.h"
#include "oracles/reference/scalar.h"
#include "oracles/reference/statistics.h"

namespace assay::reference {
namespace {

// k with its last two axes exchanged.
Array transposed(const Array& k) {
  std::vector<Axis> axes = axes_of(k.shape);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return moved(k, axes);
}

// x times y in the type to accumulate in, in which it stays.
Result<Array> product_of(const Evaluating& e, const Array& x, const Array& y, Type acc) {
  ASSAY_TRY(m, matrices(x.shape, y.shape));
  const int64_t inner = x.shape.back();
  ASSAY_TRY(spent, e.spend(count(m.shape) * std::max<int64_t>(1, inner)));
  (void)spent;
  return Array{acc, std::move(m.shape),
               dots(acc, {elements_at(x, acc), places(m.x_outer), places(m.x_inner)},
                    {elements_at(y, acc), places(m.y_outer), places(m.y_inner)})};
}

// The mask joins the scores: it picks them where it is bool, else it is added.
Result<bool> mask(const At& at, const Array& mask, Array& scores) {
  const Result<Dims> shape = broadcast(mask.shape, scores.shape);
  if (!shape.ok() || shape.value() != scores.shape) {
    return Error{
        fmt::format("a mask of {} over scores of {}", to_text(mask.shape), to_text(scores.shape)),
        0, 0};
  }
  const Array all = moved(mask, expanded(mask.shape, scores.shape));
  const Bounded hidden = maximum(at.t, {});
  for (int64_t i = 0; i < scores.elements.size(); ++i) {
    const Bounded& m = all.elements[i];
    Bounded& score = scores.elements[i];
    score = mask.dtype == uop::Bool ? apply(Fn::Where, at.t, m, score, hidden)
                                    : at.add(score, at.from(m, mask.dtype));
  }
  return true;
}

Result<Array> attention(const Evaluating& e) {
  const Array& q = e.x();
  const Array& k = e.y();
  const Array& v = *e.operands[2];
  for (const Array* x : {&q, &k, &v}) {
    if (x->shape.size() >= 2) continue;
    return Error{
        fmt::format("attention needs two axes, {} has {}", to_text(x->shape), x->shape.size()), 0,
        0};
  }
  const At at{e.accumulator(q.dtype)};
  Bounded scale = at.recip(at.sqrt(of_integer(at.t, q.shape.back())));
  if (e.has("scale")) {
    ASSAY_TRY(written, e.number("scale", at.t));
    scale = written;
  }
  ASSAY_TRY(scores, product_of(e, q, transposed(k), at.t));
  for (Bounded& score : scores.elements) score = at.mul(score, scale);
  if (e.has_operand(3)) {
    ASSAY_TRY(masked, mask(at, *e.operands[3], scores));
    (void)masked;
  }
  const int64_t columns = scores.shape.back();
  const int64_t rows = scores.shape[scores.shape.size() - 2];
  for (int64_t i = 0; e.flag("causal") && i < scores.elements.size(); ++i) {
    if (i % columns > i / columns % rows) scores.elements[i] = maximum(at.t, {});
  }
  Elements row(columns);
  for (int64_t i = 0; i < scores.elements.size(); i += columns) {
    auto scored = scores.elements.segment(i, columns);
    softmax(at, {scored.data(), static_cast<size_t>(columns)}, span_of(row));
    scored = row;
  }
  ASSAY_TRY(result, product_of(e, scores, v, at.t));
  return Array{q.dtype, std::move(result.shape), cast(result.elements, at.t, q.dtype)};
}

constexpr EvaluateRow kAttentionRows[] = {{tensor::Op::Attention, attention}};

}  // namespace

std::span<const EvaluateRow> attention_rows() { return kAttentionRows; }

}  // namespace assay::reference
