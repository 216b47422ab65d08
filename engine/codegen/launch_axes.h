#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/result.h"
#include "engine/uop/uop.h"

namespace assay::codegen {

struct AxisNames {
  std::string_view what;  // "work-items", for messages
  std::array<std::string_view, 3> axes;
};

// The axes of a launch of which there are at most three, as SPECIALs.
struct LaunchAxes {
  std::vector<uop::Ref> terms;  // what each loop that became part of the launch is
  // Where a position of the launch stands for an iteration; others do that of the last once more,
  // and must not store. Null where all positions do.
  uop::Ref inside = nullptr;
  std::array<uop::Int128, 3> sizes = {1, 1, 1};  // at most
};

// Loops of these sizes, outermost first, as axes of a launch: the last loop varies fastest
// along axis 0. Each size is at most `limits`: more than three loops are grouped, and what is past
// a limit is split, by the factors of its size where they allow it, else with some positions to
// spare. An error says how many there are and what there is room for.
Result<LaunchAxes> launch_axes(uop::Graph& g, const AxisNames& names,
                               std::span<const uop::Ref> sizes,
                               const std::array<int64_t, 3>& limits);

}  // namespace assay::codegen
