#include "engine/schedule/order.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/schedule/sample_graph.h"
#include "engine/uop/verify.h"

namespace assay::schedule {
namespace {

class Order : public testing::Test, public SampleGraph {
 protected:
  std::string ordered(std::initializer_list<Ref> states) {
    linear_ = nullptr;
    const auto linear = create_schedule(g, sink(states), &cycles_);
    if (!linear.ok()) return linear.error().message;
    linear_ = linear.value();
    EXPECT_EQ(uop::verify(g, linear_).value_or(""), "");
    return brief(linear_);
  }

  Ref linear_ = nullptr;
  std::vector<Cycle> cycles_;
};

TEST_F(Order, CallsTakeBuffersInsteadOfStates) {
  const Ref a = buffer(4);
  const Ref b = buffer(4);
  const Ref a1 = after(a, {writes("fill", {a})});
  const Ref b1 = after(b, {writes("add", {b, a1})});
  EXPECT_EQ(ordered({b1, a1}), "fill add; 0 RAW 1");
  EXPECT_EQ(linear_->src[1], call(sum_kernel("add", 1), {b, a}));
}

TEST_F(Order, NothingToRunIsAnEmptyList) {
  const Ref a = buffer(4);
  EXPECT_EQ(ordered({a, param(0, 4)}), "");
  EXPECT_EQ(ordered({}), "");
}

TEST_F(Order, AnOldReaderPrecedesTheFirstOfTwoWriters) {  // B001
  const Ref x = param(0, 4);
  const Ref y = buffer(4);
  const Ref y1 = after(y, {writes("reads", {y, x})});
  const Ref x1 = after(x, {changes("doubles", {x})});
  const Ref x2 = after(x1, {changes("adds", {x1})});
  EXPECT_EQ(ordered({y1, x2}), "reads doubles adds; 0 WAR 1, 1 RAW 2");
  EXPECT_EQ(ordered({x2, y1}), "reads doubles adds; 0 WAR 1, 1 RAW 2");
}

TEST_F(Order, TheSameCallTwiceIsTwoKernels) {
  const Ref x = param(0, 4);
  const Ref x1 = after(x, {changes("doubles", {x})});
  const Ref x2 = after(x1, {changes("doubles", {x1})});
  EXPECT_EQ(ordered({x2}), "doubles doubles; 0 RAW 1");
  EXPECT_EQ(linear_->src[0], linear_->src[1]);
}

TEST_F(Order, ReadersThroughSelectsAndStacksAreHeldToo) {  // B002
  const Ref left = param(0, 4, uop::F32, "sim:0");
  const Ref right = param(1, 4, uop::F32, "sim:1");
  const Ref whole = stack({left, right});
  const Ref out = buffer(4);
  const Ref stale = after(out, {writes("gathers", {out, select(whole, 1)})});
  const Ref full = after(whole, {writes("fills", {whole})});
  EXPECT_EQ(ordered({stale, full}), "gathers fills; 0 WAR 1");
  EXPECT_EQ(ordered({full, stale}), "gathers fills; 0 WAR 1");
  EXPECT_EQ(linear_->src[0]->src[2], right);
  EXPECT_EQ(linear_->src[1]->src[1], whole);
}

TEST_F(Order, ASelectOfAWrittenStackTakesThatShard) {
  const Ref left = param(0, 4);
  const Ref right = param(1, 4);
  const Ref left1 = after(left, {writes("fills", {left})});
  const Ref whole = stack({left1, right});
  const Ref out = buffer(4);
  const Ref other = buffer(4);
  const Ref a = after(out, {writes("reads_0", {out, select(whole, 0)})});
  const Ref b = after(other, {writes("reads_1", {other, select(whole, 1)})});
  EXPECT_EQ(ordered({b, a}), "fills reads_1 reads_0; 0 RAW 2");
}

TEST_F(Order, AReaderOfAMaterializedTemporaryPrecedesTheWriter) {  // B009
  const Ref a = param(0, 4);
  const Ref t = buffer(4);
  const Ref out = buffer(4);
  const Ref a1 = after(a, {writes("fills", {a})});
  const Ref t1 = after(t, {writes("minus", {t, a})});
  const Ref out1 = after(out, {writes("adds", {out, a1, t1})});
  EXPECT_EQ(ordered({out1, a1}), "minus fills adds; 0 WAR 1, 0 RAW 2, 1 RAW 2");
}

TEST_F(Order, NestedAftersAreUnited) {  // B003
  const Ref a = buffer(4);
  const Ref out = buffer(4);
  const Ref one = after(a, {writes("one", {a})});
  const Ref two = after(a, {writes("two", {a})});
  const Ref all = after(a, {one, two});
  const Ref out1 = after(out, {writes("reads", {out, all})});
  EXPECT_EQ(ordered({out1}), "one two reads; 0 RAW 2, 1 RAW 2");
}

TEST_F(Order, AnAfterOfAnotherBufferOnlyOrders) {  // B003
  const Ref p = param(0, 4);
  const Ref m = param(1, 4);
  const Ref b = param(2, 4);
  const Ref p1 = after(p, {changes("step", {p, m, b})});
  const Ref b1 = after(b, {changes("rescale", {b}), p1});
  const Ref b2 = after(b1, {p1});
  const Ref m1 = after(m, {changes("decay", {m, b2})});
  EXPECT_EQ(ordered({m1}), "step rescale decay; 0 RAW 1, 0 RAW 2, 1 RAW 2");
}

TEST_F(Order, ACallThatWritesAnotherBufferOnlyOrders) {
  const Ref a = buffer(4);
  const Ref b = buffer(4);
  const Ref c = buffer(4);
  const Ref reads_c = after(b, {writes("reads", {b, c})});
  const Ref c1 = after(c, {writes("fills", {c})});
  const Ref a1 = after(a, {writes("last", {a}), writes("fills", {c})});
  EXPECT_EQ(ordered({a1, reads_c, c1}), "reads fills last; 0 WAR 1, 1 RAW 2");
}

TEST_F(Order, AMemberOfTheStateBeforeIsNoNewWriter) {
  const Ref a = buffer(4);
  const Ref out = buffer(4);
  const Ref first = writes("first", {a});
  const Ref a1 = after(a, {first});
  const Ref out1 = after(out, {writes("reads", {out, a1})});
  const Ref a2 = after(a1, {first, writes("second", {a1})});
  EXPECT_EQ(ordered({a2, out1}), "first reads second; 0 RAW 1, 0 RAW 2, 1 WAR 2");
}

TEST_F(Order, AKernelOfBothVersionsIsACycle) {  // B010
  const Ref a = param(0, 4);
  const Ref out = buffer(4);
  const Ref a1 = after(a, {writes("fills", {a})});
  const Ref out1 = after(out, {writes("adds", {out, a1, a})});
  EXPECT_EQ(ordered({out1}),
            "cycle: kernel 0 (fills) -RAW-> kernel 1 (adds) -WAR-> kernel 0 (fills)");
  ASSERT_EQ(cycles_.size(), 1U);
  ASSERT_EQ(cycles_[0].size(), 1U);
  EXPECT_EQ(cycles_[0][0].call, out1->src[1]);
  EXPECT_EQ(cycles_[0][0].buffer, a);
  EXPECT_EQ(cycles_[0][0].state, a);
}

TEST_F(Order, EachOverwritesWhatTheOtherReadsIsACycle) {  // B010
  const Ref a = param(0, 4);
  const Ref b = param(1, 4);
  const Ref a1 = after(a, {changes("adds", {a, b})});
  const Ref b1 = after(b, {changes("sums", {b, a})});
  EXPECT_EQ(ordered({a1, b1}),
            "cycle: kernel 0 (adds) -WAR-> kernel 1 (sums) -WAR-> kernel 0 (adds)");
  ASSERT_EQ(cycles_.size(), 1U);
  EXPECT_EQ(cycles_[0].size(), 2U);
  EXPECT_EQ(ordered({a1}), "adds");
  EXPECT_TRUE(cycles_.empty());
}

TEST_F(Order, WhatOnlyWritesItsTargetDoesNotReadIt) {
  const Ref a = param(0, 4);
  const Ref one = after(a, {writes("one", {a})});
  const Ref both = after(one, {writes("two", {a, one})});
  EXPECT_EQ(ordered({both}), "one two; 0 RAW 1");
  const Ref changed = after(one, {changes("three", {a, one})});
  EXPECT_EQ(ordered({changed}),
            "cycle: kernel 0 (one) -RAW-> kernel 1 (three) -WAR-> kernel 0 (one)");
}

TEST_F(Order, ErrorsNameWhatIsNoState) {
  const Ref a = buffer(4);
  const Ref one = g.constant(uop::of_int(uop::F32, 1));
  EXPECT_EQ(ordered({after(a, {writes("adds", {a, one})})}),
            "kernel 0 (adds) takes const, which is no state of a buffer");
  EXPECT_EQ(ordered({after(a, {one})}), "after takes const, expected a call or a state");
  EXPECT_EQ(ordered({after(one, {writes("fills", {a})})}),
            "after supersedes const, which is no state of a buffer");
  EXPECT_EQ(ordered({after(a, {writes("fills", {select(stack({a}), 1)})})}),
            "mselect takes 1 of 1 states");
}

TEST_F(Order, EdgesAreReadBackAndBadOnesRefused) {
  const Ref a = buffer(4);
  const Ref kernel = call(sum_kernel("fill", 0), {a});
  const Ref calls[] = {kernel, kernel, kernel};
  const Ref linear = make_linear(
      g, calls, {{1, 2, EdgeKind::Reuse}, {0, 1, EdgeKind::War}, {0, 1, EdgeKind::Raw}});
  EXPECT_EQ(brief(linear), "fill fill fill; 0 RAW 1, 1 reuse 2");
  const auto with = [&](std::vector<int64_t> numbers) {
    return brief(g.make(uop::Op::Linear, uop::Void, calls, g.info("", numbers)));
  };
  EXPECT_EQ(with({0, 1}), "linear has 2 numbers, and an edge is three");
  EXPECT_EQ(with({1, 0, 0}), "linear of 3 calls has an edge 1 0 0");
  EXPECT_EQ(with({0, 3, 0}), "linear of 3 calls has an edge 0 3 0");
  EXPECT_EQ(with({0, 1, 4}), "linear of 3 calls has an edge 0 1 4");
}

}  // namespace
}  // namespace assay::schedule
