#include "engine/codegen/gates.h"

#include <gtest/gtest.h>

#include "engine/codegen/short_text.h"

namespace assay::codegen {
namespace {

// A kernel of 8 floats: %2 and %3 are PARAMs 0 and 1, %4 a work-item, %5 whether it is below 5,
// %6 the item where it is.
std::string gated_kernel(std::string_view rest) {
  return fmt::format(R"(uop 1 lowered
%0 = const i32 8
%1 = const i32 5
%2 = param f32 {{0}}
%3 = param f32 {{1}}
%4 = special i32 %0 {{"lidx0"}}
%5 = lt bool %4 %1
%nothing = invalid i32
%6 = where i32 %5 %4 %nothing
%zero = const f32 0.0
%seven = const f32 7.0
{})",
                     rest);
}

std::string after_gates(std::string_view rest) {
  return after_pass(move_gates(), gated_kernel(rest));
}

TEST(Gates, AStoreIsDoneWhereItsIndexWasAccessed) {
  EXPECT_EQ(after_gates(R"(%7 = index f32 %2 %6
%8 = store void %7 %seven
%9 = sink void %8 {"k"}
)"),
            "p0[lidx0] = 7.0 if (< lidx0 5)");
}

TEST(Gates, ALoadIsZeroWhereItIsNotDone) {
  EXPECT_EQ(after_gates(R"(%7 = index f32 %3 %6
%8 = load f32 %7
%9 = index f32 %2 %4
%10 = store void %9 %8
%11 = sink void %10 {"k"}
)"),
            "p0[lidx0] = (*p1[lidx0] ? (< lidx0 5) : 0.0)");
}

TEST(Gates, ALoadIsWhatASelectOnItsGateWouldPick) {
  EXPECT_EQ(after_gates(R"(%7 = index f32 %3 %6
%8 = load f32 %7
%9 = where f32 %5 %8 %seven
%10 = index f32 %2 %4
%11 = store void %10 %9
%12 = sink void %11 {"k"}
)"),
            "p0[lidx0] = (*p1[lidx0] ? (< lidx0 5) : 7.0)");
}

TEST(Gates, ASelectMayStandTheOtherWayAround) {
  EXPECT_EQ(after_gates(R"(%7 = index f32 %3 %6
%8 = load f32 %7
%not = not bool %5
%9 = where f32 %not %seven %8
%10 = index f32 %2 %4
%11 = store void %10 %9
%12 = sink void %11 {"k"}
)"),
            "p0[lidx0] = (*p1[lidx0] ? (< lidx0 5) : 7.0)");
}

// Under a maximum the unit is what the lowest number is: nothing else may come out of a lane that
// is not read.
TEST(Gates, TheUnitOfAFoldIsTheAlternative) {
  EXPECT_EQ(after_gates(R"(%7 = index f32 %3 %6
%8 = load f32 %7
%low = const f32 -inf
%9 = where f32 %5 %8 %low
%10 = index f32 %2 %4
%11 = max f32 %9 %seven
%12 = store void %10 %11
%13 = sink void %12 {"k"}
)"),
            "p0[lidx0] = (max (*p1[lidx0] ? (< lidx0 5) : -inf) 7.0)");
}

TEST(Gates, ASelectOnAnotherConditionStays) {
  EXPECT_EQ(after_gates(R"(%7 = index f32 %3 %6
%8 = load f32 %7
%three = const i32 3
%other = lt bool %4 %three
%9 = where f32 %other %8 %seven
%10 = index f32 %2 %4
%11 = store void %10 %9
%12 = sink void %11 {"k"}
)"),
            "p0[lidx0] = (where (< lidx0 3) (*p1[lidx0] ? (< lidx0 5) : 0.0) 7.0)");
}

TEST(Gates, OfTwoSelectsTheSecondStays) {
  EXPECT_EQ(after_gates(R"(%7 = index f32 %3 %6
%8 = load f32 %7
%9 = where f32 %5 %8 %seven
%10 = where f32 %5 %8 %zero
%11 = add f32 %9 %10
%12 = index f32 %2 %4
%13 = store void %12 %11
%14 = sink void %13 {"k"}
)"),
            "p0[lidx0] = (+ (*p1[lidx0] ? (< lidx0 5) : 7.0) "
            "(where (< lidx0 5) (*p1[lidx0] ? (< lidx0 5) : 7.0) 0.0))");
}

// %9 is what is loaded where the item is below 5 and above 1.
std::string where_between(std::string_view rest) {
  return after_gates(fmt::format(R"(%c1 = const i32 1
%above = lt bool %c1 %4
%both = and bool %5 %above
%7 = where i32 %both %4 %nothing
%8 = index f32 %3 %7
%9 = load f32 %8
{}%13 = index f32 %2 %4
%14 = store void %13 %12
%15 = sink void %14 {{"k"}}
)",
                                 rest));
}

TEST(Gates, AGateIsItsConditionsInAnyOrder) {
  EXPECT_EQ(where_between("%10 = and bool %above %5\n%12 = where f32 %10 %9 %seven\n"),
            "p0[lidx0] = (*p1[lidx0] ? (and (< lidx0 5) (< 1 lidx0)) : 7.0)");
}

TEST(Gates, ASelectOnPartOfAGateIsLeftOut) {
  EXPECT_EQ(where_between("%12 = where f32 %above %9 %zero\n"),
            "p0[lidx0] = (*p1[lidx0] ? (and (< lidx0 5) (< 1 lidx0)) : 0.0)");
  // Above 1 and past 5 it is not 7.
  EXPECT_EQ(where_between("%12 = where f32 %above %9 %seven\n"),
            "p0[lidx0] = (where (< 1 lidx0) (*p1[lidx0] ? (and (< lidx0 5) (< 1 lidx0)) : 0.0) "
            "7.0)");
}

TEST(Gates, SelectsInEachOtherAreOneSelect) {
  EXPECT_EQ(where_between("%10 = where f32 %above %9 %seven\n%12 = where f32 %5 %10 %seven\n"),
            "p0[lidx0] = (*p1[lidx0] ? (and (< lidx0 5) (< 1 lidx0)) : 7.0)");
  // Of two constants none is what the load is elsewhere.
  EXPECT_EQ(where_between("%10 = where f32 %above %9 %seven\n%12 = where f32 %5 %10 %zero\n"),
            "p0[lidx0] = (where (< lidx0 5) (where (< 1 lidx0) (*p1[lidx0] ? (and (< lidx0 5) (< 1 "
            "lidx0)) : 0.0) 7.0) 0.0)");
}

TEST(Gates, AVectorHasOneGateAndOneAlternative) {
  EXPECT_EQ(after_gates(R"(%two = const index 2
%7 = shrink f32 %3 %6 %two
%8 = load f32 %7
%c0 = const i32 0
%c1 = const i32 1
%9 = index f32 %8 %c0
%10 = index f32 %8 %c1
%11 = where f32 %5 %9 %seven
%12 = where f32 %5 %10 %seven
%13 = shrink f32 %2 %6 %two
%14 = stack f32 %12 %11
%15 = store void %13 %14
%16 = sink void %15 {"k"}
)"),
            "p0[lidx0:2] = [(*p1[lidx0:2] ? (< lidx0 5) : 7.0)[1], "
            "(*p1[lidx0:2] ? (< lidx0 5) : 7.0)[0]] if (< lidx0 5)");
}

// 7 has a half of its own; 0.1 has none, so the select is left to pick it.
TEST(Gates, AnAlternativeIsSeenThroughAConversionThatKeepsIt) {
  const std::string_view text = R"(%half = param f16 {{2}}
%7 = index f16 %half %6
%8 = load f16 %7
%9 = cast f32 %8
%other = const f32 {}
%10 = where f32 %5 %9 %other
%11 = index f32 %2 %4
%12 = store void %11 %10
%13 = sink void %12 {{"k"}}
)";
  EXPECT_EQ(after_gates(fmt::format(fmt::runtime(text), "7.0")),
            "p0[lidx0] = (f32 (*p2[lidx0] ? (< lidx0 5) : 7.0))");
  EXPECT_EQ(after_gates(fmt::format(fmt::runtime(text), "0.1")),
            "p0[lidx0] = (where (< lidx0 5) (f32 (*p2[lidx0] ? (< lidx0 5) : 0.0)) 0.1)");
}

// A vector that is converted as a whole, and bits that are moved up to those of a wider type.
TEST(Gates, AnAlternativeIsSeenThroughLanesAndBits) {
  EXPECT_EQ(after_gates(R"(%half = param f16 {2}
%two = const index 2
%7 = shrink f16 %half %6 %two
%8 = load f16 %7
%9 = cast f32 %8
%k = const i32 1
%10 = index f32 %9 %k
%11 = where f32 %5 %10 %seven
%12 = index f32 %2 %4
%13 = store void %12 %11
%14 = sink void %13 {"k"}
)"),
            "p0[lidx0] = (f32 (*p2[lidx0:2] ? (< lidx0 5) : 7.0))[1]");
  EXPECT_EQ(after_gates(R"(%bits = param u16 {2}
%7 = index u16 %bits %6
%8 = load u16 %7
%9 = cast u32 %8
%k = const u32 16
%10 = shl u32 %9 %k
%11 = bitcast f32 %10
%12 = where f32 %5 %11 %zero
%13 = index f32 %2 %4
%14 = store void %13 %12
%15 = sink void %14 {"k"}
)"),
            "p0[lidx0] = (bitcast (<< (u32 (*p2[lidx0] ? (< lidx0 5) : 0)) 16))");
}

// What a device makes of 2^0 may be near 1.
TEST(Gates, AnAlternativeIsNotSeenThroughAFunction) {
  EXPECT_EQ(after_gates(R"(%7 = index f32 %3 %6
%8 = load f32 %7
%9 = exp2 f32 %8
%one = const f32 1.0
%10 = where f32 %5 %9 %one
%11 = index f32 %2 %4
%12 = store void %11 %10
%13 = sink void %12 {"k"}
)"),
            "p0[lidx0] = (where (< lidx0 5) (exp2 (*p1[lidx0] ? (< lidx0 5) : 0.0)) 1.0)");
}

// Zeros of both signs are one number and two values.
TEST(Gates, AnAlternativeKeepsTheSignOfZero) {
  EXPECT_EQ(after_gates(R"(%7 = index f32 %3 %6
%8 = load f32 %7
%minus = const f32 -0.0
%9 = where f32 %5 %8 %minus
%10 = index f32 %2 %4
%11 = store void %10 %9
%12 = sink void %11 {"k"}
)"),
            "p0[lidx0] = (*p1[lidx0] ? (< lidx0 5) : -0.0)");
}

TEST(Gates, MayDependOnALoad) {
  EXPECT_EQ(after_gates(R"(%ids = param i32 {2}
%7 = index i32 %ids %4
%8 = load i32 %7
%minus = const i32 -1
%9 = lt bool %minus %8
%10 = lt bool %8 %0
%11 = and bool %9 %10
%12 = where i32 %11 %8 %nothing
%13 = index f32 %3 %12
%14 = load f32 %13
%15 = where f32 %11 %14 %zero
%16 = index f32 %2 %4
%17 = store void %16 %15
%18 = sink void %17 {"k"}
)"),
            "p0[lidx0] = (*p1[*p2[lidx0]] ? "
            "(and (< -1 *p2[lidx0]) (< *p2[lidx0] 8)) : 0.0)");
}

// A condition that is itself read under a gate.
TEST(Gates, OfAGateHoldWithinIt) {
  EXPECT_EQ(after_gates(R"(%ids = param i32 {2}
%7 = index i32 %ids %6
%8 = load i32 %7
%9 = lt bool %8 %0
%10 = and bool %5 %9
%11 = where i32 %10 %4 %nothing
%12 = index f32 %2 %11
%13 = store void %12 %seven
%14 = sink void %13 {"k"}
)"),
            "p0[lidx0] = 7.0 if (and (< lidx0 5) (< (*p2[lidx0] ? (< lidx0 5) : 0) 8))");
}

TEST(Gates, OneWithinAnotherAreBothAsked) {
  EXPECT_EQ(after_gates(R"(%three = const i32 3
%7 = ne bool %4 %three
%8 = where i32 %7 %6 %nothing
%9 = index f32 %2 %8
%10 = store void %9 %seven
%11 = sink void %10 {"k"}
)"),
            "p0[lidx0] = 7.0 if (and (!= lidx0 3) (< lidx0 5))");
}

// What is INVALID by itself is a gate that never holds.
TEST(Gates, WhatIsNeverAccessedIsGone) {
  EXPECT_EQ(after_gates(R"(%7 = index f32 %3 %nothing
%8 = load f32 %7
%9 = index f32 %2 %4
%10 = store void %9 %8
%11 = index f32 %2 %nothing
%12 = store void %11 %seven
%13 = sink void %10 %12 {"k"}
)"),
            "p0[lidx0] = 0.0\n{}");
}

TEST(Gates, AreMovedOutOfIndexArithmeticFirst) {
  EXPECT_EQ(after_gates(R"(%three = const i32 3
%7 = add i32 %6 %three
%8 = index f32 %2 %7
%9 = store void %8 %seven
%10 = sink void %9 {"k"}
)"),
            "p0[(+ lidx0 3)] = 7.0 if (< lidx0 5)");
}

}  // namespace
}  // namespace assay::codegen
