#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace assay::uop {

// Memory that is freed all at once. What lives here is trivially destructible.
class Arena {
 public:
  void* allocate(size_t bytes) {
    bytes = (bytes + 7) & ~size_t{7};
    if (bytes > left_) add_chunk(bytes);
    std::byte* p = next_;
    next_ += bytes;
    left_ -= bytes;
    return p;
  }

  template <typename T>
  std::span<T> copy(std::span<const T> items) {
    if (items.empty()) return {};
    T* p = static_cast<T*>(allocate(items.size_bytes()));
    std::memcpy(static_cast<void*>(p), static_cast<const void*>(items.data()), items.size_bytes());
    return {p, items.size()};
  }
  std::string_view copy(std::string_view text) {
    const std::span<char> kept = copy(std::span<const char>(text.data(), text.size()));
    return {kept.data(), kept.size()};
  }

  size_t bytes() const { return total_; }

 private:
  void add_chunk(size_t at_least) {
    const size_t size = std::max(at_least, std::clamp(total_ / 4, kSmallest, kLargest));
    chunks_.push_back(std::unique_ptr<std::byte[]>(new std::byte[size]));
    next_ = chunks_.back().get();
    left_ = size;
    total_ += size;
  }

  // Chunks grow with the whole, so that no more than a fifth of a large arena lies unused.
  static constexpr size_t kSmallest = size_t{1} << 12;
  static constexpr size_t kLargest = size_t{1} << 20;
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::byte* next_ = nullptr;
  size_t left_ = 0;
  size_t total_ = 0;
};

}  // namespace assay::uop
