#include "engine/codegen/devectorize.h"

#include <gtest/gtest.h>

#include "engine/codegen/short_text.h"

namespace assay::codegen {
namespace {

// A kernel with PARAM 0 to 2 of 64 floats (%out, %a, %b), a range r0 of 4, lanes %x along the last
// axis ([4]) and %y along the one before it ([2, 1]).
std::string kernel(std::string_view rest) {
  return fmt::format(R"(uop 1 loads
%size = const index 64
%c0 = const index 0
%c1 = const index 1
%c2 = const index 2
%c3 = const index 3
%c4 = const index 4
%c8 = const index 8
%out = param f32 %size {{0}}
%a = param f32 %size {{1}}
%b = param f32 %size {{2}}
%r = range index %c4 {{0 loop}}
%x = stack index %c0 %c1 %c2 %c3
%y1 = stack index %c0 %c1
%y = reshape index %y1 %c2 %c1
%nothing = invalid index
%zero = const f32 0.0
%seven = const f32 7.0
{})",
                     rest);
}

std::string after(std::string_view rest) { return after_pass(devectorize(), kernel(rest)); }

TEST(Devectorize, AStoreOfLanesIsAGroupInRowMajorOrder) {
  EXPECT_EQ(after(R"(%1 = mul index %r %c8
%2 = mul index %y %c4
%3 = add index %1 %2
%4 = add index %3 %x
%5 = index f32 %out %4
%6 = store void %5 %seven
%7 = end void %6 %r
%8 = sink void %7 {"k"}
)"),
            "{p0[(* r0 8)] = 7.0; p0[(+ (* r0 8) 1)] = 7.0; p0[(+ (* r0 8) 2)] = 7.0; "
            "p0[(+ (* r0 8) 3)] = 7.0; p0[(+ (* r0 8) 4)] = 7.0; p0[(+ (* r0 8) 5)] = 7.0; "
            "p0[(+ (* r0 8) 6)] = 7.0; p0[(+ (* r0 8) 7)] = 7.0} for r0");
}

// [2, 1] and [4]: lane (i, j) is row i of one and column j of the other.
TEST(Devectorize, OperandsBroadcastFromTheRight) {
  EXPECT_EQ(after(R"(%1 = index f32 %a %y
%2 = load f32 %1
%3 = stack index %c0 %c1
%4 = index f32 %b %3
%5 = load f32 %4
%6 = add f32 %2 %5
%7 = mul index %y %c2
%8 = add index %7 %3
%9 = index f32 %out %8
%10 = store void %9 %6
%11 = sink void %10 {"k"}
)"),
            "{p0[0] = (+ *p1[0] *p2[0]); p0[1] = (+ *p1[0] *p2[1]); "
            "p0[2] = (+ *p1[1] *p2[0]); p0[3] = (+ *p1[1] *p2[1])}");
}

TEST(Devectorize, BuffersHaveOneAxis) {
  EXPECT_EQ(after(R"(%1 = buffer f32 %c4 %c2 %c4 {0 local}
%2 = add index %r %c1
%3 = index f32 %1 %r %c1
%4 = index f32 %a %x
%5 = load f32 %4
%6 = store void %3 %5
%7 = end void %6 %r
%8 = after f32 %1 %7
%9 = index f32 %8 %c2 %c0 %c3
%10 = load f32 %9
%11 = index f32 %out %c0
%12 = store void %11 %10
%13 = sink void %12 {"k"}
)"),
            "p0[0] = *local0@({local0[(+ (* r0 8) 4)] = *p1[0]; local0[(+ (* r0 8) 5)] = *p1[1]; "
            "local0[(+ (* r0 8) 6)] = *p1[2]; local0[(+ (* r0 8) 7)] = *p1[3]} for r0)[19]");
}

TEST(Devectorize, AnAccumulatorIsReadAndWrittenLaneByLane) {
  EXPECT_EQ(after(R"(%acc = buffer f32 %c2 %c1 {0 reg}
%1 = store void %acc %zero
%fold = range index %c8 {1 reduce}
%in = after f32 %acc %1 %fold
%2 = load f32 %in
%3 = mul index %y %c8
%4 = add index %3 %fold
%5 = index f32 %a %4
%6 = load f32 %5
%7 = add f32 %2 %6
%8 = store void %in %7
%9 = end void %8 %fold
%10 = after f32 %acc %9
%11 = load f32 %10
%12 = index f32 %out %y
%13 = store void %12 %11
%14 = sink void %13 {"k"}
)"),
            "{p0[0] = *reg0@({reg0@({reg0[0] = 0.0; reg0[1] = 0.0}; r1)[0] = "
            "(+ *reg0@({reg0[0] = 0.0; reg0[1] = 0.0}; r1)[0] *p1[r1]); "
            "reg0@({reg0[0] = 0.0; reg0[1] = 0.0}; r1)[1] = "
            "(+ *reg0@({reg0[0] = 0.0; reg0[1] = 0.0}; r1)[1] *p1[(+ r1 8)])} for r1)[0]; "
            "p0[1] = *reg0@({reg0@({reg0[0] = 0.0; reg0[1] = 0.0}; r1)[0] = "
            "(+ *reg0@({reg0[0] = 0.0; reg0[1] = 0.0}; r1)[0] *p1[r1]); "
            "reg0@({reg0[0] = 0.0; reg0[1] = 0.0}; r1)[1] = "
            "(+ *reg0@({reg0[0] = 0.0; reg0[1] = 0.0}; r1)[1] *p1[(+ r1 8)])} for r1)[1]}");
}

TEST(Devectorize, AnAccumulatorOfOneElementHasOneAxisToo) {
  EXPECT_EQ(after(R"(%acc = buffer f32 {0 reg}
%1 = store void %acc %seven
%2 = after f32 %acc %1
%3 = load f32 %2
%4 = index f32 %out %c0
%5 = store void %4 %3
%6 = sink void %5 {"k"}
)"),
            "p0[0] = *reg0@(reg0[0] = 7.0)[0]");
}

// Lanes 0..7 of (58 + lane) % 20 have two quotients: 18 19 0 1 …, not 18 19 20 21 ….
TEST(Devectorize, ARemainderIsTakenInEachLane) {
  EXPECT_EQ(after(R"(%8 = stack index %x %x
%2 = reshape index %y1 %c2 %c1
%3 = mul index %2 %c4
%4 = add index %3 %x
%58 = const index 58
%5 = add index %4 %58
%20 = const index 20
%6 = mod index %5 %20
%7 = index f32 %a %6
%9 = load f32 %7
%10 = index f32 %out %4
%11 = store void %10 %9
%12 = sink void %11 {"k"}
)"),
            "{p0[0] = *p1[18]; p0[1] = *p1[19]; p0[2] = *p1[0]; p0[3] = *p1[1]; p0[4] = *p1[2]; "
            "p0[5] = *p1[3]; p0[6] = *p1[4]; p0[7] = *p1[5]}");
}

// The quotient by 4 of 4 lanes is one term, by 3 it is not.
TEST(Devectorize, AQuotientIsSimplifiedInEachLane) {
  EXPECT_EQ(after(R"(%1 = mul index %r %c4
%2 = add index %1 %x
%3 = div index %2 %c4
%4 = mod index %2 %c4
%5 = div index %2 %c3
%6 = index f32 %a %3
%7 = load f32 %6
%8 = index f32 %a %4
%9 = load f32 %8
%10 = index f32 %a %5
%11 = load f32 %10
%12 = add f32 %7 %9
%13 = add f32 %12 %11
%14 = index f32 %out %2
%15 = store void %14 %13
%16 = end void %15 %r
%17 = sink void %16 {"k"}
)"),
            "{p0[(* r0 4)] = (+ (+ *p1[r0] *p1[0]) *p1[(+ r0 (// r0 3))]); "
            "p0[(+ (* r0 4) 1)] = (+ (+ *p1[r0] *p1[1]) *p1[(+ r0 (// (+ r0 1) 3))]); "
            "p0[(+ (* r0 4) 2)] = (+ (+ *p1[r0] *p1[2]) *p1[(+ r0 (// (+ r0 2) 3))]); "
            "p0[(+ (* r0 4) 3)] = (+ (+ *p1[r0] *p1[3]) *p1[(+ (+ r0 (// r0 3)) 1)])} for r0");
}

// x of 5 elements behind 2 sevens, in lanes that straddle the edge: each has a gate of its own, and
// where that is known it is gone, with what it says.
TEST(Devectorize, EachLaneHasItsOwnGate) {
  EXPECT_EQ(after(R"(%m1 = const index -1
%m2 = const index -2
%1 = mul index %r %c4
%2 = add index %1 %x
%c7 = const index 7
%in = lt bool %2 %c7
%3 = add index %2 %m2
%4 = lt bool %m1 %3
%5 = where index %4 %3 %nothing
%6 = index f32 %a %5
%7 = load f32 %6
%8 = where f32 %4 %7 %seven
%9 = where index %in %2 %nothing
%10 = index f32 %out %9
%11 = store void %10 %8
%12 = end void %11 %r
%13 = sink void %12 {"k"}
)"),
            "{p0[(where (< r0 2) (* r0 4) -)] = (where (< 0 r0) "
            "*p1[(where (< 0 r0) (+ (* r0 4) -2) -)] 7.0); "
            "p0[(where (< r0 2) (+ (* r0 4) 1) -)] = (where (< 0 r0) "
            "*p1[(where (< 0 r0) (+ (* r0 4) -1) -)] 7.0); "
            "p0[(where (< r0 2) (+ (* r0 4) 2) -)] = *p1[(* r0 4)]; "
            "p0[(where (< r0 1) (+ (* r0 4) 3) -)] = *p1[(+ (* r0 4) 1)]} for r0");
}

TEST(Devectorize, AValueMayHaveSizesOf1InFront) {
  EXPECT_EQ(after(R"(%1 = index f32 %a %y1
%2 = load f32 %1
%3 = reshape f32 %2 %c1 %c2
%4 = index f32 %out %y1
%5 = store void %4 %3
%6 = sink void %5 {"k"}
)"),
            "{p0[0] = *p1[0]; p0[1] = *p1[1]}");
}

TEST(Devectorize, LanesThatAreNeverAccessedAreGone) {
  EXPECT_EQ(after(R"(%1 = lt bool %x %c2
%2 = where index %1 %x %nothing
%3 = index f32 %a %2
%4 = load f32 %3
%5 = where f32 %1 %4 %seven
%6 = lt bool %x %c3
%7 = where index %6 %x %nothing
%8 = index f32 %out %7
%9 = store void %8 %5
%10 = sink void %9 {"k"}
)"),
            "{p0[0] = *p1[0]; p0[1] = *p1[1]; p0[2] = 7.0}");
}

// Both indices have a gate, and so has the place that they name together.
TEST(Devectorize, APlaceIsGatedAsEachOfItsIndicesIs) {
  EXPECT_EQ(after(R"(%1 = buffer f32 %c4 %c8 {0 local}
%g1 = lt bool %c0 %r
%g2 = lt bool %r %c3
%2 = where index %g1 %r %nothing
%3 = where index %g2 %r %nothing
%4 = index f32 %1 %2 %3
%5 = store void %4 %seven
%6 = end void %5 %r
%7 = sink void %6 {"k"}
)"),
            "local0[(where (and (< 0 r0) (< r0 3)) (* r0 9) -)] = 7.0 for r0");
}

// A value that is none in some lanes, or under a condition.
TEST(Devectorize, WhatIsNoValueIsNotStored) {
  EXPECT_EQ(after(R"(%never = invalid f32
%1 = lt bool %c1 %r
%2 = where f32 %1 %seven %never
%3 = stack f32 %seven %never %2 %zero
%4 = index f32 %out %x
%5 = store void %4 %3
%6 = end void %5 %r
%7 = sink void %6 {"k"}
)"),
            "{p0[0] = 7.0; p0[(where (< 1 r0) 2 -)] = 7.0; p0[3] = 0.0} for r0");
}

TEST(Devectorize, AGateThatDependsOnALoadStays) {
  EXPECT_EQ(
      after(R"(%ids = param i32 %size {3}
%1 = index i32 %ids %y1
%2 = load i32 %1
%3 = cast index %2
%m1 = const index -1
%4 = lt bool %m1 %3
%5 = lt bool %3 %size
%6 = and bool %4 %5
%7 = where index %6 %3 %nothing
%8 = index f32 %a %7
%9 = load f32 %8
%10 = where f32 %6 %9 %zero
%11 = index f32 %out %y1
%12 = store void %11 %10
%13 = sink void %12 {"k"}
)"),
      "{p0[0] = (where (and (< -1 (index *p3[0])) (< (index *p3[0]) 64)) "
      "*p1[(where (and (< -1 (index *p3[0])) (< (index *p3[0]) 64)) (index *p3[0]) -)] 0.0); "
      "p0[1] = (where (and (< -1 (index *p3[1])) (< (index *p3[1]) 64)) "
      "*p1[(where (and (< -1 (index *p3[1])) (< (index *p3[1]) 64)) (index *p3[1]) -)] 0.0)}");
}

// PERMUTE, EXPAND, STACK and INDEX by constants say which lane is meant.
TEST(Devectorize, MovementsPickLanes) {
  EXPECT_EQ(after(R"(%1 = mul index %y %c4
%2 = stack index %c0 %c2 %c3
%3 = add index %1 %2
%4 = index f32 %a %3
%5 = load f32 %4
%6 = permute f32 %5 {1 0}
%7 = index f32 %6 %c1
%8 = stack f32 %7 %seven
%9 = reshape f32 %8 %c4
%10 = expand f32 %9 %c2 %c4
%11 = mul index %y %c4
%12 = add index %11 %x
%13 = index f32 %out %12
%14 = store void %13 %10
%15 = sink void %14 {"k"}
)"),
            "{p0[0] = *p1[2]; p0[1] = *p1[6]; p0[2] = 7.0; p0[3] = 7.0; "
            "p0[4] = *p1[2]; p0[5] = *p1[6]; p0[6] = 7.0; p0[7] = 7.0}");
}

TEST(Devectorize, AHorizontalFoldKeepsItsOrder) {
  EXPECT_EQ(after(R"(%1 = index f32 %a %x
%2 = load f32 %1
%3 = index f32 %2 %c0
%4 = index f32 %2 %c1
%5 = index f32 %2 %c2
%6 = index f32 %2 %c3
%7 = add f32 %3 %4
%8 = add f32 %7 %5
%9 = add f32 %8 %6
%10 = index f32 %out %c0
%11 = store void %10 %9
%12 = sink void %11 {"k"}
)"),
            "p0[0] = (+ (+ (+ *p1[0] *p1[1]) *p1[2]) *p1[3])");
}

TEST(Devectorize, ABitcastOfAnotherWidthIsOneOfBits) {
  EXPECT_EQ(after(R"(%h = param u16 %size {3}
%1 = index u16 %h %y1
%2 = load u16 %1
%3 = bitcast f32 %2
%4 = reshape f32 %3
%5 = index f32 %out %c0
%6 = store void %5 %4
%7 = sink void %6 {"k"}
)"),
            "p0[0] = (bitcast (or (u32 *p3[0]) (<< (u32 *p3[1]) 16)))");
  EXPECT_EQ(after(R"(%h = param u16 %size {3}
%1 = index f32 %a %c1
%2 = load f32 %1
%3 = reshape f32 %2 %c1
%4 = bitcast u16 %3
%5 = index u16 %h %y1
%6 = store void %5 %4
%7 = sink void %6 {"k"}
)"),
            "{p3[0] = (u16 (bitcast *p1[1])); p3[1] = (u16 (>> (bitcast *p1[1]) 16))}");
}

TEST(Devectorize, EffectsOfOneGroupAreOneList) {
  EXPECT_EQ(after(R"(%1 = index f32 %out %y1
%2 = store void %1 %seven
%3 = index f32 %out %c4
%4 = store void %3 %zero
%5 = group void %2 %4
%6 = sink void %5 {"k"}
)"),
            "{p0[0] = 7.0; p0[1] = 7.0; p0[4] = 0.0}");
}

// 2^62 + 2^62 leaves 64 bits, and so no constant can say it.
TEST(Devectorize, WhatLeaves64BitsStaysATerm) {
  EXPECT_EQ(after(R"(%far = const index 4611686018427387904
%1 = add index %x %far
%2 = mul index %1 %c2
%3 = index f32 %a %2
%4 = load f32 %3
%5 = index f32 %4 %c0
%6 = index f32 %out %c0
%7 = store void %6 %5
%8 = sink void %7 {"k"}
)"),
            "p0[0] = *p1[(* 4611686018427387904 2)]");
}

TEST(Devectorize, ShapesThatDoNotFitAreAnError) {
  EXPECT_EQ(after(R"(%1 = stack index %c0 %c1 %c2
%2 = index f32 %a %1
%3 = load f32 %2
%4 = index f32 %out %x
%5 = store void %4 %3
%6 = sink void %5 {"k"}
)"),
            "devectorize: load of shape [3] stands where [4] is needed");
  EXPECT_EQ(after(R"(%n = var index {"n" 1 8}
%1 = buffer f32 %n {0 reg}
%2 = store void %1 %zero
%3 = sink void %2 {"k"}
)"),
            "devectorize: buffer has lanes of shape [n]");
  EXPECT_EQ(after(R"(%1 = index f32 %a %x
%2 = load f32 %1
%3 = index f32 %2 %r
%4 = index f32 %out %c0
%5 = store void %4 %3
%6 = end void %5 %r
%7 = sink void %6 {"k"}
)"),
            "devectorize: index picks no lane of a value");
}

}  // namespace
}  // namespace assay::codegen
