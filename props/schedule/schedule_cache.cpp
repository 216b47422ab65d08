#include <fmt/format.h>

#include <algorithm>

#include "engine/schedule/schedule.h"
#include "engine/uop/node_map.h"
#include "engine/uop/text.h"
#include "engine/uop/walk.h"
#include "props/schedule/order_trial.h"
#include "props/schedule/schedule_props.h"

namespace assay::props {
namespace {

using schedule::CacheSeen;
using uop::Op;
using uop::Ref;

constexpr std::string_view kStructure = "structure";

// Numbers of ranges and of storage are handed out as a schedule is made, and say nothing.
bool is_same_argument(Ref a, Ref b) {
  if (a->arg == b->arg) return true;
  if (a->arg.kind != b->arg.kind) return false;
  if (a->op == Op::Range) return a->arg.axis_type() == b->arg.axis_type();
  return a->op == Op::Buffer && a->arg.addr_space() == b->arg.addr_space();
}

// The place in the first list where the two structures part; -1 where they are the same but for
// numbers. Places of nodes that stand for one another are the same.
int64_t first_difference(uop::Graph& g, Ref a, Ref b) {
  const std::vector<Ref> left = uop::toposort(g, a);
  const std::vector<Ref> right = uop::toposort(g, b);
  uop::NodeMap<uint32_t> left_places;
  uop::NodeMap<uint32_t> right_places;
  const size_t count = std::min(left.size(), right.size());
  for (size_t i = 0; i < count; i++) {
    const Ref x = left[i];
    const Ref y = right[i];
    bool is_same = x->op == y->op && x->dtype == y->dtype && x->src.size() == y->src.size() &&
                   is_same_argument(x, y);
    for (size_t s = 0; is_same && s < x->src.size(); s++) {
      is_same = left_places.at(x->src[s]) == right_places.at(y->src[s]);
    }
    if (!is_same) return static_cast<int64_t>(i);
    left_places.set(x, static_cast<uint32_t>(i));
    right_places.set(y, static_cast<uint32_t>(i));
  }
  return left.size() == right.size() ? -1 : static_cast<int64_t>(count);
}

// What two LINEARs over PARAMs leave in those.
TrialResult trial_of(const CacheSeen& seen, Ref fresh, uint64_t seed) {
  OrderTrial trial(seen.graph, seen.linear, {}, seed);
  for (const Ref linear : {seen.linear, fresh}) {
    for (const Ref u : uop::toposort(seen.graph, linear, uop::Extent::OutsideBodies)) {
      if (u->op == Op::Param) trial.observe(u);
    }
  }
  return trial.against(fresh);
}

}  // namespace

Checked schedule_cache(const CacheSeen& seen, Context& context) {
  Checked checked;
  if (seen.linear == nullptr) return checked;
  uop::Run run(seen.graph, seen.switches, nullptr, seen.target);
  const Result<Ref> fresh = schedule::make_schedule(run, seen.sink, seen.target);
  if (!fresh.ok()) {
    checked.add(
        {Answer::Fail, Strength::Proved, "served where none can be made: " + fresh.error().message},
        kStructure);
    checked.shape = "refusal";
    return checked;
  }
  const int64_t at = first_difference(seen.graph, fresh.value(), seen.linear);
  if (at < 0) {
    checked.add({Answer::Pass, Strength::Proved, ""}, kStructure);
    return checked;
  }
  const TrialResult shown = trial_of(seen, fresh.value(), context.seed);
  const std::string what =
      fmt::format("the LINEAR that is served differs from the one made afresh from node {} on", at);
  if (!shown.differs) {
    checked.add_unknown("another structure", fmt::format("{}: {}", what, shown.text));
    return checked;
  }
  checked.add({Answer::Fail, Strength::Proved, fmt::format("{}; it {}", what, shown.text)},
              kStructure);
  checked.shape = "stale";
  checked.evidence.push_back({"served.uop", uop::to_text(seen.graph, seen.linear, "linear")});
  checked.evidence.push_back({"afresh.uop", uop::to_text(seen.graph, fresh.value(), "linear")});
  return checked;
}

}  // namespace assay::props
