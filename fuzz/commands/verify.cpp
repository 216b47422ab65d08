#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "engine/runtime/profiles.h"
#include "engine/runtime/rules.h"
#include "fuzz/commands/command.h"
#include "fuzz/commands/in_order.h"
#include "fuzz/commands/programs.h"
#include "fuzz/commands/verify_file.h"
#include "oracles/workgroup/sim.h"

namespace assay::fuzz {
namespace {

using props::Answer;
using props::Checked;
using props::Judgement;
using props::Property;

// Of a property, over all subjects of a file or of all files.
struct Tally {
  int64_t subjects = 0;
  int64_t obligations = 0;
  int64_t failed = 0;   // subjects
  int64_t unknown = 0;  // obligations
  int64_t listed = 0;
  std::map<std::string, int64_t, std::less<>> by_method;
  std::map<std::string, int64_t, std::less<>> by_cause;
  props::Strength strength = props::Strength::Proved;

  void add(const Checked& c) {
    subjects++;
    obligations += c.obligations;
    failed += c.verdict.answer == Answer::Fail ? 1 : 0;
    unknown += c.unknown;
    listed += static_cast<int64_t>(c.listed.size());
    strength = std::min(strength, c.verdict.strength);
    for (const auto& [method, n] : c.by_method) by_method[method] += n;
    for (const auto& [cause, n] : c.by_cause) by_cause[cause] += n;
  }
  reports::ProofRecord record(const Property& p) const {
    reports::ProofRecord r;
    r.kind = "property";
    r.name = p.name;
    r.answer = failed != 0 ? "fail" : unknown != 0 ? "unknown" : "pass";
    r.strength = to_text(strength);
    r.evidence = p.claim;
    r.methods = by_method;
    r.causes = by_cause;
    r.obligations = obligations;
    r.unknown = unknown;
    return r;
  }
  std::string text() const {
    std::string text = fmt::format("{}, {} obligations", to_text(strength), obligations);
    for (const auto& [method, n] : by_method) text += fmt::format(", {} {}", method, n);
    for (const auto& [cause, n] : by_cause) text += fmt::format(", unknown ({}) {}", cause, n);
    if (listed != 0) text += fmt::format("; {} listed", listed);
    return text;
  }
};

std::string_view word(Answer answer) {
  return answer == Answer::Pass ? "pass" : answer == Answer::Fail ? "FAIL" : "unknown";
}

// Prints what is found, file by file, and adds it up.
class Printer {
 public:
  explicit Printer(const VerifyOptions& options) : options_(options) {}

  void file(const std::string& path, const FileResult& result) {
    files_++;
    kernels_ += result.kernels;
    if (!result.malformed.empty()) {
      malformed_++;
      fmt::print("malformed {}:{}\n", path, result.malformed);
    }
    if (!result.refused.empty() && !options_.quiet) {
      fmt::print("pass {}: refused as expected: {}\n", path, result.refused);
    }
    std::map<std::string_view, Tally> tallies;
    for (const Judgement& j : result.judgements) {
      tallies[j.property].add(j.checked);
      totals_[j.property].add(j.checked);
      print(path, j);
    }
    if (options_.quiet) return;
    for (const Property* p : options_.chosen) {
      const auto found = tallies.find(p->name);
      if (found == tallies.end() || found->second.failed != 0 || found->second.unknown != 0) {
        continue;
      }
      fmt::print("pass {} {}: {}\n", path, p->name, found->second.text());
    }
    std::fflush(stdout);
  }

  ExitCode conclude(const QuestionTotals& questions) {
    int64_t failed = 0;
    int64_t unknown = 0;
    std::vector<reports::Record> records;
    for (const Property* p : options_.chosen) {
      const Tally& t = totals_[p->name];
      failed += t.failed;
      unknown += t.unknown;
      fmt::print("{}: {} subjects, {} failed; {}\n", p->name, t.subjects, t.failed, t.text());
      if (lacks_z3(*p, t)) {
        failed++;
        fmt::print("FAIL {}: Z3 decided none of its obligations\n", p->name);
      }
      records.emplace_back(t.record(*p));
    }
    note(write_records(options_.proof, records));
    questions.print();
    for (const std::string& d : questions.disagreements()) {
      fmt::print("FAIL the harness disagrees with itself:\n{}", d);
    }
    fmt::print("{} files, {} kernels: {} failed, {} unknown, {} malformed\n", files_, kernels_,
               failed, unknown, malformed_);
    if (failed != 0 || trouble_ || !questions.disagreements().empty()) {
      return trouble_ ? kEnvironment : kFinding;
    }
    if (malformed_ != 0) return kUsage;
    return unknown != 0 && options_.proof.strict ? kUnknown : kClean;
  }

 private:
  void print(const std::string& path, const Judgement& j) {
    const bool is_pass = j.checked.verdict.answer == Answer::Pass;
    if (!is_pass || options_.verbose) {
      fmt::print("{} {} {} of {}: {}\n", word(j.checked.verdict.answer), path, j.property,
                 j.subject, j.checked.verdict.evidence);
    }
    if (options_.verbose) {
      for (const std::string& l : j.checked.listed) fmt::print("  listed: {}\n", l);
    }
    if (j.checked.verdict.answer != Answer::Fail) return;
    const std::string name = fmt::format("{}-{}-{}", path, j.property, j.subject);
    note(write_evidence(options_.proof, name, j.checked));
  }

  void note(const Result<bool>& written) {
    if (written.ok()) return;
    trouble_ = true;
    fmt::print(stderr, "assay verify: {}\n", written.error().message);
  }

  // Where every obligation is to be put to Z3, a property of these that has some and of which Z3
  // decided none was not put to it.
  bool lacks_z3(const Property& p, const Tally& t) const {
    static constexpr std::string_view kPut[] = {"schedule_order", "plan_order", "kernel_races",
                                                "kernel_bounds"};
    return options_.proof.asks_z3 && t.obligations != 0 &&
           std::ranges::find(kPut, p.name) != std::end(kPut) && !t.by_method.contains("z3");
  }

  const VerifyOptions& options_;
  std::map<std::string_view, Tally> totals_;
  int64_t files_ = 0;
  int64_t kernels_ = 0;
  int64_t malformed_ = 0;
  bool trouble_ = false;
};

ExitCode fail(const std::string& why, ExitCode code) {
  fmt::print(stderr, "assay verify: {}\n", why);
  return code;
}

ExitCode verify_files(const VerifyOptions& options) {
  const Result<std::vector<std::string>> files = program_files(options.files);
  if (!files.ok()) return fail(to_string(files.error()), kEnvironment);
  QuestionTotals questions;
  std::mutex mutex;
  Printer printer(options);
  const auto start = std::chrono::steady_clock::now();
  in_order<FileResult>(
      files.value().size(), options.proof.threads(),
      [&] { return FileVerifier(options, files.value(), questions, mutex); },
      [&](size_t i, FileResult result) { printer.file(files.value()[i], result); });
  const ExitCode code = printer.conclude(questions);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  fmt::print("{:.1f} s\n", seconds.count());
  return code;
}

ExitCode verify(VerifyOptions& options) {
  if (const auto unknown = options.switches.unknown_rule(runtime::all_rules())) {
    return fail(fmt::format("no rule is named '{}'; see assay rules", *unknown), kUsage);
  }
  const Result<runtime::KernelLists> lists = runtime::lists_from_text(options.opts);
  if (!lists.ok()) return fail("--opts: " + lists.error().message, kUsage);
  options.lists = lists.value();
  options.target = &workgroup::sim_target();
  if (!options.profile.empty()) options.target = runtime::profile(options.profile);
  if (options.target == nullptr) {
    return fail(fmt::format("no profile is named '{}'; see assay devices", options.profile),
                kUsage);
  }
  for (const std::string& name : options.properties) {
    const Property* property = props::find_property(name);
    if (property == nullptr) {
      return fail(fmt::format("no property is named '{}'; see assay verify --help", name), kUsage);
    }
    options.chosen.push_back(property);
  }
  if (options.chosen.empty()) {
    options.chosen = props::every_property();
  }
  return verify_files(options);
}

std::string property_lines() {
  std::string text = "properties:\n";
  for (const Property& p : props::all_properties()) {
    text += fmt::format("  {:<22} {}\n", p.name, p.claim);
  }
  return text;
}

std::function<ExitCode()> declare(CLI::App& app) {
  auto options = std::make_shared<VerifyOptions>();
  app.add_option("FILE", options->files,
                 "programs (.tp), kernels and lists of calls (.uop), or folders of them")
      ->required();
  app.add_option("--property", options->properties, "judge this property; again for others")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option("--profile", options->profile,
                 "compile for this device; without, for all that sim has")
      ->type_name("NAME");
  add_opts(app, options->opts);
  add_switches(app, options->switches);
  add_proof_options(app, options->proof);
  app.add_flag("--quiet", options->quiet, "print only what fails or is unknown, and the summary");
  app.add_flag("--verbose", options->verbose,
               "print each subject, and what is listed without being a failure");
  const CLI::App* parent = app.get_parent();
  app.footer(property_lines() + "\n" + (parent != nullptr ? parent->get_footer() : ""));
  return [options] { return verify(*options); };
}

}  // namespace

const Command& verify_command() {
  static constexpr Command kCommand = {
      "verify", "prove properties of what programs and kernels are compiled to", declare};
  return kCommand;
}

}  // namespace assay::fuzz
