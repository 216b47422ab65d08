// The work-group machine as an adversary against the bounds of the reference.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "engine/uop/value.h"
#include "oracles/compare.h"
#include "oracles/workgroup/sim.h"
#include "oracles/workgroup/test_launch.h"

namespace assay::oracles {
namespace {

using reference::Bounded;
using reference::Fn;
using uop::DType;
using uop::Op;
using uop::Value;
using workgroup::Adversary;
using workgroup::TestLaunch;

constexpr int kItems = 64;

struct Function {
  Op op;
  Fn fn;
};
constexpr Function kFunctions[] = {
    {Op::Recip, Fn::Recip}, {Op::Sqrt, Fn::Sqrt}, {Op::Exp, Fn::Exp}, {Op::Exp2, Fn::Exp2},
    {Op::Log, Fn::Log},     {Op::Log2, Fn::Log2}, {Op::Sin, Fn::Sin}, {Op::Cos, Fn::Cos},
    {Op::Tan, Fn::Tan},     {Op::FDiv, Fn::Div},  {Op::Pow, Fn::Pow},
};

// Numbers of which functions have results that are no zeros or infinities, mostly.
Value drawn(std::mt19937_64& random, DType t) {
  const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
  if (random() % 8 == 0) return {t, random() >> (64 - uop::bits_of(t))};
  if (random() % 8 == 0) return uop::of_int(t, static_cast<int>(random() % 9) - 4);
  return uop::of_double(t, std::ldexp(unit + 1, static_cast<int>(random() % 9) - 5));
}

// One operation on drawn operands: what the reference knows, and what the machine says.
struct Trial {
  TestLaunch launch;
  reference::Array expected;

  Trial(const Function& f, DType t, const Adversary& adversary, uint64_t seed)
      : launch(workgroup::elementwise(f.op, t, operands(f, t), kItems)) {
    std::mt19937_64 random(seed);
    const size_t count = operands(f, t).size();
    const auto size = static_cast<size_t>(uop::bytes_of(t));
    launch.bytes.assign(count + 1, std::vector<std::byte>(kItems * size));
    launch.launch.items[0] = kItems;
    launch.target = workgroup::sim_target();
    launch.options.adversary = adversary;
    expected = {t, {kItems}, reference::Elements(kItems)};
    for (int i = 0; i < kItems; i++) {
      Bounded known[2];
      for (size_t k = 0; k < count; k++) {
        const Value v = drawn(random, t);
        known[k] = reference::from_bits(t, v.bits);
        std::memcpy(launch.bytes[k + 1].data() + static_cast<size_t>(i) * size, &v.bits, size);
      }
      expected.elements(i) = reference::apply(f.fn, t, known[0], known[1]);
    }
  }
  static std::vector<DType> operands(const Function& f, DType t) {
    return std::vector<DType>(static_cast<size_t>(uop::info(f.op).min_sources), t);
  }
  Comparison run() {
    EXPECT_EQ(launch.findings(), "");
    return compare(expected, launch.bytes[0]);
  }
};

class Adversaries : public testing::TestWithParam<Function> {};

TEST_P(Adversaries, StayWithinTheirLicenceAndUseIt) {
  for (const DType t : {DType::F32, DType::F64, DType::F16, DType::BF16}) {
    double closest = 1e9;
    for (uint64_t seed = 0; seed < 50; seed++) {
      const Comparison c = Trial(GetParam(), t, Adversary{seed}, seed).run();
      ASSERT_TRUE(c.agrees()) << uop::to_text(t) << ", seed " << seed << ": " << to_text(c);
      for (const double s : c.sharpness) closest = std::min(closest, s);
    }
    const double limit = uop::ulp_limit(workgroup::sim_target(), GetParam().op, t).value();
    EXPECT_LT(limit > 1 ? closest : 0, 1.35) << uop::to_text(t);
  }
}

TEST_P(Adversaries, AreCaughtWhenTheyGoTwiceAsFar) {
  int caught = 0;
  for (uint64_t seed = 0; seed < 200; seed++) {
    const DType types[] = {DType::F32, DType::F64, DType::F16, DType::BF16};
    const Adversary adversary = {seed, GetParam().op, 2};
    if (!Trial(GetParam(), types[seed % 4], adversary, seed).run().agrees()) caught++;
  }
  EXPECT_GE(caught, 190);
}

INSTANTIATE_TEST_SUITE_P(EveryFunction, Adversaries, testing::ValuesIn(kFunctions),
                         [](const auto& row) { return std::string(to_text(row.param.op)); });

// a * b + c or a * b - c or c - a * b
constexpr std::string_view kSum = R"(uop 1 linear
%n = const i32 64
%i = special i32 %n {"lidx0"}
%p0 = param f32 %n {0}
%p1 = param f32 %n {1}
%p2 = param f32 %n {2}
%p3 = param f32 %n {3}
%a1 = index f32 %p1 %i
%a2 = index f32 %p2 %i
%a3 = index f32 %p3 %i
%x = load f32 %a1
%y = load f32 %a2
%z = load f32 %a3
%m = mul f32 %x %y
%s = )";
constexpr std::string_view kSumEnd = R"(
%to = index f32 %p0 %i
%st = store void %to %s
%k = linear void %n %i %p0 %p1 %p2 %p3 %a1 %a2 %a3 %x %y %z %m %s %to %st {"k"}
)";

std::vector<float> contracted(std::string_view sum, uint64_t seed, bool may) {
  TestLaunch launch(std::string(kSum) + std::string(sum) + std::string(kSumEnd));
  std::mt19937_64 random(5);
  launch.add<float>(std::vector<float>(kItems));
  for (int k = 0; k < 3; k++) {
    std::vector<float> x(kItems);
    for (float& v : x) v = static_cast<float>(random() % 1000003) / 997.0F;
    launch.add<float>(x);
  }
  launch.launch.items[0] = kItems;
  launch.target.math.contracts = may;
  launch.target.math.subnormals = uop::Subnormals::Kept;
  launch.options.adversary = Adversary{seed};
  EXPECT_EQ(launch.findings(), "");
  std::vector<float> result = launch.get<float>(0);
  const std::vector<float> x = launch.get<float>(1);
  const std::vector<float> y = launch.get<float>(2);
  const std::vector<float> z = launch.get<float>(3);
  for (size_t i = 0; i < result.size(); i++) {
    const double product = double{x[i]} * y[i];
    double exact = product + z[i];
    if (sum == "sub f32 %m %z") exact = product - z[i];
    if (sum == "sub f32 %z %m") exact = z[i] - product;
    const double unit = std::ldexp(1.0, std::ilogb(product) - 23);
    EXPECT_LE(std::fabs(result[i] - exact), unit);
  }
  return result;
}

TEST(Contraction, IsTakenOrNotByTheSeed) {
  for (const std::string_view sum :
       {"add f32 %m %z", "add f32 %z %m", "sub f32 %m %z", "sub f32 %z %m"}) {
    const std::vector<float> apart = contracted(sum, 0, false);
    int other = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
      EXPECT_EQ(contracted(sum, seed, false), apart);
      if (contracted(sum, seed, true) != apart) other++;
    }
    EXPECT_GT(other, 2) << sum;
    EXPECT_LT(other, 18) << sum;
  }
}

TEST(Subnormals, AreFlushedWhereTheTargetSaysSo) {
  const auto sum_of = [](uop::Subnormals rule, uint64_t seed) {
    TestLaunch launch(workgroup::elementwise(Op::Add, DType::F32, {DType::F32, DType::F32}, 2));
    launch.add<float>({0, 0});
    launch.add<float>({0x1p-140F, 0x1.8p-126F});
    launch.add<float>({0x1p-120F, -0x1p-126F});
    launch.launch.items[0] = 2;
    launch.target.math.subnormals = rule;
    launch.options.adversary = Adversary{seed};
    EXPECT_EQ(launch.findings(), "");
    return launch.get<float>(0);
  };
  const std::vector<float> kept = {0x1.00001p-120F, 0x1p-127F};
  const std::vector<float> flushed = {0x1p-120F, 0};
  EXPECT_EQ(sum_of(uop::Subnormals::Kept, 0), kept);
  EXPECT_EQ(sum_of(uop::Subnormals::Flushed, 0), flushed);
  int both = 0;
  for (uint64_t seed = 0; seed < 16; seed++) {
    if (sum_of(uop::Subnormals::Either, seed) == flushed) both++;
  }
  EXPECT_GT(both, 0);
  EXPECT_LT(both, 16);
}

}  // namespace
}  // namespace assay::oracles
