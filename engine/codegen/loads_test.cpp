#include "engine/codegen/loads.h"

#include <gtest/gtest.h>

#include "engine/codegen/short_text.h"

namespace assay::codegen {
namespace {

TEST(Loads, EachReadIsALoadAndWhatIsStoredToIsNone) {
  EXPECT_EQ(after_pass(pm_add_loads(), R"(uop 1 placed
%0 = const index 8
%1 = param f32 %0 {0}
%2 = param f32 %0 {1}
%3 = range index %0 {0 loop}
%4 = index f32 %1 %3
%5 = index f32 %2 %3
%6 = add f32 %5 %5
%7 = store void %4 %6
%8 = end void %7 %3
%9 = sink void %8 {"k"}
)"),
            "p0[r0] = (+ *p1[r0] *p1[r0]) for r0");
}

TEST(Loads, ReadInPlaceWhatTheyAlsoStoreTo) {
  EXPECT_EQ(after_pass(pm_add_loads(), R"(uop 1 placed
%0 = const index 8
%1 = param i32 %0 {0}
%3 = range index %0 {0 loop}
%4 = index i32 %1 %3
%5 = const i32 1
%6 = add i32 %4 %5
%7 = store void %4 %6
%8 = end void %7 %3
%9 = sink void %8 {"k"}
)"),
            "p0[r0] = (+ *p0[r0] 1) for r0");
}

// A state of registers that is read is all of it, at its place in the order.
TEST(Loads, KeepTheOrderOfAnAccumulator) {
  EXPECT_EQ(after_pass(pm_add_loads(), R"(uop 1 placed
%0 = const index 8
%1 = const index 2
%2 = buffer f32 %1 {0 reg}
%3 = const f32 0.0
%4 = store void %2 %3
%5 = range index %0 {0 reduce}
%6 = after f32 %2 %4 %5
%7 = param f32 %0 {1}
%8 = index f32 %7 %5
%9 = add f32 %6 %8
%10 = store void %6 %9
%11 = end void %10 %5
%12 = after f32 %2 %11
%13 = param f32 %1 {0}
%14 = store void %13 %12
%15 = sink void %14 {"k"}
)"),
            "p0 = *reg0@(reg0@(reg0 = 0.0; r0) = (+ *reg0@(reg0 = 0.0; r0) *p1[r0]) for r0)");
}

TEST(Loads, WhatOnlyOrdersIsNotRead) {
  EXPECT_EQ(after_pass(pm_add_loads(), R"(uop 1 placed
%0 = const index 8
%1 = param f32 %0 {0}
%2 = const index 0
%3 = buffer f32 %0 {0 local}
%4 = index f32 %3 %2
%5 = const f32 1.0
%6 = store void %4 %5
%7 = after f32 %3 %6
%8 = after f32 %1 %7
%9 = index f32 %8 %2
%10 = store void %9 %5
%11 = sink void %10 {"k"}
)"),
            "p0@(local0@(local0[0] = 1.0))[0] = 1.0");
}

TEST(Loads, OrderSaidOfAPlaceIsSaidOfItsStorage) {
  EXPECT_EQ(after_pass(pm_add_loads(), R"(uop 1 placed
%0 = const index 8
%1 = param f32 %0 {0}
%2 = const index 0
%3 = buffer f32 %0 {0 local}
%4 = index f32 %3 %2
%5 = const f32 1.0
%6 = store void %4 %5
%7 = const index 1
%8 = index f32 %3 %7
%9 = after f32 %8 %6
%10 = index f32 %1 %2
%11 = store void %10 %9
%12 = sink void %11 {"k"}
)"),
            "p0[0] = *local0@(local0[0] = 1.0)[1]");
}

// An index that is read, and one that a gate which is read holds back.
TEST(Loads, StandWithinIndicesAndGates) {
  EXPECT_EQ(after_pass(pm_add_loads(), R"(uop 1 placed
%0 = const index 8
%1 = param f32 %0 {0}
%2 = param f32 %0 {1}
%3 = param i32 %0 {2}
%4 = range index %0 {0 loop}
%5 = index i32 %3 %4
%6 = cast index %5
%7 = const index -1
%8 = lt bool %7 %6
%9 = lt bool %6 %0
%10 = and bool %8 %9
%11 = invalid index
%12 = where index %10 %6 %11
%13 = index f32 %2 %12
%14 = const f32 0.0
%15 = where f32 %10 %13 %14
%16 = index f32 %1 %4
%17 = store void %16 %15
%18 = end void %17 %4
%19 = sink void %18 {"k"}
)"),
            "p0[r0] = (where (and (< -1 (index *p2[r0])) (< (index *p2[r0]) 8)) "
            "*p1[(where (and (< -1 (index *p2[r0])) (< (index *p2[r0]) 8)) (index *p2[r0]) -)] "
            "0.0) for r0");
}

// Lanes of a value are no storage; a movement of storage is one of what it holds.
TEST(Loads, ReadStorageBeforeItsLanesAreMoved) {
  EXPECT_EQ(after_pass(pm_add_loads(), R"(uop 1 placed
%0 = const index 2
%1 = const index 1
%2 = buffer f32 %0 {0 reg}
%3 = reshape f32 %2 %0 %1
%4 = index f32 %3 %1
%5 = const index 0
%6 = index f32 %4 %5
%7 = param f32 %0 {0}
%8 = index f32 %7 %5
%9 = store void %8 %6
%10 = sink void %9 {"k"}
)"),
            "p0[0] = (reshape *reg0 2 1)[1][0]");
}

// Its source is one value of four lanes: no lane of the result has a lane of it to itself.
TEST(Loads, StandBelowABitcastThatChangesTheShape) {
  EXPECT_EQ(after_pass(pm_add_loads(), R"(uop 1 placed
%0 = const index 4
%1 = const index 16
%2 = param f32 %0 {1}
%3 = bitcast u8 %2
%4 = param u8 %1 {0}
%5 = store void %4 %3
%6 = sink void %5 {"k"}
)"),
            "p0 = (bitcast *p1)");
}

}  // namespace
}  // namespace assay::codegen
