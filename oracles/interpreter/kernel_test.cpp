#include "oracles/interpreter/kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "oracles/interpreter/test_program.h"

namespace assay::interpreter {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;

// out[i] = a[i] + 2 * b[i]
constexpr std::string_view kAxpy = R"(
%d = device void {"sim:0"}
%n = const index 5
%r = range index %n {0 weak}
%p0 = param f32 %n {0}
%p1 = param f32 %n {1}
%p2 = param f32 %n {2}
%i0 = index f32 %p0 %r
%i1 = index f32 %p1 %r
%i2 = index f32 %p2 %r
%two = const f32 2.0
%m = mul f32 %i2 %two
%s = add f32 %i1 %m
%st = store void %i0 %s
%e = end void %st %r
%k = sink void %e {"axpy"}
%b0 = buffer f32 %n %d {10 global}
%b1 = buffer f32 %n %d {11 global}
%b2 = buffer f32 %n %d {12 global}
%c = call void %k %b0 %b1 %b2
%l = linear void %c {""}
)";

TEST(Kernel, ComputesElementByElement) {
  TestProgram p(kAxpy);
  p.set<float>(11, {1, 2, 3, 4, 5});
  p.set<float>(12, {10, 20, 30, 40, 0.5});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.get<float>(10), (Floats{21, 42, 63, 84, 6}));
}

TEST(Kernel, ReadsPoisonWhereNothingWasWritten) {
  TestProgram p(kAxpy);
  EXPECT_EQ(p.run(), "");
  for (const float x : p.get<float>(10)) EXPECT_TRUE(std::isnan(x));
}

// out[i, j] = sum over k of a[i, k] * b[k, j], of sizes n x n.
std::string matmul(int n, std::string_view type) {
  return fmt::format(R"(
%d = device void {{"sim:0"}}
%n = const index {0}
%nn = const index {1}
%i = range index %n {{0 weak}}
%j = range index %n {{1 weak}}
%k = range index %n {{2 reduce}}
%p0 = param {2} %nn {{0}}
%p1 = param {2} %nn {{1}}
%p2 = param {2} %nn {{2}}
%in = mul index %i %n
%o = add index %in %j
%x = add index %in %k
%kn = mul index %k %n
%y = add index %kn %j
%i0 = index {2} %p0 %o
%i1 = index {2} %p1 %x
%i2 = index {2} %p2 %y
%m = mul {2} %i1 %i2
%s = reduce {2} %m %k {{add 0}}
%st = store void %i0 %s
%e = end void %st %i %j
%q = sink void %e {{"matmul"}}
%b0 = buffer {2} %nn %d {{0 global}}
%b1 = buffer {2} %nn %d {{1 global}}
%b2 = buffer {2} %nn %d {{2 global}}
%c = call void %q %b0 %b1 %b2
%l = linear void %c {{""}}
)",
                     n, n * n, type);
}

TEST(Kernel, FoldsProductsOfAnySizeInRisingOrder) {
  for (const int n : {1, 3, 7, 64, 97}) {
    TestProgram p(matmul(n, "f32"));
    Floats a;
    Floats b;
    for (int i = 0; i < n * n; i++) a.push_back(std::sin(static_cast<float>(i)));
    for (int i = 0; i < n * n; i++) b.push_back(std::cos(static_cast<float>(3 * i)));
    p.set(1, a);
    p.set(2, b);
    EXPECT_EQ(p.run(), "");
    Floats want;
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        float sum = 0;
        for (int k = 0; k < n; k++)
          sum += a[static_cast<size_t>(i * n + k)] * b[static_cast<size_t>(k * n + j)];
        want.push_back(sum);
      }
    }
    EXPECT_EQ(p.get<float>(0), want) << n;
  }
}

TEST(Kernel, FoldsALongReduceInBlocks) {
  constexpr int kCount = 100'000;
  TestProgram p(fmt::format(R"(
%d = device void {{"sim:0"}}
%n = const index {}
%one = const index 1
%zero = const index 0
%r = range index %n {{0 reduce}}
%p0 = param i32 %one {{0}}
%p1 = param i32 %n {{1}}
%i0 = index i32 %p0 %zero
%i1 = index i32 %p1 %r
%s = reduce i32 %i1 %r {{add 0}}
%x = reduce i32 %i1 %r {{max 0}}
%t = add i32 %s %x
%st = store void %i0 %t
%q = sink void %st {{"sum"}}
%b0 = buffer i32 %one %d {{0 global}}
%b1 = buffer i32 %n %d {{1 global}}
%c = call void %q %b0 %b1
%l = linear void %c
)",
                            kCount));
  Ints a(kCount);
  int32_t want = 0;
  for (int i = 0; i < kCount; i++) want += a[static_cast<size_t>(i)] = i % 1000 - 400;
  p.set(1, a);
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.get<int32_t>(0), Ints{want + 599});
}

// out[i] = sum over j of (max over k of a[i, k]) * j, and a reduce over what does not depend on it.
TEST(Kernel, NestsReducesAndRepeatsWhatARangeDoesNotChange) {
  for (const int n : {4, 500}) {
    TestProgram p(fmt::format(R"(
%d = device void {{"sim:0"}}
%n = const index {0}
%n3 = const index {1}
%c3 = const index 3
%i = range index %n {{0 weak}}
%j = range index %c3 {{1 reduce}}
%k = range index %c3 {{2 reduce}}
%p0 = param i32 %n {{0}}
%p1 = param i32 %n3 {{1}}
%i3 = mul index %i %c3
%x = add index %i3 %k
%i0 = index i32 %p0 %i
%i1 = index i32 %p1 %x
%jj = cast i32 %j
%v = add i32 %i1 %jj
%m = reduce i32 %v %k {{max 0}}
%mj = mul i32 %m %jj
%s = reduce i32 %mj %j {{add 0}}
%five = const i32 5
%f = reduce i32 %five %j %k {{add 0}}
%t = add i32 %s %f
%st = store void %i0 %t
%e = end void %st %i
%q = sink void %e {{"nest"}}
%b0 = buffer i32 %n %d {{0 global}}
%b1 = buffer i32 %n3 %d {{1 global}}
%c = call void %q %b0 %b1
%l = linear void %c
)",
                              n, 3 * n));
    Ints a;
    Ints want;
    for (int i = 0; i < n; i++) {
      const int top = (i * 37) % 101;
      a.insert(a.end(), {top - 1, top, top - 7});
      want.push_back(top * 3 + 1 + 4 + 45);  // (top + 1) + 2 (top + 2) and 9 fives
    }
    p.set(1, a);
    EXPECT_EQ(p.run(), "");
    EXPECT_EQ(p.get<int32_t>(0), want);
  }
}

// One RANGE that two reduces close, one inside the scope of a third.
TEST(Kernel, AReduceInsideAnotherMayCloseARangeOfAnEarlierOne) {
  TestProgram p(R"(
%d = device void {"sim:0"}
%n = const index 3
%one = const index 1
%zero = const index 0
%j = range index %n {0 reduce}
%k = range index %n {1 reduce}
%p0 = param i32 %one {0}
%i0 = index i32 %p0 %zero
%jj = cast i32 %j
%kk = cast i32 %k
%a = reduce i32 %jj %j {add 0}
%x = mul i32 %jj %kk
%b = reduce i32 %x %j {add 0}
%y = add i32 %b %a
%c = reduce i32 %y %k {add 0}
%z = add i32 %c %a
%st = store void %i0 %z
%q = sink void %st {"shared"}
%b0 = buffer i32 %one %d {0 global}
%call = call void %q %b0
%l = linear void %call
)");
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.get<int32_t>(0), Ints{9 + 9 + 3});
}

// out[i] = where(1 <= i, a[where(1 <= i, i - 1, invalid)], 7)
constexpr std::string_view kShift = R"(
%d = device void {"sim:0"}
%n = const index 4
%one = const index 1
%zero = const index 0
%r = range index %n {0 weak}
%p0 = param i32 %n {0}
%p1 = param i32 %n {1}
%no = invalid index
%gate = lt bool %zero %r
%at = sub index %r %one
%w = where index %gate %at %no
%i0 = index i32 %p0 %r
%i1 = index i32 %p1 %w
%seven = const i32 7
%v = where i32 %gate %i1 %seven
%st = store void %i0 %v
%e = end void %st %r
%q = sink void %e {"shift"}
%b0 = buffer i32 %n %d {0 global}
%b1 = buffer i32 %n %d {1 global}
%c = call void %q %b0 %b1
%l = linear void %c
)";

TEST(Kernel, ReadsOnlyWhereTheGateHolds) {
  TestProgram p(kShift);
  p.set<int32_t>(1, {1, 2, 3, 4});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.get<int32_t>(0), (Ints{7, 1, 2, 3}));
}

TEST(Kernel, AnIndexThatIsInvalidGivesPoison) {
  TestProgram p(edited(kShift, "where i32 %gate %i1 %seven", "add i32 %i1 %seven"));
  p.set<int32_t>(1, {1, 2, 3, 4});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.get<int32_t>(0), (Ints{static_cast<int32_t>(0xA5A5A5A5U + 7), 8, 9, 10}));
}

TEST(Kernel, InvalidPassesThroughIndexArithmetic) {
  TestProgram p(edited(edited(kShift, "index i32 %p1 %w", "index i32 %p1 %w2"),
                       "%i0 =", "%w1 = add index %w %one\n%w2 = sub index %w1 %one\n%i0 ="));
  p.set<int32_t>(1, {1, 2, 3, 4});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.get<int32_t>(0), (Ints{7, 1, 2, 3}));
}

TEST(Kernel, AnIndexOutsideItsBufferIsAnErrorThatNamesIt) {
  TestProgram p(edited(kShift, "index i32 %p1 %w", "index i32 %p1 %at"));
  EXPECT_EQ(p.run(),
            "call 0: kernel 'shift': reads element -1 of argument 1 (buffer 1), which holds 4");
}

TEST(Kernel, AStoreOutsideItsBufferIsAnError) {
  TestProgram p(
      edited(kShift, "%i0 = index i32 %p0 %r", "%up = add index %r %one\n%i0 = index i32 %p0 %up"));
  p.set<int32_t>(1, {1, 2, 3, 4});
  EXPECT_EQ(p.run(),
            "call 0: kernel 'shift': writes element 4 of argument 0 (buffer 0), which holds 4");
}

TEST(Kernel, AStoreToAnInvalidIndexStoresNothing) {
  TestProgram p(edited(kShift, "index i32 %p0 %r", "index i32 %p0 %w"));
  p.set<int32_t>(0, {50, 51, 52, 53});
  p.set<int32_t>(1, {1, 2, 3, 4});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.get<int32_t>(0), (Ints{1, 2, 3, 53}));
}

TEST(Kernel, LoadsAndStoresHaveGatesAndAlternatives) {
  TestProgram p(
      edited(edited(edited(kShift, "where i32 %gate %i1 %seven", "load i32 %i1 %seven %gate"),
                    "index i32 %p1 %w", "index i32 %p1 %at"),
             "%st = store void %i0 %v", "%low = lt bool %at %one\n%st = store void %i0 %v %low"));
  p.set<int32_t>(0, {50, 51, 52, 53});
  p.set<int32_t>(1, {1, 2, 3, 4});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.get<int32_t>(0), (Ints{7, 1, 52, 53}));
}

TEST(Kernel, SizesMayBeVariables) {
  constexpr std::string_view kText = R"(
%d = device void {"sim:0"}
%v = var index {"n" 1 16}
%two = const index 2
%n = mul index %v %two
%r = range index %n {0 weak}
%p0 = param i32 %n {0}
%i0 = index i32 %p0 %r
%x = cast i32 %r
%y = cast i32 %v
%z = add i32 %x %y
%st = store void %i0 %z
%e = end void %st %r
%q = sink void %e {"iota"}
%b = buffer i32 %n %d {3 global}
%c = call void %q %b
%l = linear void %c
)";
  TestProgram p(kText);
  EXPECT_EQ(p.run({{"n", 2}}), "");
  const Ints got = p.get<int32_t>(3);
  const auto poisoned = static_cast<int32_t>(0xA5A5A5A5U);
  ASSERT_EQ(got.size(), 32U);
  EXPECT_EQ(Ints(got.begin(), got.begin() + 5), (Ints{2, 3, 4, 5, poisoned}));
  EXPECT_EQ(p.run(), "call 0: kernel 'iota': variable 'n' has no value");
  EXPECT_EQ(p.run({{"n", 17}}), "call 0: kernel 'iota': variable 'n' is 17, not in 1..16");
}

}  // namespace
}  // namespace assay::interpreter
