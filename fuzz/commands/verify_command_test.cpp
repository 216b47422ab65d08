// `assay verify` as a user runs it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "fuzz/commands/assay_command.h"
#include "fuzz/programs/saved_programs.h"

namespace assay::fuzz {
namespace {

// What was written as evidence, in order.
std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  return files;
}

std::string empty_folder(const std::string& name) {
  std::string folder = testing::TempDir() + name;
  std::filesystem::remove_all(folder);
  return folder;
}

std::string without_lines(const std::string& text, std::string_view start) {
  std::string kept;
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    if (!std::string_view(text).substr(at).starts_with(start)) kept += text.substr(at, end - at);
    at = end;
  }
  return kept;
}

// A list of instructions that expects nothing: what is found fails, and the evidence says so.
TEST(VerifyCommand, WritesEvidenceOfAListThatShowsTheSame) {
  const std::string kept = file_text(corpus_folder("kernels") / "group_reduce_no_barrier.uop");
  const std::string file = file_of("racy.uop", without_lines(kept, "# expect"));
  const std::string folder = empty_folder("verify_list");
  const Outcome first = assay("verify " + file + " --evidence " + folder);
  EXPECT_EQ(first.status, 1);
  const std::string found = "kernel_races of the list: race %17 %23: ";
  const size_t at = first.output.find(found);
  ASSERT_NE(at, std::string::npos) << first.output;
  EXPECT_TRUE(first.output.find("FAIL ") < at);
  const std::string why = first.output.substr(at, first.output.find('\n', at) - at);
  const std::vector<std::string> files = files_in(folder);
  ASSERT_EQ(files.size(), 1U);
  const Outcome again = assay("verify --verbose " + files[0]);
  EXPECT_EQ(again.status, 0) << again.output;
  const std::string same = "refuted, as expected: " + why.substr(why.find("race %17"));
  EXPECT_NE(again.output.find(same), std::string::npos) << again.output;
}

// Three calls, of which the second overwrites what the first reads.
constexpr std::string_view kCalls = R"(uop 1 linear
%n = const index 4
%one = const f32 1.0
%r = range index %n {0 weak}
%p0 = param f32 %n {0}
%p1 = param f32 %n {1}
%to = index f32 %p0 %r
%from = index f32 %p1 %r
%more = add f32 %from %one
%copy = store void %to %more
%copied = end void %copy %r
%copies = sink void %copied {"copies"}
%set = store void %to %one
%done = end void %set %r
%sets = sink void %done {"sets"}
%a = buffer f32 %n {0 global}
%b = buffer f32 %n {1 global}
%first = call void %copies %b %a {""}
%second = call void %sets %a {""}
)";

TEST(VerifyCommand, WritesEvidenceOfAnOrderThatShowsTheSame) {
  const auto linear = [](std::string_view edges) {
    return fmt::format("{}%list = linear void %first %second {{\"\"{}}}\n", kCalls, edges);
  };
  const std::string right = file_of("ordered.uop", linear(" 0 1 1"));
  const Outcome passed = assay("verify --strict " + right);
  EXPECT_EQ(passed.status, 0) << passed.output;
  const std::string wrong = file_of("unordered.uop", linear(""));
  const std::string folder = empty_folder("verify_order");
  const Outcome first = assay("verify " + wrong + " --evidence " + folder);
  EXPECT_EQ(first.status, 1) << first.output;
  const size_t at = first.output.find("linear_order of the list of calls: WAR: ");
  ASSERT_NE(at, std::string::npos) << first.output;
  const std::string why = first.output.substr(at, first.output.find('\n', at) - at);
  const std::vector<std::string> files = files_in(folder);
  ASSERT_EQ(files.size(), 1U);
  const Outcome again = assay("verify " + files[0]);
  EXPECT_EQ(again.status, 1);
  EXPECT_NE(again.output.find(why), std::string::npos) << again.output;
}

TEST(VerifyCommand, SaysOfATermThatItIsNoKernel) {
  const std::string file =
      file_of("term.uop", "uop 1 term\n%x = var i32 {\"x\" 0 9}\n%y = add i32 %x %x\n");
  const Outcome outcome = assay("verify --quiet " + file);
  EXPECT_EQ(outcome.status, 2);
  const std::string why =
      "it is neither a kernel of the schedule nor a list of instructions: its root is add\n";
  EXPECT_TRUE(outcome.output.starts_with("malformed " + file + ":" + why)) << outcome.output;
}

}  // namespace
}  // namespace assay::fuzz
