#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "engine/result.h"
#include "engine/uop/uop.h"

namespace assay::codegen {

// How many work-groups there are along each axis, and how many work-items each group has.
struct Launch {
  std::array<int64_t, 3> groups = {1, 1, 1};
  std::array<int64_t, 3> items = {1, 1, 1};

  int64_t group_count() const { return groups[0] * groups[1] * groups[2]; }
  int64_t group_size() const { return items[0] * items[1] * items[2]; }
  int64_t work_items() const { return group_count() * group_size(); }
  bool operator==(const Launch&) const = default;
};

// An axis of a launch.
struct LaunchAxis {
  bool of_groups;
  size_t axis;
};
// The axis that a SPECIAL of this name is a position along: "gidx0" to "gidx2", "lidx0" to "lidx2";
// nothing where it is none.
std::optional<LaunchAxis> launch_axis(std::string_view name);

// The launch that a kernel's SPECIALs ask for, in any form from placed to LINEAR, with these values
// of its variables. A size may be 0: nothing runs. An error names a variable that has no value, or
// the axis whose size is none.
Result<Launch> launch_sizes(uop::Graph& g, uop::Ref kernel,
                            std::span<const std::pair<std::string, int64_t>> variables = {});

}  // namespace assay::codegen
