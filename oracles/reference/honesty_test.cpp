#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "oracles/reference/test_device.h"

// What a device computes lies within the bounds, and these are not much wider than they have to be.
namespace assay::reference {
namespace {

#ifdef __OPTIMIZE__
constexpr int kCases = 4000;
#else
constexpr int kCases = 800;
#endif

struct Row {
  Fn fn;
  DType t;
};

std::vector<Row> float_rows() {
  std::vector<Row> rows;
  for (int i = 0; i < kFnCount; i++) {
    for (const DType t : kAllFloats) {
      if (types_of(Fn(i)).has(t)) rows.push_back({Fn(i), t});
    }
  }
  return rows;
}

std::string name_of_row(const testing::TestParamInfo<Row>& info) {
  return fmt::format("{}_{}", name_of(info.param.fn), uop::to_text(info.param.t));
}

// The condition of a Where is a bool.
Operand condition(Random& random) {
  Operand r;
  r.actual = static_cast<double>(random.below(2));
  r.known.integer = static_cast<int64_t>(r.actual);
  if (random.chance(3)) r.known = ambiguous();
  return r;
}

struct Fns : testing::TestWithParam<Row> {
  Fn fn = GetParam().fn;
  DType t = GetParam().t;

  template <typename Draw>
  Tally run(uint64_t seed, Draw draw) {
    Random random(seed);
    Tally tally;
    for (int i = 0; i < kCases; i++) {
      const Operand a = fn == Fn::Where ? condition(random) : draw(random);
      const Operand b = draw(random);
      const Operand c = draw(random);
      const double skew =
          random.chance(4) ? std::copysign(1, random.signed_unit()) : random.signed_unit();
      const Bounded known = apply(fn, t, a.known, b.known, c.known);
      const double actual = device(fn, t, a.actual, b.actual, c.actual, skew);
      tally.judge(known, result_type(fn, t), actual,
                  fmt::format("{}({:.17g} [{}], {:.17g} [{}], {:.17g} [{}])", name_of(fn), a.actual,
                              show(a.known), b.actual, show(b.known), c.actual, show(c.known)));
    }
    return tally;
  }
};

TEST_P(Fns, AreHonestOfExactOperands) {
  Tally tally = run(1, [&](Random& random) { return exact_operand(random, t); });
  EXPECT_EQ(tally.trouble(), "");
  EXPECT_LT(tally.looseness(), 10);
  // Of numbers of three bits many are near the end of the range.
  const bool is_small = uop::bits_of(t) == 8;
  EXPECT_LT(tally.masked(), fn == Fn::Where || fn == Fn::CopySign ? 0.4 : is_small ? 0.2 : 0.02);
}

TEST_P(Fns, AreHonestOfBoundedOperands) {
  Tally tally = run(2, [&](Random& random) { return bounded_operand(random, t); });
  EXPECT_EQ(tally.trouble(), "");
  EXPECT_LT(tally.looseness(), 10);
}

TEST_P(Fns, AreHonestOfMixedOperands) {
  Tally tally = run(3, [&](Random& random) {
    return random.chance(2) ? bounded_operand(random, t) : exact_operand(random, t);
  });
  EXPECT_EQ(tally.trouble(), "");
}

TEST(Casts, AreHonestOfBoundedOperands) {
  Random random(4);
  Tally tally;
  for (const DType from : kAllFloats) {
    for (const DType to : kAllFloats) {
      for (int i = 0; i < kCases; i++) {
        const Operand x = bounded_operand(random, from);
        tally.judge(
            cast(x.known, from, to), to, from == to ? x.actual : nearest(to, x.actual),
            fmt::format("{} {} to {}", uop::to_text(from), show(x.known), uop::to_text(to)));
      }
    }
  }
  EXPECT_EQ(tally.trouble(), "");
  EXPECT_LT(tally.looseness(), 5);
  EXPECT_LT(tally.masked(), 0.05);
}

TEST(Casts, ToIntegersAreHonestOfBoundedOperands) {
  Random random(5);
  Tally tally;
  for (const DType from : kAllFloats) {
    for (const DType to : {DType::I8, DType::U8, DType::I32, DType::U64}) {
      for (int i = 0; i < kCases; i++) {
        const Operand x = bounded_operand(random, from);
        const Bounded known = cast(x.known, from, to);
        const bool fits = known.certainty != Certainty::Unspecified;
        tally.judge(
            known, to, fits ? std::trunc(x.actual) : 0,
            fmt::format("{} {} to {}", uop::to_text(from), show(x.known), uop::to_text(to)));
      }
    }
  }
  EXPECT_EQ(tally.trouble(), "");
}

INSTANTIATE_TEST_SUITE_P(Every, Fns, testing::ValuesIn(float_rows()), name_of_row);

}  // namespace
}  // namespace assay::reference
