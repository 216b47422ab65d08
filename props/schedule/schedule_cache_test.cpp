// Schedules from a cache against schedules made afresh.
#include <gtest/gtest.h>

#include "engine/uop/walk.h"
#include "props/schedule/program_schedules.h"
#include "props/schedule/schedule_props.h"

namespace assay::props {
namespace {

class CacheWatch : public uop::Watch {
 public:
  using Watch::seen;
  void seen(const schedule::CacheSeen& seen) override {
    Context context{prover_, seen.target};
    const Checked c = schedule_cache(seen, context);
    EXPECT_EQ(c.unknown, 0) << c.verdict.evidence;
    hits += seen.lookup == schedule::Lookup::Hit ? 1 : 0;
    passed += c.obligations > 0 && c.verdict.answer == Answer::Pass ? 1 : 0;
    if (c.verdict.answer == Answer::Fail) failures.push_back(c.shape + ": " + c.verdict.evidence);
    // Instead of what was kept, another schedule from the next look-up on.
    if (spoiled == nullptr) return;
    const schedule::Cache::Key key = {uop::Key(), uop::digest(seen.target), seen.switches.digest()};
    static_cast<void>(key);
  }

  int hits = 0;
  int passed = 0;
  std::vector<std::string> failures;
  schedule::Cache* spoiled = nullptr;

 private:
  smt::Prover prover_;
};

tensor::Program program_of(std::string_view text) {
  Result<tensor::Program> program = tensor::from_text(text);
  EXPECT_TRUE(program.ok()) << to_string(program.error());
  return std::move(program).value();
}

TEST(ScheduleCache, OfSavedPrograms) {
  schedule::Cache cache;
  CacheWatch watch;
  schedule::Options options;
  options.cache = &cache;
  options.watch = &watch;
  for (const std::string folder : {"regress", "ops", "models", "seeds/program"}) {
    for (const std::string& file : corpus_files(folder)) {
      SCOPED_TRACE(file);
      const tensor::Program program = read_program(file);
      for (int turn = 0; turn < 2; turn++) schedule_program(program, options);
    }
  }
  EXPECT_GT(watch.hits, 400);
  EXPECT_EQ(watch.passed, watch.hits);
}

}  // namespace
}  // namespace assay::props
