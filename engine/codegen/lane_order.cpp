#include "engine/codegen/lane_order.h"

#include <algorithm>

namespace assay::codegen {

std::optional<Sizes> sizes_of(uop::Shape shape) {
  const std::optional<int64_t> count = uop::constant_size(shape);
  if (!count || *count > kMostListed) return std::nullopt;
  Sizes sizes;
  sizes.reserve(shape.size());
  for (const uop::Ref size : shape) sizes.push_back(static_cast<int64_t>(size->arg.bits));
  return sizes;
}

int64_t count_of(std::span<const int64_t> sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  return count;
}

Sizes strides_of(std::span<const int64_t> sizes) {
  Sizes strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

void order_by(std::span<const int64_t> sizes, std::span<const int64_t> strides,
              std::vector<uint32_t>& out) {
  out.assign(static_cast<size_t>(count_of(sizes)), 0);
  Sizes at(sizes.size(), 0);
  int64_t lane = 0;
  for (uint32_t& o : out) {
    o = static_cast<uint32_t>(lane);
    for (size_t axis = sizes.size(); axis-- > 0;) {
      lane += strides[axis];
      if (++at[axis] < sizes[axis]) break;
      lane -= strides[axis] * sizes[axis];
      at[axis] = 0;
    }
  }
}

std::optional<Sizes> broadcast_strides(std::span<const int64_t> operand,
                                       std::span<const int64_t> whole) {
  while (operand.size() > whole.size()) {
    if (operand[0] != 1) return std::nullopt;
    operand = operand.subspan(1);
  }
  const size_t added = whole.size() - operand.size();
  Sizes strides = strides_of(operand);
  for (size_t i = 0; i < operand.size(); ++i) {
    if (operand[i] == 1) strides[i] = 0;
    if (operand[i] != 1 && operand[i] != whole[added + i]) return std::nullopt;
  }
  strides.insert(strides.begin(), added, 0);
  return strides;
}

}  // namespace assay::codegen
