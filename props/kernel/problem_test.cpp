// Search, evaluation and the prover agree on small problems.
#include "props/kernel/problem.h"

#include <gtest/gtest.h>

#include <vector>

#include "engine/uop/sample.h"
#include "oracles/smt/prover.h"

namespace assay::props::kernel {
namespace {

constexpr int kVariables = 4;

int64_t below(uop::Random& random, uint64_t n) { return static_cast<int64_t>(random.below(n)); }

// Four variables of a few values each, with constraints of all kinds.
Problem random_problem(uop::Random& random) {
  Problem p;
  for (int i = 0; i < kVariables; i++) {
    const int64_t lo = below(random, 7) - 3;
    p.add_variable(lo, lo + below(random, 6), random.once_in(2));
  }
  const auto linear = [&](bool is_option) {
    std::vector<Problem::Factor> sum;
    for (int32_t v = 0; v < kVariables; v++) {
      const int64_t times = below(random, 13) - 6;
      if (times != 0 && !random.once_in(3)) sum.push_back({v, times});
    }
    Int128 lo = below(random, 21) - 10;
    Int128 hi = lo + below(random, 4);
    if (random.once_in(4)) lo = -kInfinity;
    if (random.once_in(4)) hi = kInfinity;
    return p.add_linear(sum, lo, hi, is_option);
  };
  for (int64_t i = below(random, 4); i > 0; i--) linear(false);
  for (int64_t i = below(random, 5); i > 0; i--) {
    std::vector<std::vector<int32_t>> options(1 + random.below(3));
    for (auto& option : options) {
      for (int64_t k = below(random, 3); k > 0; k--) option.push_back(linear(true));
    }
    p.add_clause(std::move(options));
  }
  if (random.once_in(3)) {
    const auto v = [&] { return static_cast<int32_t>(random.below(kVariables)); };
    const int32_t product = v();
    const int32_t x = v();
    p.add_product(product, x, v());
  }
  return p;
}

bool is_satisfiable(const Problem& p) {
  std::vector<Int128> values(kVariables);
  const auto try_all = [&](auto& self, size_t at) -> bool {
    if (at == values.size()) return p.holds(values);
    for (values[at] = -4; values[at] <= 9; values[at]++) {
      if (self(self, at + 1)) return true;
    }
    return false;
  };
  return try_all(try_all, 0);
}

TEST(Problem, IsDecidedAsByTryingAll) {
  uop::Random random(1);
  int yes = 0;
  constexpr int kProblems = 600;
  for (int i = 0; i < kProblems; i++) {
    const Problem p = random_problem(random);
    const Problem::Answer answer = p.search(1'000'000);
    const bool wanted = is_satisfiable(p);
    ASSERT_EQ(answer.found, wanted ? Found::Yes : Found::No) << i;
    if (wanted) {
      ASSERT_TRUE(p.holds(answer.values)) << i;
    }
    yes += wanted ? 1 : 0;
  }
  EXPECT_GT(yes, kProblems / 5);
  EXPECT_LT(yes, kProblems * 4 / 5);
}

TEST(Problem, MeansTheSameToAProver) {
  uop::Random random(2);
  smt::Prover prover;
  for (int i = 0; i < 300; i++) {
    const Problem p = random_problem(random);
    const smt::Decision d = prover.decide(p.formula(), "test");
    const Found found = p.search(1'000'000).found;
    ASSERT_EQ(d.answer, found == Found::Yes ? smt::Satisfiable::Yes : smt::Satisfiable::No) << i;
  }
}

// Two that lie below each other leave each other fewer values round by round, up to the last round.
TEST(Problem, HasNoValuesWhereNarrowingEndsAtItsLastRound) {
  for (Int128 n = 0; n < 200; n++) {
    for (const Int128 apart : {1, 2, 3}) {
      Problem p;
      const int32_t x = p.add_variable(0, n);
      const int32_t y = p.add_variable(0, n);
      const Problem::Factor sums[2][2] = {{{x, 1}, {y, -1}}, {{y, 1}, {x, -1}}};
      for (const auto& sum : sums) p.add_linear(sum, apart - n, -apart);
      EXPECT_EQ(p.search(1'000'000).found, Found::No) << int64_t(n) << ", " << int64_t(apart);
    }
  }
}

TEST(Problem, IsUnknownWhereStepsRunOut) {
  Problem p;
  std::vector<Problem::Factor> sum;
  for (const int64_t times : {1009, 1013, 1019, 1021, 1031}) {
    sum.push_back({p.add_variable(-1000, 1000), times});
  }
  p.add_linear(sum, 4'999'999, 4'999'999);
  EXPECT_EQ(p.search(3).found, Found::Unknown);
}

}  // namespace
}  // namespace assay::props::kernel
