#include "oracles/interpreter/lowered.h"

#include <gtest/gtest.h>

#include <cmath>

#include "oracles/interpreter/test_kernel.h"
#include "oracles/interpreter/test_program.h"

// Kernels between passes: what is an error, and what is poison. That all forms of a kernel compute
// the same is tested beside the forms' specs (oracles/passes).
namespace assay::interpreter {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;

constexpr auto kPoison = static_cast<int32_t>(0xA5A5A5A5U);

// Two groups of four work-items turn their part of a around, through local storage.
constexpr std::string_view kTurn = R"(
%c2 = const i32 2
%c3 = const i32 3
%c4 = const i32 4
%c8 = const i32 8
%out = param i32 %c8 {0}
%a = param i32 %c8 {1}
%n = special i32 %c2 {"gidx0"}
%l = special i32 %c4 {"lidx0"}
%n4 = mul i32 %n %c4
%i = add i32 %n4 %l
%from = index i32 %a %i
%x = load i32 %from
%b = buffer i32 %c4 {0 local}
%bl = index i32 %b %l
%put = store void %bl %x
%wait = barrier void %put
%full = after i32 %b %wait
%back = sub i32 %c3 %l
%fb = index i32 %full %back
%y = load i32 %fb
%to = index i32 %out %i
%store = store void %to %y
%kernel = sink void %store {"turn"}
)";

TEST(Lowered, LocalStorageIsSharedByAGroup) {
  TestKernel k(kTurn);
  k.set<int32_t>(1, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.get<int32_t>(0), (Ints{4, 3, 2, 1, 8, 7, 6, 5}));
}

TEST(Lowered, BarriersHaveNothingToDo) {
  TestKernel k(edited(kTurn, "after i32 %b %wait", "after i32 %b %put"));
  k.set<int32_t>(1, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.get<int32_t>(0), (Ints{4, 3, 2, 1, 8, 7, 6, 5}));
}

TEST(Lowered, LocalStorageThatNobodyWroteIsPoison) {
  TestKernel k(edited(edited(kTurn, "%put =", "%low = lt bool %l %c2\n%put ="), "store void %bl %x",
                      "store void %bl %x %low"));
  k.set<int32_t>(1, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.get<int32_t>(0), (Ints{kPoison, kPoison, 2, 1, kPoison, kPoison, 6, 5}));
}

TEST(Lowered, AStoreWithoutAnOrderIsFoundByTheOtherOrder) {
  // The read does not wait for the store: in one of the two orders it comes first.
  const std::string text = edited(edited(kTurn, "%full = after i32 %b %wait\n", ""),
                                  "index i32 %full %back", "index i32 %b %back");
  const std::string kernel = edited(text, "sink void %store", "sink void %put %store");
  TestKernel first(kernel);
  first.set<int32_t>(1, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(first.run(StepOrder::FirstSourceFirst), "");
  EXPECT_EQ(first.get<int32_t>(0), (Ints{4, 3, 2, 1, 8, 7, 6, 5}));
  TestKernel last(kernel);
  last.set<int32_t>(1, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(last.run(StepOrder::LastSourceFirst), "");
  EXPECT_EQ(last.get<int32_t>(0), Ints(8, kPoison));
}

TEST(Lowered, TwoWorkItemsThatWriteOneElementAreAnError) {
  for (const char* index : {"%n4", "%l"}) {
    const std::string to = fmt::format("index i32 %out {}", index);
    EXPECT_EQ(TestKernel(edited(kTurn, "index i32 %out %i", to)).run(),
              "writes element 0 of argument 0 (buffer 0), which the same store has written");
  }
  EXPECT_EQ(TestKernel(edited(kTurn, "index i32 %b %l", "index i32 %b %c2")).run(),
            "writes element 2 of local buffer 0 twice at once");
}

TEST(Lowered, AnotherGroupMustNotReadWhatOneWrites) {
  // out[i] = out[7 - i]
  const std::string text = edited(edited(kTurn, "%from = index i32 %a %i",
                                         "%c7 = const i32 7\n%m = sub i32 %c7 %i\n"
                                         "%from = index i32 %out %m"),
                                  "store void %to %y", "store void %to %x");
  EXPECT_EQ(TestKernel(text).run(),
            "writes element 0 of argument 0 (buffer 0), which another work-item reads");
}

TEST(Lowered, AnIndexOutsideNamesTheWorkItem) {
  EXPECT_EQ(TestKernel(edited(kTurn, "%back = sub i32 %c3 %l", "%back = add i32 %c3 %l")).run(),
            "reads element 4 of local buffer 0, which holds 4, at gidx0 = 0, lidx0 = 1");
  EXPECT_EQ(TestKernel(edited(kTurn, "%i = add i32 %n4 %l", "%i = sub i32 %n4 %l")).run(),
            "reads element -1 of argument 1 (buffer 1), which holds 8, at gidx0 = 0, lidx0 = 1");
}

// out[i] = the sum over j < 3 of 10 i + j, in a register.
constexpr std::string_view kSum = R"(
%c0 = const index 0
%c2 = const index 2
%c3 = const index 3
%ten = const index 10
%zero = const i32 0
%out = param i32 %c2 {0}
%i = range index %c2 {0 global}
%j = range index %c3 {1 reduce}
%i10 = mul index %i %ten
%ij = add index %i10 %j
%x = cast i32 %ij
%acc = buffer i32 {0 reg}
%placed = after i32 %acc %i
%start = store void %placed %zero
%in = after i32 %acc %start %j
%sum = add i32 %in %x
%step = store void %in %sum
%loop = end void %step %j
%all = after i32 %acc %loop
%to = index i32 %out %i
%store = store void %to %all
%end = end void %store %i
%kernel = sink void %end {"sum"}
)";

TEST(Lowered, RegistersKeepWhatTheyHoldFromOneIterationToTheNext) {
  TestKernel k(kSum);
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.get<int32_t>(0), (Ints{3, 33}));
}

TEST(Lowered, ARegisterThatNobodyWroteIsPoison) {
  TestKernel k(edited(kSum, "after i32 %acc %start %j", "after i32 %acc %j"));
  EXPECT_EQ(k.run(), "");
  const auto sum = static_cast<int32_t>(0xA5A5A5A5U + 3);
  EXPECT_EQ(k.get<int32_t>(0), (Ints{sum, sum + 30}));
}

TEST(Lowered, ARangeWithoutAnEndIsAnError) {
  EXPECT_EQ(
      TestKernel(edited(kSum, "%kernel = sink void %end", "%kernel = sink void %store")).run(),
      "range 0 has no END");
  EXPECT_EQ(
      TestKernel(edited(kSum, "%loop = end void %step %j", "%loop = end void %step %i")).run(),
      "range 1 has no END");
}

TEST(Lowered, AStoreThatStandsInTwoLoopsIsAnError) {
  const std::string text = edited(kSum, "%all = after i32 %acc %loop",
                                  "%k = range index %c2 {2 loop}\n%both = end void %step %j %k\n"
                                  "%all = after i32 %acc %loop %both");
  EXPECT_EQ(TestKernel(text).run(), "a store that stands in two loops");
}

TEST(Lowered, LoopsOfNoIterationsDoNothing) {
  TestKernel k(edited(kSum, "%j = range index %c3", "%j = range index %c0"));
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.get<int32_t>(0), (Ints{0, 0}));
}

TEST(Lowered, ManyGroupsRunInBlocks) {
  constexpr int kCount = 30'000;
  TestKernel k(edited(edited(kSum, "%out = param i32 %c2",
                             fmt::format("%many = const index {}\n%out = param i32 %many", kCount)),
                      "%i = range index %c2", "%i = range index %many"));
  EXPECT_EQ(k.run(), "");
  Ints want;
  for (int i = 0; i < kCount; i++) want.push_back(30 * i + 3);
  EXPECT_EQ(k.get<int32_t>(0), want);
}

TEST(Lowered, SizesMayBeVariables) {
  TestKernel k(edited(edited(kSum, "%c3 = const index 3", "%c3 = var index {\"n\" 0 9}"),
                      "%c2 = const index 2", "%c2 = var index {\"m\" 0 9}"),
               {{"n", 4}, {"m", 3}});
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.get<int32_t>(0), (Ints{6, 46, 86}));
  TestKernel none(edited(kSum, "%c2 = const index 2", "%c2 = var index {\"m\" 0 9}"), {{"m", 0}});
  EXPECT_EQ(none.run(), "");
}

// The bits of four floats, as bytes and back.
TEST(Lowered, ABitcastBetweenWidthsMovesBytes) {
  TestKernel k(R"(
%c0 = const i32 0
%c4 = const i32 4
%out = param f32 %c4 {0}
%a = param f32 %c4 {1}
%from = shrink f32 %a %c0 %c4
%x = load f32 %from
%b = bitcast u8 %x
%one = const u8 1
%c = xor u8 %b %one
%y = bitcast f32 %c
%to = shrink f32 %out %c0 %c4
%store = store void %to %y
%kernel = sink void %store {"bits"}
)");
  const auto flipped = [](float x) {
    return std::bit_cast<float>(std::bit_cast<uint32_t>(x) ^ 0x01010101U);
  };
  const Floats a = {1, -2, 0.5, 1e30F};
  k.set(1, a);
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.get<float>(0), (Floats{flipped(a[0]), flipped(a[1]), flipped(a[2]), flipped(a[3])}));
}

// A register of two axes: each index takes the next leading one.
TEST(Lowered, IndicesTakeLeadingAxes) {
  constexpr std::string_view kText = R"(
%c0 = const index 0
%c1 = const index 1
%c2 = const index 2
%c3 = const index 3
%out = param i32 %c3 {0}
%v0 = const i32 10
%v1 = const i32 20
%v2 = const i32 30
%row = stack i32 %v0 %v1 %v2
%b = buffer i32 %c2 %c3 {0 reg}
%b0 = index i32 %b %c0
%b1 = index i32 %b %c1
%b12 = index i32 %b %c1 %c2
%w0 = store void %b0 %row
%two = add i32 %row %v0
%w1 = store void %b1 %two
%first = group void %w0 %w1
%again = after i32 %b12 %first
%w2 = store void %again %v0
%full = after i32 %b %w2
%read = index i32 %full %c1
%at = stack index %c0 %c1 %c2
%to = index i32 %out %at
%store = store void %to %read
%kernel = sink void %store {"axes"}
)";
  TestKernel k(kText);
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.get<int32_t>(0), (Ints{20, 30, 10}));
  EXPECT_EQ(TestKernel(edited(kText, "index i32 %b %c1 %c2", "index i32 %b %c1 %c3")).run(),
            "writes element -1 of reg buffer 0, which holds 6");
}

// What is staged does not depend on the group, and each group has a stage of its own.
TEST(Lowered, EachGroupFillsItsStage) {
  TestKernel k(R"(
%c2 = const index 2
%c3 = const index 3
%seven = const i32 7
%out = param i32 %c3 {0}
%i = range index %c3 {0 global}
%g = range index %c2 {1 group_reduce}
%stage = stage i32 %seven %g {0 local}
%one = const index 1
%x = index i32 %stage %one
%to = index i32 %out %i
%store = store void %to %x
%end = end void %store %i
%kernel = sink void %end {"staged"}
)");
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.get<int32_t>(0), (Ints{7, 7, 7}));
}

// The gate has the shape [2, 1], the index [2, 2].
TEST(Lowered, OneGateMayBeOfSeveralLanes) {
  TestKernel k(R"(
%c0 = const index 0
%c1 = const index 1
%c2 = const index 2
%c4 = const index 4
%no = invalid index
%out = param i32 %c4 {0}
%a = param i32 %c2 {1}
%lanes = stack index %c0 %c1
%p = reshape index %lanes %c2 %c1
%p2 = mul index %p %c2
%i = add index %p2 %lanes
%first = lt bool %p %c1
%at = where index %first %i %no
%x = index i32 %a %at
%zero = const i32 0
%y = where i32 %first %x %zero
%to = index i32 %out %i
%store = store void %to %y
%kernel = sink void %store {"rows"}
)");
  k.set<int32_t>(1, {3, 4});
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.get<int32_t>(0), (Ints{3, 4, 0, 0}));
}

TEST(Lowered, WhatItDoesNotTakeIsNamed) {
  TestKernel k(edited(kTurn, "%kernel = sink void %store {\"turn\"}",
                      "%kernel = linear void %put %store {\"turn\"}"));
  EXPECT_EQ(k.run(), "linear is not for this interpreter");
}

}  // namespace
}  // namespace assay::interpreter
