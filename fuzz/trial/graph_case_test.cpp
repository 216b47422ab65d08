// Kernels and terms as cases: made, tried, shrunk.
#include "fuzz/trial/graph_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "engine/uop/rules/rules.h"
#include "fuzz/blame/investigate.h"
#include "fuzz/fault/fault.h"
#include "fuzz/trial/trial.h"
#include "oracles/workgroup/sim.h"
#include "props/property.h"

namespace assay::fuzz {
namespace {

using uop::Pat;

TrialOptions on_sim() {
  static const runtime::DeviceKind* const kKinds[] = {&workgroup::sim_kind()};
  TrialOptions how{.kinds = kKinds};
  for (const props::Property* p : props::every_property()) {
    if (!p->is_dear) how.properties.push_back(p);
  }
  return how;
}

Case kernel_of(uint64_t seed) {
  oracles::Choices choices(seed);
  return make_kernel(choices);
}

Case terms_of(uint64_t seed) {
  oracles::Choices choices(seed);
  return make_terms(choices);
}

const Fault& stage_fault(std::string_view name) {
  return *std::ranges::find(stage_faults(), name, &Fault::name);
}

TEST(Kernels, NothingIsWrongWithThem) {
  Trial trial(on_sim());
  int64_t sharing = 0;
  int64_t kernels = 0;
  for (uint64_t seed = 0; seed < 300; seed++) {
    const Case c = kernel_of(seed);
    const Outcome o = trial.run(c);
    EXPECT_EQ(o.malformed, "") << to_text(c);
    for (const Finding& f : o.findings) ADD_FAILURE() << f.evidence << "\n" << to_text(c);
    kernels += o.kernels;
    sharing += o.sharing;
  }
  EXPECT_EQ(kernels, 300);
  EXPECT_GT(sharing * 10, kernels);
}

TEST(Kernels, AFaultIsFoundShrunkAndBlamed) {
  Trial trial(on_sim());
  Planted planted(stage_fault("reduce.begins_with_one"));
  for (uint64_t seed = 0; seed < 100; seed++) {
    const Case c = kernel_of(seed);
    const Outcome o = trial.run(c, planted.switches(), &planted);
    if (o.findings.empty()) continue;
    const Investigated found =
        investigate(c, o.findings[0], trial, {.switches = planted.switches(), .watch = &planted});
    EXPECT_EQ(found.blame.pass, planted.fault().blame);
    EXPECT_LE(std::ranges::count(found.smallest.graph, '\n'), std::ranges::count(c.graph, '\n'));
    EXPECT_LE(std::ranges::count(found.smallest.graph, '\n'), 20) << found.smallest.graph;
    const Outcome still = trial.run(found.smallest, planted.switches(), &planted);
    EXPECT_TRUE(std::ranges::any_of(still.findings,
                                    [&](const Finding& f) { return is_same(f, o.findings[0]); }));
    EXPECT_TRUE(trial.run(found.smallest).findings.empty());
    return;
  }
  FAIL() << "no kernel shows it";
}

TEST(Terms, AWrongRuleIsFoundShrunkAndBlamed) {
  const Pat x = uop::any("x");
  const Pat c = uop::constant("c");
  const Pat d = uop::constant("d");
  const uop::RuleSet mutant("compare", {{"lt_moves_constant", uop::kIndex, x + c < d, x < d + c}});
  uop::Switches switches;
  switches.substitutes = {&mutant};
  Trial trial(on_sim());
  for (uint64_t seed = 0; seed < 2000; seed++) {
    const Case terms = terms_of(seed);
    const Outcome o = trial.run(terms, switches);
    if (o.findings.empty()) continue;
    const Investigated found = investigate(terms, o.findings[0], trial, {.switches = switches});
    EXPECT_EQ(found.blame.rule, "compare.lt_moves_constant");
    EXPECT_EQ(graphs_of(found.smallest).size(), 1U);
    EXPECT_LE(std::ranges::count(found.smallest.graph, '\n'), 8) << found.smallest.graph;
    EXPECT_FALSE(trial.run(found.smallest, switches).findings.empty());
    return;
  }
  FAIL() << "no term shows it";
}

TEST(Terms, NothingIsWrongWithThem) {
  Trial trial(on_sim());
  for (uint64_t seed = 0; seed < 100; seed++) {
    const Case c = terms_of(seed);
    const Outcome o = trial.run(c);
    EXPECT_EQ(o.malformed, "");
    for (const Finding& f : o.findings) ADD_FAILURE() << f.evidence << "\n" << to_text(c);
    EXPECT_EQ(to_text(case_from_text(to_text(c)).value()), to_text(c));
  }
}

}  // namespace
}  // namespace assay::fuzz
