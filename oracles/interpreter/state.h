#pragma once

#include <span>
#include <vector>

#include "engine/result.h"
#include "engine/uop/uop.h"
#include "oracles/interpreter/tensor.h"

namespace assay::interpreter {

// Which elements of a state a view has: the place of each, or -1 where padding stands. Between
// widths the places are of bytes, and each element of the view has `width` of them.
class View {
 public:
  // Of the whole state; `bytes`: whether places are of bytes.
  View(Blocks& blocks, DType t, std::span<const int64_t> shape, bool bytes);
  // The view seen through one more movement or BITCAST.
  Result<bool> through(uop::Ref u, std::vector<int64_t> sizes);
  std::vector<int64_t> shape() const;

  // Writes the elements of x, whose shape is the view's, into the bytes of the state.
  void store(const Tensor& x, std::span<std::byte> state) const;

 private:
  Blocks& blocks_;
  bool bytes_;
  Tensor places_;  // with a last axis for the bytes of an element, or of size 1
};

}  // namespace assay::interpreter
