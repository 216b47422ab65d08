#pragma once

#include <string>
#include <vector>

#include "props/schedule/plan_layout.h"

namespace assay::props {

// What a MemoryPlan says that its layout does not bear out: places, lives, sizes of arenas, the
// peak and its lower bound, each worked out anew.
std::vector<std::string> wrong_reports(const PlanLayout& layout, const schedule::MemoryPlan& plan);

}  // namespace assay::props
