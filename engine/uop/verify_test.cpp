#include "engine/uop/verify.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace assay::uop {
namespace {

constexpr std::string_view kFine = "fine";

class Verify : public testing::Test {
 protected:
  // What is wrong with the node of these parts.
  static std::string trouble_of(Op op, DType t, const std::vector<Ref>& src, Arg arg = {}) {
    const UOp u = {op, t, 0, arg, src};
    return verify_node(&u).value_or(std::string(kFine));
  }

  Arg numbers(const std::vector<int64_t>& n) { return g.numbers(n); }
  Arg symbol(const std::vector<int64_t>& bounds) { return g.symbol("n", bounds); }
  static Arg bits(uint64_t b) { return Arg::value({Void, b}); }

  Graph g;
  Ref i32 = g.variable("i", I32);
  Ref f32 = g.variable("f", F32);
  Ref index = g.variable("x", Index);
  Ref flag = g.variable("b", Bool);
  Ref effect = g.make(Op::Noop, Void, {});
};

TEST_F(Verify, CountsSources) {
  EXPECT_EQ(trouble_of(Op::Add, I32, {i32}), "add takes 2 sources, found 1");
  EXPECT_EQ(trouble_of(Op::Neg, I32, {}), "neg takes 1 source, found 0");
  EXPECT_EQ(trouble_of(Op::Noop, Void, {i32}), "noop takes no sources, found 1");
  EXPECT_EQ(trouble_of(Op::Load, I32, {}), "load takes 1 to 3 sources, found 0");
  EXPECT_EQ(trouble_of(Op::If, Void, {flag, effect, effect}), "if takes 1 to 2 sources, found 3");
  EXPECT_EQ(trouble_of(Op::Reshape, I32, {}), "reshape takes at least 1 source, found 0");
  EXPECT_EQ(trouble_of(Op::Group, Void, std::vector(1000, effect)), kFine);
}

TEST_F(Verify, KnowsTheKindOfArgument) {
  EXPECT_EQ(trouble_of(Op::Range, I32, {i32}), "range takes an axis, found no argument");
  EXPECT_EQ(trouble_of(Op::Noop, Void, {}, Arg::number(1)),
            "noop takes no argument, found a number");
  EXPECT_EQ(trouble_of(Op::Device, Void, {}, symbol({})), "device takes a name, found a symbol");
  EXPECT_EQ(trouble_of(Op::Sink, Void, {}, g.name("")), "sink takes an info, found a name");
  EXPECT_EQ(trouble_of(Op::Sink, Void, {}), kFine);
  EXPECT_EQ(trouble_of(Op::Sink, Void, {}, g.info("", {})), kFine);
}

TEST_F(Verify, KnowsTheTypesAnOperationWorksOn) {
  EXPECT_EQ(trouble_of(Op::Add, Bool, {flag, flag}), "add does not work on bool");
  EXPECT_EQ(trouble_of(Op::Sqrt, I32, {i32}), "sqrt does not work on i32");
  EXPECT_EQ(trouble_of(Op::Not, F32, {f32}), "not does not work on f32");
  EXPECT_EQ(trouble_of(Op::Threefry, I32, {i32, i32}), "threefry does not work on i32");
  EXPECT_EQ(trouble_of(Op::Variable, Void, {}, symbol({})), "var does not work on void");
  EXPECT_EQ(trouble_of(Op::Device, I32, {}, g.name("")), "device does not work on i32");
  EXPECT_EQ(trouble_of(Op::Lt, Bool, {effect, effect}), "lt does not compare void");
  EXPECT_EQ(trouble_of(Op::Cast, I32, {effect}), "cast does not work on void");
  EXPECT_EQ(trouble_of(Op::Cast, Void, {i32}), "cast does not work on void");
  EXPECT_EQ(trouble_of(Op::After, Void, {effect, i32}), kFine);
  EXPECT_EQ(trouble_of(Op::Call, Void, {effect}), kFine);
}

TEST_F(Verify, KnowsHowTypesFollow) {
  EXPECT_EQ(trouble_of(Op::Add, I32, {i32, f32}), "source 2 of add has type f32, expected i32");
  EXPECT_EQ(trouble_of(Op::Add, F32, {i32, i32}), "source 1 of add has type i32, expected f32");
  EXPECT_EQ(trouble_of(Op::Lt, I32, {i32, i32}), "lt has type i32, expected bool");
  EXPECT_EQ(trouble_of(Op::Lt, Bool, {i32, f32}), "source 2 of lt has type f32, expected i32");
  EXPECT_EQ(trouble_of(Op::Lt, Bool, {flag, flag}), kFine);
  EXPECT_EQ(trouble_of(Op::Where, I32, {i32, i32, i32}),
            "source 1 of where has type i32, expected bool");
  EXPECT_EQ(trouble_of(Op::Where, I32, {flag, i32, f32}),
            "source 3 of where has type f32, expected i32");
  EXPECT_EQ(trouble_of(Op::Contiguous, I32, {f32}),
            "source 1 of contiguous has type f32, expected i32");
  EXPECT_EQ(trouble_of(Op::Barrier, I32, {}), "barrier has type i32, expected void");
  EXPECT_EQ(trouble_of(Op::Stack, I32, {i32, i32, flag}),
            "source 3 of stack has type bool, expected i32");
}

TEST_F(Verify, KnowsTheValuesOfAType) {
  EXPECT_EQ(trouble_of(Op::Const, Bool, {}, bits(2)), "const holds 0x2, which is no value of bool");
  EXPECT_EQ(trouble_of(Op::Const, I8, {}, bits(0x80)), "const holds 0x80, which is no value of i8");
  EXPECT_EQ(trouble_of(Op::Const, I8, {}, bits(0xFFFFFFFFFFFFFF80)), kFine);
  EXPECT_EQ(trouble_of(Op::Const, U8, {}, bits(0xFFFFFFFFFFFFFF80)),
            "const holds 0xffffffffffffff80, which is no value of u8");
  EXPECT_EQ(trouble_of(Op::Const, U8, {}, bits(0x80)), kFine);
  EXPECT_EQ(trouble_of(Op::Const, F16, {}, bits(0x10000)),
            "const holds 0x10000, which is no value of f16");
  for (const DType t : {I64, U64, Index, F64}) {
    EXPECT_EQ(trouble_of(Op::Const, t, {}, bits(0x8000000000000000)), kFine);
  }
}

TEST_F(Verify, WantsBoundsInOrder) {
  const auto bounds = [](DType t, Value lo, Value hi) {
    EXPECT_EQ(lo.dtype, t);
    return std::vector{static_cast<int64_t>(lo.bits), static_cast<int64_t>(hi.bits)};
  };
  EXPECT_EQ(trouble_of(Op::Variable, I32, {}, symbol({1})), "var has no bounds or 2, found 1");
  EXPECT_EQ(trouble_of(Op::Variable, I32, {}, symbol({1, 2, 3})),
            "var has no bounds or 2, found 3");
  EXPECT_EQ(trouble_of(Op::Variable, I32, {}, symbol({-1, -1})), kFine);
  EXPECT_EQ(trouble_of(Op::Variable, I32, {}, symbol({2, 1})),
            "the bounds of var are 2 and 1, which are not in order");
  EXPECT_EQ(trouble_of(Op::Variable, U64, {}, symbol({1, -1})), kFine);
  EXPECT_EQ(trouble_of(Op::Variable, U64, {}, symbol({-1, 1})),
            "the bounds of var are 18446744073709551615 and 1, which are not in order");
  EXPECT_EQ(trouble_of(Op::Variable, U8, {}, symbol({0, 256})),
            "var holds 0x100, which is no value of u8");
  EXPECT_EQ(trouble_of(Op::Variable, F32, {},
                       symbol(bounds(F32, of_double(F32, -2), of_double(F32, -1)))),
            kFine);
  EXPECT_EQ(trouble_of(Op::Variable, F32, {}, symbol(bounds(F32, nan_of(F32), nan_of(F32)))),
            "the bounds of var are nan and nan, which are not in order");
}

TEST_F(Verify, WantsAxesThatExist) {
  EXPECT_EQ(trouble_of(Op::Permute, I32, {i32}, numbers({1, 2, 0})), kFine);
  EXPECT_EQ(trouble_of(Op::Permute, I32, {i32}, numbers({1, 2})),
            "axis 2 of permute is not below 2");
  EXPECT_EQ(trouble_of(Op::Permute, I32, {i32}, numbers({0, -1})),
            "axis -1 of permute is not below 2");
  EXPECT_EQ(trouble_of(Op::Permute, I32, {i32}, numbers({1, 1})),
            "axis 1 of permute stands there twice");
  EXPECT_EQ(trouble_of(Op::Flip, I32, {i32}, numbers({5, 0})), kFine);
  EXPECT_EQ(trouble_of(Op::Flip, I32, {i32}, numbers({5, -3, 0})), "axis -3 of flip is negative");
  EXPECT_EQ(trouble_of(Op::Flip, I32, {i32}, numbers({5, 0, 5})),
            "axis 5 of flip stands there twice");
}

TEST_F(Verify, WantsAReduceToHaveAUnit) {
  const auto fold = [&](Op op, DType t, Ref x, int axes) {
    return trouble_of(Op::Reduce, t, {x}, Arg::fold(op, axes));
  };
  for (const Op op : {Op::Add, Op::Mul, Op::Max, Op::Min}) EXPECT_EQ(fold(op, F32, f32, 1), kFine);
  for (const Op op : {Op::And, Op::Or, Op::Xor}) EXPECT_EQ(fold(op, Bool, flag, 1), kFine);
  EXPECT_EQ(fold(Op::Sub, F32, f32, 1), "reduce folds by sub, which has no unit");
  EXPECT_EQ(fold(Op::Xor, F32, f32, 1), "reduce folds by xor, which does not work on f32");
  EXPECT_EQ(fold(Op::Add, F32, f32, -1), "reduce folds -1 axes");
  EXPECT_EQ(trouble_of(Op::AllReduce, F32, {f32, effect}, Arg::fold(Op::Lt, 0)),
            "allreduce folds by lt, which has no unit");
  EXPECT_EQ(trouble_of(Op::Reduce, F32, {f32, f32}, Arg::fold(Op::Add, 0)),
            "source 2 of reduce has type f32, expected an integer type");
}

TEST_F(Verify, WantsDimensionsOfTypeIndex) {
  for (const Op op : {Op::Reshape, Op::Expand, Op::Pad}) {
    EXPECT_EQ(trouble_of(op, F32, {f32, index, index}), kFine);
    EXPECT_EQ(trouble_of(op, F32, {f32, index, i32}),
              "source 3 of " + std::string(to_text(op)) + " has type i32, expected index");
  }
}

TEST_F(Verify, LetsAPartBeginAtAnyInteger) {
  const Ref x = g.make(Op::Param, F32, {index}, Arg::number(0));
  EXPECT_EQ(trouble_of(Op::Shrink, F32, {x, i32, index}), kFine);
  EXPECT_EQ(trouble_of(Op::Shrink, F32, {x, index, index}), kFine);
  EXPECT_EQ(trouble_of(Op::Shrink, F32, {x, i32, i32}), kFine);
  EXPECT_EQ(trouble_of(Op::Shrink, F32, {x, f32, index}),
            "source 2 of shrink has type f32, expected an integer type");
}

TEST_F(Verify, WantsIntegersAsIndices) {
  EXPECT_EQ(trouble_of(Op::Index, F32, {f32, index, i32}), kFine);
  EXPECT_EQ(trouble_of(Op::Shrink, F32, {f32, index, i32}), kFine);
  EXPECT_EQ(trouble_of(Op::Index, F32, {f32, flag}),
            "source 2 of index has type bool, expected an integer type");
  EXPECT_EQ(trouble_of(Op::Stage, F32, {f32, f32}, Arg::place(0, AddrSpace::Local)),
            "source 2 of stage has type f32, expected an integer type");
  EXPECT_EQ(trouble_of(Op::End, Void, {effect, effect}),
            "source 2 of end has type void, expected an integer type");
  EXPECT_EQ(trouble_of(Op::Range, F32, {f32}, Arg::axis(0, AxisType::Loop)),
            "range does not work on f32");
}

TEST_F(Verify, WantsGatesOfTypeBool) {
  EXPECT_EQ(trouble_of(Op::Load, F32, {f32, f32, flag}), kFine);
  EXPECT_EQ(trouble_of(Op::Load, F32, {f32, flag}), "source 2 of load has type bool, expected f32");
  EXPECT_EQ(trouble_of(Op::Load, F32, {f32, f32, i32}),
            "source 3 of load has type i32, expected bool");
  EXPECT_EQ(trouble_of(Op::Store, Void, {f32, f32, flag}), kFine);
  EXPECT_EQ(trouble_of(Op::Store, Void, {f32, i32}),
            "source 2 of store has type i32, expected f32");
  EXPECT_EQ(trouble_of(Op::Store, Void, {f32, f32, f32}),
            "source 3 of store has type f32, expected bool");
  EXPECT_EQ(trouble_of(Op::Store, Void, {effect, effect}), "store does not work on void");
  EXPECT_EQ(trouble_of(Op::If, Void, {i32}), "source 1 of if has type i32, expected bool");
  EXPECT_EQ(trouble_of(Op::EndIf, Void, {effect}), "the source of endif is noop, expected if");
}

TEST_F(Verify, WantsALayoutForABitcast) {
  EXPECT_EQ(trouble_of(Op::Bitcast, F32, {i32}), kFine);
  EXPECT_EQ(trouble_of(Op::Bitcast, U8, {f32}), kFine);
  EXPECT_EQ(trouble_of(Op::Bitcast, Bool, {flag}), kFine);
  EXPECT_EQ(trouble_of(Op::Bitcast, U8, {flag}), "bitcast from bool to u8: bool has no layout");
  EXPECT_EQ(trouble_of(Op::Bitcast, Index, {i32}),
            "bitcast from i32 to index: index has no layout");
}

TEST_F(Verify, NamesTheFirstBadNodeOfAGraph) {
  const Ref bad = g.make(Op::Add, I32, {i32});
  const Ref worse = g.make(Op::Add, F32, {f32, bad});
  const Ref root = g.make(Op::Sink, Void, {f32, worse});
  EXPECT_EQ(verify(g, root), "%2 = add: add takes 2 sources, found 1");
  EXPECT_EQ(verify(g, i32), std::nullopt);
}

}  // namespace
}  // namespace assay::uop
