#include "fuzz/coverage/coverage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "fuzz/mutate/generate.h"
#include "fuzz/trial/trial.h"
#include "oracles/workgroup/sim.h"

namespace assay::fuzz {
namespace {

std::vector<Feature> features_of(const Case& c, uop::Switches switches = {}) {
  static const runtime::DeviceKind* const kKinds[] = {&workgroup::sim_kind()};
  Trial trial(TrialOptions{.kinds = kKinds, .stages = false});
  Coverage coverage;
  EXPECT_TRUE(trial.run(c, switches, &coverage).findings.empty()) << to_text(c);
  return coverage.take();
}

std::set<std::string> texts_of(std::span<const Feature> features) {
  std::set<std::string> result;
  for (const Feature f : features) result.insert(to_text(f));
  return result;
}

Case covered_case(const std::string& text) { return case_from_text(text).value(); }

TEST(Coverage, NamesWhatACaseDoes) {
  const std::vector<Feature> features = features_of(
      covered_case("# opts LOCAL(0,4)\ntp 1\na: i32[8, 6] = input(random=integers)\n"
                   "b: i32[48] = reshape(a)\nc: i32[48] = mul(b, 1)\nd: i32[48] = xor(c, 5)\n"));
  const std::set<std::string> texts = texts_of(features);
  EXPECT_TRUE(texts.contains("op i32 xor"));
  EXPECT_TRUE(texts.contains("opts opt LOCAL"));
  EXPECT_TRUE(texts.contains("schedule kernels: 1"));
  EXPECT_TRUE(texts.contains("pass apply_opts: xor"));
  EXPECT_FALSE(texts.contains("op f32 mul"));
  EXPECT_FALSE(texts.contains("opts opt UPCAST"));
  EXPECT_TRUE(std::ranges::is_sorted(features));
  EXPECT_EQ(texts.size(), features.size());  // no two have one name
}

TEST(Coverage, CountsCopies) {
  const std::set<std::string> texts = texts_of(
      features_of(covered_case("tp 1\na: i32[4] = input(step=1)\nb: i32[4] = copy(a) to sim:1\n"
                               "c: i32[4] = add(b, 1)\n")));
  EXPECT_TRUE(texts.contains("schedule copies: 1"));
  EXPECT_TRUE(texts.contains("schedule kernels: 1"));
}

TEST(Coverage, LeavesOutARuleThatIsOff) {
  const Case c = covered_case(
      "tp 1\na: i32[8, 6] = input(random=integers)\nb: i32[48] = reshape(a)\n"
      "c: i32[48] = flip(b, axes=[0])\nd: i32[4, 12] = reshape(c)\n"
      "e: i32[4, 12] = add(d, d)\n");
  const std::vector<Feature> features = features_of(c);
  ASSERT_FALSE(features.empty());
  ASSERT_EQ(kind_of(features[0]), FeatureKind::Rule);
  uop::Switches switches;
  switches.off = {to_text(features[0]).substr(std::string("rule ").size())};
  EXPECT_FALSE(texts_of(features_of(c, switches)).contains(to_text(features[0])));
}

TEST(Coverage, IsTheSameEachTime) {
  for (uint64_t seed = 0; seed < 10; seed++) {
    Choices choices(seed);
    const Case c = make_case(choices);
    EXPECT_EQ(features_of(c), features_of(c));
  }
}

TEST(Coverage, HasAKindAndANameForEveryFeature) {
  std::set<std::string> rules;
  for (const Feature f : all_features(FeatureKind::Rule)) rules.insert(to_text(f));
  EXPECT_GT(rules.size(), 200U);
  EXPECT_EQ(rules.size(), all_features(FeatureKind::Rule).size());
  for (int k = 0; k < kFeatureKinds; k++) {
    const auto kind = static_cast<FeatureKind>(k);
    for (const Feature f : all_features(kind)) ASSERT_EQ(kind_of(f), kind);
  }
}

TEST(Seen, CountsWhatIsNew) {
  Seen seen;
  const std::vector<Feature> first = {3, 64, 200};
  const std::vector<Feature> second = {3, 65, 200};
  EXPECT_EQ(seen.add(first), 3U);
  EXPECT_EQ(seen.add(second), 1U);
  EXPECT_EQ(seen.add(second), 0U);
  EXPECT_EQ(seen.size(), 4U);
  EXPECT_TRUE(seen.has(65));
  EXPECT_FALSE(seen.has(66));
}

TEST(Seen, ListsRulesThatNeverFired) {
  Seen seen;
  const std::vector<Feature> rules = all_features(FeatureKind::Rule);
  EXPECT_EQ(seen.missing(FeatureKind::Rule), rules);
  seen.add(std::span(rules).first(rules.size() - 2));
  EXPECT_EQ(seen.missing(FeatureKind::Rule).size(), 2U);
}

}  // namespace
}  // namespace assay::fuzz
