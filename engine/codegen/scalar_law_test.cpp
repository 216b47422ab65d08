// What a placed kernel leaves in memory is what it leaves after each of the passes that make it
// scalar and wide again; each pass done again changes nothing.
#include <gtest/gtest.h>

#include "engine/codegen/coalesce.h"
#include "engine/codegen/devectorize.h"
#include "engine/codegen/forms.h"
#include "engine/codegen/gates.h"
#include "engine/codegen/loads.h"
#include "engine/codegen/placed_sample.h"
#include "engine/codegen/small_machine.h"
#include "engine/uop/text.h"

namespace assay::codegen {
namespace {

using uop::Graph;
using uop::Ref;
using uop::Value;

std::vector<Value> outcome(Graph& g, Ref kernel, const PlacedSample& sample) {
  SmallMachine machine(g);
  machine.memory[0].assign(static_cast<size_t>(sample.outputs()), uop::of_int(uop::I32, 77));
  for (int64_t slot = 1; slot <= PlacedSample::kInputs; ++slot) {
    for (int64_t i = 0; i < PlacedSample::kInput; ++i) {
      machine.memory[slot].push_back(uop::of_int(uop::I32, 100 * slot + i * i));
    }
  }
  machine.run(kernel);
  EXPECT_EQ(machine.trouble, "");
  return machine.memory[0];
}

class ScalarLaws : public testing::TestWithParam<bool> {
 protected:
  uop::Target target_ = uop::generic_target();
};

TEST_P(ScalarLaws, MemoryIsTheSameAfterEachPass) {
  target_.aligned_vectors = GetParam();
  for (uint64_t seed = 0; seed < 800; ++seed) {
    Graph g;
    PlacedSample sample(g, seed);
    Ref kernel = sample.kernel();
    const std::vector<Value> want = outcome(g, kernel, sample);
    const std::string before = to_text(g, kernel, "placed");
    uop::Run run(g, {}, nullptr, target_);
    for (const uop::Pass* pass : {&pm_add_loads(), &devectorize(), &coalesce(), &move_gates()}) {
      const Result<Ref> after = pass->function(run, kernel);
      ASSERT_TRUE(after.ok()) << to_string(after.error()) << "\n" << before;
      kernel = after.value();
      const std::string text = to_text(g, kernel, pass->name);
      if (pass != &move_gates()) {
        ASSERT_EQ(breach(pass->yields, g, kernel), std::nullopt) << before << text;
      }
      ASSERT_EQ(outcome(g, kernel, sample), want) << "seed " << seed << "\n" << before << text;
      const Result<Ref> again = pass->function(run, kernel);
      ASSERT_TRUE(again.ok());
      ASSERT_EQ(to_text(g, again.value(), pass->name), text) << before;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, ScalarLaws, testing::Bool(),
                         [](const auto& p) { return p.param ? "aligned" : "unaligned"; });

}  // namespace
}  // namespace assay::codegen
