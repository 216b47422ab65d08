#include "engine/codegen/ranges.h"

#include <gtest/gtest.h>

#include "engine/codegen/sample_kernel.h"

namespace assay::codegen {
namespace {

using uop::Op;
using uop::Ref;

class Ranges : public testing::Test {
 protected:
  std::string after(const uop::Pass& pass, Ref kernel) {
    uop::Run run(g);
    const Result<Ref> result = run_pass(pass, run, kernel);
    return result.ok() ? SampleText::of(g, result.value()) : to_string(result.error());
  }
  // p0[out] = p1[in], element by element.
  Ref copy(std::string_view out, std::string_view in, std::vector<Ref> loops) {
    return k.kernel("E", {k.end(k.at(0, 4096, out), k.at(1, 4096, in), std::move(loops))});
  }

  uop::Graph g;
  SampleKernel k{g};
};

TEST_F(Ranges, ComeApartWhereTheyAreReadInParts) {
  const Ref r = k.loop(32);
  EXPECT_EQ(after(split_ranges(), copy("r0", "(+ (* (% r0 4) 8) (// r0 4))", {r})),
            "E\n"
            "W0:8 W1:4\n"
            "p0[(+ (* W0 4) W1)] = p1[(+ W0 (* W1 8))]\n");
}

TEST_F(Ranges, ComeApartIntoMoreThanTwo) {
  const Ref r = k.loop(30);
  const Ref s = k.loop(7);
  EXPECT_EQ(
      after(split_ranges(),
            copy("(+ (* r0 7) r1)",
                 "(+ (+ (* (% r0 2) 105) (* (% (// r0 2) 3) 35)) (+ (* (// r0 6) 7) r1))", {r, s})),
      "E\n"
      "W0:5 W1:3 W2:2 W3:7\n"
      "p0[(+ (* W0 42) (* W1 14) (* W2 7) W3)] = "
      "p1[(+ (* W0 7) (* W1 35) (* W2 105) W3)]\n");
}

TEST_F(Ranges, OfAFoldComeApartToo) {
  const Ref i = k.loop(8);
  const Ref r = k.fold(12);
  const Ref x = k.at(1, 96, "(+ (+ (* (% r1 3) 32) (* (// r1 3) 8)) r0)");
  const Ref sum = k.reduce(Op::Add, x, {r});
  EXPECT_EQ(after(split_ranges(), k.kernel("r", {k.end(k.at(0, 8, "r0"), sum, {i})})),
            "r\n"
            "W0:8 R1:4 R2:3\n"
            "p0[W0] = (reduce_add p1[(+ W0 (* R1 8) (* R2 32))] R1 R2)\n");
}

TEST_F(Ranges, StayWholeWhereThePartsDoNotDivideThem) {
  const Ref r = k.loop(30);
  EXPECT_EQ(after(split_ranges(), copy("r0", "(+ (* (% r0 4) 8) (// r0 4))", {r})),
            "E\n"
            "W0:30\n"
            "p0[W0] = p1[(+ (* (% W0 4) 8) (// W0 4))]\n");
}

TEST_F(Ranges, ComeApartByTheFirstOfTheirDivisors) {
  const Ref r = k.loop(24);
  EXPECT_EQ(after(split_ranges(), copy("r0", "(+ (* (% r0 4) 6) (% r0 6))", {r})),
            "E\n"
            "W0:6 W1:4\n"
            "p0[(+ (* W0 4) W1)] = p1[(+ (* W1 6) (% (+ (* W0 4) W1) 6))]\n");
}

TEST_F(Ranges, AreJoinedWhereTheyAreReadAsOne) {
  const Ref i = k.loop(16);
  const Ref j = k.loop(8);
  EXPECT_EQ(
      after(simplify_ranges(), copy("(+ (* r0 8) r1)", "(+ (+ (* r0 16) (* r1 2)) 3)", {i, j})),
      "E\n"
      "W0:128\n"
      "p0[W0] = p1[(+ (* W0 2) 3)]\n");
}

TEST_F(Ranges, AreJoinedAllAtOnce) {
  const Ref i = k.loop(2);
  const Ref j = k.loop(3);
  const Ref l = k.loop(5);
  EXPECT_EQ(after(simplify_ranges(), copy("(+ (+ (* r0 15) (* r1 5)) r2)",
                                          "(% (+ (+ (* r0 15) (* r1 5)) r2) 7)", {i, j, l})),
            "E\n"
            "W0:30\n"
            "p0[W0] = p1[(% W0 7)]\n");
}

TEST_F(Ranges, AreJoinedWhereOnlySomeTermsReadThem) {
  const Ref i = k.loop(16);
  const Ref j = k.loop(8);
  const Ref r = k.fold(4);
  const Ref s = k.fold(2);
  const Ref x = k.at(1, 1024, "(+ (+ (* r0 64) (* r1 8)) (+ (* r2 2) r3))");
  const Ref sum = k.reduce(Op::Add, x, {r, s});
  const Ref kernel = k.kernel("r", {k.end(k.at(0, 128, "(+ (* r0 8) r1)"), sum, {i, j})});
  EXPECT_EQ(after(simplify_ranges(), kernel),
            "r\n"
            "W0:128 R2:8\n"
            "p0[W0] = (reduce_add p1[(+ (* W0 8) R2)] R2)\n");
}

TEST_F(Ranges, StayApartWhereOneIsReadAlone) {
  const Ref i = k.loop(16);
  const Ref j = k.loop(8);
  const Ref kernel = copy("(+ (* r0 8) r1)", "(+ (* r1 16) r0)", {i, j});
  EXPECT_EQ(after(simplify_ranges(), kernel), SampleText::of(g, kernel));
}

TEST_F(Ranges, StayApartWhereAConditionReadsOne) {
  const Ref i = k.loop(16);
  const Ref j = k.loop(8);
  const Ref kernel = copy("(+ (* r0 8) r1)", "(where (< r1 7) (+ (* r0 8) r1) invalid)", {i, j});
  EXPECT_EQ(after(simplify_ranges(), kernel), SampleText::of(g, kernel));
}

TEST_F(Ranges, StayApartWhereTheyAreClosedApart) {
  const Ref i = k.loop(16);
  const Ref r = k.fold(8);
  const Ref sum = k.reduce(Op::Add, k.at(1, 128, "(+ (* r0 8) r1)"), {r});
  const Ref kernel = k.kernel("r", {k.end(k.at(0, 16, "r0"), sum, {i})});
  EXPECT_EQ(after(simplify_ranges(), kernel), SampleText::of(g, kernel));
}

TEST_F(Ranges, OfVariableSizesStayAsTheyAre) {
  const Ref n = k.variable("n", 1, 16);
  const Ref i = k.range(n, uop::AxisType::Weak);
  const Ref j = k.loop(8);
  const Ref kernel = copy("(+ (* r0 8) r1)", "(+ (* r0 8) r1)", {i, j});
  EXPECT_EQ(after(simplify_ranges(), kernel), SampleText::of(g, kernel));
}

TEST_F(Ranges, KernelsAreSimplifiedByTheirGates) {
  const Ref r = k.loop(32);
  EXPECT_EQ(after(simplify_kernel(), copy("(+ r0 0)", "(where (< r0 8) (% r0 8) invalid)", {r})),
            "E\n"
            "W0:32\n"
            "p0[W0] = p1[(where (< W0 8) W0 invalid)]\n");
}

}  // namespace
}  // namespace assay::codegen
