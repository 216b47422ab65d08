#include <gtest/gtest.h>

#include <algorithm>

#include "oracles/interpreter/test_program.h"

// Kernels that read the buffer that they write.
namespace assay::interpreter {
namespace {

using Ints = std::vector<int32_t>;

// a[i] = a[i] + a[f(i)], in place.
std::string in_place(std::string_view at) {
  return fmt::format(R"(
%d = device void {{"sim:0"}}
%n = const index 6000
%half = const index 3000
%zero = const index 0
%r = range index %n {{0 weak}}
%p0 = param i32 %n {{0}}
%odd = const index 4999
%off = add index %r %odd
%turned = mod index %off %n
%low = lt bool %r %half
%no = invalid index
%lower = where index %low %r %no
%i0 = index i32 %p0 %lower
%i1 = index i32 %p0 {}
%one = const i32 1
%v = add i32 %i1 %one
%st = store void %i0 %v
%e = end void %st %r
%q = sink void %e {{"own"}}
%b0 = buffer i32 %n %d {{0 global}}
%c = call void %q %b0
%l = linear void %c
)",
                     at);
}

TEST(Race, MayReadTheElementThatItWrites) {
  TestProgram p(in_place("%r"));
  Ints a(6000, 1);
  p.set(0, a);
  EXPECT_EQ(p.run(), "");
  std::fill(a.begin(), a.begin() + 3000, 2);
  EXPECT_EQ(p.get<int32_t>(0), a);
}

TEST(Race, ReadingWhatAnotherIterationWritesIsAnError) {
  EXPECT_EQ(TestProgram(in_place("%turned")).run(),
            "call 0: kernel 'own': reads element 0 of the buffer it writes (0), which another "
            "iteration writes");
  EXPECT_EQ(TestProgram(in_place("%zero")).run(),
            "call 0: kernel 'own': reads element 0 of the buffer it writes (0), which another "
            "iteration writes");
}

TEST(Race, ArgumentsThatOverlapAreOneBuffer) {
  // Two views of one arena, one element apart.
  constexpr std::string_view kText = R"(
%d = device void {"sim:0"}
%bytes = const index 64
%size = const index 16
%n = const index 4
%at0 = const index 0
%at1 = const index 4
%r = range index %n {0 weak}
%p0 = param i32 %n {0}
%p1 = param i32 %n {1}
%i0 = index i32 %p0 %r
%i1 = index i32 %p1 %r
%st = store void %i0 %i1
%e = end void %st %r
%q = sink void %e {"move"}
%a = buffer u8 %bytes %d {9 global}
%v0 = shrink u8 %a %at0 %size
%v1 = shrink u8 %a %at1 %size
%w0 = bitcast i32 %v0
%w1 = bitcast i32 %v1
%c = call void %q %w0 %w1
%l = linear void %c
)";
  EXPECT_EQ(TestProgram(kText).run(),
            "call 0: kernel 'move': reads element 1 of the buffer it writes (9), which another "
            "iteration writes");
  TestProgram apart(edited(kText, "%at1 = const index 4", "%at1 = const index 16"));
  EXPECT_EQ(apart.run(), "");
  TestProgram same(edited(kText, "%at1 = const index 4", "%at1 = const index 0"));
  EXPECT_EQ(same.run(), "");
}

}  // namespace
}  // namespace assay::interpreter
