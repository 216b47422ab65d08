// What a placed kernel leaves in memory is what it leaves after each of the passes that make it
// scalar and wide again, and no pass reads an element that was not read before. Each pass done
// again changes nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

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
using uop::Op;
using uop::Ref;
using uop::Value;

struct Outcome {
  std::vector<Value> memory;
  std::set<std::pair<int64_t, int64_t>> read;
};

Outcome outcome(Graph& g, Ref kernel, const PlacedSample& sample) {
  SmallMachine machine(g);
  machine.memory[0].assign(static_cast<size_t>(sample.outputs()), uop::of_int(uop::I32, 77));
  for (int64_t slot = 1; slot <= PlacedSample::kInputs; ++slot) {
    for (int64_t i = 0; i < PlacedSample::kInput; ++i) {
      machine.memory[slot].push_back(uop::of_int(uop::I32, (i * i + 5 * slot) % 16 - 2));
    }
  }
  machine.run(kernel);
  EXPECT_EQ(machine.trouble, "");
  return {machine.memory[0], machine.read_elements};
}

// Vectors of each kind that the kernels came to have.
struct Seen {
  int loads = 0;
  int stores = 0;
  int gated = 0;
  int local = 0;
  std::set<int64_t> widths;

  void look(Graph& g, Ref kernel, bool aligned) {
    for (const Ref u : toposort(g, kernel)) {
      if (u->op != Op::Load && u->op != Op::Store) continue;
      const Ref place = u->src[0];
      if (place->op != Op::Shrink) continue;
      const uop::Gated at = uop::split_gate(place->src[1]);
      const bool is_local = space_of(place->src[0]) == uop::AddrSpace::Local;
      const auto n = static_cast<int64_t>(as_int(place->src[2]->value()));
      EXPECT_NE(space_of(place->src[0]), uop::AddrSpace::Reg);
      if (aligned || is_local) {
        EXPECT_EQ(n & (n - 1), 0);
        const Shifted parts = shifted(at.index);
        EXPECT_EQ(parts.constant % n, 0);
      }
      ++(u->op == Op::Load ? loads : stores);
      gated += place->src[1]->op == Op::Where ? 1 : 0;
      local += is_local ? 1 : 0;
      widths.insert(n);
    }
  }
};

class ScalarLaws : public testing::TestWithParam<bool> {
 protected:
  void check(uint64_t seed) {
    Graph g;
    PlacedSample sample(g, seed);
    Ref kernel = sample.kernel();
    Outcome want = outcome(g, kernel, sample);
    const std::string before = to_text(g, kernel, "placed");
    uop::Run run(g, {}, nullptr, target_);
    for (const uop::Pass* pass : {&pm_add_loads(), &devectorize(), &coalesce(), &move_gates()}) {
      const Result<Ref> after = pass->function(run, kernel);
      ASSERT_TRUE(after.ok()) << to_string(after.error()) << "\n" << before;
      kernel = after.value();
      const std::string text = to_text(g, kernel, pass->name);
      // Index terms have no width here, as they do when gates are moved.
      if (pass != &move_gates()) {
        ASSERT_EQ(breach(pass->yields, g, kernel), std::nullopt) << before << text;
      }
      const Outcome now = outcome(g, kernel, sample);
      ASSERT_EQ(now.memory, want.memory) << "seed " << seed << "\n" << before << text;
      ASSERT_TRUE(std::ranges::includes(want.read, now.read)) << before << text;
      want = now;
      if (pass == &coalesce()) seen_.look(g, kernel, target_.aligned_vectors);
      const Result<Ref> again = pass->function(run, kernel);
      ASSERT_TRUE(again.ok());
      ASSERT_EQ(to_text(g, again.value(), pass->name), text) << before;
    }
    for (const Ref u : toposort(g, kernel)) ASSERT_NE(u->op, Op::Invalid) << before;
  }

  uop::Target target_ = uop::generic_target();
  Seen seen_;
};

TEST_P(ScalarLaws, MemoryIsTheSameAfterEachPass) {
  target_.aligned_vectors = GetParam();
  for (uint64_t seed = 0; seed < 800 && !HasFatalFailure(); ++seed) check(seed);
  EXPECT_GT(seen_.loads, 50);
  EXPECT_GT(seen_.stores, 50);
  EXPECT_GT(seen_.gated, 10);
  EXPECT_GT(seen_.local, 10);
  const std::set<int64_t> all = {2, 3, 4, 8, 16};
  const std::set<int64_t> powers = {2, 4, 8, 16};
  EXPECT_EQ(seen_.widths, GetParam() ? powers : all);
}

INSTANTIATE_TEST_SUITE_P(Targets, ScalarLaws, testing::Bool(),
                         [](const auto& p) { return p.param ? "aligned" : "unaligned"; });

}  // namespace
}  // namespace assay::codegen
