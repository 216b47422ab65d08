#include "fuzz/score.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>

#include "fuzz/commands/command.h"
#include "fuzz/commands/device_options.h"
#include "fuzz/commands/programs.h"
#include "fuzz/fault/mutants.h"
#include "fuzz/in_order.h"
#include "props/property.h"

namespace assay::fuzz {
namespace {

struct Options {
  std::vector<std::string> faults;
  std::vector<std::string> corpus;
  std::vector<std::string> properties;
  size_t sample = 0;
  size_t jobs = 1;
  bool is_verbose = false;
  bool lists = false;
  std::string out;  // a folder for witnesses; "" for none
  ScoreOptions score;
};

// Faults by a set's name ("stages", "rules", "all", a class) or by their own, each once.
Result<std::vector<Fault>> chosen(const std::vector<std::string>& names) {
  std::vector<Fault> all(stage_faults().begin(), stage_faults().end());
  const std::vector<Fault> rules = rule_faults();
  all.insert(all.end(), rules.begin(), rules.end());
  std::vector<Fault> faults;
  for (const std::string& name : names) {
    const size_t before = faults.size();
    for (const Fault& f : all) {
      const bool is_mutant = is_of_table(f);
      const bool is_in_set = name == "all" || (name == "stages" && !is_mutant) ||
                             (name == "rules" && is_mutant) ||
                             (name == to_text(f.of) && !is_mutant) || f.name == name;
      if (is_in_set) faults.push_back(f);
    }
    if (faults.size() == before) {
      return Error{fmt::format("no fault and no set of faults is named '{}'", name), 0, 0};
    }
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

std::string line_of(const Scored& s) {
  if (!s.is_found) {
    return fmt::format("missed {}: {} cases, {} touched, {} with unknowns, {:.1f} s", s.name,
                       s.tried, s.live, s.unknown, s.seconds);
  }
  return fmt::format("found  {}: case {}, {:.2f} s, by {}; blames {}{} in {:.2f} s", s.name,
                     s.tried, s.seconds, fmt::join(s.judges, ", "), s.blame.nearest(),
                     s.is_blamed_right ? "" : " WRONGLY", s.blame_seconds);
}

void print_details(const Scored& s) {
  for (const Finding& f : s.findings) {
    fmt::print("  {} at {} ({}): {}\n", f.judge, f.stage, f.shape, f.evidence.substr(0, 400));
  }
  if (!s.refused.empty()) fmt::print("  fails without it: {}\n", s.refused);
  if (!s.is_found) return;
  fmt::print("  blame: stage {} pass {} rule {} firing {}: {}\n  {}\n", s.blame.stage, s.blame.pass,
             s.blame.rule, s.blame.firing, s.blame.title, s.blame.evidence.substr(0, 400));
  fmt::print("{}\n", to_text(s.witness));
}

// The case that shows a fault, under its name.
void save(const std::string& folder, const Scored& s) {
  if (folder.empty() || !s.is_found || s.witness.program.statements.empty()) return;
  std::filesystem::create_directories(folder);
  std::ofstream file(std::filesystem::path(folder) / (s.name + ".tp"));
  file << to_text(s.witness);
}

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const auto at = static_cast<size_t>(q * static_cast<double>(values.size() - 1));
  return values[at];
}

ExitCode conclude(const std::vector<Scored>& all) {
  std::vector<double> seconds;
  std::vector<double> blaming;
  size_t right = 0;
  std::string missed;
  bool has_alarm = false;
  for (const Scored& s : all) {
    has_alarm = has_alarm || !s.refused.empty();
    if (!s.is_found) {
      missed += fmt::format(" {}", s.name);
      continue;
    }
    seconds.push_back(s.seconds);
    blaming.push_back(s.blame_seconds);
    right += s.is_blamed_right ? 1 : 0;
  }
  fmt::print("\n{}\n", matrix_text(all));
  const auto percent = [](size_t part, size_t whole) {
    return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  };
  fmt::print("{} of {} found ({:.1f} %), in {:.2f} s (median), {:.2f} s at most\n", seconds.size(),
             all.size(), percent(seconds.size(), all.size()), quantile(seconds, 0.5),
             quantile(seconds, 1));
  fmt::print("{} of {} blamed right ({:.1f} %), in {:.2f} s (median), {:.2f} s at most\n", right,
             seconds.size(), percent(right, seconds.size()), quantile(blaming, 0.5),
             quantile(blaming, 1));
  fmt::print("survivors:{}\n", missed.empty() ? " none" : missed);
  return has_alarm || !missed.empty() ? kFinding : kClean;
}

ExitCode fail(const std::string& why, ExitCode code) {
  fmt::print(stderr, "assay score: {}\n", why);
  return code;
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
  std::vector<Scored> all;
  in_order<Scored>(
      some.size(), options.jobs,
      [&] { return [&](size_t i) { return score(some[i], options.score); }; },
      [&](size_t, Scored s) {
        fmt::print("{}\n", line_of(s));
        if (options.is_verbose) print_details(s);
        save(options.out, s);
        std::fflush(stdout);
        all.push_back(std::move(s));
      });
  return conclude(all);
}

std::function<ExitCode()> declare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  options->faults = {"stages"};
  options->corpus = {"corpus/regress"};
  app.add_option("--faults", options->faults,
                 "a fault, a class of faults, 'stages', 'rules' or 'all'; again for more")
      ->type_name("SET");
  app.add_option("--sample", options->sample, "only so many of them, spread over all")
      ->type_name("N");
  app.add_option("--corpus", options->corpus, "programs that are tried first")->type_name("FILE");
  app.add_option("--property", options->properties, "judge this property, not all")
      ->type_name("NAME");
  app.add_option("--seed", options->score.seed, "of random programs")->type_name("S");
  app.add_option("--cases", options->score.cases, "tried of each fault")->type_name("N");
  app.add_option("--seconds", options->score.seconds, "tried of each fault")->type_name("N");
  app.add_option("--jobs", options->jobs, "faults at once")->type_name("J");
  app.add_option("--out", options->out, "write the case that shows a fault here, as NAME.tp")
      ->type_name("DIR");
  app.add_flag("--list", options->lists, "print the faults instead");
  app.add_flag("--verbose", options->is_verbose, "print findings, blame and witness of each");
  return [options] { return run_score(*options); };
}

}  // namespace

const Command& score_command() {
  static constexpr Command kCommand = {
      "score", "plant faults in the compiler and see which of them are found", declare};
  return kCommand;
}

}  // namespace assay::fuzz
