#include "engine/uop/pass.h"

#include <fmt/format.h>

#include "engine/check.h"

namespace assay::uop {
namespace {

#ifdef ASSAY_CHECK_SPECS
constexpr bool kAlwaysCheck = true;
#else
constexpr bool kAlwaysCheck = false;
#endif

Result<Ref> work(const Pass& pass, Run& run, Ref root) {
  Ref after = root;
  if (!pass.rules.empty()) {
    ASSAY_TRY(rewritten, run.rewrite(pass.rules, root, pass.options));
    after = rewritten;
  }
  if (pass.function != nullptr) {
    ASSAY_TRY(changed, pass.function(run, after));
    after = changed;
  }
  return run.watch() == nullptr ? after : run.watch()->edit(pass.name, run.graph(), after);
}

}  // namespace

Result<Ref> run_pass(const Pass& pass, Run& run, Ref root) {
  const bool checks = kAlwaysCheck || run.watch() != nullptr;
  const uint64_t firings = run.firings();
  std::optional<std::string> broken =
      checks ? breach(pass.accepts, run.graph(), root) : std::nullopt;
  ASSAY_TRY(after, work(pass, run, root));
  if (checks && !broken) broken = breach(pass.yields, run.graph(), after);
  if (run.watch() != nullptr) {
    run.watch()->seen(PassSeen{pass, run.graph(), root, after, run.firings() - firings, broken});
  } else {
    ASSAY_CHECK(!broken, "pass {}: {}", pass.name, *broken);
  }
  return after;
}

Result<Ref> run_passes(std::span<const Pass* const> passes, Run& run, Ref root) {
  for (const Pass* pass : passes) {
    ASSAY_TRY(after, run_pass(*pass, run, root));
    root = after;
  }
  return root;
}

}  // namespace assay::uop
