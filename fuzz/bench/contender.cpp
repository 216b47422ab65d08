#include "fuzz/bench/contender.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "oracles/median.h"

namespace assay::fuzz::bench {
namespace {

using runtime::Batch;
using runtime::Command;
using runtime::Device;
using runtime::Outcome;
using runtime::Status;

constexpr int64_t kRoundNs = 5'000'000;
constexpr int64_t kMostRuns = 1000;  // of a round

// Adds a command that waits for the one before.
void append(Batch& batch, Command command) {
  if (!batch.commands.empty()) {
    command.waits = {static_cast<int32_t>(batch.commands.size()) - 1};
  }
  batch.commands.push_back(std::move(command));
}

Result<Outcome> run(Device& device, Batch batch) {
  ASSAY_TRY(outcome, device.run(std::move(batch)));
  if (outcome.status == Status::Ok) return outcome;
  return Error{fmt::format("{}: {}", to_text(outcome.status), outcome.why), 0, 0};
}

// Adds the times of so many runs, one after the other.
std::optional<Error> time_runs(Device& device, const Contender& contender, int64_t runs,
                               Times& times) {
  Batch batch;
  for (int64_t k = 0; k < runs; ++k) {
    for (const Command& launch : contender.launches) append(batch, launch);
  }
  const Result<Outcome> outcome = run(device, std::move(batch));
  if (!outcome.ok()) return outcome.error();
  const std::vector<runtime::Done>& done = outcome.value().done;
  const size_t n = contender.launches.size();
  times.resize(n);
  for (size_t i = 0; i < done.size(); ++i) {
    times[i % n].push_back(done[i].end_ns - done[i].begin_ns);
  }
  return std::nullopt;
}

std::vector<int64_t> sums_of_runs(const Times& times) {
  std::vector<int64_t> sums(times.empty() ? 0 : times[0].size(), 0);
  for (const std::vector<int64_t>& launch : times) {
    for (size_t k = 0; k < launch.size(); ++k) sums[k] += launch[k];
  }
  return sums;
}

// How many runs fill a round; a few are made to see.
Result<int64_t> runs_of_round(Device& device, const Contender& contender) {
  Times times;
  if (std::optional<Error> error = time_runs(device, contender, 3, times)) return *error;
  const double ns = median_of_runs(times);
  if (ns <= 0) return Error{"the device has no clock"};
  return std::clamp(static_cast<int64_t>(static_cast<double>(kRoundNs) / ns), int64_t{1},
                    kMostRuns);
}

}  // namespace

Result<std::vector<std::byte>> compute(Device& device, const Contender& contender) {
  Batch batch;
  for (const runtime::View& view : contender.written) {
    Command fill;
    fill.kind = Command::Kind::Fill;
    fill.views = {view};
    fill.byte = 0xFF;
    append(batch, std::move(fill));
  }
  for (const Command& launch : contender.launches) append(batch, launch);
  const Result<Outcome> outcome = run(device, std::move(batch));
  if (!outcome.ok()) return outcome.error();
  return contender.output();
}

Result<std::vector<Times>> time_in_turn(Device& device,
                                        const std::vector<const Contender*>& contenders,
                                        int rounds) {
  std::vector<int64_t> runs;
  for (const Contender* contender : contenders) {
    ASSAY_TRY(count, runs_of_round(device, *contender));
    runs.push_back(count);
  }
  std::vector<Times> warm(contenders.size());
  std::vector<Times> times(contenders.size());
  for (int round = 0; round <= rounds; ++round) {
    for (size_t i = 0; i < contenders.size(); ++i) {
      Times& into = round == 0 ? warm[i] : times[i];
      std::optional<Error> error = time_runs(device, *contenders[i], runs[i], into);
      if (error) return *error;
    }
  }
  return times;
}

double median_of_runs(const Times& times) { return oracles::median(sums_of_runs(times)); }

int64_t least_of_runs(const Times& times) {
  const std::vector<int64_t> sums = sums_of_runs(times);
  return sums.empty() ? 0 : *std::ranges::min_element(sums);
}

}  // namespace assay::fuzz::bench
