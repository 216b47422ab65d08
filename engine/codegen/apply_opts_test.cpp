#include "engine/codegen/apply_opts.h"

#include <gtest/gtest.h>

#include "engine/codegen/opt.h"
#include "engine/codegen/sample_kernel.h"

namespace assay::codegen {
namespace {

using uop::Op;
using uop::Ref;

class ApplyOpts : public testing::Test {
 protected:
  // The kernel after the pass, in few words, or the error.
  std::string tiled(Ref kernel) {
    uop::Run run(g, {}, nullptr, target);
    const Result<Ref> result = run_pass(apply_opts(), run, kernel);
    return result.ok() ? SampleText::of(g, result.value()) : to_string(result.error());
  }

  // p0[r0, r1] = sum over k of p1[r0, k] * p2[k, r1], of sizes n x n.
  Ref matmul(std::string_view name, int64_t n) {
    k.leaves.clear();
    const Ref i = k.loop(n);
    const Ref j = k.loop(n);
    const Ref r = k.fold(n);
    const Ref a = k.at(1, n * n, fmt::format("(+ (* r0 {}) r2)", n));
    const Ref b = k.at(2, n * n, fmt::format("(+ (* r2 {}) r1)", n));
    const Ref product = g.alu(Op::Mul, {a, b});
    const Ref sum = k.reduce(Op::Add, product, {r});
    const Ref out = k.at(0, n * n, fmt::format("(+ (* r0 {}) r1)", n));
    return k.kernel(name, {k.end(out, sum, {i, j})});
  }
  // p0[r0] = max over r1 of p1[r0, r1].
  Ref rows(std::string_view name, int64_t n, int64_t m) {
    k.leaves.clear();
    const Ref i = k.loop(n);
    const Ref r = k.fold(m);
    const Ref x = k.at(1, n * m, fmt::format("(+ (* r0 {}) r1)", m));
    const Ref top = k.reduce(Op::Max, x, {r});
    return k.kernel(name, {k.end(k.at(0, n, "r0"), top, {i})});
  }

  uop::Graph g;
  SampleKernel k{g};
  uop::Target target = grouped_target();
};

TEST_F(ApplyOpts, WithoutAListLaunchesWhatIsStored) {
  EXPECT_EQ(tiled(rows("r_4_8", 4, 8)),
            "r_4_8\n"
            "G0:4 R1:8\n"
            "p0[G0] = (reduce_max p1[(+ (* G0 8) R1)] R1)\n");
  EXPECT_EQ(tiled(rows("r_4_8 NONE", 4, 8)).substr(0, 21), "r_4_8 NONE\nG0:4 R1:8\n");
}

TEST_F(ApplyOpts, TakesTheInnerIterationsOutOfAnAxis) {
  EXPECT_EQ(tiled(matmul("m LOCAL(0,8) LOCAL(1,16) UPCAST(0,4) UPCAST(1,2) UNROLL(0,4)", 64)),
            "m LOCAL(0,8) LOCAL(1,16) UPCAST(0,4) UPCAST(1,2) UNROLL(0,4)\n"
            "G0:2 G1:2 R2:16 L3:8 L4:16 U5:4 U6:2 N7:4\n"
            "p0[(+ (* G0 2048) (* G1 32) (* L3 64) L4 (* U5 512) (* U6 16))] = "
            "(reduce_add (* p1[(+ (* G0 2048) (* R2 4) (* L3 64) (* U5 512) N7)] "
            "p2[(+ (* G1 32) (* R2 256) L4 (* U6 16) (* N7 64))]) R2 N7)\n");
}

TEST_F(ApplyOpts, TakesAllOfAnAxisAndLeavesNoRange) {
  EXPECT_EQ(tiled(rows("r UPCAST(0,0) UNROLL(0,8)", 4, 8)),
            "r UPCAST(0,0) UNROLL(0,8)\n"
            "U2:4 N3:8\n"
            "p0[U2] = (reduce_max p1[(+ (* U2 8) N3)] N3)\n");
}

TEST_F(ApplyOpts, SharesAFoldByInnerOrOuterIterations) {
  EXPECT_EQ(tiled(rows("r GROUP(0,16)", 4, 64)),
            "r GROUP(0,16)\n"
            "G0:4 R1:4 S2:16\n"
            "p0[G0] = (reduce_max p1[(+ (* G0 64) (* R1 16) S2)] R1 S2)\n");
  EXPECT_EQ(tiled(rows("r GROUPTOP(0,16) UNROLL(0,2)", 4, 64)),
            "r GROUPTOP(0,16) UNROLL(0,2)\n"
            "G0:4 R1:2 S2:16 N3:2\n"
            "p0[G0] = (reduce_max p1[(+ (* G0 64) (* R1 2) (* S2 4) N3)] R1 S2 N3)\n");
}

TEST_F(ApplyOpts, SharesAFoldOverSeveralAxes) {
  const Ref i = k.loop(3);
  const Ref r = k.fold(8);
  const Ref s = k.fold(4);
  const Ref x = k.at(1, 96, "(+ (* r0 32) (* r1 4) r2)");
  const Ref sum = k.reduce(Op::Add, x, {r, s});
  const Ref kernel = k.kernel("r GROUP(0,4) GROUP(1,0)", {k.end(k.at(0, 3, "r0"), sum, {i})});
  EXPECT_EQ(tiled(kernel),
            "r GROUP(0,4) GROUP(1,0)\n"
            "G0:3 R1:2 S3:4 S4:4\n"
            "p0[G0] = (reduce_add p1[(+ (* G0 32) (* R1 16) (* S3 4) S4)] R1 S3 S4)\n");
}

TEST_F(ApplyOpts, GatesWhatAPaddedStoreAxisReadsAndStores) {
  const Ref i = k.loop(5);
  const Ref x = k.at(1, 5, "r0");
  const Ref y = k.at(2, 1, "0");
  const Ref sum = g.alu(Op::Add, {x, y});
  const Ref kernel = k.kernel("E PADTO(0,4) UPCAST(0,4)", {k.end(k.at(0, 5, "r0"), sum, {i})});
  EXPECT_EQ(tiled(kernel),
            "E PADTO(0,4) UPCAST(0,4)\n"
            "G0:2 U1:4\n"
            "p0[(where (< (+ (* G0 4) U1) 5) (+ (* G0 4) U1) invalid)] = "
            "(+ p1[(where (< (+ (* G0 4) U1) 5) (+ (* G0 4) U1) invalid)] p2[0])\n");
}

TEST_F(ApplyOpts, FoldsNothingOutsideAPaddedAxis) {
  const Ref r = k.fold(5);
  const Ref sum = k.reduce(Op::Add, k.f32(1), {r});
  EXPECT_EQ(tiled(k.kernel("r PADTO(0,8) GROUP(0,4)", {k.end(k.at(0, 1, "0"), sum, {})})),
            "r PADTO(0,8) GROUP(0,4)\n"
            "R0:2 S1:4\n"
            "p0[0] = (reduce_add (where (< (+ (* R0 4) S1) 5) 1.0 invalid) R0 S1)\n");
}

TEST_F(ApplyOpts, PadsWhatIsLeftOfAnAxis) {
  const Ref i = k.loop(10);
  const Ref kernel = k.kernel("E LOCAL(0,2) PADTO(0,4)", {k.end(k.at(0, 10, "r0"), k.f32(0), {i})});
  EXPECT_EQ(tiled(kernel),
            "E LOCAL(0,2) PADTO(0,4)\n"
            "G0:8 L1:2\n"
            "p0[(where (< G0 5) (+ (* G0 2) L1) invalid)] = 0.0\n");
}

TEST_F(ApplyOpts, KeepsTheGatesThatAreThere) {
  const Ref i = k.loop(6);
  const Ref x = k.at(1, 5, "(where (< 0 r0) (+ r0 -1) invalid)");
  const Ref kernel = k.kernel("E PADTO(0,4)", {k.end(k.at(0, 6, "r0"), x, {i})});
  EXPECT_EQ(tiled(kernel),
            "E PADTO(0,4)\n"
            "G0:8\n"
            "p0[(where (< G0 6) G0 invalid)] = "
            "p1[(where (and (< G0 6) (< 0 G0)) (+ G0 -1) invalid)]\n");
}

TEST_F(ApplyOpts, SimplifiesQuotientsOfTheAxesItSplits) {
  const Ref i = k.loop(32);
  const Ref x = k.at(1, 32, "(+ (* (% r0 4) 8) (// r0 4))");
  const Ref kernel = k.kernel("E UPCAST(0,4)", {k.end(k.at(0, 32, "r0"), x, {i})});
  EXPECT_EQ(tiled(kernel),
            "E UPCAST(0,4)\n"
            "G0:8 U1:4\n"
            "p0[(+ (* G0 4) U1)] = p1[(+ G0 (* U1 8))]\n");
}

TEST_F(ApplyOpts, SwapsPlacesInTheLaunch) {
  const Ref i = k.loop(4);
  const Ref j = k.loop(8);
  const Ref x = k.at(1, 32, "(+ (* r0 8) r1)");
  const Ref kernel =
      k.kernel("E SWAP(0,1) LOCAL(1,2)", {k.end(k.at(0, 32, "(+ (* r0 8) r1)"), x, {i, j})});
  EXPECT_EQ(tiled(kernel),
            "E SWAP(0,1) LOCAL(1,2)\n"
            "G0:4 G1:4 L2:2\n"
            "p0[(+ (* G0 2) (* G1 8) L2)] = p1[(+ (* G0 2) (* G1 8) L2)]\n");
}

TEST_F(ApplyOpts, LeavesSymbolicAxesWhole) {
  const Ref n = k.variable("n", 1, 16);
  const Ref i = k.range(n, uop::AxisType::Weak);
  const Ref j = k.loop(8);
  const Ref kernel =
      k.kernel("E LOCAL(1,4)", {k.end(k.at(0, 128, "(+ (* r0 8) r1)"), k.f32(1), {i, j})});
  EXPECT_EQ(tiled(kernel),
            "E LOCAL(1,4)\n"
            "G0:n G1:2 L2:4\n"
            "p0[(+ (* G0 8) (* G1 4) L2)] = 1.0\n");
}

TEST_F(ApplyOpts, SplitsARangeThatSeveralFoldsShare) {
  const Ref i = k.loop(4);
  const Ref r = k.fold(8);
  const Ref x = k.at(1, 32, "(+ (* r0 8) r1)");
  const Ref sum = k.reduce(Op::Add, x, {r});
  const Ref top = k.reduce(Op::Max, x, {r});
  const Ref kernel =
      k.kernel("r GROUP(0,4)", {k.end(k.at(0, 4, "r0"), g.alu(Op::Mul, {sum, top}), {i})});
  EXPECT_EQ(tiled(kernel),
            "r GROUP(0,4)\n"
            "G0:4 R1:2 S2:4\n"
            "p0[G0] = (* (reduce_add p1[(+ (* G0 8) (* R1 4) S2)] R1 S2) "
            "(reduce_max p1[(+ (* G0 8) (* R1 4) S2)] R1 S2))\n");
}

TEST_F(ApplyOpts, NamesKernelAndOptInErrors) {
  EXPECT_EQ(tiled(rows("r_4_8 LOCAL(0,3)", 4, 8)),
            "kernel r_4_8: opt LOCAL(0,3): 3 does not divide the 4 that are left of store axis 0");
  EXPECT_EQ(tiled(rows("r_4_8 LOCAL(0,2) FOO", 4, 8)), "kernel r_4_8: 1:12: there is no opt 'FOO'");
}

}  // namespace
}  // namespace assay::codegen
