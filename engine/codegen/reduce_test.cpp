#include "engine/codegen/reduce.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/codegen/kernel_sample.h"
#include "engine/uop/scope.h"

namespace assay::codegen {
namespace {

using uop::AddrSpace;
using uop::AxisType;
using uop::DType;
using uop::Op;
using uop::Ref;
using uop::Value;

class ReduceLocal : public testing::Test {
 protected:
  Ref reduced(Ref kernel) { return Middle(g_)(kernel, 2); }
  std::string text(Ref kernel) { return uop::to_text(g_, reduced(kernel), "kernel"); }
  std::vector<Ref> all(Ref kernel, Op op) {
    std::vector<Ref> found;
    for (const Ref u : toposort(g_, kernel)) {
      if (u->op == op) found.push_back(u);
    }
    return found;
  }
  // What is read of input `slot` by these ranges.
  Ref input(int64_t slot, DType t, std::initializer_list<Ref> ranges, int64_t size = 64) {
    return make_.at(make_.param(slot, t, size), {make_.flat(ranges)});
  }
  Ref output(DType t, std::initializer_list<Ref> ranges, int64_t size = 64) {
    return input(0, t, ranges, size);
  }
  // Stores one value into PARAM{0} of one element.
  Ref only(Ref value) { return make_.sink({make_.stored(output(value->dtype, {}, 1), value, {})}); }
  // The loops (the ENDs that close ranges of a fold), as "r1 r2 | r3".
  std::string loops(Ref kernel) {
    std::string text;
    for (const Ref end : all(kernel, Op::End)) {
      if (end->src[1]->arg.axis_type() != AxisType::Reduce) continue;
      if (!text.empty()) text += " | ";
      text += end->src[0]->op == Op::Group ? std::to_string(end->src[0]->src.size()) : "1";
      for (const Ref r : end->src.subspan(1)) text += " r" + std::to_string(r->arg.number());
    }
    return text;
  }

  uop::Graph g_;
  Maker make_{g_};
};

std::vector<Value> values(DType t, std::initializer_list<double> numbers) {
  std::vector<Value> v;
  for (const double x : numbers) {
    v.push_back(uop::is_float(t) ? uop::of_double(t, x) : uop::of_int(t, int64_t(x)));
  }
  return v;
}

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

// Each fold that has a unit, at each type: {op, type} with padded lanes, which are the unit.
struct FoldAt {
  Op op;
  DType t;
};

std::vector<FoldAt> every_fold() {
  std::vector<FoldAt> folds;
  for (int i = 0; i < uop::kOpCount; ++i) {
    const uop::OpInfo& row = uop::info(static_cast<Op>(i));
    if (row.unit == uop::Unit::None) continue;
    for (int k = 0; k < uop::kDTypeCount; ++k) {
      const auto t = static_cast<DType>(k);
      if (row.over.has(t) && t != uop::Index) folds.push_back({row.op, t});
    }
  }
  return folds;
}

class EveryFold : public testing::TestWithParam<FoldAt> {
 protected:
  // Values that a wrong unit would hide: none is one.
  std::vector<Value> contents() const {
    const DType t = GetParam().t;
    if (t == DType::Bool) {
      const bool held = GetParam().op == Op::And || GetParam().op == Op::Min;
      return std::vector<Value>(6, uop::of_bool(held));
    }
    // Small enough for sums and products of 8-bit floats to be exact in any order.
    if (GetParam().op == Op::Max && !uop::is_unsigned(t))
      return values(t, {-3, -2, -3, -1, -2, -1});
    return values(t, {2, 1, 2, 1, 1, 1});
  }
  Value folded(const std::vector<Value>& list) const {
    Value all = uop::unit_of(GetParam().op, GetParam().t);
    for (const Value v : list) {
      const Value pair[] = {all, v};
      all = *uop::eval(GetParam().op, GetParam().t, pair);
    }
    return all;
  }

  uop::Graph g_;
  Maker make_{g_};
};

// B129, B131, B133, B135: INVALID lanes are the unit of the fold, whatever kind of axis was padded.
TEST_P(EveryFold, TakesPaddedLanesAsItsUnit) {
  const auto [op, t] = GetParam();
  const std::vector<Value> in = contents();
  for (const AxisType type : {AxisType::Reduce, AxisType::Unroll, AxisType::GroupReduce}) {
    const Ref r = make_.range(AxisType::Reduce, 2);
    const Ref p = make_.range(type, 4);
    const Ref at = make_.flat({r, p});
    const Ref inside = make_.below(at, 6);
    const Ref x = make_.at(make_.param(1, t, 6), {make_.valid(inside, at)});
    const Ref all = make_.fold(op, make_.valid(inside, x), {r, p});
    const Ref out = make_.at(make_.param(0, t, 1), {make_.number(0)});
    const Ref kernel = make_.sink({make_.stored(out, all, {})});
    EXPECT_EQ(expect_kept(g_, kernel, {{0, {folded({})}}, {1, in}})[0], folded(in));
  }
}

std::string fold_name(const testing::TestParamInfo<FoldAt>& row) {
  return std::string(to_text(row.param.op)) + "_" + std::string(to_text(row.param.t));
}

INSTANTIATE_TEST_SUITE_P(ReduceLocal, EveryFold, testing::ValuesIn(every_fold()), fold_name);

class ReduceIdentity : public ReduceLocal {
 protected:
  void SetUp() override {
    r_ = make_.range(AxisType::Reduce, 4);
    inside_ = make_.below(r_, 3);
    x_ = make_.at(make_.param(1, DType::F32, 3), {make_.valid(inside_, r_)});
  }
  // What is folded holds no INVALID but in indices, and the fold is the product of `want`.
  void expect_product(Ref x, double want) {
    const Ref kernel = only(make_.fold(Op::Mul, x, {r_}));
    const Contents params = {{0, counting(DType::F32, 1)}, {1, values(DType::F32, {2, 3, 4})}};
    EXPECT_EQ(expect_kept(g_, kernel, params), values(DType::F32, {want}));
    for (const Ref u : toposort(g_, reduced(kernel))) {
      if (u->op == Op::Index) continue;
      for (const Ref s : u->src) EXPECT_FALSE(s->op == Op::Invalid && s->dtype == DType::F32);
    }
  }

  Ref r_ = nullptr;
  Ref inside_ = nullptr;
  Ref x_ = nullptr;
};

TEST_F(ReduceIdentity, TakesWhatIsOutsideAsTheUnit) {
  expect_product(make_.valid(inside_, x_), 24);
}

TEST_F(ReduceIdentity, SeesInvalidWithinAFunction) {
  expect_product(make_.add(make_.valid(inside_, x_), g_.constant(DType::F32, 1)), 60);
}

TEST_F(ReduceIdentity, SeesIndicesThatAreGatedOff) {
  expect_product(make_.add(x_, g_.constant(DType::F32, 1)), 60);
}

TEST_F(ReduceIdentity, SeesTheOtherBranch) {
  const Ref five = g_.constant(DType::F32, 5);
  expect_product(g_.make(Op::Where, DType::F32, {inside_, x_, five}), 120);
  const Ref nothing = g_.make(Op::Invalid, DType::F32, {});
  const Ref outside = make_.below(make_.number(2), 2);  // false
  const Ref either = g_.make(Op::Where, DType::F32, {outside, nothing, make_.valid(inside_, x_)});
  expect_product(either, 24);
}

TEST_F(ReduceIdentity, AsksAGateOnlyWhereTheOuterOneHolds) {
  const Ref zero = make_.number(0);
  const Ref three = make_.number(3);
  const Ref left = g_.alu(Op::Sub, {three, r_});
  const Ref quotient = g_.alu(Op::Div, {three, left});  // by zero at r = 3
  const Ref positive = g_.alu(Op::Lt, {zero, quotient});
  expect_product(make_.valid(inside_, make_.valid(positive, x_)), 24);
}

// A read that is padded by a value needs no more than that.
TEST_F(ReduceIdentity, AddsNothingToAPaddedValue) {
  const Ref zero = g_.constant(DType::F32, 0);
  const Ref padded = g_.make(Op::Where, DType::F32, {inside_, x_, zero});
  const Ref kernel = only(make_.fold(Op::Add, padded, {r_}));
  EXPECT_EQ(all(reduced(kernel), Op::Where).size(), 2U);  // of the value, and of the index
}

class GroupReduce : public ReduceLocal {};

TEST_F(GroupReduce, FoldsInTwoPhases) {
  const Ref i = make_.range(AxisType::Global, 2);
  const Ref s = make_.range(AxisType::GroupReduce, 4);
  const Ref r = make_.range(AxisType::Reduce, 3);
  const Ref sum = make_.fold(Op::Add, input(1, DType::F32, {i, s, r}, 24), {r, s});
  const Ref kernel = make_.sink({make_.stored(output(DType::F32, {i}, 2), sum, {i})});
  EXPECT_EQ(text(kernel), R"(uop 1 kernel
%0 = const index 2
%1 = param f32 %0 {0}
%2 = range index %0 {0 global}
%3 = index f32 %1 %2
%4 = buffer f32 {2 reg}
%5 = after f32 %4 %2
%6 = const f32 0.0
%7 = store void %5 %6
%8 = const index 4
%9 = range index %8 {3 reduce}
%10 = after f32 %4 %7 %9
%11 = buffer f32 {1 reg}
%12 = range index %8 {1 group_reduce}
%13 = after f32 %11 %2 %12
%14 = store void %13 %6
%15 = const index 3
%16 = range index %15 {2 reduce}
%17 = after f32 %11 %14 %16
%18 = const index 24
%19 = param f32 %18 {1}
%20 = mul index %2 %8
%21 = add index %12 %20
%22 = mul index %21 %15
%23 = add index %16 %22
%24 = index f32 %19 %23
%25 = add f32 %17 %24
%26 = store void %17 %25
%27 = end void %26 %16
%28 = after f32 %11 %27
%29 = stage f32 %28 %12 {0 local}
%30 = index f32 %29 %9
%31 = add f32 %10 %30
%32 = store void %10 %31
%33 = end void %32 %9
%34 = after f32 %4 %33
%35 = store void %3 %34
%36 = end void %35 %2
%37 = sink void %36 {"kernel"}
)");
  expect_kept(g_, kernel, {{0, counting(DType::F32, 2)}, {1, counting(DType::F32, 24)}});
}

TEST_F(GroupReduce, SharesOneValueAnItemWithoutAFirstFold) {
  const Ref s = make_.range(AxisType::GroupReduce, 4);
  const Ref kernel = only(make_.fold(Op::Max, input(1, DType::I32, {s}, 4), {s}));
  EXPECT_EQ(loops(reduced(kernel)), "1 r1");
  EXPECT_EQ(all(reduced(kernel), Op::Stage)[0]->src[0]->op, Op::Index);
  expect_kept(g_, kernel, {{0, counting(DType::I32, 1)}, {1, counting(DType::I32, 4)}});
}

// The stage has an axis for each LOCAL and WARP range of the part, each shared one, and the lanes.
TEST_F(GroupReduce, HasAnAxisForWhatThePartStandsIn) {
  const Ref i = make_.range(AxisType::Global, 2);
  const Ref l = make_.range(AxisType::Local, 3);
  const Ref w = make_.range(AxisType::Warp, 2);
  const Ref j = make_.range(AxisType::Upcast, 2);
  const Ref s = make_.range(AxisType::GroupReduce, 4);
  const Ref t = make_.range(AxisType::GroupReduce, 2);
  const Ref u = make_.range(AxisType::Unroll, 2);
  const Ref r = make_.range(AxisType::Reduce, 3);
  const Ref x = input(1, DType::I32, {i, l, w, j, s, t, u, r}, 1152);
  const Ref sum = make_.fold(Op::Add, x, {s, r, t, u});
  const Ref kernel =
      make_.sink({make_.stored(output(DType::I32, {i, l, w, j}, 24), sum, {i, l, w, j})});
  const std::vector<Ref> stages = all(reduced(kernel), Op::Stage);
  ASSERT_EQ(stages.size(), 1U);
  EXPECT_EQ(uop::shape_text(uop::shape(g_, stages[0])), "[3, 2, 4, 2, 2]");
  expect_kept(g_, kernel, {{0, counting(DType::I32, 24)}, {1, counting(DType::I32, 1152)}});
}

// A work-item axis that the part does not depend on is none of the stage.
TEST_F(GroupReduce, HasNoAxisForOtherItems) {
  const Ref l = make_.range(AxisType::Local, 3);
  const Ref s = make_.range(AxisType::GroupReduce, 4);
  const Ref sum = make_.fold(Op::Add, input(1, DType::I32, {s}, 4), {s});
  const Ref value = make_.mul(sum, input(2, DType::I32, {l}, 3));
  const Ref kernel = make_.sink({make_.stored(output(DType::I32, {l}, 3), value, {l})});
  EXPECT_EQ(uop::shape_text(uop::shape(g_, all(reduced(kernel), Op::Stage)[0])), "[4]");
  expect_kept(
      g_, kernel,
      {{0, counting(DType::I32, 3)}, {1, counting(DType::I32, 4)}, {2, counting(DType::I32, 3)}});
}

// Both phases of two folds over the same items share their loops, and neither shares a buffer.
TEST_F(GroupReduce, SharesLoopsAndNoBuffers) {
  const Ref s = make_.range(AxisType::GroupReduce, 4);
  const Ref r = make_.range(AxisType::Reduce, 3);
  const Ref x = input(1, DType::I32, {s, r}, 12);
  const Ref value = make_.add(make_.fold(Op::Max, x, {r, s}), make_.fold(Op::Min, x, {r, s}));
  const Ref kernel = only(value);
  const Ref lowered = reduced(kernel);
  EXPECT_EQ(loops(lowered), "2 r1 | 2 r2");
  std::vector<std::string> buffers;
  for (const Ref u : toposort(g_, Middle(g_)(kernel, 3))) {
    if (u->op != Op::Buffer) continue;
    buffers.push_back(std::to_string(u->arg.number()) + std::string(to_text(u->arg.addr_space())));
  }
  std::ranges::sort(buffers);
  EXPECT_EQ(buffers,
            (std::vector<std::string>{"0local", "1local", "2reg", "3reg", "4reg", "5reg"}));
  expect_kept(g_, kernel, {{0, counting(DType::I32, 1)}, {1, counting(DType::I32, 12)}});
}

// What one shared fold is made of may be the result of another over the same items.
TEST_F(GroupReduce, FoldsOneAfterTheOther) {
  const Ref s = make_.range(AxisType::GroupReduce, 4);
  const Ref r = make_.range(AxisType::Reduce, 3);
  const Ref x = input(1, DType::I32, {s, r}, 12);
  const Ref most = make_.fold(Op::Max, x, {r, s});
  const Ref kernel = only(make_.fold(Op::Add, g_.alu(Op::Sub, {x, most}), {r, s}));
  const auto stored =
      expect_kept(g_, kernel, {{0, counting(DType::I32, 1)}, {1, counting(DType::I32, 12)}});
  EXPECT_EQ(stored, values(DType::I32, {-66}));
}

// B139's kernel: the scratch is used again in each iteration of the loop around it.
TEST_F(GroupReduce, UsesItsStageAgainInALoop) {
  for (const AxisType type : {AxisType::Loop, AxisType::Reduce}) {
    const Ref i = make_.range(type, 5);
    const Ref s = make_.range(AxisType::GroupReduce, 4);
    const Ref inner = make_.fold(Op::Max, input(1, DType::I32, {i, s}, 20), {s});
    const bool is_fold = type == AxisType::Reduce;
    const Ref out = output(DType::I32, {}, 1);
    const Ref outs = output(DType::I32, {i}, 5);
    const Ref kernel = make_.sink({is_fold ? make_.stored(out, make_.fold(Op::Add, inner, {i}), {})
                                           : make_.stored(outs, inner, {i})});
    const auto stored = expect_kept(
        g_, kernel, {{0, counting(DType::I32, is_fold ? 1 : 5)}, {1, counting(DType::I32, 20)}});
    EXPECT_EQ(stored, is_fold ? values(DType::I32, {55}) : values(DType::I32, {3, 7, 11, 15, 19}));
    const std::vector<Ref> stages = all(reduced(kernel), Op::Stage);
    ASSERT_EQ(stages.size(), 1U);
    EXPECT_TRUE(std::ranges::equal(uop::ranges(g_, stages[0]), std::vector<Ref>{i}));
  }
}

TEST_F(GroupReduce, NestsSharedFolds) {
  const Ref s = make_.range(AxisType::GroupReduce, 3);
  const Ref t = make_.range(AxisType::GroupReduce, 4);
  const Ref inner = make_.fold(Op::Max, input(1, DType::I32, {s, t}, 12), {t});
  const Ref kernel = only(make_.fold(Op::Add, inner, {s}));
  const auto stored =
      expect_kept(g_, kernel, {{0, counting(DType::I32, 1)}, {1, counting(DType::I32, 12)}});
  EXPECT_EQ(stored, values(DType::I32, {21}));
}

}  // namespace
}  // namespace assay::codegen
