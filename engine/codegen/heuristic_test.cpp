#include "engine/codegen/heuristic.h"

#include <gtest/gtest.h>

#include "engine/codegen/scheduled_sample.h"

namespace assay::codegen {
namespace {

using uop::Op;
using uop::Ref;

class Heuristic : public testing::Test {
 protected:
  std::string list_of(Ref kernel) {
    uop::Run run(g, {}, nullptr, target);
    const Result<Ref> chosen = run_pass(choose_opts(), run, kernel);
    if (!chosen.ok()) return to_string(chosen.error());
    return std::string(kernel_name(chosen.value()).opts.value_or("none"));
  }

  Ref matmul(int64_t n) {
    const Ref i = k.loop(n);
    const Ref j = k.loop(n);
    const Ref r = k.fold(n);
    const Ref a = k.at(1, n * n, fmt::format("(+ (* r0 {}) r2)", n));
    const Ref b = k.at(2, n * n, fmt::format("(+ (* r2 {}) r1)", n));
    const Ref sum = k.reduce(Op::Add, g.alu(Op::Mul, {a, b}), {r});
    return k.kernel("r", {k.end(k.at(0, n * n, fmt::format("(+ (* r0 {}) r1)", n)), sum, {i, j})});
  }
  // p0[r0] = sum over r1 of p1[r0, r1], or of p1[r1, r0].
  Ref sums(int64_t n, int64_t m, bool of_columns = false) {
    const Ref i = k.loop(n);
    const Ref r = k.fold(m);
    const std::string in =
        of_columns ? fmt::format("(+ (* r1 {}) r0)", n) : fmt::format("(+ (* r0 {}) r1)", m);
    return k.kernel("r",
                    {k.end(k.at(0, n, "r0"), k.reduce(Op::Add, k.at(1, n * m, in), {r}), {i})});
  }

  // x[i, j] + row[i], each of 512.
  Ref row_added() {
    const Ref i = k.loop(512);
    const Ref j = k.loop(512);
    const Ref row = k.at(1, 512, "r0");
    const Ref x = k.at(2, 512 * 512, "(+ (* r0 512) r1)");
    const Ref sum = g.alu(Op::Add, {x, row});
    return k.kernel("E", {k.end(k.at(0, 512 * 512, "(+ (* r0 512) r1)"), sum, {i, j})});
  }

  uop::Graph g;
  ScheduledSample k{g};
  uop::Target target = grouped_target();
};

TEST_F(Heuristic, KeepsAListThatIsThere) {
  const Ref i = k.loop(64);
  const Ref end = k.end(k.at(0, 64, "r0"), k.f32(0), {i});
  EXPECT_EQ(list_of(k.kernel("E_64 UPCAST(0,2)", {end})), "UPCAST(0,2)");
  EXPECT_EQ(list_of(k.kernel("E_64 NONE", {end})), "NONE");
}

TEST_F(Heuristic, TilesAMatrixProduct) {
  EXPECT_EQ(list_of(matmul(256)), "UPCAST(1,4) UPCAST(0,4) UNROLL(0,4) LOCAL(0,8) LOCAL(1,16)");
}

TEST_F(Heuristic, SharesLongFoldsOfFewResults) {
  EXPECT_EQ(list_of(sums(512, 512)), "GROUP(0,16)");
}

TEST_F(Heuristic, SharesOuterIterationsWhereInnerOnesAreApart) {
  EXPECT_EQ(list_of(sums(512, 512, true)), "GROUPTOP(0,16)");
}

TEST_F(Heuristic, WritesShortFoldsOut) {
  EXPECT_EQ(list_of(sums(65536, 8)), "UNROLL(0,0) LOCAL(0,32)");
}

TEST_F(Heuristic, ReadsElementsSideBySide) {
  const Ref i = k.loop(1 << 20);
  const Ref sum = g.alu(Op::Add, {k.at(1, 1 << 20, "r0"), k.at(2, 1 << 20, "r0")});
  EXPECT_EQ(list_of(k.kernel("E", {k.end(k.at(0, 1 << 20, "r0"), sum, {i})})),
            "UPCAST(0,4) LOCAL(0,32)");
}

TEST_F(Heuristic, PutsWhatIsReusedIntoGroupsFirst) {
  EXPECT_EQ(list_of(row_added()), "UPCAST(1,4) LOCAL(0,8) LOCAL(1,16)");
}

TEST_F(Heuristic, FindsNothingToDoForOneElement) {
  EXPECT_EQ(list_of(k.kernel("E", {k.end(k.at(0, 1, "0"), k.at(1, 1, "0"), {})})), "NONE");
}

TEST_F(Heuristic, LeavesSymbolicAxesAlone) {
  const Ref n = k.variable("n", 1, 1024);
  const Ref i = k.range(n, uop::AxisType::Weak);
  const Ref r = k.fold(4);
  const Ref x = k.at(1, 4096, "(+ (* r0 4) r1)");
  const Ref kernel = k.kernel("r", {k.end(k.at(0, 1024, "r0"), k.reduce(Op::Add, x, {r}), {i})});
  EXPECT_EQ(list_of(kernel), "UNROLL(0,0)");
}

TEST_F(Heuristic, HasNoWorkItemsWhereGroupsHaveOne) {
  target = uop::generic_target();
  EXPECT_EQ(list_of(matmul(256)), "UPCAST(1,4) UPCAST(0,4) UNROLL(0,4)");
}

TEST_F(Heuristic, FollowsFromTheTuning) {
  target.tuning.items = 32;
  target.tuning.tile = 8;
  target.tuning.lanes = 2;
  EXPECT_EQ(list_of(matmul(256)), "UPCAST(1,4) UPCAST(0,2) UNROLL(0,2) LOCAL(0,2) LOCAL(1,16)");
}

TEST_F(Heuristic, KeepsLongKernelsNarrow) {
  const Ref i = k.loop(1 << 16);
  Ref x = k.at(1, 1 << 16, "r0");
  for (int step = 0; step < 10'000; ++step) x = g.alu(Op::Sin, {x});
  EXPECT_EQ(list_of(k.kernel("E", {k.end(k.at(0, 1 << 16, "r0"), x, {i})})), "LOCAL(0,32)");
}

// A device that runs the work-items of a group as lanes of vectors of 16.
class HeuristicOfLanes : public Heuristic {
 protected:
  HeuristicOfLanes() {
    target.limits.group_size = 4096;
    std::ranges::fill(target.limits.item_sizes, 4096);
    target.tuning = {.items = 1024, .lanes = 16, .tile = 128, .items_are_lanes = true};
  }
};

TEST_F(HeuristicOfLanes, TilesAMatrixProductByRows) {
  EXPECT_EQ(list_of(matmul(256)), "UPCAST(1,16) UPCAST(0,8)");
}

TEST_F(HeuristicOfLanes, TakesAShortRowWhole) {
  EXPECT_EQ(list_of(matmul(32)), "UPCAST(1,32) UPCAST(0,4)");
}

TEST_F(HeuristicOfLanes, TilesEvenlyWhereRowsAreFolded) {
  // p0[r0, r1] = sum over r2 of p1[r0, r2] p2[r1, r2]
  const Ref i = k.loop(128);
  const Ref j = k.loop(128);
  const Ref r = k.fold(32);
  const Ref a = k.at(1, 4096, "(+ (* r0 32) r2)");
  const Ref b = k.at(2, 4096, "(+ (* r1 32) r2)");
  const Ref sum = k.reduce(Op::Add, g.alu(Op::Mul, {a, b}), {r});
  EXPECT_EQ(list_of(k.kernel("r", {k.end(k.at(0, 16384, "(+ (* r0 128) r1)"), sum, {i, j})})),
            "UPCAST(1,8) UPCAST(0,8) UNROLL(0,4)");
}

TEST_F(HeuristicOfLanes, FoldsSeveralRowsSideBySide) {
  EXPECT_EQ(list_of(sums(512, 512)), "UPCAST(0,16) UNROLL(0,8)");
}

TEST_F(HeuristicOfLanes, FoldsAsManyRowsAsLeaveNoneOver) {
  EXPECT_EQ(list_of(sums(250, 4000)), "UPCAST(0,10) UNROLL(0,8)");
}

TEST_F(HeuristicOfLanes, FoldsColumnsByVectors) {
  EXPECT_EQ(list_of(sums(512, 512, true)), "UPCAST(0,16)");
}

TEST_F(HeuristicOfLanes, GivesEachElementAWorkItem) {
  EXPECT_EQ(list_of(row_added()), "LOCAL(1,512)");
}

TEST_F(HeuristicOfLanes, TakesAPaddedRowWhole) {
  // p0[r0, r1] = sum over r2, r3 of p1[r2, r1 + r3 - 1] p2[r0, r2, r3], one more on each side
  const Ref i = k.loop(32);
  const Ref j = k.loop(32);
  const Ref c = k.fold(16);
  const Ref x = k.fold(3);
  const Ref in =
      k.at(1, 512,
           "(where (and (< 0 (+ r1 r3)) (< (+ r1 r3) 33)) (+ (+ (* r2 32) r1) (+ r3 -1)) "
           "invalid)");
  const Ref weight = k.at(2, 1536, "(+ (+ (* r0 48) (* r2 3)) r3)");
  const Ref sum = k.reduce(Op::Add, g.alu(Op::Mul, {in, weight}), {c, x});
  EXPECT_EQ(list_of(k.kernel("r", {k.end(k.at(0, 1024, "(+ (* r0 32) r1)"), sum, {i, j})})),
            "UPCAST(1,0) UNROLL(1,0) UPCAST(0,2)");
}

TEST_F(HeuristicOfLanes, TransposesByTiles) {
  const Ref i = k.loop(1024);
  const Ref j = k.loop(1024);
  const Ref x = k.at(1, 1 << 20, "(+ (* r1 1024) r0)");
  const Ref y = k.at(2, 1 << 20, "(+ (* r0 1024) r1)");
  const Ref sum = g.alu(Op::Add, {x, y});
  const Ref kernel = k.kernel("E", {k.end(k.at(0, 1 << 20, "(+ (* r0 1024) r1)"), sum, {i, j})});
  EXPECT_EQ(list_of(kernel), "UPCAST(0,16) UPCAST(1,8) LOCAL(1,16)");
}

TEST_F(HeuristicOfLanes, SharesNoFold) { EXPECT_EQ(list_of(sums(1, 1 << 12)), "UNROLL(0,8)"); }

}  // namespace
}  // namespace assay::codegen
