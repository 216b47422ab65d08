// The rules of the decompositions, each by itself, and what of them is an error.
#include "engine/codegen/decompose.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "engine/codegen/lowered_term.h"
#include "engine/uop/prefix.h"
#include "engine/uop/rule_check.h"
#include "engine/uop/text.h"
#include "engine/uop/verify.h"

namespace assay::codegen {
namespace {

using uop::Graph;
using uop::Op;
using uop::Ref;
using uop::Rule;
using uop::RuleSet;

struct Row {
  const RuleSet* set;
  const Rule* rule;
};

std::vector<Row> rows() {
  std::vector<Row> all;
  for (const RuleSet* set : decompose_rules()) {
    for (const Rule& rule : set->rules()) all.push_back({set, &rule});
  }
  return all;
}

std::string name_of(const testing::TestParamInfo<Row>& info) {
  return std::string(info.param.set->name()) + "_" + std::string(info.param.rule->name);
}

std::filesystem::path folder() { return ASSAY_SOURCE_DIR "/corpus/rules"; }

class EveryDecomposition : public testing::TestWithParam<Row> {};

TEST_P(EveryDecomposition, IsSoundWhereATermSaysIt) {
  const auto [set, rule] = GetParam();
  for (int i = 0; rule->by == nullptr && i < uop::kDTypeCount; i++) {
    if (!rule->over.has(uop::DType(i))) continue;
    const uop::RuleVerdict verdict = uop::check_rule(*set, *rule, uop::DType(i), 1);
    EXPECT_EQ(verdict.counterexample.value_or("sound"), "sound");
    EXPECT_GT(verdict.points, 0U);
  }
}

TEST_P(EveryDecomposition, FiresOnItsWitness) {
  const auto [set, rule] = GetParam();
  std::ifstream file(folder() / (full_name(*set, *rule) + ".uop"));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  Graph g;
  const Result<uop::Parsed> parsed = uop::from_text(g, text);
  ASSERT_TRUE(parsed.ok()) << to_string(parsed.error());
  const Ref root = parsed.value().root;
  uop::Run run(g);
  const RuleSet* sets[] = {set};
  const Ref after = run.rewrite(sets, root).value();
  EXPECT_NE(after, root);
  EXPECT_EQ(uop::verify(g, after), std::nullopt);
  const std::string head = text.substr(0, text.find('\n'));
  if (head.find("=>") == std::string::npos) return;
  EXPECT_EQ(head,
            "# " + uop::to_prefix(g, root).value() + " => " + uop::to_prefix(g, after).value());
}

INSTANTIATE_TEST_SUITE_P(Codegen, EveryDecomposition, testing::ValuesIn(rows()), name_of);

TEST(Decompose, HasAWitnessForEachRuleAndNoOther) {
  std::set<std::string> rules;
  std::set<std::string> names;
  for (const Row& row : rows()) {
    rules.insert(full_name(*row.set, *row.rule) + ".uop");
    names.insert(std::string(row.set->name()));
  }
  std::set<std::string> files;
  for (const auto& file : std::filesystem::directory_iterator(folder())) {
    const std::string name = file.path().filename().string();
    if (names.contains(name.substr(0, name.find('.')))) files.insert(name);
  }
  EXPECT_EQ(files, rules);
}

TEST(Decompose, NamesAFunctionThatTheTargetLacks) {
  uop::Target target = uop::generic_target();
  target.name = "bare";
  std::erase_if(target.math.limits, [](const uop::UlpLimit& row) { return row.op == Op::Fma; });
  Graph g;
  const Ref x = g.variable("x", uop::F32);
  const Result<Ref> after = lowered(g, g.alu(Op::Exp, {x}), target);
  ASSERT_FALSE(after.ok());
  EXPECT_EQ(after.error().message, "fma at f32: target bare has no such function");
}

TEST(Decompose, KeepsFunctionsThatTheTargetWantsNative) {
  uop::Target target = uop::generic_target();
  target.math.native = {Op::Exp, Op::Max};
  Graph g;
  const Ref x = g.variable("x", uop::F32);
  const Ref exp = g.alu(Op::Exp, {x});
  EXPECT_EQ(lowered(g, exp, target).value(), exp);
  const Ref max = g.alu(Op::Max, {exp, x});
  EXPECT_EQ(lowered(g, max, target).value(), max);
  EXPECT_NE(lowered(g, g.alu(Op::Log, {x}), target).value()->op, Op::Log);
}

// A limit that is past what is promised is no reason to keep a function.
TEST(Decompose, DoesWithoutNativeFunctionsThatAreTooRough) {
  uop::Target target = uop::generic_target();
  target.math.native = {Op::Sin, Op::Tan};
  Graph g;
  const Ref x = g.variable("x", uop::F32);
  const Ref sin = g.alu(Op::Sin, {x});
  EXPECT_EQ(lowered(g, sin, target).value(), sin);
  EXPECT_NE(lowered(g, g.alu(Op::Tan, {x}), target).value()->op, Op::Tan);
}

TEST(Decompose, HasPassesThatSuitOneAnother) {
  const auto passes = decompose_passes();
  for (size_t i = 0; i + 1 < passes.size(); i++) {
    EXPECT_TRUE(uop::implies(passes[i]->yields, passes[i + 1]->accepts)) << passes[i]->name;
  }
}

}  // namespace
}  // namespace assay::codegen
