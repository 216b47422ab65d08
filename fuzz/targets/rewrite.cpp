#include <fmt/format.h>

#include "engine/check.h"
#include "engine/uop/prefix.h"
#include "fuzz/target.h"
#include "fuzz/targets/extra_counters.h"
#include "fuzz/term_trial.h"

namespace assay::fuzz {
namespace {

constexpr size_t kMostLetters = 2048;

// Variables alone: that is what firings are judged over.
uop::Leaves index_leaves(uop::Graph& g) {
  uop::Leaves leaves;
  for (int i = 0; i < 4; i++) {
    const std::string name = fmt::format("r{}", i);
    leaves[name] = g.variable(name, uop::of_int(uop::Index, 0), uop::of_int(uop::Index, 7));
  }
  leaves["n"] = g.variable("n", uop::of_int(uop::Index, 1), uop::of_int(uop::Index, 64));
  leaves["b"] = g.variable("b", uop::Bool);
  leaves["x"] = g.variable("x", uop::F32);
  leaves["i"] = g.variable("i", uop::I32);
  leaves["u"] = g.variable("u", uop::U8);
  return leaves;
}

}  // namespace

// Every rule that fires while a term is simplified keeps its meaning, and a simple term is simple.
void one_case(std::string_view text) {
  if (text.size() > kMostLetters) return;
  uop::Graph g;
  const uop::Leaves leaves = index_leaves(g);
  const Result<uop::Ref> parsed = uop::from_prefix(g, text, leaves);
  if (!parsed.ok()) return;
  Coverage coverage;
  const std::optional<Finding> found = try_term(g, parsed.value(), {}, &coverage);
  count_features(coverage.take());
  ASSAY_CHECK(!found, "{} at {}: {}", found->judge, found->stage, found->evidence);
}

}  // namespace assay::fuzz
