#include "props/rules/rule_text.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::props {
namespace {

struct Read {
  const char* text;
  const char* rule;  // match, replacement, guard, in the text of `assay rules`
};

class EveryRuleText : public testing::TestWithParam<Read> {};

TEST_P(EveryRuleText, IsReadAndWritten) {
  const auto parsed = parse_rule(GetParam().text);
  ASSERT_TRUE(parsed.ok()) << to_string(parsed.error());
  const uop::Rule& rule = parsed.value()->rule;
  const auto text = [](const uop::Rule& r) {
    return uop::to_text(r.match) + " => " + uop::to_text(r.replace) +
           (r.when.empty() ? "" : " when " + uop::to_text(r.when));
  };
  EXPECT_EQ(text(rule), GetParam().rule);
  std::string again =
      to_infix(rule.match) + " => " + to_infix(rule.replace) + " : " + uop::to_text(rule.over);
  if (!rule.when.empty()) again += " when " + to_infix(rule.when);
  const auto second = parse_rule(again);
  ASSERT_TRUE(second.ok()) << again << ": " << to_string(second.error());
  if (rule.when.empty()) return;  // #c is written as c, which is a constant by the guard alone
  EXPECT_EQ(text(second.value()->rule), GetParam().rule) << again;
}

const Read kReads[] = {
    {"(x % y) % y => x % y : ints when y != 0", "(% (% x #y) #y) => (% x #y) when (!= #y 0)"},
    {"(x / c) / d => x / (c * d) : index when c > 0 && d > 0",
     "(// (// x #c) #d) => (// x (* #c #d)) when (and (< 0 #c) (< 0 #d))"},
    {"x + y * z - 1 => x : index", "(- (+ x (* y z)) 1) => x"},
    {"x << 2 | y & 3 => x : i32", "(or (<< x 2) (and y 3)) => x"},
    {"a - b - c => a : i8, u8", "(- (- a b) c) => a"},
    {"-x => x * -1 : ints", "(neg x) => (* x -1)"},
    {"!(x < y) => y <= x : bool", "(not (< x y)) => (not (< x y))"},
    {"x tdiv #c => x / #c : ints when lo(x) >= 0 && c > 0",
     "(tdiv x #c) => (// x #c) when (and (not (< (lo x) 0)) (< 0 #c))"},
    {"where(p, x, unread(y)) => x : scalars", "(where p x y) => x"},
    {"cast(p, i32) == 1 => p : ints", "(== (cast:i32 p) 1) => p"},
    {"max(x, c) => x : floats when lowest(c)", "(max x #c) => x when (lowest #c)"},
    {"x / y => x * recip(y) : f32", "(/ x y) => (* x (recip y))"},
    {"x % c => x : index when -c < lo(x) && hi(x) < c",
     "(% x #c) => x when (and (< (- 0 #c) (lo x)) (< (hi x) #c))"},
};

INSTANTIATE_TEST_SUITE_P(RuleText, EveryRuleText, testing::ValuesIn(kReads));

struct Misread {
  const char* text;
  const char* error;
};

class EveryRuleError : public testing::TestWithParam<Misread> {};

TEST_P(EveryRuleError, NamesItsPlace) {
  const auto parsed = parse_rule(GetParam().text);
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(to_string(parsed.error()), GetParam().error);
}

const Misread kMisreads[] = {
    {"", "1:1: expected an operand"},
    {"x + ", "1:5: expected an operand"},
    {"x + 1", "1:6: expected =>"},
    {"x => x : index", "1:1: the match is no operation"},
    {"x + 1 => y : index", "1:10: y does not occur in the match"},
    {"x + 1 => x", "1:11: expected :"},
    {"x + 1 => x : whole", "1:14: 'whole' is no type"},
    {"x + 1 => x : ", "1:14: expected a type"},
    {"x + 1 => x : index when lo(y) > 0", "1:25: y does not occur in the match"},
    {"x + c => x : index when c << 1 == 0", "1:27: a guard has no <<"},
    {"frob(x) => x : index", "1:1: 'frob' is no function"},
    {"min(x) => x : index", "1:1: min takes 2 operands, not 1"},
    {"(x + 1 => x : index", "1:8: expected )"},
    {"x + 1x => x : index", "1:5: '1x' is no whole number"},
    {"x + 99999999999999999999 => x : index", "1:5: '99999999999999999999' is no whole number"},
    {"x + lo(1) => x : index", "1:5: lo is of one hole"},
    {"x + lowest(x) => x : index", "1:5: lowest is a test of one hole in a guard"},
};

INSTANTIATE_TEST_SUITE_P(RuleText, EveryRuleError, testing::ValuesIn(kMisreads));

TEST(RuleText, RefusesWhatIsTooDeep) {
  const std::string text(100'000, '(');
  EXPECT_FALSE(parse_rule(text).ok());
}

TEST(RuleText, RefusesTooManyHoles) {
  EXPECT_FALSE(parse_rule("a + b + c + d + e + f + g + h + i => a : index").ok());
}

}  // namespace
}  // namespace assay::props
