#include "fuzz/mutate/mutate_term.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "engine/uop/text.h"
#include "engine/uop/verify.h"
#include "fuzz/targets/mutator.h"
#include "fuzz/targets/term_text.h"
#include "fuzz/trial/term_trial.h"

namespace assay::fuzz {
namespace {

// What rules fire on, of scalars.
std::vector<std::string> term_texts() {
  std::vector<std::string> texts;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(ASSAY_CORPUS "/rules")) {
    files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (const auto& file : files) {
    std::ifstream in(file);
    std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    uop::Graph g;
    if (term_to_try(g, text) != nullptr) texts.push_back(std::move(text));
  }
  return texts;
}

TEST(MutateTerm, KeepsToTermsThatMayBeTried) {
  std::set<std::string_view> done;
  std::set<std::string> made;
  int same = 0;
  const std::vector<std::string> texts = term_texts();
  EXPECT_GT(texts.size(), 120U);
  for (uint64_t seed = 0; seed < 4000; seed++) {
    uop::Graph g;
    Choices choices(seed);
    std::vector<std::string_view> names;
    uop::Ref u = term_to_try(g, texts[seed % texts.size()]);
    for (int i = 0; i < 4; i++) {
      const uop::Ref next = mutate_term(g, u, choices, &names);
      same += next == u ? 1 : 0;
      u = next;
      ASSERT_EQ(uop::verify(g, u).value_or(""), "") << seed;
      ASSERT_TRUE(is_term_to_try(g, u)) << to_text(g, u, "term");
    }
    done.insert(names.begin(), names.end());
    const std::string text = to_text(g, u, "term");
    uop::Graph other;
    const uop::Ref again = term_to_try(other, text);
    ASSERT_NE(again, nullptr) << text;
    ASSERT_EQ(to_text(other, again, "term"), text);
    made.insert(text);
  }
  EXPECT_EQ(done.size(), term_mutations().size());
  EXPECT_LT(same, 160);
  EXPECT_GT(made.size(), 3900U);
}

TEST(MutateTerm, FindsNothingWrongWhereNothingIs) {
  const std::vector<std::string> texts = term_texts();
  for (uint64_t seed = 0; seed < 3000; seed++) {
    uop::Graph g;
    Choices choices(seed);
    uop::Ref u = term_to_try(g, texts[seed % texts.size()]);
    for (int i = 0; i < 3; i++) u = mutate_term(g, u, choices);
    const std::optional<Finding> found = try_term(g, u);
    ASSERT_FALSE(found) << seed << " " << found->evidence << "\n" << to_text(g, u, "term");
  }
}

// A rule without its guard is found from the graph on which the right one fires.
TEST(MutateTerm, FindsARuleThatIsWrongFromASeedOnWhichItIsRight) {
  const uop::Pat x = uop::any("x");
  const uop::Pat c = uop::constant("c");
  const uop::Pat d = uop::constant("d");
  const uop::RuleSet mutant("div_mod", {{"div_of_div", uop::kIndex, (x / c) / d, x / (c * d)}});
  uop::Switches switches;
  switches.substitutes = {&mutant};
  const std::string seed_text =
      "uop 1 rule\n%0 = var index {\"x\" 0 63}\n%1 = const index 4\n%2 = div index %0 %1\n"
      "%3 = const index 3\n%4 = div index %2 %3\n";
  std::optional<Finding> found;
  for (uint64_t seed = 0; seed < 20000 && !found; seed++) {
    uop::Graph g;
    Choices choices(seed);
    found = try_term(g, mutate_term(g, term_to_try(g, seed_text), choices), switches);
  }
  ASSERT_TRUE(found);
  EXPECT_EQ(found->stage, "div_mod.div_of_div");
}

TEST(SpliceTerms, IsATermOfTwo) {
  const std::vector<std::string> texts = term_texts();
  std::set<std::string> made;
  int same = 0;
  for (uint64_t seed = 0; seed < 1000; seed++) {
    uop::Graph g;
    Choices choices(seed);
    const uop::Ref a = term_to_try(g, texts[seed % texts.size()]);
    const uop::Ref b = term_to_try(g, texts[seed * 7 % texts.size()]);
    const uop::Ref u = splice_terms(g, a, b, choices);
    ASSERT_TRUE(is_term_to_try(g, u)) << to_text(g, u, "term");
    same += u == a ? 1 : 0;
    made.insert(to_text(g, u, "term"));
  }
  EXPECT_LT(same, 50);
  EXPECT_GT(made.size(), 500U);
}

TEST(TermText, IsMadeOfAnyText) {
  std::string text = "(+ r0 1)";
  for (uint64_t seed = 0; seed < 300; seed++) {
    text = mutated_text(term_mutator(), seed % 50 == 0 ? "no term" : text, seed, 8192);
    uop::Graph g;
    ASSERT_NE(term_to_try(g, text), nullptr) << text;
    EXPECT_LE(mutated_text(term_mutator(), text, seed, 100).size(), 100U);
    const std::string crossed = crossed_text(term_mutator(), text, "(// n 3)", seed, 8192);
    ASSERT_NE(term_to_try(g, crossed), nullptr) << crossed;
    EXPECT_EQ(crossed_text(term_mutator(), text, "(// n 3)", seed, 8192), crossed);
  }
}

TEST(TermText, RefusesWhatCannotBeJudged) {
  const auto is_term = [](std::string_view text) {
    uop::Graph g;
    return term_to_try(g, text) != nullptr;
  };
  EXPECT_TRUE(is_term("(bitcast i32 x)"));
  EXPECT_FALSE(is_term("(bitcast i32 (sqrt x))")) << "which NaN is it?";
  EXPECT_TRUE(
      is_term("uop 1 rule\n%0 = var f32 {\"x\"}\n%1 = sqrt f32 %0\n%2 = eq bool %1 %1\n"
              "%3 = const f32 0\n%4 = where f32 %2 %1 %3\n%5 = bitcast i32 %4\n"));
  EXPECT_FALSE(
      is_term("uop 1 rule\n%0 = var i8 {\"x\"}\n%1 = var i32 {\"x\"}\n%2 = cast i8 %1\n"
              "%3 = add i8 %0 %2\n"))
      << "two of a name";
  std::string large = "(+ r0 1)";
  for (int i = 0; i < 8; i++) large = "(+ " + large + " " + large + ")";
  EXPECT_FALSE(is_term(large));
  EXPECT_FALSE(is_term("tp 1\n"));
}

}  // namespace
}  // namespace assay::fuzz
