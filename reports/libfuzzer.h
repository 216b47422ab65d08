#pragma once

#include <string_view>

#include "reports/record.h"

namespace assay::reports {

// What libFuzzer printed of a target, as a record: of a run with or without -fork, and of a
// -merge=1 after it. What its text does not say stays zero.
TargetRecord target_from_log(std::string_view name, std::string_view log);

}  // namespace assay::reports
