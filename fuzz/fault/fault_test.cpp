// Seeded faults: the table, and for each fault a saved witness on which a judge sees it and blame
// falls on where it was planted.
#include "fuzz/fault/fault.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/codegen/pipeline.h"
#include "engine/runtime/rules.h"
#include "engine/uop/rule.h"
#include "fuzz/blame/triage.h"
#include "fuzz/fault/mutants.h"
#include "fuzz/programs/saved_programs.h"
#include "fuzz/score/score.h"
#include "oracles/workgroup/sim.h"

namespace assay::fuzz {
namespace {

bool is_whole() { return std::getenv("ASSAY_WHOLE") != nullptr; }

std::span<const runtime::DeviceKind* const> sims() {
  static const runtime::DeviceKind* const kKinds[] = {&workgroup::sim_kind()};
  return kKinds;
}

std::set<std::string, std::less<>> places() {
  std::set<std::string, std::less<>> all = {"tensor",       "prepare_stores", "prepare_rangeify",
                                            "run_rangeify", "remove_stages",  "split_store",
                                            "kernel_graph", "schedule",       "linear",
                                            "planned",      "render",         "run"};
  for (const uop::Pass* pass : codegen::pipeline()) all.insert(std::string(pass->name));
  for (const uop::RuleSet* set : runtime::all_rules()) {
    for (const uop::Rule& rule : set->rules()) all.insert(uop::full_name(*set, rule));
  }
  return all;
}

TEST(Faults, HaveNamesOfTheirOwnAndBlameWhatIsThere) {
  const auto known = places();
  std::set<std::string> names;
  for (const Fault& f : stage_faults()) {
    EXPECT_TRUE(names.insert(f.name).second) << f.name;
    EXPECT_TRUE(known.contains(f.blame)) << f.name << ": " << f.blame;
    EXPECT_TRUE(f.does.ends_with(".")) << f.name;
  }
}

TEST(Faults, AreOfEachClass) {
  std::map<FaultClass, int> counts;
  for (const Fault& f : stage_faults()) counts[f.of]++;
  EXPECT_EQ(counts.size(), static_cast<size_t>(kFaultClasses));
  for (const auto& [of, count] : counts) EXPECT_GE(count, 8) << to_text(of);
  EXPECT_GE(stage_faults().size(), 100U);
}

TEST(RuleFaults, AreManyAndMostAreFaults) {
  const std::vector<Fault> faults = rule_faults();
  EXPECT_GE(faults.size(), 350U);
  const size_t stride = is_whole() ? 1 : 16;
  size_t asked = 0;
  size_t refuted = 0;
  for (size_t k = 0; k < faults.size(); k += stride) {
    asked++;
    refuted += is_refutable(faults[k]) ? 1 : 0;
  }
  std::printf("%zu rule mutants, of %zu asked %zu are refuted\n", faults.size(), asked, refuted);
  EXPECT_GE(refuted * 10, asked * 6);
}

const Fault* fault_named(std::string_view name) {
  const auto all = stage_faults();
  const auto at = std::ranges::find(all, name, &Fault::name);
  return at == all.end() ? nullptr : &*at;
}

// Those that need no driver; some of them, or all.
std::vector<std::string> witnesses() {
  std::vector<std::string> all = saved_programs("faults");
  std::erase_if(all, [](const std::string& name) {
    const Fault* f = fault_named(name);
    return f != nullptr && std::holds_alternative<Text>(f->how);
  });
  if (is_whole()) return all;
  std::vector<std::string> some;
  for (size_t k = 0; k < all.size(); k += 4) some.push_back(all[k]);
  return some;
}

class Witness : public testing::TestWithParam<std::string> {};

TEST_P(Witness, ShowsItsFaultAndWhereItIs) {
  const Fault* fault = fault_named(GetParam());
  ASSERT_NE(fault, nullptr);
  const Result<Case> c = case_from_text(saved_text("faults", GetParam()));
  ASSERT_TRUE(c.ok()) << to_string(c.error());
  TrialOptions how;
  how.kinds = sims();
  for (const char* name : {"schedule_order", "plan_order", "plan_layout"}) {
    how.properties.push_back(props::find_property(name));
  }
  Trial trial(how);
  EXPECT_TRUE(trial.run(c.value()).findings.empty()) << "without the fault";
  Planted planted(*fault);
  const Outcome outcome = trial.run(c.value(), planted.switches(), &planted);
  EXPECT_GT(planted.changes(), 0);
  ASSERT_FALSE(outcome.findings.empty());
  const Blame blame = bisect(c.value(), outcome.findings[0], sims(), planted.switches(), &planted);
  EXPECT_TRUE(names(blame, *fault)) << blame.nearest() << ": " << blame.title;
}

std::string witness_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace(name, '.', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Faults, Witness, testing::ValuesIn(witnesses()), witness_name);

// Of a graph whose stores are no kernels yet, by less than a unit in the last place, and of a slot
// that two steps have, where only the barriers between them are missing.
TEST(Bisect, NamesThePassThatWasFirstWrongAndNotTheNextThatShowsIt) {
  for (const char* name :
       {"ranges.pad_value_lost", "dtype.rounding_addend_lost", "local.one_slot_for_two"}) {
    const Case c = case_from_text(saved_text("faults", name)).value();
    const Fault* fault = fault_named(name);
    ASSERT_NE(fault, nullptr);
    Planted planted(*fault);
    const Finding finding = {"reference", "device", "value", ""};
    const Blame blame = bisect(c, finding, sims(), planted.switches(), &planted);
    EXPECT_EQ(blame.pass, fault->blame) << name << ": " << blame.stage << ": " << blame.title;
  }
}

// What no number of a case shows is found by the property of passes.
TEST(Bisect, AsksWhichPassKeepsItsMeaningWhereNoStageDiffers) {
  const Case c = case_from_text(saved_text("faults", "ranges.picked_without_gate")).value();
  Planted planted(*fault_named("ranges.picked_without_gate"));
  const Finding finding = {"kernel_bounds", "", "bounds load", ""};
  const Blame blame = bisect(c, finding, sims(), planted.switches(), &planted);
  EXPECT_EQ(blame.pass, "load_collapse") << blame.stage << ": " << blame.title;
}

// Stages of what is right mean the same, so that nothing but the device is left to blame.
TEST(Bisect, BlamesNoStageOfWhatIsRight) {
  size_t number = 0;
  for (const std::string& name : saved_programs("regress")) {
    if (number++ % (is_whole() ? 1 : 8) != 0) continue;
    const std::string text = saved_text("regress", name);
    if (text.find("error \"") != std::string::npos) continue;
    const Result<Case> c = case_from_text(text);
    ASSERT_TRUE(c.ok()) << to_string(c.error());
    const Blame blame = bisect(c.value(), {"reference", "device", "value", ""}, sims());
    EXPECT_EQ(blame.stage, "run") << name << ": " << blame.pass << ": " << blame.title;
  }
}

TEST(Triage, TellsCausesApartAndCountsOneOnce) {
  const auto report = [](std::string judge, std::string pass, std::string rule, std::string shape,
                         size_t statements) {
    Report r;
    r.finding = {std::move(judge), "device", std::move(shape), ""};
    r.blame.stage = "kernel";
    r.blame.pass = std::move(pass);
    r.blame.rule = std::move(rule);
    r.witness.program.statements.resize(statements);
    return r;
  };
  const std::vector<Report> reports = {
      report("reference", "simplify_kernel", "div_mod.mod_below", "value", 3),
      report("machine", "index_width", "div_mod.mod_below", "bounds", 2),
      report("machine", "pm_implicit_barriers", "", "race", 5),
      report("reference", "coalesce", "", "value", 1),
  };
  const std::vector<Group> groups = triage(reports);
  ASSERT_EQ(groups.size(), 3U);
  const auto of_rule = std::ranges::find_if(
      groups, [](const Group& g) { return g.cause.rule == "div_mod.mod_below"; });
  ASSERT_NE(of_rule, groups.end());
  EXPECT_EQ(of_rule->reports, (std::vector<size_t>{1, 0})) << "the shortest first";
}

}  // namespace
}  // namespace assay::fuzz
