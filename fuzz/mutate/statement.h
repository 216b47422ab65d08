#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "engine/tensor/program/program.h"

// What one statement says.
namespace assay::fuzz {

// Calls `use(size)` for every size that a define says: of its shape, its attributes, its slices.
template <typename AnyDefine, typename Use>
void for_each_size(AnyDefine& d, Use use) {
  for (auto& size : d.shape) use(size);
  for (auto& attr : d.attrs) {
    if (auto* one = std::get_if<tensor::Size>(&attr)) use(*one);
    if (auto* sizes = std::get_if<std::vector<tensor::Size>>(&attr)) {
      for (auto& size : *sizes) use(size);
    }
    auto* slices = std::get_if<std::vector<tensor::Slice>>(&attr);
    if (slices == nullptr) continue;
    for (auto& slice : *slices) {
      use(slice.begin);
      use(slice.step);
      if (slice.end) use(*slice.end);
    }
  }
}

// Whether a size depends on a variable.
inline bool is_symbolic(const tensor::Define& d) {
  bool found = false;
  for_each_size(d, [&](const tensor::Size& s) { found = found || !s.is_number(); });
  return found;
}

// Whether a text may write the literal where a type is known.
bool holds(const tensor::Literal& literal, uop::DType t);
// Whether it says what it must say.
bool is_complete(const tensor::Define& d);
// Whether its text is read, variables being what they are bound to: what is asked for there beside
// what the builder asks for.
bool is_readable(const tensor::Define& d, const std::vector<int64_t>& bound);
// Whether a value has at most so many elements, and no axis that is too long for having none.
bool is_small(const tensor::Define& d, int64_t most_elements, const std::vector<int64_t>& largest);
// A value of an attribute that fits most operands; `rank` is that of the first. As it is where the
// op says nothing of what fits.
tensor::AttrValue plain_attr(const tensor::Define& d, size_t attr, size_t rank);
// The largest value of each variable.
std::vector<int64_t> largest_values(const tensor::Program& program);

}  // namespace assay::fuzz
