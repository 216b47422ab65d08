// What the README shows, as it stands there.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/uop/rule.h"
#include "engine/uop/text.h"
#include "oracles/workgroup/sim.h"
#include "props/property.h"
#include "props/rules/prove_rule.h"

namespace assay::props {
namespace {

#include README_EXAMPLE

codegen::KernelSeen kernel_of(uop::Graph& g, const char* size) {
  const std::string text = fmt::format(
      "uop 1 linear\n"
      "%0 = const index {}\n"
      "%1 = buffer f32 %0 {{0 local}}\n"
      "%2 = linear void %0 %1 {{\"k\"}}\n",
      size);
  const auto parsed = uop::from_text(g, text);
  EXPECT_TRUE(parsed.ok()) << to_string(parsed.error());
  return {g, nullptr, parsed.value().root};
}

TEST(Readme, ThePropertyPassesAndFails) {
  smt::Prover prover;
  Context context = {prover, workgroup::sim_target()};
  uop::Graph g;
  const auto check = std::get<Check<codegen::KernelSeen>>(kLocalFits.check);
  EXPECT_EQ(check(kernel_of(g, "64"), context).verdict.answer, Answer::Pass);
  EXPECT_EQ(check(kernel_of(g, "4000000000"), context).verdict.answer, Answer::Fail);
}

TEST(Readme, TheRuleIsProvedAndItsMutantIsNot) {
  smt::Prover prover;
  smt::Tables tables;
  const RuleJudge judge = {prover, tables};
  EXPECT_EQ(prove_rule(own_rules().rules()[0], uop::DType::Index, judge).verdict.answer,
            Answer::Pass);
  uop::Rule wrong = own_rules().rules()[0];
  wrong.replace = uop::any("y");
  EXPECT_EQ(prove_rule(wrong, uop::DType::Index, judge).verdict.answer, Answer::Fail);
}

}  // namespace
}  // namespace assay::props
