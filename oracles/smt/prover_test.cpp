#include "oracles/smt/prover.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "oracles/smt/cache.h"
#include "oracles/smt/canonical.h"
#include "oracles/smt/child.h"
#include "oracles/smt/enumerate.h"

namespace assay::smt {
namespace {

using uop::DType;

// x and y are from 0 to 9: is there a pair with 10 x + y = n?
Formula pair_with(int n) {
  Formula f;
  const Term x = f.bounded("x", 0, 9);
  const Term y = f.bounded("y", 0, 9);
  const Term tens = f.mul(f.integer(10), x);
  f.require(f.equal(f.add(tens, y), f.integer(n)));
  return f;
}

// A product of two large numbers without factors but one: no method has a quick answer.
Formula hard() {
  Formula f;
  const Term a = f.variable("a", bits_sort(64));
  const Term b = f.variable("b", bits_sort(64));
  const Term one = f.number(bits_sort(64), 1);
  const Term limit = f.number(bits_sort(64), Int128{1} << 32);
  f.require(f.equal(f.make(Fn::BitMul, {a, b}), f.number(bits_sort(64), 4611686014132420609)));
  f.require(f.make(Fn::Ult, {one, a}));
  f.require(f.make(Fn::Ult, {a, b}));
  f.require(f.make(Fn::Ult, {b, limit}));
  return f;
}

std::string scratch_file(const char* name) {
  const auto path =
      std::filesystem::path(testing::TempDir()) / (std::string(name) + std::to_string(getpid()));
  std::filesystem::remove(path);
  return path.string();
}

TEST(Prover, EnumeratesWhereThereAreFewPoints) {
  Prover prover;
  const Decision found = prover.decide(pair_with(73), "pair");
  EXPECT_EQ(found.answer, Satisfiable::Yes);
  EXPECT_EQ(found.method, "enumeration");
  EXPECT_EQ(found.model, (std::vector<Number>{{7}, {3}}));
  EXPECT_EQ(prover.decide(pair_with(100), "pair").answer, Satisfiable::No);
}

TEST(Prover, AsksZ3WhereItMust) {
  Prover prover({.asks_z3 = true});
  EXPECT_EQ(prover.decide(pair_with(73), "pair").method, "z3");
  EXPECT_EQ(prover.decide(pair_with(100), "pair").answer, Satisfiable::No);
  EXPECT_EQ(prover.statistics().at("pair").by_method.at("z3"), 2);
}

TEST(Prover, TwoMethodsAgreeWhereThatIsAsked) {
  const std::string file = scratch_file("doubled");
  Prover single({.cache_file = file});
  EXPECT_EQ(single.decide(pair_with(100), "pair").answer, Satisfiable::No);
  Prover doubled({.is_doubled = true, .cache_file = file});
  const Decision d = doubled.decide(pair_with(100), "pair");
  EXPECT_EQ(d.answer, Satisfiable::No);
  EXPECT_FALSE(d.is_from_cache) << "one method had found what the cache holds";
  EXPECT_TRUE(doubled.decide(pair_with(100), "pair").is_from_cache);
  EXPECT_TRUE(doubled.disagreements().empty());
}

TEST(Prover, AnswersAreKeptOnDiskUpToACutOffLine) {
  const std::string file = scratch_file("cache");
  {
    Prover prover({.cache_file = file});
    prover.decide(pair_with(73), "pair");
    prover.decide(pair_with(100), "pair");
  }
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 5);
  Prover prover({.cache_file = file});
  const Decision d = prover.decide(pair_with(73), "pair");
  EXPECT_TRUE(d.is_from_cache);
  EXPECT_EQ(d.model, (std::vector<Number>{{7}, {3}}));
  EXPECT_FALSE(prover.decide(pair_with(100), "pair").is_from_cache);
  Prover again({.cache_file = file});
  EXPECT_TRUE(again.decide(pair_with(100), "pair").is_from_cache);
}

TEST(Prover, ADamagedOrForgedCacheIsNoAuthority) {
  const std::string file = scratch_file("forged");
  {
    Prover({.cache_file = file}).decide(pair_with(73), "pair");
  }
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  std::string damaged = line;
  damaged.replace(damaged.find("7/1"), 3, "8/1");
  std::ofstream(file) << damaged << "\nnonsense\n\n";
  Prover prover({.cache_file = file});
  const Decision d = prover.decide(pair_with(73), "pair");
  EXPECT_FALSE(d.is_from_cache);
  EXPECT_EQ(d.answer, Satisfiable::Yes);
}

TEST(Prover, RecheckingFindsAWrongAnswerInTheCache) {
  const std::string file = scratch_file("wrong");
  {
    AnswerCache cache;
    ASSERT_TRUE(cache.open(file).ok());
    cache.keep(key_of(canonical(pair_with(73)).bytes), {false, {}, {"z3"}});
  }
  Prover trusting({.cache_file = file});
  EXPECT_EQ(trusting.decide(pair_with(73), "pair").answer, Satisfiable::No);
  Prover prover({.cache_file = file, .recheck_percent = 100});
  const Decision d = prover.decide(pair_with(73), "pair");
  EXPECT_EQ(d.answer, Satisfiable::Unknown);
  EXPECT_EQ(d.why, "cache disagrees");
  EXPECT_EQ(prover.disagreements().size(), 1U);
}

TEST(Prover, StepsEndWhatIsHard) {
  Prover prover({.budget = {.solver_steps = 20000, .cvc5_steps = 2000}});
  const Decision d = prover.decide(hard(), "hard");
  EXPECT_EQ(d.answer, Satisfiable::Unknown);
  EXPECT_EQ(prover.statistics().at("hard").unknown, 1);
}

TEST(Prover, AWatchdogEndsWhatStepsDoNot) {
  Prover prover(
      {.budget = {
           .solver_steps = int64_t{1} << 40, .cvc5_steps = int64_t{1} << 40, .watchdog_ms = 200}});
  const Decision d = prover.decide(hard(), "hard");
  EXPECT_EQ(d.answer, Satisfiable::Unknown);
  EXPECT_NE(d.why.find("watchdog"), std::string::npos) << d.why;
  // And the next question finds a solver again.
  Prover next({.asks_z3 = true});
  EXPECT_EQ(next.decide(pair_with(73), "pair").answer, Satisfiable::Yes);
}

TEST(SolverChild, ACrashCostsOneQuestion) {
  SolverChild child;
  const std::string question = canonical(pair_with(73)).bytes;
  EXPECT_EQ(child.ask(SolverName::Z3, question, 100000, 5000).answer, Satisfiable::Yes);
  // Bytes that are no question make the process abort, as a fault of the solver would.
  EXPECT_EQ(child.ask(SolverName::Z3, question.substr(0, 9), 100000, 5000).why, "crash");
  EXPECT_EQ(child.ask(SolverName::Cvc5, question, 100000, 5000).answer, Satisfiable::Yes);
}

TEST(Prover, AnOpaqueFunctionGivesEqualsForEquals) {
  Formula f;
  const Term x = f.variable("x", kInt);
  const Term y = f.variable("y", kInt);
  const Term fx = f.opaque("f", kInt, std::vector{x});
  const Term fy = f.opaque("f", kInt, std::vector{y});
  f.require(f.no(f.equal(fx, fy)));
  Prover prover;
  Formula same = f;
  same.require(same.equal(x, y));
  EXPECT_EQ(prover.decide(same, "opaque").answer, Satisfiable::No);
  // What solvers choose for it cannot be evaluated, so it is no witness.
  EXPECT_EQ(prover.decide(f, "opaque").answer, Satisfiable::Unknown);
}

TEST(Canonical, NamesAndOrderDoNotMatter) {
  Formula a;
  const Term x = a.bounded("x", 0, 100000000);
  const Term y = a.variable("y", kInt);
  a.require(a.lt(x, y));
  a.require(a.equal(a.add(x, y), a.integer(7)));
  Formula b;
  const Term q = b.variable("q", kInt);
  const Term p = b.bounded("p", 0, 100000000);
  b.mul(q, q);  // nothing needs it
  b.require(b.equal(b.integer(7), b.add(q, p)));
  b.require(b.lt(p, q));
  EXPECT_EQ(canonical(a).bytes, canonical(b).bytes);
  Formula c;
  const Term u = c.bounded("u", 0, 100000000);
  const Term v = c.variable("v", kInt);
  c.require(c.lt(v, u));
  c.require(c.equal(c.add(u, v), c.integer(7)));
  EXPECT_NE(canonical(a).bytes, canonical(c).bytes);
}

TEST(Canonical, BytesReadBack) {
  const Canonical form = canonical(pair_with(73));
  EXPECT_EQ(to_bytes(from_bytes(form.bytes)), form.bytes);
}

TEST(Smtlib, SaysWhatIsAsked) {
  EXPECT_EQ(to_smtlib(pair_with(3)),
            "(set-logic ALL)\n"
            "(declare-const |x| Int)\n"
            "(assert (<= 0 |x| 9))\n"
            "(declare-const |y| Int)\n"
            "(assert (<= 0 |y| 9))\n"
            "(define-fun t3 () Int (* 10 |x|))\n"
            "(define-fun t5 () Int (+ t3 |y|))\n"
            "(define-fun t6 () Bool (= t5 3))\n"
            "(assert t6)\n"
            "(check-sat)\n"
            "(get-model)\n");
}

// Random terms over two variables of a sort: every function of that sort is drawn.
class RandomFormula {
 public:
  RandomFormula(Formula& f, Sort sort) : f_(f), sort_(sort) {}

  Term make(int depth) {
    if (depth == 0 || one_in(5)) return leaf();
    const Fn fn = *rc::gen::elementOf(functions());
    const Term a = make(depth - 1);
    const Term b = make(depth - 1);
    if (fn == Fn::Ite) {
      const Term c = truth(depth - 1);
      return f_.ite(c, a, b);
    }
    if (is_unary(fn)) return f_.make(fn, {a});
    if (fn != Fn::FloatFma) return f_.make(fn, {a, b});
    const Term c = make(depth - 1);
    return f_.make(fn, {a, b, c});
  }

  Term truth(int depth) {
    const Term a = make(depth);
    const Term b = make(depth);
    switch (*rc::gen::inRange(0, 4)) {
      case 0: return f_.equal(a, b);
      case 1: return f_.no(less(b, a));
      default: return less(a, b);
    }
  }

 private:
  static bool one_in(int n) { return *rc::gen::inRange(0, n) == 0; }

  Term less(Term a, Term b) {
    if (sort_.kind == Sort::Kind::Bits) return f_.make(one_in(2) ? Fn::Ult : Fn::Slt, {a, b});
    if (sort_.kind == Sort::Kind::Float) {
      return f_.make(one_in(2) ? Fn::FloatLt : Fn::FloatLe, {a, b});
    }
    return one_in(2) ? f_.lt(a, b) : f_.le(a, b);
  }

  Term leaf() {
    if (one_in(3)) {
      const int n = *rc::gen::inRange(sort_ == kInt ? -9 : 0, sort_ == kInt ? 10 : 256);
      return f_.number(sort_, n);
    }
    const char* name = one_in(2) ? "x" : "y";
    return sort_ == kInt ? f_.bounded(name, -20, 20) : f_.variable(name, sort_);
  }

  static bool is_unary(Fn fn) {
    switch (fn) {
      case Fn::Neg:
      case Fn::BitNeg:
      case Fn::BitNot:
      case Fn::FloatNeg:
      case Fn::FloatAbs:
      case Fn::FloatSqrt:
      case Fn::Round:
      case Fn::Floor:
      case Fn::Ceil:
      case Fn::Trunc: return true;
      default: return false;
    }
  }

  std::vector<Fn> functions() const {
    if (sort_ == kInt) {
      return {Fn::Add, Fn::Sub, Fn::Neg, Fn::Mul, Fn::Div, Fn::Mod, Fn::Ite};
    }
    if (sort_.kind == Sort::Kind::Bits) {
      return {Fn::BitAdd, Fn::BitSub, Fn::BitMul, Fn::BitNeg, Fn::BitAnd, Fn::BitOr,
              Fn::BitXor, Fn::BitNot, Fn::Shl,    Fn::Lshr,   Fn::Ashr,   Fn::Udiv,
              Fn::Urem,   Fn::Sdiv,   Fn::Srem,   Fn::Ite};
    }
    return {Fn::FloatAdd, Fn::FloatSub, Fn::FloatMul,  Fn::FloatDiv, Fn::FloatNeg, Fn::FloatAbs,
            Fn::Round,    Fn::Floor,    Fn::FloatSqrt, Fn::Ceil,     Fn::Trunc,    Fn::Ite};
  }

  Formula& f_;
  Sort sort_;
};

// Both solvers and the enumeration give one answer to each question: three readings of what the
// functions mean, of which two share nothing.
void all_agree(Sort sort, int depth) {
  Formula f;
  RandomFormula random(f, sort);
  f.require(random.truth(depth));
  f.require(random.truth(depth - 1));
  static SolverChild child;
  const Canonical form = canonical(f);
  if (!count_points(form.formula, 1 << 17)) return;
  const Enumerated all = enumerate(form.formula);
  if (!all.is_known) return;
  for (const SolverName solver : {SolverName::Z3, SolverName::Cvc5}) {
    const Solved solved = child.ask(solver, form.bytes, 3'000'000, 5000);
    if (solved.answer == Satisfiable::Unknown) continue;
    RC_TAG(std::string(to_text(solver)));
    RC_LOG() << to_text(solver) << "\n" << to_smtlib(f);
    RC_ASSERT((solved.answer == Satisfiable::Yes) == all.is_satisfiable);
    if (all.is_satisfiable) {
      RC_ASSERT(Evaluation(form.formula).holds(solved.model) == std::optional(true));
    }
  }
}

RC_GTEST_PROP(Agreement, OfIntegers, ()) { all_agree(kInt, 3); }
RC_GTEST_PROP(Agreement, OfBits, ()) { all_agree(bits_sort(8), 3); }
RC_GTEST_PROP(Agreement, OfFloats, ()) { all_agree(float_sort(DType::E5M2), 2); }

}  // namespace
}  // namespace assay::smt
