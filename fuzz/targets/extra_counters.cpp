#include "fuzz/targets/extra_counters.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace assay::fuzz {
namespace {

constexpr size_t kCounters = 1 << 16;

// libFuzzer looks for counters in this section, and sets them back before each input.
#ifdef __clang__
__attribute__((section("__libfuzzer_extra_counters")))
#endif
uint8_t counters[kCounters];

}  // namespace

// Of more features than there are counters, pairs of rules share some.
void count_features(std::span<const Feature> features) {
  for (const Feature f : features) {
    uint8_t& counter = counters[f % kCounters];
    counter = std::max<uint8_t>(counter, 1);
  }
}

}  // namespace assay::fuzz
