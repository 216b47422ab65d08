#include "fuzz/case_source.h"

#include <fmt/format.h>

#include "fuzz/program.h"
#include "oracles/choices.h"

namespace assay::fuzz {
namespace {

// One case in so many goes to another device than the first: drivers take a hundred times as long.
constexpr uint64_t kOtherDevice = 48;

uint64_t seed_of(uint64_t seed, int64_t number) {
  uint64_t x = seed * 0x9e3779b97f4a7c15 + static_cast<uint64_t>(number);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

SourcedCase CaseSource::make(int64_t number) const {
  if (number >= replayed()) return random(number);
  const auto place = static_cast<size_t>(number);
  const auto& [name, saved] = saved_[place / options_.devices.size()];
  SourcedCase c = {saved, name};
  c.what.device = options_.devices[place % options_.devices.size()];
  return c;
}

SourcedCase CaseSource::random(int64_t number) const {
  Choices choices(seed_of(options_.seed, number));
  SourcedCase c = {{}, "random"};
  ProgramOptions how;
  how.statements = static_cast<int>(choices.between(2, 14));
  how.folds = static_cast<int>(choices.below(12));
  c.what.program = make_program(choices, how);
  const bool is_other = options_.devices.size() > 1 && choices.chance(1, kOtherDevice);
  const std::span<const std::string> devices = options_.devices;
  c.what.device = is_other ? choices.pick(devices.subspan(1)) : devices[0];
  if (choices.chance(1, 3)) {
    c.what.profile = choices.pick(std::span<const std::string>(options_.profiles));
  }
  if (choices.chance(3, 4)) c.what.opts = fmt::format("random:{}", choices.below(1'000'000));
  c.what.seed = 1 + choices.below(1'000'000);
  return c;
}

}  // namespace assay::fuzz
