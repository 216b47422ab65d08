#pragma once

#include <string>
#include <vector>

#include "fuzz/case.h"
#include "fuzz/program.h"
#include "oracles/choices.h"

namespace assay::fuzz {

// What the cases of a run may be.
struct CaseOptions {
  ProgramOptions program = {};
  std::vector<std::string> devices = {"sim:0", "sim:random", "sim:adversary"};
  std::vector<std::string> profiles = {};  // that devices may be cut down to; mostly none is
};

// The one way by which a case comes about from nothing: for the campaign, for libFuzzer and for
// tests (fuzz/gen_case.h).
Case make_case(Choices& choices, const CaseOptions& options = {});

// How kernels are made: by the heuristic, by no opts, or by a legal list that a seed draws.
std::string draw_opts(Choices& choices);

}  // namespace assay::fuzz
