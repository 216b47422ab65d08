#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/uop/rewrite.h"
#include "engine/uop/spec.h"

namespace assay::uop {

// One step of the compiler, as data: what may enter, what then leaves, and what is done.
struct Pass {
  std::string_view name;
  const Spec& accepts;
  const Spec& yields;
  std::vector<const RuleSet*> rules;  // rewritten with together, until none fires
  RewriteOptions options = {};
  // What no rule set does; runs after the rules. Null where they are all.
  Result<Ref> (*function)(Run& run, Ref root) = nullptr;
};

// Runs the pass and shows PassSeen to the watch. The specs are checked when somebody watches, and
// in dev and asan builds; a breach that nobody watches for aborts.
Result<Ref> run_pass(const Pass& pass, Run& run, Ref root);
// The passes in turn.
Result<Ref> run_passes(std::span<const Pass* const> passes, Run& run, Ref root);

}  // namespace assay::uop
