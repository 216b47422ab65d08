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
#include "engine/schedule/memory_plan.h"
#include "engine/tensor/program/text.h"
#include "engine/uop/text.h"
#include "engine/uop/walk.h"
#include "fuzz/commands/command.h"
#include "fuzz/commands/kernel_text.h"
#include "fuzz/commands/programs.h"
#include "fuzz/commands/proof_options.h"
#include "fuzz/in_order.h"
#include "oracles/workgroup/sim.h"
#include "props/compile.h"
#include "props/kernel/kernel_props.h"
#include "props/schedule/schedule_props.h"

namespace assay::fuzz {
namespace {

using props::Answer;
using props::Checked;
using props::Judgement;
using props::Property;

struct Options {
  std::vector<std::string> files;
  std::vector<std::string> properties;
  std::vector<std::string> opts;
  std::string profile;
  uop::Switches switches;
  ProofOptions proof;
  bool quiet = false;
  bool verbose = false;
  // What these name.
  std::vector<const Property*> chosen;
  runtime::KernelLists lists;
  const uop::Target* target = nullptr;
};

// What became of one file.
struct FileResult {
  std::vector<Judgement> judgements;
  std::string malformed;  // why there is nothing to verify
  std::string refused;    // what the compiler says, as the file expects
  int64_t kernels = 0;
};

bool is_list_of_calls(uop::Ref root) {
  return root->op == uop::Op::Linear &&
         std::ranges::any_of(root->src, [](uop::Ref u) { return u->op == uop::Op::Call; });
}

// A file that says what is found in it.
std::string expecting(std::string text, const std::vector<std::string>& found) {
  std::string lines;
  for (const std::string& one : found) lines += fmt::format("# expect {}\n", one);
  const size_t list = text.starts_with("uop ") ? 0 : text.find("\nuop ") + 1;
  return text.insert(list, lines);
}

// Verifies files, with a prover and a memory of its own.
class Worker {
 public:
  Worker(const Options& options, const std::vector<std::string>& files, QuestionTotals& totals,
         std::mutex& mutex)
      : options_(options),
        files_(files),
        totals_(totals),
        mutex_(mutex),
        prover_(std::make_unique<smt::Prover>(options.proof.prover_options())),
        cache_(std::make_unique<schedule::Cache>()),
        verifier_(std::make_unique<props::Verifier>(
            options.chosen, props::Context{*prover_, *options.target, options.proof.seed})) {}
  Worker(Worker&&) = default;
  ~Worker() {
    if (prover_ == nullptr) return;
    const std::lock_guard lock(mutex_);
    totals_.add(*prover_);
  }

  FileResult operator()(size_t i) {
    FileResult result;
    const Result<std::string> text = read_file(files_[i]);
    const Result<int64_t> kernels =
        !text.ok() ? Result<int64_t>(text.error())
                   : (is_kernel_file(files_[i]) ? kernel(text.value(), result)
                                                : program(text.value(), result));
    if (kernels.ok()) {
      result.kernels = kernels.value();
    } else {
      result.malformed = to_string(kernels.error());
    }
    std::vector<Judgement> seen = verifier_->take();
    result.judgements.insert(result.judgements.end(), std::make_move_iterator(seen.begin()),
                             std::make_move_iterator(seen.end()));
    return result;
  }

 private:
  Result<int64_t> program(const std::string& text, FileResult& result) {
    ASSAY_TRY(program, tensor::from_text(text));
    const props::CompileOptions how = {options_.lists, options_.switches, cache_.get()};
    Result<int64_t> kernels = props::compile(program, how, *verifier_);
    if (kernels.ok()) return kernels;
    for (const tensor::Statement& s : program.statements) {
      const auto* e = std::get_if<tensor::Expect>(&s.what);
      if (e == nullptr || !e->error) continue;
      if (kernels.error().message.find(*e->error) == std::string::npos) continue;
      result.refused = kernels.error().message;
      return int64_t{0};
    }
    return kernels;
  }

  Result<int64_t> kernel(const std::string& text, FileResult& result) {
    uop::Graph g;
    ASSAY_TRY(parsed, uop::from_text(g, text));
    if (is_list_of_calls(parsed.root)) return calls(g, parsed.root, result);
    KernelText kernel;
    const Result<bool> read = read_kernel_text(text, kernel);
    if (!read.ok()) return read.error();
    const props::CompileOptions how = {options_.lists, options_.switches, nullptr};
    if (!kernel.is_list) {
      return props::compile(kernel.file.graph, kernel.root, how, *verifier_);
    }
    if (!options_.lists.empty()) {
      return Error{"it is a list of instructions, for which opts come too late"};
    }
    return list(text, kernel.file, result);
  }

  // Of a list of calls, as evidence of a wrong order is one: what all of its storage holds in the
  // end counts.
  Result<int64_t> calls(uop::Graph& g, uop::Ref linear, FileResult& result) {
    std::vector<uop::Ref> held;
    for (const uop::Ref u : uop::toposort(g, linear, uop::Bodies::Outside)) {
      if (u->op == uop::Op::Buffer) held.push_back(u);
    }
    const schedule::PlanOptions how = {held, {}};
    const schedule::MemoryPlan none;
    if (is_chosen("linear_order")) {
      result.judgements.push_back(
          {props::find_property("linear_order")->name, "the list of calls",
           props::linear_order({g, linear, linear, none, how, {}}, verifier_->context())});
    }
    return static_cast<int64_t>(linear->src.size());
  }

  bool is_chosen(std::string_view property) const {
    return std::ranges::any_of(options_.chosen,
                               [&](const Property* p) { return p->name == property; });
  }

  // What the file expects to be found is a failure of the kernel, and none of the file. Where more
  // is found the file is the evidence, once it says so.
  Result<int64_t> list(const std::string& text, workgroup::KernelFile& file, FileResult& result) {
    ASSAY_TRY(checked, props::check_kernel_file(file, verifier_->context()));
    for (props::FileChecked& c : checked.properties) {
      if (!is_chosen(c.property)) continue;
      if (c.checked.verdict.answer == Answer::Fail && checked.difference.empty()) {
        c.checked.verdict.answer = Answer::Pass;
        c.checked.verdict.evidence = "refuted, as expected: " + c.checked.verdict.evidence;
      }
      if (c.checked.verdict.answer == Answer::Fail) {
        c.checked.evidence.push_back({"list.uop", expecting(text, checked.unexpected)});
      }
      result.judgements.push_back({c.property, "the list", std::move(c.checked)});
    }
    if (checked.difference.empty()) return int64_t{1};
    Checked wrong;
    wrong.verdict = {Answer::Fail, props::Strength::Proved, checked.difference};
    result.judgements.push_back({"kernel_races", "what the file expects", std::move(wrong)});
    return int64_t{1};
  }

  const Options& options_;
  const std::vector<std::string>& files_;
  QuestionTotals& totals_;
  std::mutex& mutex_;
  std::unique_ptr<smt::Prover> prover_;
  std::unique_ptr<schedule::Cache> cache_;
  std::unique_ptr<props::Verifier> verifier_;
};

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
  explicit Printer(const Options& options) : options_(options) {}

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

  const Options& options_;
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

ExitCode verify_files(const Options& options) {
  const Result<std::vector<std::string>> files = program_files(options.files);
  if (!files.ok()) return fail(to_string(files.error()), kEnvironment);
  QuestionTotals questions;
  std::mutex mutex;
  Printer printer(options);
  const auto start = std::chrono::steady_clock::now();
  in_order<FileResult>(
      files.value().size(), options.proof.threads(),
      [&] { return Worker(options, files.value(), questions, mutex); },
      [&](size_t i, FileResult result) { printer.file(files.value()[i], result); });
  const ExitCode code = printer.conclude(questions);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  fmt::print("{:.1f} s\n", seconds.count());
  return code;
}

ExitCode verify(Options& options) {
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
  auto options = std::make_shared<Options>();
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
