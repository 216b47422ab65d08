// Random programs with random lists of opts: nothing that is verified of them fails. ASSAY_PROGRAMS
// says how many.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "engine/tensor/program/text.h"
#include "fuzz/programs/program.h"
#include "oracles/choices.h"
#include "oracles/workgroup/sim.h"
#include "props/compile.h"

namespace assay::fuzz {
namespace {

// Compiles random programs with random lists of opts under the eyes of these properties.
void verify(const std::vector<const props::Property*>& properties, int count) {
  smt::Prover prover;
  props::Verifier verifier(properties, {prover, workgroup::sim_target()});
  int64_t obligations = 0;
  std::map<std::string, int64_t> unknown;  // by property and cause
  int64_t unknowns = 0;
  for (int seed = 0; seed < count; ++seed) {
    Choices choices(static_cast<uint64_t>(seed));
    ProgramOptions how;
    how.folds = 6;
    const tensor::Program program = make_program(choices, how);
    props::CompileOptions options;
    options.lists.others = runtime::KernelList{{}, static_cast<uint64_t>(seed)};
    const Result<int64_t> kernels = props::compile(program, options, verifier);
    ASSERT_TRUE(kernels.ok()) << to_string(kernels.error()) << "\n" << tensor::to_text(program);
    for (const props::Judgement& j : verifier.take()) {
      ASSERT_NE(j.checked.verdict.answer, props::Answer::Fail)
          << j.property << " of " << j.subject << ": " << j.checked.verdict.evidence << "\n"
          << tensor::to_text(program);
      obligations += j.checked.obligations;
      unknowns += j.checked.unknown;
      for (const auto& [cause, n] : j.checked.by_cause) {
        unknown[std::string(j.property) + ": " + cause] += n;
      }
    }
  }
  std::string causes;
  for (const auto& [cause, n] : unknown) causes += cause + " " + std::to_string(n) + "\n";
  EXPECT_GT(obligations, count);
  EXPECT_LE(static_cast<double>(unknowns), 0.005 * static_cast<double>(obligations)) << causes;
  EXPECT_TRUE(prover.disagreements().empty());
  std::printf("%d programs, %lld obligations, %lld unknown\n%s", count,
              static_cast<long long>(obligations), static_cast<long long>(unknowns),
              causes.c_str());
}

std::vector<const props::Property*> those_that_are_dear(bool is_dear) {
  std::vector<const props::Property*> properties;
  for (const props::Property& p : props::all_properties()) {
    if (p.is_dear == is_dear) properties.push_back(&p);
  }
  return properties;
}

int asked_or(int count) {
  const char* asked = std::getenv("ASSAY_PROGRAMS");
  return asked != nullptr ? std::atoi(asked) : count;
}

TEST(VerifyPrograms, RandomOnesWithRandomListsFailNothing) {
  verify(those_that_are_dear(false), asked_or(150));
}

TEST(VerifyPrograms, NorDoesWhatIsDearerToJudge) {
  verify(those_that_are_dear(true), asked_or(1000) / 200);
}

}  // namespace
}  // namespace assay::fuzz
