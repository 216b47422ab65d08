// The saved programs: public bugs with their right values, and whole programs.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "engine/tensor/program/text.h"
#include "fuzz/programs/saved_programs.h"
#include "oracles/check.h"

namespace assay::fuzz {
namespace {

// Bugs of the catalogue: its sections on schedules, memory, caches, fusion, sizes, reductions,
// order and empty shapes, of which those of planners alone are planner tests; and its sections H to
// K, M, P, Q and R, on index arithmetic, types, undefined values, LOCAL storage, vectors,
// rendering, running, and compilers that take too long.
constexpr int kBugs[] = {
    1,   2,   3,   5,   6,   7,   9,   10,  11,  13,  14,  15,  17,  18,  19,  21,  22,  33,  37,
    38,  39,  42,  43,  45,  46,  47,  49,  50,  51,  53,  54,  55,  57,  58,  59,  67,  69,  70,
    71,  73,  74,  75,  77,  78,  79,  81,  82,  83,  85,  86,  87,  89,  90,  91,  93,  94,  95,
    97,  98,  99,  101, 102, 103, 105, 106, 107, 109, 110, 111, 113, 114, 115, 117, 118, 119, 121,
    122, 123, 125, 126, 127, 129, 130, 131, 133, 134, 135, 137, 138, 139, 141, 142, 147, 149, 150,
    151, 153, 154, 155, 162, 163, 165, 166, 167, 169, 170, 171, 173, 174, 175, 177, 178, 179, 181,
    182, 183, 185, 186, 187, 189, 190, 191, 193, 194, 195, 197, 198, 199, 201};

// What stands behind "# key: " in the comments before a program.
std::optional<std::string> said(const tensor::Program& program, std::string_view key) {
  std::istringstream lines(program.header);
  std::string line;
  const std::string start = "# " + std::string(key) + ": ";
  while (std::getline(lines, line)) {
    if (line.starts_with(start)) return line.substr(start.size());
  }
  return std::nullopt;
}

void expect_said(const tensor::Program& program, std::string_view key, int64_t actual) {
  const std::optional<std::string> wanted = said(program, key);
  if (wanted) {
    EXPECT_EQ(*wanted, std::to_string(actual)) << key;
  }
}

void check_program(std::string_view folder, const std::string& name) {
  const std::string text = saved_text(folder, name);
  const Result<tensor::Program> program = tensor::from_text(text);
  ASSERT_TRUE(program.ok()) << to_string(program.error());
  EXPECT_EQ(to_text(program.value()), text);
  const oracles::Checked checked = oracles::check(program.value());
  EXPECT_EQ(checked.verdict.answer, oracles::Answer::Pass) << checked.verdict.evidence;
  expect_said(program.value(), "kernels", checked.kernels);
  expect_said(program.value(), "copies", checked.copies);
  expect_said(program.value(), "peak", checked.planned_bytes);
}

class Regress : public testing::TestWithParam<std::string> {};

TEST_P(Regress, HasItsRightValues) { check_program("regress", GetParam()); }

TEST_P(Regress, SaysWhatBroke) {
  static const std::set<std::string> needs = {"sharding", "capture", "queues"};
  const Result<tensor::Program> program = tensor::from_text(saved_text("regress", GetParam()));
  ASSERT_TRUE(program.ok());
  EXPECT_TRUE(said(program.value(), "rule")) << program.value().header;
  const std::optional<std::string> need = said(program.value(), "needs");
  EXPECT_TRUE(!need || needs.contains(*need)) << need.value_or("");
}

INSTANTIATE_TEST_SUITE_P(Corpus, Regress, testing::ValuesIn(saved_programs("regress")),
                         [](const auto& test) { return test.param; });

class Models : public testing::TestWithParam<std::string> {};

TEST_P(Models, AgreeWithTheReferenceAtEveryStage) { check_program("models", GetParam()); }

INSTANTIATE_TEST_SUITE_P(Corpus, Models, testing::ValuesIn(saved_programs("models")),
                         [](const auto& test) { return test.param; });

class Ops : public testing::TestWithParam<std::string> {};

TEST_P(Ops, AgreeWithTheReferenceAtEveryStage) { check_program("ops", GetParam()); }

INSTANTIATE_TEST_SUITE_P(Corpus, Ops, testing::ValuesIn(saved_programs("ops")),
                         [](const auto& test) { return test.param; });

// The words of a table in corpus/README.md that stand between these marks, line by line.
std::vector<std::string> words_of_readme(const std::regex& word) {
  std::ifstream file(corpus_folder("README.md"));
  std::vector<std::string> words;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| B")) continue;
    for (std::sregex_iterator at(line.begin(), line.end(), word), end; at != end; ++at)
      words.push_back((*at)[1]);
  }
  return words;
}

// As a program, or where the README says that it is instead.
TEST(RegressCorpus, HoldsEveryBug) {
  std::set<int> present;
  for (const std::string& name : saved_programs("regress")) {
    if (name.starts_with("b")) present.insert(std::stoi(name.substr(1)));
  }
  for (const std::string& bug : words_of_readme(std::regex("B([0-9]{3})")))
    present.insert(std::stoi(bug));
  for (const int bug : kBugs) EXPECT_TRUE(present.contains(bug)) << bug;
}

TEST(RegressCorpus, NamesFilesThatAreThere) {
  const std::vector<std::string> files = words_of_readme(std::regex("`([^`]+)`"));
  EXPECT_FALSE(files.empty());
  for (const std::string& file : files) {
    EXPECT_TRUE(std::filesystem::exists(corpus_folder("..") / file)) << file;
  }
}

}  // namespace
}  // namespace assay::fuzz
