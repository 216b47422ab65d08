#include "oracles/interpreter/tensor_ops.h"

#include <fmt/format.h>

#include <algorithm>

#include "oracles/interpreter/rows.h"

namespace assay::interpreter {
namespace {

using uop::Op;
using uop::Ref;

Error misfit(Ref u, const Tensor& x, std::span<const int64_t> sizes) {
  return {
      fmt::format("{} of {} by {}", uop::to_text(u->op), shape_text(x.shape), shape_text(sizes))};
}

// The shape that all sources are repeated to, aligned from the right.
Result<std::vector<int64_t>> broadcast(Ref u, std::span<const Tensor> sources) {
  std::vector<int64_t> shape;
  for (const Tensor& x : sources) {
    if (x.shape.size() > shape.size())
      shape.insert(shape.begin(), x.shape.size() - shape.size(), 1);
  }
  for (const Tensor& x : sources) {
    const size_t added = shape.size() - x.shape.size();
    for (size_t i = 0; i < x.shape.size(); i++) {
      int64_t& size = shape[added + i];
      if (size == 1) size = x.shape[i];
      if (x.shape[i] == 1 || x.shape[i] == size) continue;
      std::string shapes;
      for (const Tensor& each : sources) shapes += " " + shape_text(each.shape);
      return Error{fmt::format("{} of{}", uop::to_text(u->op), shapes)};
    }
  }
  return shape;
}

}  // namespace

std::string shape_text(std::span<const int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

Result<Tensor> apply_scalar(Blocks& blocks, Ref u, std::span<const Tensor> sources) {
  const std::optional<Scalar> scalar = sources.empty() || sources.size() > 3
                                           ? std::nullopt
                                           : scalar_of(u->op, {u->dtype, sources[0].dtype});
  if (!scalar) return Error{fmt::format("{} as {}", uop::to_text(u->op), uop::to_text(u->dtype))};
  ASSAY_TRY(shape, broadcast(u, sources));
  Tensor made = fresh(blocks, u->dtype, std::move(shape));
  Rows rows(static_cast<int>(sources.size()));
  for (size_t i = 0; i < made.shape.size(); i++) {
    const size_t from_right = i + 1;
    int64_t strides[Rows::kSources] = {};
    for (size_t k = 0; k < sources.size(); k++) {
      const size_t rank = sources[k].shape.size();
      if (from_right <= rank && sources[k].shape[rank - from_right] != 1)
        strides[k] = sources[k].strides[rank - from_right];
    }
    rows.add(made.shape[made.shape.size() - from_right], strides);
  }
  const Slot* from[Rows::kSources] = {};
  for (size_t k = 0; k < sources.size(); k++) from[k] = sources[k].from(blocks);
  Slot* out = blocks.at(made.block);
  rows.each(from, [&](int64_t place, const Operand* src, int64_t n) {
    scalar->run(out + place, src, n);
  });
  scalar->finish(out, made.size());
  return made;
}

Result<Tensor> apply_movement(Blocks& blocks, Ref u, const Tensor& x, std::vector<int64_t> sizes) {
  const bool listed = u->arg.kind == uop::ArgKind::Numbers;
  const auto numbers = listed ? u->arg.numbers() : std::span<const int64_t>();
  const bool known = std::all_of(numbers.begin(), numbers.end(), [&](int64_t axis) {
    return axis >= 0 && static_cast<size_t>(axis) < x.shape.size();
  });
  switch (u->op) {
    case Op::Reshape:
      return can_reshape(x, sizes) ? Result(reshaped(blocks, x, std::move(sizes)))
                                   : misfit(u, x, sizes);
    case Op::Expand:
      return can_expand(x, sizes) ? Result(expanded(x, std::move(sizes))) : misfit(u, x, sizes);
    case Op::Permute:
      return known && numbers.size() == x.shape.size() ? Result(permuted(x, numbers))
                                                       : misfit(u, x, numbers);
    case Op::Flip: return known ? Result(flipped(x, numbers)) : misfit(u, x, numbers);
    case Op::Shrink: return can_shrink(x, sizes) ? Result(shrunk(x, sizes)) : misfit(u, x, sizes);
    case Op::Pad:
      return can_pad(x, sizes) ? Result(padded(blocks, x, sizes, 0)) : misfit(u, x, sizes);
    default: return Error{fmt::format("{} is no movement", uop::to_text(u->op))};
  }
}

// Between widths the bytes of the last axis are taken together otherwise, low ones first.
Result<Tensor> apply_bitcast(Blocks& blocks, Ref u, const Tensor& x) {
  const int64_t from = uop::bytes_of(x.dtype);
  const int64_t to = uop::bytes_of(u->dtype);
  if (from == to) return apply_scalar(blocks, u, std::span(&x, 1));
  std::vector<int64_t> shape = x.shape;
  if (shape.empty() || shape.back() * from % to != 0) {
    return Error{fmt::format("bitcast of {} {} to {}", uop::to_text(x.dtype), shape_text(shape),
                             uop::to_text(u->dtype))};
  }
  shape.back() = shape.back() * from / to;
  const Tensor flat = dense(blocks, x);
  std::vector<std::byte> bytes(static_cast<size_t>(x.size() * from));
  encode(x.dtype, flat.from(blocks), bytes.data(), x.size());
  Tensor made = fresh(blocks, u->dtype, std::move(shape));
  decode(u->dtype, bytes.data(), blocks.at(made.block), made.size());
  return made;
}

// Over the leading axes, in rising order. Where few elements are left each is folded by itself,
// else all of them with one slice after the other.
Result<Tensor> apply_reduce(Blocks& blocks, Ref u, const Tensor& x) {
  const auto axes = static_cast<size_t>(u->arg.number());
  const std::optional<Fold> fold = fold_of(u->arg.fold_op(), u->dtype);
  if (!fold || axes > x.shape.size() || u->src.size() != 1) {
    return Error{fmt::format("reduce by {} over {} axes of {}", uop::to_text(u->arg.fold_op()),
                             axes, shape_text(x.shape))};
  }
  constexpr int64_t kFew = 16;
  std::vector<int64_t> left(x.shape.begin() + static_cast<int64_t>(axes), x.shape.end());
  Tensor made = fresh(blocks, u->dtype, std::move(left));
  const int64_t n = made.size();
  const int64_t row = n == 0 ? 0 : x.size() / n;
  Slot* acc = blocks.at(made.block);
  std::fill_n(acc, n, fold->unit);
  if (n < kFew) {
    std::vector<int64_t> order;
    for (size_t i = axes; i < x.shape.size(); i++) order.push_back(static_cast<int64_t>(i));
    for (size_t i = 0; i < axes; i++) order.push_back(static_cast<int64_t>(i));
    const Tensor turned = dense(blocks, permuted(x, order));
    fold->over_rows(acc, n, turned.from(blocks), row, u->dtype);
    return made;
  }
  const Tensor flat = dense(blocks, x);
  for (int64_t k = 0; k < row; k++) {
    const Operand operands[] = {{acc, 1}, {flat.from(blocks) + k * n, 1}};
    fold->step.run(acc, operands, n);
    fold->step.finish(acc, n);
  }
  return made;
}

Result<Tensor> apply_stack(Blocks& blocks, Ref u, std::span<const Tensor> sources) {
  ASSAY_TRY(shape, broadcast(u, sources));
  std::vector<int64_t> all = shape;
  all.insert(all.begin(), static_cast<int64_t>(sources.size()));
  Tensor made = fresh(blocks, u->dtype, std::move(all));
  for (size_t i = 0; i < sources.size(); i++) {
    Tensor part = made;
    part.shape.erase(part.shape.begin());
    part.strides.erase(part.strides.begin());
    part.first = static_cast<int64_t>(i) * made.strides[0];
    write(blocks, expanded(sources[i], shape), part);
  }
  return made;
}

}  // namespace assay::interpreter
