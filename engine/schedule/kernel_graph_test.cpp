// What becomes one kernel and what becomes several.
#include "engine/schedule/kernel_graph.h"

#include <gtest/gtest.h>

#include "engine/schedule/kernel_text.h"
#include "engine/schedule/sample_tensors.h"
#include "engine/uop/scope.h"
#include "engine/uop/verify.h"
#include "engine/uop/walk.h"

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
  EXPECT_EQ(kernels({out(add(a, mul(b, number(2))))}),
            "E_4_6  p0[(add (mul r0 6) r1)] = (add p1[(add (mul r0 6) r1)] (mul p2[(add (mul r0 "
            "6) r1)] 2.0))  <- b2, b0, b1\n");
}

TEST_F(KernelGraphs, MovementIsIndexArithmetic) {
  const Ref a = input({4, 6, 8});
  const Ref moved = flip(reshape(permute(a, {2, 0, 1}), {32, 6}), {0});
  EXPECT_EQ(kernels({out(contiguous(moved))}),
            "E_32_6  p0[(add (mul r0 6) r1)] = p1[(add (add (add (mul r1 8) (div (add (mul r0 "
            "-1) 3) 4)) (mul (mod (add (mul r0 -1) 3) 4) 48)) 7)]  <- b1, b0\n");
}

TEST_F(KernelGraphs, ABroadcastReadsTheOneElement) {
  const Ref a = input({4, 6});
  const Ref b = input({6});
  const Ref c = input({4, 1});
  EXPECT_EQ(kernels({out(add(add(a, b), c))}),
            "E_4_6  p0[(add (mul r0 6) r1)] = (add (add p1[(add (mul r0 6) r1)] p2[r1]) p3[r0])  "
            "<- b3, b0, b1, b2\n");
}

TEST_F(KernelGraphs, SoftmaxIsThree) {
  const Ref x = input({4, 8});
  const Ref m = reduce(Op::Max, permute(x, {1, 0}), 1);
  const Ref e = exp(sub(x, reshape(m, {4, 1})));
  const Ref s = reduce(Op::Add, permute(e, {1, 0}), 1);
  EXPECT_EQ(kernels({out(g.alu(Op::FDiv, {e, reshape(s, {4, 1})}))}),
            "r_4_8  p0[r0] = (reduce_max p1[(add (mul r0 8) r1)] r1)  <- b2, b0\n"
            "r_4_8  p0[r0] = (reduce_add (exp (sub p1[(add (mul r0 8) r1)] p2[r0])) r1)  <- b3, "
            "b0, b2'\n"
            "E_4_8  p0[(add (mul r0 8) r1)] = (fdiv (exp (sub p1[(add (mul r0 8) r1)] p2[r0])) "
            "p3[r0])  <- b1, b0, b2', b3'\n");
}

TEST_F(KernelGraphs, AReduceOfAllUnderABroadcastIsStored) {
  const Ref x = input({4, 8});
  EXPECT_EQ(kernels({out(sub(x, reduce(Op::Max, x, 2)))}),
            "r_4_8  p0[0] = (reduce_max p1[(add (mul r0 8) r1)] r0 r1)  <- b2, b0\n"
            "E_4_8  p0[(add (mul r0 8) r1)] = (sub p1[(add (mul r0 8) r1)] p2[0])  <- b1, b0, "
            "b2'\n");
}

TEST_F(KernelGraphs, FunctionsOfAReduceStayWithIt) {
  const Ref x = input({8, 4});
  EXPECT_EQ(kernels({out(exp(mul(reduce(Op::Add, x, 1), number(0.5))))}),
            "r_4_8  p0[r0] = (exp (mul (reduce_add p1[(add r0 (mul r1 4))] r1) 0.5))  <- b1, b0\n");
}

TEST_F(KernelGraphs, ReadersAtDifferentIndicesComputeACheapValueAgain) {
  const Ref x = input({8});
  const Ref e = exp(x);
  EXPECT_EQ(kernels({out(add(e, flip(e, {0})))}),
            "E_8  p0[r0] = (add (exp p1[r0]) (exp p1[(add (mul r0 -1) 7)]))  <- b1, b0\n");
}

TEST_F(KernelGraphs, AReduceOfStorageIsNotComputedAgain) {
  const Ref x = input({4, 8});
  const Ref s = reduce(Op::Add, x, 1);
  EXPECT_EQ(kernels({out(add(s, flip(s, {0})))}),
            "r_8_4  p0[r0] = (reduce_add p1[(add r0 (mul r1 8))] r1)  <- b2, b0\n"
            "E_8  p0[r0] = (add p1[r0] p1[(add (mul r0 -1) 7)])  <- b1, b2'\n");
}

TEST_F(KernelGraphs, AValueOfFourBuffersIsNotComputedAgain) {
  Ref sum = input({8});
  for (int i = 0; i < 3; ++i) sum = add(sum, input({8}));
  EXPECT_EQ(kernels({out(add(sum, flip(sum, {0})))}),
            "E_8  p0[r0] = (add (add (add p1[r0] p2[r0]) p3[r0]) p4[r0])  <- b5, b0, b1, b2, b3\n"
            "E_8  p0[r0] = (add p1[r0] p1[(add (mul r0 -1) 7)])  <- b4, b5'\n");
}

TEST_F(KernelGraphs, ContiguousIsStoredUnlessTheStoreTakesIt) {
  const Ref c = contiguous(add(input({4}), number(1)));
  EXPECT_EQ(kernels({out(mul(c, number(2)))}),
            "E_4  p0[r0] = (add p1[r0] 1.0)  <- b2, b0\n"
            "E_4  p0[r0] = (mul p1[r0] 2.0)  <- b1, b2'\n");
  EXPECT_EQ(kernels({out(c)}), "E_4  p0[r0] = (add p1[r0] 1.0)  <- b2, b0\n");
}

TEST_F(KernelGraphs, AnAxisThatDoesNotMatterIsStoredOnce) {
  const Ref x = input({8, 4});
  const Ref s = expand(reshape(reduce(Op::Add, x, 1), {1, 4}), {3, 4});
  EXPECT_EQ(kernels({out(add(exp(s), flip(exp(s), {1})))}),
            "r_4_8  p0[r0] = (reduce_add p1[(add r0 (mul r1 4))] r1)  <- b2, b0\n"
            "E_3_4  p0[(add (mul r0 4) r1)] = (add (exp p1[r1]) (exp p1[(add (mul r1 -1) 3)]))  "
            "<- b1, b2'\n");
}

TEST_F(KernelGraphs, ConstantsAndIotaNeedNoBuffer) {
  const Ref i = iota(4, DType::I32);
  EXPECT_EQ(kernels({out(add(i, flip(i, {0}))), out(expand(number(3), {2, 2}))}),
            "E_4  p0[r0] = (add (cast i32 r0) (cast i32 (add (mul r0 -1) 3)))  <- b0\n"
            "E_2_2  p0[(add (mul r0 2) r1)] = 3.0  <- b1\n");
}

// Its copy is no copy, so each device that reads it holds its own.
TEST_F(KernelGraphs, WhatIsComputedOfNoStorageIsStoredOnEachDeviceThatReadsIt) {
  const Ref c = contiguous(iota(4, DType::I32));
  const Ref most = reduce(Op::Max, c, 1);
  const Ref there = copy(most, "sim:1");
  const std::vector<Ref> states = {out(add(there, number(1, DType::I32)), "sim:1"),
                                   out(add(c, reshape(most, {1})))};
  EXPECT_EQ(kernels(states),
            "E_4  p0[r0] = (cast i32 r0)  <- b3\n"
            "r_4  p0[0] = (reduce_max p1[r0] r0)  <- b5, b3'\n"
            "E  p0[0] = (add p1[0] 1)  <- b0, b5'\n"
            "E_4  p0[r0] = (cast i32 r0)  <- b2\n"
            "r_4  p0[0] = (reduce_max p1[r0] r0)  <- b4, b2'\n"
            "E_4  p0[r0] = (add p1[r0] p2[0])  <- b1, b2', b4'\n");
  uop::Run run(g);
  const Result<Ref> graph = get_kernel_graph(run, sink(states), uop::generic_target());
  ASSERT_TRUE(graph.ok());
  for (const Ref u : uop::toposort(g, graph.value(), uop::Extent::OutsideBodies)) {
    if (u->op != Op::Call) continue;
    for (const Ref argument : u->src.subspan(2)) {
      EXPECT_EQ(uop::device(g, argument), uop::device(g, u->src[1]));
    }
  }
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
  EXPECT_EQ(kernels({out(add(y, number(1))), out(reduce(Op::Add, y, 1))}),
            "E_64  p0[r0] = (add (exp p1[r0]) 1.0)  <- b1, b0\n"
            "r_64  p0[0] = (reduce_add (exp p1[r0]) r0)  <- b2, b0\n");
}

TEST_F(KernelGraphs, ALargeReduceIsTwo) {
  const Ref x = input({256, 128});
  EXPECT_EQ(kernels({out(reduce(Op::Max, x, 2))}),
            "r_256_128  p0[r0] = (reduce_max p1[(add (mul r0 128) r1)] r1)  <- b2, b0\n"
            "r_256  p0[0] = (reduce_max p1[r0] r0)  <- b1, b2'\n");
}

TEST_F(KernelGraphs, ALargeReduceIsNotSplitWhereItRepeats) {
  const Ref x = expand(reshape(input({4}, DType::I32), {1, 4}), {32768, 4});
  EXPECT_EQ(kernels({out(reduce(Op::Add, x, 2))}),
            "r_32768_4  p0[0] = (reduce_add p1[r1] r0 r1)  <- b1, b0\n");
}

TEST_F(KernelGraphs, AKernelTakesNoMoreBuffersThanItsTarget) {
  Ref sum = input({4});
  for (int i = 0; i < 5; ++i) sum = add(sum, input({4}));
  uop::Target target = uop::generic_target();
  target.limits.buffers = 4;
  EXPECT_EQ(kernels({out(sum)}, target),
            "E_4  p0[r0] = (add (add p1[r0] p2[r0]) p3[r0])  <- b7, b0, b1, b2\n"
            "E_4  p0[r0] = (add (add p1[r0] p2[r0]) p3[r0])  <- b8, b7', b3, b4\n"
            "E_4  p0[r0] = (add p1[r0] p2[r0])  <- b6, b8', b5\n");
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
