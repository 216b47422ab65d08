// Narrow floats on targets without them: each operation on all its operands (pairs at 8 bits),
// against the scalar meaning, and kernels as text.
#include "engine/codegen/dtype_emulation.h"

#include <random>

#include "engine/codegen/lowered_term.h"
#include "engine/uop/text.h"

namespace assay::codegen {
namespace {

using uop::BF16;
using uop::DType;
using uop::E4M3;
using uop::E5M2;
using uop::F16;
using uop::F32;
using uop::Graph;
using uop::Op;
using uop::Ref;
using uop::Value;

// `op` at t of operands that are given as bits, its result as bits.
class Emulated {
 public:
  Emulated(Op op, DType t, DType result, int operands)
      : op_(op), result_(result), term_(g_, term(op, t, result, operands)) {}

  void expect(std::initializer_list<Value> values) {
    std::vector<Value> operands(values);
    std::vector<Value> bits;
    for (const Value v : operands) bits.push_back({unsigned_of(v.dtype), v.bits});
    const Value expected = *uop::eval(op_, result_, operands);
    const uop::Cell cell = operands.size() == 1   ? term_.at({bits[0]})
                           : operands.size() == 2 ? term_.at({bits[0], bits[1]})
                                                  : term_.at({bits[0], bits[1], bits[2]});
    const Value got = {result_, cell.value.bits};
    ASSERT_TRUE(cell.defined());
    ASSERT_TRUE(same(got, expected))
        << to_text(op_) << " " << to_text(operands[0]) << " " << to_text(operands.back()) << ": "
        << to_text(got) << ", not " << to_text(expected);
  }

 private:
  Ref term(Op op, DType t, DType result, int operands) {
    std::vector<Ref> sources;
    for (int i = 0; i < operands; i++) {
      const char name[] = {static_cast<char>('x' + i), 0};
      const Ref bits = g_.variable(name, unsigned_of(t));
      sources.push_back(g_.make(Op::Bitcast, t, {bits}));
    }
    const Ref u = g_.make(op, result, sources);
    return result == uop::Bool ? u : g_.make(Op::Bitcast, unsigned_of(result), {u});
  }

  Graph g_;
  Op op_;
  DType result_;
  LoweredTerm term_;
};

class NarrowFloat : public testing::TestWithParam<DType> {
 protected:
  DType t() const { return GetParam(); }
  uint64_t count() const { return uint64_t{1} << bits_of(t()); }
  // All pairs at 8 bits, and random ones of what is wider.
  template <typename F>
  void for_pairs(F f) const {
    if (bits_of(t()) == 8) {
      for (uint64_t i = 0; i < count() * count(); i++)
        f(Value{t(), i % count()}, Value{t(), i / count()});
      return;
    }
    std::mt19937_64 random(1);
    for (int i = 0; i < 60000; i++) {
      const Value a = {t(), random() % count()};
      // Half of the time an operand of much the same size.
      const uint64_t beside = (a.bits + random() % 4096 - 2048) % count();
      f(a, Value{t(), i % 2 == 0 ? random() % count() : beside});
    }
  }
};

TEST_P(NarrowFloat, ComputesWithTwoOperands) {
  for (const Op op : {Op::Add, Op::Sub, Op::Mul, Op::FDiv, Op::Max, Op::Min}) {
    Emulated emulated(op, t(), t(), 2);
    for_pairs([&](Value a, Value b) { emulated.expect({a, b}); });
  }
}

TEST_P(NarrowFloat, Compares) {
  for (const Op op : {Op::Lt, Op::Eq, Op::Ne}) {
    Emulated emulated(op, t(), uop::Bool, 2);
    for_pairs([&](Value a, Value b) { emulated.expect({a, b}); });
  }
}

TEST_P(NarrowFloat, ComputesWithOneOperand) {
  for (const Op op : {Op::Neg, Op::Recip, Op::Sqrt, Op::Trunc, Op::Floor, Op::Ceil, Op::Round}) {
    Emulated emulated(op, t(), t(), 1);
    for (uint64_t bits = 0; bits < count(); bits++) emulated.expect({Value{t(), bits}});
  }
}

// In f32 and rounded once more: off by less than a unit, and mostly right.
TEST_P(NarrowFloat, HasFunctionsWithinAUnit) {
  for (const Op op : {Op::Exp, Op::Exp2, Op::Log, Op::Log2, Op::Sin, Op::Cos, Op::Tan}) {
    Graph g;
    const Ref x = g.make(Op::Bitcast, t(), {g.variable("x", unsigned_of(t()))});
    const Ref u = g.alu(op, {x});
    LoweredTerm term(g, g.make(Op::Bitcast, unsigned_of(t()), {u}));
    uint64_t differ = 0;
    for (uint64_t bits = 0; bits < count(); bits++) {
      const Value v = {t(), bits};
      const Value expected = *uop::eval(op, t(), {&v, 1});
      const Value got = {t(), term.at({{unsigned_of(t()), bits}}).value.bits};
      if (same(got, expected)) continue;
      const uint64_t apart =
          got.bits > expected.bits ? got.bits - expected.bits : expected.bits - got.bits;
      ASSERT_LE(apart, 1U) << to_text(op) << " " << to_text(v) << " " << to_text(got);
      differ++;
    }
    EXPECT_LT(differ * 500, count()) << to_text(op);
  }
}

TEST_P(NarrowFloat, KeepsTheBitsThatWherePicks) {
  Graph g;
  const DType bits = unsigned_of(t());
  const Ref x = g.variable("x", bits);
  const Ref a = g.make(Op::Bitcast, t(), {x});
  const Ref condition = g.alu(Op::Lt, {x, g.constant(bits, 100)});
  const Ref u = g.alu(Op::Where, {condition, a, g.constant(uop::of_double(t(), 1.5))});
  LoweredTerm term(g, g.make(Op::Bitcast, bits, {u}));
  for (uint64_t i = 0; i < count(); i++) {
    const Value expected = i < 100 ? Value{t(), i} : uop::of_double(t(), 1.5);
    EXPECT_TRUE(same({t(), term.at({{bits, i}}).value.bits}, expected)) << i;
  }
}

TEST_P(NarrowFloat, IsCastToAndFromEveryType) {
  std::mt19937_64 random(1);
  for (const DType other : {uop::Bool, uop::I8, uop::U8, uop::I16, uop::U16, uop::I32, uop::U32,
                            uop::I64, uop::U64, E4M3, E5M2, F16, BF16, F32}) {
    Graph g;
    const DType bits = unsigned_of(t());
    const bool small = other != F32 && uop::is_float(other);
    const Ref x = g.variable("x", small ? unsigned_of(other) : other);
    const Ref from = small ? g.make(Op::Bitcast, other, {x}) : x;
    LoweredTerm to(g, g.make(Op::Bitcast, bits, {g.make(Op::Cast, t(), {from})}));
    const Ref y = g.make(Op::Bitcast, t(), {g.variable("x", bits)});
    const Ref back = g.make(Op::Cast, other, {y});
    LoweredTerm of(g, small ? g.make(Op::Bitcast, unsigned_of(other), {back}) : back);
    for (int i = 0; i < 4000; i++) {
      const Value v = other == F32 ? Value{F32, random() & 0xFFFFFFFF}
                      : small      ? Value{other, random() % (uint64_t{1} << bits_of(other))}
                              : uop::of_int(other, static_cast<int64_t>(random()) >> random() % 64);
      const Value leaf = {x->dtype, v.bits};
      const Value got = {t(), to.at({leaf}).value.bits};
      ASSERT_TRUE(same(got, *uop::cast(v, t()))) << to_text(other) << " " << to_text(v);
      const Value here = {t(), random() % count()};
      const uop::Cell there = of.at({{bits, here.bits}});
      ASSERT_TRUE(there.defined());
      const auto expected = uop::cast(here, other);
      if (!expected) continue;
      ASSERT_TRUE(same({other, there.value.bits}, *expected)) << to_text(other) << to_text(here);
    }
  }
}

// Sums of products round after each step: nothing wider is kept in between.
TEST_P(NarrowFloat, RoundsBetweenOperations) {
  Graph g;
  const DType bits = unsigned_of(t());
  const Ref x = g.make(Op::Bitcast, t(), {g.variable("x", bits)});
  const Ref y = g.make(Op::Bitcast, t(), {g.variable("y", bits)});
  const Ref product = g.alu(Op::Mul, {x, y});
  const Ref sum = g.alu(Op::Add, {product, x});
  LoweredTerm term(g, g.make(Op::Bitcast, bits, {g.alu(Op::Sub, {sum, product})}));
  for_pairs([&](Value a, Value b) {
    const Value ab[] = {a, b};
    const Value p = *uop::eval(Op::Mul, t(), ab);
    const Value pa[] = {p, a};
    const Value s = *uop::eval(Op::Add, t(), pa);
    const Value sp[] = {s, p};
    const Value expected = *uop::eval(Op::Sub, t(), sp);
    const Value got = {t(), term.at({{bits, a.bits}, {bits, b.bits}}).value.bits};
    ASSERT_TRUE(same(got, expected)) << to_text(a) << " " << to_text(b);
  });
}

INSTANTIATE_TEST_SUITE_P(Codegen, NarrowFloat, testing::Values(E4M3, E5M2, F16, BF16),
                         [](const auto& c) { return std::string(uop::to_text(c.param)); });

std::string emulated(const char* text, const uop::Target& target = uop::generic_target()) {
  Graph g;
  const Result<uop::Parsed> parsed = uop::from_text(g, text);
  EXPECT_TRUE(parsed.ok()) << to_string(parsed.error());
  uop::Run run(g, {}, nullptr, target);
  const Result<Ref> after = uop::run_pass(dtype_emulation(), run, parsed.value().root);
  return after.ok() ? uop::to_text(g, after.value(), "narrow") : to_string(after.error());
}

TEST(DtypeEmulation, ConvertsAroundStorageThatTheTargetHas) {
  EXPECT_EQ(emulated(R"(uop 1 narrow
%0 = const index 16
%1 = param f16 %0 {0}
%2 = const i32 3
%3 = index f16 %1 %2
%4 = param f16 %0 {1}
%5 = index f16 %4 %2
%6 = load f16 %5
%7 = neg f16 %6
%8 = store void %3 %7
%9 = sink void %8 {"k"}
)"),
            R"(uop 1 narrow
%0 = const index 16
%1 = param f16 %0 {0}
%2 = const i32 3
%3 = index f16 %1 %2
%4 = param f16 %0 {1}
%5 = index f16 %4 %2
%6 = load f16 %5
%7 = cast f32 %6
%8 = neg f32 %7
%9 = cast f16 %8
%10 = store void %3 %9
%11 = sink void %10 {"k"}
)");
}

TEST(DtypeEmulation, ConvertsVectorsAsAWhole) {
  EXPECT_EQ(emulated(R"(uop 1 narrow
%0 = const index 16
%1 = param f16 %0 {0}
%2 = const i32 2
%3 = const index 2
%4 = shrink f16 %1 %2 %3
%5 = param f16 %0 {1}
%6 = shrink f16 %5 %2 %3
%7 = load f16 %6
%8 = const i32 0
%9 = index f16 %7 %8
%10 = neg f16 %9
%11 = const i32 1
%12 = index f16 %7 %11
%13 = neg f16 %12
%14 = stack f16 %13 %10
%15 = store void %4 %14
%16 = sink void %15 {"k"}
)"),
            R"(uop 1 narrow
%0 = const index 16
%1 = param f16 %0 {0}
%2 = const i32 2
%3 = const index 2
%4 = shrink f16 %1 %2 %3
%5 = param f16 %0 {1}
%6 = shrink f16 %5 %2 %3
%7 = load f16 %6
%8 = cast f32 %7
%9 = const i32 1
%10 = index f32 %8 %9
%11 = neg f32 %10
%12 = const i32 0
%13 = index f32 %8 %12
%14 = neg f32 %13
%15 = stack f32 %11 %14
%16 = cast f16 %15
%17 = store void %4 %16
%18 = sink void %17 {"k"}
)");
}

// A conversion may make another NaN of a NaN.
TEST(DtypeEmulation, MovesBitsWhereTheTargetHasSuchStorageToo) {
  EXPECT_EQ(emulated(R"(uop 1 narrow
%0 = const index 16
%1 = param f16 %0 {0}
%2 = const i32 3
%3 = index f16 %1 %2
%4 = special i32 %2 {"lidx0"}
%5 = lt bool %4 %2
%6 = param f16 %0 {1}
%7 = index f16 %6 %4
%8 = load f16 %7
%9 = const f16 nan:0x7d01
%10 = where f16 %5 %8 %9
%11 = store void %3 %10
%12 = sink void %11 {"k"}
)"),
            R"(uop 1 narrow
%0 = const index 16
%1 = param u16 %0 {0}
%2 = const i32 3
%3 = index u16 %1 %2
%4 = special i32 %2 {"lidx0"}
%5 = lt bool %4 %2
%6 = param u16 %0 {1}
%7 = index u16 %6 %4
%8 = load u16 %7
%9 = const u16 32001
%10 = where u16 %5 %8 %9
%11 = store void %3 %10
%12 = sink void %11 {"k"}
)");
}

TEST(DtypeEmulation, WritesTheBitsOfAnotherType) {
  EXPECT_EQ(emulated(R"(uop 1 narrow
%0 = const index 16
%1 = param f16 %0 {0}
%2 = const i32 3
%3 = index f16 %1 %2
%4 = param u16 %0 {1}
%5 = index u16 %4 %2
%6 = load u16 %5
%7 = bitcast f16 %6
%8 = store void %3 %7
%9 = sink void %8 {"k"}
)"),
            R"(uop 1 narrow
%0 = const index 16
%1 = param u16 %0 {0}
%2 = const i32 3
%3 = index u16 %1 %2
%4 = param u16 %0 {1}
%5 = index u16 %4 %2
%6 = load u16 %5
%7 = store void %3 %6
%8 = sink void %7 {"k"}
)");
}

TEST(DtypeEmulation, HoldsBitsWhereTheTargetHasNoSuchStorage) {
  EXPECT_EQ(emulated(R"(uop 1 narrow
%0 = const index 16
%1 = param bf16 %0 {0}
%2 = const i32 3
%3 = index bf16 %1 %2
%4 = buffer bf16 %0 {1 local}
%5 = index bf16 %4 %2
%6 = load bf16 %5
%7 = neg bf16 %6
%8 = store void %3 %7
%9 = sink void %8 {"k"}
)"),
            R"(uop 1 narrow
%0 = const index 16
%1 = param u16 %0 {0}
%2 = const i32 3
%3 = index u16 %1 %2
%4 = buffer u16 %0 {1 local}
%5 = index u16 %4 %2
%6 = load u16 %5
%7 = cast u32 %6
%8 = const u32 16
%9 = shl u32 %7 %8
%10 = bitcast f32 %9
%11 = neg f32 %10
%12 = eq bool %11 %11
%13 = bitcast u32 %11
%14 = shr u32 %13 %8
%15 = const u32 1
%16 = and u32 %14 %15
%17 = add u32 %13 %16
%18 = const u32 32767
%19 = add u32 %17 %18
%20 = const u32 4294901760
%21 = and u32 %19 %20
%22 = const u32 2143289344
%23 = where u32 %12 %21 %22
%24 = shr u32 %23 %8
%25 = cast u16 %24
%26 = store void %3 %25
%27 = sink void %26 {"k"}
)");
}

TEST(DtypeEmulation, CopiesBitsAsTheyAre) {
  EXPECT_EQ(emulated(R"(uop 1 narrow
%0 = const index 16
%1 = param e4m3 %0 {0}
%2 = const i32 4
%3 = const index 2
%4 = shrink e4m3 %1 %2 %3
%5 = param e4m3 %0 {1}
%6 = shrink e4m3 %5 %2 %3
%7 = load e4m3 %6
%8 = const i32 0
%9 = index e4m3 %7 %8
%10 = const i32 1
%11 = index e4m3 %7 %10
%12 = stack e4m3 %11 %9
%13 = store void %4 %12
%14 = sink void %13 {"k"}
)"),
            R"(uop 1 narrow
%0 = const index 16
%1 = param u8 %0 {0}
%2 = const i32 4
%3 = const index 2
%4 = shrink u8 %1 %2 %3
%5 = param u8 %0 {1}
%6 = shrink u8 %5 %2 %3
%7 = load u8 %6
%8 = const i32 1
%9 = index u8 %7 %8
%10 = const i32 0
%11 = index u8 %7 %10
%12 = stack u8 %9 %11
%13 = store void %4 %12
%14 = sink void %13 {"k"}
)");
}

TEST(DtypeEmulation, KeepsRegistersInF32) {
  const std::string text = emulated(R"(uop 1 narrow
%0 = const index 1
%1 = buffer f16 %0 {1 reg}
%2 = const i32 0
%3 = index f16 %1 %2
%4 = const f16 0.5
%5 = store void %3 %4
%6 = sink void %5 {"k"}
)");
  EXPECT_EQ(text, R"(uop 1 narrow
%0 = const index 1
%1 = buffer f32 %0 {1 reg}
%2 = const i32 0
%3 = index f32 %1 %2
%4 = const f32 0.5
%5 = store void %3 %4
%6 = sink void %5 {"k"}
)");
}

TEST(DtypeEmulation, LeavesTypesThatTheTargetHas) {
  Graph g;
  const Ref x = g.variable("x", F16);
  const Ref u = g.alu(Op::Add, {x, x});
  uop::Run run(g, {}, nullptr, wide_target());
  EXPECT_EQ(uop::run_pass(dtype_emulation(), run, u).value(), u);
}

TEST(DtypeEmulation, NamesWhatItCannotEmulate) {
  Graph g;
  const Ref x = g.variable("x", F32);
  const Result<Ref> after = lowered(g, g.make(Op::Cast, uop::F64, {x}));
  ASSERT_FALSE(after.ok());
  EXPECT_EQ(after.error().message,
            "cast at f64: target generic has no such type and cannot emulate it");
}

}  // namespace
}  // namespace assay::codegen
