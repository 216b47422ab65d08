#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace assay::schedule {

// Sorts by a number below `count`, equal ones staying in order: linear. Returns where each number
// begins, and the end.
template <typename T, typename Number>
std::vector<uint32_t> bucket(std::vector<T>& items, size_t count, Number number) {
  std::vector<uint32_t> begins(count + 1);
  for (const T& item : items) begins[number(item) + 1]++;
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  std::vector<uint32_t> next = begins;
  std::vector<T> sorted(items.size());
  for (T& item : items) sorted[next[number(item)]++] = std::move(item);
  items = std::move(sorted);
  return begins;
}

// The same, those of one number sorted among themselves.
template <typename T, typename Number, typename Less>
std::vector<uint32_t> bucket(std::vector<T>& items, size_t count, Number number, Less less) {
  std::vector<uint32_t> begins = bucket(items, count, number);
  for (size_t i = 0; i < count; i++) {
    std::sort(items.begin() + begins[i], items.begin() + begins[i + 1], less);
  }
  return begins;
}

}  // namespace assay::schedule
