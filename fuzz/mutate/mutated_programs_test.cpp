// Mutated programs through every stage: nothing fails, and nothing is refused. ASSAY_PROGRAMS says
// how many, ASSAY_SEED where they begin.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

#include "fuzz/mutate/gen_case.h"
#include "fuzz/mutate/mutate.h"
#include "fuzz/trial/trial.h"
#include "oracles/workgroup/sim.h"

namespace assay::fuzz {
namespace {

int64_t asked(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atoll(text) : otherwise;
}

TEST(MutatedPrograms, FailNothing) {
  static const runtime::DeviceKind* const kKinds[] = {&workgroup::sim_kind()};
  Trial trial(TrialOptions{.kinds = kKinds});
  const int64_t count = asked("ASSAY_PROGRAMS", 150);
  MutateOptions how;
  how.most_statements = 24;
  Outcome sum;
  Case c;
  for (int64_t i = 0; i < count; i++) {
    Choices choices(static_cast<uint64_t>(asked("ASSAY_SEED", 1) * 1'000'000 + i));
    const Case other = make_case(choices, how.cases);
    if (i % 16 == 0) c = other;
    c = choices.chance(1, 6) ? splice(c, other, choices, how) : mutate(c, choices, how);
    const Outcome o = trial.run(c);
    for (const Finding& f : o.findings) {
      ADD_FAILURE() << f.judge << " at " << f.stage << ": " << f.evidence << "\n" << to_text(c);
    }
    EXPECT_EQ(o.malformed, "") << to_text(c);
    for (const auto& [cause, n] : o.unknown) sum.unknown[cause] += n;
    sum.elements += o.elements;
    sum.unspecified += o.unspecified;
    sum.ambiguous += o.ambiguous;
    sum.kernels += o.kernels;
    sum.sharing += o.sharing;
  }
  int64_t unknown = 0;
  for (const auto& [cause, n] : sum.unknown) unknown += n;
  EXPECT_LE(unknown * 50, count);
  EXPECT_GT(sum.elements, 10 * count);
  EXPECT_LE((sum.unspecified + sum.ambiguous) * 4, sum.elements);
  RecordProperty("unspecified", std::to_string(sum.unspecified));
  if (std::getenv("ASSAY_PROGRAMS") == nullptr) return;
  std::printf("%lld elements, %lld unspecified, %lld ambiguous, %lld kernels, %lld sharing\n",
              static_cast<long long>(sum.elements), static_cast<long long>(sum.unspecified),
              static_cast<long long>(sum.ambiguous), static_cast<long long>(sum.kernels),
              static_cast<long long>(sum.sharing));
  for (const auto& [cause, n] : sum.unknown) {
    std::printf("unknown %s: %lld\n", cause.c_str(), static_cast<long long>(n));
  }
}

}  // namespace
}  // namespace assay::fuzz
