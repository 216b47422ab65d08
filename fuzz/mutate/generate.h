#pragma once

#include <string>
#include <vector>

#include "fuzz/programs/program.h"
#include "fuzz/trial/case.h"
#include "oracles/choices.h"

namespace assay::fuzz {

// What the cases of a run may be.
struct CaseOptions {
  ProgramOptions program = {};
  // How many statements (up to those of `program`), how large values are, how many ops are folds,
  // and whether all is floats, is drawn.
  bool is_varied = false;
  std::vector<std::string> devices = {"sim:0", "sim:random", "sim:adversary"};
  std::vector<std::string> profiles = {};  // that devices may be cut down to; mostly none is
};

// The one way by which a case comes about from nothing: for the campaign, for libFuzzer and for
// tests (fuzz/mutate/gen_case.h).
Case make_case(Choices& choices, const CaseOptions& options = {});

// A fold of so many elements that it is made in two steps, which values of other cases are too
// small for.
Case make_large_fold(Choices& choices);

// The types that a program's values have, and that it accumulates in.
uop::TypeSet types_of(const tensor::Program& program);
// A profile that lacks a type of the program, which nothing emulates, is left out; types that the
// device itself lacks are written as others. `device` has the types in which it computes.
void fit_types(Case& c, uop::TypeSet device);

// How kernels are made: by the heuristic, by no opts, or by a legal list that a seed draws.
std::string draw_opts(Choices& choices);

}  // namespace assay::fuzz
