#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/blame/investigate.h"
#include "fuzz/campaign/journal.h"
#include "reports/record.h"

namespace assay::fuzz {

// The folder of a finding:
//
//   original.tp     the case as it was found (.uop where it is a graph)
//   smallest.tp     the smallest that fails for the same reason
//   finding.json    the verdict with its evidence, of the case as it was found
//   blame.json      the smallest case, its verdict, and whom to blame
//   record.json     the line of the records
//   environment.json  engine, solver, devices, machine
//   reproduce.sh    shows it again
//
// and the files that the judge made: kernels, questions, orders.
std::vector<Journal::File> finding_files(const Case& original, const Finding& finding,
                                         const Investigated& found,
                                         const reports::FindingRecord& record,
                                         const reports::Begin& environment);
// The name of the file that holds the smallest case, and that of one that was kept.
std::string smallest_file(const Case& smallest);
std::string kept_file(int64_t number);

}  // namespace assay::fuzz
