#include <fmt/format.h>

#include "engine/check.h"
#include "engine/uop/prefix.h"
#include "engine/uop/simplify.h"
#include "fuzz/firing_judge.h"
#include "fuzz/target.h"

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
  FiringJudge judge;
  uop::Run run(g, {}, &judge);
  const Result<uop::Ref> simple = uop::simplify(run, parsed.value());
  ASSAY_CHECK(simple.ok(), "{}", to_string(simple.error()));
  ASSAY_CHECK(!judge.counterexample(), "{}", *judge.counterexample());
  ASSAY_CHECK(judge.is_in_step(), "firings are counted with a gap");
  const Result<uop::Ref> again = uop::simplify(run, simple.value());
  ASSAY_CHECK(again.ok() && again.value() == simple.value(), "to simplify again changes the term");
}

}  // namespace assay::fuzz
