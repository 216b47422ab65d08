// `assay prove` as a user runs it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "fuzz/commands/assay_command.h"

namespace assay::fuzz {
namespace {

// What a command printed but for what it took.
std::string without_times(const std::string& output) {
  std::string kept;
  size_t at = 0;
  while (at < output.size()) {
    const size_t end = std::min(output.find('\n', at), output.size());
    const std::string line = output.substr(at, end - at);
    const bool is_time = line.ends_with(" s") || line.starts_with("questions of");
    if (!is_time) kept += line + "\n";
    at = end + 1;
  }
  return kept;
}

TEST(Prove, PrintsALineForEachRuleAndType) {
  const Outcome outcome = assay("prove --rule div_mod.mod_below --type i32 --strict");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(without_times(outcome.output),
            "div_mod.mod_below i32 pass proved z3\n"
            "1 verdicts: 1 passed (1 proved), 0 failed, 0 unknown; 0 rules by firing\n");
}

// One method, or those of many firings, each with its count.
TEST(Prove, RecordsWhatDecidedHowMany) {
  const std::string records = testing::TempDir() + "prove_records.jsonl";
  const auto recorded = [&](const std::string& of) {
    std::filesystem::remove(records);
    EXPECT_EQ(assay("prove " + of + " --records " + records).status, 0);
    std::ifstream in(records);
    return std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  };
  const std::string one = recorded("--rule div_mod.mod_below --type i32");
  EXPECT_NE(one.find("\"methods\":{\"z3\":1},"), std::string::npos) << one;
  const std::string line = recorded("--rule validity.conjunction");
  EXPECT_NE(line.find("\"enumeration\":"), std::string::npos) << line;
  EXPECT_EQ(line.find(", z3"), std::string::npos) << line;
  EXPECT_EQ(line.find("\"obligations\":1,"), std::string::npos) << line;
}

TEST(Prove, PrintsTheSameWhateverTheNumberOfThreads) {
  const Outcome one = assay("prove --set min_max --jobs 1");
  const Outcome three = assay("prove --set min_max --jobs 3");
  EXPECT_EQ(one.status, 0);
  EXPECT_EQ(without_times(one.output), without_times(three.output));
}

TEST(Prove, RefutesARuleBeforeItIsWritten) {
  const Outcome outcome = assay("prove --try '(x / #c) / #d => x / (#c * #d) : index'");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.output.find("try.rule index fail\n  "), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("\n  holds when d >= 0\n"), std::string::npos) << outcome.output;
  EXPECT_EQ(assay("prove --try '(x / c) / d => x / (c * d) : index when c > 0 && d > 0'").status,
            0);
}

TEST(Prove, NamesLineAndColumnOfABadRule) {
  expect("prove --try 'x + => x : index'", 2, "assay prove: 1:5: expected an operand\n");
  const std::string file = file_of("rules.txt", "# mine\nx + 0 => x : ints\nx * => 1 : ints\n");
  expect("prove --file " + file, 2, "assay prove: 3:5: expected an operand\n");
  expect("prove --set none", 2, "assay prove: no set is named 'none'; see assay rules\n");
  expect("prove --type whole", 2, "assay prove: no type is named 'whole'\n");
}

TEST(Prove, WritesEvidenceThatItReads) {
  const std::string folder = testing::TempDir() + "prove_evidence";
  std::filesystem::remove_all(folder);
  const Outcome outcome = assay("prove --try 'wrong: x / 2 * 2 => x : i8' --evidence " + folder);
  EXPECT_EQ(outcome.status, 1);
  const Outcome again = assay("prove --file " + folder + "/try.wrong.i8-rule.txt");
  EXPECT_EQ(again.status, 1);
  EXPECT_EQ(without_times(again.output), without_times(outcome.output));
}

}  // namespace
}  // namespace assay::fuzz
