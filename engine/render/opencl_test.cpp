#include <gtest/gtest.h>

#include <ctime>

#include "engine/codegen/pipeline.h"
#include "engine/codegen/sample_kernel.h"
#include "engine/render/names.h"
#include "engine/render/renderer.h"

namespace assay::render {
namespace {

using codegen::SampleKernel;
using uop::AxisType;
using uop::DType;
using uop::Op;
using uop::Ref;
using uop::Target;

struct OpenCl : ::testing::Test, SampleKernel {
  Result<Source> source(Ref sink, const Target& target = uop::generic_target()) {
    uop::Run run(g);
    const Result<Ref> linear = uop::run_passes(codegen::late_passes(), run, sink);
    EXPECT_TRUE(linear.ok()) << linear.error().message;
    return render(g, linear.value(), target);
  }
  std::string text(Ref sink, const Target& target = uop::generic_target()) {
    const Result<Source> found = source(sink, target);
    EXPECT_TRUE(found.ok()) << found.error().message;
    return found.ok() ? "\n" + found.value().text : "";
  }
  std::string error(Ref sink) {
    const Result<Source> found = source(sink);
    return found.ok() ? found.value().text : found.error().message;
  }
  // The right side of the line that stores x, over variables of its type.
  std::string stored(Ref x, const Target& target = uop::generic_target()) {
    const std::string all = text(sink({store(index(param(0, 1, x->dtype), i32(0)), x)}), target);
    const size_t from = all.find("data0[0] = ") + 11;
    return all.substr(from, all.find(';', from) - from);
  }
  Ref var(std::string_view name, DType t) { return g.variable(name, t); }
};

TEST_F(OpenCl, WritesAReduceWithItsAccumulatorAsAVariable) {
  const Ref gidx = special("gidx0", 8);
  const Ref r = range(0, 16);
  const Ref x = load(index(param(1, 128), add(mul(gidx, i32(16)), r)));
  const Ref out = store(index(param(0, 8), gidx), load(sum(0, x, {r}), 0));
  EXPECT_EQ(text(sink({out}, "r_8_16 NONE")), R"(
// r_8_16 NONE
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void k_r_8_16(__global float* data0, __global const float* data1) {
  const int gidx0 = get_group_id(0);
  float acc0;
  acc0 = 0.0f;
  const int alu0 = gidx0 * 16;
  for (int ridx0 = 0; ridx0 < 16; ridx0++) {
    const float val0 = data1[alu0 + ridx0];
    acc0 = acc0 + val0;
  }
  data0[gidx0] = acc0;
}
)");
}

TEST_F(OpenCl, PutsBracketsWhereTheyAreNeeded) {
  const Ref a = var("a", DType::U32);
  const Ref b = var("b", DType::U32);
  const Ref c = var("c", DType::U32);
  const auto of = [&](Op op, Ref x, Ref y) { return alu(op, {x, y}); };
  EXPECT_EQ(stored(of(Op::Sub, of(Op::Sub, a, b), c)), "v_a - v_b - v_c");
  EXPECT_EQ(stored(of(Op::Sub, a, of(Op::Sub, b, c))), "v_a - (v_b - v_c)");
  EXPECT_EQ(stored(of(Op::Add, a, of(Op::Mul, b, c))), "v_a + v_b * v_c");
  EXPECT_EQ(stored(of(Op::Mul, of(Op::Add, a, b), c)), "(v_a + v_b) * v_c");
  EXPECT_EQ(stored(of(Op::And, of(Op::Or, a, b), c)), "(v_a | v_b) & v_c");
  EXPECT_EQ(stored(of(Op::Shl, of(Op::Add, a, b), c)), "v_a + v_b << v_c");
  EXPECT_EQ(stored(of(Op::Eq, of(Op::And, a, b), c)), "(v_a & v_b) == v_c");
  const Ref less = of(Op::Lt, a, b);
  const Ref inner = alu(Op::Where, {less, b, c});
  EXPECT_EQ(stored(alu(Op::Where, {of(Op::Ne, a, c), a, inner})),
            "v_a != v_c ? v_a : v_a < v_b ? v_b : v_c");
  EXPECT_EQ(stored(alu(Op::Where, {of(Op::Ne, a, c), inner, a})),
            "v_a != v_c ? (v_a < v_b ? v_b : v_c) : v_a");
  const Ref x = var("x", DType::F32);
  EXPECT_EQ(stored(alu(Op::Neg, {f32(-1)})), "-(-1.0f)");
  EXPECT_EQ(stored(of(Op::Sub, x, f32(-1))), "v_x - -1.0f");
  EXPECT_EQ(stored(alu(Op::Neg, {alu(Op::Neg, {x})})), "-(-v_x)");
}

// Signed overflow has no meaning in C: what may leave the range is computed unsigned.
TEST_F(OpenCl, WrapsWhatMayOverflow) {
  const Ref a = var("a", DType::I32);
  const Ref b = var("b", DType::I32);
  EXPECT_EQ(stored(add(a, b)), "(int)((uint)v_a + (uint)v_b)");
  EXPECT_EQ(stored(add(a, i32(-1))), "(int)((uint)v_a + 4294967295u)");
  EXPECT_EQ(stored(alu(Op::Neg, {a})), "(int)(0u - (uint)v_a)");
  EXPECT_EQ(stored(alu(Op::Fma, {a, b, a})), "(int)((uint)v_a * (uint)v_b + (uint)v_a)");
  const Ref n = variable("n", 0, 1000);
  EXPECT_EQ(stored(add(mul(n, i32(64)), i32(3))), "v_n * 64 + 3");
  EXPECT_EQ(stored(mul(n, i32(1 << 30))), "(int)((uint)v_n * 1073741824u)");
  EXPECT_EQ(stored(alu(Op::Shl, {n, i32(4)})), "v_n << 4");
  EXPECT_EQ(stored(alu(Op::Shl, {a, i32(4)})), "(int)((uint)v_a << 4)");
  EXPECT_EQ(stored(add(var("l", DType::I64), var("m", DType::I64))),
            "(long)((ulong)v_l + (ulong)v_m)");
}

// C computes what is narrower than an int as an int, and does not cut the result.
TEST_F(OpenCl, CutsNarrowIntegersToTheirWidth) {
  const Ref a = var("a", DType::U8);
  const Ref b = var("b", DType::U8);
  EXPECT_EQ(stored(add(a, b)), "(uchar)((uint)v_a + (uint)v_b)");
  EXPECT_EQ(stored(alu(Op::TDiv, {add(a, b), b})), "(uchar)((uchar)((uint)v_a + (uint)v_b) / v_b)");
  EXPECT_EQ(stored(alu(Op::Not, {a})), "(uchar)~v_a");
  EXPECT_EQ(stored(alu(Op::Shr, {a, b})), "(uchar)(v_a >> v_b)");
}

TEST_F(OpenCl, GivesOverloadedFunctionsOperandsOfOneType) {
  const Ref a = var("a", DType::I32);
  EXPECT_EQ(stored(alu(Op::Max, {a, i32(-2147483647)})), "max(v_a, -2147483647)");
  EXPECT_EQ(stored(alu(Op::Max, {a, i32(-2147483648)})), "max(v_a, -2147483647 - 1)");
  const Ref u = var("u", DType::U8);
  const Ref one_or_zero =
      alu(Op::Where, {var("c", DType::Bool), g.constant(DType::U8, 1), g.constant(DType::U8, 0)});
  EXPECT_EQ(stored(alu(Op::Max, {u, one_or_zero})), "max(v_u, (uchar)(v_c ? 1 : 0))");
  EXPECT_EQ(stored(alu(Op::Min, {u, g.constant(DType::U8, 3)})), "min(v_u, (uchar)3)");
  EXPECT_EQ(stored(alu(Op::Exp2, {f32(2)})), "exp2(2.0f)");
  const Ref whole = g.make(Op::Cast, DType::F32, {a});
  EXPECT_EQ(stored(alu(Op::Sqrt, {whole})), "sqrt((float)v_a)");
}

TEST_F(OpenCl, NamesTheOperandsOfTheGreatestOfFloats) {
  const Ref x = load(param(1, 1), 0);
  const Ref most = alu(Op::Max, {x, mul(x, f32(2))});
  EXPECT_EQ(text(sink({store(index(param(0, 1), i32(0)), most)})), R"(
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void k_k(__global float* data0, __global const float* data1) {
  const float val0 = data1[0];
  const float alu0 = val0 * 2.0f;
  data0[0] = val0 > alu0 ? val0 : alu0 > val0 ? alu0 : val0 == alu0 ? as_float((uint)(as_uint(val0) & as_uint(alu0))) : val0 + alu0;
}
)");
}

TEST_F(OpenCl, SaysTheFastFunctionsWhereTheTargetWantsThem) {
  const Ref x = var("x", DType::F32);
  Target target = uop::generic_target();
  EXPECT_EQ(stored(alu(Op::Exp2, {x}), target), "exp2(v_x)");
  EXPECT_EQ(stored(alu(Op::Recip, {x}), target), "1.0f / v_x");
  target.math.native = {Op::Exp2, Op::Recip, Op::Sin, Op::Max};
  EXPECT_EQ(stored(alu(Op::Max, {x, f32(1)}), target), "fmax(v_x, 1.0f)");
  EXPECT_EQ(stored(alu(Op::Exp2, {x}), target), "native_exp2(v_x)");
  EXPECT_EQ(stored(alu(Op::Recip, {x}), target), "native_recip(v_x)");
  EXPECT_EQ(stored(alu(Op::Round, {x}), target), "rint(v_x)");
  target.arithmetic = target.arithmetic | uop::TypeSet{DType::F64};
  EXPECT_EQ(stored(alu(Op::Exp2, {var("d", DType::F64)}), target), "exp2(v_d)");
}

TEST_F(OpenCl, SaysWhatItNeeds) {
  Target target = uop::generic_target();
  target.arithmetic = target.arithmetic | uop::TypeSet{DType::F16, DType::F64};
  target.storage = {};
  target.math.contracts = true;
  const Ref half = load(param(1, 4, DType::F16), 1);
  const Ref wide = g.make(Op::Cast, DType::F64, {add(half, g.constant(uop::one_of(DType::F16)))});
  EXPECT_EQ(text(sink({store(index(param(0, 4, DType::F64), i32(0)), wide)}), target), R"(
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void k_k(__global double* data0, __global const half* data1) {
  const half val0 = data1[1];
  data0[0] = (double)(val0 + (half)1.0f);
}
)");
}

TEST_F(OpenCl, ReadsAndWritesHalvesThroughFunctionsWhereTheyAreOnlyStored) {
  const Ref r = range(0, 4, AxisType::Loop);
  const Ref x = g.make(Op::Cast, DType::F32, {load(index(param(1, 4, DType::F16), r))});
  const Ref y = g.make(Op::Cast, DType::F16, {mul(x, f32(2))});
  EXPECT_EQ(text(sink({end(store(index(param(0, 4, DType::F16), r), y), {r})})), R"(
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void k_k(__global half* data0, __global const half* data1) {
  for (int ridx0 = 0; ridx0 < 4; ridx0++) {
    const float val0 = vload_half(0, data1 + ridx0);
    vstore_half_rte(val0 * 2.0f, 0, data0 + ridx0);
  }
}
)");
  const Ref four = g.make(Op::Cast, DType::F32, {load(run(param(1, 4, DType::F16), i32(0), 4))});
  const Ref two = g.make(Op::Stack, DType::F32, {index(four, i32(3)), index(four, i32(1))});
  const Ref halves = g.make(Op::Cast, DType::F16, {two});
  EXPECT_EQ(text(sink({store(run(param(0, 4, DType::F16), i32(2), 2), halves)})), R"(
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void k_k(__global half* data0, __global const half* data1) {
  const float4 val0 = vload_half4(0, data1);
  vstore_half2_rte((float2)(val0.s3, val0.s1), 0, data0 + 2);
}
)");
  const Ref sum = add(load(param(1, 4, DType::F16), 0), load(param(1, 4, DType::F16), 1));
  EXPECT_EQ(error(sink({store(index(param(0, 4, DType::F16), i32(0)), sum)})),
            "add of f16, which the target only stores");
  const Ref rounded = g.make(Op::Cast, DType::F32, {y});
  EXPECT_EQ(error(sink({end(store(index(param(0, 4), r), rounded), {r})})),
            "f16 that the target only stores is read before it is stored");
}

TEST_F(OpenCl, ReadsVectorsAsOneWhereTheyAreAligned) {
  const Ref item = special("lidx0", 4);
  const Ref shared = local(3, 16);
  const Ref wide = load(run(param(1, 64), add(mul(item, i32(16)), i32(8)), 4));
  const Ref odd = load(run(param(1, 64), add(mul(item, i32(4)), i32(2)), 4));
  const auto lanes = [&](Ref v) {
    return g.make(Op::Stack, DType::F32,
                  {index(v, i32(3)), index(v, i32(2)), index(v, i32(1)), index(v, i32(0))});
  };
  const Ref put = store(run(shared, mul(item, i32(4)), 4), lanes(wide));
  const Ref ready = after(shared, {put});
  const Ref back = load(run(ready, i32(4), 8));
  const Ref first = store(index(param(0, 8), item), index(back, i32(7)));
  const Ref second = store(run(param(2, 64), add(mul(item, i32(4)), i32(1)), 4), lanes(odd));
  EXPECT_EQ(text(sink({first, second})), R"(
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(4, 1, 1))) void k_k(__global float* data0, __global const float* data1, __global float* data2) {
  const int lidx0 = get_local_id(0);
  __local float local3[16] __attribute__((aligned(16)));
  const float4 val0 = *(__global const float4*)(data1 + (lidx0 * 16 + 8));
  const int alu0 = lidx0 * 4;
  *(__local float4*)(local3 + alu0) = (float4)(val0.s3, val0.s2, val0.s1, val0.s0);
  barrier(CLK_LOCAL_MEM_FENCE);
  const float8 val1 = vload8(0, local3 + 4);
  const float4 val2 = vload4(0, data1 + (alu0 + 2));
  data0[lidx0] = val1.s7;
  vstore4((float4)(val2.s3, val2.s2, val2.s1, val2.s0), 0, data2 + (alu0 + 1));
}
)");
}

TEST_F(OpenCl, OpensAGateOnceForItsStores) {
  const Ref item = special("lidx0", 8);
  const Ref x = load(index(param(1, 8), item), f32(0), lt(item, i32(4)));
  const Ref wide = load(run(param(1, 8), mul(item, i32(4)), 4), f32(1), lt(item, i32(2)));
  const Ref out = param(0, 2);
  const Ref gate = is_zero(item);
  EXPECT_EQ(text(sink({store(index(out, i32(0)), x, gate),
                       store(index(out, i32(1)), index(wide, i32(1)), gate)})),
            R"(
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(8, 1, 1))) void k_k(__global float* data0, __global const float* data1) {
  const int lidx0 = get_local_id(0);
  const float val0 = lidx0 < 4 ? data1[lidx0] : 0.0f;
  float4 val1 = (float4)(1.0f);
  if (lidx0 < 2) val1 = *(__global const float4*)(data1 + lidx0 * 4);
  if (lidx0 == 0) {
    data0[0] = val0;
    data0[1] = val1.s1;
  }
}
)");
}

TEST_F(OpenCl, KeepsRegistersInAnArrayWhereTheirIndicesVary) {
  const Ref r = range(0, 4, AxisType::Loop);
  const Ref table = reg(0, 4);
  const Ref filled = after(table, {end(store(index(after(table, {r}), r), f32(1)), {r})});
  EXPECT_EQ(text(sink({store(index(param(0, 1), i32(0)), load(filled, 2))})), R"(
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void k_k(__global float* data0) {
  float acc0[4];
  for (int ridx0 = 0; ridx0 < 4; ridx0++) {
    acc0[ridx0] = 1.0f;
  }
  const float val0 = acc0[2];
  data0[0] = val0;
}
)");
}

TEST_F(OpenCl, SaysWhichNodeIsBehindEachLine) {
  const Ref r = range(0, 4, AxisType::Loop);
  const Ref put = store(index(param(0, 4), r), f32(1));
  const Source found = source(sink({end(put, {r})})).value();
  EXPECT_EQ(found.lines, (std::vector<Ref>{nullptr, nullptr, r, put, end(put, {r}), nullptr}));
  EXPECT_EQ(std::count(found.text.begin(), found.text.end(), '\n'), 6);
}

TEST_F(OpenCl, SaysWhatALaunchTakes) {
  const Ref i = add(add(special("gidx1", 3), special("lidx0", 8)),
                    add(variable("m", 0, 2), variable("b", 0, 2)));
  const Ref n = variable("n", 1, 4);
  const Ref groups = g.make(Op::Special, DType::I32, {n}, g.name("gidx2"));
  const Ref x = load(index(param(2, 64), add(i, groups)));
  const Ref in = param(1, 64);
  const Source found = source(sink({store(index(param(0, 64), i), mul(x, load(in, 0)))})).value();
  EXPECT_EQ(found.arguments, (std::vector<Ref>{param(0, 64), in, param(2, 64), variable("b", 0, 2),
                                               variable("m", 0, 2), n}));
  EXPECT_EQ(found.groups, (std::array<Ref, 3>{nullptr, i32(3), n}));
  EXPECT_EQ(found.items, (std::array<Ref, 3>{i32(8), nullptr, nullptr}));
  EXPECT_EQ(found.name, "k_k");
}

TEST_F(OpenCl, RefusesWhatTheLanguageHasNot) {
  const auto stores = [&](Ref x) { return sink({store(index(param(0, 1, x->dtype), i32(0)), x)}); };
  const Ref a = var("a", DType::I32);
  EXPECT_EQ(error(stores(alu(Op::Div, {a, i32(2)}))),
            "div of numbers that may be negative is not C's");
#ifndef ASSAY_CHECK_SPECS  // the passes before say so themselves
  EXPECT_EQ(error(stores(alu(Op::Threefry, {var("s", DType::U64), var("t", DType::U64)}))),
            "threefry of u64 has no text in OpenCL C");
#endif
  EXPECT_EQ(error(stores(load(param(1, 1, DType::BF16), 0))),
            "parameter of bf16, which OpenCL C does not have");
  EXPECT_EQ(error(stores(add(variable("n", 0, 2), variable("n", 0, 3)))),
            "two variables are called 'n'");
  const Ref axis = special("gidx3", 2);
  EXPECT_EQ(error(stores(axis)), "no such axis of a launch: 'gidx3'");
  EXPECT_EQ(error(stores(load(reg(0, 2), 2))), "register 2 of 2 is named");
  const Ref list = g.make(Op::Linear, DType::Void, {a, a});
  EXPECT_EQ(render(g, list, uop::generic_target()).error().message,
            "line 0: var stands there twice");
}

TEST(Names, OfUsersAreNoWordsAndDiffer) {
  EXPECT_EQ(user_name("v", "int"), "v_int");
  EXPECT_EQ(user_name("v", "n.m"), "v_n__2em");
  EXPECT_NE(user_name("v", "n__2em"), user_name("v", "n.m"));
  EXPECT_EQ(user_name("k", ""), "k_");
}

// A value with many uses has one text; a chain is cut into pieces.
TEST_F(OpenCl, TakesTimeInProportionToTheKernel) {
  const auto time = [&](int n) {
    SampleKernel k;
    const Ref b = k.load(k.param(2, 1), 0);
    Ref x = k.load(k.param(1, 1), 0);
    for (int i = 0; i < n; i++) x = k.add(k.mul(x, b), i % 5 == 0 ? x : b);
    uop::Run run(k.g);
    const Ref linear = uop::run_passes(codegen::late_passes(), run,
                                       k.sink({k.store(k.index(k.param(0, 1), k.i32(0)), x)}))
                           .value();
    const std::clock_t start = std::clock();
    EXPECT_TRUE(render(k.g, linear, uop::generic_target()).ok());
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  time(1000);
  const double small = time(2000);
  const double large = time(40000);
  EXPECT_LT(large, 200 * small + 0.1);
  EXPECT_LT(large, 2.0);
}

}  // namespace
}  // namespace assay::render
