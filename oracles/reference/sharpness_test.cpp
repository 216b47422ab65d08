#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "oracles/reference/test_device.h"

// Chains of operations stay honest and tight, and planted faults fall outside.
namespace assay::reference {
namespace {

using enum uop::DType;

// One value of a chain, and if it is a product, of which two: a sum may contract it.
struct Step {
  Operand value;
  bool is_product = false;
  double factors[2] = {};
};

constexpr Fn kSteps[] = {Fn::Add, Fn::Add, Fn::Sub,  Fn::Mul,    Fn::Mul,   Fn::Div, Fn::Max,
                         Fn::Min, Fn::Exp, Fn::Sqrt, Fn::Sin,    Fn::Log,   Fn::Cos, Fn::Neg,
                         Fn::Abs, Fn::Fma, Fn::Exp2, Fn::Square, Fn::Recip, Fn::Pow};

Step ordinary(Random& random, DType t) {
  const double x = nearest(t, random.signed_unit() * 2);
  return {{of_double(t, x), x}, false, {}};
}

// A chain of operations, each on values before it, which a device runs with errors and
// contractions.
struct Chain {
  std::vector<Step> steps;
  std::string text;

  void extend(Random& random, DType t) {
    const Fn fn = kSteps[random.below(std::size(kSteps))];
    const auto any = [&]() -> const Step& {
      // Mostly recent ones, so that errors grow.
      const int64_t n = static_cast<int64_t>(steps.size());
      return steps[static_cast<size_t>(n - 1 - random.below(std::min<int64_t>(n, 5)))];
    };
    const Step a = any();
    const Step b = any();
    const Step c = any();
    Step r;
    r.value.known = apply(fn, t, a.value.known, b.value.known, c.value.known);
    const bool is_contracted = fn == Fn::Add && a.is_product && random.chance(2);
    r.value.actual =
        is_contracted
            ? device(Fn::Fma, t, a.factors[0], a.factors[1], b.value.actual, 0)
            : device(fn, t, a.value.actual, b.value.actual, c.value.actual, random.signed_unit());
    if (fn == Fn::Mul) r = {r.value, true, {a.value.actual, b.value.actual}};
    text +=
        fmt::format("{}({}; {}; {}) = {:.17g} {}\n", name_of(fn), show(a.value.known),
                    show(b.value.known), show(c.value.known), r.value.actual, show(r.value.known));
    steps.push_back(r);
  }
};

struct Chains : testing::TestWithParam<DType> {};

TEST_P(Chains, AreHonestAndTight) {
  const DType t = GetParam();
  Random random(11);
  Tally tally;
  for (int n = 0; n < 1000; n++) {
    Chain chain;
    for (int i = 0; i < 4; i++) chain.steps.push_back(ordinary(random, t));
    for (int i = 0; i < 10; i++) {
      chain.extend(random, t);
      tally.judge(chain.steps.back().value.known, t, chain.steps.back().value.actual, chain.text);
    }
  }
  EXPECT_EQ(tally.trouble(), "");
  EXPECT_LT(tally.looseness(), 20);
  EXPECT_LT(tally.masked(), uop::bits_of(t) == 8 ? 0.5 : 0.25);
}

std::string sharp_type(const testing::TestParamInfo<DType>& info) {
  return std::string(uop::to_text(info.param));
}
INSTANTIATE_TEST_SUITE_P(Every, Chains, testing::ValuesIn(kAllFloats), sharp_type);

TEST(Faults, AnOperationDoneInHalfIsOutside) {
  Random random(1);
  int caught = 0;
  for (int n = 0; n < 1000; n++) {
    const double x = nearest(F32, 1 + random.signed_unit() / 2);
    const double y = nearest(F32, 1 + random.signed_unit() / 2);
    const double z = nearest(F32, random.signed_unit());
    // exp(x * y) + z, the product of which is one in f16
    const Bounded product = apply(Fn::Mul, F32, of_double(F32, x), of_double(F32, y));
    const Bounded power = apply(Fn::Exp, F32, product);
    const Bounded known = apply(Fn::Add, F32, power, of_double(F32, z));
    const double half = device(Fn::Mul, F16, nearest(F16, x), nearest(F16, y), 0, 0);
    const double faulty = device(Fn::Add, F32, device(Fn::Exp, F32, half, 0, 0, 0), z, 0, 0);
    const double sound = device(
        Fn::Add, F32, device(Fn::Exp, F32, device(Fn::Mul, F32, x, y, 0, 0), 0, 0, 1), z, 0, 0);
    ASSERT_TRUE(admits(known, F32, sound)) << show(known);
    if (!admits(known, F32, faulty)) caught++;
  }
  EXPECT_GT(caught, 980);
}

TEST(Faults, ASumThatLosesOneTermInAThousandIsOutside) {
  Random random(2);
  int caught = 0;
  for (int n = 0; n < 100; n++) {
    std::vector<Bounded> x;
    double total = 0;
    for (int i = 0; i < 1000; i++) {
      const double term = nearest(F32, 1 + random.signed_unit() / 2);
      x.push_back(of_double(F32, term));
      if (i != 500) total = device(Fn::Add, F32, total, term, 0, 0);
    }
    if (!admits(sum(F32, x), F32, total)) caught++;
  }
  EXPECT_EQ(caught, 100);
}

TEST(Faults, Exp2OffByThreeTimesItsLimitIsOutside) {
  Random random(3);
  for (int n = 0; n < 1000; n++) {
    const double x = nearest(F32, random.signed_unit() * 20);
    const double right = device(Fn::Exp2, F32, x, 0, 0, 0);
    const double faulty = right + 12 * unit_of(F32, right);
    const Bounded known = apply(Fn::Exp2, F32, of_double(F32, x));
    ASSERT_TRUE(admits(known, F32, right)) << show(known);
    ASSERT_FALSE(admits(known, F32, faulty)) << show(known);
  }
}

TEST(Faults, ATruncatingAdditionIsOutside) {
  Random random(4);
  int wrong = 0;
  int caught = 0;
  for (int n = 0; n < 1000; n++) {
    const double x = nearest(F32, random.signed_unit());
    const double y = nearest(F32, random.signed_unit() * 4);
    const double right = device(Fn::Add, F32, x, y, 0, 0);
    const double unit = unit_of(F32, right);
    const double cut = std::trunc((x + y) / unit) * unit;
    if (cut != right) wrong++;
    if (!admits(apply(Fn::Add, F32, of_double(F32, x), of_double(F32, y)), F32, cut)) caught++;
  }
  EXPECT_GT(wrong, 100);
  EXPECT_EQ(caught, wrong);
}

}  // namespace
}  // namespace assay::reference
