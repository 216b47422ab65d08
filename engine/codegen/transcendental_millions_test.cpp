// Own functions at f32 on millions of arguments, by this machine's arithmetic, against f64's.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "engine/codegen/native_term.h"
#include "engine/codegen/transcendental.h"
#include "engine/uop/rewrite.h"

namespace assay::codegen {
namespace {

using uop::F32;
using uop::Graph;
using uop::Op;
using uop::Ref;

double exact(Op op, double x) {
  switch (op) {
    case Op::Exp: return std::exp(x);
    case Op::Exp2: return std::exp2(x);
    case Op::Log: return std::log(x);
    case Op::Log2: return std::log2(x);
    case Op::Sin: return std::sin(x);
    case Op::Cos: return std::cos(x);
    default: return std::tan(x);
  }
}

// In units in the last place that `expected` has at f32.
double ulps(float got, double expected) {
  if (std::isnan(expected) || std::isnan(got)) {
    return std::isnan(expected) && std::isnan(got) ? 0 : HUGE_VAL;
  }
  if (static_cast<float>(expected) == got && std::signbit(got) == std::signbit(expected)) return 0;
  if (std::signbit(got) != std::signbit(expected) || std::isinf(expected)) return HUGE_VAL;
  const double end = std::isinf(got) ? std::copysign(0x1p128, got) : double{got};
  const int exponent = expected == 0 ? -126 : std::ilogb(expected);
  return std::fabs(end - expected) / std::ldexp(1.0, std::max(exponent, -126) - 23);
}

// ASSAY_SAMPLES: how many arguments instead, 4294967296 for all there are.
uint64_t samples(uint64_t usual) {
  const char* given = std::getenv("ASSAY_SAMPLES");
  return given == nullptr ? usual : std::strtoull(given, nullptr, 10);
}

struct WorstPoint {
  double ulps = 0;
  float at = 0;
};

bool is_subnormal(double x) { return x != 0 && std::fabs(x) < 0x1p-126; }

// The worst of so many arguments; where subnormals are flushed, of those that are none and have no
// such result.
WorstPoint worst_of(Op op, uint64_t count, NativeTerm::Licence licence) {
  Graph g;
  uop::Run run(g);
  const uop::RuleSet* sets[] = {&transcendental_rules()};
  NativeTerm term(g, run.rewrite(sets, g.alu(op, {g.variable("x", F32)})).value(), licence);
  std::mt19937 random(1);
  WorstPoint worst;
  NativeTerm::Lanes x(NativeTerm::kLanes);
  for (uint64_t done = 0; done < count; done += x.size()) {
    for (size_t i = 0; i < x.size(); i++) {
      x[i] = count >= (uint64_t{1} << 32) ? done + i : static_cast<uint32_t>(random());
    }
    const NativeTerm::Lanes& y = term.run(x);
    for (size_t i = 0; i < x.size(); i++) {
      const auto argument = std::bit_cast<float>(static_cast<uint32_t>(x[i]));
      const double expected = exact(op, argument);
      if (licence.flushes && (is_subnormal(argument) || is_subnormal(expected))) continue;
      const double off = ulps(std::bit_cast<float>(static_cast<uint32_t>(y[i])), expected);
      if (off > worst.ulps) worst = {off, argument};
    }
  }
  return worst;
}

class Millions : public testing::TestWithParam<Op> {};

TEST_P(Millions, AreWithinThePromise) {
  const uint64_t count = samples(1'000'000);
  const WorstPoint worst = worst_of(GetParam(), count, {});
  std::printf("%s f32: %.3f ulps at %a, %llu points\n", std::string(to_text(GetParam())).c_str(),
              worst.ulps, worst.at, static_cast<unsigned long long>(count));
  EXPECT_LE(worst.ulps, *promised_ulps(GetParam()));
}

// However a device uses its licence: rough reciprocals, flushed subnormals.
TEST_P(Millions, AreWithinThePromiseOnRoughDevices) {
  for (const int off : {-3, 2, 3}) {
    const WorstPoint worst = worst_of(GetParam(), 100'000, {.recip_off = off, .flushes = off != 2});
    EXPECT_LE(worst.ulps, *promised_ulps(GetParam())) << off << " " << worst.at;
  }
}

INSTANTIATE_TEST_SUITE_P(Transcendental, Millions,
                         testing::Values(Op::Exp, Op::Exp2, Op::Log, Op::Log2, Op::Sin, Op::Cos,
                                         Op::Tan),
                         [](const auto& c) { return std::string(uop::to_text(c.param)); });

}  // namespace
}  // namespace assay::codegen
