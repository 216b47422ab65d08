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
    if (spoiled != nullptr && seen.linear != nullptr) spoil(seen);
  }

  // Puts a LINEAR whose kernels multiply where they should add into the place of what was served.
  void spoil(const schedule::CacheSeen& seen) {
    uop::Substitution map;
    for (const uop::Ref u : uop::toposort(seen.graph, seen.linear)) {
      if (u->op != uop::Op::Add || u->dtype != uop::F32) continue;
      map[u] = seen.graph.make(uop::Op::Mul, u->dtype, u->src);
    }
    ASSERT_FALSE(map.empty());
    const schedule::Cache::Key key = {seen.key, uop::digest(seen.target), seen.switches.digest()};
    spoiled->keep(seen.graph, uop::renumber(seen.graph, seen.sink), key,
                  uop::substitute(seen.graph, seen.linear, map));
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

constexpr std::string_view kSum = R"(tp 1
x: f32[8] = input(start=0, step=1)
y: f32[8] = input(start=3, step=2)
s: f32[8] = add(x, y)
t: f32[8] = mul(s, s)
force t
)";

TEST(ScheduleCache, AStaleEntryIsFound) {
  schedule::Cache cache;
  CacheWatch watch;
  schedule::Options options;
  options.cache = &cache;
  options.watch = &watch;
  const tensor::Program program = program_of(kSum);
  schedule_program(program, options);
  watch.spoiled = &cache;
  schedule_program(program, options);
  watch.spoiled = nullptr;
  EXPECT_EQ(watch.passed, 1);
  EXPECT_TRUE(watch.failures.empty());
  schedule_program(program, options);
  ASSERT_EQ(watch.failures.size(), 1U);
  EXPECT_TRUE(watch.failures[0].starts_with("stale: the LINEAR that is served differs"));
  EXPECT_NE(watch.failures[0].find("is right"), std::string::npos) << watch.failures[0];
}

// A variable has another value, or there is another value in its place.
TEST(ScheduleCache, AnotherBindingBetween) {
  schedule::Cache cache;
  CacheWatch watch;
  schedule::Options options{.watch = &watch, .cache = &cache};
  const tensor::Program program = program_of(R"(tp 1
var n in 1..8 = 3
x: f32[8] = input(start=0, step=1)
v: f32[n] = slice(x, at=[0:n])
s: f32[] = sum(v)
force s
bind n = 5
w: f32[n] = slice(x, at=[0:n])
t: f32[] = sum(w)
force t
)");
  for (int turn = 0; turn < 2; turn++) schedule_program(program, options);
  EXPECT_EQ(watch.failures, std::vector<std::string>());
  EXPECT_GT(watch.hits, 1);
  EXPECT_EQ(watch.passed, watch.hits);
}

// What a schedule is made from changes between two look-ups, and no hit is wrong.
TEST(ScheduleCache, AnotherProgramOrTargetBetween) {
  schedule::Cache cache;
  CacheWatch watch;
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"[8]", "[9]"}, {"f32", "i32"}, {"add(", "sub("}, {"force t", "force t, s"}};
  std::vector<tensor::Program> programs = {program_of(kSum)};
  for (const auto& [from, to] : changes) {
    std::string text(kSum);
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
    programs.push_back(program_of(text));
  }
  uop::Target narrow = uop::generic_target();
  narrow.limits.buffers = 2;
  for (int turn = 0; turn < 2; turn++) {
    for (const tensor::Program& program : programs) {
      for (const uop::Target& target : {uop::generic_target(), narrow}) {
        for (const std::string_view device : {"sim:0", "sim:1"}) {
          schedule::Options options{.target = target, .watch = &watch, .cache = &cache};
          schedule_program(program, options, device);
        }
      }
    }
  }
  EXPECT_EQ(watch.failures, std::vector<std::string>());
  EXPECT_EQ(watch.hits, 20);
  EXPECT_EQ(watch.passed, 20);
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
