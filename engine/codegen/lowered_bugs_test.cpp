// Public bugs of compilers of this kind that lie in what decompositions make, by their numbers.
#include <cmath>

#include "engine/codegen/lowered_term.h"

namespace assay::codegen {
namespace {

using uop::BF16;
using uop::DType;
using uop::E4M3;
using uop::E5M2;
using uop::F16;
using uop::F32;
using uop::F64;
using uop::Graph;
using uop::I32;
using uop::I64;
using uop::Op;
using uop::Ref;
using uop::U32;
using uop::U8;
using uop::Value;

Value f32(double x) { return uop::of_double(F32, x); }
Value i32(int64_t n) { return uop::of_int(I32, n); }

// The bits of an f32 that is cast to t where t is emulated.
uint64_t bits_at(DType t, Value x) {
  Graph g;
  const Ref cast = g.make(Op::Cast, t, {g.variable("x", x.dtype)});
  LoweredTerm term(g, g.make(Op::Bitcast, unsigned_of(t), {cast}), wide_target());
  return term.at({x}).value.bits;
}

double on_f32(Op op, double x, double y = 0) {
  Graph g;
  const Ref a = g.variable("x", F32);
  const Ref b = g.variable("y", F32);
  LoweredTerm term(g, uop::info(op).min_sources == 1 ? g.alu(op, {a}) : g.alu(op, {a, b}));
  return uop::as_double(term.at({f32(x), f32(y)}).value);
}

int64_t on_i32(Op op, int64_t x, int64_t y) {
  Graph g;
  LoweredTerm term(g, g.alu(op, {g.variable("x", I32), g.variable("y", I32)}));
  return static_cast<int64_t>(as_int(term.at({i32(x), i32(y)}).value));
}

TEST(LoweredBugs, B098FloatToBf16RoundsToEven) {
  EXPECT_EQ(bits_at(BF16, f32(70000)), uop::of_double(BF16, 70144).bits);
}

TEST(LoweredBugs, B099NanStaysNanInBf16) {
  for (const uint64_t raw : {0x7F800001U, 0x7FFFFFFFU, 0xFFFFFFFFU}) {
    EXPECT_TRUE(uop::is_nan({BF16, bits_at(BF16, {F32, raw})})) << raw;
  }
}

TEST(LoweredBugs, B101InfinityDoesNotSaturateInFp8) {
  EXPECT_EQ(bits_at(E4M3, f32(HUGE_VAL)), 0x7FU);
  EXPECT_EQ(bits_at(E4M3, f32(-HUGE_VAL)), 0xFFU);
  EXPECT_EQ(bits_at(E5M2, f32(HUGE_VAL)), 0x7CU);
  EXPECT_EQ(bits_at(E5M2, f32(-HUGE_VAL)), 0xFCU);
}

// What is subnormal in fp8 is normal in f32, so that no device flushes it on the way.
TEST(LoweredBugs, B102SubnormalsOfFp8AreDecoded) {
  Graph g;
  const Ref x = g.make(Op::Bitcast, E5M2, {g.variable("x", U8)});
  LoweredTerm term(g, g.make(Op::Cast, F32, {x}));
  for (uint64_t raw = 1; raw < 4; raw++) {
    EXPECT_EQ(uop::as_double(term.at({{U8, raw}}).value), static_cast<double>(raw) * 0x1p-16);
  }
}

TEST(LoweredBugs, B103LargeIntegersKeepTheirLastBitInF64) {
  Graph g;
  LoweredTerm term(g, g.make(Op::Cast, F64, {g.variable("x", uop::U64)}), wide_target());
  EXPECT_EQ(uop::as_double(term.at({{uop::U64, 4294967297}}).value), 4294967297.0);
}

TEST(LoweredBugs, B105HalvesRoundOnce) {
  Graph g;
  const Ref cast = g.make(Op::Cast, F16, {g.variable("x", F32)});
  LoweredTerm term(g, g.make(Op::Cast, F32, {cast}));
  EXPECT_EQ(uop::as_double(term.at({f32(65519.996)}).value), 65504);
  EXPECT_EQ(uop::as_double(term.at({f32(65520)}).value), HUGE_VAL);
  EXPECT_EQ(uop::as_double(term.at({f32(2049)}).value), 2048);
}

TEST(LoweredBugs, B109CastsThroughBoolCompare) {
  Graph g;
  const Ref to_bool = g.make(Op::Cast, uop::Bool, {g.variable("x", I64)});
  LoweredTerm term(g, g.make(Op::Cast, I32, {to_bool}));
  EXPECT_EQ(term.at({uop::of_int(I64, -1)}).value, i32(1));
  EXPECT_EQ(term.at({uop::of_int(I64, int64_t{1} << 32)}).value, i32(1));
}

// Nothing is widened: what wraps at 8 bits is of type u8 to the end.
TEST(LoweredBugs, B110NarrowIntegersKeepTheirType) {
  Graph g;
  const Ref neg = g.alu(Op::Neg, {g.variable("x", U8)});
  LoweredTerm less(g, g.alu(Op::Lt, {neg, g.constant(U8, 4)}));
  EXPECT_EQ(less.at({uop::of_int(U8, 6)}).value, uop::of_bool(false));
  LoweredTerm sum(g, g.alu(Op::Add, {g.make(Op::Cast, F32, {neg}), g.constant(f32(1.541))}));
  EXPECT_EQ(sum.at({uop::of_int(U8, 7)}).value, f32(static_cast<float>(249) + 1.541F));
}

TEST(LoweredBugs, B113MinOfIntegersNegatesNothing) {
  constexpr int64_t kLeast = -(int64_t{1} << 31);
  EXPECT_EQ(on_i32(Op::Min, 0, kLeast), kLeast);
  EXPECT_EQ(on_i32(Op::Max, 0, kLeast), 0);
  EXPECT_EQ(on_i32(Op::Min, kLeast, kLeast + 1), kLeast);
}

TEST(LoweredBugs, B114MinOfUnsignedNegatesNothing) {
  Graph g;
  LoweredTerm term(g, g.alu(Op::Min, {g.variable("x", U8), g.variable("y", U8)}));
  EXPECT_EQ(term.at({uop::of_int(U8, 0), uop::of_int(U8, 255)}).value, uop::of_int(U8, 0));
  EXPECT_EQ(term.at({uop::of_int(U8, 255), uop::of_int(U8, 64)}).value, uop::of_int(U8, 64));
}

TEST(LoweredBugs, B115NotOfAnIntegerIsNegative) {
  Graph g;
  const Ref inverted = g.alu(Op::Not, {g.variable("x", I32)});
  LoweredTerm term(g, g.alu(Op::Lt, {inverted, g.constant(I32, 0)}));
  EXPECT_EQ(term.at({i32(0)}).value, uop::of_bool(true));
}

TEST(LoweredBugs, B117PowerOfIntegersIsAnInteger) {
  EXPECT_EQ(on_i32(Op::Pow, 2, -2), 0);
  EXPECT_EQ(on_i32(Op::Pow, -1, -3), -1);
  EXPECT_EQ(on_i32(Op::Pow, 3, 19), 1162261467);
}

TEST(LoweredBugs, B118PowerHasItsSpecialValues) {
  EXPECT_EQ(on_f32(Op::Pow, -HUGE_VAL, 0.3), HUGE_VAL);
  EXPECT_EQ(on_f32(Op::Pow, -HUGE_VAL, 3.3), HUGE_VAL);
  EXPECT_EQ(on_f32(Op::Pow, -HUGE_VAL, 3), -HUGE_VAL);
  EXPECT_EQ(on_f32(Op::Pow, HUGE_VAL, 0), 1);
  EXPECT_EQ(on_f32(Op::Pow, 0, 0), 1);
  EXPECT_TRUE(std::isnan(on_f32(Op::Pow, -2, 0.3)));
}

TEST(LoweredBugs, B121CosineOfLargeArgumentsKeepsItsPhase) {
  for (const double x : {1e3, 1e6, 1e7}) EXPECT_NEAR(on_f32(Op::Cos, x), std::cos(x), 1e-6);
  EXPECT_NEAR(on_f32(Op::Tan, 1e8) / std::tan(1e8), 1, 1e-6);
}

TEST(LoweredBugs, B122ConstantsAreThoseOfTheType) {
  Graph g;
  LoweredTerm sine(g, g.alu(Op::Sin, {g.variable("x", F64)}), wide_target());
  EXPECT_NEAR(uop::as_double(sine.at({uop::of_double(F64, 39800)}).value), std::sin(39800.0),
              1e-15);
  for (const DType t : {F16, F32, F64}) {
    LoweredTerm log(g, g.alu(Op::Log2, {g.variable("x", t)}), wide_target());
    const int least = 1 - uop::format_of(t).bias();
    EXPECT_EQ(uop::as_double(log.at({uop::of_double(t, std::ldexp(1, least))}).value), least);
  }
}

TEST(LoweredBugs, B123MaxIsNanWhereEitherIs) {
  const double nan = std::nan("");
  for (const Op op : {Op::Max, Op::Min}) {
    EXPECT_TRUE(std::isnan(on_f32(op, nan, 1)));
    EXPECT_TRUE(std::isnan(on_f32(op, 1, nan)));
    EXPECT_TRUE(std::isnan(on_f32(op, nan, HUGE_VAL)));
  }
}

TEST(LoweredBugs, B126OverflowOnTheWayIsSeen) {
  Graph g;
  const Ref x = g.variable("x", F32);
  LoweredTerm term(g, g.alu(Op::Log, {g.alu(Op::Exp, {x})}));
  EXPECT_EQ(uop::as_double(term.at({f32(89)}).value), HUGE_VAL);
  const Ref product = g.alu(Op::Mul, {g.alu(Op::Exp, {x}), g.alu(Op::Exp, {g.alu(Op::Neg, {x})})});
  EXPECT_TRUE(is_nan(LoweredTerm(g, product).at({f32(200)}).value));
}

// B174: overloads of max and min are not asked for: nothing is left that could be ambiguous.
TEST(LoweredBugs, B174MaxOfIntegersIsAChoice) {
  Graph g;
  const Ref max = g.alu(Op::Max, {g.variable("x", I32), g.constant(I32, -2147483647)});
  const Ref after = lowered(g, max).value();
  EXPECT_EQ(uop::to_prefix(g, after).value(), "(where (< x -2147483647) -2147483647 x)");
}

// B179: an argument of a function is of the function's own type; a constant is of the same.
TEST(LoweredBugs, B179FunctionsAreOfOneType) {
  Graph g;
  LoweredTerm term(g, g.alu(Op::Exp2, {g.constant(f32(3))}));
  EXPECT_EQ(uop::as_double(term.at({}).value), 8);
  for (const Ref u : uop::toposort(g, term.root())) {
    EXPECT_TRUE(u->dtype == F32 || u->dtype == I32 || u->dtype == uop::Bool) << to_text(u->op);
  }
}

// B184: the least integer by -1, and division by zero, do not trap.
TEST(LoweredBugs, B184TheLeastIntegerIsDividedByMinusOne) {
  constexpr int64_t kLeast = -(int64_t{1} << 31);
  for (const Op op : {Op::Div, Op::TDiv}) EXPECT_EQ(on_i32(op, kLeast, -1), kLeast);
  for (const Op op : {Op::Mod, Op::TMod}) EXPECT_EQ(on_i32(op, kLeast, -1), 0);
  for (const Op op : {Op::Div, Op::TDiv, Op::Mod, Op::TMod}) {
    Graph g;
    LoweredTerm term(g, g.alu(op, {g.variable("x", I32), g.variable("y", I32)}));
    EXPECT_TRUE(term.at({i32(7), i32(0)}).defined());
    EXPECT_TRUE(term.at({i32(kLeast), i32(0)}).defined());
  }
}

// B197: a signed byte is sign-extended.
TEST(LoweredBugs, B197BytesKeepTheirSign) {
  Graph g;
  LoweredTerm term(g, g.make(Op::Cast, I32, {g.variable("x", uop::I8)}));
  for (const int64_t n : {-1, -128, 127}) {
    EXPECT_EQ(term.at({uop::of_int(uop::I8, n)}).value, i32(n));
  }
}

TEST(LoweredBugs, B198WholeNumbersAtInfinityAndNan) {
  for (const Op op : {Op::Trunc, Op::Floor, Op::Ceil, Op::Round}) {
    EXPECT_EQ(on_f32(op, HUGE_VAL), HUGE_VAL);
    EXPECT_EQ(on_f32(op, -HUGE_VAL), -HUGE_VAL);
    EXPECT_TRUE(std::isnan(on_f32(op, std::nan(""))));
  }
}

}  // namespace
}  // namespace assay::codegen
