#include "oracles/workgroup/workgroup.h"

#include <algorithm>
#include <numeric>

#include "oracles/workgroup/decode.h"
#include "oracles/workgroup/machine.h"

namespace assay::workgroup {
namespace {

// Work-items that run side by side where groups are smaller: enough that what an instruction costs
// by itself does not count, few enough that registers stay in the nearest cache.
constexpr int64_t kLanes = 256;
constexpr int64_t kMostItems = int64_t{1} << 32;

std::string launch_error(const Launch& launch, const uop::Target& target) {
  int64_t count = 1;
  for (const auto& sizes : {launch.groups, launch.items}) {
    for (const int64_t size : sizes) {
      if (size < 1) return fmt::format("launch of {} along an axis", size);
      if (size > kMostItems / count) return "launch of more than 2^32 work-items";
      count *= size;
    }
  }
  if (target.memory && target.memory->barrier == uop::Reach::Subgroup)
    return fmt::format("{} has barriers of subgroups, whose size is not known", target.name);
  return "";
}

std::vector<int64_t> order_of_groups(const Launch& launch, Order order, Chance& chance) {
  std::vector<int64_t> groups(static_cast<size_t>(launch.group_count()));
  std::iota(groups.begin(), groups.end(), 0);
  if (order == Order::Falling) std::reverse(groups.begin(), groups.end());
  if (order != Order::Random) return groups;
  for (size_t i = groups.size(); i > 1; i--) std::swap(groups[i - 1], groups[chance.below(i)]);
  return groups;
}

}  // namespace

std::span<const Schedule> interleavings() {
  static constexpr Schedule kAll[] = {
      {"lockstep", Order::Rising, Order::Rising, 0, 0, 0},
      {"lockstep_reversed", Order::Falling, Order::Falling, 0, 0, 0},
      {"one_by_one", Order::Rising, Order::Rising, 1, 0, 0},
      {"one_by_one_reversed", Order::Falling, Order::Falling, 1, 0, 0},
      {"one_by_one_random", Order::Random, Order::Random, 1, 0, 1},
      {"eights", Order::Rising, Order::Falling, 8, 0, 0},
      {"interleaved", Order::Random, Order::Random, 1, 4, 2},
  };
  return kAll;
}

Result<Report> execute(uop::Graph& g, uop::Ref linear, std::span<const Argument> arguments,
                       const Variables& variables, const Launch& launch, const uop::Target& target,
                       const Options& options) {
  if (std::string trouble = launch_error(launch, target); !trouble.empty())
    return Error{std::move(trouble)};
  const int64_t side_by_side = std::max<int64_t>(1, kLanes / launch.group_size());
  Batch batch = {static_cast<int>(std::min(side_by_side, launch.group_count())),
                 static_cast<int>(launch.group_size()),
                 0,
                 {},
                 {}};
  const Adversary* const adversary = options.adversary ? &*options.adversary : nullptr;
  ASSAY_TRY(program, decode(g, linear, {variables, launch, target, adversary, batch.groups == 1}));
  Findings findings(program, launch);
  Memory memory(program, options, batch, findings);
  ASSAY_TRY(bound, memory.bind(arguments));
  ASSAY_CHECK(bound);
  Machine machine(program, launch, target, options, batch, memory, findings);
  Chance chance(options.schedule.seed);
  const std::vector<int64_t> groups = order_of_groups(launch, options.schedule.groups, chance);
  const auto step = static_cast<size_t>(batch.groups);
  Report report;
  for (size_t first = 0; first < groups.size(); first += step) {
    const std::span<const int64_t> some =
        std::span(groups).subspan(first, std::min(step, groups.size() - first));
    report.is_stopped = !machine.run(some, chance);
    if (report.is_stopped) break;
  }
  memory.give_known(arguments);
  report.dropped = findings.dropped();
  report.findings = findings.take();
  report.executed = machine.executed();
  report.barriers = machine.barriers();
  report.unwatched_bytes = memory.unwatched_bytes();
  return report;
}

}  // namespace assay::workgroup
