#include "engine/uop/prefix.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

#include "engine/uop/walk.h"

namespace assay::uop {
namespace {

class Prefix : public testing::Test {
 protected:
  Prefix() {
    for (int i = 0; i < 4; i++) {
      r[i] = g.make(Op::Range, Index, {g.constant(Index, 8)}, Arg::axis(i, AxisType::Loop));
      leaves["r" + std::to_string(i)] = r[i];
    }
    leaves["i"] = i32;
    leaves["x"] = x;
    leaves["b"] = flag;
  }

  // The node of a text, or null where there is trouble.
  Ref read(std::string_view text, DType literals = Index) {
    const auto found = from_prefix(g, text, leaves, literals);
    return found.ok() ? found.value() : nullptr;
  }
  std::string trouble_of(std::string_view text, DType literals = Index) {
    const auto found = from_prefix(g, text, leaves, literals);
    return found.ok() ? "" : to_string(found.error());
  }
  std::string printed(Ref u) {
    const auto text = to_prefix(g, u);
    return text.ok() ? text.value() : to_string(text.error());
  }
  Ref n(int64_t value) { return g.constant(Index, value); }

  Graph g;
  Ref r[4];
  Ref i32 = g.variable("i", I32);
  Ref x = g.variable("x", F32);
  Ref flag = g.variable("b", Bool);
  Leaves leaves;
};

TEST_F(Prefix, ReadsAnIndexExpression) {
  const Ref quotient = g.alu(Op::Div, {r[0], n(4)});
  const Ref scaled = g.alu(Op::Mul, {quotient, n(4)});
  const Ref rest = g.alu(Op::Mod, {r[0], n(4)});
  const Ref sum = g.alu(Op::Add, {scaled, rest});
  const std::string text = "(+ (* (// r0 4) 4) (% r0 4))";
  EXPECT_EQ(read(text), sum);
  EXPECT_EQ(printed(sum), text);
  EXPECT_EQ(read(" ( add\n(mul (div r0 4)4 )\t(mod r0 4))\r\n"), sum);
}

TEST_F(Prefix, ReadsLiterals) {
  EXPECT_EQ(read("-9223372036854775808"), n(INT64_MIN));
  EXPECT_EQ(read("true"), g.constant(of_bool(true)));
  EXPECT_EQ(read("false"), g.constant(of_bool(false)));
  EXPECT_EQ(read("invalid"), g.make(Op::Invalid, Index, {}));
  EXPECT_EQ(read("invalid", U8), g.make(Op::Invalid, U8, {}));
  EXPECT_EQ(read("255", U8), g.constant(U8, 255));
  EXPECT_EQ(read("-0.0", F16), g.constant(Value{F16, 0x8000}));
  EXPECT_EQ(read("true", Bool), g.constant(of_bool(true)));
}

TEST_F(Prefix, ReadsEveryScalarOperationUnderBothNames) {
  leaves["u"] = g.variable("u", U64);
  for (const OpInfo& row : detail::kOps) {
    if (!is_scalar(row.op)) continue;
    const std::string word = row.over.has(F32) ? "x" : row.over.has(I32) ? "i" : "u";
    const Ref leaf = leaves.at(word);
    std::string operands;
    for (int i = 0; i < row.max_sources; i++) operands += " " + word;
    std::vector<Ref> src(static_cast<size_t>(row.max_sources), leaf);
    DType t = row.typing == Typing::Compare ? Bool : leaf->dtype;
    if (row.typing == Typing::Select) {
      operands.replace(1, word.size(), "b");
      src[0] = flag;
    }
    if (row.typing == Typing::Convert) {
      operands.insert(0, " i32");
      t = I32;
    }
    const Ref expected = g.make(row.op, t, src);
    const std::string by_symbol = "(" + std::string(row.symbol) + operands + ")";
    EXPECT_EQ(read(by_symbol), expected) << by_symbol;
    EXPECT_EQ(read("(" + std::string(row.text) + operands + ")"), expected) << row.text;
    EXPECT_EQ(printed(expected), by_symbol);
  }
}

TEST_F(Prefix, ReadsOtherComparisonsByLt) {
  const Ref below = g.alu(Op::Lt, {r[0], r[1]});
  const Ref above = g.alu(Op::Lt, {r[1], r[0]});
  EXPECT_EQ(read("(< r0 r1)"), below);
  EXPECT_EQ(read("(> r0 r1)"), above);
  EXPECT_EQ(read("(>= r0 r1)"), g.alu(Op::Not, {below}));
  EXPECT_EQ(read("(<= r0 r1)"), g.alu(Op::Not, {above}));
  EXPECT_EQ(printed(read("(>= r0 r1)")), "(not (< r0 r1))");
}

TEST_F(Prefix, FoldsManyOperandsFromTheLeft) {
  const Ref two = g.alu(Op::Add, {r[0], r[1]});
  const Ref three = g.alu(Op::Add, {two, n(5)});
  EXPECT_EQ(read("(+ r0 r1 5)"), three);
  EXPECT_EQ(read("(+ r0 r1 5 r3)"), g.alu(Op::Add, {three, r[3]}));
  EXPECT_EQ(printed(three), "(+ (+ r0 r1) 5)");
  EXPECT_EQ(trouble_of("(- r0 r1 5)"), "1:2: sub takes 2 sources, found 3");
  EXPECT_EQ(trouble_of("(< r0 r1 r2)"), "1:2: lt takes 2 sources, found 3");
}

TEST_F(Prefix, RefusesToDivideByZero) {
  EXPECT_EQ(trouble_of("(// r0 0)"), "1:8: division by zero");
  EXPECT_EQ(trouble_of("(+ 1\n  (% r0 -0))"), "2:9: division by zero");
  EXPECT_EQ(trouble_of("(tdiv r0 0)"), "1:10: division by zero");
  EXPECT_EQ(trouble_of("(tmod (// 0 3) 0)"), "1:16: division by zero");
  EXPECT_NE(read("(// 0 r0)"), nullptr);
  EXPECT_NE(read("(* r0 0)"), nullptr);
  EXPECT_NE(read("(/ x 0.0)", F32), nullptr);
}

TEST_F(Prefix, NamesTheTroubleAndItsPlace) {
  struct Bad {
    std::string_view text;
    std::string_view trouble;
  };
  constexpr Bad kBad[] = {
      {"", "1:1: expected a term, found the end of the text"},
      {"  \n ", "2:2: expected a term, found the end of the text"},
      {")", "1:1: expected a term, found ')'"},
      {"(", "1:2: expected an operation, found the end of the text"},
      {"()", "1:2: expected an operation, found ')'"},
      {"((", "1:2: expected an operation, found '('"},
      {"(+ r0", "1:6: expected an operand or ')', found the end of the text"},
      {"r0 r1", "1:4: expected the end of the text, found 'r1'"},
      {"(+ r0 r1))", "1:10: expected the end of the text, found ')'"},
      {"(foo r0)", "1:2: unknown operation 'foo'"},
      {"(load r0)", "1:2: unknown operation 'load'"},
      {"(+ r0 r9)", "1:7: unknown name 'r9'"},
      {"(+ r0\n\n  -)", "3:3: unknown name '-'"},
      {"(+ r0 9x)", "1:7: expected a value of type index, found '9x'"},
      {"9223372036854775808", "1:1: expected a value of type index, found '9223372036854775808'"},
      {"(cast f33 r0)", "1:7: expected a type, found 'f33'"},
      {"(cast)", "1:6: expected a type, found ')'"},
      {"(cast i32 r0 r1)", "1:2: cast takes 1 source, found 2"},
      {"(cast void r0)", "1:2: cast does not work on void"},
      {"(bitcast i32 r0)", "1:2: bitcast from index to i32: index has no layout"},
      {"(+)", "1:2: add takes 2 sources, found 0"},
      {"(+ r0)", "1:2: add takes 2 sources, found 1"},
      {"(>= r0)", "1:2: lt takes 2 sources, found 1"},
      {"(< )", "1:2: lt takes 2 sources, found 0"},
      {"(+ r0 r1 i)", "1:2: source 1 of add has type index, expected i32"},
      {"(+ r0 (* r1 i))", "1:8: source 1 of mul has type index, expected i32"},
      {"(and r0 x)", "1:2: and does not work on f32"},
      {"(not true false)", "1:2: not takes 1 source, found 2"},
      {"(where r0 r1 r2)", "1:2: source 1 of where has type index, expected bool"},
  };
  for (const Bad& bad : kBad) EXPECT_EQ(trouble_of(bad.text), bad.trouble) << bad.text;
}

TEST_F(Prefix, PrintsLeaves) {
  EXPECT_EQ(printed(g.make(Op::Special, I32, {i32}, g.name("gid0"))), "gid0");
  EXPECT_EQ(printed(g.make(Op::Invalid, F32, {})), "invalid");
  EXPECT_EQ(printed(g.constant(of_double(F32, -0.5))), "-0.5");
  EXPECT_EQ(printed(g.make(Op::Param, F32, {}, Arg::number(0))), "param has no prefix text");
  EXPECT_EQ(printed(g.variable("a b", F32)), "the name 'a b' of var is no word");
  EXPECT_EQ(printed(g.variable("", F32)), "the name '' of var is no word");
  const Ref special = g.make(Op::Special, I32, {i32}, g.name("f(1)"));
  EXPECT_EQ(printed(g.alu(Op::Neg, {special})), "the name 'f(1)' of special is no word");
}

TEST_F(Prefix, RefusesToPrintWhatExplodes) {
  Ref u = r[0];
  for (int i = 0; i < 18; i++) u = g.alu(Op::Add, {u, u});
  // Five bytes for each of 2^18 - 1 additions and two for each leaf.
  EXPECT_EQ(printed(u).size(), ((size_t{1} << 18) - 1) * 5 + (size_t{1} << 18) * 2);
  for (int i = 0; i < 100; i++) u = g.alu(Op::Add, {u, u});
  EXPECT_EQ(printed(u), "the prefix text has more than 1000000 terms");
}

TEST_F(Prefix, PrintsAsManyTermsAsItMay) {
  Ref u = flag;
  for (size_t i = 1; i < kMaxPrefixNodes; i++) u = g.alu(Op::Not, {u});
  const std::string text = printed(u);
  ASSERT_EQ(text.size(), (kMaxPrefixNodes - 1) * 6 + 1);  // "(not " and ")" a node
  EXPECT_EQ(read(text), u);
  EXPECT_EQ(printed(g.alu(Op::Not, {u})), "the prefix text has more than 1000000 terms");
}

TEST_F(Prefix, RefusesAMillionParenthesesThatStayOpen) {
  constexpr int kDeep = 1'000'000;
  std::string text;
  for (int i = 0; i < kDeep; i++) text += "(neg ";
  EXPECT_EQ(trouble_of(text), "1:5000001: expected an operand or ')', found the end of the text");
  EXPECT_EQ(trouble_of(std::string(kDeep, '(')), "1:2: expected an operation, found '('");
  EXPECT_EQ(trouble_of(std::string(kDeep, ')')), "1:1: expected a term, found ')'");
}

TEST_F(Prefix, ReadsAMillionOperands) {
  std::string text = "(+";
  for (int i = 0; i < 1'000'000; i++) text += " 1";
  const Ref u = read(text + ")");
  ASSERT_NE(u, nullptr);
  EXPECT_EQ(count_ops(g, u), 999'999U);
}

TEST_F(Prefix, CountsEachOperationOnce) {
  EXPECT_EQ(count_ops(g, r[0]), 0U);
  EXPECT_EQ(count_ops(g, read("(+ (* (// r0 4) 4) (% r0 4))")), 4U);
  EXPECT_EQ(count_ops(g, read("(+ (// r0 4) (* (// r0 4) (// r0 4)))")), 3U);
  // The first gate of a line of index_expressions.jsonl, whose valid_ops are 4.
  EXPECT_EQ(count_ops(g, read("(and (>= r0 2) (< r0 3))")), 4U);
}

TEST_F(Prefix, KeepsRandomTerms) {
  EXPECT_TRUE(rc::check([this] {
    const std::vector<Op> ops = {Op::Add, Op::Sub, Op::Mul, Op::Div,
                                 Op::Mod, Op::Max, Op::Shl, Op::Pow};
    std::vector<Ref> terms(std::begin(r), std::end(r));
    for (int i = 0; i < 20; i++) {
      const auto pick = [&] { return terms[*rc::gen::inRange<size_t>(0, terms.size())]; };
      const Ref a = pick();
      const bool is_constant = *rc::gen::arbitrary<bool>();
      const Ref b = is_constant ? n(*rc::gen::inRange<int64_t>(1, INT64_MAX)) : pick();
      const Ref below = g.alu(Op::Lt, {a, b});
      const bool is_select = *rc::gen::inRange(0, 4) == 0;
      terms.push_back(is_select ? g.alu(Op::Where, {below, b, a})
                                : g.alu(*rc::gen::elementOf(ops), {a, b}));
    }
    const auto text = to_prefix(g, terms.back());
    RC_PRE(text.ok());
    RC_ASSERT(read(text.value()) == terms.back());
  }));
}

}  // namespace
}  // namespace assay::uop
