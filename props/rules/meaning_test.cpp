// What the prover takes predicates for, against what the rewriter asks.
#include "props/rules/meaning.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/uop/rules/predicates.h"
#include "engine/uop/sample.h"

namespace assay::props {
namespace {

using uop::DType;
using uop::Value;

void compare_at(const uop::Predicate& predicate, const Meaning& meaning, Value v,
                const std::vector<Value>& listed) {
  uop::Graph g;
  const uop::Ref c = g.constant(v);
  const bool is_listed = std::find(listed.begin(), listed.end(), v) != listed.end();
  EXPECT_EQ(predicate.holds(g, std::span(&c, 1)), is_listed)
      << meaning.predicate << " " << uop::to_text(v) << " " << uop::to_text(v.dtype);
}

TEST(Meaning, OfConstantsIsWhatTheRewriterAsks) {
  uop::Random random(3);
  for (const uop::Predicate* p :
       {&uop::kIsMinusZero, &uop::kIsPowerOfTwo, &uop::kIsLowest, &uop::kIsHighest}) {
    const Meaning* meaning = meaning_of(p->name);
    ASSERT_NE(meaning, nullptr) << p->name;
    for (const DType t : {uop::E4M3, uop::E5M2, uop::F16, uop::BF16, uop::F32, uop::F64}) {
      const std::vector<Value> listed = meaning->values(t);
      for (const Value v : listed) compare_at(*p, *meaning, v, listed);
      if (uop::bits_of(t) <= 16) {
        for (uint64_t bits = 0; bits < uint64_t{1} << uop::bits_of(t); bits++) {
          compare_at(*p, *meaning, {t, bits}, listed);
        }
      }
      for (int i = 0; i < 500; i++) compare_at(*p, *meaning, uop::any_value(random, t), listed);
    }
  }
}

TEST(Meaning, OfEndsIsWhatTheRewriterAsksOfIntegers) {
  for (const uop::Predicate* p : {&uop::kIsLowest, &uop::kIsHighest}) {
    for (const DType t : {uop::Bool, uop::I8, uop::U8}) {
      const std::vector<Value> listed = meaning_of(p->name)->values(t);
      for (int x = int(uop::min_int(t)); x <= int(uop::max_int(t)); x++) {
        compare_at(*p, *meaning_of(p->name), uop::of_int(t, x), listed);
      }
    }
  }
}

TEST(Meaning, HasARowForEachPredicateOfTheEngine) {
  for (const uop::Predicate* p :
       {&uop::kIsMinusZero, &uop::kIsPowerOfTwo, &uop::kIsLowest, &uop::kIsHighest,
        &uop::kNeverInvalid, &uop::kNeverUnspecified, &uop::kIsNoConstant, &uop::kIsNotInvalid}) {
    EXPECT_NE(meaning_of(p->name), nullptr) << p->name;
  }
  EXPECT_EQ(meaning_of("strange"), nullptr);
}

}  // namespace
}  // namespace assay::props
