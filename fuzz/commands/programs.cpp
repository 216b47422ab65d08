#include "fuzz/commands/programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include <CLI/CLI.hpp>

#include "engine/tensor/program/text.h"

namespace assay::fuzz {
namespace {

namespace fs = std::filesystem;

// Whether a .uop file says of itself that it is a kernel.
bool says_kernel(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string line;
  while (std::getline(in, line) && !line.starts_with("uop ")) {
  }
  static constexpr std::string_view kStages[] = {" kernel", " scheduled", " linear", " lines"};
  return std::ranges::any_of(kStages, [&](std::string_view s) { return line.ends_with(s); });
}

Result<std::vector<std::string>> below(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    const std::string path = at->path().string();
    if (path.ends_with(".tp") || (is_kernel_file(path) && says_kernel(path))) found.push_back(path);
  }
  if (error) return Error{fmt::format("{} cannot be read: {}", folder, error.message()), 0, 0};
  if (found.empty()) return Error{fmt::format("{} holds no program and no kernel", folder), 0, 0};
  std::sort(found.begin(), found.end());
  return found;
}

// CLI11 reads "-1" as the largest number there is.
std::string is_count(const std::string& text) {
  const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
  return digits ? "" : fmt::format("'{}' is no count", text);
}

}  // namespace

Result<std::vector<std::string>> program_files(const std::vector<std::string>& arguments) {
  std::vector<std::string> files;
  for (const std::string& argument : arguments) {
    std::error_code error;
    const fs::file_status status = fs::status(argument, error);
    if (!fs::exists(status)) return Error{fmt::format("{} does not exist", argument), 0, 0};
    if (!fs::is_directory(status)) {
      files.push_back(argument);
      continue;
    }
    ASSAY_TRY(found, below(argument));
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

bool is_kernel_file(std::string_view path) { return path.ends_with(".uop"); }

Result<std::string> read_file(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return Error{fmt::format("{} is a folder", path), 0, 0};
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  if (!in || in.bad()) return Error{fmt::format("{} cannot be read", path), 0, 0};
  return std::move(text).str();
}

Result<tensor::Program> read_program(const std::string& path) {
  ASSAY_TRY(text, read_file(path));
  return tensor::from_text(text);
}

void add_switches(CLI::App& app, uop::Switches& switches) {
  app.add_option("--off", switches.off, "a rule that must not fire (set.rule)")
      ->type_name("RULE")
      ->allow_extra_args(false);
  app.add_option("--limit", switches.limit, "stop after this many firings of rules (of each input)")
      ->type_name("N")
      ->check(CLI::Validator(is_count, ""));
}

void add_opts(CLI::App& app, std::vector<std::string>& opts) {
  app.add_option("--opts", opts,
                 "how kernels are made: a list such as 'LOCAL(0,8) UPCAST(1,4)', none, or "
                 "random:SEED for legal lists; of all kernels, or after N: of kernel N")
      ->type_name("[N:]LIST")
      ->allow_extra_args(false);
}

}  // namespace assay::fuzz
