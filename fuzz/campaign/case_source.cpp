#include "fuzz/campaign/case_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuzz/mutate/mutate_term.h"
#include "fuzz/mutate/repair.h"
#include "fuzz/trial/graph_case.h"

namespace assay::fuzz {
namespace {

using oracles::Choices;

static_assert(CaseSource::kRound % CaseSource::kTogether == 0);

// One case in so many goes to another device than the first: drivers take a hundred times as long.
constexpr uint64_t kOtherDevice = 48;
// A driver's compiler takes its time by the kernel.
constexpr int kMostOnDriver = 10;  // statements
// Draws for cases that are together are of no case.
constexpr uint64_t kOfTogether = uint64_t{1} << 63;
// One case from nothing in so many folds more elements than others have.
constexpr uint64_t kLargeFold = 2048;
constexpr size_t kMostStatements = 32;
constexpr int64_t kMostElements = 4096;  // of one value of a program that others are made from
constexpr size_t kLate = 64;             // cases that were kept last, from which half are made

uint64_t seed_of(uint64_t seed, uint64_t number) {
  uint64_t x = seed * 0x9e3779b97f4a7c15 + number;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

MutateOptions how_mutated(const SourceOptions& options) {
  MutateOptions how;
  how.most_statements = kMostStatements;
  how.cases.devices = {options.devices.front()};
  how.cases.profiles = options.profiles;
  return how;
}

CaseOptions how_made(const SourceOptions& options) {
  CaseOptions how;
  how.program.statements = 14;
  how.is_varied = true;
  how.devices = {options.devices.front()};
  how.profiles = options.profiles;
  return how;
}

}  // namespace

CaseSource::CaseSource(SourceOptions options, std::vector<std::pair<std::string, Case>> saved)
    : options_(std::move(options)), saved_(std::move(saved)) {
  options_.types.resize(options_.devices.size(), uop::kBool | uop::kFixedInts | uop::kFloats);
  for (const auto& [name, c] : saved_) {
    if (c.is_program() && is_parent(c)) saved_parents_.push_back(&c);
  }
}

bool CaseSource::is_parent(const Case& c) {
  if (is_terms(c)) return true;
  return c.is_program() && !c.program.statements.empty() &&
         c.program.statements.size() <= kMostStatements &&
         most_elements_of(c.program) <= kMostElements;
}

void CaseSource::keep(int64_t number, const Case& c) {
  auto what = std::make_unique<const Case>(c);
  const std::lock_guard lock(mutex_);
  (is_terms(c) ? kept_terms_ : kept_).push_back({number, std::move(what)});
}

std::pair<const Case*, const Case*> CaseSource::terms(Choices& choices, int64_t number) const {
  const std::lock_guard lock(mutex_);
  const auto end = std::ranges::lower_bound(kept_terms_, needs(number), {}, &Kept::number);
  const auto kept = static_cast<size_t>(end - kept_terms_.begin());
  if (kept == 0) return {nullptr, nullptr};
  const Case* a = kept_terms_[choices.below(kept)].what.get();
  return {a, kept_terms_[choices.below(kept)].what.get()};
}

std::pair<const Case*, const Case*> CaseSource::parents(Choices& choices, int64_t number) const {
  const std::lock_guard lock(mutex_);
  const auto end = std::ranges::lower_bound(kept_, needs(number), {}, &Kept::number);
  const auto kept = static_cast<size_t>(end - kept_.begin());
  const size_t all = saved_parents_.size() + kept;
  const auto one = [&]() -> const Case* {
    if (all == 0) return nullptr;
    const bool is_late = kept > 0 && choices.chance(1, 2);
    const size_t at = is_late ? all - 1 - choices.below(std::min(kLate, kept)) : choices.below(all);
    return at < saved_parents_.size() ? saved_parents_[at]
                                      : kept_[at - saved_parents_.size()].what.get();
  };
  const Case* a = one();
  return {a, one()};
}

SourcedCase CaseSource::make(int64_t number) const {
  if (number < replayed()) {
    const auto place = static_cast<size_t>(number);
    const auto& [name, saved] = saved_[place % saved_.size()];
    SourcedCase c = {saved, name};
    c.what.device = options_.devices[place / saved_.size()];
    return c;
  }
  Choices together(seed_of(options_.seed, kOfTogether + static_cast<uint64_t>(until(number))));
  const bool is_other = options_.devices.size() > 1 && together.chance(1, kOtherDevice);
  const size_t device = is_other ? 1 + together.below(options_.devices.size() - 1) : 0;
  const std::string& name = options_.devices[device];
  const bool is_driver = !is_simulated(name);
  Choices choices(seed_of(options_.seed, static_cast<uint64_t>(number)));
  SourcedCase c = made(choices, number, is_driver);
  c.what.device = name;
  if (is_driver && !is_wide(c.what) && !options_.profiles.empty() && together.chance(1, 4)) {
    c.what.profile = together.pick(std::span<const std::string>(options_.profiles));
  }
  if (c.what.is_program()) fit_types(c.what, options_.types[device]);
  return c;
}

SourcedCase CaseSource::made(Choices& choices, int64_t number, bool is_driver) const {
  CaseOptions how = how_made(options_);
  if (is_driver) {
    how.program.statements = kMostOnDriver;
    how.profiles.clear();  // those that are together have one
  }
  const uint64_t way = choices.below(32);
  if (way < 2 && !is_driver) {
    const auto [a, b] = terms(choices, number);
    const bool is_mutated = a != nullptr && choices.chance(1, 2);
    return {is_mutated ? mutate_terms(*a, *b, choices) : make_terms(choices), "terms"};
  }
  if (way < 4) return {make_kernel(choices, how), "kernel"};
  const auto [a, b] = parents(choices, number);
  const bool is_new = is_driver || a == nullptr || way >= 16;
  if (is_new && !is_driver && choices.chance(1, kLargeFold)) {
    return {make_large_fold(choices), "random"};
  }
  if (is_new) return {make_case(choices, how), "random"};
  SourcedCase c = {};
  if (way < 14) {
    c = {mutate(*a, choices, how_mutated(options_)), "mutated"};
  } else {
    c = {splice(*a, *b, choices, how_mutated(options_)), "spliced"};
  }
  if (choices.chance(1, 2)) c.what.opts = draw_opts(choices);
  return c;
}

}  // namespace assay::fuzz
