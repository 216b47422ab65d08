// All that the engine makes of the saved programs is proved, by the heuristic's and by random
// lists.
#include "props/kernel/engine_kernels.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "engine/uop/text.h"
#include "oracles/workgroup/sim.h"
#include "props/kernel/kernel_props.h"

namespace assay::props {
namespace {

constexpr std::string_view kFolders[] = {"bench", "models", "ops", "regress", "seeds/program"};

struct NamedCheck {
  std::string_view name;
  Check<codegen::KernelSeen> check;
};
constexpr NamedCheck kChecks[] = {
    {"kernel_races", kernel_races},
    {"kernel_barriers", kernel_barriers},
    {"kernel_bounds", kernel_bounds},
    {"kernel_alignment", kernel_alignment},
    {"kernel_stores", kernel_stores},
    {"kernel_reads", kernel_reads},
    {"kernel_spare_barriers", kernel_spare_barriers},
};

struct Totals {
  int64_t kernels = 0;
  int64_t obligations = 0;
  std::map<std::string, int64_t, std::less<>> by_method;
  std::map<std::string, double> seconds;
  std::map<std::string, std::vector<double>> each;
  int64_t spare = 0;
};

void prove(const codegen::KernelSeen& seen, const std::string& name, const uop::Target& target,
           smt::Prover& prover, Totals& totals) {
  Context context = {prover, target};
  totals.kernels++;
  for (const NamedCheck& c : kChecks) {
    const auto begin = std::chrono::steady_clock::now();
    const Checked checked = c.check(seen, context);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    totals.seconds[std::string(c.name)] += took.count();
    totals.each[std::string(c.name)].push_back(took.count());
    totals.obligations += checked.obligations;
    for (const auto& [method, times] : checked.by_method) totals.by_method[method] += times;
    totals.spare += static_cast<int64_t>(checked.listed.size());
    EXPECT_EQ(checked.verdict.answer, Answer::Pass)
        << name << " " << c.name << ": " << checked.verdict.evidence;
    if (checked.verdict.answer != Answer::Pass && std::getenv("ASSAY_SHOW") != nullptr)
      std::printf("%s\n", uop::to_text(seen.graph, seen.linear, "linear").c_str());
  }
}

class EngineKernels : public testing::TestWithParam<uint64_t> {};

TEST_P(EngineKernels, AreProved) {
  Totals totals;
  smt::Prover prover;
  const uop::Target& target = workgroup::sim_target();
  for (const auto& path : program_files(kFolders)) {
    each_kernel(path, target, GetParam(),
                [&](const codegen::KernelSeen& seen, const std::string& name) {
                  prove(seen, name, target, prover, totals);
                });
  }
  std::printf("%lld kernels, %lld obligations, %lld spare barriers;",
              static_cast<long long>(totals.kernels), static_cast<long long>(totals.obligations),
              static_cast<long long>(totals.spare));
  for (const auto& [method, times] : totals.by_method)
    std::printf(" %s %lld", method.c_str(), static_cast<long long>(times));
  std::printf("\n");
  if (std::getenv("ASSAY_SHOW") != nullptr) {
    for (auto& [name, each] : totals.each) {
      std::ranges::sort(each);
      std::printf("%s: %.3f s, p50 %.3f ms, p99 %.3f ms, most %.3f ms\n", name.c_str(),
                  totals.seconds[name], each[each.size() / 2] * 1e3,
                  each[each.size() * 99 / 100] * 1e3, each.back() * 1e3);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Lists, EngineKernels, testing::Range(uint64_t{0}, uint64_t{3}));

}  // namespace
}  // namespace assay::props
