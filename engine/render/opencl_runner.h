#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/render/source.h"

namespace assay::render {

using Bytes = std::vector<uint8_t>;

// A launch, for tests: the buffers of the PARAMs in order, which it changes, and the values of the
// VARIABLEs, each as the bytes of its type.
struct Launch {
  // A buffer that is part of an earlier one, from a byte on.
  struct Alias {
    size_t buffer;
    size_t of;
    size_t offset;
  };
  Source source;
  std::vector<Bytes> buffers;
  std::vector<Bytes> variables = {};
  std::vector<Alias> aliases = {};
};

// Builds all kernels as one program, since each build costs a start of the compiler, and runs one
// after the other. `platform` is a part of a platform's name: PoCL runs on its deterministic
// device. Gives what went wrong, the build's log at the most, or nothing. Names of the kernels are
// distinct.
// Kernels that are built quickly are not optimized; where they are, what C leaves undefined shows.
enum class Build : uint8_t { Optimized, Quick };
std::string run_all(std::string_view platform, std::vector<Launch>& launches, Build how);

template <typename T>
Bytes bytes_of(const std::vector<T>& values) {
  const auto* first = reinterpret_cast<const uint8_t*>(values.data());
  return Bytes(first, first + values.size() * sizeof(T));
}
template <typename T>
std::vector<T> values_of(const Bytes& bytes) {
  const auto* first = reinterpret_cast<const T*>(bytes.data());
  return std::vector<T>(first, first + bytes.size() / sizeof(T));
}

}  // namespace assay::render
