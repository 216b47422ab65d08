#include "fuzz/mutate/mutate.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "engine/schedule/schedule.h"
#include "engine/tensor/builder.h"
#include "engine/tensor/program/text.h"
#include "fuzz/mutate/gen_case.h"
#include "fuzz/mutate/repair.h"

namespace assay::fuzz {
namespace {

using tensor::Define;
using tensor::Program;

// Why a case is none: its text does not read back as itself, or the engine refuses it.
std::string trouble(const Case& c) {
  const std::string text = to_text(c);
  const Result<Case> read = case_from_text(text);
  if (!read.ok()) return to_string(read.error()) + "\n" + text;
  if (to_text(read.value()) != text)
    return "reads back as\n" + to_text(read.value()) + "not\n" + text;
  tensor::Session session;
  tensor::Builder builder(session, read.value().program);
  const Result<bool> built =
      builder.run([&](std::span<const tensor::Tensor* const> values) -> Result<bool> {
        ASSAY_TRY(scheduled, schedule::linear_with_vars(session, values));
        (void)scheduled;
        return true;
      });
  return built.ok() ? "" : to_string(built.error()) + "\n" + text;
}

Case made(uint64_t seed, int statements = 10) {
  Choices choices(seed);
  CaseOptions options;
  options.program.statements = statements;
  return make_case(choices, options);
}

std::vector<Case> saved_cases() {
  std::vector<Case> result;
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  for (const auto& f : fs::recursive_directory_iterator(ASSAY_CORPUS)) {
    if (f.path().extension() == ".tp") files.push_back(f.path());
  }
  std::ranges::sort(files);
  for (const fs::path& f : files) {
    std::ifstream in(f);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    Result<Case> c = case_from_text(text);
    const bool is_small = c.ok() && c.value().program.statements.size() <= 40 &&
                          most_elements_of(c.value().program) <= 4096;
    if (is_small) result.push_back(std::move(c).value());
  }
  return result;
}

TEST(Mutate, GivesValidCasesOfGeneratedOnes) {
  rc::check([](uint64_t seed) {
    Case c = *gen_case();
    Choices choices(seed);
    for (int i = 0; i < 8; i++) {
      c = mutate(c, choices);
      RC_ASSERT(trouble(c) == "");
    }
  });
}

TEST(Mutate, GivesValidCasesOfSavedOnes) {
  const std::vector<Case> cases = saved_cases();
  ASSERT_GT(cases.size(), 100U);
  for (size_t i = 0; i < cases.size(); i++) {
    Choices choices(i);
    Case c = mutate(cases[i], choices);
    ASSERT_EQ(trouble(c), "");
    c = mutate(c, choices);
    ASSERT_EQ(trouble(c), "");
  }
}

TEST(Mutate, GivesTheSameCaseOfTheSameChoices) {
  rc::check([](uint64_t seed) {
    const Case c = *gen_case();
    Choices a(seed);
    Choices b(seed);
    RC_ASSERT(to_text(mutate(c, a)) == to_text(mutate(c, b)));
  });
}

TEST(Mutate, GivesAnotherCase) {
  int same = 0;
  for (uint64_t seed = 0; seed < 500; seed++) {
    Choices choices(seed);
    const Case c = mutate(made(seed), choices);
    const Case again = mutate(c, choices);
    same += to_text(c) == to_text(again) ? 1 : 0;
  }
  EXPECT_LE(same, 2);
}

TEST(Mutate, ReachesEveryMutationAndFromOneProgramEveryOp) {
  std::set<tensor::Op> ops;
  std::vector<std::string_view> done;
  MutateOptions how;
  how.cases.profiles = {"adreno-630"};
  for (uint64_t seed = 0; seed < 60; seed++) {
    Choices choices(seed);
    Case c = made(3, 2);
    for (int i = 0; i < 60; i++) {
      c = mutate(c, choices, how, &done);
      for (const tensor::Statement& s : c.program.statements) {
        if (const auto* d = std::get_if<Define>(&s.what)) ops.insert(d->op);
      }
    }
  }
  for (const tensor::OpRow& row : tensor::all_ops()) EXPECT_TRUE(ops.contains(row.op)) << row.text;
  for (const Mutation* m : all_mutations()) {
    EXPECT_NE(std::ranges::find(done, m->name), done.end()) << m->name;
  }
}

TEST(Mutate, ChangesVariablesAndBindings) {
  Result<Case> c = case_from_text(
      "tp 1\nvar n in 1..8 = 4\na: f32[n] = input(random=uniform)\nb: f32[] = sum(a)\n"
      "force b\nbind n = 2\nc: f32[3] = input(random=uniform)\nd: f32[n] = "
      "input(random=uniform)\n");
  ASSERT_TRUE(c.ok());
  std::set<std::string> lines;
  std::vector<std::string_view> done;
  for (uint64_t seed = 0; seed < 400; seed++) {
    Choices choices(seed);
    const Case other = mutate(c.value(), choices, {}, &done);
    ASSERT_EQ(trouble(other), "");
    for (const tensor::Statement& s : other.program.statements) {
      if (std::holds_alternative<tensor::Bind>(s.what)) lines.insert(to_text(s, other.program));
    }
  }
  EXPECT_NE(std::ranges::find(done, "variable"), done.end());
  EXPECT_GT(lines.size(), 2U);
}

TEST(Mutate, KeepsWithinItsLimits) {
  MutateOptions how;
  how.most_statements = 20;
  how.elements = 128;
  how.cases.program.elements = 128;
  Choices choices(1);
  Case c = made(5, 4);
  const int64_t most = std::max<int64_t>(128, most_elements_of(c.program));
  for (int i = 0; i < 300; i++) {
    c = mutate(c, choices, how);
    EXPECT_LE(c.program.statements.size(), 30U);
    EXPECT_LE(most_elements_of(c.program), most);
  }
}

TEST(Splice, GivesValidCasesThatUseValuesOfBoth) {
  int crossed = 0;
  rc::check([&](uint64_t seed) {
    const Case a = *gen_case();
    const Case b = *gen_case();
    Choices choices(seed);
    const Case c = splice(a, b, choices);
    RC_ASSERT(trouble(c) == "");
    Choices again(seed);
    RC_ASSERT(to_text(splice(a, b, again)) == to_text(c));
    crossed += c.program.statements.size() > a.program.statements.size() ? 1 : 0;
  });
  EXPECT_GT(crossed, 20);
}

TEST(Repair, LeavesWellFormedProgramsAsTheyAre) {
  rc::check([] {
    const Case c = *gen_case();
    Case repaired = c;
    const Repaired r = repair(repaired.program, most_elements_of(c.program));
    RC_ASSERT(r.changed == 0);
    RC_ASSERT(r.dropped == 0);
    RC_ASSERT(to_text(repaired) == to_text(c));
  });
}

// An op that took the place of another has that one's axis, which may say nothing.
TEST(Repair, SaysWhatAnOpMustSay) {
  Case c =
      case_from_text("tp 1\na: f32[4] = input(random=uniform)\nb: f32[4] = cummax(a)\n").value();
  auto& b = std::get<Define>(c.program.statements[1].what);
  b.attrs[tensor::row(tensor::Op::CumMax).attr("axis")] = std::monostate{};
  repair(c.program, 256);
  EXPECT_EQ(trouble(c), "");
  EXPECT_EQ(c.program.statements.size(), 2U);
}

std::string repaired(const std::string& text) {
  Case c = case_from_text(text).value();
  repair(c.program, 256);
  EXPECT_EQ(trouble(c), "");
  return tensor::to_text(c.program);
}

// Two groups of n channels are none where n is odd.
TEST(Repair, WritesNothingThatIsWellFormedForSomeValuesOfAVariableOnly) {
  const std::string of_n = "tp 1\nvar n in 2..7 = 2\na: f32[n, n] = input(step=1)\n";
  EXPECT_EQ(repaired(of_n + "b: f32[n, n] = group_norm(a, groups=1)\n"),
            of_n + "b: f32[n, n] = group_norm(a, groups=1)\n");
  const std::string text = repaired(of_n + "b: f32[2, 2] = group_norm(a, groups=2)\n");
  EXPECT_EQ(text.find("groups=2"), std::string::npos) << text;
}

// A write through a view at a place that a variable says is not done before the variable changes.
TEST(Repair, LetsNoScheduleBindAVariableTwice) {
  const std::string written =
      "tp 1\nvar i in 0..3 = 0\nb: f32[4] = input(data=[0])\nu: f32[1] = slice(b, at=[i:i + 1])\n"
      "u := 1\n";
  EXPECT_EQ(repaired(written + "bind i = 1\nv: f32[1] = slice(b, at=[i:i + 1])\nv := 2\n"
                               "s: f32[] = sum(b)\nforce s\n"),
            written + "v: f32[1] = slice(b, at=[i:i + 1])\nv := 2\ns: f32[] = sum(b)\nforce s\n");
  const std::string forced = written +
                             "force b\nbind i = 1\nv: f32[1] = slice(b, at=[i:i + 1])\n"
                             "v := 2\ns: f32[] = sum(b)\nforce s\n";
  EXPECT_EQ(repaired(forced), forced);
}

// What nothing reads is computed at the end, so what has an old size would meet what has a new one.
TEST(Repair, AsksForWhatIsThereWhereValuesOfOldSizesAreLeft) {
  const std::string of_two =
      "tp 1\nvar n in 1..4 = 2\na: f32[n] = full(value=1)\nbind n = 3\nb: f32[n] = full(value=2)\n";
  EXPECT_EQ(repaired(of_two), of_two + "force b\n");
  EXPECT_EQ(repaired(of_two + "bind n = 4\n"),
            "tp 1\nvar n in 1..4 = 2\na: f32[n] = full(value=1)\n");
}

// Programs with variables are parents as others are, of changes and of splices.
TEST(Mutate, LetsNoScheduleBindAVariableTwice) {
  std::vector<Case> parents;
  for (Case& c : saved_cases()) {
    if (!c.program.variables.empty()) parents.push_back(std::move(c));
  }
  ASSERT_GT(parents.size(), 10U);
  int bound = 0;
  for (uint64_t seed = 0; seed < 1500; seed++) {
    Choices choices(seed);
    const Case& parent = parents[choices.below(parents.size())];
    const Case other = mutate(parents[choices.below(parents.size())], choices);
    const Case c = splice(mutate(parent, choices), other, choices);
    ASSERT_EQ(trouble(c), "");
    bound += std::ranges::any_of(c.program.statements, [](const tensor::Statement& s) {
      return std::holds_alternative<tensor::Bind>(s.what);
    });
  }
  EXPECT_GT(bound, 50);
}

TEST(Repair, WritesWhatFollows) {
  const Result<Program> p = tensor::from_text(
      "tp 1\na: f32[4, 3] = input(random=uniform)\nb: f32[3] = sum(a, axes=[1])\n"
      "c: i32[9] = mul(b, b)\nforce c\n");
  ASSERT_TRUE(p.ok());
  Program program = p.value();
  const Repaired r = repair(program, 256);
  EXPECT_EQ(r.changed, 2);
  EXPECT_EQ(r.dropped, 0);
  EXPECT_EQ(tensor::to_text(program),
            "tp 1\na: f32[4, 3] = input(random=uniform)\nb: f32[4] = sum(a, axes=[1])\n"
            "c: f32[4] = mul(b, b)\nforce c\n");
}

}  // namespace
}  // namespace assay::fuzz
