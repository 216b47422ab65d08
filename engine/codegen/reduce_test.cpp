#include "engine/codegen/reduce.h"

#include <gtest/gtest.h>

#include "engine/codegen/reduce_sample.h"
#include "engine/uop/scope.h"

namespace assay::codegen {
namespace {

using uop::AxisType;
using uop::DType;
using uop::Op;
using uop::Ref;

class ReduceLocal : public ReduceTest {};

TEST_F(ReduceLocal, FoldsARangeIntoAnAccumulator) {
  const Ref i = make_.range(AxisType::Global, 8);
  const Ref r = make_.range(AxisType::Reduce, 4);
  const Ref sum = make_.fold(Op::Add, input(1, DType::F32, {i, r}, 32), {r});
  const Ref kernel = make_.sink({make_.stored(output(DType::F32, {i}, 8), sum, {i})});
  EXPECT_EQ(text(kernel), R"(uop 1 kernel
%0 = const index 8
%1 = param f32 %0 {0}
%2 = range index %0 {0 global}
%3 = index f32 %1 %2
%4 = buffer f32 {0 reg}
%5 = after f32 %4 %2
%6 = const f32 0.0
%7 = store void %5 %6
%8 = const index 4
%9 = range index %8 {1 reduce}
%10 = after f32 %4 %7 %9
%11 = const index 32
%12 = param f32 %11 {1}
%13 = mul index %2 %8
%14 = add index %9 %13
%15 = index f32 %12 %14
%16 = add f32 %10 %15
%17 = store void %10 %16
%18 = end void %17 %9
%19 = after f32 %4 %18
%20 = store void %3 %19
%21 = end void %20 %2
%22 = sink void %21 {"kernel"}
)");
  expect_kept(g_, kernel, {{0, counting(DType::F32, 8)}, {1, counting(DType::F32, 32)}});
}

TEST_F(ReduceLocal, FoldsLanesWithinTheLoop) {
  const Ref j = make_.range(AxisType::Upcast, 2);
  const Ref r = make_.range(AxisType::Reduce, 4);
  const Ref u = make_.range(AxisType::Unroll, 2);
  const Ref most = make_.fold(Op::Max, input(1, DType::I32, {j, r, u}, 16), {r, u});
  const Ref kernel = make_.sink({make_.stored(output(DType::I32, {j}, 2), most, {j})});
  EXPECT_EQ(text(kernel), R"(uop 1 kernel
%0 = const index 2
%1 = param i32 %0 {0}
%2 = const index 0
%3 = const index 1
%4 = stack index %2 %3
%5 = reshape index %4 %0 %3
%6 = index i32 %1 %5
%7 = buffer i32 %0 {0 reg}
%8 = const i32 -2147483648
%9 = store void %7 %8
%10 = const index 4
%11 = range index %10 {1 reduce}
%12 = after i32 %7 %9 %11
%13 = const index 16
%14 = param i32 %13 {1}
%15 = mul index %5 %10
%16 = add index %11 %15
%17 = mul index %16 %0
%18 = add index %4 %17
%19 = index i32 %14 %18
%20 = permute i32 %19 {1 0}
%21 = index i32 %20 %2
%22 = max i32 %12 %21
%23 = index i32 %20 %3
%24 = max i32 %22 %23
%25 = store void %12 %24
%26 = end void %25 %11
%27 = after i32 %7 %26
%28 = reshape i32 %27 %0 %3
%29 = store void %6 %28
%30 = sink void %29 {"kernel"}
)");
  expect_kept(g_, kernel, {{0, counting(DType::I32, 2)}, {1, counting(DType::I32, 16)}});
}

// No ranges, no accumulator; lanes are folded from the left in row-major order of their axes.
TEST_F(ReduceLocal, FoldsLanesFromTheLeftInRowMajorOrder) {
  const Ref u = make_.range(AxisType::Unroll, 2);
  const Ref v = make_.range(AxisType::Unroll, 3);
  const Ref x = make_.at(make_.param(1, DType::F32, 6), {make_.add(u, make_.mul(v, 2))});
  const Ref kernel = only(make_.fold(Op::Add, x, {u, v}));
  EXPECT_TRUE(all(reduced(kernel), Op::Buffer).empty());
  // In this order all but the last cancel; in memory's order they do not.
  const auto in = values(DType::F32, {1, 0x1p30, 0x1p30, 3, -0x1p30, -0x1p30});
  float want = 0;
  for (const size_t k : {0, 2, 4, 1, 3, 5}) want += static_cast<float>(as_double(in[k]));
  const Ref lowered = reduced(kernel);
  EXPECT_EQ(KernelRun(g_, {{0, counting(DType::F32, 1)}, {1, in}}).run(lowered)[0],
            uop::of_double(DType::F32, want));
}

TEST_F(ReduceLocal, FoldsBothKindsOfAxes) {
  const Ref j = make_.range(AxisType::Upcast, 2);
  const Ref r = make_.range(AxisType::Reduce, 3);
  const Ref u = make_.range(AxisType::Unroll, 2);
  const Ref s = make_.range(AxisType::Reduce, 2);
  const Ref v = make_.range(AxisType::Unroll, 2);
  const Ref x = input(1, DType::I32, {j, r, u, s, v}, 48);
  const Ref sum = make_.fold(Op::Add, x, {r, u, s, v});
  const Ref kernel = make_.sink({make_.stored(output(DType::I32, {j}, 2), sum, {j})});
  EXPECT_EQ(loops(reduced(kernel)), "1 r1 r3");
  const auto stored =
      expect_kept(g_, kernel, {{0, counting(DType::I32, 2)}, {1, counting(DType::I32, 48)}});
  EXPECT_EQ(stored, values(DType::I32, {276, 852}));
}

// B047: two folds over one range close it once, after both.
TEST_F(ReduceLocal, FoldsInOneLoopWhatGoesOverTheSameRanges) {
  const Ref i = make_.range(AxisType::Global, 2);
  const Ref r = make_.range(AxisType::Reduce, 4);
  const Ref x = input(1, DType::F32, {i, r}, 8);
  const Ref value = make_.mul(make_.fold(Op::Add, x, {r}), make_.fold(Op::Max, x, {r}));
  const Ref kernel = make_.sink({make_.stored(output(DType::F32, {i}, 2), value, {i})});
  EXPECT_EQ(text(kernel), R"(uop 1 kernel
%0 = const index 2
%1 = param f32 %0 {0}
%2 = range index %0 {0 global}
%3 = index f32 %1 %2
%4 = buffer f32 {0 reg}
%5 = after f32 %4 %2
%6 = const f32 0.0
%7 = store void %5 %6
%8 = const index 4
%9 = range index %8 {1 reduce}
%10 = after f32 %4 %7 %9
%11 = const index 8
%12 = param f32 %11 {1}
%13 = mul index %2 %8
%14 = add index %9 %13
%15 = index f32 %12 %14
%16 = add f32 %10 %15
%17 = store void %10 %16
%18 = buffer f32 {1 reg}
%19 = after f32 %18 %2
%20 = const f32 -inf
%21 = store void %19 %20
%22 = after f32 %18 %21 %9
%23 = max f32 %22 %15
%24 = store void %22 %23
%25 = group void %17 %24
%26 = end void %25 %9
%27 = after f32 %4 %26
%28 = after f32 %18 %26
%29 = mul f32 %27 %28
%30 = store void %3 %29
%31 = end void %30 %2
%32 = sink void %31 {"kernel"}
)");
  expect_kept(g_, kernel, {{0, counting(DType::F32, 2)}, {1, counting(DType::F32, 8)}});
}

// One fold in another's value needs all of it first. Its loop is another one, over a range of its
// own.
TEST_F(ReduceLocal, FoldsOneAfterTheOtherWhereItNeedsTheFirst) {
  const Ref r = make_.range(AxisType::Reduce, 4);
  const Ref x = input(1, DType::I32, {r}, 4);
  const Ref most = make_.fold(Op::Max, x, {r});
  const Ref kernel = only(make_.fold(Op::Add, g_.alu(Op::Sub, {x, most}), {r}));
  EXPECT_EQ(loops(reduced(kernel)), "1 r0 | 1 r1");
  const auto stored =
      expect_kept(g_, kernel, {{0, counting(DType::I32, 1)}, {1, counting(DType::I32, 4)}});
  EXPECT_EQ(stored, values(DType::I32, {-6}));
}

TEST_F(ReduceLocal, FoldsApartWhatStandsInOtherRanges) {
  const Ref i = make_.range(AxisType::Loop, 2);
  const Ref r = make_.range(AxisType::Reduce, 4);
  const Ref a = make_.fold(Op::Add, input(1, DType::I32, {i, r}, 8), {r});
  const Ref b = make_.fold(Op::Add, input(2, DType::I32, {r}, 4), {r});
  const Ref kernel = make_.sink({make_.stored(output(DType::I32, {i}, 2), make_.mul(a, b), {i})});
  EXPECT_EQ(loops(reduced(kernel)), "1 r1 | 1 r2");
  expect_kept(
      g_, kernel,
      {{0, counting(DType::I32, 2)}, {1, counting(DType::I32, 8)}, {2, counting(DType::I32, 4)}});
}

// Of four folds over two ranges either pair could share a loop, but not both.
TEST_F(ReduceLocal, FoldsInNoLoopsThatWaitForEachOther) {
  const Ref r = make_.range(AxisType::Reduce, 2);
  const Ref s = make_.range(AxisType::Reduce, 3);
  const Ref x = input(1, DType::I32, {r}, 2);
  const Ref y = input(2, DType::I32, {s}, 3);
  const Ref first = make_.fold(Op::Add, x, {r});
  const Ref second = make_.fold(Op::Add, y, {s});
  const Ref after_second = make_.fold(Op::Add, make_.mul(x, second), {r});
  const Ref after_first = make_.fold(Op::Add, make_.mul(y, first), {s});
  const Ref kernel = only(make_.add(after_first, after_second));
  expect_kept(g_, kernel,
              {{0, counting(DType::I32, 1)},
               {1, counting(DType::I32, 2, 1)},
               {2, counting(DType::I32, 3, 1)}});
}

// An inner fold starts anew in each iteration of the outer one.
TEST_F(ReduceLocal, NestsFolds) {
  const Ref i = make_.range(AxisType::Global, 2);
  const Ref s = make_.range(AxisType::Reduce, 3);
  const Ref r = make_.range(AxisType::Reduce, 4);
  const Ref inner = make_.fold(Op::Max, input(1, DType::I32, {i, s, r}, 24), {r});
  const Ref sum = make_.fold(Op::Add, inner, {s});
  const Ref kernel = make_.sink({make_.stored(output(DType::I32, {i}, 2), sum, {i})});
  EXPECT_EQ(text(kernel), R"(uop 1 kernel
%0 = const index 2
%1 = param i32 %0 {0}
%2 = range index %0 {0 global}
%3 = index i32 %1 %2
%4 = buffer i32 {1 reg}
%5 = after i32 %4 %2
%6 = const i32 0
%7 = store void %5 %6
%8 = const index 3
%9 = range index %8 {1 reduce}
%10 = after i32 %4 %7 %9
%11 = buffer i32 {0 reg}
%12 = after i32 %11 %2 %9
%13 = const i32 -2147483648
%14 = store void %12 %13
%15 = const index 4
%16 = range index %15 {2 reduce}
%17 = after i32 %11 %14 %16
%18 = const index 24
%19 = param i32 %18 {1}
%20 = mul index %2 %8
%21 = add index %9 %20
%22 = mul index %21 %15
%23 = add index %16 %22
%24 = index i32 %19 %23
%25 = max i32 %17 %24
%26 = store void %17 %25
%27 = end void %26 %16
%28 = after i32 %11 %27
%29 = add i32 %10 %28
%30 = store void %10 %29
%31 = end void %30 %9
%32 = after i32 %4 %31
%33 = store void %3 %32
%34 = end void %33 %2
%35 = sink void %34 {"kernel"}
)");
  const auto stored =
      expect_kept(g_, kernel, {{0, counting(DType::I32, 2)}, {1, counting(DType::I32, 24)}});
  EXPECT_EQ(stored, values(DType::I32, {21, 57}));
}

// A range that an outer fold and one within it both close belongs to the inner one there.
TEST_F(ReduceLocal, GivesEachOfNestedLoopsItsRange) {
  const Ref r = make_.range(AxisType::Reduce, 3);
  const Ref s = make_.range(AxisType::Reduce, 2);
  const Ref x = input(1, DType::I32, {r, s}, 6);
  const Ref inner = make_.fold(Op::Max, x, {r});
  const Ref kernel = only(make_.fold(Op::Add, make_.mul(inner, x), {r, s}));
  EXPECT_EQ(loops(reduced(kernel)), "1 r0 | 1 r2 r3");
  const auto stored =
      expect_kept(g_, kernel, {{0, counting(DType::I32, 1)}, {1, counting(DType::I32, 6)}});
  EXPECT_EQ(stored, values(DType::I32, {(0 + 2 + 4) * 4 + (1 + 3 + 5) * 5}));
}

// The result of a fold does not depend on what it was folded over; the loop's parts do.
TEST_F(ReduceLocal, SaysTheRangesOfEachPart) {
  const Ref i = make_.range(AxisType::Global, 8);
  const Ref r = make_.range(AxisType::Reduce, 4);
  const Ref sum = make_.fold(Op::Add, input(1, DType::F32, {i, r}, 32), {r});
  const Ref lowered = reduced(make_.sink({make_.stored(output(DType::F32, {i}, 8), sum, {i})}));
  const std::vector<Ref> stores = all(lowered, Op::Store);
  ASSERT_EQ(stores.size(), 3U);  // start, step, and the kernel's
  const std::vector<Ref> outer = {i};
  const std::vector<Ref> inner = {i, r};
  EXPECT_TRUE(std::ranges::equal(uop::ranges(g_, stores[0]), outer));
  EXPECT_TRUE(std::ranges::equal(uop::ranges(g_, stores[1]), inner));
  EXPECT_TRUE(std::ranges::equal(uop::ranges(g_, stores[2]->src[1]), outer));
}

// B130: a loop that the value does not use counts all the same.
TEST_F(ReduceLocal, CountsRangesThatTheValueDoesNotDependOn) {
  const struct {
    Op op;
    double want;
  } rows[] = {{Op::Add, 18}, {Op::Mul, 512}, {Op::Max, 2}};
  for (const auto& row : rows) {
    for (const AxisType type : {AxisType::Reduce, AxisType::Unroll, AxisType::GroupReduce}) {
      const Ref r = make_.range(type, 3);
      const Ref s = make_.range(AxisType::Reduce, 3);
      const Ref kernel = only(make_.fold(row.op, g_.constant(DType::F32, 2), {r, s}));
      EXPECT_EQ(expect_kept(g_, kernel, {{0, counting(DType::F32, 1)}}),
                values(DType::F32, {row.want}));
    }
  }
}

TEST_F(ReduceLocal, FoldsNothingToTheUnit) {
  for (const AxisType type : {AxisType::Reduce, AxisType::Unroll}) {
    const Ref r = make_.range(type, make_.number(0));
    const Ref kernel = only(make_.fold(Op::Mul, input(1, DType::F32, {r}, 1), {r}));
    EXPECT_EQ(expect_kept(g_, kernel, {{0, counting(DType::F32, 1)}, {1, {}}}),
              values(DType::F32, {1}));
  }
}

// A sum begins with 0.0, so that no sum is -0.0.
TEST_F(ReduceLocal, LosesTheSignOfZero) {
  for (const AxisType type : {AxisType::Reduce, AxisType::Unroll, AxisType::GroupReduce}) {
    for (const int64_t n : {1, 3}) {
      const Ref r = make_.range(type, n);
      const Ref kernel = only(make_.fold(Op::Add, input(1, DType::F32, {r}, 3), {r}));
      EXPECT_EQ(
          expect_kept(g_, kernel,
                      {{0, counting(DType::F32, 1)}, {1, values(DType::F32, {-0.0, -0.0, -0.0})}}),
          values(DType::F32, {0.0}));
    }
  }
}

}  // namespace
}  // namespace assay::codegen
