// The command `shrink`, as a user runs it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "fuzz/commands/assay_command.h"

namespace assay::fuzz {
namespace {

constexpr const char* kWrong =
    "# opts random:3\n# seed 4\ntp 1\na: f32[4, 6] = input(start=0, step=1)\n"
    "b: f32[4, 6] = mul(a, a)\nc: f32[4] = sum(b, axes=[1])\nd: f32[4] = exp(c)\n"
    "e: f32[4] = neg(c)\nexpect e = [1]\n";
constexpr const char* kSmallest = "tp 1\ne: f32[] = input(step=1)\nexpect e = [1]\n";

TEST(ShrinkCommand, WritesTheSmallestCaseThatFailsInTheSameWay) {
  const std::string path = file_of("wrong.tp", kWrong);
  const std::string out = own_path("smallest.tp");
  const auto [status, output] = assay(fmt::format("shrink '{}' --out '{}'", path, out));
  EXPECT_EQ(status, 1);
  EXPECT_TRUE(output.starts_with("reference at expect (value): 2 of 6 statements left after "))
      << output;
  std::ifstream in(out);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  EXPECT_EQ(text, kSmallest);
}

TEST(ShrinkCommand, TriesNoMoreThanItMay) {
  const std::string path = file_of("wrong.tp", kWrong);
  const auto [status, output] = assay(fmt::format("shrink '{}' --trials 1", path));
  EXPECT_EQ(status, 1);
  EXPECT_NE(output.find("after 1 trials, which ran out"), std::string::npos) << output;
}

TEST(ShrinkCommand, SaysWhatItCannotShrink) {
  const std::string right = file_of("right.tp", "tp 1\na: f32[2] = full(value=1)\n");
  expect(fmt::format("shrink '{}'", right), 0, fmt::format("{}: nothing fails\n", right));
  const std::string none = file_of("none.tp", "tp 1\na: f32[2] = fill()\n");
  EXPECT_EQ(assay(fmt::format("shrink '{}'", none)).status, 2);
  EXPECT_EQ(assay("shrink no_such_file.tp").status, 3);
  EXPECT_EQ(assay(fmt::format("shrink '{}' --off no.rule", right)).status, 2);
}

}  // namespace
}  // namespace assay::fuzz
