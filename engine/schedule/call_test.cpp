#include "engine/schedule/call.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "engine/uop/dim.h"
#include "engine/uop/key.h"
#include "engine/uop/shape.h"
#include "engine/uop/verify.h"

namespace assay::schedule {
namespace {

using tensor::storage_of;
using uop::F32;
using uop::Op;
using uop::Shape;

class Calls : public testing::Test {
 protected:
  Graph& g() { return session.graph(); }
  Tensor input() {
    const Shape shape = uop::intern_shape(g(), uop::dims(g(), {4}));
    return session.storage(session.new_buffer(F32, shape, session.default_device()));
  }
  Tensor value(Ref u) { return session.tensor(u, session.default_device()); }
  Ref number(int64_t n) { return g().constant(F32, n); }
  Ref add(Ref a, Ref b) { return g().alu(Op::Add, {a, b}); }
  Realization pick(std::initializer_list<const Tensor*> tensors) {
    const std::vector<const Tensor*> list = tensors;
    return pick_outputs(session, list);
  }
  void realize(std::initializer_list<const Tensor*> tensors) {
    const Realization made = pick(tensors);
    session.realized(made.map, made.owners);
  }

  Session session;
};

TEST_F(Calls, AComputedValueGetsStorage) {
  const Tensor x = input();
  const Tensor y = value(add(x.read(), number(1)));
  const Realization made = pick({&y});
  ASSERT_EQ(made.sink->src.size(), 1U);
  EXPECT_EQ(made.sink->src[0]->op, Op::After);
  EXPECT_EQ(made.sink->src[0]->src[1]->src[1], y.read());
  session.realized(made.map, made.owners);
  EXPECT_EQ(y.read()->op, Op::Buffer);
  EXPECT_TRUE(pick({&y}).sink->src.empty());
}

TEST_F(Calls, NothingIsStoredOfStorageAndOfConstants) {
  const Tensor x = input();
  const Tensor one = value(number(1));
  EXPECT_TRUE(pick({&x, &one, &x}).sink->src.empty());
}

TEST_F(Calls, TheSameTensorTwiceIsOneOutput) {
  const Tensor x = input();
  const Tensor y = value(add(x.read(), number(1)));
  EXPECT_EQ(pick({&y, &y}).sink->src.size(), 1U);
}

TEST_F(Calls, AnOutputThatAnotherUsesIsReadFromItsStorage) {
  const Tensor x = input();
  const Tensor y = value(add(x.read(), number(1)));
  const Tensor z = value(g().alu(Op::Mul, {y.read(), number(2)}));
  const Realization made = pick({&z, &y});
  ASSERT_EQ(made.sink->src.size(), 2U);
  const Ref product = made.sink->src[0]->src[1]->src[1];
  EXPECT_EQ(product->src[0], made.sink->src[1]);
}

TEST_F(Calls, AReaderOfAVersionThatIsOverwrittenIsStoredToo) {
  const Tensor x = input();
  const Tensor y = value(add(x.read(), number(10)));
  session.write(x, number(2));
  EXPECT_EQ(pick({&x}).sink->src.size(), 2U);
  realize({&x});
  EXPECT_EQ(y.read()->op, Op::Buffer);
  EXPECT_NE(y.read(), x.read());
}

TEST_F(Calls, AReaderOfAReaderIsStoredToo) {
  const Tensor x = input();
  Tensor t = value(add(x.read(), number(10)));
  const Tensor z = value(add(t.read(), number(1)));
  t = Tensor();
  session.write(x, number(2));
  EXPECT_EQ(pick({&x}).sink->src.size(), 2U);
}

TEST_F(Calls, ForcingAReaderDoesNotRunTheWrite) {
  const Tensor x = input();
  const Tensor y = value(add(x.read(), number(10)));
  session.write(x, number(2));
  EXPECT_EQ(pick({&y}).sink->src.size(), 1U);
  realize({&y});
  EXPECT_EQ(x.read()->op, Op::After);
}

TEST_F(Calls, AValueThatIsAnOldVersionItselfIsCopied) {
  const Tensor x = input();
  const Tensor before = value(x.read());
  session.write(x, number(2));
  const Realization made = pick({&x});
  ASSERT_EQ(made.owners.size(), 1U);
  EXPECT_EQ(made.owners[0].cell, before.cell());
  session.realized(made.map, made.owners);
  EXPECT_NE(before.read(), x.read());
  EXPECT_EQ(storage_of(x.read()), x.read());
}

TEST_F(Calls, TheMiddleOfThreeVersionsIsKeptForItsReader) {
  const Tensor x = input();
  session.write(x, number(3));
  const Tensor middle = value(add(x.read(), number(1)));
  session.write(x, number(5));
  const Tensor last = value(add(x.read(), number(1)));
  realize({&last});
  EXPECT_EQ(middle.read()->op, Op::Buffer);
  EXPECT_EQ(x.read()->op, Op::Buffer);
}

TEST_F(Calls, AVersionIsMadeThoughWhatReadsItMayBeNothing) {
  const Tensor x = input();
  session.write(x, number(2));
  const std::array<Ref, 2> none = {uop::dim(g(), 0), uop::dim(g(), 0)};
  const Tensor empty = value(uop::shrink(g(), x.read(), none));
  const Realization made = pick({&empty});
  EXPECT_EQ(std::ranges::count(made.sink->src, x.read()), 1);
}

TEST_F(Calls, ACallHoldsNothingOfTheSession) {
  const Tensor a = input();
  const Tensor b = input();
  const Tensor y = value(add(a.read(), b.read()));
  const Tensor z = value(add(b.read(), a.read()));
  const Ref first = transform_to_call(g(), pick({&y}).sink);
  const Ref second = transform_to_call(g(), pick({&z}).sink);
  EXPECT_EQ(first->src[0], second->src[0]);
  EXPECT_NE(first, second);
  EXPECT_EQ(uop::verify(g(), first).value_or(""), "");
  for (const Ref u : uop::toposort(g(), first->src[0])) EXPECT_NE(u->op, Op::Buffer);
}

TEST_F(Calls, OneBufferTwiceIsOneArgument) {
  const Tensor a = input();
  const Tensor b = input();
  const Tensor y = value(add(a.read(), b.read()));
  const Tensor z = value(add(a.read(), a.read()));
  EXPECT_EQ(transform_to_call(g(), pick({&y}).sink)->src.size(), 4U);
  EXPECT_EQ(transform_to_call(g(), pick({&z}).sink)->src.size(), 3U);
}

TEST_F(Calls, BoundVariablesBecomeArguments) {
  const Ref n = g().variable("n", uop::of_int(uop::Index, 1), uop::of_int(uop::Index, 8));
  const Ref three = g().make(Op::Bind, uop::Index, {n, uop::dim(g(), 3)});
  const std::array<Ref, 1> sizes = {three};
  const Ref buffer = session.new_buffer(F32, sizes, session.default_device());
  const Tensor x = session.storage(buffer);
  const Tensor y = value(add(x.read(), number(1)));
  const Ref call = transform_to_call(g(), pick({&y}).sink);
  EXPECT_EQ(call->src.back(), three);
  for (const Ref u : uop::toposort(g(), call->src[0])) EXPECT_NE(u->op, Op::Bind);
}

}  // namespace
}  // namespace assay::schedule
