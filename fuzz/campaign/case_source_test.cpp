#include "fuzz/campaign/case_source.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/runtime/profiles.h"
#include "fuzz/mutate/generate.h"
#include "fuzz/trial/graph_case.h"

namespace assay::fuzz {
namespace {

constexpr int64_t kRound = CaseSource::kRound;

Case case_of(const std::string& text) { return case_from_text(text).value(); }

TEST(CaseSource, IsAFunctionOfItsNumberAndItsSeed) {
  const CaseSource source({}, {});
  const CaseSource same({}, {});
  SourceOptions options;
  options.seed = 2;
  const CaseSource other(options, {});
  int differ = 0;
  for (int64_t n = 0; n < 100; n++) {
    EXPECT_EQ(to_text(source.make(n).what), to_text(same.make(n).what));
    differ += to_text(source.make(n).what) == to_text(other.make(n).what) ? 0 : 1;
  }
  EXPECT_GT(differ, 90);
}

TEST(CaseSource, BeginsWithWhatIsSavedOnEachDevice) {
  SourceOptions options;
  options.devices = {"sim:0", "sim:adversary"};
  const CaseSource source(options, {{"a.tp", case_of("tp 1\na: f32[2] = full(value=1)\n")}});
  EXPECT_EQ(source.replayed(), 2);
  EXPECT_EQ(source.make(0).source, "a.tp");
  EXPECT_EQ(source.make(0).what.device, "sim:0");
  EXPECT_EQ(source.make(1).what.device, "sim:adversary");
  EXPECT_NE(source.make(2).source, "a.tp");
}

TEST(CaseSource, MakesCasesInEachWay) {
  const CaseSource source({}, {{"a.tp", case_of("tp 1\na: f32[2] = full(value=1)\n")}});
  std::map<std::string, int> ways;
  for (int64_t n = 1; n < 400; n++) {
    const SourcedCase c = source.make(n);
    ways[c.source]++;
    const std::string text = to_text(c.what);
    EXPECT_EQ(to_text(case_of(text)), text);  // reads back as itself
  }
  for (const char* way : {"random", "mutated", "spliced", "terms", "kernel"}) {
    EXPECT_GT(ways[way], 5) << way;
  }
}

TEST(CaseSource, UsesACaseThatIsKeptFromTheRoundAfterTheNextOn) {
  const auto mutated_before = [](int64_t kept, int64_t first, int64_t last) {
    CaseSource source({}, {});
    const CaseSource without({}, {});
    source.keep(kept, case_of("tp 1\na: f32[2] = full(value=1)\n"));
    int64_t differ = 0;
    for (int64_t n = first; n < last; n++) {
      differ += to_text(source.make(n).what) == to_text(without.make(n).what) ? 0 : 1;
    }
    return differ;
  };
  EXPECT_EQ(mutated_before(3, 4, 2 * kRound), 0);
  EXPECT_GT(mutated_before(3, 2 * kRound, 3 * kRound), 20);
}

TEST(CaseSource, GivesADriverCasesOfOneProfileInARow) {
  SourceOptions options;
  options.devices = {"sim:0", "cl:some"};
  const CaseSource source(options, {});
  int64_t runs = 0;
  int64_t profiles = 0;
  for (int64_t first = 0; first < 4000; first = CaseSource::until(first)) {
    EXPECT_EQ(CaseSource::needs(first), CaseSource::needs(CaseSource::until(first) - 1));
    std::set<std::string> devices;
    std::set<std::string> found;
    for (int64_t n = first; n < CaseSource::until(first); n++) {
      const Case c = source.make(n).what;
      devices.insert(c.device);
      if (!c.profile.empty()) found.insert(c.profile);
      if (c.device == "cl:some") {
        EXPECT_FALSE(is_terms(c));
      }
    }
    ASSERT_EQ(devices.size(), 1U);
    if (*devices.begin() != "cl:some") continue;
    runs++;
    EXPECT_LE(found.size(), 1U);
    profiles += static_cast<int64_t>(found.size());
  }
  EXPECT_GT(runs, 2);
  EXPECT_GT(profiles, 0);
}

TEST(CaseSource, MakesTermsFromThoseThatAreKept) {
  const auto terms_after = [](bool is_kept) {
    CaseSource source({}, {});
    oracles::Choices choices(5);
    if (is_kept) source.keep(3, make_terms(choices));
    std::vector<std::string> texts;
    for (int64_t n = 2 * kRound; n < 6 * kRound; n++) {
      const Case c = source.make(n).what;
      if (is_terms(c)) texts.push_back(to_text(c));
    }
    return texts;
  };
  const std::vector<std::string> with = terms_after(true);
  const std::vector<std::string> without = terms_after(false);
  ASSERT_EQ(with.size(), without.size());
  ASSERT_GT(with.size(), 20U);
  size_t differ = 0;
  for (size_t i = 0; i < with.size(); i++) differ += with[i] == without[i] ? 0 : 1;
  EXPECT_GT(differ, with.size() / 4);
}

TEST(CaseSource, NeverGivesAProfileATypeThatItLacks) {
  const CaseSource source({}, {{"a.tp", case_of("tp 1\na: f64[2] = full(value=1)\n")}});
  int profiles = 0;
  for (int64_t n = 1; n < 2000; n++) {
    const Case c = source.make(n).what;
    if (c.profile.empty() || !c.is_program()) continue;
    profiles++;
    const uop::TypeSet has = runtime::profile(c.profile)->arithmetic;
    EXPECT_TRUE(has.has(uop::F64) || !types_of(c.program).has(uop::F64)) << to_text(c);
  }
  EXPECT_GT(profiles, 100);
}

TEST(CaseSource, WritesTypesThatADeviceLacksAsOthers) {
  SourceOptions options;
  options.types = {uop::kBool | uop::kFixedInts | uop::TypeSet{uop::F32}};
  const CaseSource source(options, {});
  for (int64_t n = 0; n < 1000; n++) {
    const Case c = source.make(n).what;
    if (c.is_program()) {
      EXPECT_FALSE(types_of(c.program).has(uop::F64)) << to_text(c);
    }
  }
}

}  // namespace
}  // namespace assay::fuzz
