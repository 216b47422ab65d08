#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "oracles/workgroup/shadow.h"
#include "oracles/workgroup/workgroup.h"

namespace assay::workgroup {

// The registers that a strand sees, file by file.
struct Files {
  Slot* base[3];
  int64_t pitch[3];  // from one register to the next
  int64_t step[3];   // from one work-item to the next

  interpreter::Operand at(Register r) const {
    const auto f = static_cast<size_t>(r.file);
    return {base[f] + r.number * pitch[f], step[f]};
  }
  Slot* out(Register r) const {
    const auto f = static_cast<size_t>(r.file);
    return base[f] + r.number * pitch[f];
  }
};

// Lanes that execute an instruction together: `count` of them from `first` on, those that `mask`
// (by lane of the batch) has, or all where it is null.
struct Lanes {
  int first;
  int count;
  const uint8_t* mask;
  uint64_t iterations;   // packed
  uint32_t instruction;  // from 1
};

// A batch of groups that run side by side: a lane is a work-item of one of them.
struct Batch {
  int groups;                    // there is room for
  int group_size;                // work-items
  int live = 0;                  // groups that there are
  std::vector<uint32_t> items;   // of each lane, counted through the launch
  std::vector<uint32_t> epochs;  // of each group: one more with each barrier it passes

  int lanes() const { return groups * group_size; }
};

// The storage of a launch: what LOADs and STOREs do, and what is wrong with them.
class Memory {
 public:
  Memory(const Program& program, const Options& options, const Batch& batch, Findings& findings);

  // An error names the argument that does not fit its PARAM.
  Result<bool> bind(std::span<const Argument> arguments);
  // Says in the arguments which bytes were written.
  void give_known(std::span<const Argument> arguments);
  // LOCAL and register storage as it is before anyone wrote it.
  void begin();
  void load(const Access& access, const Lanes& lanes, const Files& files);
  void store(const Access& access, const Lanes& lanes, const Files& files);
  int64_t unwatched_bytes() const { return unwatched_bytes_; }

 private:
  // Bytes that PARAMs share, or those of a LOCAL buffer for all groups of the batch, in cells of
  // `granule` bytes.
  struct Region {
    std::byte* begin = nullptr;
    std::byte* end = nullptr;
    int64_t granule = 8;
    bool is_written = false;
    Shadow shadow;               // empty where nobody looks, as is
    std::vector<uint8_t> known;  // whether a cell was written
  };
  struct Place {
    const Storage* storage = nullptr;
    std::byte* bytes = nullptr;    // not of registers
    int64_t per_group = 0;         // elements from one group's to the next, of LOCAL
    int region = -1;               // not of registers
    int64_t first_cell = 0;        // of the region
    int64_t cells_each = 1;        // of an element
    std::vector<std::byte> local;  // of LOCAL
    std::vector<Slot> cells;       // of registers, by element and lane, as is
    std::vector<uint8_t> known;    // whether one was written
  };

  void make_registers(Place& place);
  void make_local(Place& place);
  Result<bool> bind_argument(Place& place, std::span<const Argument> arguments);
  void share_regions();
  void watch(Region& region);
  template <typename F>
  void each_known(const Place& place, const Argument& argument, F f);
  void take_known(const Place& place, const Argument& argument);
  const uint8_t* active(const Access& access, const Lanes& lanes, const Files& files);
  void locate(const Access& access, const Lanes& lanes, const Files& files);
  void check_alignment(const Access& access, const Lanes& lanes);
  template <typename F>
  void each_cell(const Place& place, const Access& access, const Lanes& lanes, F f);
  template <bool writes>
  void check(Place& place, const Access& access, const Lanes& lanes);
  template <bool writes>
  void check_registers(Place& place, const Access& access, const Lanes& lanes);
  template <bool writes>
  void check_races(Place& place, const Access& access, const Lanes& lanes);
  void report(Fault fault, const Access& access, const Lanes& lanes, int lane, int64_t element,
              const Touch& first = {});
  int group_of(int lane) const { return groups_[static_cast<size_t>(lane)]; }
  // An element of the region as the group of the lane counts it.
  int64_t own(const Place& place, int lane, int64_t element) const {
    return element - group_of(lane) * place.per_group;
  }

  const Options& options_;
  const Batch& batch_;
  Findings& findings_;
  std::vector<Place> places_;  // by storage
  std::vector<Region> regions_;
  std::vector<int> groups_;     // by lane: a division each time would take longest of all
  std::vector<uint8_t> on_;     // by lane, as is
  std::vector<int64_t> where_;  // the element that it touches, or kOff, kOut
  int64_t unwatched_bytes_ = 0;
};

}  // namespace assay::workgroup
