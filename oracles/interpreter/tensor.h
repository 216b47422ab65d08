#pragma once

#include <memory>
#include <span>
#include <vector>

#include "oracles/interpreter/numbers.h"

namespace assay::interpreter {

// The elements of tensors, in blocks that are freed when the last tensor that uses one is.
class Blocks {
 public:
  int make(int64_t size) {
    list_.push_back({std::make_unique_for_overwrite<Slot[]>(static_cast<size_t>(size)), 0});
    return static_cast<int>(list_.size()) - 1;
  }
  Slot* at(int block) const { return list_[static_cast<size_t>(block)].slots.get(); }
  void keep(int block) { list_[static_cast<size_t>(block)].users++; }
  void drop(int block) {
    Block& b = list_[static_cast<size_t>(block)];
    if (--b.users == 0) b.slots.reset();
  }
  // Frees what was made since there were `count` and nobody keeps.
  size_t count() const { return list_.size(); }
  void sweep(size_t count) {
    for (size_t i = count; i < list_.size(); i++) {
      if (list_[i].users == 0) list_[i].slots.reset();
    }
  }

 private:
  struct Block {
    std::unique_ptr<Slot[]> slots;
    int users;
  };
  std::vector<Block> list_;
};

// A tensor: where each element is in a block.
struct Tensor {
  DType dtype = DType::Void;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  int64_t first = 0;
  int block = -1;

  int64_t size() const {
    int64_t n = 1;
    for (const int64_t s : shape) n *= s;
    return n;
  }
  const Slot* from(const Blocks& blocks) const { return blocks.at(block) + first; }
  bool is_dense() const;  // in row-major order without gaps
};

// A new tensor, its elements to be written.
Tensor fresh(Blocks& blocks, DType t, std::vector<int64_t> shape);
// The same elements, dense: x itself where it is.
Tensor dense(Blocks& blocks, const Tensor& x);
// Writes the elements of x to those of `to`, whose shape is x's.
void write(Blocks& blocks, const Tensor& x, const Tensor& to);

// Movement. Sizes are the new ones; shapes fit, or trouble() of the operation says what does not.
Tensor reshaped(Blocks& blocks, const Tensor& x, std::vector<int64_t> sizes);
// Aligned from the right; axes of size 1 are repeated.
Tensor expanded(const Tensor& x, std::vector<int64_t> sizes);
Tensor permuted(const Tensor& x, std::span<const int64_t> order);
Tensor flipped(const Tensor& x, std::span<const int64_t> axes);
// bounds: begin and size of each axis.
Tensor shrunk(const Tensor& x, std::span<const int64_t> bounds);
// amounts: low and high of each axis; `fill` stands there.
Tensor padded(Blocks& blocks, const Tensor& x, std::span<const int64_t> amounts, Slot fill);

// Whether x can be moved so.
bool can_reshape(const Tensor& x, std::span<const int64_t> sizes);
bool can_expand(const Tensor& x, std::span<const int64_t> sizes);
bool can_shrink(const Tensor& x, std::span<const int64_t> bounds);
bool can_pad(const Tensor& x, std::span<const int64_t> amounts);

}  // namespace assay::interpreter
