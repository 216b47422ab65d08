#include "engine/codegen/tiling.h"

#include <gtest/gtest.h>

#include "engine/codegen/scheduled_sample.h"

namespace assay::codegen {
namespace {

using uop::Op;
using uop::Ref;

class Legality : public testing::Test {
 protected:
  // What is wrong with the list, or nothing.
  std::string fault_of(Ref kernel, std::string_view list) {
    const Result<std::vector<Opt>> opts = opts_from_text(list);
    if (!opts.ok()) return to_string(opts.error());
    const Result<Tiling> tiling = Tiling::of(g, target, kernel, opts.value());
    return tiling.ok() ? "" : to_string(tiling.error());
  }

  // p0[r0, r1] = sum over r2 of p1[r0, r1, r2].
  Ref sums(int64_t n, int64_t m, int64_t count, uop::DType t = uop::F32) {
    k.leaves.clear();
    const Ref i = k.loop(n);
    const Ref j = k.loop(m);
    const Ref r = k.fold(count);
    const std::string out = fmt::format("(+ (* r0 {}) r1)", m);
    const std::string in = fmt::format("(+ (* (+ (* r0 {}) r1) {}) r2)", m, count);
    const Ref sum = k.reduce(Op::Add, k.at(1, n * m * count, in, t), {r});
    return k.kernel("r", {k.end(k.at(0, n * m, out, t), sum, {i, j})});
  }
  // p0[0] = sum over r0 of (max over r1 of p1[r0, r1]).
  Ref nested() {
    const Ref outer = k.fold(16);
    const Ref inner = k.fold(32);
    const Ref top = k.reduce(Op::Max, k.at(1, 512, "(+ (* r0 32) r1)"), {inner});
    return k.kernel("r", {k.end(k.at(0, 1, "0"), k.reduce(Op::Add, top, {outer}), {})});
  }

  uop::Graph g;
  ScheduledSample k{g};
  uop::Target target = grouped_target();
};

TEST_F(Legality, AnAxisIsThere) {
  const Ref kernel = sums(8, 16, 64);
  EXPECT_EQ(fault_of(kernel, "LOCAL(1,8) UPCAST(0,2) GROUP(0,2)"), "");
  EXPECT_EQ(fault_of(kernel, "LOCAL(2,8)"),
            "opt LOCAL(2,8): store axis 2 is not there; there are 2");
  EXPECT_EQ(fault_of(kernel, "UNROLL(1,8)"),
            "opt UNROLL(1,8): reduce axis 1 is not there; there are 1");
  EXPECT_EQ(fault_of(kernel, "PADTO(2,48)"), "");
  EXPECT_EQ(fault_of(kernel, "PADTO(3,48)"), "opt PADTO(3,48): axis 3 is not there; there are 3");
  EXPECT_EQ(fault_of(kernel, "SWAP(0,1) SWAP(1,1)"), "");
  EXPECT_EQ(fault_of(kernel, "SWAP(0,2)"), "opt SWAP(0,2): store axis 2 is not there; there are 2");
}

TEST_F(Legality, AnAmountDividesWhatIsLeft) {
  const Ref kernel = sums(8, 12, 64);
  EXPECT_EQ(fault_of(kernel, "LOCAL(1,4) UPCAST(1,3) UPCAST(1,1)"), "");
  EXPECT_EQ(fault_of(kernel, "LOCAL(1,4) UPCAST(1,2)"),
            "opt UPCAST(1,2): 2 does not divide the 3 that are left of store axis 1");
  EXPECT_EQ(fault_of(kernel, "UNROLL(0,0) GROUP(0,2)"),
            "opt GROUP(0,2): 2 does not divide the 1 that are left of reduce axis 0");
}

TEST_F(Legality, PaddingIsWithinReason) {
  const Ref kernel = sums(8, 12, 5);
  EXPECT_EQ(fault_of(kernel, "PADTO(2,16)"), "");
  EXPECT_EQ(fault_of(kernel, "PADTO(2,21)"),
            "opt PADTO(2,21): the 5 that are left of axis 2 become more than 4 times as many");
  EXPECT_EQ(fault_of(kernel, "PADTO(2,0)"), "opt PADTO(2,0): 0 is no size to pad to");
  // What is read and stored need not depend on such an axis, so no gate would tell them apart.
  EXPECT_EQ(fault_of(sums(1, 12, 5), "PADTO(0,2)"), "opt PADTO(0,2): axis 0 has one iteration");
}

TEST_F(Legality, SymbolicAndSerialAxesStayWhole) {
  const Ref n = k.variable("n", 1, 16);
  const Ref i = k.range(n, uop::AxisType::Weak);
  const Ref j = k.range(uop::dim(g, 4), uop::AxisType::Loop);
  const Ref r = k.range(n, uop::AxisType::Reduce);
  const Ref sum = k.reduce(Op::Add, k.at(1, 16, "r2"), {r});
  const Ref kernel = k.kernel("r", {k.end(k.at(0, 64, "(+ (* r0 4) r1)"), sum, {i, j})});
  EXPECT_EQ(fault_of(kernel, "LOCAL(0,0)"), "opt LOCAL(0,0): store axis 0 has a symbolic size");
  EXPECT_EQ(fault_of(kernel, "GROUP(0,2)"), "opt GROUP(0,2): reduce axis 0 has a symbolic size");
  EXPECT_EQ(fault_of(kernel, "PADTO(2,8)"), "opt PADTO(2,8): axis 2 has a symbolic size");
  EXPECT_EQ(fault_of(kernel, "UPCAST(1,2)"),
            "opt UPCAST(1,2): store axis 1 runs one iteration after the other");
  EXPECT_EQ(fault_of(kernel, "SWAP(0,1)"),
            "opt SWAP(0,1): store axis 1 runs one iteration after the other");
}

TEST_F(Legality, WorkItemsAreThoseOfAGroup) {
  const Ref kernel = sums(64, 64, 64);
  EXPECT_EQ(fault_of(kernel, "LOCAL(0,16) LOCAL(1,4) GROUP(0,4)"), "");
  EXPECT_EQ(fault_of(kernel, "LOCAL(0,16) LOCAL(1,8) GROUP(0,4)"),
            "opt GROUP(0,4): 512 work-items when a group has 256 at most");
  target = uop::generic_target();
  EXPECT_EQ(fault_of(kernel, "LOCAL(0,2)"),
            "opt LOCAL(0,2): 2 work-items when a group has 1 at most");
}

TEST_F(Legality, WorkItemsFitTheAxesOfALaunch) {
  const Ref kernel = sums(64, 64, 64);
  target.limits.item_sizes[0] = 16;
  target.limits.item_sizes[1] = 8;
  target.limits.item_sizes[2] = 1;
  EXPECT_EQ(fault_of(kernel, "LOCAL(0,8) LOCAL(1,16)"), "");
  EXPECT_EQ(fault_of(kernel, "LOCAL(0,8) LOCAL(1,32)"),
            "opt LOCAL(1,32): 256 work-items do not fit the launch's axes");
  EXPECT_EQ(fault_of(kernel, "LOCAL(0,8) LOCAL(1,16) GROUP(0,2)"),
            "opt GROUP(0,2): 256 work-items do not fit the launch's axes");
}

TEST_F(Legality, LanesAreBounded) {
  const Ref kernel = sums(64, 64, 64);
  EXPECT_EQ(fault_of(kernel, "UPCAST(0,8) UPCAST(1,8) UNROLL(0,8)"), "");
  EXPECT_EQ(fault_of(kernel, "UPCAST(0,8) UPCAST(1,8) UNROLL(0,16)"),
            "opt UNROLL(0,16): 1024 lanes when there are 512 at most");
}

TEST_F(Legality, LocalStorageIsThere) {
  const Ref kernel = sums(64, 64, 256);
  // 4 bytes for each of 16 x 16 work-items and 32 lanes.
  EXPECT_EQ(fault_of(kernel, "LOCAL(0,16) GROUP(0,16) UPCAST(1,32)"), "");
  EXPECT_EQ(fault_of(kernel, "LOCAL(0,16) GROUP(0,16) UPCAST(1,64)"),
            "opt UPCAST(1,64): 65536 bytes of LOCAL storage when there are 32768");
  EXPECT_EQ(fault_of(sums(64, 64, 256, uop::I8), "LOCAL(0,16) GROUP(0,16) UPCAST(1,64)"), "");
  target.limits.local_bytes = 0;
  EXPECT_EQ(fault_of(kernel, "GROUP(0,2)"),
            "opt GROUP(0,2): 8 bytes of LOCAL storage when there are 0");
  target.memory.reset();
  EXPECT_EQ(fault_of(kernel, "GROUP(0,2)"),
            "opt GROUP(0,2): the target has no memory contract for LOCAL storage");
  EXPECT_EQ(fault_of(kernel, "LOCAL(0,2)"), "");
}

TEST_F(Legality, NoLocalsIsForTheWholeList) {
  const Ref kernel = sums(64, 64, 256);
  EXPECT_EQ(fault_of(kernel, "NOLOCALS UPCAST(0,4) UNROLL(0,4)"), "");
  EXPECT_EQ(fault_of(kernel, "NOLOCALS LOCAL(0,4)"), "opt LOCAL(0,4): the list has NOLOCALS");
  EXPECT_EQ(fault_of(kernel, "NOLOCALS GROUPTOP(0,4)"), "opt GROUPTOP(0,4): the list has NOLOCALS");
  EXPECT_EQ(fault_of(kernel, "LOCAL(0,4) NOLOCALS"),
            "opt NOLOCALS: work-items are already in the list");
}

TEST_F(Legality, NestedFoldsAreSharedOneAtATime) {
  const Ref kernel = nested();
  EXPECT_EQ(fault_of(kernel, "GROUP(0,4)"), "");
  EXPECT_EQ(fault_of(kernel, "GROUP(1,4)"), "");
  EXPECT_EQ(fault_of(kernel, "GROUP(0,4) GROUP(1,4)"),
            "opt GROUP(1,4): a shared fold would stand in another shared fold");
  EXPECT_EQ(fault_of(kernel, "GROUP(1,4) GROUP(0,4)"),
            "opt GROUP(0,4): a shared fold would stand in another shared fold");
}

TEST_F(Legality, ASharedFoldStandsInALoopOnlyWhereTheTargetAllowsABarrier) {
  const Ref kernel = nested();
  target.memory->in_loop = uop::Standing::Nowhere;
  EXPECT_EQ(fault_of(kernel, "GROUP(0,4)"), "");
  EXPECT_EQ(fault_of(kernel, "GROUP(1,4)"),
            "opt GROUP(1,4): the fold stands in a loop, where the target allows no barrier");
  EXPECT_EQ(fault_of(kernel, "UNROLL(0,0) GROUP(1,4)"), "");
}

TEST_F(Legality, ASharedFoldReadsNothingThatTheKernelWrites) {
  const Ref i = k.loop(8);
  const Ref r = k.fold(16);
  const Ref old = k.at(0, 8, "r0");
  const Ref x = k.at(1, 128, "(+ (* r0 16) r1)");
  const Ref after = k.reduce(Op::Add, x, {r});
  const Ref sum = g.alu(Op::Add, {old, after});
  EXPECT_EQ(fault_of(k.kernel("r", {k.end(k.at(0, 8, "r0"), sum, {i})}), "GROUP(0,4)"), "");
  const Ref product = g.alu(Op::Mul, {old, x});
  const Ref within = k.reduce(Op::Add, product, {r});
  const Ref kernel = k.kernel("r", {k.end(k.at(0, 8, "r0"), within, {i})});
  EXPECT_EQ(fault_of(kernel, "GROUP(0,4)"),
            "opt GROUP(0,4): the fold reads storage that the kernel writes");
  EXPECT_EQ(fault_of(kernel, "UNROLL(0,4) LOCAL(0,4)"), "");
}

TEST_F(Legality, AKernelClosesItsRanges) {
  const Ref i = k.loop(8);
  const Ref r = k.fold(8);
  const Ref open = k.kernel("E", {k.end(k.at(0, 64, "(+ (* r0 8) r1)"), k.f32(0), {i})});
  EXPECT_EQ(fault_of(open, "NONE"), "range 1 is never closed");
  const Ref sum = k.reduce(Op::Add, k.at(1, 8, "r0"), {i});
  EXPECT_EQ(fault_of(k.kernel("E", {k.end(k.at(0, 8, "r0"), sum, {i})}), "NONE"),
            "range 0 is closed by an end and a reduce");
  static_cast<void>(r);
}

}  // namespace
}  // namespace assay::codegen
