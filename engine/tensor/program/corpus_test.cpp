#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "engine/tensor/program/text.h"

namespace assay::tensor {
namespace {

std::vector<std::string> files_in(std::string_view folder) {
  std::vector<std::string> result;
  const std::filesystem::path root(ASSAY_SOURCE_DIR);
  for (const auto& entry : std::filesystem::directory_iterator(root / "corpus" / folder)) {
    if (entry.path().extension() == ".tp") result.push_back(entry.path().string());
  }
  std::ranges::sort(result);
  return result;
}

std::string name_of(const testing::TestParamInfo<std::string>& info) {
  return std::filesystem::path(info.param).stem().string();
}

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class EverySeed : public testing::TestWithParam<std::string> {};

TEST_P(EverySeed, IsAProgramInItsCanonicalText) {
  const std::string text = contents_of(GetParam());
  const auto program = from_text(text);
  ASSERT_TRUE(program.ok()) << to_string(program.error());
  EXPECT_EQ(to_text(program.value()), text);
  EXPECT_FALSE(outputs(program.value()).empty());
}

INSTANTIATE_TEST_SUITE_P(Program, EverySeed, testing::ValuesIn(files_in("seeds/program")), name_of);

class EveryTextSeed : public testing::TestWithParam<std::string> {};

TEST_P(EveryTextSeed, IsAProgramUnlessItIsBad) {
  const bool is_bad = std::filesystem::path(GetParam()).stem().string().starts_with("bad_");
  EXPECT_EQ(from_text(contents_of(GetParam())).ok(), !is_bad);
}

INSTANTIATE_TEST_SUITE_P(Program, EveryTextSeed, testing::ValuesIn(files_in("seeds/program_text")),
                         name_of);

}  // namespace
}  // namespace assay::tensor
