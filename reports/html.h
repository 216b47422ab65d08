#pragma once

#include <string>

#include "reports/summary.h"

namespace assay::reports {

// One page that needs nothing beside itself: summary, findings with their programs, coverage,
// proofs, faults. The same summary gives the same bytes.
std::string to_html(const Summary& summary);

}  // namespace assay::reports
