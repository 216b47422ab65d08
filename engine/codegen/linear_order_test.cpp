#include "engine/codegen/linear_order.h"

#include <gtest/gtest.h>

#include "engine/codegen/sample_kernel.h"

namespace assay::codegen {
namespace {

using uop::AxisType;
using uop::DType;
using uop::Op;
using uop::Ref;

struct LinearOrder : ::testing::Test, SampleKernel {
  const Ref zero = i32(0);
  const Ref eight = i32(8);
  const Ref out = param(0, 8);
  const Ref in = param(1, 8);
  const Ref r = range(0, 8, AxisType::Loop);
  const Ref gate = g.variable("gate", DType::Bool);

  std::string trouble(const std::vector<Ref>& lines) {
    const Ref root = g.make(Op::Linear, DType::Void, lines);
    return linear_order().breach(g, root).value_or("");
  }
  Ref branch(Ref condition) { return g.make(Op::If, DType::Void, {condition}); }
  Ref close(Ref opener) { return g.make(Op::EndIf, DType::Void, {opener}); }
};

TEST_F(LinearOrder, IsThatOfAProgram) {
  const Ref at = index(out, r);
  const Ref x = load(index(in, r));
  const Ref put = store(at, x);
  const Ref open = branch(gate);
  const Ref last = end(put, {r});
  EXPECT_EQ(trouble({eight, out, in, gate, r, at, x->src[0], x, open, put, close(open), last}), "");
  EXPECT_EQ(trouble({}), "");
  EXPECT_EQ(linear_order().breach(g, sink({})), "the root is no linear");
}

TEST_F(LinearOrder, EachNodeStandsOnceAndAfterItsSources) {
  EXPECT_EQ(trouble({eight, out, out}), "line 1: param stands there twice");
  EXPECT_EQ(trouble({out, eight}), "line 0: param stands before its source const");
  const Ref x = load(out, 0);
  EXPECT_EQ(trouble({eight, out, zero, x}), "line 3: load stands before its source index");
}

TEST_F(LinearOrder, LoopsAndBranchesAreClosedInTurn) {
  const Ref s = range(1, 8, AxisType::Loop);
  const Ref put = store(index(out, zero), f32(1));
  const std::vector<Ref> start = {eight, out, gate, zero, put->src[0], put->src[1]};
  const auto with = [&](std::vector<Ref> rest) {
    rest.insert(rest.begin(), start.begin(), start.end());
    return trouble(rest);
  };
  const Ref open = branch(gate);
  EXPECT_EQ(with({r, s, put, end(put, {r})}), "line 9: end closes what is not open");
  EXPECT_EQ(with({r, put}), "line 6: range is not closed");
  EXPECT_EQ(with({open, put}), "line 6: if is not closed");
  EXPECT_EQ(with({r, put, end(put, {r}), open, put}), "line 7: store stands there twice");
  EXPECT_EQ(with({open, r}), "line 7: range stands in an if");
  EXPECT_EQ(with({open, barrier({})}), "line 7: barrier stands in an if");
  EXPECT_EQ(with({r, open, put, end(put, {r})}), "line 9: end closes what is not open");
}

TEST_F(LinearOrder, NothingOfALoopIsNamedOutside) {
  const Ref one = f32(1);
  const Ref put = store(index(out, zero), one);
  const Ref twice = add(r, r);
  const Ref outside = add(twice, eight);
  const Ref over = end(put, {r});
  EXPECT_EQ(trouble({eight, out, zero, one, put->src[0], r, twice, put, over, outside}),
            "line 9: add names add, which is in a scope that has ended");
  const Ref waits = after(out, {put});
  EXPECT_EQ(trouble({eight, out, zero, one, put->src[0], r, put, over, waits}),
            "line 8: after names store, which is in a scope that has ended");
}

TEST_F(LinearOrder, NothingOfABranchIsNamedBehindItButItsStores) {
  const Ref one = f32(1);
  const Ref place = index(out, zero);
  const Ref open = branch(gate);
  const Ref put = store(place, one);
  const Ref waits = after(out, {put});
  EXPECT_EQ(trouble({eight, out, gate, zero, one, place, open, put, close(open), waits}), "");
  const Ref inside = index(in, zero);
  const Ref x = load(inside);
  EXPECT_EQ(trouble({eight, out, in, gate, zero, open, inside, close(open), x}),
            "line 8: load names index, which is in a scope that has ended");
}

TEST_F(LinearOrder, ParamsStandInFrontBySlot) {
  EXPECT_EQ(trouble({eight, in, out}), "line 2: param is out of order");
  EXPECT_EQ(trouble({eight, out, gate, in}), "line 3: param stands behind what is no param");
}

}  // namespace
}  // namespace assay::codegen
