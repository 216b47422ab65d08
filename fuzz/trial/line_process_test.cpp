#include "fuzz/trial/line_process.h"

#include <gtest/gtest.h>

namespace assay::fuzz {
namespace {

using Came = LineProcess::Came;

constexpr int64_t kLimitMs = 400;

// What comes of a process that does this when it is asked.
Came answer_of(const std::string& body, std::string& line) {
  LineProcess process({"bash", "-c", "read -r line; " + body});
  EXPECT_TRUE(process.ask("a question").ok());
  return process.read(line, kLimitMs);
}

TEST(LineProcess, SaysWhatItIsAsked) {
  std::string line;
  EXPECT_EQ(answer_of("echo \"$line\"", line), Came::Line);
  EXPECT_EQ(line, "a question");
}

TEST(LineProcess, CrashesWhereItEndsWithoutAWord) {
  std::string line;
  EXPECT_EQ(answer_of("exit 3", line), Came::Crash);
}

TEST(LineProcess, HangsWhereItWorksForTooLong) {
  std::string line;
  EXPECT_EQ(answer_of("while :; do :; done", line), Came::Hang);
}

TEST(LineProcess, HangsWhereOneThatItStartedDoes) {
  std::string line;
  EXPECT_EQ(answer_of("(while :; do :; done)", line), Came::Hang);
}

// As on a machine that is busy with something else: the time that passes is not its own.
TEST(LineProcess, DoesNotHangForBeingLate) {
  std::string line;
  EXPECT_EQ(answer_of("sleep 1; echo done", line), Came::Line);
  EXPECT_EQ(line, "done");
}

TEST(LineProcess, HangsWhereItSleepsForGood) {
  std::string line;
  EXPECT_EQ(answer_of("sleep 600", line), Came::Hang);
}

}  // namespace
}  // namespace assay::fuzz
