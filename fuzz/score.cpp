#include "fuzz/score.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <set>

#include "engine/uop/simplify.h"
#include "fuzz/firing_judge.h"
#include "fuzz/program.h"
#include "oracles/choices.h"
#include "props/firings/term.h"

namespace assay::fuzz {
namespace {

constexpr uint64_t kTermsACase = 32;
constexpr int64_t kFullEach = 16;  // of so many cases one is shown to all properties
// A question of many is given up soon: there are other cases.
constexpr smt::Budget kBudget = {.first_points = 1 << 14,
                                 .last_points = 1 << 14,
                                 .solver_steps = 200'000,
                                 .cvc5_steps = 10'000,
                                 .watchdog_ms = 500};

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Where a fault can show: text is compiled by drivers only.
std::span<const char* const> devices_of(const Fault& fault) {
  static constexpr std::array<const char*, 3> kSims = {"sim:0", "sim:random", "sim:adversary"};
  static constexpr std::array<const char*, 2> kDrivers = {"cl:pocl-basic", "cl:oclgrind"};
  if (std::holds_alternative<Text>(fault.how)) return kDrivers;
  return kSims;
}

ProgramOptions program_options(Choices& choices, bool is_costly) {
  ProgramOptions how;
  how.statements = 1 + static_cast<int>(choices.below(is_costly ? 4 : 14));
  how.elements = choices.pick({int64_t{64}, int64_t{256}, int64_t{1024}});
  how.folds = choices.pick({0, 0, 6, 12});
  how.only_floats = choices.chance(1, 6);
  return how;
}

Case drawn(uint64_t seed, const Fault& fault) {
  Choices choices(seed);
  const std::span<const char* const> devices = devices_of(fault);
  Case c;
  c.program = make_program(choices, program_options(choices, devices.size() == 2));
  c.device = choices.pick(devices);
  if (choices.chance(1, 4)) {
    c.profile = choices.pick({std::string("adreno-630"), std::string("generic")});
  }
  if (choices.chance(1, 2)) c.opts = fmt::format("random:{}", choices.below(1 << 16));
  c.seed = 1 + choices.below(1 << 16);
  return c;
}

// The case of a number: of the corpus as it is saved, but for where it runs, then random ones.
Case case_of(size_t number, const Fault& fault, const ScoreOptions& options) {
  if (number >= options.corpus.size()) return drawn(options.seed * 1'000'003 + number, fault);
  Case c = options.corpus[number];
  const std::span<const char* const> devices = devices_of(fault);
  c.device = devices[number % devices.size()];
  c.seed = 1 + number;
  return c;
}

// A firing on a random term that changes a value, as FiringJudge says it.
std::optional<std::string> refuted_term(uint64_t seed, const uop::Switches& switches) {
  uop::Graph g;
  Choices choices(seed);
  const auto t = static_cast<uop::DType>(1 + choices.below(uop::kDTypeCount - 1));
  const uop::Ref u = props::TermMaker(g, choices).term(t, 2 + static_cast<int>(seed % 12));
  FiringJudge judge;
  uop::Run run(g, switches, &judge);
  (void)uop::simplify(run, u);
  return judge.counterexample();
}

// Of a rule alone: index expressions are cases as well.
bool found_by_term(Scored& s, const Fault& fault, uint64_t seed) {
  if (!fault.is_rule()) return false;
  const Planted planted(fault);
  for (uint64_t k = 0; k < kTermsACase; k++) {
    const uint64_t own = seed * kTermsACase + k;
    const std::optional<std::string> refuted = refuted_term(own, planted.switches());
    if (!refuted || refuted_term(own, {})) continue;
    s.is_found = true;
    s.judges = {"firing"};
    s.findings = {{"firing", fault.blame, "value", *refuted}};
    s.blame.stage = "rule";
    s.blame.rule = refuted->substr(0, refuted->find(' '));
    s.blame.title = *refuted;
    s.is_blamed_right = names(s.blame, fault);
    return true;
  }
  return false;
}

// Those who judge: all properties, which are dear of kernels and of firings, or but the cheap ones.
struct Judges {
  explicit Judges(const ScoreOptions& options)
      : quick(trial_options(options, false)), full(trial_options(options, true)) {}

  static TrialOptions trial_options(const ScoreOptions& options, bool all) {
    TrialOptions how{.kinds = options.kinds};
    for (const props::Property* p : options.properties) {
      const bool is_dear = std::holds_alternative<props::Check<codegen::KernelSeen>>(p->check) ||
                           std::holds_alternative<props::Check<uop::RuleSeen>>(p->check);
      if (all || !is_dear) how.properties.push_back(p);
    }
    how.limit_ms = 10'000;
    how.prover.budget = kBudget;
    return how;
  }

  Trial quick;
  Trial full;
  bool was_full = false;  // the last time
};

void add_judges(Scored& s, std::span<const Finding> findings) {
  std::set<std::string> names(s.judges.begin(), s.judges.end());
  for (const Finding& f : findings) {
    const bool is_driver = f.stage == "device" && s.witness.device.starts_with("cl:");
    names.insert(is_driver ? s.witness.device.substr(3) : f.judge);
  }
  s.judges.assign(names.begin(), names.end());
}

void try_case(Scored& s, const Case& c, const Fault& fault, Judges& judges) {
  judges.was_full = s.tried % kFullEach == kFullEach - 1;
  Trial& trial = judges.was_full ? judges.full : judges.quick;
  s.tried++;
  Planted planted(fault);
  Outcome outcome = trial.run(c, planted.switches(), &planted);
  s.live += planted.changes() != 0 ? 1 : 0;
  s.unknown += outcome.unknown.empty() ? 0 : 1;
  const bool is_malformed = !outcome.malformed.empty() && planted.changes() == 0;
  if (is_malformed || outcome.findings.empty()) return;
  const Outcome without = trial.run(c);
  if (!without.findings.empty()) {
    s.refused = fmt::format("{}\n{}", without.findings[0].evidence, to_text(c));
    return;
  }
  s.is_found = true;
  s.witness = c;
  s.findings = std::move(outcome.findings);
  add_judges(s, s.findings);
}

// What the dear properties say of the witness, beside those who found it.
void add_all_judges(Scored& s, const Fault& fault, Judges& judges) {
  Planted planted(fault);
  const Outcome outcome = judges.full.run(s.witness, planted.switches(), &planted);
  add_judges(s, outcome.findings);
}

}  // namespace

bool names(const Blame& blame, const Fault& fault) {
  return blame.rule == fault.blame || blame.pass == fault.blame || blame.stage == fault.blame;
}

Scored score(const Fault& fault, const ScoreOptions& options) {
  Scored s;
  s.name = fault.name;
  s.of = fault.of;
  Judges judges(options);
  const Clock::time_point start = Clock::now();
  while (!s.is_found && s.tried < options.cases && since(start) < options.seconds) {
    if (found_by_term(s, fault, options.seed * 1'000'003 + static_cast<uint64_t>(s.tried))) {
      s.seconds = since(start);
      return s;
    }
    const Case c = case_of(static_cast<size_t>(s.tried), fault, options);
    try_case(s, c, fault, judges);
  }
  s.seconds = since(start);
  if (!s.is_found) return s;
  if (!judges.was_full) add_all_judges(s, fault, judges);
  if (!options.blames) return s;
  const Clock::time_point blaming = Clock::now();
  Planted planted(fault);
  s.blame = bisect(s.witness, s.findings[0], options.kinds, planted.switches(), &planted);
  s.blame_seconds = since(blaming);
  s.is_blamed_right = names(s.blame, fault);
  return s;
}

std::string matrix_text(std::span<const Scored> scored) {
  std::set<std::string> judges;
  std::map<FaultClass, std::map<std::string, int>> found;
  std::map<FaultClass, std::pair<int, int>> totals;  // found, all
  for (const Scored& s : scored) {
    totals[s.of].first += s.is_found ? 1 : 0;
    totals[s.of].second++;
    for (const std::string& j : s.judges) {
      judges.insert(j);
      found[s.of][j]++;
    }
  }
  std::string text = fmt::format("{:<10} {:>9}", "class", "found");
  for (const std::string& j : judges)
    text += fmt::format("  {:>{}}", j, std::max<size_t>(5, j.size()));
  text += "\n";
  for (auto& [of, total] : totals) {
    text += fmt::format("{:<10} {:>4}/{:<4}", to_text(of), total.first, total.second);
    for (const std::string& j : judges) {
      text += fmt::format("  {:>{}}", found[of][j], std::max<size_t>(5, j.size()));
    }
    text += "\n";
  }
  return text;
}

}  // namespace assay::fuzz
