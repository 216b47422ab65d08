// What is added to a question of products, and what it is replaced by, loses no answer.
#include "oracles/smt/products.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "oracles/smt/evaluate.h"
#include "oracles/smt/linear.h"
#include "oracles/smt/prover.h"

namespace assay::smt {
namespace {

const char* const kNames[] = {"x", "c", "k", "y"};

// A point, and a term of products and quotients of its coordinates.
struct Drawn {
  Formula f;
  std::vector<Number> point;
};

Term draw_term(Formula& f, int depth) {
  const int kind = *rc::gen::inRange(0, depth == 0 ? 2 : 7);
  if (kind == 0) return f.variable(kNames[*rc::gen::inRange(0, 4)], kInt);
  if (kind == 1) return f.integer(*rc::gen::inRange(-4, 5));
  static constexpr Fn kFns[] = {Fn::Mul, Fn::Div, Fn::Mod, Fn::Div, Fn::Mod};
  const Term a = draw_term(f, depth - 1);
  const Term b = draw_term(f, depth - 1);
  return f.make(kind == 6 ? Fn::Add : kFns[*rc::gen::inRange(0, 5)], {a, b});
}

// All that is required holds at the point: terms lie below a bound that none of them reaches.
Drawn draw() {
  Drawn drawn;
  Formula& f = drawn.f;
  for (const char* name : kNames) {
    f.variable(name, kInt);
    drawn.point.push_back({*rc::gen::inRange(-12, 13)});
  }
  const Term bound = f.variable("bound", kInt);
  drawn.point.push_back({Int128{1} << 100});
  const Term product = f.mul(f.variable("c", kInt), f.variable("k", kInt));
  f.require(f.lt(f.make(Fn::Mod, {draw_term(f, 1), product}), bound));
  f.require(f.lt(draw_term(f, 2), bound));
  return drawn;
}

RC_GTEST_PROP(Products, AddOnlyWhatAlwaysHolds, ()) {
  const Drawn drawn = draw();
  RC_PRE(Evaluation(drawn.f).holds(drawn.point).value_or(false));
  Formula with = drawn.f;
  RC_ASSERT(add_products(with, Lemmas::Order));
  RC_ASSERT(with.required().size() > drawn.f.required().size());
  RC_ASSERT(Evaluation(with).holds(drawn.point).value_or(true));
}

RC_GTEST_PROP(Products, StaySatisfiableWhenTheyAreNumbersOfTheirOwn, ()) {
  static Prover prover;
  Drawn drawn = draw();
  RC_PRE(Evaluation(drawn.f).holds(drawn.point).value_or(false));
  for (size_t i = 0; i < drawn.point.size(); i++) {
    const Term at = drawn.f.integer(drawn.point[i].n);
    drawn.f.require(drawn.f.equal(drawn.f.variables()[i].term, at));
  }
  const auto linear = linearized(drawn.f);
  RC_ASSERT(linear.has_value());
  RC_ASSERT(prover.decide(*linear, "linear").answer == Satisfiable::Yes);
}

// Each is a question that nothing satisfies.
using Ask = void (*)(Formula&);
struct Question {
  const char* name;
  Ask ask;
};

Term div(Formula& f, Term a, Term b) { return f.make(Fn::Div, {a, b}); }
Term mod(Formula& f, Term a, Term b) { return f.make(Fn::Mod, {a, b}); }

void require_different(Formula& f, Term a, Term b) { f.require(f.no(f.equal(a, b))); }

struct Variables {
  Term x, y, c, d, m;
};

Variables variables_of(Formula& f) {
  return {f.variable("x", kInt), f.variable("y", kInt), f.variable("c", kInt),
          f.variable("d", kInt), f.variable("m", kInt)};
}

const Question kQuestions[] = {
    {"quotient_of_quotient",
     [](Formula& f) {
       const auto [x, y, c, d, m] = variables_of(f);
       f.require(f.lt(f.integer(0), d));
       f.require(f.no(f.equal(c, f.integer(0))));
       require_different(f, div(f, div(f, x, c), d), div(f, x, f.mul(c, d)));
     }},
    {"quotient_of_remainder",
     [](Formula& f) {
       const auto [x, y, c, d, m] = variables_of(f);
       f.require(f.lt(f.integer(0), c));
       f.require(f.lt(f.integer(0), m));
       f.require(f.equal(mod(f, m, c), f.integer(0)));
       const Term inner = mod(f, div(f, x, c), div(f, m, c));
       require_different(f, div(f, mod(f, x, m), c), inner);
     }},
    {"remainder_of_remainder",
     [](Formula& f) {
       const auto [x, y, c, d, m] = variables_of(f);
       f.require(f.no(f.equal(c, f.integer(0))));
       f.require(f.equal(mod(f, m, c), f.integer(0)));
       require_different(f, mod(f, mod(f, x, m), c), mod(f, x, c));
     }},
    {"quotient_of_quotient_and_more",
     [](Formula& f) {
       const auto [x, y, c, d, m] = variables_of(f);
       f.require(f.lt(f.integer(1), d));
       f.require(f.no(f.equal(c, f.integer(0))));
       const Term shifted = f.add(x, f.mul(m, c));
       require_different(f, div(f, f.add(div(f, x, c), m), d), div(f, shifted, f.mul(c, d)));
     }},
    {"remainder_of_remainders",
     [](Formula& f) {
       const auto [x, y, c, d, m] = variables_of(f);
       f.require(f.no(f.equal(m, f.integer(0))));
       const Term parts = f.add(mod(f, x, m), mod(f, y, m));
       require_different(f, mod(f, f.add(x, y), m), mod(f, parts, m));
     }},
    {"remainder_of_multiple",
     [](Formula& f) {
       const auto [x, y, c, d, m] = variables_of(f);
       f.require(f.no(f.equal(d, f.integer(0))));
       f.require(f.equal(mod(f, c, d), f.integer(0)));
       require_different(f, mod(f, f.mul(x, c), d), f.integer(0));
     }},
};

class EveryQuestion : public testing::TestWithParam<Question> {};

TEST_P(EveryQuestion, IsDecidedByLinearArithmetic) {
  Formula f;
  GetParam().ask(f);
  ASSERT_TRUE(add_products(f, Lemmas::Equations));
  const auto linear = linearized(f);
  ASSERT_TRUE(linear.has_value());
  Prover prover;
  EXPECT_EQ(prover.decide(*linear, "linear").answer, Satisfiable::No);
}

INSTANTIATE_TEST_SUITE_P(Products, EveryQuestion, testing::ValuesIn(kQuestions),
                         [](const auto& c) { return std::string(c.param.name); });

}  // namespace
}  // namespace assay::smt
