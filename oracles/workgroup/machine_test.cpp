#include <gtest/gtest.h>

#include <algorithm>

#include "oracles/workgroup/test_launch.h"

namespace assay::workgroup {
namespace {

using Ints = std::vector<int32_t>;

// Two loops that meet in LOCAL storage without a barrier between iterations.
constexpr std::string_view kNoSecondBarrier = R"(uop 1 linear
%n = const i32 4
%p = param i32 %n {0}
%b = buffer i32 %n {0 local}
%c = const i32 2
%l = special i32 %n {"lidx0"}
%g = special i32 %c {"gidx0"}
%o = range i32 %c {0 loop}
%q = range i32 %c {1 loop}
%a = after i32 %b %o %q
%at = index i32 %a %l
%w = store void %at %l
%bar = barrier void %w
%three = const i32 3
%m = sub i32 %three %l
%d = after i32 %b %bar
%from = index i32 %d %m
%r = load i32 %from
%zero = const i32 0
%first = eq bool %g %zero
%to = index i32 %p %l
%s = store void %to %r %first
%e = end void %s %q
%f = end void %e %o
%k = linear void %n %p %b %c %l %g %o %q %a %at %w %bar %three %m %d %from %r %zero %first %to %s %e %f {"k"}
)";

TEST(Machine, NamesBothAccessesOfARace) {
  TestLaunch launch(kNoSecondBarrier);
  launch.add<int32_t>(Ints(4));
  launch.launch = {{2, 1, 1}, {4, 1, 1}};
  EXPECT_EQ(
      launch.findings(),
      "race at local 0[0] of 4: %16 = load by item (3, 0, 0) of group (0, 0, 0) in iteration "
      "[0 0] and %10 = store by item (0, 0, 0) of group (0, 0, 0) in iteration [0 1], with no "
      "barrier between them (24 times)\n");
  EXPECT_EQ(launch.get<int32_t>(0), (Ints{3, 2, 1, 0}));
}

// out[0] = i at every work-item.
constexpr std::string_view kSameElement = R"(uop 1 linear
%n = const i32 3
%one = const i32 1
%zero = const i32 0
%p = param i32 %one {0}
%g = special i32 %n {"gidx1"}
%at = index i32 %p %zero
%s = store void %at %g
%k = linear void %n %one %zero %p %g %at %s {"k"}
)";

TEST(Machine, FindsRacesBetweenGroups) {
  TestLaunch launch(kSameElement);
  launch.add<int32_t>({7});
  launch.launch = {{1, 3, 1}, {1, 1, 1}};
  EXPECT_EQ(launch.findings(),
            "race at global 0[0] of 1: %6 = store by item (0, 0, 0) of group (0, 0, 0) and %6 = "
            "store by item (0, 0, 0) of group (0, 1, 0), with nothing between them (2 times)\n");
}

TEST(Machine, RunsGroupsInTheOrderThatIsAskedFor) {
  TestLaunch launch(kSameElement);
  launch.add<int32_t>({7});
  launch.launch = {{1, 3, 1}, {1, 1, 1}};
  launch.options.is_checked = false;
  EXPECT_EQ(launch.findings(), "");
  EXPECT_EQ(launch.get<int32_t>(0), Ints{2});
  launch.options.schedule.groups = Order::Falling;
  EXPECT_EQ(launch.findings(), "");
  EXPECT_EQ(launch.get<int32_t>(0), Ints{0});
}

// A work-item leaves its number where the next one finds it: what is read shows the order.
constexpr std::string_view kChain = R"(uop 1 linear
%n = const i32 4
%one = const i32 1
%p = param i32 %n {0}
%q = param i32 %one {1}
%l = special i32 %n {"lidx0"}
%zero = const i32 0
%cell = index i32 %q %zero
%r = load i32 %cell
%w = store void %cell %l
%to = index i32 %p %l
%s = store void %to %r
%k = linear void %n %one %p %q %l %zero %cell %r %w %to %s {"k"}
)";

TEST(Machine, RunsWorkItemsInTheOrderThatIsAskedFor) {
  const auto seen = [](Schedule schedule) {
    TestLaunch launch(kChain);
    launch.add<int32_t>(Ints(4));
    launch.add<int32_t>({9});
    launch.launch.items[0] = 4;
    launch.options.is_checked = false;
    launch.options.schedule = schedule;
    EXPECT_EQ(launch.findings(), "");
    return launch.get<int32_t>(0);
  };
  Schedule schedule;
  EXPECT_EQ(seen(schedule), (Ints{9, 9, 9, 9}));
  schedule.width = 1;
  EXPECT_EQ(seen(schedule), (Ints{9, 0, 1, 2}));
  schedule.items = Order::Falling;
  EXPECT_EQ(seen(schedule), (Ints{1, 2, 3, 9}));
  schedule.width = 2;
  EXPECT_EQ(seen(schedule), (Ints{2, 2, 9, 9}));
}

TEST(Machine, RandomOrdersFollowTheSeed) {
  std::vector<Ints> seen;
  for (uint64_t seed = 0; seed < 20; seed++) {
    for (int again = 0; again < 2; again++) {
      TestLaunch launch(kChain);
      launch.add<int32_t>(Ints(4));
      launch.add<int32_t>({9});
      launch.launch.items[0] = 4;
      launch.options.is_checked = false;
      launch.options.schedule = {"", Order::Random, Order::Random, 1, 3, seed};
      EXPECT_EQ(launch.findings(), "");
      seen.push_back(launch.get<int32_t>(0));
    }
    EXPECT_EQ(seen[seen.size() - 1], seen[seen.size() - 2]);
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_GT(std::unique(seen.begin(), seen.end()) - seen.begin(), 5);
}

TEST(Machine, SaysWhoDoesNotReachABarrier) {
  TestLaunch launch(R"(uop 1 linear
%n = const i32 4
%l = special i32 %n {"lidx0"}
%q = range i32 %l {0 loop}
%b = barrier void %q
%e = end void %b %q
%k = linear void %n %l %q %b %e {"k"}
)");
  launch.launch.items[0] = 4;
  EXPECT_EQ(launch.findings(),
            "divergence: %3 = barrier by item (1, 0, 0) of group (0, 0, 0) in iteration [0] is not "
            "reached by item (0, 0, 0) of group (0, 0, 0) (3 times)\n");
}

TEST(Machine, StopsAtTheEndOfItsBudget) {
  TestLaunch launch(kChain);
  launch.add<int32_t>(Ints(4));
  launch.add<int32_t>({9});
  launch.launch.items[0] = 4;
  launch.options.budget = 9;
  const auto report = launch.run();
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(report.value().is_stopped);
  launch.options.budget = 10000;
  EXPECT_FALSE(launch.run().value().is_stopped);
}

TEST(Machine, CountsWhatItExecuted) {
  TestLaunch launch(kNoSecondBarrier);
  launch.add<int32_t>(Ints(4));
  launch.launch = {{2, 1, 1}, {4, 1, 1}};
  const auto report = launch.run();
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report.value().barriers, 2 * 4);
  EXPECT_EQ(report.value().dropped, 0);
  EXPECT_EQ(report.value().unwatched_bytes, 0);
}

struct Wrong {
  std::string_view name;
  std::string_view text;
  std::string_view error;
};

class Refuses : public testing::TestWithParam<Wrong> {};

TEST_P(Refuses, WhatIsNoLinear) {
  TestLaunch launch(GetParam().text);
  launch.add<int32_t>(Ints(4));
  launch.launch.items[0] = 4;
  EXPECT_EQ(launch.findings(), GetParam().error);
}

constexpr Wrong kWrong[] = {
    {"LoopWithoutEnd", R"(uop 1 linear
%n = const i32 4
%q = range i32 %n {0 loop}
%k = linear void %n %q {"k"}
)",
     "%1 = range: has no end"},
    {"EndOfAnotherLoop", R"(uop 1 linear
%n = const i32 4
%q = range i32 %n {0 loop}
%r = range i32 %n {1 loop}
%b = barrier void %q
%e = end void %b %q
%f = end void %e %r
%k = linear void %n %q %r %b %e %f {"k"}
)",
     "%4 = end: does not end the innermost loop"},
    {"UseAfterTheLoop", R"(uop 1 linear
%n = const i32 4
%p = param i32 %n {0}
%q = range i32 %n {0 loop}
%x = add i32 %q %n
%e = end i32 %x %q
%at = index i32 %p %n
%s = store void %at %x
%k = linear void %n %p %q %x %e %at %s {"k"}
)",
     "%6 = store: uses what was computed in a loop or a branch that has ended"},
    {"WrongOrder", R"(uop 1 linear
%n = const i32 4
%x = add i32 %n %n
%y = add i32 %x %n
%k = linear void %n %y %x {"k"}
)",
     "%1 stands after its user or twice"},
    {"NoArgument", R"(uop 1 linear
%n = const i32 4
%p = param i32 %n {1}
%k = linear void %n %p {"k"}
)",
     "param 1 has no argument"},
    {"SmallArgument", R"(uop 1 linear
%n = const i32 5
%p = param i32 %n {0}
%k = linear void %n %p {"k"}
)",
     "argument 0 has 16 bytes when its param wants 20"},
    {"OtherLaunch", R"(uop 1 linear
%n = const i32 5
%l = special i32 %n {"lidx0"}
%k = linear void %n %l {"k"}
)",
     "%1 = special: lidx0 counts 5 when the launch has 4"},
    {"UnknownVariable", R"(uop 1 linear
%v = var i32 {"v" 0 9}
%k = linear void %v {"k"}
)",
     "%0 = var: variable 'v' has no value"},
    {"Reduce", R"(uop 1 linear
%n = const i32 4
%q = range i32 %n {0 reduce}
%r = reduce i32 %q %q {add 0}
%e = end i32 %r %q
%k = linear void %n %q %r %e {"k"}
)",
     "%2 = reduce: does not belong into a LINEAR"},
};
INSTANTIATE_TEST_SUITE_P(Machine, Refuses, testing::ValuesIn(kWrong),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(Machine, RefusesLocalStorageWithoutAMemoryContract) {
  TestLaunch launch(kNoSecondBarrier);
  launch.add<int32_t>(Ints(4));
  launch.launch = {{2, 1, 1}, {4, 1, 1}};
  launch.target.memory = std::nullopt;
  EXPECT_EQ(launch.findings(), "%2 = buffer: generic has no memory contract");
}

// Elements that nobody wrote, and which are written.
TEST(Machine, SaysWhichBytesWereWritten) {
  TestLaunch launch(kSameElement);
  std::vector<std::byte> bytes(8);
  std::vector<uint8_t> known(8);
  const Argument argument = {bytes, known};
  launch.launch = {{1, 3, 1}, {1, 1, 1}};
  const auto report = execute(launch.graph, launch.linear, {&argument, 1}, {}, launch.launch,
                              launch.target, launch.options);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(known, (std::vector<uint8_t>{1, 1, 1, 1, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace assay::workgroup
