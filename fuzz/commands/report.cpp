#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include <CLI/CLI.hpp>

#include "fuzz/commands/command.h"
#include "fuzz/commands/programs.h"
#include "reports/html.h"
#include "reports/record.h"
#include "reports/summary.h"

namespace assay::fuzz {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> campaigns;
  std::string html;
  bool strict = false;
};

ExitCode fail(const std::string& why, ExitCode code) {
  fmt::print(stderr, "assay report: {}\n", why);
  return code;
}

// The files of records that an argument names: of a folder all that lie in it, by name.
std::vector<std::string> record_files(const std::string& argument) {
  std::error_code error;
  if (!fs::is_directory(argument, error)) return {argument};
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(argument, error)) {
    if (entry.path().extension() == ".jsonl") files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  return files;
}

void print(const reports::Summary& s) {
  fmt::print("{} cases: {} passed, {} failed, {} unknown, {} malformed\n", s.cases, s.passed,
             s.failed, s.unknown, s.malformed);
  for (const reports::FindingRecord& f : s.findings) {
    fmt::print("FAIL {} at {}: {} ({})\n", f.judge, f.stage, f.title, f.folder);
  }
  if (!s.proofs.empty()) {
    fmt::print("proofs: {} passed, {} refuted, {} unknown\n", s.proved, s.refuted, s.unproved);
  }
  if (!s.scores.empty()) {
    fmt::print("faults: {} of {} found, {:.2f} s in the median, {} blamed right\n", s.faults_found,
               s.scores.size(), s.median_seconds, s.blamed_right);
  }
  fmt::print("{}\n", s.red.empty() ? "green" : fmt::format("red: {}", fmt::join(s.red, "; ")));
}

ExitCode report(const Options& options) {
  std::vector<reports::Record> all;
  for (const std::string& argument : options.campaigns) {
    const std::vector<std::string> files = record_files(argument);
    if (files.empty()) return fail(argument + " holds no records (.jsonl)", kEnvironment);
    for (const std::string& path : files) {
      const Result<std::string> text = read_file(path);
      if (!text.ok()) return fail(text.error().message, kEnvironment);
      Result<std::vector<reports::Record>> records = reports::records_from(text.value());
      if (!records.ok()) return fail(path + ":" + to_string(records.error()), kUsage);
      all.insert(all.end(), records.value().begin(), records.value().end());
    }
  }
  const reports::Summary summary = reports::summarize(all);
  print(summary);
  if (!options.html.empty()) {
    std::ofstream out(options.html, std::ios::binary);
    out << reports::to_html(summary);
    out.close();
    if (!out) return fail(options.html + " cannot be written", kEnvironment);
    fmt::print("wrote {}\n", options.html);
  }
  return options.strict && !summary.red.empty() ? kFinding : kClean;
}

std::function<ExitCode()> declare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("CAMPAIGN", options->campaigns, "folders of campaigns, or files of records")
      ->required();
  app.add_option("--html", options->html, "write a page that a browser opens")->type_name("FILE");
  app.add_flag("--strict", options->strict, "exit with 1 where the night is red");
  return [options] { return report(*options); };
}

}  // namespace

const Command& report_command() {
  static constexpr Command kCommand = {
      "report", "what the records of a campaign come to, as text and as a page", declare};
  return kCommand;
}

}  // namespace assay::fuzz
