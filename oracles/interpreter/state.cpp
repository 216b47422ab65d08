#include "oracles/interpreter/state.h"

#include <fmt/format.h>

#include <cstring>
#include <numeric>

#include "oracles/interpreter/tensor_ops.h"

namespace assay::interpreter {
namespace {

using uop::Op;
using uop::Ref;

constexpr Slot kNowhere = ~Slot{0};

}  // namespace

View::View(Blocks& blocks, DType t, std::span<const int64_t> shape, bool bytes)
    : blocks_(blocks), bytes_(bytes) {
  std::vector<int64_t> sizes(shape.begin(), shape.end());
  sizes.push_back(bytes ? uop::bytes_of(t) : 1);
  places_ = fresh(blocks, DType::Index, std::move(sizes));
  Slot* place = blocks.at(places_.block);
  std::iota(place, place + places_.size(), Slot{0});
}

std::vector<int64_t> View::shape() const {
  return {places_.shape.begin(), places_.shape.end() - 1};
}

Result<bool> View::through(Ref u, std::vector<int64_t> sizes) {
  const auto rank = static_cast<int64_t>(places_.shape.size()) - 1;
  const int64_t width = places_.shape.back();
  if (u->op == Op::Bitcast) {
    if (!bytes_) return true;
    std::vector<int64_t> now = places_.shape;
    const int64_t next = uop::bytes_of(u->dtype);
    now.back() = next;
    if (rank > 0)
      now[static_cast<size_t>(rank - 1)] =
          places_.shape[static_cast<size_t>(rank - 1)] * width / next;
    if (!can_reshape(places_, now))
      return Error{fmt::format("bitcast of a view of {}", shape_text(shape()))};
    places_ = reshaped(blocks_, places_, std::move(now));
    return true;
  }
  const Tensor& x = places_;
  if (u->op == Op::Reshape || u->op == Op::Expand) sizes.push_back(width);
  if (u->op == Op::Shrink) sizes.insert(sizes.end(), {0, width});
  if (u->op == Op::Pad) {
    sizes.insert(sizes.end(), {0, 0});
    if (!can_pad(x, sizes)) return Error{fmt::format("pad of a view of {}", shape_text(shape()))};
    places_ = padded(blocks_, x, sizes, kNowhere);
    return true;
  }
  if (u->op == Op::Permute) {
    if (static_cast<int64_t>(u->arg.numbers().size()) != rank)
      return Error{"permute of a view of another rank"};
    std::vector<int64_t> order(u->arg.numbers().begin(), u->arg.numbers().end());
    order.push_back(rank);
    places_ = permuted(x, order);
    return true;
  }
  ASSAY_TRY(moved_places, apply_movement(blocks_, u, x, std::move(sizes)));
  places_ = moved_places;
  return true;
}

void View::store(const Tensor& x, std::span<std::byte> state) const {
  const Tensor values = dense(blocks_, x);
  const Tensor places = dense(blocks_, places_);
  std::vector<std::byte> bytes(static_cast<size_t>(x.size() * uop::bytes_of(x.dtype)));
  encode(x.dtype, values.from(blocks_), bytes.data(), x.size());
  const size_t width = bytes_ ? 1 : static_cast<size_t>(uop::bytes_of(x.dtype));
  const Slot* place = places.from(blocks_);
  const auto count = static_cast<size_t>(places.size());
  for (size_t i = 0; i < count; i++) {
    if (place[i] == kNowhere) continue;
    std::memcpy(state.data() + place[i] * width, bytes.data() + i * width, width);
  }
}

}  // namespace assay::interpreter
