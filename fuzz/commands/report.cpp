#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include <CLI/CLI.hpp>

#include "fuzz/commands/command.h"
#include "fuzz/commands/programs.h"
#include "reports/html.h"
#include "reports/libfuzzer.h"
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

// The files in a folder that end so, by name.
std::vector<std::string> files_in(const fs::path& folder, std::string_view extension) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == extension) files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  return files;
}

// What a file says: records, or what libFuzzer printed of the target that the file is named for.
Result<std::vector<reports::Record>> records_in(const std::string& path) {
  ASSAY_TRY(text, read_file(path));
  if (fs::path(path).extension() == ".log") {
    return std::vector<reports::Record>{
        reports::target_from_log(fs::path(path).stem().string(), text)};
  }
  Result<std::vector<reports::Record>> records = reports::records_from(text);
  if (!records.ok()) return Error{path + ":" + to_string(records.error())};
  return records;
}

// The files that an argument names: of a folder all records that lie in it, and what was printed of
// fuzz targets, below `targets`.
std::vector<std::string> record_files(const std::string& argument) {
  std::error_code error;
  if (!fs::is_directory(argument, error)) return {argument};
  std::vector<std::string> files = files_in(argument, ".jsonl");
  const std::vector<std::string> logs = files_in(fs::path(argument) / "targets", ".log");
  files.insert(files.end(), logs.begin(), logs.end());
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
  for (const reports::TargetRecord& t : s.targets) {
    fmt::print("target {}: {} inputs tried, {} of {} edges, {} features, {} kept, {} failures\n",
               t.name, t.executions, t.edges, t.all_edges, t.features, t.kept, t.crashes);
  }
  fmt::print("{}\n", s.red.empty() ? "green" : fmt::format("red: {}", fmt::join(s.red, "; ")));
}

ExitCode report(const Options& options) {
  std::vector<reports::Record> all;
  for (const std::string& argument : options.campaigns) {
    const std::vector<std::string> files = record_files(argument);
    if (files.empty()) return fail(argument + " holds no records (.jsonl)", kEnvironment);
    for (const std::string& path : files) {
      Result<std::vector<reports::Record>> records = records_in(path);
      if (!records.ok()) return fail(records.error().message, kUsage);
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
  app.add_option("CAMPAIGN", options->campaigns,
                 "folders of campaigns or nights, files of records, logs of libFuzzer")
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
