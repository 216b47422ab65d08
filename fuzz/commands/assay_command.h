#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

// The command as a user runs it, for tests.
namespace assay::fuzz {

struct Outcome {
  int status;
  std::string output;  // standard output and error
};

inline Outcome assay(const std::string& arguments) {
  const std::string command = fmt::format("'{}' {} 2>&1", ASSAY_COMMAND, arguments);
  std::FILE* pipe = popen(command.c_str(), "r");
  std::string output;
  char buffer[4096];
  while (const size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, n);
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, output};
}

inline void expect(const std::string& arguments, int status, const std::string& output) {
  const Outcome outcome = assay(arguments);
  EXPECT_EQ(outcome.status, status) << arguments;
  EXPECT_EQ(outcome.output, output) << arguments;
}

// A path that no other process has: the two halves of the tests run at once.
inline std::string own_path(const std::string& name) {
  const std::string folder = fmt::format("{}assay_{}", testing::TempDir(), getpid());
  std::filesystem::create_directory(folder);
  return fmt::format("{}/{}", folder, name);
}

inline std::string file_of(const std::string& name, const std::string& text) {
  std::string path = own_path(name);
  std::ofstream(path) << text;
  return path;
}

}  // namespace assay::fuzz
