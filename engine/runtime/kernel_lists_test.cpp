#include "engine/runtime/kernel_lists.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "engine/runtime/profiles.h"
#include "engine/schedule/calls.h"
#include "engine/tensor/builder.h"
#include "engine/tensor/program/text.h"

namespace assay::runtime {
namespace {

using schedule::Schedule;

// Two kernels that need each other, in one schedule.
constexpr std::string_view kProgram =
    "a: f32[16, 8] = input(random=uniform, seed=1)\nb: f32[8] = sum(a, axes=[0])\n"
    "c: f32[16, 8] = add(a, b)\nd: f32[16] = sum(c, axes=[1])\nforce b, d\n";

tensor::Program program_of(std::string_view hints) {
  const auto program = tensor::from_text(fmt::format("tp 1\n{}{}", hints, kProgram));
  EXPECT_TRUE(program.ok()) << to_string(program.error());
  return program.value();
}

struct KernelListsTest : ::testing::Test {
  tensor::Program program = program_of("");
  tensor::Session session;
  tensor::Builder builder{session, program};
  Schedule schedule;

  void SetUp() override {
    std::vector<const tensor::Tensor*> tensors;
    for (size_t k = 0; k < program.statements.size(); ++k) {
      ASSERT_TRUE(builder.step(k).ok());
    }
    for (const tensor::Output& o : tensor::outputs(program)) {
      tensors.push_back(&builder.tensor(o.value));
    }
    Result<Schedule> made = schedule::linear_with_vars(session, tensors);
    ASSERT_TRUE(made.ok()) << to_string(made.error());
    schedule = std::move(made).value();
    ASSERT_EQ(schedule.linear->src.size(), 2U);
  }

  Result<Schedule> with(const KernelLists& lists, int64_t first = 0) {
    const auto target_of = [](std::string_view) -> Result<const uop::Target*> {
      return profile("adreno-660");
    };
    return with_lists(session.graph(), schedule, lists, first, target_of, {});
  }
  // The names of the kernels, of the plan where that is asked for.
  std::vector<std::string> names(const KernelLists& lists, bool planned = false) {
    const Result<Schedule> made = with(lists);
    EXPECT_TRUE(made.ok()) << to_string(made.error());
    std::vector<std::string> all;
    if (!made.ok()) return all;
    for (const uop::Ref call : (planned ? made.value().planned : made.value().linear)->src) {
      all.emplace_back(schedule::kernel_name(call));
    }
    return all;
  }
  std::string refusal(const KernelLists& lists, int64_t first = 0) {
    const Result<Schedule> made = with(lists, first);
    return made.ok() ? "made" : to_string(made.error());
  }
};

KernelLists lists(std::vector<std::string> texts) {
  const Result<KernelLists> read = lists_from_text(texts);
  EXPECT_TRUE(read.ok()) << read.error().message;
  return read.ok() ? read.value() : KernelLists{};
}

std::string misread(std::string text) {
  const Result<KernelLists> read = lists_from_text(std::vector{std::move(text)});
  return read.ok() ? "read" : read.error().message;
}

TEST_F(KernelListsTest, StandBesideTheKernelsThatTheyAreOf) {
  const std::vector<std::string> bare = names({});
  const auto beside = [&](std::string_view a, std::string_view b) {
    return std::vector{bare[0] + std::string(a), bare[1] + std::string(b)};
  };
  EXPECT_EQ(names(lists({"1:LOCAL(0,8) UPCAST(0,2)"})), beside("", " LOCAL(0,8) UPCAST(0,2)"));
  EXPECT_EQ(names(lists({"none"})), beside(" NONE", " NONE"));
  EXPECT_EQ(names(lists({"LOCAL(0,4)", "0:none"})), beside(" NONE", " LOCAL(0,4)"));
  EXPECT_EQ(names(lists({"LOCAL(0,4)"}), true), beside(" LOCAL(0,4)", " LOCAL(0,4)"));
}

TEST_F(KernelListsTest, AreDrawnFromASeedForEachKernel) {
  std::set<std::string> drawn;
  for (int seed = 0; seed < 8; ++seed) {
    const KernelLists random = lists({fmt::format("random:{}", seed)});
    const std::vector<std::string> once = names(random);
    EXPECT_EQ(names(random), once);
    drawn.insert(once.begin(), once.end());
  }
  EXPECT_GT(drawn.size(), 8U);
}

TEST_F(KernelListsTest, ThatAreIllegalNameKernelOptAndLine) {
  const std::string name = names({})[1];
  EXPECT_EQ(refusal(lists({"1:LOCAL(0,5)"})),
            fmt::format("kernel 1, {}: opt LOCAL(0,5): 5 does not divide the 16 that are left "
                        "of store axis 0",
                        name));
  const Result<KernelLists> hinted = with_hints({}, program_of("kernel 4: GROUP(2,2)\n"));
  ASSERT_TRUE(hinted.ok());
  EXPECT_EQ(refusal(hinted.value()), "made");
  EXPECT_EQ(refusal(hinted.value(), 3).substr(0, 5), "2: ke");
  const Result<bool> within = hinted.value().within(4);
  ASSERT_FALSE(within.ok());
  EXPECT_EQ(to_string(within.error()), "2: there is no kernel 4: the program runs 4");
  EXPECT_TRUE(hinted.value().within(5).ok());
}

TEST_F(KernelListsTest, OfACommandGoBeforeHints) {
  const tensor::Program hints = program_of("kernel 0: NOLOCALS\nkernel 1: UPCAST(0,2)\n");
  const Result<KernelLists> own = with_hints(lists({"1:none"}), hints);
  ASSERT_TRUE(own.ok());
  EXPECT_TRUE(names(own.value())[0].ends_with(" NOLOCALS"));
  EXPECT_TRUE(names(own.value())[1].ends_with(" NONE"));
  const Result<KernelLists> all = with_hints(lists({"none"}), hints);
  ASSERT_TRUE(all.ok());
  EXPECT_TRUE(names(all.value())[0].ends_with(" NONE"));
}

TEST(KernelListTexts, AreReadOrRefusedByName) {
  EXPECT_EQ(misread("random:"), "'random:' has no number after it");
  EXPECT_EQ(misread("0:FOO(1,2)"), "'FOO(1,2)' is no list of opts: there is no opt 'FOO'");
  EXPECT_EQ(misread(""), "'' is no list of opts: expected an opt");
  EXPECT_EQ(misread("1:random:5"), "read");
}

}  // namespace
}  // namespace assay::runtime
