#pragma once

#include <memory>
#include <optional>

#include "engine/runtime/devices.h"
#include "oracles/workgroup/workgroup.h"

namespace assay::workgroup {

// All that the machine can do: every type, functions by their limits, LOCAL storage and barriers.
const uop::Target& sim_target();

// How a simulated device takes its freedoms.
struct SimOptions {
  std::string name = "sim:0";
  uop::Target target = sim_target();
  bool is_random = false;  // batches and launches in a random order and interleaving, by `seed`
  std::optional<Adversary> adversary = std::nullopt;
  uint64_t seed = 1;
};

// The machine as a device. A launch whose kernel has a finding is a fault, and so are two commands
// of a batch that touch a byte, one of them writing, where neither waits for the other.
std::unique_ptr<runtime::Device> make_sim(SimOptions options);

// `sim:0`, `sim:1`, …: in lockstep. `sim:random`: in random orders. `sim:adversary`: in random
// orders, and with every freedom that the target grants. A number may follow: `sim:random1`.
const runtime::DeviceKind& sim_kind();

}  // namespace assay::workgroup
