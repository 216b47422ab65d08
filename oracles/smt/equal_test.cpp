#include "oracles/smt/equal.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/uop/prefix.h"
#include "oracles/smt/claim.h"

namespace assay::smt {
namespace {

using oracles::Answer;
using oracles::Strength;
using uop::DType;
using uop::Graph;
using uop::Ref;

struct Pair {
  const char* name;
  DType type;
  const char* before;
  const char* after;
  bool is_refined;
  const char* when = "";
};

class EveryPair : public testing::TestWithParam<Pair> {
 protected:
  Graph g_;
  Prover prover_;

  uop::Leaves leaves(DType t) {
    uop::Leaves all;
    for (const char* name : {"x", "y", "z"}) all[name] = g_.variable(name, t);
    for (const char* name : {"p", "q"}) all[name] = g_.variable(name, uop::Bool);
    all["i"] = g_.variable("i", uop::of_int(uop::Index, 0), uop::of_int(uop::Index, 63));
    return all;
  }
  Ref term(const char* text, DType t) {
    const auto made = uop::from_prefix(g_, text, leaves(t), t);
    EXPECT_TRUE(made.ok()) << text;
    return made.value();
  }
};

TEST_P(EveryPair, IsJudgedRightly) {
  const Pair& pair = GetParam();
  const Ref before = term(pair.before, pair.type);
  const Ref after = term(pair.after, pair.type);
  std::vector<Ref> when;
  if (*pair.when != '\0') when.push_back(term(pair.when, pair.type));
  const Refines judged = refines(g_, before, after, when, prover_, "test");
  EXPECT_EQ(judged.verdict.answer, pair.is_refined ? Answer::Pass : Answer::Fail)
      << judged.verdict.evidence;
  if (pair.is_refined) {
    EXPECT_NE(judged.verdict.strength, Strength::Sampled);
  } else {
    EXPECT_NE(judged.verdict.evidence.find(" where "), std::string::npos);
  }
}

const Pair kPairs[] = {
    {"sum_commutes", uop::I32, "(+ x y)", "(+ y x)", true},
    {"product_distributes", uop::U16, "(* x (+ y z))", "(+ (* x y) (* x z))", true},
    {"sum_does_not_grow_by_two", uop::I64, "(< x (+ x 1))", "(< 0 1)", false},
    {"index_never_wraps", uop::Index, "(< x (+ x 1))", "(< 0 1)", true},
    {"quotients_join", uop::Index, "(// (// x 3) 5)", "(// x 15)", true},
    {"quotients_do_not_join_below_zero", uop::Index, "(// (// x 2) -3)", "(// x -6)", false},
    {"truncating_quotients_join", uop::I32, "(tdiv (tdiv x 3) 5)", "(tdiv x 15)", true},
    {"truncation_is_not_floor", uop::I32, "(tdiv x 2)", "(// x 2)", false},
    {"truncation_is_floor_of_what_is_positive", uop::I32, "(tdiv x 2)", "(// x 2)", true,
     "(< -1 x)"},
    // Of numbers without end there is none, of 32 bits there is -327675.
    {"a_condition_holds_where_it_wraps", uop::I32, "x", "0", false, "(== (* x 65537) 5)"},
    {"a_condition_fails_where_it_wraps", uop::I32, "(max x 0)", "x", false,
     "(== (+ (* x 65537) 1) 6)"},
    {"mask_is_remainder", uop::Index, "(and i 7)", "(% i 8)", true},
    {"mask_is_not_that_remainder", uop::Index, "(and i 7)", "(% i 7)", false},
    {"floats_keep_minus_zero", uop::F32, "(+ x 0.0)", "x", false},
    {"floats_take_minus_zero", uop::F32, "(+ x -0.0)", "x", true},
    {"double_is_a_sum", uop::F32, "(* x 2.0)", "(+ x x)", true},
    {"e4m3_is_looked_up", uop::E4M3, "(* x y)", "(* y x)", true},
    {"e4m3_rounds", uop::E4M3, "(+ (+ x y) z)", "(+ x (+ y z))", false},
    {"largest_of_e4m3", uop::E4M3, "(max (max x y) z)", "(max x (max y z))", true},
    {"nothing_revives_invalid", uop::I32, "(where p x invalid)", "x", false},
    {"invalid_stays", uop::I32, "(+ (where p x invalid) 1)", "(where p (+ x 1) invalid)", true},
    {"a_division_by_zero_is_anything", uop::I32, "(// x x)", "1", true},
    {"nothing_becomes_a_division_by_zero", uop::I32, "x", "(* (// x y) y)", false},
    {"what_is_not_picked_is_not_read", uop::I32, "(where (== y 0) 0 (// x y))",
     "(where (!= y 0) (// x y) 0)", true},
};

INSTANTIATE_TEST_SUITE_P(Refines, EveryPair, testing::ValuesIn(kPairs),
                         [](const auto& c) { return std::string(c.param.name); });

TEST(Refines, TakesALoadForSomeValue) {
  Graph g;
  Prover prover;
  const Ref buffer = g.make(uop::Op::Param, uop::I32, {}, uop::Arg::number(0));
  const Ref zero = g.constant(uop::Index, 0);
  const Ref at = g.make(uop::Op::Index, uop::I32, {buffer, zero});
  const Ref load = g.make(uop::Op::Load, uop::I32, {at});
  const Ref one = g.constant(uop::I32, 1);
  const Ref two = g.constant(uop::I32, 2);
  const Ref twice = g.alu(uop::Op::Add, {load, load});
  const Ref product = g.alu(uop::Op::Mul, {load, two});
  EXPECT_EQ(refines(g, twice, product, {}, prover, "test").verdict.answer, Answer::Pass);
  const Refines off = refines(g, twice, g.alu(uop::Op::Add, {load, one}), {}, prover, "test");
  EXPECT_EQ(off.verdict.answer, Answer::Fail);
}

// A claim over the reals, which floats do not keep.
TEST(Settle, TakesFloatsForRealsWhereTheClaimSaysSo) {
  Graph g;
  Prover prover;
  Tables tables;
  const Ref x = g.variable("x", uop::F32);
  const Ref y = g.variable("y", uop::F32);
  const Ref z = g.variable("z", uop::F32);
  const Ref xy = g.alu(uop::Op::Add, {x, y});
  const Ref yz = g.alu(uop::Op::Add, {y, z});
  const Ref left = g.alu(uop::Op::Add, {xy, z});
  const Ref right = g.alu(uop::Op::Add, {x, yz});
  Claim claim = {g, left, right, {{x}, {y}, {z}}};
  EXPECT_EQ(settle(claim, prover, tables, "test").verdict.answer, Answer::Fail);
  claim.is_real = true;
  EXPECT_EQ(settle(claim, prover, tables, "test").verdict.answer, Answer::Pass);
}

// A term that has a value at one x alone, at which a product wraps.
TEST(Settle, BelievesNoConditionThatWraps) {
  Graph g;
  Prover prover;
  Tables tables;
  const Ref x = g.variable("x", uop::I32);
  const Ref zero = g.constant(uop::I32, 0);
  const Ref one = g.constant(uop::I32, 1);
  const Ref product = g.alu(uop::Op::Mul, {x, g.constant(uop::I32, 65537)});
  const Ref is_five = g.alu(uop::Op::Eq, {product, g.constant(uop::I32, 5)});
  const Ref divisor = g.alu(uop::Op::Where, {is_five, one, zero});
  Claim claim = {g, x, zero, {{x}}};
  claim.valued.push_back(g.alu(uop::Op::Div, {one, divisor}));
  const Settled s = settle(claim, prover, tables, "test");
  EXPECT_EQ(s.verdict.answer, Answer::Fail) << s.verdict.evidence;
  ASSERT_EQ(s.point.size(), 1U);
  EXPECT_EQ(uop::as_int(s.point[0].value), -327675);
}

TEST(Settle, SaysWhatItDoesNotKnow) {
  Graph g;
  Prover prover;
  Tables tables;
  const Ref x = g.variable("x", uop::F32);
  const Ref y = g.variable("y", uop::F32);
  const Ref sin = g.alu(uop::Op::Sin, {x});
  const Ref cos = g.alu(uop::Op::Cos, {y});
  const Claim claim = {
      g, g.alu(uop::Op::Pow, {sin, cos}), g.alu(uop::Op::Pow, {sin, cos}), {{x}, {y}}};
  EXPECT_EQ(settle(claim, prover, tables, "test").method, "folding");
  Effort effort;
  effort.asks_solvers = false;
  const Ref product = g.alu(uop::Op::Mul, {x, y});
  const Ref turned = g.alu(uop::Op::Mul, {y, x});
  const Settled s = settle({g, product, turned, {{x}, {y}}}, prover, tables, "test", effort);
  EXPECT_EQ(s.verdict.answer, Answer::Unknown);
  EXPECT_EQ(s.method, "no solver asked");
  EXPECT_GT(s.judged, 0U);
}

}  // namespace
}  // namespace assay::smt
