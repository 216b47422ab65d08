// Random programs through every stage: what the engine makes of them agrees with the reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "engine/tensor/program/text.h"
#include "fuzz/programs/program.h"
#include "oracles/check.h"
#include "oracles/choices.h"
#include "oracles/median.h"

namespace assay::fuzz {
namespace {

#ifdef ASSAY_CHECK_SPECS
constexpr uint64_t kBlockPrograms = 20;  // a block, where nothing is optimized
#else
constexpr uint64_t kBlockPrograms = 1000;
#endif
constexpr uint64_t kBlocks = 10;

struct Totals {
  int64_t elements = 0;
  int64_t unspecified = 0;
  int64_t ambiguous = 0;
  int64_t masked = 0;  // programs
  int64_t programs = 0;
  int64_t planned = 0;
  int64_t lower_bound = 0;
  double worst_plan = 0;
  std::vector<double> sharpness;

  void add(const oracles::Checked& checked) {
    bool is_masked = !checked.judged.empty();
    for (const oracles::Judged& j : checked.judged) {
      const oracles::Comparison& c = j.comparison;
      elements += c.elements();
      unspecified += c.unspecified;
      ambiguous += c.ambiguous;
      is_masked = is_masked && c.is_masked();
      sharpness.insert(sharpness.end(), c.sharpness.begin(), c.sharpness.end());
    }
    masked += is_masked ? 1 : 0;
    planned += checked.planned_bytes;
    lower_bound += checked.lower_bound_bytes;
    if (checked.lower_bound_bytes != 0) {
      worst_plan = std::max(worst_plan, static_cast<double>(checked.planned_bytes) /
                                            static_cast<double>(checked.lower_bound_bytes));
    }
    ++programs;
  }
};

void check_one(uint64_t seed, const ProgramOptions& how, schedule::Cache& cache, Totals& totals) {
  Choices choices(seed);
  const tensor::Program made = make_program(choices, how);
  const std::string text = tensor::to_text(made);
  const Result<tensor::Program> program = tensor::from_text(text);
  ASSERT_TRUE(program.ok()) << to_string(program.error()) << "\n" << text;
  oracles::CheckOptions options;
  options.seed = seed;
  options.schedule.cache = &cache;
  const oracles::Checked checked = oracles::check(program.value(), options);
  ASSERT_EQ(checked.verdict.answer, oracles::Answer::Pass)
      << "seed " << seed << ": " << checked.verdict.evidence << "\n"
      << text;
  totals.add(checked);
}

class RandomPrograms : public testing::TestWithParam<uint64_t> {};

TEST_P(RandomPrograms, AgreeWithTheReferenceAtEveryStage) {
  Totals totals;
  schedule::Cache cache;
  for (uint64_t k = 0; k < kBlockPrograms; ++k) {
    const uint64_t seed = GetParam() * kBlockPrograms + k;
    ProgramOptions how;
    how.statements = 1 + static_cast<int>(seed % 30);
    check_one(seed, how, cache, totals);
    if (HasFatalFailure()) return;
  }
  std::printf(
      "%lld elements, %.2f %% unspecified, %.2f %% ambiguous\n",
      static_cast<long long>(totals.elements),
      100.0 * static_cast<double>(totals.unspecified) / static_cast<double>(totals.elements),
      100.0 * static_cast<double>(totals.ambiguous) / static_cast<double>(totals.elements));
  // What is masked is not judged.
  EXPECT_LE(totals.unspecified * 50, totals.elements);
  EXPECT_LE(totals.ambiguous * 50, totals.elements);
  EXPECT_LE(totals.masked * 100, totals.programs);
  EXPECT_LE(static_cast<double>(totals.planned), 1.10 * static_cast<double>(totals.lower_bound));
  EXPECT_LE(totals.worst_plan, 1.5);
}

INSTANTIATE_TEST_SUITE_P(Blocks, RandomPrograms, testing::Range(uint64_t{0}, kBlocks));

TEST(RandomFloats, LieInsideBoundsThatAreTight) {
  Totals totals;
  schedule::Cache cache;
  for (uint64_t seed = 0; seed < kBlockPrograms; ++seed) {
    ProgramOptions how;
    how.only_floats = true;
    how.statements = 1 + static_cast<int>(seed % 10);
    check_one(1'000'000 + seed, how, cache, totals);
    if (HasFatalFailure()) return;
  }
  const double median = oracles::median(totals.sharpness);
  std::printf("bound / max(error, half an ulp): median %.2f of %zu\n", median,
              totals.sharpness.size());
  EXPECT_GT(median, 0.0);
  EXPECT_LT(median, 100.0);
}

}  // namespace
}  // namespace assay::fuzz
