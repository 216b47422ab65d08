#include "engine/codegen/barriers.h"

#include <gtest/gtest.h>

#include "engine/codegen/forms.h"
#include "engine/codegen/listing.h"
#include "engine/codegen/pipeline.h"
#include "engine/codegen/sample_kernel.h"
#include "engine/uop/walk.h"

namespace assay::codegen {
namespace {

using uop::AxisType;
using uop::Op;
using uop::Ref;

struct Barriers : ::testing::Test, SampleKernel {
  const Ref item = special("lidx0", 8);
  const Ref shared = local(0, 8);
  const Ref out = param(0, 64);

  // A second run changes nothing.
  Ref with_barriers(Ref sink) {
    uop::Run run(g);
    const Result<Ref> after = run_pass(pm_implicit_barriers(), run, sink);
    EXPECT_TRUE(after.ok()) << after.error().message;
    EXPECT_EQ(uop::breach(gated_form(), g, after.value()), std::nullopt);
    EXPECT_EQ(run_pass(pm_implicit_barriers(), run, after.value()).value(), after.value());
    return after.value();
  }
  size_t count(Ref sink) {
    size_t n = 0;
    for (const Ref u : uop::toposort(g, sink)) n += u->op == Op::Barrier ? 1 : 0;
    return n;
  }
  std::string lines(Ref sink) {
    uop::Run run(g);
    const Result<Ref> linear = run_passes(late_passes(), run, sink);
    EXPECT_TRUE(linear.ok()) << linear.error().message;
    EXPECT_EQ(uop::breach(linear_form(), g, linear.value()), std::nullopt);
    return "\n" + lines_text(linear.value());
  }
  std::string error(Ref sink) {
    uop::Run run(g);
    const Result<Ref> after = run_pass(pm_implicit_barriers(), run, sink);
    return after.ok() ? "" : after.error().message;
  }

  Ref put(Ref place, Ref x) { return store(index(place, item), x); }
  // Item l reads what its neighbour stored.
  Ref neighbour(Ref place) { return load(index(place, alu(Op::Xor, {item, i32(1)}))); }
};

TEST_F(Barriers, RawAfterLocalStore) {
  const Ref ready = after(shared, {put(shared, f32(1))});
  EXPECT_EQ(lines(sink({store(index(out, item), neighbour(ready))})), R"(
%0 = param f32 64 {0}
%1 = special i32 8 {"lidx0"}
%2 = buffer f32 8 {0 local}
%3 = index f32 %2 %1
%4 = store %3 1.0
%5 = barrier %4
%6 = after f32 %2 %5
%7 = xor i32 %1 1
%8 = index f32 %6 %7
%9 = load f32 %8
%10 = index f32 %0 %1
%11 = store %10 %9
)");
}

// A loop that stores what the next iteration's readers are to see ends with a barrier: without it a
// quick item stores again before a slow one has read.
TEST_F(Barriers, WarReduceLoop) {
  const Ref r = range(0, 4);
  const Ref ready = after(shared, {put(after(shared, {r}), f32(1))});
  const Ref x = neighbour(ready);
  const Ref kernel = sink({end(store(index(out, item), x), {r})});
  EXPECT_EQ(lines(kernel), R"(
%0 = param f32 64 {0}
%1 = special i32 8 {"lidx0"}
%2 = buffer f32 8 {0 local}
%3 = index f32 %0 %1
%4 = xor i32 %1 1
%5 = range i32 4 {0 reduce}
  %6 = after f32 %2 %5
  %7 = index f32 %6 %1
  %8 = store %7 1.0
  %9 = barrier %8
  %10 = after f32 %2 %9
  %11 = index f32 %10 %4
  %12 = load f32 %11
  %13 = store %3 %12
  %14 = barrier %13 %12
%15 = end %14 %5
)");
}

TEST_F(Barriers, NoLocalStoreNoBarrier) {
  const Ref registers = reg(1, 8);
  const Ref in_registers = after(registers, {store(index(registers, i32(0)), f32(1))});
  const Ref global = after(out, {store(index(out, item), load(in_registers, 0))});
  const Ref unstored = after(shared, {store(index(out, item), f32(2))});
  const Ref r = range(0, 4);
  const Ref loop = end(store(index(out, r), load(index(unstored, r))), {r});
  const Ref kernel = sink({loop, store(index(global, i32(0)), f32(1))});
  EXPECT_EQ(with_barriers(kernel), kernel);
}

TEST_F(Barriers, SingleIterationNoBarrier) {
  for (const AxisType type : {AxisType::Reduce, AxisType::Weak, AxisType::Loop}) {
    const auto loop = [&](int64_t n) {
      const Ref r = range(0, n, type);
      const Ref ready = after(shared, {put(after(shared, {r}), f32(1))});
      return with_barriers(sink({end(store(index(out, item), neighbour(ready)), {r})}));
    };
    EXPECT_EQ(count(loop(1)), 1);
    EXPECT_EQ(count(loop(2)), 2);
  }
}

// Which buffer is stored is not compared: a barrier is for all LOCAL storage.
TEST_F(Barriers, AStoreOfAnotherBufferCounts) {
  const Ref other = local(1, 8);
  const Ref ready = after(other, {put(shared, f32(1))});
  EXPECT_EQ(count(with_barriers(sink({store(index(out, item), neighbour(ready))}))), 1);
}

TEST_F(Barriers, OneIsEnoughForAllThatWaitsForIt) {
  const Ref ready = after(shared, {barrier({put(shared, f32(1))})});
  const Ref kernel = sink({store(index(out, item), neighbour(ready))});
  EXPECT_EQ(with_barriers(kernel), kernel);
  // What is behind a barrier does not call for another one; what came between does.
  const Ref next = put(ready, f32(2));
  const Ref again = after(shared, {next});
  EXPECT_EQ(count(with_barriers(sink({store(index(out, item), neighbour(again))}))), 2);
}

TEST_F(Barriers, TwoBuffersInTurnNeedNoneAtTheEndOfTheLoopForTheOther) {
  // Phase k reads what phase k - 1 stored, and stores into the other half.
  const Ref other = local(1, 8);
  const Ref r = range(0, 4);
  const Ref a = after(shared, {put(after(shared, {r}), f32(1))});
  const Ref b = after(other, {put(after(other, {r}), neighbour(a))});
  const Ref kernel = with_barriers(sink({end(store(index(out, item), neighbour(b)), {r})}));
  // After each store one, and one at the end, since both are stored and loaded in the loop.
  EXPECT_EQ(count(kernel), 3);
}

TEST_F(Barriers, TwoLoopsOverOneBufferEndWithOneEach) {
  const Ref r = range(0, 4);
  const Ref s = range(1, 4);
  const Ref first = after(shared, {put(after(shared, {r}), f32(1))});
  const Ref loop = end(store(index(out, item), neighbour(first)), {r});
  const Ref second = after(shared, {put(after(shared, {loop, s}), f32(2))});
  const Ref kernel = with_barriers(sink({end(store(index(out, item), neighbour(second)), {s})}));
  // Two after stores, two at the ends, and one before the second loop's store, whose state waits
  // for the first loop and its store.
  EXPECT_EQ(count(kernel), 4);
}

TEST_F(Barriers, ALoopThatOnlyStoresHasNone) {
  const Ref r = range(0, 4);
  const Ref loop = end(put(after(shared, {r}), f32(1)), {r});
  const Ref kernel = sink({loop});
  EXPECT_EQ(with_barriers(kernel), kernel);
}

TEST_F(Barriers, NestedLoopsEachHaveTheirOwn) {
  const Ref r = range(0, 4, AxisType::Loop);
  const Ref s = range(1, 4);
  const Ref inner = after(shared, {put(after(shared, {r, s}), f32(1))});
  const Ref loop = end(store(index(out, item), neighbour(inner)), {s});
  const Ref kernel = with_barriers(sink({end(loop, {r})}));
  // A barrier deeper in the body does not answer for the outer loop.
  EXPECT_EQ(lines(kernel), R"(
%0 = param f32 64 {0}
%1 = special i32 8 {"lidx0"}
%2 = buffer f32 8 {0 local}
%3 = index f32 %0 %1
%4 = xor i32 %1 1
%5 = range i32 4 {0 loop}
  %6 = range i32 4 {1 reduce}
    %7 = after f32 %2 %5 %6
    %8 = index f32 %7 %1
    %9 = store %8 1.0
    %10 = barrier %9
    %11 = after f32 %2 %10
    %12 = index f32 %11 %4
    %13 = load f32 %12
    %14 = store %3 %13
    %15 = barrier %14 %13
  %16 = end %15 %6
  %17 = barrier %16
%18 = end %17 %5
)");
  EXPECT_EQ(count(kernel), 3);
}

TEST_F(Barriers, AStoreOutsideTheLoopIsNoHazardInIt) {
  const Ref r = range(0, 4);
  const Ref ready = after(shared, {put(shared, f32(1))});
  const Ref x = load(index(ready, r));
  EXPECT_EQ(count(with_barriers(sink({end(store(index(out, r), x), {r})}))), 1);
}

TEST_F(Barriers, AStoreInOneOfTwoLoopsThatEndTogetherIsRepeatedByTheOther) {
  const Ref r = range(0, 4);
  const Ref once = range(1, 1);
  const Ref ready = after(shared, {put(after(shared, {once}), f32(1))});
  const Ref kernel = sink({end(store(index(out, r), neighbour(ready)), {r, once})});
  EXPECT_EQ(count(with_barriers(kernel)), 2U);
}

TEST_F(Barriers, SymbolicCountsCountByTheirMost) {
  for (const int64_t most : {1, 2}) {
    const Ref r = range(0, variable("n", 1, most), AxisType::Loop);
    const Ref ready = after(shared, {put(after(shared, {r}), f32(1))});
    const Ref kernel = sink({end(store(index(out, item), neighbour(ready)), {r})});
    EXPECT_EQ(count(with_barriers(kernel)), most == 1 ? 1 : 2);
  }
}

TEST_F(Barriers, WorkGroupAndWorkItemAxesAreNoLoops) {
  const Ref r = range(0, 4, AxisType::Upcast);
  const Ref ready = after(shared, {put(after(shared, {r}), f32(1))});
  EXPECT_EQ(count(with_barriers(sink({end(store(index(out, item), neighbour(ready)), {r})}))), 1);
}

TEST_F(Barriers, ACountThatDiffersBetweenItemsIsAnError) {
  const auto kernel = [&](Ref n) {
    const Ref r = range(3, n, AxisType::Loop);
    const Ref ready = after(shared, {put(after(shared, {r}), f32(1))});
    return sink({end(store(index(out, item), neighbour(ready)), {r})});
  };
  const Ref counts = param(1, 8, uop::DType::I32);
  const std::string trouble =
      "a barrier stands in range 3, whose count may differ between the work-items of a group";
  EXPECT_EQ(error(kernel(add(item, i32(1)))), trouble);
  EXPECT_EQ(error(kernel(load(index(counts, item)))), trouble);
  EXPECT_EQ(error(kernel(load(index(counts, special("gidx0", 8))))), "");
  EXPECT_EQ(error(kernel(variable("n", 0, 9))), "");
  // Storage that the kernel stores to may hold anything by the time it is read.
  const Ref own = param(0, 64, uop::DType::I32);
  const Ref stores = store(index(own, item), item);
  const Ref r = range(3, load(index(own, i32(0))), AxisType::Loop);
  const Ref ready = after(shared, {put(after(shared, {r}), f32(1))});
  const Ref loop = end(store(index(param(2, 8), item), neighbour(ready)), {r});
  EXPECT_EQ(error(sink({loop, stores})), trouble);
}

TEST_F(Barriers, AreRulesThatCanBeSwitchedOff) {
  const Ref r = range(0, 4);
  const Ref ready = after(shared, {put(after(shared, {r}), f32(1))});
  const Ref kernel = sink({end(store(index(out, item), neighbour(ready)), {r})});
  const auto left = [&](std::vector<std::string> off) {
    uop::Run run(g, {.off = std::move(off), .substitutes = {}});
    return count(run_pass(pm_implicit_barriers(), run, kernel).value());
  };
  EXPECT_EQ(left({}), 2);
  EXPECT_EQ(left({"implicit_barriers.add_raw_barrier"}), 1);
  EXPECT_EQ(left({"implicit_barriers.add_war_barrier"}), 1);
  EXPECT_EQ(left({"implicit_barriers.add_raw_barrier", "implicit_barriers.add_war_barrier"}), 0);
}

}  // namespace
}  // namespace assay::codegen
