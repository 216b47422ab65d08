// A suite of kernels whose faults are known: those of the engine, and those that come of them by
// dropping, moving and adding barriers, changing indices and dropping gates. The truth is one full
// execution on the work-group machine, which finds each fault whatever the interleaving, as control
// flow and indices depend on no data. No false alarm, no miss, nothing unknown. ASSAY_KERNELS says
// how many there are to be of either kind.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

#include "engine/uop/text.h"
#include "oracles/workgroup/kernel_file.h"
#include "oracles/workgroup/sim.h"
#include "props/kernel/engine_kernels.h"
#include "props/kernel/kernel_props.h"
#include "props/kernel/list_edits.h"

namespace assay::props {
namespace {

using uop::Op;
using uop::Ref;
using workgroup::Fault;

constexpr std::string_view kSources[] = {"models", "ops", "seeds/program"};
constexpr int64_t kMostExecuted = int64_t{1} << 21;

// Whether an index or a gate is computed from what was loaded.
bool depends_on_data(uop::Graph& g, Ref linear) {
  const auto has_load = [&](Ref term) {
    const std::vector<Ref> below = uop::toposort(g, term);
    return std::ranges::any_of(below, [](Ref u) { return u->op == Op::Load; });
  };
  for (const Ref u : linear->src) {
    const bool is_place = u->op == Op::Index || u->op == Op::Shrink;
    if (is_place && u->src[0]->op != Op::Load && has_load(u->src[1])) return true;
    if ((u->op == Op::If || u->op == Op::Range) && has_load(u->src[0])) return true;
    if ((u->op == Op::Load || u->op == Op::Store) && u->src.size() == 3 && has_load(u->src[2]))
      return true;
  }
  return false;
}

bool has_variable(Ref linear) {
  return std::ranges::any_of(linear->src, [](Ref u) { return u->op == Op::Variable; });
}

// The faults that one execution has; nothing where it cannot be done, or takes too long.
std::optional<std::set<Fault>> truth(const std::string& text) {
  workgroup::KernelFile k;
  const Result<bool> read = workgroup::read_kernel("# A kernel.\n" + text, k);
  if (!read.ok()) return std::nullopt;
  k.target.aligned_vectors = workgroup::sim_target().aligned_vectors;
  const auto arguments = workgroup::arguments_of(k);
  if (!arguments.ok()) return std::nullopt;
  workgroup::Options options;
  options.budget = kMostExecuted;
  const auto report = workgroup::execute(k.graph, k.linear, arguments.value().arguments,
                                         k.variables, k.launch, k.target, options);
  if (!report.ok() || report.value().is_stopped || report.value().unwatched_bytes != 0)
    return std::nullopt;
  std::set<Fault> faults;
  for (const workgroup::Finding& f : report.value().findings) faults.insert(f.fault);
  return faults;
}

struct Judge {
  Fault fault;
  Check<codegen::KernelSeen> check;
};
constexpr Judge kJudges[] = {{Fault::Race, kernel_races},
                             {Fault::Divergence, kernel_barriers},
                             {Fault::Bounds, kernel_bounds},
                             {Fault::Misaligned, kernel_alignment},
                             {Fault::Uninitialised, kernel_reads}};

struct Suite {
  std::set<std::string> known;
  int racy = 0, safe = 0;
  int changed_safe = 0;
  std::map<std::string, int> by_edit;
  std::map<Fault, int> by_fault;
};

void judge(uop::Graph& g, Ref linear, const std::string& name, smt::Prover& prover, Suite& suite) {
  const std::string text = uop::to_text(g, linear, "linear");
  if (!suite.known.insert(text).second) return;
  const auto faults = truth(text);
  if (!faults) return;
  Context context = {prover, workgroup::sim_target()};
  const codegen::KernelSeen seen = {g, linear, linear};
  const bool is_racy = faults->contains(Fault::Race);
  (is_racy ? suite.racy : suite.safe)++;
  for (const Fault fault : *faults) suite.by_fault[fault]++;
  for (const Judge& j : kJudges) {
    const Checked checked = j.check(seen, context);
    const Answer wanted = faults->contains(j.fault) ? Answer::Fail : Answer::Pass;
    EXPECT_EQ(checked.unknown, 0) << name << " " << workgroup::to_text(j.fault) << "\n";
    EXPECT_EQ(checked.verdict.answer, wanted)
        << name << " " << workgroup::to_text(j.fault) << ": " << checked.verdict.evidence;
    if (checked.verdict.answer != wanted && std::getenv("ASSAY_SHOW") != nullptr)
      std::printf("%s\n", text.c_str());
  }
}

TEST(LabelledKernels, AreJudgedAsOneExecutionFindsThem) {
  Suite suite;
  smt::Prover prover;
  const uop::Target& target = workgroup::sim_target();
  const char* wanted = std::getenv("ASSAY_KERNELS");
  const int enough = wanted == nullptr ? 320 : std::atoi(wanted);
  for (uint64_t seed = 1; suite.racy < enough || suite.safe < enough; seed++) {
    uop::Random random(seed);
    for (const auto& path : program_files(kSources)) {
      each_kernel(
          path, target, seed, [&](const codegen::KernelSeen& seen, const std::string& name) {
            const bool is_local =
                std::ranges::any_of(seen.linear->src, [](Ref u) { return u->op == Op::Barrier; });
            if (!is_local && !random.once_in(8)) return;
            if (has_variable(seen.linear) || depends_on_data(seen.graph, seen.linear)) return;
            if (suite.safe < enough && random.once_in(4))
              judge(seen.graph, seen.linear, name, prover, suite);
            std::string what = "nothing";
            const Ref edited = with_one_edit(seen.graph, seen.linear, random, what);
            if (edited == seen.linear) return;
            suite.by_edit[what]++;
            const int before = suite.safe;
            judge(seen.graph, edited, fmt::format("{} seed {} {}", name, seed, what), prover,
                  suite);
            suite.changed_safe += suite.safe - before;
          });
    }
  }
  std::printf("%d racy, %d safe of which %d are changed;", suite.racy, suite.safe,
              suite.changed_safe);
  for (const auto& [what, times] : suite.by_edit) std::printf(" %s %d", what.c_str(), times);
  for (const auto& [fault, times] : suite.by_fault)
    std::printf(" %s %d", std::string(workgroup::to_text(fault)).c_str(), times);
  std::printf("\n");
  EXPECT_GE(suite.racy, 300);
  EXPECT_GE(suite.safe, 300);
  EXPECT_GE(suite.changed_safe, 100);
}

}  // namespace
}  // namespace assay::props
