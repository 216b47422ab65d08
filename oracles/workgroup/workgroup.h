#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"
#include "engine/uop/target.h"
#include "oracles/interpreter/interpreter.h"
#include "oracles/workgroup/adversary.h"
#include "oracles/workgroup/finding.h"

namespace assay::workgroup {

using interpreter::Variables;

enum class Order : uint8_t { Rising, Falling, Random };

// Who runs when between barriers. The work-items of a group stand in the order `items`; `width` of
// them at a time are a strand, which runs in lockstep. With a quantum of 0 a strand goes as far as
// it can before the next one starts; else a strand picked at random goes on by 1 to `quantum`
// instructions.
struct Schedule {
  std::string_view name = "lockstep";
  Order items = Order::Rising;
  Order groups = Order::Rising;
  int width = 0;  // 0 is all of them
  int quantum = 0;
  uint64_t seed = 0;
};
// Schedules that differ as much as they can, of which one is lockstep.
std::span<const Schedule> interleavings();

// The bytes of a PARAM, by slot. `known` says of each byte whether it was written, 0 or 1, before
// the launch and after it; empty where all were.
struct Argument {
  std::span<std::byte> bytes;
  std::span<uint8_t> known = {};
};

struct Options {
  Schedule schedule = {};
  bool is_checked = true;  // races and uninitialised reads are looked for
  std::optional<Adversary> adversary = std::nullopt;
  int64_t budget = int64_t{1} << 40;  // node executions, after which it stops
};

struct Report {
  std::vector<Finding> findings;
  int64_t dropped = 0;          // findings that were counted but not kept
  int64_t executed = 0;         // nodes, each counted once a work-item, or once a strand if uniform
  int64_t barriers = 0;         // how often a group passed one
  int64_t unwatched_bytes = 0;  // of written storage that was too large to look for races in
  bool is_stopped = false;      // at the end of its budget
};

// Runs a LINEAR (engine/codegen/README.md, Forms) for all work-items of a launch. What is wrong
// with the kernel is a finding, and it runs on as well as it can: a read out of bounds is poison,
// such a write is none, a barrier is passed by those who reached it. An error is a LINEAR that is
// none, a target that has no such kernels, an argument that does not fit its PARAM, or the budget's
// end.
//
// BARRIER orders what work-items of one group do to LOCAL storage, as MemoryContract has it, and
// nothing else: two work-items that touch a byte of GLOBAL storage, one of them writing, race.
Result<Report> execute(uop::Graph& g, uop::Ref linear, std::span<const Argument> arguments,
                       const Variables& variables, const Launch& launch, const uop::Target& target,
                       const Options& options = {});

}  // namespace assay::workgroup
