// Faults planted in the rules of a run, which the judge of firings must find on random terms.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/uop/bounds.h"
#include "engine/uop/rules/rules.h"
#include "engine/uop/simplify.h"
#include "fuzz/trial/firing_judge.h"
#include "props/firings/term.h"

namespace assay::fuzz {
namespace {

using oracles::Choices;
using props::TermMaker;
using uop::Graph;
using uop::Op;
using uop::OpSet;
using uop::Pat;
using uop::Ref;
using uop::Rule;

struct Fault {
  const char* set;
  Rule rule;
  uop::DType at;  // the type of the terms that it shows on
};

using Rewriting = uop::Run;  // within a TEST, Run is a function of GoogleTest

Ref least_value(Rewriting& run, Ref u) {
  const uop::Bounds b = bounds(run.graph(), u);
  return b.lo > -100 && b.hi < b.lo + 2 ? run.graph().constant(of_int(u->dtype, b.lo)) : nullptr;
}

Ref skipped_cast(Rewriting& run, Ref u) {
  const Ref inner = u->src[0];
  if (inner->op != Op::Cast) return nullptr;
  return run.graph().make(Op::Cast, u->dtype, {inner->src[0]});
}

Ref gate_dropped(Rewriting& run, Ref u) {
  for (const Ref s : u->src) {
    if (s->op != Op::Where || s->src[2]->op != Op::Invalid) continue;
    std::vector<Ref> sources(u->src.begin(), u->src.end());
    for (Ref& source : sources) source = source == s ? s->src[1] : source;
    return run.graph().with_sources(u, sources);
  }
  return nullptr;
}

std::vector<Fault> faults() {
  using uop::kIndex;
  using uop::kInts;
  using uop::kScalars;
  const Pat x = uop::any("x");
  const Pat y = uop::any("y");
  const Pat p = uop::any("p");
  const Pat c = uop::constant("c");
  const Pat d = uop::constant("d");
  const OpSet casts = {Op::Cast};
  const OpSet strict = {Op::Add, Op::Mul, Op::Div, Op::Mod, Op::Max};
  return {
      {"div_mod", {"mod_below", kInts, x % c, x, 0 <= lo(x)}, uop::Index},
      {"div_mod", {"mod_below", kInts, x % c, x, 0 <= lo(x) && hi(x) <= c}, uop::Index},
      {"compare", {"lt_moves_constant", kIndex, x + c < d, x < d + c}, uop::Bool},
      {"compare", {"lt_moves_constant", kInts, x + c < d, x < d - c}, uop::Bool},
      {"compare", {"eq_self", kScalars, x == x, 1}, uop::Bool},
      {"select", {"same", kScalars, where(p, x, y), x}, uop::F32},
      {"identity", {"add_zero", uop::kNumbers, x + 0, x}, uop::F16},
      {"identity", {"mul_zero", uop::kNumbers, x * 0, 0}, uop::F16},
      {"min_max", {"max_above", kInts, max(x, y), x, lo(y) <= lo(x)}, uop::I8},
      {"fold", by("single_value", kInts, OpSet::all(), least_value, ""), uop::U8},
      {"cast", by("cast_of_cast", kScalars, casts, skipped_cast, ""), uop::BF16},
      {"invalid", by("gate_outwards", kScalars, strict, gate_dropped, ""), uop::Index},
  };
}

class PlantedFault : public testing::TestWithParam<size_t> {};

TEST_P(PlantedFault, IsFound) {
  const Fault fault = faults()[GetParam()];
  const uop::RuleSet mutant(fault.set, {fault.rule});
  uop::Switches switches;
  switches.substitutes = {&mutant};
  for (uint64_t seed = 0; seed < 4000; seed++) {
    Graph g;
    Choices choices(seed);
    const Ref u = TermMaker(g, choices).term(fault.at, 2 + static_cast<int>(seed % 12));
    FiringJudge judge;
    Rewriting run(g, switches, &judge);
    const Result<Ref> result = simplify(run, u);
    if (!judge.counterexample()) continue;
    const std::string name = full_name(mutant, fault.rule);
    const std::string found = judge.counterexample().value_or("");
    EXPECT_TRUE(found.starts_with(name)) << found;
    return;
  }
  FAIL() << "never found";
}

INSTANTIATE_TEST_SUITE_P(Faults, PlantedFault, testing::Range(size_t{0}, faults().size()));

}  // namespace
}  // namespace assay::fuzz
