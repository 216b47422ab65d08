// Random lists against the work-group machine: what it finds is refuted, and where control flow and
// indices depend on no data nothing else is. ASSAY_KERNELS says how many.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

#include "engine/uop/text.h"
#include "oracles/workgroup/kernel_file.h"
#include "oracles/workgroup/sim.h"
#include "props/kernel/kernel_props.h"
#include "props/kernel/random_list.h"

namespace assay::props {
namespace {

using workgroup::Fault;

struct MachineJudge {
  Fault fault;
  Check<codegen::KernelSeen> check;
};
constexpr MachineJudge kMachineJudges[] = {{Fault::Race, kernel_races},
                                           {Fault::Divergence, kernel_barriers},
                                           {Fault::Bounds, kernel_bounds},
                                           {Fault::Uninitialised, kernel_reads}};

// What the machine finds in any interleaving, on one set of arguments.
std::set<Fault> machine_finds(workgroup::KernelFile& k) {
  std::set<Fault> faults;
  for (const workgroup::Schedule& schedule : workgroup::interleavings()) {
    const auto arguments = workgroup::arguments_of(k);
    EXPECT_TRUE(arguments.ok());
    workgroup::Options options;
    options.schedule = schedule;
    const auto report = workgroup::execute(k.graph, k.linear, arguments.value().arguments,
                                           k.variables, k.launch, k.target, options);
    EXPECT_TRUE(report.ok()) << to_string(report.error());
    if (!report.ok()) return faults;
    for (const workgroup::Finding& f : report.value().findings) faults.insert(f.fault);
  }
  return faults;
}

// What a work-item does after a barrier that others did not reach, or what it read in a race, is
// anything: such faults are judged by themselves.
bool is_comparable(Fault fault, const std::set<Fault>& faults) {
  if (fault == Fault::Race) return !faults.contains(Fault::Divergence);
  if (fault != Fault::Uninitialised) return true;
  return !faults.contains(Fault::Divergence) && !faults.contains(Fault::Race);
}

struct ListCounts {
  std::map<Fault, int> failed;
  std::map<std::string, int64_t> unknown;
  int safe = 0;
};

void judge_list(uint64_t seed, bool has_data, smt::Prover& prover, ListCounts& counts) {
  const std::string text = RandomList(seed, has_data).make();
  workgroup::KernelFile k;
  const Result<bool> read = workgroup::read_kernel("# Random.\n" + text, k);
  ASSERT_TRUE(read.ok()) << to_string(read.error()) << "\n" << text;
  const std::set<Fault> faults = machine_finds(k);
  counts.safe += faults.empty() ? 1 : 0;
  Context context = {prover, k.target};
  for (const MachineJudge& j : kMachineJudges) {
    const Checked checked = j.check({k.graph, k.linear, k.linear}, context);
    const Answer answer = checked.verdict.answer;
    counts.failed[j.fault] += answer == Answer::Fail ? 1 : 0;
    if (!is_comparable(j.fault, faults)) continue;
    if (answer == Answer::Unknown) counts.unknown[checked.by_cause.begin()->first]++;
    if (faults.contains(j.fault)) {
      EXPECT_NE(answer, Answer::Pass) << seed << " " << workgroup::to_text(j.fault) << "\n" << text;
    } else if (!has_data) {
      EXPECT_NE(answer, Answer::Fail) << seed << " " << workgroup::to_text(j.fault) << "\n" << text;
    }
  }
}

int lists_or(int otherwise) {
  const char* asked = std::getenv("ASSAY_KERNELS");
  return asked == nullptr ? otherwise : std::atoi(asked);
}

void judge_lists(bool has_data, double most_unknown) {
  smt::Prover prover;
  ListCounts counts;
  const int count = lists_or(400);
  for (int seed = 0; seed < count; seed++) {
    judge_list(static_cast<uint64_t>(seed), has_data, prover, counts);
    if (testing::Test::HasFailure()) return;
  }
  int64_t unknown = 0;
  std::printf("%d lists, %d safe;", count, counts.safe);
  for (const auto& [fault, n] : counts.failed) {
    std::printf(" %s %d", std::string(workgroup::to_text(fault)).c_str(), n);
    EXPECT_GT(n, count / 200) << workgroup::to_text(fault);
  }
  for (const auto& [cause, n] : counts.unknown) {
    std::printf(" unknown (%s) %lld", cause.c_str(), static_cast<long long>(n));
    unknown += n;
  }
  std::printf("\n");
  EXPECT_GT(counts.safe, count / 50);
  EXPECT_LE(static_cast<double>(unknown), most_unknown * count);
}

TEST(RandomLists, AreJudgedAsTheMachineFindsThem) { judge_lists(false, 0.1); }
TEST(RandomLists, OfDataAreRefutedWhereTheMachineFindsAFault) { judge_lists(true, 0.2); }

}  // namespace
}  // namespace assay::props
