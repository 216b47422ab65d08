#include "engine/codegen/index_width.h"

#include <gtest/gtest.h>

#include <string>

#include "engine/uop/prefix.h"
#include "engine/uop/rewrite.h"
#include "engine/uop/text.h"
#include "engine/uop/verify.h"

namespace assay::codegen {
namespace {

using uop::Graph;
using uop::Op;
using uop::Ref;

std::string narrowed(const char* text) {
  Graph g;
  const Result<uop::Parsed> parsed = uop::from_text(g, text);
  EXPECT_TRUE(parsed.ok()) << to_string(parsed.error());
  uop::Run run(g);
  const Ref after = uop::run_pass(index_width(), run, parsed.value().root).value();
  EXPECT_EQ(uop::verify(g, after), std::nullopt);
  EXPECT_EQ(uop::fixed_width().breach(g, after), std::nullopt);
  return uop::to_text(g, after, "narrow");
}

TEST(IndexWidth, Is32BitsWhereAllPartsAre) {
  EXPECT_EQ(narrowed(R"(uop 1 vectors
%0 = const index 64
%1 = param f32 %0 {0}
%2 = const index 8
%3 = range index %2 {0 loop}
%4 = special index %2 {"gidx0"}
%5 = mul index %3 %2
%6 = add index %5 %4
%7 = var index {"n" 1 64}
%8 = lt bool %6 %7
%9 = invalid index
%10 = where index %8 %6 %9
%11 = index f32 %1 %10
%12 = cast f32 %6
%13 = store void %11 %12
%14 = end void %13 %3
%15 = sink void %14 {"k"}
)"),
            R"(uop 1 narrow
%0 = const index 64
%1 = param f32 %0 {0}
%2 = const i32 8
%3 = range i32 %2 {0 loop}
%4 = mul i32 %3 %2
%5 = special i32 %2 {"gidx0"}
%6 = add i32 %4 %5
%7 = var i32 {"n" 1 64}
%8 = lt bool %6 %7
%9 = invalid i32
%10 = where i32 %8 %6 %9
%11 = index f32 %1 %10
%12 = cast f32 %6
%13 = store void %11 %12
%14 = end void %13 %3
%15 = sink void %14 {"k"}
)");
}

// B093: the product leaves 32 bits though neither its factors nor the quotient do.
TEST(IndexWidth, Is64BitsFromWhereAPartLeaves32Bits) {
  EXPECT_EQ(narrowed(R"(uop 1 vectors
%0 = const index 100
%1 = param i8 %0 {0}
%2 = const index 100000
%3 = range index %2 {0 loop}
%4 = mul index %3 %2
%5 = const index 100000000
%6 = div index %4 %5
%7 = index i8 %1 %6
%8 = const i8 1
%9 = store void %7 %8
%10 = end void %9 %3
%11 = sink void %10 {"k"}
)"),
            R"(uop 1 narrow
%0 = const index 100
%1 = param i8 %0 {0}
%2 = const i32 100000
%3 = range i32 %2 {0 loop}
%4 = cast i64 %3
%5 = const i64 100000
%6 = mul i64 %4 %5
%7 = const i64 100000000
%8 = div i64 %6 %7
%9 = index i8 %1 %8
%10 = const i8 1
%11 = store void %9 %10
%12 = end void %11 %3
%13 = sink void %12 {"k"}
)");
}

std::string narrowed(Graph& g, Ref u) {
  uop::Run run(g);
  const Ref after = uop::run_pass(index_width(), run, u).value();
  return uop::to_text(g, after, "narrow");
}

// B093: 522 * 2048 * 2048 elements need 64 bits; 65535 * 32768 do not.
TEST(IndexWidth, GoesByTheLastElementNotByTheSize) {
  Graph g;
  const auto flat = [&](int64_t rows, int64_t columns) {
    const Ref i = g.make(Op::Range, uop::Index, {g.constant(uop::Index, rows)},
                         uop::Arg::axis(0, uop::AxisType::Loop));
    const Ref j = g.make(Op::Range, uop::Index, {g.constant(uop::Index, columns)},
                         uop::Arg::axis(1, uop::AxisType::Loop));
    const Ref row = g.alu(Op::Mul, {i, g.constant(uop::Index, columns)});
    uop::Run run(g);
    return uop::run_pass(index_width(), run, g.alu(Op::Add, {row, j})).value()->dtype;
  };
  EXPECT_EQ(flat(522, 2048 * 2048), uop::I64);
  EXPECT_EQ(flat(65535, 32768), uop::I32);
  EXPECT_EQ(flat(65536, 32768), uop::I32);  // 2^31 elements, the last of which is 2^31 - 1
}

// B095: a loop of 2^31 + 3 iterations counts in 64 bits, and so does one of 2^31, whose end must
// be told from its counter.
TEST(IndexWidth, GivesLoopsCountersThatReachTheirEnd) {
  Graph g;
  const auto counter = [&](int64_t count) {
    const Ref i = g.make(Op::Range, uop::Index, {g.constant(uop::Index, count)},
                         uop::Arg::axis(0, uop::AxisType::Loop));
    uop::Run run(g);
    return uop::run_pass(index_width(), run, i).value()->dtype;
  };
  EXPECT_EQ(counter((int64_t{1} << 31) + 3), uop::I64);
  EXPECT_EQ(counter(int64_t{1} << 31), uop::I64);
  EXPECT_EQ(counter((int64_t{1} << 31) - 1), uop::I32);
}

// B094: what a user computes in i64 is computed in i64, though it is made of loop indices.
TEST(IndexWidth, LeavesWhatIsComputedInAnotherType) {
  EXPECT_EQ(narrowed(R"(uop 1 vectors
%0 = const index 11
%1 = param i64 %0 {0}
%2 = range index %0 {0 loop}
%3 = index i64 %1 %2
%4 = cast i64 %2
%5 = const i64 1000000000
%6 = mul i64 %4 %5
%7 = store void %3 %6
%8 = end void %7 %2
%9 = sink void %8 {"k"}
)"),
            R"(uop 1 narrow
%0 = const index 11
%1 = param i64 %0 {0}
%2 = const i32 11
%3 = range i32 %2 {0 loop}
%4 = index i64 %1 %3
%5 = cast i64 %3
%6 = const i64 1000000000
%7 = mul i64 %5 %6
%8 = store void %4 %7
%9 = end void %8 %3
%10 = sink void %9 {"k"}
)");
}

TEST(IndexWidth, TakesIndicesFromValues) {
  Graph g;
  const Ref small = g.variable("x", uop::I8);
  const Ref large = g.variable("y", uop::I64);
  const Ref of_small = g.make(Op::Cast, uop::Index, {small});
  const Ref of_large = g.make(Op::Cast, uop::Index, {large});
  EXPECT_EQ(narrowed(g, of_small), "uop 1 narrow\n%0 = var i8 {\"x\"}\n%1 = cast i32 %0\n");
  EXPECT_EQ(narrowed(g, of_large), "uop 1 narrow\n%0 = var i64 {\"y\"}\n");
  const Ref less = g.alu(Op::Lt, {of_small, of_large});
  EXPECT_EQ(narrowed(g, less), R"(uop 1 narrow
%0 = var i8 {"x"}
%1 = cast i32 %0
%2 = cast i64 %1
%3 = var i64 {"y"}
%4 = lt bool %2 %3
)");
}

TEST(IndexWidth, ShiftsByMoreThan32BitsIn64) {
  Graph g;
  const Ref x = g.variable("x", uop::of_int(uop::Index, 0), uop::of_int(uop::Index, 100));
  const Ref by40 = g.alu(Op::Shr, {x, g.constant(uop::Index, 40)});
  uop::Run run(g);
  EXPECT_EQ(uop::run_pass(index_width(), run, by40).value()->dtype, uop::I64);
}

TEST(IndexWidth, LeavesAKernelWithoutIndices) {
  Graph g;
  const Ref x = g.variable("x", uop::I32);
  const Ref u = g.alu(Op::Add, {x, x});
  uop::Run run(g);
  EXPECT_EQ(uop::run_pass(index_width(), run, u).value(), u);
}

}  // namespace
}  // namespace assay::codegen
