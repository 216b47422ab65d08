#include "oracles/reference/licence.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "oracles/reference/test_device.h"

// What devices do with a licence lies within the bounds, and what they do beyond it does not.
namespace assay::reference {
namespace {

using enum uop::DType;

constexpr DType kFlushing[] = {E4M3, E5M2, F16, BF16, F32};

double least_normal(DType t) {
  const uop::FloatFormat f = uop::format_of(t);
  return std::ldexp(1, f.min_exponent() + f.mantissa_bits);
}

// x as a device has it that flushes when it likes.
double flushed(Random& random, DType t, double x) {
  const bool is_subnormal = x != 0 && std::fabs(x) < least_normal(t);
  if (!is_subnormal || random.chance(2)) return x;
  return random.chance(2) ? 0.0 : -0.0;
}

// Half of them about the least numbers, where there is something to flush.
Operand small_operand(Random& random, DType t) {
  if (random.chance(2))
    return random.chance(2) ? exact_operand(random, t) : bounded_operand(random, t);
  const double x = nearest(t, random.signed_unit() * 4 * least_normal(t));
  return {of_double(t, x), x};
}

double flushing_device(Random& random, Fn fn, DType t, double x, double y, double z) {
  if (!is_arithmetic(fn)) return device(fn, t, x, y, z, random.signed_unit());
  const double a = flushed(random, t, x);
  const double b = flushed(random, t, y);
  const double c = flushed(random, t, z);
  return flushed(random, t, device(fn, t, a, b, c, random.signed_unit()));
}

struct Flushing : testing::TestWithParam<DType> {
  DType t = GetParam();
  Licence licence = Licence(true, {GetParam()}, {});
  Type type = {t, licence};
};

TEST_P(Flushing, OfOneOperationIsWithinBounds) {
  Random random(1);
  for (int i = 0; i < kFnCount; i++) {
    const Fn fn = Fn(i);
    if (!types_of(fn).has(t) || fn == Fn::Where) continue;
    Tally tally;
    for (int n = 0; n < 1000; n++) {
      const Operand a = small_operand(random, t);
      const Operand b = small_operand(random, t);
      const Operand c = small_operand(random, t);
      tally.judge(apply(fn, type, a.known, b.known, c.known), result_type(fn, t),
                  flushing_device(random, fn, t, a.actual, b.actual, c.actual),
                  fmt::format("{}({:.17g} [{}], {:.17g} [{}], {:.17g} [{}])", name_of(fn), a.actual,
                              show(a.known), b.actual, show(b.known), c.actual, show(c.known)));
    }
    EXPECT_EQ(tally.trouble(), "");
    EXPECT_LT(tally.looseness(), 10) << name_of(fn);
  }
}

TEST_P(Flushing, OfFoldsIsWithinBoundsInAnyOrder) {
  Random random(2);
  for (const Fn fn : {Fn::Add, Fn::Mul, Fn::Max, Fn::Min}) {
    Tally tally;
    for (int i = 0; i < 1000; i++) {
      std::vector<Bounded> known;
      std::vector<double> left;
      std::string text;
      for (int64_t n = 2 + random.below(8); n > 0; n--) {
        const Operand x = small_operand(random, t);
        known.push_back(x.known);
        left.push_back(x.actual);
        text += fmt::format("{:.17g} [{}] ", x.actual, show(x.known));
      }
      while (left.size() > 1) {
        std::swap(left[static_cast<size_t>(random.below(std::ssize(left)))], left.back());
        const double last = left.back();
        left.pop_back();
        double& other = left[static_cast<size_t>(random.below(std::ssize(left)))];
        other = flushing_device(random, fn, t, other, last, 0);
      }
      const auto fold = fn == Fn::Add   ? sum
                        : fn == Fn::Mul ? product
                        : fn == Fn::Max ? maximum
                                        : minimum;
      tally.judge(fold(type, known), t, left[0], text);
    }
    EXPECT_EQ(tally.trouble(), "") << name_of(fn);
  }
}

TEST_P(Flushing, LeavesTheBoundsOfAllElseAsTheyAre) {
  Random random(3);
  for (int n = 0; n < 1000; n++) {
    const Bounded x = of_double(t, nearest(t, 1 + random.signed_unit() / 2));
    const Bounded y = of_double(t, nearest(t, 2 + random.signed_unit() / 2));
    for (const Fn fn : {Fn::Add, Fn::Sub, Fn::Mul, Fn::Div, Fn::Exp, Fn::Sqrt, Fn::Max}) {
      const Bounded kept = apply(fn, t, x, y);
      if (std::fabs(kept.value) - kept.bound < least_normal(t)) continue;
      EXPECT_EQ(show(apply(fn, type, x, y)), show(kept)) << name_of(fn);
    }
    const Bounded both[] = {x, y, x};
    EXPECT_EQ(show(sum(type, both)), show(sum(t, both)));
  }
}

// What is flushed where it may not be is outside, and so is half of what may be flushed at most.
TEST_P(Flushing, IsOutsideWhereItIsNoLicence) {
  const double least = least_normal(t);
  const Bounded x = of_double(t, least * 1.5);
  const Bounded y = of_double(t, -least);
  EXPECT_FALSE(admits(apply(Fn::Add, t, x, y), t, 0));
  EXPECT_TRUE(admits(apply(Fn::Add, type, x, y), t, 0));
  EXPECT_TRUE(admits(apply(Fn::Add, type, x, y), t, -0.0));
  EXPECT_FALSE(admits(apply(Fn::Add, type, x, y), t, least));
  EXPECT_FALSE(admits(apply(Fn::Sub, type, x, y), t, 0));
  EXPECT_FALSE(admits(apply(Fn::Neg, type, of_double(t, least / 2)), t, 0));
}

std::string flushing_type_name(const testing::TestParamInfo<DType>& info) {
  return std::string(uop::to_text(info.param));
}
INSTANTIATE_TEST_SUITE_P(Every, Flushing, testing::ValuesIn(kFlushing), flushing_type_name);

TEST(Contracting, IsOutsideWhereItIsNoLicence) {
  const Licence apart(false, {}, {});
  Random random(4);
  for (const DType t : kAllFloats) {
    const Type type(t, apart);
    int differing = 0;
    for (int n = 0; n < 1000; n++) {
      const double x = nearest(t, random.signed_unit() * 4);
      const double y = nearest(t, random.signed_unit() * 4);
      const double z = nearest(t, random.signed_unit() * 4);
      const double product = device(Fn::Mul, t, x, y, 0, 0);
      const double rounded = device(Fn::Add, t, product, z, 0, 0);
      const double contracted = device(Fn::Fma, t, x, y, z, 0);
      const Bounded known = apply(
          Fn::Add, type, apply(Fn::Mul, type, of_double(t, x), of_double(t, y)), of_double(t, z));
      EXPECT_TRUE(admits(known, t, rounded)) << show(known);
      if (rounded == contracted) continue;
      differing++;
      EXPECT_FALSE(admits(known, t, contracted)) << show(known);
    }
    EXPECT_GT(differing, 20) << uop::to_text(t);
  }
}

TEST(Limits, AreThoseOfTheLicence) {
  const Limit limits[] = {{Fn::Div, {F16, F32}, 0}, {Fn::Exp, {F16}, 2}};
  const Licence licence(true, {}, limits);
  EXPECT_EQ(ulp_limit(Fn::Div, {F16, licence}), 0.5);
  EXPECT_EQ(ulp_limit(Fn::Exp, {F16, licence}), 2);
  EXPECT_EQ(ulp_limit(Fn::Exp, {F32, licence}), 4);
  Random random(5);
  for (const DType t : {F16, F32}) {
    for (int n = 0; n < 1000; n++) {
      const double x = nearest(t, 1 + random.signed_unit() / 2);
      const double y = nearest(t, 1 + random.signed_unit() / 2);
      const Bounded r = apply(Fn::Div, {t, licence}, of_double(t, x), of_double(t, y));
      EXPECT_TRUE(r.is_exact());
      EXPECT_EQ(r.value, device(Fn::Div, t, x, y, 0, 0));
    }
  }
}

TEST(Licences, OfTwoDevicesAllowWhatEitherDoes) {
  const Limit two[] = {{Fn::Exp, {F16}, 2}};
  const Licence both = looser(Licence(false, {F32}, {}), Licence(true, {}, two));
  EXPECT_TRUE(both.format(F32).contracts);
  EXPECT_EQ(both.format(F32).flush, least_normal(F32));
  EXPECT_EQ(both.format(F16).flush, 0);
  EXPECT_EQ(ulp_limit(Fn::Exp, {F16, both}), 2);
}

}  // namespace
}  // namespace assay::reference
