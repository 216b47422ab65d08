#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace assay::oracles {

// The middle of the values, of two the greater; 0 where there are none.
template <typename T>
double median(std::vector<T> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return static_cast<double>(*middle);
}

}  // namespace assay::oracles
