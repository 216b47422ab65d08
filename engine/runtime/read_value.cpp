#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "engine/runtime/executor.h"
#include "engine/uop/shape.h"

// Reading what a tensor shows: movement over storage or a constant.
namespace assay::runtime {
namespace {

using uop::Op;

// Elements of one axis after the other, with the sizes of the axes.
struct Array {
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;

  int64_t count() const {
    int64_t n = 1;
    for (const int64_t size : shape) n *= size;
    return n;
  }
};

Result<std::vector<int64_t>> values_of(Graph& g, std::span<const Ref> sizes, Variables variables) {
  std::vector<int64_t> values;
  values.reserve(sizes.size());
  for (const Ref size : sizes) {
    ASSAY_TRY(value, size_value(g, size, variables));
    values.push_back(value);
  }
  return values;
}

// Where element `at` of a movement's result lies in its source, whose sizes are `from`; nothing
// where a pad made it.
class Mover {
 public:
  Mover(Ref u, std::vector<int64_t> arguments, std::span<const int64_t> from,
        std::span<const int64_t> to)
      : u_(u), arguments_(std::move(arguments)), from_(from), to_(to) {}

  std::optional<int64_t> source(std::span<const int64_t> at) const {
    int64_t place = 0;
    for (size_t axis = 0; axis < from_.size(); axis++) {
      const std::optional<int64_t> index = along(axis, at);
      if (!index) return std::nullopt;
      place = place * from_[axis] + *index;
    }
    return place;
  }

 private:
  std::optional<int64_t> along(size_t axis, std::span<const int64_t> at) const {
    if (u_->op == Op::Expand) return from_[axis] == 1 ? 0 : at[axis + to_.size() - from_.size()];
    if (u_->op == Op::Permute) {
      const auto order = u_->arg.numbers();
      const auto k = std::ranges::find(order, static_cast<int64_t>(axis)) - order.begin();
      return at[static_cast<size_t>(k)];
    }
    if (u_->op == Op::Flip) {
      const auto axes = u_->arg.numbers();
      const bool is_flipped = std::ranges::find(axes, static_cast<int64_t>(axis)) != axes.end();
      return is_flipped ? from_[axis] - 1 - at[axis] : at[axis];
    }
    if (u_->op == Op::Shrink) return at[axis] + arguments_[2 * axis];
    const int64_t index = at[axis] - arguments_[2 * axis];  // a pad
    if (index < 0 || index >= from_[axis]) return std::nullopt;
    return index;
  }

  Ref u_;
  std::vector<int64_t> arguments_;
  std::span<const int64_t> from_;
  std::span<const int64_t> to_;
};

Result<Array> moved(Graph& g, Ref u, Array x, Variables variables) {
  ASSAY_TRY(shape, values_of(g, uop::shape(g, u), variables));
  if (u->op == Op::Reshape || u->op == Op::Bitcast) {
    x.shape = std::move(shape);
    return x;
  }
  ASSAY_TRY(arguments, values_of(g, u->src.subspan(1), variables));
  Array made = {std::move(shape), {}};
  const auto width = static_cast<size_t>(uop::bytes_of(u->dtype));
  made.bytes.resize(static_cast<size_t>(made.count()) * width);
  const Mover mover(u, std::move(arguments), x.shape, made.shape);
  std::vector<int64_t> at(made.shape.size(), 0);
  for (size_t k = 0; k < made.bytes.size(); k += width) {
    if (const std::optional<int64_t> from = mover.source(at)) {
      std::memcpy(&made.bytes[k], &x.bytes[static_cast<size_t>(*from) * width], width);
    }
    for (size_t axis = at.size(); axis-- > 0;) {
      if (++at[axis] < made.shape[axis]) break;
      at[axis] = 0;
    }
  }
  return made;
}

Result<Array> base_of(Graph& g, Ref u, Variables variables, Buffers& buffers) {
  if (is_const(u)) {
    Array one = {{}, std::vector<std::byte>(static_cast<size_t>(uop::bytes_of(u->dtype)))};
    const uint64_t bits = u->value().bits;
    std::memcpy(one.bytes.data(), &bits, one.bytes.size());
    return one;
  }
  if (u->op != Op::Buffer) return Error{fmt::format("{} has no bytes", to_text(u->op)), 0, 0};
  ASSAY_TRY(shape, values_of(g, uop::shape(g, u), variables));
  ASSAY_TRY(bytes, buffers.read(u));
  Array whole = {std::move(shape), std::move(bytes)};
  // Storage of symbolic size is as large as it can be; what there is stands in front.
  whole.bytes.resize(static_cast<size_t>(whole.count() * uop::bytes_of(u->dtype)));
  return whole;
}

}  // namespace

Result<std::vector<std::byte>> read_value(Graph& g, Ref value, Variables variables,
                                          Buffers& buffers) {
  std::vector<Ref> views;
  while (is_movement(value->op) || value->op == Op::Bitcast || value->op == Op::After) {
    if (value->op != Op::After) views.push_back(value);
    value = value->src[0];
  }
  ASSAY_TRY(array, base_of(g, value, variables, buffers));
  for (size_t i = views.size(); i-- > 0;) {
    ASSAY_TRY(next, moved(g, views[i], std::move(array), variables));
    array = std::move(next);
  }
  return std::move(array.bytes);
}

}  // namespace assay::runtime
