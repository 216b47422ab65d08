#include "fuzz/programs/program.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

#include "engine/tensor/program/text.h"

namespace assay::fuzz {
namespace {

using tensor::Define;
using tensor::Program;

constexpr uint64_t kSeedsTried = 5000;

Program program_of(uint64_t seed, const ProgramOptions& options = {}) {
  Choices choices(seed);
  return make_program(choices, options);
}

template <typename Use>
void for_each_define(const Program& program, Use use) {
  for (const tensor::Statement& s : program.statements) {
    if (const auto* d = std::get_if<Define>(&s.what)) use(*d);
  }
}

std::vector<int64_t> largest_values(const Program& program) {
  std::vector<int64_t> result;
  for (const tensor::Variable& v : program.variables) result.push_back(v.hi);
  return result;
}

TEST(MakeProgram, DrawsEveryOp) {
  std::array<int, tensor::kOpCount> drawn{};
  for (uint64_t seed = 0; seed < kSeedsTried; seed++) {
    for_each_define(program_of(seed), [&](const Define& d) { drawn[static_cast<size_t>(d.op)]++; });
  }
  for (const tensor::OpRow& row : tensor::all_ops()) {
    EXPECT_GE(drawn[static_cast<size_t>(row.op)], 5) << row.text;
  }
}

TEST(MakeProgram, MakesTextThatReadsBackAsTheSameProgram) {
  for (uint64_t seed = 0; seed < kSeedsTried; seed++) {
    const std::string text = to_text(program_of(seed));
    const Result<Program> read = tensor::from_text(text);
    ASSERT_TRUE(read.ok()) << to_string(read.error()) << "\n" << text;
    ASSERT_EQ(to_text(read.value()), text);
  }
}

TEST(MakeProgram, MakesTheSameProgramOfTheSameSeed) {
  std::set<std::string> texts;
  for (uint64_t seed = 0; seed < 200; seed++) {
    const std::string text = to_text(program_of(seed));
    EXPECT_EQ(to_text(program_of(seed)), text);
    texts.insert(text);
  }
  EXPECT_EQ(texts.size(), 200U);
}

TEST(MakeProgram, KeepsToTheSizesThatAreAskedFor) {
  const ProgramOptions options = {.statements = 30, .elements = 64};
  for (uint64_t seed = 0; seed < 1000; seed++) {
    const Program program = program_of(seed, options);
    EXPECT_LE(program.statements.size(), 34U) << seed;
    for_each_define(program, [&](const Define& d) {
      const auto count = element_count(d.shape, largest_values(program));
      ASSERT_TRUE(count) << seed;
      EXPECT_LE(*count, 64) << seed << " " << d.name;
    });
  }
}

TEST(MakeProgram, MakesWritesForcesVariablesAndCopiesUnlessToldNotTo) {
  std::array<int, 5> seen{};
  for (uint64_t seed = 0; seed < 2000; seed++) {
    for (const tensor::Statement& s : program_of(seed).statements) seen[s.what.index()]++;
    const Program pure = program_of(seed, {.is_stateful = false});
    EXPECT_TRUE(pure.variables.empty());
    for (const tensor::Statement& s : pure.statements) {
      const bool is_define = std::holds_alternative<Define>(s.what);
      EXPECT_TRUE(is_define || &s == &pure.statements.back()) << seed;
    }
  }
  EXPECT_GT(seen[1], 1000);  // writes
  EXPECT_GT(seen[2], 1000);  // forces
  EXPECT_GT(seen[3], 20);    // bindings
}

TEST(MakeProgram, MakesProgramsOfFloats) {
  int64_t floats = 0;
  int64_t others = 0;
  for (uint64_t seed = 0; seed < 1000; seed++) {
    for_each_define(program_of(seed, {.only_floats = true}),
                    [&](const Define& d) { (uop::is_float(d.dtype) ? floats : others)++; });
  }
  EXPECT_GT(floats, 3 * others);
}

TEST(AllDraws, AreOneAnOp) {
  ASSERT_EQ(all_draws().size(), static_cast<size_t>(tensor::kOpCount));
  for (const Draw& d : all_draws()) EXPECT_GT(d.weight, 0) << tensor::row(d.op).text;
}

}  // namespace
}  // namespace assay::fuzz
