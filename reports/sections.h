#pragma once

#include <string>

#include "reports/summary.h"

namespace assay::reports {

// The parts of the page (html.h), each with its heading.
std::string findings_section(const Summary& summary);
std::string coverage_section(const Summary& summary);
std::string targets_section(const Summary& summary);
std::string proofs_section(const Summary& summary);
std::string faults_section(const Summary& summary);
std::string time_section(const Summary& summary);

}  // namespace assay::reports
