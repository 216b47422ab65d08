// How faults are looked for, what comes of a process that is lost, and what is said of it all.
#include "fuzz/score/score.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fuzz/fault/mutants.h"
#include "fuzz/score/score_cases.h"
#include "fuzz/score/score_child.h"
#include "fuzz/score/score_text.h"
#include "oracles/workgroup/sim.h"

namespace assay::fuzz {
namespace {

std::span<const runtime::DeviceKind* const> machines() {
  static const runtime::DeviceKind* const kKinds[] = {&workgroup::sim_kind()};
  return kKinds;
}

ScoreOptions score_options() {
  ScoreOptions options;
  options.kinds = machines();
  options.properties = {props::find_property("schedule_order"), props::find_property("plan_order")};
  options.seconds = 60;
  return options;
}

Fault stage_fault(std::string_view name) {
  return *std::ranges::find(stage_faults(), name, &Fault::name);
}

TEST(ScoreCases, AreAFunctionOfNumberAndSeed) {
  const ScoreCases once({}, 7, {"sim:0", "sim:random"});
  const ScoreCases again({}, 7, {"sim:0", "sim:random"});
  const ScoreCases other({}, 8, {"sim:0", "sim:random"});
  int differ = 0;
  for (int64_t k = 0; k < 50; k++) {
    EXPECT_EQ(to_text(once.make(k)), to_text(again.make(k))) << k;
    differ += to_text(once.make(k)) != to_text(other.make(k)) ? 1 : 0;
  }
  EXPECT_GE(differ, 45);
}

TEST(ScoreCases, TakeWhatIsSavedInTurnWithRandomOnes) {
  Case saved;
  saved.program = case_of(stage_fault("order.no_edges"), {}, 1).program;
  const std::vector<Case> all = {saved};
  const ScoreCases cases(all, 1, {"sim:random"});
  saved.device = "sim:random";
  saved.seed = 2;
  EXPECT_EQ(to_text(cases.make(0)), to_text(saved));
  EXPECT_NE(to_text(cases.make(1)), to_text(saved));
}

TEST(ScoreCases, AreTriedOnTheEndsOfTheirTypesToo) {
  const Case c = case_from_text(
                     "tp 1\na: u8[4] = input(data=[1, 2, 3, 4])\nb: u8[4] = add(a, 1)\n"
                     "expect b = [2, 3, 4, 5]\n")
                     .value();
  EXPECT_EQ(to_text(with_extremes(c, 7)),
            "tp 1\na: u8[4] = input(random=nasty, seed=7)\nb: u8[4] = add(a, 1)\nforce b\n");
}

TEST(Score, FindsAFaultAndBlamesItsPlace) {
  const Scored s = score(stage_fault("order.no_edges"), score_options());
  ASSERT_TRUE(s.is_found) << s.why;
  EXPECT_GT(s.live, 0);
  EXPECT_FALSE(s.judges.empty());
  EXPECT_FALSE(s.witness.empty());
  EXPECT_TRUE(s.is_blamed_right) << s.blame.nearest();
  EXPECT_EQ(s.refused, "");
}

TEST(Score, SaysOfAFaultThatNothingReachesThatNothingDid) {
  Fault never = stage_fault("order.no_edges");
  never.how = Edges{[](std::vector<schedule::Edge>&) {}};
  never.note = "it changes nothing";
  ScoreOptions options = score_options();
  options.cases = 20;
  const Scored s = score(never, options);
  EXPECT_FALSE(s.is_found);
  EXPECT_EQ(s.tried, 20);
  EXPECT_NE(s.why.find("no case reached it (20 cases"), std::string::npos) << s.why;
  EXPECT_NE(s.why.find("it changes nothing"), std::string::npos) << s.why;
}

Fault mutant(std::string_view name) {
  const std::vector<Fault> all = rule_faults();
  const auto at = std::ranges::find(all, name, &Fault::name);
  EXPECT_NE(at, all.end()) << name;
  return *at;
}

TEST(Score, FindsAMutantByATerm) {
  const Scored s = score(mutant("div_mod.mod_below without (< (hi x) #c)"), score_options());
  ASSERT_TRUE(s.is_found) << s.why;
  EXPECT_EQ(s.judges, std::vector<std::string>{"firings"});
  EXPECT_EQ(s.blame.rule, "div_mod.mod_below");
}

TEST(Score, TellsAMutantThatIsNoFault) {
  smt::Prover prover;
  const RuleAnswer as_true = proof_of(mutant("div_mod.tdiv_by_negative without (< #c 0)"), prover);
  EXPECT_TRUE(as_true.is_true);
  const RuleAnswer wrong = proof_of(mutant("div_mod.mod_below without (< (hi x) #c)"), prover);
  EXPECT_TRUE(wrong.is_refuted);
  EXPECT_NE(wrong.evidence, "");
}

// A process that serves scores as a shell can: `how` is what it does where it is asked to look for
// the fault; on a case that it is given again it ends where the fault is planted.
std::vector<std::string> shell(const std::string& how) {
  const std::string so_far =
      R"({"found":false,"by_proof":false,"no_fault":"","tried":5,"live":2,"unknown":0,)"
      R"("seconds":0,"blame_seconds":0,"witness":"","findings":[],"judges":[],"blame":{"stage":"",)"
      R"("pass":"","rule":"","firing":0,"kernel":-1,"title":"","evidence":"","walked":false},)"
      R"("blamed_right":false,"refused":"","why":""})";
  const std::string script =
      "while read -r line; do case \"$line\" in "
      "*planted*true*) echo '{\"at\":\"kernel_graph\"}'; echo '{\"at\":\"schedule\"}'; kill -9 "
      "$$;; "
      "*planted*) echo '{\"done\":" +
      so_far +
      "}';; "
      "*) echo '{\"so_far\":" +
      so_far + "}'; " + how + ";; esac; done";
  return {"/bin/sh", "-c", script};
}

TEST(ScoreChild, TakesACrashUnderAFaultForAFinding) {
  const ScoreOptions options = score_options();
  ScoreChild child(shell("kill -9 $$"), options);
  const Fault fault = stage_fault("order.no_edges");
  for (int time = 0; time < 2; time++) {  // the next fault gets a process of its own
    const Scored s = child.score(fault);
    EXPECT_TRUE(s.is_found);
    EXPECT_EQ(s.judges, std::vector<std::string>{"crash"});
    EXPECT_EQ(s.tried, 6);
    EXPECT_EQ(s.blame.stage, "schedule");
    EXPECT_TRUE(s.is_blamed_right);
    EXPECT_EQ(s.witness, to_text(case_of(fault, options, 5)));
  }
}

TEST(ScoreText, CountsByClassAndJudge) {
  Scored found;
  found.name = "order.a";
  found.is_found = found.is_blamed_right = true;
  found.judges = {"reference", "schedule_order"};
  Scored missed;
  missed.name = "order.b";
  missed.why = "no case reached it";
  Scored none;
  none.name = "order.c";
  none.no_fault = "as true as the rule";
  const std::vector<Scored> all = {found, missed, none};
  const std::string text = summary_text(all);
  for (const char* part :
       {"order         1/2", "1 of 2 found (50.0 %)", "1 of 1 blamed right (100.0 %)",
        "survivors: 1\n  order.b: no case reached it\n",
        "no faults, and not counted: 1\n  order.c: as true as the rule\n",
        "classes that one judge alone finds: none"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_TRUE(is_red(all));
  EXPECT_FALSE(is_red(std::span(all).first(1)));
}

}  // namespace
}  // namespace assay::fuzz
