#include "fuzz/case_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuzz/graph_case.h"
#include "fuzz/repair.h"

namespace assay::fuzz {
namespace {

using oracles::Choices;

// One case in so many goes to another device than the first: drivers take a hundred times as long.
constexpr uint64_t kOtherDevice = 48;
constexpr size_t kMostStatements = 32;
constexpr int64_t kMostElements = 4096;  // of one value of a program that others are made from
constexpr size_t kLate = 64;             // cases that were kept last, from which half are made

uint64_t seed_of(uint64_t seed, int64_t number) {
  uint64_t x = seed * 0x9e3779b97f4a7c15 + static_cast<uint64_t>(number);
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
    if (is_parent(c)) saved_parents_.push_back(&c);
  }
}

bool CaseSource::is_parent(const Case& c) {
  return c.is_program() && !c.program.statements.empty() &&
         c.program.statements.size() <= kMostStatements &&
         most_elements_of(c.program) <= kMostElements;
}

void CaseSource::keep(int64_t number, const Case& c) {
  auto what = std::make_unique<const Case>(c);
  const std::lock_guard lock(mutex_);
  kept_.push_back({number, std::move(what)});
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
    const auto& [name, saved] = saved_[place / options_.devices.size()];
    SourcedCase c = {saved, name};
    c.what.device = options_.devices[place % options_.devices.size()];
    return c;
  }
  Choices choices(seed_of(options_.seed, number));
  const bool is_other = options_.devices.size() > 1 && choices.chance(1, kOtherDevice);
  const size_t device = is_other ? 1 + choices.below(options_.devices.size() - 1) : 0;
  const std::string& name = options_.devices[device];
  SourcedCase c = made(choices, number, !name.starts_with("sim"));
  c.what.device = name;
  if (c.what.is_program()) fit_types(c.what, options_.types[device]);
  return c;
}

SourcedCase CaseSource::made(Choices& choices, int64_t number, bool is_costly) const {
  CaseOptions how = how_made(options_);
  // A driver's compiler takes its time by the kernel.
  if (is_costly) how.program.statements = 3;
  const uint64_t way = choices.below(32);
  if (way < 2 && !is_costly) return {make_terms(choices), "terms"};
  if (way < 4) return {make_kernel(choices, how), "kernel"};
  const auto [a, b] = parents(choices, number);
  const bool is_new = is_costly || a == nullptr || way >= 16;
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
