// Random programs: what the engine makes of each keeps every property of schedules and of memory.
#include "props/schedule/schedule_props.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "engine/schedule/schedule.h"
#include "engine/tensor/builder.h"
#include "engine/tensor/program/text.h"
#include "fuzz/programs/program.h"
#include "oracles/choices.h"

namespace assay::fuzz {
namespace {

#ifdef ASSAY_CHECK_SPECS
constexpr uint64_t kJudgedPrograms = 100;
#else
constexpr uint64_t kJudgedPrograms = 1000;
#endif

class ScheduleJudging : public uop::Watch {
 public:
  using Watch::seen;
  void seen(const schedule::ScheduleSeen& seen) override { judge(schedule_order, seen); }
  void seen(const schedule::CacheSeen& seen) override { judge(schedule_cache, seen); }
  void seen(const schedule::PlanSeen& seen) override {
    judge(linear_order, seen);
    judge(plan_order, seen);
    judge(plan_layout, seen);
  }

  std::string trouble;
  int64_t obligations = 0;

 private:
  template <typename Seen>
  void judge(props::Check<Seen> check, const Seen& seen) {
    props::Context context{prover_, uop::generic_target()};
    const props::Checked checked = check(seen, context);
    obligations += checked.obligations;
    if (checked.verdict.answer == props::Answer::Pass && checked.unknown == 0) return;
    if (trouble.empty()) trouble = checked.shape + ": " + checked.verdict.evidence;
  }

  static constexpr auto schedule_order = props::schedule_order;
  static constexpr auto schedule_cache = props::schedule_cache;
  static constexpr auto linear_order = props::linear_order;
  static constexpr auto plan_order = props::plan_order;
  static constexpr auto plan_layout = props::plan_layout;

  smt::Prover prover_;
};

TEST(RandomSchedules, KeepEveryProperty) {
  schedule::Cache cache;
  ScheduleJudging watch;
  schedule::Options options;
  options.watch = &watch;
  options.cache = &cache;
  for (uint64_t seed = 0; seed < kJudgedPrograms; ++seed) {
    Choices choices(seed);
    ProgramOptions how;
    how.statements = 1 + static_cast<int>(seed % 40);
    const tensor::Program program = make_program(choices, how);
    tensor::Session session;
    tensor::Builder builder(session, program);
    const Result<bool> done =
        builder.run([&](std::span<const tensor::Tensor* const> tensors) -> Result<bool> {
          const auto made = schedule::linear_with_vars(session, tensors, options);
          if (!made.ok()) return made.error();
          return true;
        });
    EXPECT_TRUE(done.ok()) << seed;
    ASSERT_EQ(watch.trouble, "") << "seed " << seed << "\n" << tensor::to_text(program);
  }
  EXPECT_GT(watch.obligations, 1000);
}

}  // namespace
}  // namespace assay::fuzz
