// Integers after decomposition, against the scalar meaning: everywhere at 8 bits, by samples above.
// Where the meaning is unspecified there must be a value all the same: a cell that is unspecified
// would trap, or be undefined, in C.
#include <random>

#include "engine/codegen/lowered_term.h"

namespace assay::codegen {
namespace {

using uop::Cell;
using uop::DType;
using uop::Graph;
using uop::I8;
using uop::Op;
using uop::Ref;
using uop::U8;
using uop::Value;

constexpr Op kBinary[] = {Op::Div, Op::Mod, Op::TDiv, Op::TMod, Op::Shl, Op::Shr,
                          Op::Max, Op::Min, Op::Pow,  Op::Add,  Op::Sub, Op::Mul};

void expect_right(Op op, DType t, std::initializer_list<Value> x, const Cell& got) {
  const std::vector<Value> values(x);
  ASSERT_TRUE(got.defined()) << to_text(op) << " " << to_text(t) << " " << to_text(values[0]) << " "
                             << to_text(values.back());
  const auto expected = uop::eval(op, t, values);
  if (!expected) return;
  ASSERT_EQ(got.value, *expected) << to_text(op) << " " << to_text(t) << " " << to_text(values[0])
                                  << " " << to_text(values.back()) << ": " << to_text(got.value);
}

TEST(LowerInteger, ComputesAllPairsOf8Bits) {
  for (const DType t : {I8, U8}) {
    for (const Op op : kBinary) {
      Graph g;
      const Ref x = g.variable("x", t);
      const Ref y = g.variable("y", t);
      LoweredTerm term(g, g.alu(op, {x, y}));
      for (int a = 0; a < 256; a++) {
        for (int b = 0; b < 256; b++) {
          const Value va = uop::of_int(t, a);
          const Value vb = uop::of_int(t, b);
          expect_right(op, t, {va, vb}, term.at({va, vb}));
        }
      }
    }
  }
}

TEST(LowerInteger, ComputesAllPairsWithAConstantOf8Bits) {
  for (const DType t : {I8, U8}) {
    for (const Op op : kBinary) {
      for (int b = 0; b < 256; b++) {
        Graph g;
        const Ref x = g.variable("x", t);
        const Value vb = uop::of_int(t, b);
        LoweredTerm term(g, g.alu(op, {x, g.constant(vb)}));
        for (int a = 0; a < 256; a++) {
          const Value va = uop::of_int(t, a);
          expect_right(op, t, {va, vb}, term.at({va}));
        }
      }
    }
  }
}

// Operands of which something is known: the ends of their bounds decide what may be left out.
TEST(LowerInteger, ComputesWithinBounds) {
  const int ends[] = {-128, -127, -2, -1, 0, 1, 2, 127};
  for (const Op op : {Op::Div, Op::Mod, Op::TDiv, Op::TMod, Op::Shl, Op::Shr, Op::Pow}) {
    for (const int lo : ends) {
      for (const int hi : ends) {
        if (lo > hi) continue;
        Graph g;
        const Ref x = g.variable("x", uop::of_int(I8, lo), uop::of_int(I8, hi));
        const Ref y = g.variable("y", uop::of_int(I8, -hi - 1), uop::of_int(I8, -lo - 1));
        LoweredTerm term(g, g.alu(op, {x, y}));
        for (int a = lo; a <= hi; a++) {
          for (int b = -hi - 1; b <= -lo - 1; b++) {
            const Value va = uop::of_int(I8, a);
            const Value vb = uop::of_int(I8, b);
            expect_right(op, I8, {va, vb}, term.at({va, vb}));
          }
        }
      }
    }
  }
}

TEST(LowerInteger, ComputesAtEveryWidth) {
  std::mt19937_64 random(1);
  for (const DType t : {uop::I16, uop::U16, uop::I32, uop::U32, uop::I64, uop::U64}) {
    for (const Op op : kBinary) {
      Graph g;
      const Ref x = g.variable("x", t);
      const Ref y = g.variable("y", t);
      LoweredTerm term(g, g.alu(op, {x, y}));
      const Value nasty[] = {uop::of_int(t, 0),
                             uop::of_int(t, 1),
                             uop::of_int(t, -1),
                             uop::of_int(t, 7),
                             uop::lowest(t),
                             uop::highest(t),
                             uop::of_int(t, bits_of(t)),
                             uop::of_int(t, bits_of(t) - 1)};
      for (const Value a : nasty) {
        for (const Value b : nasty) expect_right(op, t, {a, b}, term.at({a, b}));
      }
      for (int i = 0; i < 500; i++) {
        const Value a = uop::of_int(t, static_cast<int64_t>(random()) >> random() % 64);
        const Value b = uop::of_int(t, static_cast<int64_t>(random()) >> random() % 64);
        expect_right(op, t, {a, b}, term.at({a, b}));
      }
    }
  }
}

TEST(LowerInteger, ComputesOperationsOfOneAndThree) {
  for (const DType t : {I8, U8}) {
    Graph g;
    const Ref x = g.variable("x", t);
    const Ref y = g.variable("y", t);
    LoweredTerm neg(g, g.alu(Op::Neg, {x}));
    LoweredTerm fma(g, g.alu(Op::Fma, {x, y, x}));
    for (int a = 0; a < 256; a++) {
      const Value va = uop::of_int(t, a);
      expect_right(Op::Neg, t, {va}, neg.at({va}));
      for (int b = 0; b < 256; b++) {
        const Value vb = uop::of_int(t, b);
        expect_right(Op::Fma, t, {va, vb, va}, fma.at({va, vb}));
      }
    }
  }
}

TEST(LowerInteger, ComputesBools) {
  for (const Op op : {Op::Max, Op::Min, Op::And, Op::Or, Op::Xor, Op::Lt, Op::Eq, Op::Ne}) {
    Graph g;
    const Ref x = g.variable("x", uop::Bool);
    const Ref y = g.variable("y", uop::Bool);
    LoweredTerm term(g, g.alu(op, {x, y}));
    for (const bool a : {false, true}) {
      for (const bool b : {false, true}) {
        const Value va = uop::of_bool(a);
        const Value vb = uop::of_bool(b);
        expect_right(op, uop::Bool, {va, vb}, term.at({va, vb}));
      }
    }
  }
}

TEST(LowerInteger, SpellsThreefryInWords) {
  Graph g;
  const Ref x = g.variable("x", uop::U64);
  const Ref y = g.variable("y", uop::U64);
  LoweredTerm term(g, g.alu(Op::Threefry, {x, y}));
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; i++) {
    const Value a = {uop::U64, i < 2 ? uint64_t(i) : random()};
    const Value b = {uop::U64, i < 2 ? uint64_t(0) : random()};
    expect_right(Op::Threefry, uop::U64, {a, b}, term.at({a, b}));
  }
}

TEST(LowerInteger, CastsFloatsThatDoNotFitAsWell) {
  const double far[] = {0,       0.5,     -0.5,          -0.999,       1,      127.9,
                        128,     255.99,  256,           -128.9,       -129,   32768,
                        65535.9, 0x1p31,  0x1.fffffep30, 0x1p32,       0x1p63, 0x1p64,
                        -0x1p31, -0x1p63, HUGE_VAL,      std::nan(""), 1e30};
  for (const DType from : {uop::F16, uop::F32, uop::F64}) {
    for (const DType to : {I8, U8, uop::I16, uop::U16, uop::I32, uop::U32, uop::I64, uop::U64}) {
      Graph g;
      LoweredTerm term(g, g.make(Op::Cast, to, {g.variable("x", from)}), wide_target());
      for (const double x : far) {
        for (const double v : {x, -x, std::nextafter(x, 0), std::nextafter(x, 2 * x)}) {
          const Value value = uop::of_double(from, v);
          expect_right(Op::Cast, to, {value}, term.at({value}));
        }
      }
    }
  }
}

TEST(LowerInteger, CastsToBoolByComparing) {
  Graph g;
  LoweredTerm term(g, g.make(Op::Cast, uop::Bool, {g.variable("x", uop::F32)}));
  for (const double x : {0.0, -0.0, 0x1p-149, 1.0, HUGE_VAL, std::nan("")}) {
    const Value value = uop::of_double(uop::F32, x);
    expect_right(Op::Cast, uop::Bool, {value}, term.at({value}));
  }
}

std::string text_of(Graph& g, Ref u) { return uop::to_prefix(g, lowered(g, u).value()).value(); }

TEST(LowerInteger, LeavesWhatCDoes) {
  Graph g;
  const Ref x = g.variable("x", uop::of_int(uop::I32, 0), uop::of_int(uop::I32, 100));
  const Ref y = g.variable("y", uop::of_int(uop::I32, 1), uop::of_int(uop::I32, 31));
  EXPECT_EQ(text_of(g, g.alu(Op::Div, {x, y})), "(// x y)");
  EXPECT_EQ(text_of(g, g.alu(Op::Mod, {x, y})), "(% x y)");
  EXPECT_EQ(text_of(g, g.alu(Op::Shl, {x, y})), "(<< x y)");
  EXPECT_EQ(text_of(g, g.alu(Op::Div, {x, g.constant(uop::I32, 3)})), "(// x 3)");
}

TEST(LowerInteger, DividesByConstantsCheaply) {
  Graph g;
  const Ref x = g.variable("x", uop::I32);
  const Ref by8 = g.alu(Op::Div, {x, g.constant(uop::I32, 8)});
  const Ref of8 = g.alu(Op::Mod, {x, g.constant(uop::I32, 8)});
  const Ref by3 = g.alu(Op::Div, {x, g.constant(uop::I32, 3)});
  EXPECT_EQ(text_of(g, by8), "(>> x 3)");
  EXPECT_EQ(text_of(g, of8), "(and x 7)");
  EXPECT_EQ(text_of(g, by3), "(xor (tdiv (xor x (>> x 31)) 3) (>> x 31))");
}

}  // namespace
}  // namespace assay::codegen
