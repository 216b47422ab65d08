// Writes, pads, empty tensors, symbolic sizes, bits and devices: the kernels as text, and whether
// they compute what the graph denotes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "engine/schedule/kernel_graph.h"
#include "engine/schedule/kernel_text.h"
#include "engine/schedule/order.h"
#include "engine/schedule/sample_tensors.h"
#include "engine/tensor/session.h"
#include "engine/uop/verify.h"
#include "oracles/interpreter/interpreter.h"

namespace assay::schedule {
namespace {

class KernelEdges : public testing::Test, protected SampleTensors {
 protected:
  // The kernels, or what was wrong.
  std::string kernels(const std::vector<Ref>& states) {
    uop::Run run(g);
    const Result<Ref> graph = get_kernel_graph(run, sink(states), uop::generic_target());
    if (!graph.ok()) return "error: " + graph.error().message;
    EXPECT_EQ(uop::verify(g, graph.value()), std::nullopt);
    compare(states, graph.value());
    return KernelText::of(g, graph.value());
  }

 private:
  void compare(const std::vector<Ref>& states, Ref graph) {
    interpreter::Memory memory;
    for (const Ref b : inputs) fill(memory.of(g, b), b->dtype);
    const auto wanted = interpreter::evaluate(g, states, variables, memory);
    ASSERT_TRUE(wanted.ok()) << to_string(wanted.error());
    const Result<Ref> linear = create_schedule(g, graph);
    ASSERT_TRUE(linear.ok()) << to_string(linear.error());
    const auto done = interpreter::run(g, linear.value(), variables, memory);
    ASSERT_TRUE(done.ok()) << to_string(done.error());
    for (size_t i = 0; i < states.size(); ++i) {
      const auto& bytes = wanted.value()[i].bytes;
      const Ref storage = tensor::storage_of(states[i]);
      if (bytes.empty() || !memory.has(storage->arg.number())) continue;
      const auto got = memory.at(storage->arg.number());
      EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), got.begin())) << "state " << i;
    }
  }
  static void fill(std::span<std::byte> bytes, DType t) {
    const auto size = static_cast<size_t>(uop::bytes_of(t));
    for (size_t i = 0; i < bytes.size() / size; ++i) {
      const uint64_t bits = uop::of_int(t, static_cast<int64_t>(i * 7 % 11) + 1).bits;
      std::memcpy(&bytes[i * size], &bits, size);
    }
  }
};

using uop::DType;
using uop::Op;

TEST_F(KernelEdges, AnElementwiseWriteIsInPlace) {
  const Ref a = input({4});
  EXPECT_EQ(kernels({write(a, a, add(a, input({4})))}),
            "E_4  p0[r0] = (add p0[r0] p1[r0])  <- b0, b1\n");
}

TEST_F(KernelEdges, AWriteThatReadsOtherPlacesComputesFirst) {
  const Ref a = input({4, 2});
  EXPECT_EQ(kernels({write(a, a, add(a, flip(a, {0})))}),
            "E_4_2  p0[(add (mul r0 2) r1)] = (add p1[(add (mul r0 2) r1)] p1[(add (add (mul r0 "
            "-2) r1) 6)])  <- b1, b0\n"
            "E_4_2  p0[(add (mul r0 2) r1)] = p1[(add (mul r0 2) r1)]  <- b0, b1'\n");
}

TEST_F(KernelEdges, AShiftedWriteComputesFirst) {
  const Ref a = input({8});
  EXPECT_EQ(kernels({write(a, shrink(a, {1, 7}), shrink(a, {0, 7}))}),
            "E_7  p0[r0] = p1[r0]  <- b1, b0\n"
            "E_7  p0[(add r0 1)] = p1[r0]  <- b0, b1'\n");
}

TEST_F(KernelEdges, AWriteThatReadsFromElsewhereIsInPlace) {
  const Ref a = input({8});
  EXPECT_EQ(kernels({write(a, shrink(a, {0, 4}), shrink(a, {4, 4}))}),
            "E_4  p0[r0] = p0[(add r0 4)]  <- b0\n");
}

TEST_F(KernelEdges, AWriteOfASumOverItselfComputesFirst) {
  const Ref a = input({4});
  EXPECT_EQ(kernels({write(a, a, expand(reshape(reduce(Op::Add, a, 1), {1}), {4}))}),
            "r_4  p0[0] = (reduce_add p1[r0] r0)  <- b1, b0\n"
            "E_4  p0[r0] = p1[0]  <- b0, b1'\n");
}

TEST_F(KernelEdges, AWriteGoesThroughViews) {
  const Ref a = input({4, 6});
  const Ref view = flip(permute(shrink(a, {1, 2, 0, 6}), {1, 0}), {0});
  EXPECT_EQ(kernels({write(a, view, input({6, 2}))}),
            "E_6_2  p0[(add (add (mul r0 -1) (mul r1 6)) 11)] = p1[(add (mul r0 2) r1)]  <- b0, "
            "b1\n");
}

TEST_F(KernelEdges, AStridedWriteHasNoGate) {
  const Ref a = input({7});
  const Ref pairs = reshape(pad(a, {0, 1}), {4, 2});
  const Ref even = reshape(shrink(pairs, {0, 4, 0, 1}), {4});
  EXPECT_EQ(kernels({write(a, even, input({4}))}), "E_4  p0[(mul r0 2)] = p1[r0]  <- b0, b1\n");
}

TEST_F(KernelEdges, ASliceWriteIsOneKernelAndReadersTakeTheNextVersion) {
  const Ref a = input({8});
  const Ref next = write(a, shrink(a, {2, 4}), input({4}));
  EXPECT_EQ(kernels({out(mul(next, number(2))), next}),
            "E_4  p0[(add r0 2)] = p1[r0]  <- b0, b1\n"
            "E_8  p0[r0] = (mul p1[r0] 2.0)  <- b2, b0'\n");
}

TEST_F(KernelEdges, AKernelTakesTwoVersionsAsTwoArguments) {
  const Ref a = input({4});
  const Ref next = write(a, a, input({4}));
  uop::Run run(g);
  const Result<Ref> graph = get_kernel_graph(run, sink({out(add(a, next))}), uop::generic_target());
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(KernelText::of(g, graph.value()),
            "E_4  p0[r0] = p1[r0]  <- b0, b1\n"
            "E_4  p0[r0] = (add p1[r0] p2[r0])  <- b2, b0, b0'\n");
}

TEST_F(KernelEdges, WhatChangesNothingIsNoKernel) {
  const Ref a = input({4});
  const Ref same = write(a, shrink(a, {1, 2}), shrink(a, {1, 2}));
  const Ref twice = out(exp(a));
  EXPECT_EQ(kernels({same}), "");
  EXPECT_EQ(kernels({write(twice, twice, exp(a))}), "E_4  p0[r0] = (exp p1[r0])  <- b1, b0\n");
}

TEST_F(KernelEdges, AStoreOfUndefinedElementsIsNoKernel) {
  const Ref b = input({4});
  const Ref undefined = expand(g.make(Op::Invalid, DType::F32, {}), {2});
  uop::Run run(g);
  const Result<Ref> graph =
      get_kernel_graph(run, sink({write(b, shrink(b, {0, 2}), undefined)}), uop::generic_target());
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(graph.value()->src[0], b);
}

TEST_F(KernelEdges, AWriteThroughBitsOfTheSameWidth) {
  const Ref a = input({4});
  EXPECT_EQ(kernels({write(a, bitcast(a, DType::U32), input({4}, DType::U32))}),
            "E_4  p0[r0] = (bitcast f32 p1[r0])  <- b0, b1\n");
}

TEST_F(KernelEdges, AWriteOfSomeBytesKeepsTheOthers) {
  const Ref a = input({2}, DType::U32);
  const Ref bytes = shrink(bitcast(a, DType::U8), {1, 4});
  EXPECT_EQ(kernels({write(a, bytes, input({4}, DType::U8))}),
            "E_2  p0[r0] = (or (or (or (cast u32 (where (lt 0 r0) (where (lt 0 r0) p1[(where (lt "
            "0 r0) (add (mul r0 4) -1) invalid)] 0) (cast u8 (shr p0[r0] (cast u32 0))))) (shl "
            "(cast u32 (where (lt r0 1) (where (lt r0 1) p1[(where (lt r0 1) (mul r0 4) "
            "invalid)] 0) (cast u8 (shr p0[r0] (cast u32 8))))) 8)) (shl (cast u32 (where (lt r0 "
            "1) (where (lt r0 1) p1[(where (lt r0 1) (add (mul r0 4) 1) invalid)] 0) (cast u8 "
            "(shr p0[r0] (cast u32 16))))) 16)) (shl (cast u32 (where (lt r0 1) (where (lt r0 1) "
            "p1[(where (lt r0 1) (add (mul r0 4) 2) invalid)] 0) (cast u8 (shr p0[r0] (cast u32 "
            "24))))) 24))  <- b0, b1\n");
}

TEST_F(KernelEdges, AWriteThroughWiderBits) {
  const Ref a = input({8}, DType::U8);
  const Ref word = shrink(bitcast(a, DType::U32), {1, 1});
  EXPECT_EQ(kernels({write(a, word, input({1}, DType::U32))}),
            "E_8  p0[r0] = (cast u8 (shr (where (lt 3 r0) (where (lt 3 r0) p1[(where (lt 3 r0) "
            "(add (div r0 4) -1) invalid)] 0) (or (or (or (cast u32 p2[(mul (div r0 4) 4)]) (shl "
            "(cast u32 p2[(add (mul (div r0 4) 4) 1)]) 8)) (shl (cast u32 p2[(add (mul (div r0 "
            "4) 4) 2)]) 16)) (shl (cast u32 p2[(add (mul (div r0 4) 4) 3)]) 24))) (cast u32 (mul "
            "(mod r0 4) 8))))  <- b2, b1, b0\n"
            "E_8  p0[r0] = p1[r0]  <- b0, b2'\n");
}

TEST_F(KernelEdges, BitsOfAnotherWidthAreShifted) {
  EXPECT_EQ(kernels({out(bitcast(input({2, 2}, DType::U16), DType::U8))}),
            "E_2_4  p0[(add (mul r0 4) r1)] = (cast u8 (shr p1[(add (mul r0 2) (div r1 2))] "
            "(cast u16 (mul (mod r1 2) 8))))  <- b1, b0\n");
  EXPECT_EQ(kernels({out(bitcast(input({4}, DType::U16), DType::F32))}),
            "E_2  p0[r0] = (bitcast f32 (or (cast u32 p1[(mul r0 2)]) (shl (cast u32 p1[(add "
            "(mul r0 2) 1)]) 16)))  <- b3, b2\n");
}

TEST_F(KernelEdges, APadReadsInsideOnly) {
  EXPECT_EQ(kernels({out(exp(pad(input({4}), {1, 2})))}),
            "E_7  p0[r0] = (exp (where (and (lt 0 r0) (lt r0 5)) p1[(where (and (lt 0 r0) (lt r0 "
            "5)) (add r0 -1) invalid)] 0.0))  <- b1, b0\n");
  EXPECT_EQ(kernels({out(pad(exp(input({4})), {1, 2}))}),
            "E_7  p0[r0] = (where (and (lt 0 r0) (lt r0 5)) (exp p1[(where (and (lt 0 r0) (lt r0 "
            "5)) (add r0 -1) invalid)]) 0.0)  <- b3, b2\n");
}

TEST_F(KernelEdges, PaddingAloneReadsNothing) {
  const Ref a = input({4}, DType::I32);
  const Ref edge = shrink(pad(a, {2, 2}), {0, 2});
  EXPECT_EQ(kernels({out(edge)}), "E_2  p0[r0] = 0  <- b1\n");
  const Ref e = mul(a, number(3, DType::I32));
  const Ref none = shrink(pad(e, {1, 0}), {0, 1});
  EXPECT_EQ(kernels({out(add(shrink(e, {2, 1}), none))}),
            "E  p0[0] = (add (mul p1[2] 3) 0)  <- b2, b0\n");
  EXPECT_EQ(kernels({out(add(reduce(Op::Add, shrink(pad(e, {3, 0}), {0, 3}), 1), none))}),
            "r_3  p0[0] = (add (reduce_add 0 r0) 0)  <- b3\n");
}

TEST_F(KernelEdges, AWriteToPaddingAloneIsNoKernel) {
  const Ref a = input({4}, DType::I32);
  const Ref edge = shrink(pad(a, {0, 2}), {4, 2});
  EXPECT_EQ(kernels({write(a, edge, input({2}, DType::I32))}), "");
}

TEST_F(KernelEdges, PaddedConstantsAreNotConstant) {
  EXPECT_EQ(kernels({out(pad(expand(number(1), {4}), {1, 1}))}),
            "E_6  p0[r0] = (where (and (lt 0 r0) (lt r0 5)) 1.0 0.0)  <- b0\n");
  EXPECT_EQ(kernels({out(copy(pad(expand(number(1), {4}), {1, 1}), "sim:1"), "sim:1")}),
            "E_6  p0[r0] = (where (and (lt 0 r0) (lt r0 5)) 1.0 0.0)  <- b1\n");
}

TEST_F(KernelEdges, GatesOfReadersThatAgreeAreOred) {
  const Ref e = mul(input({4}, DType::I32), number(3, DType::I32));
  const Ref low = pad(shrink(e, {0, 2}), {0, 2});
  const Ref high = pad(shrink(e, {1, 3}), {1, 0});
  EXPECT_EQ(kernels({out(add(low, high))}),
            "E_4  p0[r0] = (add (where (lt r0 2) (mul p1[(where (or (lt 0 r0) (lt r0 2)) r0 "
            "invalid)] 3) 0) (where (lt 0 r0) (mul p1[(where (or (lt 0 r0) (lt r0 2)) r0 "
            "invalid)] 3) 0))  <- b1, b0\n");
}

TEST_F(KernelEdges, TwoPadsOfOneValueKeepTheirOwnRanges) {
  const Ref b = input({4, 3}, DType::I32);
  const Ref s1 = reduce(Op::Add, permute(pad(b, {1, 1, 0, 0}), {1, 0}), 1);
  const Ref cut = shrink(pad(b, {1, 2, 0, 0}), {0, 6, 0, 3});
  EXPECT_EQ(kernels({out(add(s1, reduce(Op::Add, permute(cut, {1, 0}), 1)))}),
            "r_6_3_3  p0[r0] = (add (reduce_add (where (and (lt 0 r0) (lt r0 5)) p1[(where (and "
            "(lt 0 r0) (lt r0 5)) (add (add (mul r0 3) r2) -3) invalid)] 0) r2) (reduce_add "
            "(where (and (lt 0 r0) (lt r0 5)) p1[(where (and (lt 0 r0) (lt r0 5)) (add (add (mul "
            "r0 3) r1) -3) invalid)] 0) r1))  <- b1, b0\n");
}

TEST_F(KernelEdges, AReduceCountsWhatItsValueDoesNotUse) {
  const Ref x = input({4}, DType::I32);
  EXPECT_EQ(kernels({out(reduce(Op::Add, expand(reshape(x, {1, 4}), {3, 4}), 1)),
                     out(reduce(Op::Mul, expand(number(2, DType::I32), {3, 3}), 2))}),
            "r_4_3  p0[r0] = (reduce_add p1[r0] r1)  <- b1, b0\n"
            "r_3_3  p0[0] = (reduce_mul 2 r0 r1)  <- b2\n");
}

TEST_F(KernelEdges, EmptyTensors) {
  const Ref none = input({0, 3}, DType::I32);
  EXPECT_EQ(kernels({out(add(none, none))}), "");
  EXPECT_EQ(kernels({out(reduce(Op::Max, none, 1))}), "E_3  p0[r0] = -2147483648  <- b2\n");
  EXPECT_EQ(kernels({out(pad(none, {1, 1, 0, 0}))}), "E_2_3  p0[(add (mul r0 3) r1)] = 0  <- b3\n");
  const Ref a = input({4}, DType::I32);
  EXPECT_EQ(kernels({write(a, shrink(a, {2, 0}), input({0}, DType::I32))}), "");
}

TEST_F(KernelEdges, ScalarsHaveNoLoop) {
  const Ref a = input({}, DType::I32);
  EXPECT_EQ(kernels({out(add(a, number(1, DType::I32)))}), "E  p0[0] = (add p1[0] 1)  <- b1, b0\n");
  EXPECT_EQ(kernels({out(reduce(Op::Add, a, 0))}), "E  p0[0] = p1[0]  <- b2, b0\n");
}

TEST_F(KernelEdges, ASumOfOneNegativeZeroIsZero) {
  const Ref x = g.alu(Op::Neg, {sub(input({1}), number(1))});
  EXPECT_EQ(kernels({out(reduce(Op::Add, x, 1))}),
            "E  p0[0] = (add (neg (sub p1[0] 1.0)) 0.0)  <- b1, b0\n");
}

TEST_F(KernelEdges, StacksChooseByTheirFirstIndex) {
  const Ref a = input({2}, DType::I32);
  const Ref b = input({2}, DType::I32);
  EXPECT_EQ(kernels({out(reshape(stack({a, b, a}), {6}))}),
            "E_6  p0[r0] = (where (eq (div r0 2) 0) p1[(mod r0 2)] (where (eq (div r0 2) 1) "
            "p2[(mod r0 2)] p1[(mod r0 2)]))  <- b2, b0, b1\n");
  EXPECT_EQ(kernels({out(shrink(stack({a, b}), {1, 1, 0, 2}))}),
            "E_2  p0[r0] = p1[r0]  <- b3, b1\n");
}

TEST_F(KernelEdges, SymbolicSizesHaveStridesOfTheirOwn) {
  const Ref n = variable("n", 1, 8, 5);
  const Ref three = uop::dim(g, 3);
  const Ref a = input({n, three}, DType::I32);
  EXPECT_EQ(kernels({out(permute(a, {1, 0}))}),
            "E_3_n  p0[(add r1 (mul n r0))] = p1[(add r0 (mul r1 3))]  <- b1, b0\n");
  EXPECT_EQ(kernels({out(reduce(Op::Add, a, 1))}),
            "r_3_n  p0[r0] = (reduce_add p1[(add r0 (mul r1 3))] r1)  <- b2, b0\n");
  EXPECT_EQ(kernels({out(reshape(a, {three, n}))}),
            "E_3_n  p0[(add r1 (mul n r0))] = p1[(add r1 (mul n r0))]  <- b3, b0\n");
  const Ref s = reduce(Op::Add, permute(a, {1, 0}), 1);
  EXPECT_EQ(kernels({out(add(a, reshape(s, {n, uop::dim(g, 1)})))}),
            "r_n_3  p0[r0] = (reduce_add p1[(add (mul r0 3) r1)] r1)  <- b5, b0\n"
            "E_n_3  p0[(add (mul r0 3) r1)] = (add p1[(add (mul r0 3) r1)] p2[r0])  <- b4, b0, "
            "b5'\n");
}

TEST_F(KernelEdges, AViewMayBeginAtAVariable) {
  const Ref i = variable("i", 0, 5, 4);
  const Ref a = input({8}, DType::I32);
  const Ref amounts[] = {i, uop::dim(g, 3)};
  const Ref view = uop::shrink(g, a, amounts);
  EXPECT_EQ(kernels({write(a, view, add(view, number(1, DType::I32)))}),
            "E_3  p0[(add i r0)] = (add p0[(add i r0)] 1)  <- b0\n");
}

TEST_F(KernelEdges, ACopyMovesARunOfStorage) {
  const Ref a = input({4, 6});
  EXPECT_EQ(kernels({out(copy(shrink(a, {1, 2, 0, 6}), "sim:1"), "sim:1")}),
            "E_12  p0[r0] = p1[(add r0 6)]  <- b1, b0\n");
  EXPECT_EQ(kernels({out(copy(permute(a, {1, 0}), "sim:1"), "sim:1")}),
            "E_24  p0[r0] = p1[(add (div r0 4) (mul (mod r0 4) 6))]  <- b3, b0\n"
            "E_24  p0[r0] = p1[r0]  <- b2, b3'\n");
  EXPECT_EQ(kernels({out(exp(copy(a, "sim:1")), "sim:1")}),
            "E_24  p0[r0] = p1[r0]  <- b4, b0\n"
            "E_4_6  p0[(add (mul r0 6) r1)] = (exp p1[(add (mul r0 6) r1)])  <- b3, b4'\n");
  EXPECT_EQ(kernels({out(copy(a, "sim:0"))}),
            "E_4_6  p0[(add (mul r0 6) r1)] = p1[(add (mul r0 6) r1)]  <- b4, b0\n");
}

TEST_F(KernelEdges, AStoreThroughARepeatHasNoPlace) {
  const Ref a = input({1});
  EXPECT_EQ(kernels({write(a, expand(a, {4}), input({4}))}),
            "error: a store through expand has no place");
}

}  // namespace
}  // namespace assay::schedule
