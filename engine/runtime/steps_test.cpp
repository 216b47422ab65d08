#include "engine/runtime/steps.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/runtime/sample_linear.h"

namespace assay::runtime {
namespace {

using schedule::EdgeKind;
using uop::Ref;

struct StepsTest : ::testing::Test, SampleLinear {
  static std::string text(const Steps& s) {
    std::string out;
    for (const Step& step : s.steps) {
      static constexpr std::string_view kKinds[] = {"launch", "read", "write"};
      out += fmt::format("{} {} on {}", kKinds[static_cast<int>(step.kind)], step.call,
                         s.devices[static_cast<size_t>(step.device)]);
      for (const Part& part : step.parts) {
        out += fmt::format(" b{}+{}:{}", part.buffer->arg.number(), part.offset, part.bytes);
      }
      if (!step.after.empty()) out += fmt::format(" after {}", fmt::join(step.after, " "));
      out += "\n";
    }
    return out;
  }
};

TEST_F(StepsTest, ACopyReadsAndThenWrites) {
  const Ref x = buffer(0, 8, "a:0");
  const Ref y = buffer(1, 8, "b:0");
  const Ref one = call(linear("one", 1, 8), {x});
  const Ref moved = copy(y, 2, x, 4, 3);
  const Ref inc = call(linear("inc", 2, 8), {y, y});
  const Ref list = schedule::make_linear(g, std::vector<Ref>{one, moved, inc},
                                         {{0, 1, EdgeKind::Raw}, {1, 2, EdgeKind::War}});
  const Result<Steps> steps = steps_of(g, list, {});
  ASSERT_TRUE(steps.ok()) << steps.error().message;
  EXPECT_EQ(text(steps.value()),
            "launch 0 on a:0 b0+0:32\n"
            "read 1 on a:0 b0+16:12 after 0\n"
            "write 1 on b:0 b1+8:12 after 1\n"
            "launch 2 on b:0 b1+0:32 b1+0:32 after 2\n");
  EXPECT_EQ(steps.value().kernels, 2);
  EXPECT_EQ(steps.value().copies, 1);
}

TEST_F(StepsTest, ArgumentsAreViewsOfArenas) {
  const Ref arena = buffer(7, 1024, "a:0", uop::U8);
  const Ref at = index(256);
  const Ref bytes = index(64);
  const Ref part = g.make(uop::Op::Shrink, uop::U8, {arena, at, bytes});
  const Ref view = g.make(uop::Op::Bitcast, uop::F32, {part});
  const Ref list =
      schedule::make_linear(g, std::vector<Ref>{call(linear("one", 1, 16), {view})}, {});
  EXPECT_EQ(text(steps_of(g, list, {}).value()), "launch 0 on a:0 b7+256:64\n");
}

TEST_F(StepsTest, SizesMayBeTermsOverVariables) {
  const Ref arena = buffer(7, 1024, "a:0", uop::U8);
  const Ref n = g.variable("n", uop::of_int(uop::Index, 1), uop::of_int(uop::Index, 64));
  const Ref four = index(4);
  const Ref bytes = g.alu(uop::Op::Mul, {n, four});
  const Ref begin = index(0);
  const Ref part = g.make(uop::Op::Shrink, uop::U8, {arena, begin, bytes});
  const std::vector<std::pair<std::string, int64_t>> variables = {{"n", 5}};
  EXPECT_EQ(part_of(g, part, variables).value().bytes, 20);
  EXPECT_EQ(part_of(g, part, {}).error().message, "variable n has no value");
}

TEST_F(StepsTest, AnOrderIsOneThatTheEdgesAllow) {
  const Ref x = buffer(0, 4, "a:0");
  const Ref one = call(linear("one", 1, 4), {x});
  const Ref inc = call(linear("inc", 2, 4), {x, x});
  const Ref list =
      schedule::make_linear(g, std::vector<Ref>{one, inc, one}, {{0, 1, EdgeKind::Raw}});
  const auto with = [&](std::vector<int> order) {
    const Result<Steps> steps = steps_of(g, list, {}, order);
    return steps.ok() ? text(steps.value()) : steps.error().message;
  };
  EXPECT_EQ(with({2, 0, 1}),
            "launch 2 on a:0 b0+0:16\nlaunch 0 on a:0 b0+0:16\nlaunch 1 on a:0 b0+0:16 b0+0:16 "
            "after 1\n");
  EXPECT_EQ(with({1, 0, 2}), "call 1 comes before call 0, for which it waits");
  EXPECT_EQ(with({0, 0, 1}), "the order does not name call 0 once");
  EXPECT_EQ(with({0, 1}), "an order of 2 calls for 3");
  EXPECT_EQ(with({0, 1, 3}), "the order does not name call 3 once");
}

}  // namespace
}  // namespace assay::runtime
