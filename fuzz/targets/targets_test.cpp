#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "engine/tensor/program/text.h"
#include "fuzz/targets/case_text.h"
#include "fuzz/targets/mutator.h"

namespace assay::fuzz {
namespace {

constexpr const char* kText =
    "# opts random:3\ntp 1\na: f32[4, 3] = input(random=uniform)\nb: f32[4] = sum(a, axes=[1])\n";

TEST(MutatedText, IsACaseOfAnyText) {
  std::set<std::string> texts;
  std::string text = kText;
  for (uint64_t seed = 0; seed < 300; seed++) {
    text = mutated_text(case_mutator(), seed % 50 == 0 ? "no program" : text, seed, 4096);
    ASSERT_TRUE(case_to_try(text)) << text;
    ASSERT_LE(text.size(), 4096U);
    texts.insert(text);
  }
  EXPECT_GT(texts.size(), 290U);
}

TEST(MutatedText, IsNoLongerThanItMay) {
  for (uint64_t seed = 0; seed < 100; seed++) {
    EXPECT_LE(mutated_text(case_mutator(), kText, seed, 120).size(), 120U);
    EXPECT_LE(mutated_text(case_mutator(), "", seed, 40).size(), 40U);
    EXPECT_LE(crossed_text(case_mutator(), kText, kText, seed, 150).size(), 150U);
  }
}

TEST(CrossedText, IsACaseOfTwo) {
  const std::string other = mutated_text(case_mutator(), "", 7, 4096);
  std::set<std::string> texts;
  for (uint64_t seed = 0; seed < 100; seed++) {
    const std::string text = crossed_text(case_mutator(), kText, other, seed, 1 << 16);
    ASSERT_TRUE(case_to_try(text)) << text;
    EXPECT_EQ(crossed_text(case_mutator(), kText, other, seed, 1 << 16), text);
    texts.insert(text);
  }
  EXPECT_GT(texts.size(), 30U);
}

TEST(CaseToTry, RefusesWhatIsTooLargeOrNoSimulatedDevice) {
  EXPECT_TRUE(case_to_try(kText));
  EXPECT_FALSE(case_to_try("tp 1\na: f32[4000] = full(value=1)\n"));
  EXPECT_FALSE(case_to_try("# device cl:pocl\ntp 1\na: f32[4] = full(value=1)\n"));
  EXPECT_FALSE(case_to_try("tp 1\n"));
  EXPECT_FALSE(case_to_try("uop 1\n"));
}

TEST(Dictionary, HasTheNameOfEveryOpAndAttribute) {
  std::ifstream in(ASSAY_SOURCE_DIR "/fuzz/targets/program_text.dict");
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  for (const tensor::OpRow& row : tensor::all_ops()) {
    EXPECT_NE(text.find("\"" + std::string(row.text) + "(\""), std::string::npos) << row.text;
    for (const tensor::AttrRow& a : row.attrs) {
      EXPECT_NE(text.find("\"" + std::string(a.name) + "=\""), std::string::npos) << a.name;
    }
  }
}

}  // namespace
}  // namespace assay::fuzz
