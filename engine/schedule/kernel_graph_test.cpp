// What becomes one kernel and what becomes several.
#include "engine/schedule/kernel_graph.h"

#include <gtest/gtest.h>

#include "engine/schedule/kernel_text.h"
#include "engine/schedule/sample_tensors.h"
#include "engine/uop/verify.h"

namespace assay::schedule {
namespace {

class KernelGraphs : public testing::Test, protected SampleTensors {
 protected:
  // The kernels, or what was wrong.
  std::string kernels(const std::vector<Ref>& states,
                      const uop::Target& target = uop::generic_target()) {
    uop::Run run(g);
    const Result<Ref> graph = get_kernel_graph(run, sink(states), target);
    if (!graph.ok()) return "error: " + graph.error().message;
    EXPECT_EQ(uop::verify(g, graph.value()), std::nullopt);
    return KernelText::of(g, graph.value());
  }
};


TEST_F(KernelGraphs, ElementwiseIsOneKernel) {
  const Ref a = input({4, 6});
  const Ref b = input({4, 6});
  EXPECT_EQ(kernels({out(add(a, mul(b, number(2))))}), "");
}

TEST_F(KernelGraphs, MovementIsIndexArithmetic) {
  const Ref a = input({4, 6, 8});
  const Ref moved = flip(reshape(permute(a, {2, 0, 1}), {32, 6}), {0});
  EXPECT_EQ(kernels({out(contiguous(moved))}), "");
}

TEST_F(KernelGraphs, ABroadcastReadsTheOneElement) {
  const Ref a = input({4, 6});
  const Ref b = input({6});
  const Ref c = input({4, 1});
  EXPECT_EQ(kernels({out(add(add(a, b), c))}), "");
}

TEST_F(KernelGraphs, SoftmaxIsThree) {
  const Ref x = input({4, 8});
  const Ref m = reduce(Op::Max, permute(x, {1, 0}), 1);
  const Ref e = exp(sub(x, reshape(m, {4, 1})));
  const Ref s = reduce(Op::Add, permute(e, {1, 0}), 1);
  EXPECT_EQ(kernels({out(g.alu(Op::FDiv, {e, reshape(s, {4, 1})}))}), "");
}

TEST_F(KernelGraphs, AReduceOfAllUnderABroadcastIsStored) {
  const Ref x = input({4, 8});
  EXPECT_EQ(kernels({out(sub(x, reduce(Op::Max, x, 2)))}), "");
}

TEST_F(KernelGraphs, FunctionsOfAReduceStayWithIt) {
  const Ref x = input({8, 4});
  EXPECT_EQ(kernels({out(exp(mul(reduce(Op::Add, x, 1), number(0.5))))}), "");
}

TEST_F(KernelGraphs, ReadersAtDifferentIndicesComputeACheapValueAgain) {
  const Ref x = input({8});
  const Ref e = exp(x);
  EXPECT_EQ(kernels({out(add(e, flip(e, {0})))}), "");
}

TEST_F(KernelGraphs, AReduceOfStorageIsNotComputedAgain) {
  const Ref x = input({4, 8});
  const Ref s = reduce(Op::Add, x, 1);
  EXPECT_EQ(kernels({out(add(s, flip(s, {0})))}), "");
}

TEST_F(KernelGraphs, AValueOfFourBuffersIsNotComputedAgain) {
  Ref sum = input({8});
  for (int i = 0; i < 3; ++i) sum = add(sum, input({8}));
  EXPECT_EQ(kernels({out(add(sum, flip(sum, {0})))}), "");
}

TEST_F(KernelGraphs, ContiguousIsStoredUnlessTheStoreTakesIt) {
  const Ref c = contiguous(add(input({4}), number(1)));
  EXPECT_EQ(kernels({out(mul(c, number(2)))}), "");
  EXPECT_EQ(kernels({out(c)}), "");
}

TEST_F(KernelGraphs, AnAxisThatDoesNotMatterIsStoredOnce) {
  const Ref x = input({8, 4});
  const Ref s = expand(reshape(reduce(Op::Add, x, 1), {1, 4}), {3, 4});
  EXPECT_EQ(kernels({out(add(exp(s), flip(exp(s), {1})))}), "");
}

TEST_F(KernelGraphs, ConstantsAndIotaNeedNoBuffer) {
  const Ref i = iota(4, DType::I32);
  EXPECT_EQ(kernels({out(add(i, flip(i, {0}))), out(expand(number(3), {2, 2}))}), "");
}

TEST_F(KernelGraphs, EqualKernelsAreOneNode) {
  const Ref a = out(exp(permute(input({4, 6}), {1, 0})));
  const Ref b = out(exp(permute(input({4, 6}), {1, 0})));
  uop::Run run(g);
  const Result<Ref> graph = get_kernel_graph(run, sink({a, b}), uop::generic_target());
  ASSERT_TRUE(graph.ok());
  const Ref first = graph.value()->src[0]->src[1];
  const Ref second = graph.value()->src[1]->src[1];
  EXPECT_NE(first, second);
  EXPECT_EQ(first->src[0], second->src[0]);
}

TEST_F(KernelGraphs, TwoOutputsComputeWhatTheyShareEach) {
  const Ref y = exp(input({64}));
  EXPECT_EQ(kernels({out(add(y, number(1))), out(reduce(Op::Add, y, 1))}), "");
}

TEST_F(KernelGraphs, ALargeReduceIsTwo) {
  const Ref x = input({256, 128});
  EXPECT_EQ(kernels({out(reduce(Op::Max, x, 2))}), "");
}

TEST_F(KernelGraphs, ALargeReduceIsNotSplitWhereItRepeats) {
  const Ref x = expand(reshape(input({4}, DType::I32), {1, 4}), {32768, 4});
  EXPECT_EQ(kernels({out(reduce(Op::Add, x, 2))}), "");
}

TEST_F(KernelGraphs, AKernelTakesNoMoreBuffersThanItsTarget) {
  Ref sum = input({4});
  for (int i = 0; i < 5; ++i) sum = add(sum, input({4}));
  uop::Target target = uop::generic_target();
  target.limits.buffers = 4;
  EXPECT_EQ(kernels({out(sum)}, target), "");
}

TEST_F(KernelGraphs, ManySumsOverFewBuffersAreOneKernel) {
  for (int i = 0; i < 4; ++i) input({4}, DType::I32);
  Ref sum = inputs[0];
  for (size_t i = 1; i < 400; ++i) sum = add(sum, inputs[i % 4]);
  uop::Target target = uop::generic_target();
  target.limits.buffers = 8;
  const std::string text = kernels({out(sum)}, target);
  EXPECT_EQ(std::ranges::count(text, '\n'), 1);
}

}  // namespace
}  // namespace assay::schedule
