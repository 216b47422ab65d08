#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "oracles/reference/test_device.h"

namespace assay::reference {
namespace {

using enum uop::DType;

std::vector<Bounded> known_of(std::span<const Operand> operands) {
  std::vector<Bounded> known;
  for (const Operand& x : operands) known.push_back(x.known);
  return known;
}

// A device's fold: the elements in a random order, two neighbours or two at random at a time.
double folded(Random& random, Fn fn, DType t, std::vector<double> x) {
  if (x.empty()) return fn == Fn::Mul ? 1 : 0;
  const bool is_tree = random.chance(2);
  while (x.size() > 1) {
    const size_t i = is_tree ? static_cast<size_t>(random.below(int64_t(x.size()))) : x.size() - 1;
    std::swap(x[i], x.back());
    const double last = x.back();
    x.pop_back();
    const size_t j = is_tree ? static_cast<size_t>(random.below(int64_t(x.size()))) : x.size() - 1;
    x[j] = device(fn, t, x[j], last, 0, 0);
  }
  return x[0];
}

// Products that are contracted with the sum or not, in a random order.
double dotted(Random& random, DType t, std::span<const Operand> a, std::span<const Operand> b) {
  std::vector<size_t> order(a.size());
  for (size_t i = 0; i < order.size(); i++) order[i] = i;
  for (size_t i = order.size(); i > 1; i--) {
    std::swap(order[i - 1], order[static_cast<size_t>(random.below(int64_t(i)))]);
  }
  double total = 0;
  for (const size_t i : order) {
    if (random.chance(2)) {
      total = device(Fn::Fma, t, a[i].actual, b[i].actual, total, 0);
      continue;
    }
    total = device(Fn::Add, t, total, device(Fn::Mul, t, a[i].actual, b[i].actual, 0, 0), 0, 0);
  }
  return total;
}

struct Folds : testing::TestWithParam<DType> {
  DType t = GetParam();

  std::vector<Operand> operands(Random& random, int64_t n) {
    std::vector<Operand> result;
    const int64_t style = random.below(4);
    for (int64_t i = 0; i < n; i++) {
      if (style == 0) {
        const double x = nearest(t, static_cast<double>(random.below(5)) - 2);
        result.push_back({of_double(t, x), x});
        continue;
      }
      Operand x =
          style == 1 && random.chance(2) ? bounded_operand(random, t) : exact_operand(random, t);
      // Nasty ones are rare, or every fold is one of them.
      while (!std::isfinite(x.actual) && !random.chance(20)) x = exact_operand(random, t);
      result.push_back(x);
    }
    return result;
  }

  // Calls judge(random, operands, their known parts) for many lists.
  template <typename Judge>
  void for_lists(Judge judge) {
    Random random(7);
    for (int i = 0; i < 600; i++) {
      const std::vector<Operand> x = operands(random, random.below(i % 20 == 0 ? 200 : 12));
      judge(random, x, known_of(x));
    }
  }
};

std::vector<double> actual_of(std::span<const Operand> operands) {
  std::vector<double> actual;
  for (const Operand& x : operands) actual.push_back(x.actual);
  return actual;
}

std::string show(std::span<const Operand> operands) {
  std::string text;
  for (const Operand& x : operands) text += fmt::format("{:.17g} [{}] ", x.actual, show(x.known));
  return text;
}

TEST_P(Folds, SumsAreHonestInAnyOrder) {
  Tally tally;
  for_lists([&](Random& random, std::span<const Operand> x, std::span<const Bounded> known) {
    tally.judge(sum(t, known), t, folded(random, Fn::Add, t, actual_of(x)), show(x));
  });
  EXPECT_EQ(tally.trouble(), "");
  EXPECT_LT(tally.looseness(), 15);
  EXPECT_LT(tally.masked(), uop::bits_of(t) == 8 ? 0.3 : 0.1);
}

TEST_P(Folds, ProductsAreHonestInAnyOrder) {
  Tally tally;
  for_lists([&](Random& random, std::span<const Operand> x, std::span<const Bounded> known) {
    tally.judge(product(t, known), t, folded(random, Fn::Mul, t, actual_of(x)), show(x));
  });
  EXPECT_EQ(tally.trouble(), "");
}

TEST_P(Folds, ExtremesAreHonestInAnyOrder) {
  Tally tally;
  for_lists([&](Random& random, std::span<const Operand> x, std::span<const Bounded> known) {
    if (x.empty()) return;
    tally.judge(maximum(t, known), t, folded(random, Fn::Max, t, actual_of(x)), show(x));
    tally.judge(minimum(t, known), t, folded(random, Fn::Min, t, actual_of(x)), show(x));
  });
  EXPECT_EQ(tally.trouble(), "");
  EXPECT_EQ(tally.masked(), 0);
}

TEST_P(Folds, DotsAreHonestContractedOrNot) {
  Tally tally;
  for_lists([&](Random& random, std::span<const Operand> x, std::span<const Bounded> known) {
    const std::vector<Operand> y = operands(random, int64_t(x.size()));
    tally.judge(dot(t, known, known_of(y)), t, dotted(random, t, x, y), show(x) + show(y));
  });
  EXPECT_EQ(tally.trouble(), "");
  EXPECT_LT(tally.looseness(), 10);
}

TEST_P(Folds, ScansAreTheFoldsOfTheElementsUpToEach) {
  for_lists([&](Random&, std::span<const Operand>, std::span<const Bounded> known) {
    std::vector<Bounded> out(known.size());
    const auto same = [&](auto scan, auto fold) {
      scan(t, std::span(out), known);
      for (size_t i = 0; i < out.size(); i++) {
        ASSERT_EQ(show(out[i]), show(fold(t, known.first(i + 1))));
      }
    };
    same(scan_sum, sum);
    same(scan_product, product);
    same(scan_maximum, maximum);
    same(scan_minimum, minimum);
  });
}

std::string name_of_type(const testing::TestParamInfo<DType>& info) {
  return std::string(uop::to_text(info.param));
}
INSTANTIATE_TEST_SUITE_P(Every, Folds, testing::ValuesIn(kAllFloats), name_of_type);

std::vector<Bounded> all_of(DType t, std::initializer_list<double> x) {
  std::vector<Bounded> result;
  for (const double v : x) result.push_back(of_double(t, v));
  return result;
}

TEST(Sum, OfSmallIntegersIsExact) {
  const std::vector<Bounded> x(4096, of_double(F32, 3));
  EXPECT_EQ(show(sum(F32, x)), show(of_double(F32, 12288)));
  EXPECT_EQ(show(sum(F16, all_of(F16, {2047, 1}))), show(of_double(F16, 2048)));
  EXPECT_FALSE(sum(F16, all_of(F16, {2047, 1, 1})).is_exact());
}

TEST(Sum, OfAMillionTermsHoldsForTheSlowestOrder) {
  const double tenth = nearest(F32, 0.1);
  const std::vector<Bounded> x(1000000, of_double(F32, tenth));
  const Bounded r = sum(F32, x);
  float naive = 0;
  for (size_t i = 0; i < x.size(); i++) naive += 0.1F;
  EXPECT_NEAR(r.value, 1e6 * tenth, 1e-6);
  EXPECT_TRUE(admits(r, F32, naive)) << show(r) << " without " << naive;
  EXPECT_GT(error_of(r, naive), 900);  // 100958.34 for 100000
}

TEST(Sum, AccumulatedInHalfStopsGrowing) {
  const std::vector<Bounded> x(4096, of_double(F16, 1));
  EXPECT_TRUE(admits(sum(F16, x), F16, 2048)) << show(sum(F16, x));
  EXPECT_EQ(show(sum(F32, x)), show(of_double(F32, 4096)));
}

TEST(Sum, OfWhatCancelsIsBoundedByWhatIsAdded) {
  const Bounded r = sum(F32, all_of(F32, {1e8, 1, -1e8}));
  EXPECT_TRUE(admits(r, F32, 0)) << show(r);
  EXPECT_TRUE(admits(r, F32, 1)) << show(r);
  EXPECT_FALSE(admits(r, F32, 100)) << show(r);
}

TEST(Sum, KnowsTheSignOfZero) {
  EXPECT_EQ(show(sum(F32, {})), show(of_double(F32, 0)));
  EXPECT_TRUE(sum(F32, all_of(F32, {-0.0, -0.0})).loose_zero);
  EXPECT_EQ(show(sum(F32, all_of(F32, {-0.0, 0.0}))), show(of_double(F32, 0)));
  EXPECT_EQ(show(sum(F32, all_of(F32, {1, -1, -0.0}))), show(of_double(F32, 0)));
}

TEST(Sum, OfInfinitiesIsExact) {
  const double inf = HUGE_VAL;
  EXPECT_EQ(sum(F32, all_of(F32, {1, inf, 2})).value, inf);
  EXPECT_TRUE(std::isnan(sum(F32, all_of(F32, {-inf, inf, 2})).value));
  EXPECT_EQ(sum(F16, all_of(F16, {65504, 65504, 1})).value, inf);
  // One order overflows, another does not.
  EXPECT_EQ(sum(F16, all_of(F16, {65504, 65504, -65504})).certainty, Certainty::Ambiguous);
}

TEST(Sum, OfIntegersWraps) {
  const std::vector<Bounded> x(3, of_integer(I8, 100));
  EXPECT_EQ(sum(I8, x).integer, 44);
  EXPECT_EQ(product(U8, all_of(F32, {})).integer, 1);
  EXPECT_EQ(product(I8, x).integer, 64);
  EXPECT_EQ(maximum(I16, {}).integer, -32768);
  EXPECT_EQ(minimum(U64, {}).integer, -1);
  EXPECT_EQ(dot(I8, x, x).integer, 48);
}

TEST(Folds, AreUnspecifiedWhereAnElementIs) {
  std::vector<Bounded> x = {of_double(F32, 1), ambiguous()};
  EXPECT_EQ(sum(F32, x).certainty, Certainty::Ambiguous);
  x.push_back(unspecified());
  for (const auto fold : {sum, product, maximum, minimum}) {
    EXPECT_EQ(fold(F32, x).certainty, Certainty::Unspecified);
    EXPECT_EQ(fold(I32, x).certainty, Certainty::Unspecified);
  }
  EXPECT_EQ(dot(F32, x, x).certainty, Certainty::Unspecified);
}

TEST(Extremes, OfNothingAreTheEndsOfTheType) {
  EXPECT_EQ(maximum(F32, {}).value, -HUGE_VAL);
  EXPECT_EQ(maximum(E4M3, {}).value, -448);
  EXPECT_EQ(minimum(E4M3, {}).value, 448);
}

}  // namespace
}  // namespace assay::reference
