// The saved programs: public bugs with their right values, and whole programs.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "engine/tensor/program/text.h"
#include "oracles/check.h"

namespace assay::fuzz {
namespace {

// Bugs of the catalogue whose programs must be there: its sections on schedules, memory, caches,
// fusion, sizes, reductions, order and empty shapes. Those of planners alone are planner tests.
constexpr int kBugs[] = {1,   2,   3,   5,   6,   7,   9,   10,  11,  13,  14,  15,  17,  18,
                         19,  21,  22,  33,  37,  38,  39,  42,  43,  45,  46,  47,  49,  50,
                         51,  53,  54,  55,  57,  58,  59,  67,  69,  70,  71,  129, 130, 131,
                         133, 134, 135, 162, 163, 165, 166, 167, 169, 170, 171, 173};

std::vector<std::string> files_in(std::string_view folder) {
  std::vector<std::string> result;
  const std::filesystem::path path = std::filesystem::path(ASSAY_CORPUS) / folder;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.path().extension() == ".tp") result.push_back(entry.path().stem().string());
  }
  std::ranges::sort(result);
  return result;
}

std::string text_of(std::string_view folder, const std::string& name) {
  std::ifstream file(std::filesystem::path(ASSAY_CORPUS) / folder / (name + ".tp"));
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

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
  const std::string text = text_of(folder, name);
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
  const Result<tensor::Program> program = tensor::from_text(text_of("regress", GetParam()));
  ASSERT_TRUE(program.ok());
  EXPECT_TRUE(said(program.value(), "rule")) << program.value().header;
  const std::optional<std::string> need = said(program.value(), "needs");
  EXPECT_TRUE(!need || needs.contains(*need)) << need.value_or("");
}

INSTANTIATE_TEST_SUITE_P(Corpus, Regress, testing::ValuesIn(files_in("regress")),
                         [](const auto& test) { return test.param; });

class Models : public testing::TestWithParam<std::string> {};

TEST_P(Models, AgreeWithTheReferenceAtEveryStage) { check_program("models", GetParam()); }

INSTANTIATE_TEST_SUITE_P(Corpus, Models, testing::ValuesIn(files_in("models")),
                         [](const auto& test) { return test.param; });

class Ops : public testing::TestWithParam<std::string> {};

TEST_P(Ops, AgreeWithTheReferenceAtEveryStage) { check_program("ops", GetParam()); }

INSTANTIATE_TEST_SUITE_P(Corpus, Ops, testing::ValuesIn(files_in("ops")),
                         [](const auto& test) { return test.param; });

TEST(RegressCorpus, HoldsEveryBugThatAProgramCanShow) {
  std::set<int> present;
  for (const std::string& name : files_in("regress")) {
    if (name.starts_with("b")) present.insert(std::stoi(name.substr(1)));
  }
  for (const int bug : kBugs) EXPECT_TRUE(present.contains(bug)) << bug;
}

}  // namespace
}  // namespace assay::fuzz
