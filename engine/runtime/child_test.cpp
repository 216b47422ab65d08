#include "engine/runtime/child.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <utility>

namespace assay::runtime {
namespace {

constexpr int64_t kWork = 50'000'000;

// Looks until the child has taken so much, or for so long.
bool comes_to(const Child& child, int64_t ns) {
  for (int i = 0; i < 2000; i++) {
    const std::optional<int64_t> taken = child.processor_ns();
    if (!taken) return false;
    if (*taken >= ns) return true;
    usleep(10'000);
  }
  return false;
}

TEST(Child, CountsTheTimeThatItTakes) {
  const Result<Child> busy = Child::start({"sh", "-c", "while :; do :; done"});
  ASSERT_TRUE(busy.ok());
  EXPECT_TRUE(comes_to(busy.value(), kWork));
}

TEST(Child, CountsTheTimeOfWhatItStarted) {
  const Result<Child> asleep = Child::start({"sh", "-c", "(while :; do :; done) & wait"}, true);
  ASSERT_TRUE(asleep.ok());
  EXPECT_TRUE(comes_to(asleep.value(), kWork));
}

TEST(Child, CountsNoTimeThatItSleeps) {
  const Result<Child> asleep = Child::start({"sleep", "60"}, true);
  ASSERT_TRUE(asleep.ok());
  usleep(300'000);
  const std::optional<int64_t> taken = asleep.value().processor_ns();
  ASSERT_TRUE(taken);
  EXPECT_LT(*taken, 200'000'000);
}

TEST(Child, HasNoTimeWhereItIsGone) {
  Result<Child> started = Child::start({"true"});
  ASSERT_TRUE(started.ok());
  Child child = std::move(started).value();
  child.stop();
  EXPECT_FALSE(child.processor_ns());
}

}  // namespace
}  // namespace assay::runtime
