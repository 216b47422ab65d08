#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "oracles/interpreter/kernel.h"
#include "oracles/interpreter/lowered_plan.h"

namespace assay::interpreter {

// The lanes that run together: whole groups.
struct LaneBlock {
  int64_t first = 0;
  int64_t count = 0;
};

// The storage of a lowered kernel while it runs. LOCAL storage is one for each group, registers are
// one for each lane; both begin as poison and keep what they hold from one iteration to the next.
//
// An element of GLOBAL storage that one work-item writes is neither written nor read by another,
// and no STORE writes an element twice. Where lanes are ranges yet, a work-item is a value of the
// ranges that the stores stand in; where they are SPECIALs, it is a group: in a group all take part
// in what one of them stores. An element of LOCAL storage is written once by a STORE in each
// iteration.
class LoweredMemory {
 public:
  LoweredMemory(const LoweredAxes& axes, const LoweredPlan& plan,
                std::span<const Argument> arguments);

  // Before the steps of a block; LOCAL storage and registers are poison again.
  void begin(LaneBlock block);

  // Fills `out`, of the step's elements; sources as LoweredStep says.
  Result<bool> read(const LoweredStep& s, const Slot* const* from, const int64_t* sizes,
                    const bool* laned, Slot* out);
  Result<bool> write(int number, const LoweredStep& s, const Slot* const* from,
                     const int64_t* sizes, const bool* laned);

  // Whether some axis of these has no values.
  bool is_dead(uint64_t axes) const;

 private:
  static constexpr int64_t kNobody = -1;
  static constexpr int64_t kMany = -2;
  static constexpr size_t kPage = 1024;  // bytes
  struct Touch {
    int64_t writer = kNobody;
    int64_t reader = kNobody;
    int store = -1;
  };
  // Bytes of arguments that are written.
  struct Region {
    const std::byte* begin;
    const std::byte* end;
    uint64_t axes = 0;
    std::vector<std::vector<Touch>> pages;  // a byte each; empty where nobody was yet

    Touch& at(const std::byte* b);
  };
  struct Cells {
    std::vector<Slot> slots;
    std::vector<int64_t> stamps;  // of the last write to each
  };

  void find_regions();
  const Argument& argument(int storage) const;
  int64_t cell(const LoweredStorage& s, int64_t lane, int64_t offset) const;
  const std::vector<int64_t>& lanes_along(uint64_t axes);
  std::optional<Error> saw_read(const LoweredStep& s, int64_t lane, int64_t offset);
  std::optional<Error> saw_write(int number, const LoweredStep& s, int64_t lane, int64_t offset);
  std::string name(const LoweredStep& s, int64_t offset) const;
  Error outside(const char* does, const LoweredStep& s, int64_t offset, int64_t lane) const;
  template <typename F>
  void touched(const LoweredStep& s, int64_t offset, F f);

  const LoweredAxes& axes_;
  const LoweredPlan& plan_;
  std::span<const Argument> arguments_;
  LaneBlock block_;
  std::vector<Cells> cells_;  // by storage
  std::vector<Region> regions_;
  std::vector<std::vector<int>> regions_of_;  // by storage
  std::vector<std::pair<uint64_t, std::vector<int64_t>>> along_;
  int64_t writes_ = 0;
};

}  // namespace assay::interpreter
