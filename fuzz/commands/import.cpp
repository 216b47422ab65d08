#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>

#include "fuzz/commands/command.h"
#include "fuzz/onnx/onnx.h"

namespace assay::fuzz {
namespace {

struct Options {
  std::string cases;
  std::string folder;
};

// What became of the cases so far.
struct Tally {
  int imported = 0;
  int left_out = 0;
  std::map<std::string, std::vector<std::string>> names;  // of those left out, by reason
  std::map<std::string, int> lines;                       // of each name
};

ExitCode fail(ExitCode code, const std::string& message) {
  fmt::print(stderr, "assay import: {}\n", message);
  return code;
}

ExitCode write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (out) return kClean;
  return fail(kEnvironment, fmt::format("{} cannot be written", path.string()));
}

// One line of the file.
ExitCode import_one(const Options& options, const std::string& line, int number, Tally& tally) {
  const auto at = [&](const std::string& message) {
    return fail(kUsage, fmt::format("{}:{}: {}", options.cases, number, message));
  };
  const auto imported = onnx::import_line(line);
  if (!imported.ok()) return at(imported.error().message);
  const auto& [name, text, reason] = imported.value();
  const auto [first, is_new] = tally.lines.emplace(name, number);
  if (!is_new) return at(fmt::format("{} is also the name of line {}", name, first->second));
  if (reason) {
    tally.names[*reason].push_back(name);
    tally.left_out++;
    return kClean;
  }
  tally.imported++;
  return write(std::filesystem::path(options.folder) / (name + ".tp"), text);
}

void print(const Options& options, const Tally& tally) {
  fmt::print("{} of {} cases imported to {}\n", tally.imported, tally.imported + tally.left_out,
             options.folder);
  for (const auto& [reason, names] : tally.names) {
    fmt::print("{:5} left out, {}: {}\n", names.size(), reason, fmt::join(names, " "));
  }
}

ExitCode import(const Options& options) {
  std::ifstream in(options.cases, std::ios::binary);
  if (!in) return fail(kEnvironment, fmt::format("{} cannot be read", options.cases));
  std::error_code error;
  std::filesystem::create_directories(options.folder, error);
  if (error) {
    return fail(kEnvironment, fmt::format("{}: {}", options.folder, error.message()));
  }
  Tally tally;
  std::string line;
  for (int number = 1; std::getline(in, line); number++) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const ExitCode code = import_one(options, line, number, tally);
    if (code != kClean) return code;
  }
  if (in.bad()) return fail(kEnvironment, fmt::format("{} cannot be read", options.cases));
  print(options, tally);
  return kClean;
}

std::function<ExitCode()> declare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option(
         "FILE", options->cases,
         "tests of single ONNX operators, a JSON object a line: \"name\", \"op\", "
         "\"opset\", \"attrs\", \"inputs\" and \"outputs\" (\"dtype\", \"shape\", \"data\")")
      ->required();
  app.add_option("--out", options->folder,
                 "where the programs go, NAME.tp for each case; what the language cannot say is "
                 "listed by reason")
      ->type_name("DIR")
      ->required();
  return [options] { return import(*options); };
}

}  // namespace

const Command& import_command() {
  static constexpr Command kCommand = {
      "import", "turn test cases of ONNX operators into programs that expect their results",
      declare};
  return kCommand;
}

}  // namespace assay::fuzz
