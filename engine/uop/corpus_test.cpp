// corpus/rules holds a witness for every rule: a graph on which the rule fires when its set is run
// alone. The first line of a witness says what becomes of it, as in
//   # (+ x 0) => x
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/uop/elements.h"
#include "engine/uop/eval.h"
#include "engine/uop/prefix.h"
#include "engine/uop/rewrite.h"
#include "engine/uop/rules/rules.h"
#include "engine/uop/text.h"
#include "engine/uop/verify.h"
#include "engine/uop/walk.h"

namespace assay::uop {
namespace {

std::filesystem::path folder() { return ASSAY_SOURCE_DIR "/corpus/rules"; }

// Names of the rules of one set that fire. A rule may rewrite by other sets within its own firing.
class Fired : public Watch {
 public:
  explicit Fired(const RuleSet& set) : set_(set) {}
  using Watch::seen;
  void seen(const RuleSeen& seen) override {
    if (&seen.set == &set_) names.insert(full_name(seen.set, seen.rule));
  }
  std::set<std::string> names;

 private:
  const RuleSet& set_;
};

struct Witness {
  const RuleSet* set;
  std::string rule;  // full name
};

std::vector<Witness> witnesses() {
  std::vector<Witness> all;
  for (const RuleSet* set : all_rules()) {
    for (const Rule& rule : set->rules()) all.push_back({set, full_name(*set, rule)});
  }
  return all;
}

std::string text_of(const std::string& rule) {
  std::ifstream file(folder() / (rule + ".uop"));
  return {std::istreambuf_iterator<char>(file), {}};
}

// The values of a leaf: all of an integer's, and of a float's those that rules tell apart.
std::vector<Value> values_of(Ref leaf) {
  std::vector<Value> values;
  if (is_float(leaf->dtype)) {
    for (const double x : {0.0, -0.0, 1.0, -1.0, 0.1, 3.0, -1e30, HUGE_VAL, -HUGE_VAL}) {
      values.push_back(of_double(leaf->dtype, x));
    }
    values.push_back(nan_of(leaf->dtype));
    return values;
  }
  if (leaf->dtype == Bool) return {of_bool(false), of_bool(true)};
  const auto ends = leaf->arg.numbers();
  for (size_t i = 0; i < ends.size() / 2; i++) {
    for (int64_t x = ends[0]; x <= ends[1]; x++) values.push_back(of_int(leaf->dtype, x));
  }
  return values;
}

// Whether `after` may stand where `before` did: equal where it is defined, and invalid alike. Every
// NaN is one value.
bool may_replace(Cell before, Cell after) {
  if (before.state == Cell::State::Unspecified) return true;
  if (before.state != after.state) return false;
  if (!before.defined() || before.value == after.value) return true;
  return is_nan(before.value) && is_nan(after.value);
}

// The leaves that a or b has.
std::vector<Ref> leaves_of(const Evaluator& a, const Evaluator& b) {
  std::vector<Ref> leaves = a.leaves();
  for (const Ref leaf : b.leaves()) {
    if (std::find(leaves.begin(), leaves.end(), leaf) == leaves.end()) leaves.push_back(leaf);
  }
  return leaves;
}

// Whether that is so at every value of their leaves, of which there are some but not too many.
bool keeps_meaning(Graph& g, Ref before, Ref after) {
  Evaluator old_term(g, before);
  Evaluator new_term(g, after);
  const std::vector<Ref> leaves = leaves_of(old_term, new_term);
  std::vector<std::vector<Value>> choices;
  size_t points = 1;
  for (const Ref leaf : leaves) {
    choices.push_back(values_of(leaf));
    points *= choices.back().size();
  }
  if (points == 0 || points > 100000) return false;
  for (size_t p = 0; p < points; p++) {
    std::map<Ref, Value> at;
    size_t rest = p;
    for (size_t i = 0; i < leaves.size(); i++) {
      at[leaves[i]] = choices[i][rest % choices[i].size()];
      rest /= choices[i].size();
    }
    const auto run = [&](Evaluator& term) {
      std::vector<Value> values;
      for (const Ref leaf : term.leaves()) values.push_back(at.at(leaf));
      return term.run(values);
    };
    if (!may_replace(run(old_term), run(new_term))) return false;
  }
  return true;
}

bool is_scalar_term(Graph& g, Ref root) {
  const std::vector<Ref> nodes = toposort(g, root);
  return std::all_of(nodes.begin(), nodes.end(), [](Ref u) {
    return is_scalar(u->op) || OpSet{Op::Const, Op::Variable, Op::Invalid}.has(u->op);
  });
}

struct Outcome {
  Result<Ref> after;
  std::set<std::string> fired;  // the set's own rules
};

Outcome rewritten(Graph& g, const RuleSet* set, Ref root, const Switches& switches) {
  Fired fired(*set);
  Run run(g, switches, &fired);
  Result<Ref> after = run.rewrite({&set, 1}, root);
  return {std::move(after), std::move(fired.names)};
}

class EveryWitness : public testing::TestWithParam<Witness> {};

TEST_P(EveryWitness, MakesItsRuleFire) {
  const auto& [set, rule] = GetParam();
  const std::string text = text_of(rule);
  Graph g;
  const Result<Parsed> parsed = from_text(g, text);
  ASSERT_TRUE(parsed.ok()) << rule << ".uop: " << to_string(parsed.error());
  const Ref root = parsed.value().root;
  EXPECT_EQ(verify(g, root), std::nullopt);

  const auto [after, fired] = rewritten(g, set, root, {});
  ASSERT_TRUE(after.ok()) << to_string(after.error());
  EXPECT_EQ(fired, std::set<std::string>{rule});
  EXPECT_EQ(verify(g, after.value()), std::nullopt);
  if (!is_scalar_term(g, root)) {
    EXPECT_EQ(elements_of(g, root), elements_of(g, after.value())) << text;
    return;
  }
  EXPECT_EQ(text.substr(0, text.find('\n')),
            "# " + to_prefix(g, root).value() + " => " + to_prefix(g, after.value()).value());
  EXPECT_TRUE(keeps_meaning(g, root, after.value())) << text;
}

TEST_P(EveryWitness, StandsWhereItsRuleIsOff) {
  const auto& [set, rule] = GetParam();
  Graph g;
  const Result<Parsed> parsed = from_text(g, text_of(rule));
  ASSERT_TRUE(parsed.ok()) << rule << ".uop: " << to_string(parsed.error());
  Switches switches;
  switches.off = {rule};
  const auto [after, fired] = rewritten(g, set, parsed.value().root, switches);
  EXPECT_TRUE(after.ok());
  EXPECT_FALSE(fired.contains(rule));
}

INSTANTIATE_TEST_SUITE_P(Corpus, EveryWitness, testing::ValuesIn(witnesses()),
                         [](const auto& param) {
                           std::string name = param.param.rule;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

TEST(RuleCorpus, HoldsNothingButWitnessesOfRules) {
  std::set<std::string> rules;
  for (const Witness& w : witnesses()) rules.insert(w.rule + ".uop");
  std::set<std::string> files;
  for (const auto& file : std::filesystem::directory_iterator(folder())) {
    const std::string name = file.path().filename().string();
    // The sets of other folders have witnesses beside ours, and tests of their own.
    if (find_rules(name.substr(0, name.find('.'))) != nullptr) files.insert(name);
  }
  EXPECT_EQ(files, rules);
}

TEST(RuleCorpus, TellsMovementsByWhereElementsComeFrom) {
  Graph g;
  const Ref two = g.constant(Index, 2);
  const Ref three = g.constant(Index, 3);
  const Ref zero = g.constant(Index, 0);
  const Ref one = g.constant(Index, 1);
  const Ref x = g.make(Op::Param, F32, {two, three}, Arg::number(0));
  const int64_t turned[] = {1, 0};
  const int64_t last[] = {1};
  const auto is = [&](Ref u, const Elements& expected) { return elements_of(g, u) == expected; };
  EXPECT_TRUE(is(x, {{2, 3}, {0, 1, 2, 3, 4, 5}}));
  EXPECT_TRUE(is(g.make(Op::Permute, F32, {x}, g.numbers(turned)), {{3, 2}, {0, 3, 1, 4, 2, 5}}));
  EXPECT_TRUE(is(g.make(Op::Flip, F32, {x}, g.numbers(last)), {{2, 3}, {2, 1, 0, 5, 4, 3}}));
  EXPECT_TRUE(is(g.make(Op::Reshape, F32, {x, three, two}), {{3, 2}, {0, 1, 2, 3, 4, 5}}));
  const Ref row = g.make(Op::Shrink, F32, {x, one, one, one, two});
  EXPECT_TRUE(is(row, {{1, 2}, {4, 5}}));
  EXPECT_TRUE(is(g.make(Op::Expand, F32, {row, two, two}), {{2, 2}, {4, 5, 4, 5}}));
  EXPECT_TRUE(
      is(g.make(Op::Pad, F32, {row, zero, one, one, zero}), {{2, 3}, {-1, 4, 5, -1, -1, -1}}));
}

// The judge of witnesses tells what keeps a meaning from what does not.
TEST(RuleCorpus, TellsWrongReplacementsByTheirValues) {
  Graph g;
  const Ref x = g.variable("x", of_int(Index, -3), of_int(Index, 3));
  const Ref two = g.constant(Index, 2);
  const Ref none = g.make(Op::Invalid, Index, {});
  const Ref cut = g.alu(Op::TDiv, {x, two});
  const Ref floor = g.alu(Op::Div, {x, two});
  const Ref over_zero = g.alu(Op::Div, {x, g.constant(Index, 0)});
  EXPECT_TRUE(keeps_meaning(g, floor, floor));
  EXPECT_FALSE(keeps_meaning(g, floor, cut));
  EXPECT_TRUE(keeps_meaning(g, over_zero, two));
  EXPECT_FALSE(keeps_meaning(g, two, over_zero));
  EXPECT_FALSE(keeps_meaning(g, none, two));
  EXPECT_FALSE(keeps_meaning(g, two, none));
}

}  // namespace
}  // namespace assay::uop
