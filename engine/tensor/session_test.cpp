#include "engine/tensor/session.h"

#include <gtest/gtest.h>

#include <array>

#include "engine/uop/dim.h"

namespace assay::tensor {
namespace {

using uop::F32;
using uop::Op;

class Sessions : public testing::Test {
 protected:
  Graph& g() { return session.graph(); }
  Shape shape(std::initializer_list<int64_t> sizes) {
    return uop::intern_shape(g(), uop::dims(g(), sizes));
  }
  Tensor input(std::initializer_list<int64_t> sizes) {
    return session.storage(session.new_buffer(F32, shape(sizes), session.default_device()));
  }
  Tensor value(Ref u) { return session.tensor(u, session.default_device()); }
  Ref number(int64_t n) { return g().constant(F32, n); }
  // The first `size` elements.
  Tensor head(const Tensor& t, int64_t size) {
    const std::array<Ref, 2> bounds = {uop::dim(g(), 0), uop::dim(g(), size)};
    return t.view(uop::shrink(g(), t.term(), bounds));
  }

  Session session;
};

TEST_F(Sessions, AReaderKeepsTheVersionItWasBuiltOn) {
  const Tensor x = input({4});
  const Ref before = x.read();
  const Tensor y = value(g().alu(Op::Add, {x.read(), number(10)}));
  session.write(x, number(2));
  EXPECT_EQ(y.read()->src[0], before);
  EXPECT_EQ(x.read()->op, Op::After);
  EXPECT_EQ(x.read()->src[0], before);
}

TEST_F(Sessions, AWriteThroughAViewShowsInTheValueAndInItsOtherViews) {
  const Tensor x = input({4});
  const Tensor v = head(x, 2);
  const Tensor w = head(v, 1);
  session.write(v, number(9));
  EXPECT_EQ(x.read()->op, Op::After);
  EXPECT_EQ(v.read()->src[0], x.read());
  EXPECT_EQ(w.read()->src[0], v.read());
}

TEST_F(Sessions, AWriteToAComputedValueGivesItStorageFirst) {
  const Tensor a = input({4});
  const Ref sum = g().alu(Op::Add, {a.read(), number(1)});
  const Tensor c = value(sum);
  session.write(head(c, 2), number(99));
  const Ref first = c.read()->src[0];
  ASSERT_EQ(first->op, Op::After);
  EXPECT_EQ(first->src[0]->op, Op::Buffer);
  EXPECT_EQ(first->src[1]->src[1], sum);
}

TEST_F(Sessions, EqualValuesPartAtTheFirstWrite) {
  const Tensor a = input({4});
  const Ref sum = g().alu(Op::Add, {a.read(), number(1)});
  const Tensor c = value(sum);
  const Tensor d = value(sum);
  session.write(c, number(7));
  EXPECT_EQ(d.read(), sum);
  session.write(d, number(8));
  EXPECT_NE(storage_of(c.read()), storage_of(d.read()));
}

TEST_F(Sessions, AValueThatNamesAnothersStorageWritesToItsOwn) {
  const Tensor a = input({4});
  const Tensor b = value(a.read());
  session.write(b, number(1));
  EXPECT_EQ(a.read()->op, Op::Buffer);
  EXPECT_NE(storage_of(b.read()), a.read());
  session.write(a, number(2));
  EXPECT_EQ(storage_of(a.read()), a.read()->src[0]);
}

TEST_F(Sessions, RealizedNodesMoveInAllLiveValues) {
  const Tensor a = input({4});
  const Ref sum = g().alu(Op::Add, {a.read(), number(1)});
  const Tensor c = value(sum);
  const Tensor d = value(g().alu(Op::Mul, {sum, number(3)}));
  const Ref buffer = session.new_buffer(F32, shape({4}), session.default_device());
  const std::array<Session::Owner, 1> owners = {{{c.cell(), buffer}}};
  session.apply_map_to_tensors({{sum, buffer}}, owners);
  EXPECT_EQ(c.read(), buffer);
  EXPECT_EQ(d.read()->src[0], buffer);
}

// What is computed of no storage is on any device, until it is kept on one.
TEST_F(Sessions, WhatIsRealizedOnOneDeviceIsCopiedToOthers) {
  const Tensor there =
      session.storage(session.new_buffer(F32, shape({4}), session.device("sim:1")));
  const Ref ones = uop::expand(g(), number(1), shape({4}));
  const Tensor c = value(ones);
  const Tensor d = value(g().alu(Op::Add, {ones, number(3)}));
  const Tensor e = value(g().alu(Op::Add, {there.read(), ones}));
  const Ref buffer = session.new_buffer(F32, shape({4}), session.default_device());
  const std::array<Session::Owner, 1> owners = {{{c.cell(), buffer}}};
  session.apply_map_to_tensors({{ones, buffer}}, owners);
  EXPECT_EQ(c.read(), buffer);
  EXPECT_EQ(d.read()->src[0], buffer);
  EXPECT_EQ(e.read()->src[1], g().make(Op::Copy, F32, {buffer, session.device("sim:1")}));
}

TEST_F(Sessions, PlacesOfDroppedValuesAreUsedAgain) {
  const Tensor keep = input({4});
  uint32_t last = 0;
  for (int i = 0; i < 1000; ++i) {
    const Tensor t = value(g().alu(Op::Add, {keep.read(), number(i)}));
    last = t.cell();
  }
  EXPECT_EQ(last, 1U);
  EXPECT_EQ(session.cells().size(), 2U);
}

TEST_F(Sessions, LeavesAGraphThatIsMostlyDead) {
  const Tensor keep = input({4});
  const Tensor v = head(keep, 2);
  for (int i = 0; i < 1000; ++i) value(g().alu(Op::Add, {keep.read(), number(i)}));
  session.compact(1 << 20);
  EXPECT_EQ(session.generation(), 0U);
  session.compact(100);
  EXPECT_EQ(session.generation(), 1U);
  EXPECT_LT(g().size(), 30U);
  session.write(v, number(5));
  EXPECT_EQ(keep.read()->src[1]->src[0],
            uop::substitute(g(), v.read(), {{keep.read(), keep.read()->src[0]}}));
}

}  // namespace
}  // namespace assay::tensor
