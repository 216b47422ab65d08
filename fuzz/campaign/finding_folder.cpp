#include "fuzz/campaign/finding_folder.h"

#include <fmt/format.h>

#include "fuzz/trial/outcome_text.h"

namespace assay::fuzz {
namespace {

std::string ending(const Case& c) { return c.is_program() ? "tp" : "uop"; }

// `assay` is searched for as usual; $ASSAY names another.
std::string script_of(const std::string& command) {
  const size_t space = command.find(' ');
  return fmt::format("#!/bin/sh\ncd \"$(dirname \"$0\")\" && exec \"${{ASSAY:-{}}}\"{}\n",
                     command.substr(0, space), command.substr(space));
}

}  // namespace

std::string smallest_file(const Case& smallest) {
  return fmt::format("smallest.{}", ending(smallest));
}

std::string kept_file(int64_t number) { return fmt::format("corpus/{:08}.tp", number); }

std::vector<Journal::File> finding_files(const Case& original, const Finding& finding,
                                         const Investigated& found,
                                         const reports::FindingRecord& record,
                                         const reports::Begin& environment) {
  std::vector<Journal::File> files = {{"original." + ending(original), to_text(original)},
                                      {smallest_file(found.smallest), to_text(found.smallest)},
                                      {"finding.json", to_text(finding) + "\n"},
                                      {"blame.json", to_text(found) + "\n"},
                                      {"record.json", reports::to_line(record)},
                                      {"environment.json", reports::to_line(environment)},
                                      {"reproduce.sh", script_of(record.command), true}};
  for (const props::Evidence& e : found.finding.files) files.push_back({e.suffix, e.text});
  return files;
}

}  // namespace assay::fuzz
