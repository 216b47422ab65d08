#pragma once

#include <algorithm>

#include "engine/uop/rule.h"
#include "oracles/workgroup/sim.h"
#include "props/firings/firings.h"

// What the tests of this folder judge with.
namespace assay::props {

struct TestContext {
  smt::Prover prover = smt::Prover(smt::ProverOptions{});
  Context context{prover, workgroup::sim_target()};
};

// Firings of one `by` rule in the place of another.
inline Checked check_planted(uop::TypeSet over, uop::OpSet roots, uop::By function,
                             uop::OpSet needs = uop::OpSet::all(), TestContext* with = nullptr) {
  TestContext own;
  const uop::RuleSet set("planted", {uop::by("fault", over, roots, function, "a fault", needs)});
  return check_firings(set, set.rules()[0], (with != nullptr ? *with : own).context);
}

}  // namespace assay::props
