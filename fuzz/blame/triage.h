#pragma once

#include <compare>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "fuzz/blame/bisect.h"
#include "fuzz/trial/trial.h"

namespace assay::fuzz {

// What is taken for one cause: who judged, where it is to blame, the shape of the witness. A rule
// that a firing refutes is a cause of its own, whoever found it and in which pass.
struct Cause {
  std::string judge;
  std::string pass;  // or the stage that is no pass
  std::string rule;
  std::string shape;
  auto operator<=>(const Cause&) const = default;
};
Cause cause_of(const Finding& finding, const Blame& blame);
std::string to_text(const Cause& cause);

// A finding of a campaign, and where it goes wrong.
struct Report {
  Case witness;
  Finding finding;
  Blame blame;
};

// Reports of one cause, by their places; the first is the one with the shortest program.
struct Group {
  Cause cause;
  std::vector<size_t> reports;
};
// By cause, each report in one group.
std::vector<Group> triage(std::span<const Report> reports);

}  // namespace assay::fuzz
