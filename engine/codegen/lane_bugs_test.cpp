// Faults that other compilers had with lanes, vectors and gates: each kernel leaves the right
// memory, as it came and after each pass. The numbers are those of the catalogue of public bugs.
#include <gtest/gtest.h>

#include "engine/codegen/coalesce.h"
#include "engine/codegen/devectorize.h"
#include "engine/codegen/gates.h"
#include "engine/codegen/loads.h"
#include "engine/codegen/short_text.h"
#include "engine/codegen/small_machine.h"

namespace assay::codegen {
namespace {

using Numbers = std::vector<int64_t>;

Numbers iota(int64_t count, int64_t first = 0) {
  Numbers all;
  for (int64_t i = 0; i < count; ++i) all.push_back(first + i);
  return all;
}

// What is in PARAM 0, which begins as zeros, after the kernel, given what the others hold. Empty
// where a pass changes it, and a failure.
Numbers after_all(std::string_view text, size_t count, const std::vector<Numbers>& inputs) {
  uop::Graph g;
  const Result<uop::Parsed> parsed = uop::from_text(g, text);
  EXPECT_TRUE(parsed.ok()) << to_string(parsed.error());
  if (!parsed.ok()) return {};
  uop::Ref kernel = parsed.value().root;
  uop::Run run(g);
  Numbers result;
  for (const uop::Pass* pass : {static_cast<const uop::Pass*>(nullptr), &pm_add_loads(),
                                &devectorize(), &coalesce(), &move_gates()}) {
    if (pass != nullptr) {
      const Result<uop::Ref> next = pass->function(run, kernel);
      EXPECT_TRUE(next.ok()) << to_string(next.error());
      kernel = next.value();
    }
    SmallMachine machine(g);
    const uop::DType t = uop::I32;
    machine.memory[0].assign(count, uop::of_int(t, 0));
    for (size_t k = 0; k < inputs.size(); ++k) {
      for (const int64_t n : inputs[k]) {
        machine.memory[static_cast<int64_t>(k) + 1].push_back(uop::of_int(t, n));
      }
    }
    machine.run(kernel);
    EXPECT_EQ(machine.trouble, "");
    Numbers now;
    for (const uop::Value& v : machine.memory[0]) now.push_back(static_cast<int64_t>(v.bits));
    EXPECT_TRUE(pass == nullptr || now == result) << pass->name << "\n" << short_text(kernel);
    result = now;
  }
  return result;
}

// Lanes of a remainder that have two quotients.
TEST(LaneBugs, B086ARemainderOfLanesIsNoRamp) {
  EXPECT_EQ(after_all(R"(uop 1 placed
%8 = const index 8
%20 = const index 20
%58 = const index 58
%0 = const index 0
%1 = const index 1
%2 = const index 2
%3 = const index 3
%4 = const index 4
%5 = const index 5
%6 = const index 6
%7 = const index 7
%x = stack index %0 %1 %2 %3 %4 %5 %6 %7
%a = add index %x %58
%m = mod index %a %20
%v = cast i32 %m
%out = param i32 %8 {0}
%p = index i32 %out %x
%s = store void %p %v
%k = sink void %s {"k"}
)",
                      8, {}),
            (Numbers{18, 19, 0, 1, 2, 3, 4, 5}));
}

// Eight bytes written as one number of 64 bits; and a vector of them is in order (B175).
TEST(LaneBugs, B147ANumberWrittenAsBytesIsAllOfThem) {
  EXPECT_EQ(after_all(R"(uop 1 placed
%16 = const index 16
%0 = const index 0
%1 = const index 1
%2 = const index 2
%3 = const index 3
%4 = const index 4
%5 = const index 5
%6 = const index 6
%7 = const index 7
%8 = const index 8
%x = stack index %0 %1 %2 %3 %4 %5 %6 %7
%at = add index %x %8
%n = const u64 72623859790382849
%one = stack u64 %n
%bytes = bitcast u8 %one
%v = cast i32 %bytes
%out = param i32 %16 {0}
%p = index i32 %out %at
%s = store void %p %v
%k = sink void %s {"k"}
)",
                      16, {}),
            (Numbers{0, 0, 0, 0, 0, 0, 0, 0, 1, 7, 6, 5, 4, 3, 2, 1}));
}

// A store that some work-items do not do.
TEST(LaneBugs, B150AStoreIsDoneByThoseThatItIsFor) {
  EXPECT_EQ(after_all(R"(uop 1 placed
%0 = const index 0
%2 = const index 2
%4 = const index 4
%8 = const index 8
%l0 = special index %4 {"lidx0"}
%l1 = special index %2 {"lidx1"}
%g0 = ne bool %l0 %0
%g1 = ne bool %l1 %0
%g = and bool %g0 %g1
%row = mul index %l1 %4
%i = add index %l0 %row
%nothing = invalid index
%at = where index %g %i %nothing
%out = param i32 %8 {0}
%p = index i32 %out %at
%v = const i32 1
%s = store void %p %v
%k = sink void %s {"k"}
)",
                      8, {}),
            (Numbers{0, 0, 0, 0, 0, 1, 1, 1}));
}

// [4, 6] to [6, 4], two lanes of each axis at once.
TEST(LaneBugs, B151ATransposeOfLanesIsATranspose) {
  Numbers want;
  for (int64_t j = 0; j < 6; ++j) {
    for (int64_t i = 0; i < 4; ++i) want.push_back(i * 6 + j);
  }
  EXPECT_EQ(after_all(R"(uop 1 placed
%0 = const index 0
%1 = const index 1
%2 = const index 2
%3 = const index 3
%4 = const index 4
%6 = const index 6
%24 = const index 24
%r0 = range index %2 {0 loop}
%r1 = range index %3 {1 loop}
%x = stack index %0 %1
%y = reshape index %x %2 %1
%i0 = mul index %r0 %2
%i = add index %i0 %x
%j0 = mul index %r1 %2
%j = add index %j0 %y
%out = param i32 %24 {0}
%in = param i32 %24 {1}
%to0 = mul index %j %4
%to = add index %to0 %i
%from0 = mul index %i %6
%from = add index %from0 %j
%p = index i32 %out %to
%q = index i32 %in %from
%s = store void %p %q
%e = end void %s %r0 %r1
%k = sink void %e {"k"}
)",
                      24, {iota(24)}),
            want);
}

// Lanes that straddle the edge of what is read, and of what is written (B149).
TEST(LaneBugs, B154EachLaneOfAVectorAsksItsOwnGate) {
  EXPECT_EQ(after_all(R"(uop 1 placed
%0 = const index 0
%1 = const index 1
%2 = const index 2
%3 = const index 3
%4 = const index 4
%5 = const index 5
%7 = const index 7
%m2 = const index -2
%r = range index %2 {0 loop}
%x = stack index %0 %1 %2 %3
%i0 = mul index %r %4
%i = add index %i0 %x
%j = add index %i %m2
%above = lt bool %1 %i
%below = lt bool %i %7
%inside = and bool %above %below
%nothing = invalid index
%from = where index %inside %j %nothing
%to = where index %below %i %nothing
%out = param i32 %7 {0}
%in = param i32 %5 {1}
%q = index i32 %in %from
%seven = const i32 7
%v = where i32 %inside %q %seven
%p = index i32 %out %to
%s = store void %p %v
%e = end void %s %r
%k = sink void %e {"k"}
)",
                      7, {iota(5, 10)}),
            (Numbers{7, 7, 10, 11, 12, 13, 14}));
}

// Rows of a matrix by numbers of which some name no row. The machine finds any read outside.
TEST(LaneBugs, B155NumbersThatNameNoRowReadNone) {
  EXPECT_EQ(after_all(R"(uop 1 placed
%0 = const index 0
%1 = const index 1
%2 = const index 2
%5 = const index 5
%4 = const index 4
%8 = const index 8
%10 = const index 10
%m1 = const index -1
%r = range index %5 {0 loop}
%x = stack index %0 %1
%out = param i32 %10 {0}
%d = param i32 %8 {1}
%ids = param i32 %5 {2}
%q = index i32 %ids %r
%row = cast index %q
%above = lt bool %m1 %row
%below = lt bool %row %4
%inside = and bool %above %below
%i0 = mul index %row %2
%i = add index %i0 %x
%nothing = invalid index
%from = where index %inside %i %nothing
%value = index i32 %d %from
%zero = const i32 0
%v = where i32 %inside %value %zero
%o0 = mul index %r %2
%o = add index %o0 %x
%p = index i32 %out %o
%s = store void %p %v
%e = end void %s %r
%k = sink void %e {"k"}
)",
                      10, {iota(8, 1), {-19238, -1, 3, 4, 10982377}}),
            (Numbers{0, 0, 0, 0, 7, 8, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace assay::codegen
