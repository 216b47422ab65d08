#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/result.h"
#include "engine/runtime/device.h"

namespace assay::fuzz::bench {

// One way to compute a value on a device: launches, each after the one before.
struct Contender {
  std::vector<std::string> names;          // of the kernels, one a launch
  std::vector<runtime::Command> launches;  // without waits
  std::vector<runtime::View> written;      // the storage that they write, each once
  // The bytes of the value, once the launches have run.
  std::function<Result<std::vector<std::byte>>()> output;
};

// The value, computed over storage that was NaN before, so that what no kernel wrote shows.
Result<std::vector<std::byte>> compute(runtime::Device& device, const Contender& contender);

// Nanoseconds by launch, then by run: from the start of a kernel to its end by the device's clock,
// without what it takes to launch it.
using Times = std::vector<std::vector<int64_t>>;

// Runs the contenders in turn, so that what drifts hits all of them: a round of each to warm up,
// then `rounds` of each that count, of as many runs as fill some milliseconds. One result each.
Result<std::vector<Times>> time_in_turn(runtime::Device& device,
                                        const std::vector<const Contender*>& contenders,
                                        int rounds);

// The middle, and the least, of what the launches take together, by run.
double median_of_runs(const Times& times);
int64_t least_of_runs(const Times& times);

}  // namespace assay::fuzz::bench
