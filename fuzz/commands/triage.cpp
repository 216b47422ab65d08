#include "fuzz/blame/triage.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "fuzz/campaign/finding_folder.h"
#include "fuzz/commands/command.h"
#include "fuzz/commands/programs.h"
#include "fuzz/trial/outcome_text.h"
#include "fuzz/trial/trial_child.h"
#include "reports/record.h"

namespace assay::fuzz {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> folders;
  int64_t limit_ms = 20'000;
  bool again = false;
};

// A finding of a campaign, and what its folder says.
struct Found {
  std::string folder;
  reports::FindingRecord record;
  Investigated what;
  int64_t cases = 0;  // that failed because of it
};

ExitCode fail(const std::string& why, ExitCode code) {
  fmt::print(stderr, "assay triage: {}\n", why);
  return code;
}

// The child that looks into what no one has, made when there is such a finding.
class Looker {
 public:
  explicit Looker(const Options& options) : options_(options) {}

  std::optional<Investigated> look(const Case& c, const Finding& finding) {
    if (child_ == nullptr) {
      const std::vector<std::string> command = {"/proc/self/exe", "trial", "--serve"};
      child_ = std::make_unique<TrialChild>(command, "", options_.limit_ms);
    }
    return child_->investigate(c, finding);
  }

 private:
  const Options& options_;
  std::unique_ptr<TrialChild> child_;
};

Result<std::string> first_file(const fs::path& folder, std::string_view name) {
  for (const char* ending : {".tp", ".uop"}) {
    const std::string path = (folder / name).string() + ending;
    if (fs::exists(path)) return read_file(path);
  }
  return Error{fmt::format("{} has no {}.tp", folder.string(), name)};
}

// What is behind a finding, from its folder; looked for where that was not done, or asked for.
Result<Investigated> read_finding(const std::string& folder, bool again, Looker& looker) {
  const fs::path at = folder;
  if (fs::exists(at / "blame.json") && !again) {
    ASSAY_TRY(text, read_file((at / "blame.json").string()));
    ASSAY_TRY(found, investigated_from_text(text));
    const bool is_open =
        !found.is_done && !is_of_process(found.finding) && found.blame.stage != "flaky";
    if (!is_open) return found;
  }
  ASSAY_TRY(text, first_file(at, "original"));
  ASSAY_TRY(original, case_from_text(text));
  ASSAY_TRY(line, read_file((at / "finding.json").string()));
  ASSAY_TRY(finding, finding_from_text(line));
  std::optional<Investigated> found = looker.look(original, finding);
  if (found) return std::move(*found);
  Investigated as_found = {original, finding, {}, 0, false};
  as_found.blame.stage = finding.stage;
  as_found.blame.title = finding.evidence.substr(0, 160);
  return as_found;
}

Result<std::vector<Found>> findings_of(const std::string& folder, bool again, Looker& looker) {
  ASSAY_TRY(text, read_file(folder + "/records.jsonl"));
  ASSAY_TRY(records, reports::records_from(text));
  std::map<std::string, int64_t> cases;
  std::vector<Found> all;
  for (const reports::Record& r : records) {
    if (const auto* c = std::get_if<reports::CaseRecord>(&r)) cases[c->finding]++;
    const auto* f = std::get_if<reports::FindingRecord>(&r);
    if (f == nullptr) continue;
    Found found = {fmt::format("{}/{}", folder, f->folder), *f, {}, 0};
    ASSAY_TRY(what, read_finding(found.folder, again, looker));
    found.what = std::move(what);
    all.push_back(std::move(found));
  }
  for (Found& f : all) f.cases = cases[f.record.folder];
  return all;
}

std::string line_of(const Group& group, const std::vector<Found>& all) {
  const Found& first = all[group.reports.front()];
  int64_t cases = 0;
  for (const size_t k : group.reports) cases += all[k].cases;
  const std::string flaky =
      first.record.rate < 1 ? fmt::format(" (flaky: {:.0f} %)", first.record.rate * 100) : "";
  const size_t space = first.record.command.rfind(' ');
  return fmt::format("{} cases, {} findings: {}{}: {} | {} {}/{}\n", cases, group.reports.size(),
                     to_text(group.cause), flaky, first.what.blame.title,
                     first.record.command.substr(0, space), first.folder,
                     smallest_file(first.what.smallest));
}

ExitCode run_triage(const Options& options) {
  Looker looker(options);
  std::vector<Found> all;
  for (const std::string& folder : options.folders) {
    Result<std::vector<Found>> found = findings_of(folder, options.again, looker);
    if (!found.ok()) return fail(to_string(found.error()), kEnvironment);
    std::ranges::move(found.value(), std::back_inserter(all));
  }
  std::vector<Report> reports;
  for (const Found& f : all) reports.push_back({f.what.smallest, f.what.finding, f.what.blame});
  const std::vector<Group> groups = triage(reports);
  for (const Group& group : groups) fmt::print("{}", line_of(group, all));
  fmt::print("{} causes in {} findings\n", groups.size(), all.size());
  return groups.empty() ? kClean : kFinding;
}

std::function<ExitCode()> declare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("DIR", options->folders, "folders of campaigns")->required();
  app.add_option("--time-limit", options->limit_ms, "of one case, in ms")->type_name("MS");
  app.add_flag("--again", options->again, "shrink and bisect also what a campaign did already");
  return [options] { return run_triage(*options); };
}

}  // namespace

const Command& triage_command() {
  static constexpr Command kCommand = {
      "triage", "group the findings of campaigns by cause, a line each", declare};
  return kCommand;
}

}  // namespace assay::fuzz
