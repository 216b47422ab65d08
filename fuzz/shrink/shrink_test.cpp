#include "fuzz/shrink/shrink.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>

#include "engine/tensor/program/text.h"
#include "fuzz/mutate/edit.h"
#include "fuzz/mutate/generate.h"
#include "fuzz/shrink/op_fault.h"
#include "fuzz/trial/trial.h"
#include "oracles/workgroup/sim.h"

namespace assay::fuzz {
namespace {

using uop::DType;
using uop::Op;

Case case_of(const std::string& text) {
  Result<Case> c = case_from_text(text);
  EXPECT_TRUE(c.ok()) << to_string(c.error());
  return std::move(c).value();
}

Case large_case(uint64_t seed, int statements) {
  Choices choices(seed);
  CaseOptions options;
  options.program.statements = statements;
  return make_case(choices, options);
}

TrialOptions on_sim() {
  static const runtime::DeviceKind* const kKinds[] = {&workgroup::sim_kind()};
  TrialOptions options;
  options.kinds = kKinds;
  return options;
}

// Whether a program has an op.
bool has_op(const Case& c, tensor::Op op) {
  for (size_t i = 0; i < c.program.statements.size(); i++) {
    const tensor::Define* d = define_at(c.program, i);
    if (d != nullptr && d->op == op) return true;
  }
  return false;
}

TEST(Shrink, KeepsNoMoreThanWhatFails) {
  for (uint64_t seed = 0; seed < 20; seed++) {
    const Case c = large_case(seed, 60);
    for (const tensor::Op op : {tensor::Op::Sort, tensor::Op::Conv, tensor::Op::CumSum}) {
      if (!has_op(c, op)) continue;
      const Shrunk s = shrink(c, [&](const Case& x) { return has_op(x, op); });
      EXPECT_TRUE(s.is_done);
      EXPECT_TRUE(has_op(s.smallest, op));
      const size_t most = op == tensor::Op::Conv ? 3 : 2;
      EXPECT_LE(s.smallest.program.statements.size(), most) << to_text(s.smallest);
      EXPECT_EQ(s.smallest.device, "sim:0");
      EXPECT_EQ(s.smallest.opts, "");
      EXPECT_EQ(s.smallest.seed, 1U);
    }
  }
}

TEST(Shrink, MakesSizesTypesAndContentsSmall) {
  const Case c = case_of(
      "# seed 9\ntp 1\nvar n in 1..8 = 4\n"
      "a: f16[6, n, 32] = input(random=normal, seed=77)\nb: f16[32, n, 6] = permute(a)\n"
      "c: f16[32, n] = sum(b, axes=[2], acc=f32)\nd: f16[32, n] = mul(c, 17.5)\nforce d, b\n");
  const Shrunk s = shrink(c, [](const Case& x) { return has_op(x, tensor::Op::Sum); });
  EXPECT_EQ(to_text(s.smallest), "tp 1\nb: f32[] = input(step=1)\nc: f32[] = sum(b)\n");
}

TEST(Shrink, KeepsTheSettingsAndEntriesThatMatter) {
  const Case c = case_of(
      "# device sim:adversary\n# opts LOCAL(0,4) UPCAST(1,2) UNROLL(0,4)\n# seed 9\ntp 1\n"
      "a: f32[4, 8, 4] = input(random=normal)\nb: f32[4, 8] = sum(a, axes=[2])\n");
  const Shrunk s = shrink(c, [](const Case& x) {
    return x.opts.find("UPCAST(1,2)") != std::string::npos && x.device == "sim:adversary";
  });
  EXPECT_EQ(s.smallest.opts, "UPCAST(1,2)");
  EXPECT_EQ(s.smallest.device, "sim:adversary");
  EXPECT_EQ(s.smallest.seed, 1U);
}

TEST(Shrink, SaysTheListThatASeedDraws) {
  Case c = large_case(1, 6);
  c.opts = "random:5";
  ShrinkOptions options;
  options.lists = [](const Case& x) {
    return x.opts == "random:5" ? std::vector<std::string>{"LOCAL(0,2) UPCAST(0,4)"}
                                : std::vector<std::string>{};
  };
  const auto fails = [](const Case& x) {
    return x.opts == "random:5" || x.opts.find("UPCAST") != std::string::npos;
  };
  EXPECT_EQ(shrink(c, fails, options).smallest.opts, "UPCAST(0,4)");
}

TEST(Shrink, LeavesAProgramThatIsRefusedAsItIs) {
  const Case c = case_of(
      "tp 1\na: f32[4] = input(random=uniform)\nx: f32[4] = exp(a)\nb: f32[5] = mul(a, a)\n");
  const auto fails = [](const Case& x) {
    return tensor::to_text(x.program).find("f32[5] = mul(a, a)") != std::string::npos;
  };
  EXPECT_EQ(to_text(shrink(c, fails).smallest),
            "tp 1\na: f32[] = input(step=1)\nb: f32[5] = mul(a, a)\n");
}

TEST(Shrink, StopsWhenTrialsRunOut) {
  const Case c = large_case(3, 40);
  int asked = 0;
  const auto fails = [&](const Case&) {
    asked++;
    return true;
  };
  const Shrunk s = shrink(c, fails, {.trials = 7});
  EXPECT_EQ(asked, 7);
  EXPECT_EQ(s.trials, 7);
  EXPECT_FALSE(s.is_done);
}

struct PlantedFault {
  Op from, to;
  DType dtype;
};
constexpr PlantedFault kFaults[] = {
    {Op::Max, Op::Min, DType::F32},  {Op::Xor, Op::Or, DType::I32},
    {Op::TMod, Op::Mod, DType::I32}, {Op::Sqrt, Op::Recip, DType::F32},
    {Op::Mul, Op::Sub, DType::F32},  {Op::Lt, Op::Ne, DType::Bool},
};

// The case, shrunk to the same finding; nothing where the fault does not show in it.
std::optional<Shrunk> shrunk_by_trial(const Case& c, const PlantedFault& f, Trial& trial) {
  OpFault fault(f.from, f.to, f.dtype);
  const Outcome outcome = trial.run(c, {}, &fault);
  if (outcome.findings.empty()) return std::nullopt;
  const Finding wanted = outcome.findings[0];
  if (std::getenv("ASSAY_PROGRAMS") != nullptr) {
    std::printf("%s at %s (%s): %s\n", wanted.judge.c_str(), wanted.stage.c_str(),
                wanted.shape.c_str(), wanted.evidence.c_str());
  }
  const auto fails = [&](const Case& x) {
    const Outcome o = trial.run(x, {}, &fault);
    return std::ranges::any_of(o.findings, [&](const Finding& g) { return is_same(g, wanted); });
  };
  return shrink(c, fails);
}

// A case that is judged: nothing is wrong with it, and nothing unknown.
Case judged_case(uint64_t seed, int size, Trial& trial) {
  const Case c = large_case(seed, size);
  const Outcome o = trial.run(c);
  EXPECT_EQ(o.malformed, "");
  EXPECT_TRUE(o.findings.empty()) << o.findings[0].evidence;
  EXPECT_TRUE(o.unknown.empty()) << o.unknown.begin()->first << " in the case of seed " << seed;
  EXPECT_GT(o.elements, 0);
  return c;
}

// ASSAY_STATEMENTS and ASSAY_PROGRAMS say how large and how many.
TEST(Shrink, FindsTheOpThatAnEngineGetsWrong) {
  const char* statements = std::getenv("ASSAY_STATEMENTS");
  const char* programs = std::getenv("ASSAY_PROGRAMS");
  const int size = statements != nullptr ? std::atoi(statements) : 60;
  const int count = programs != nullptr ? std::atoi(programs) : 3;
  Trial trial(on_sim());
  std::vector<size_t> sizes;
  for (const PlantedFault& f : kFaults) {
    for (int seed = 0; seed < count; seed++) {
      const auto start = std::chrono::steady_clock::now();
      const Case c = judged_case(static_cast<uint64_t>(seed) + 100, size, trial);
      const std::optional<Shrunk> s = shrunk_by_trial(c, f, trial);
      if (!s) continue;
      sizes.push_back(s->smallest.program.statements.size());
      EXPECT_LE(sizes.back(), 8U) << to_text(s->smallest);
      if (programs == nullptr) continue;
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      std::printf("%s seed %d: %zu -> %zu statements, %lld trials, %.2f s\n%s",
                  std::string(uop::to_text(f.from)).c_str(), seed, c.program.statements.size(),
                  s->smallest.program.statements.size(), static_cast<long long>(s->trials),
                  took.count(), to_text(s->smallest).c_str());
    }
  }
  ASSERT_GE(sizes.size(), 2U);
  std::ranges::sort(sizes);
  EXPECT_LE(sizes[sizes.size() / 2], 6U);
}

}  // namespace
}  // namespace assay::fuzz
