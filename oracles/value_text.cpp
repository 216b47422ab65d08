#include "oracles/value_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "engine/uop/value.h"

namespace assay::oracles {
namespace {

constexpr size_t kMostShown = 64;

}  // namespace

std::string value_text(uop::DType dtype, std::span<const int64_t> shape,
                       std::span<const std::byte> bytes) {
  const auto width = static_cast<size_t>(uop::bytes_of(dtype));
  const size_t count = bytes.size() / width;
  std::string text = fmt::format("{}[{}] [", uop::to_text(dtype), fmt::join(shape, ", "));
  for (size_t i = 0; i < std::min(count, kMostShown); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, &bytes[i * width], width);
    if (uop::kind_of(dtype) == uop::Kind::Signed) {
      const int unused = 64 - uop::bits_of(dtype);
      bits = static_cast<uint64_t>(static_cast<int64_t>(bits << unused) >> unused);
    }
    text += fmt::format("{}{}", i == 0 ? "" : ", ", uop::to_text(uop::Value{dtype, bits}));
  }
  return text + (count > kMostShown ? fmt::format(", … {} in all]", count) : "]");
}

}  // namespace assay::oracles
