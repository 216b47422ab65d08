#include "fuzz/score/score.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "fuzz/commands/command.h"
#include "fuzz/commands/device_options.h"
#include "fuzz/commands/in_order.h"
#include "fuzz/commands/programs.h"
#include "fuzz/fault/mutants.h"
#include "fuzz/score/score_child.h"
#include "fuzz/score/score_text.h"
#include "props/property.h"
#include "reports/record.h"

namespace assay::fuzz {
namespace {

struct Options {
  std::vector<std::string> faults = {"all"};
  std::vector<std::string> corpus = {"corpus/regress"};
  std::vector<std::string> properties;
  size_t sample = 0;
  size_t jobs = 1;
  bool is_verbose = false;
  bool lists = false;
  bool serves = false;
  std::string log;
  std::string out;      // a folder for witnesses; "" for none
  std::string records;  // a file; "" for none
  ScoreOptions score;
};

// Faults by a set's name ("stages", "mutants", "all", a class) or by their own, each once.
Result<std::vector<Fault>> chosen(const std::vector<std::string>& names) {
  const std::vector<Fault> all = every_fault();
  std::vector<bool> is_chosen(all.size(), false);
  for (const std::string& name : names) {
    bool is_known = false;
    for (size_t k = 0; k < all.size(); k++) {
      const bool is_mutant = is_of_table(all[k]);
      const bool is_in_set = name == "all" || (name == "stages" && !is_mutant) ||
                             (name == "mutants" && is_mutant) ||
                             (name == to_text(all[k].of) && !is_mutant) || all[k].name == name;
      is_chosen[k] = is_chosen[k] || is_in_set;
      is_known = is_known || is_in_set;
    }
    if (!is_known) {
      return Error{fmt::format("no fault and no set of faults is named '{}'", name), 0, 0};
    }
  }
  std::vector<Fault> faults;
  for (size_t k = 0; k < all.size(); k++) {
    if (is_chosen[k]) faults.push_back(all[k]);
  }
  return faults;
}

// Some of them, spread over all.
std::vector<Fault> sampled(std::vector<Fault> faults, size_t n, uint64_t seed) {
  if (n == 0 || n >= faults.size()) return faults;
  std::vector<Fault> some;
  for (size_t k = 0; k < n; k++) {
    const size_t stride = faults.size() * k / n;
    some.push_back(faults[(stride + seed) % faults.size()]);
  }
  return some;
}

Result<std::vector<Case>> corpus_of(const std::vector<std::string>& arguments) {
  ASSAY_TRY(files, program_files(arguments));
  std::vector<Case> cases;
  for (const std::string& file : files) {
    if (is_kernel_file(file)) continue;
    ASSAY_TRY(text, read_file(file));
    Result<Case> c = case_from_text(text);
    if (!c.ok()) return Error{fmt::format("{}: {}", file, c.error().message), 0, 0};
    cases.push_back(std::move(c).value());
  }
  return cases;
}

// The case that shows a fault, under its name.
void save(const std::string& folder, const Scored& s) {
  if (folder.empty() || s.witness.empty()) return;
  std::filesystem::create_directories(folder);
  std::ofstream file(std::filesystem::path(folder) / (s.name + ".tp"));
  file << s.witness;
}

reports::ScoreRecord record_of(const Scored& s) {
  reports::ScoreRecord r;
  r.fault = s.name;
  r.fault_class = to_text(s.of);
  r.judge = s.is_found && !s.findings.empty() ? s.findings[0].judge : "";
  r.judges = s.judges;
  r.seconds = s.seconds;
  r.is_blamed_right = s.is_blamed_right;
  r.blame = s.blame.nearest();
  r.why = s.why;
  return r;
}

ExitCode fail(const std::string& why, ExitCode code) {
  fmt::print(stderr, "assay score: {}\n", why);
  return code;
}

// The same options to a process that serves scores.
std::vector<std::string> child_command(const Options& options) {
  std::vector<std::string> words = {"/proc/self/exe", "score", "--serve"};
  const auto add = [&](std::string name, std::string value) {
    words.push_back(std::move(name));
    words.push_back(std::move(value));
  };
  add("--seed", std::to_string(options.score.seed));
  add("--seconds", fmt::format("{}", options.score.seconds));
  add("--cases", std::to_string(options.score.cases));
  for (const std::string& path : options.corpus) add("--corpus", path);
  for (const std::string& name : options.properties) add("--property", name);
  return words;
}

// How far it is, on a terminal.
void show_progress(size_t done, size_t all, size_t missed) {
  if (isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\r{} of {} faults, {} missed  {}", done, all, missed,
             done == all ? "\n" : "");
}

ExitCode score_all(const Options& options, const std::vector<Fault>& faults) {
  std::ofstream records;
  if (!options.records.empty()) {
    records.open(options.records, std::ios::binary);
    if (!records) return fail(options.records + " cannot be written", kEnvironment);
  }
  const std::vector<std::string> command = child_command(options);
  std::vector<Scored> all;
  size_t missed = 0;
  in_order<Scored>(
      faults.size(), options.jobs,
      [&] {
        return [&, child = std::make_shared<ScoreChild>(command, options.score)](size_t i) {
          return child->score(faults[i]);
        };
      },
      [&](size_t, Scored s) {
        fmt::print("{}\n", line_of(s));
        if (options.is_verbose) fmt::print("{}", details_of(s));
        save(options.out, s);
        if (s.no_fault.empty()) records << reports::to_line(record_of(s)) << std::flush;
        std::fflush(stdout);
        missed += s.is_found || !s.no_fault.empty() ? 0 : 1;
        all.push_back(std::move(s));
        show_progress(all.size(), faults.size(), missed);
      });
  fmt::print("\n{}", summary_text(all));
  return is_red(all) ? kFinding : kClean;
}

ExitCode run_score(Options& options) {
  Result<std::vector<Fault>> faults = chosen(options.faults);
  if (!faults.ok()) return fail(faults.error().message, kUsage);
  const std::vector<Fault> some =
      sampled(std::move(faults).value(), options.sample, options.score.seed);
  if (options.lists) {
    for (const Fault& f : some) fmt::print("{:<36} {:<22} {} {}\n", f.name, f.blame, f.does, f.row);
    return kClean;
  }
  Result<std::vector<Case>> corpus = corpus_of(options.corpus);
  if (!corpus.ok()) return fail(corpus.error().message, kEnvironment);
  options.score.corpus = std::move(corpus).value();
  options.score.kinds = device_kinds();
  for (const props::Property& p : props::all_properties()) {
    const bool is_chosen =
        options.properties.empty() ||
        std::ranges::find(options.properties, p.name) != options.properties.end();
    if (is_chosen) options.score.properties.push_back(&p);
  }
  if (options.serves) {
    if (!options.log.empty() && std::freopen(options.log.c_str(), "w", stderr) == nullptr) {
      return kEnvironment;
    }
    return serve_scores(every_fault(), options.score) == 0 ? kClean : kUsage;
  }
  return score_all(options, some);
}

std::function<ExitCode()> declare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("--faults", options->faults,
                 "a fault, a class of faults, 'stages', 'mutants' (of rules) or 'all'; again for "
                 "more")
      ->type_name("SET");
  app.add_option("--sample", options->sample, "only so many of them, spread over all")
      ->type_name("N");
  app.add_option("--corpus", options->corpus, "programs that are tried in turn with random ones")
      ->type_name("FILE");
  app.add_option("--property", options->properties, "judge this property, not all")
      ->type_name("NAME");
  app.add_option("--seed", options->score.seed, "of random programs")->type_name("S");
  app.add_option("--cases", options->score.cases, "tried of each fault")->type_name("N");
  app.add_option("--seconds", options->score.seconds, "tried of each fault")->type_name("N");
  app.add_option("--jobs", options->jobs, "faults at once, each in a process of its own")
      ->type_name("J")
      ->check(CLI::Range(1, 1024));
  app.add_option("--out", options->out, "write the case that shows a fault here, as NAME.tp")
      ->type_name("DIR");
  app.add_option("--records", options->records, "write a record of each fault, for assay report")
      ->type_name("FILE");
  app.add_flag("--list", options->lists, "print the faults instead");
  app.add_flag("--verbose", options->is_verbose, "print findings, blame and witness of each");
  CLI::Option* serves =
      app.add_flag("--serve", options->serves, "serve scores on standard input and output");
  app.add_option("--log", options->log, "with --serve: where messages go")->needs(serves);
  return [options] { return run_score(*options); };
}

}  // namespace

const Command& score_command() {
  static constexpr Command kCommand = {
      "score", "plant faults in the compiler and see which of them are found", declare};
  return kCommand;
}

}  // namespace assay::fuzz
