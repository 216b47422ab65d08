#include "engine/codegen/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/check.h"
#include "engine/uop/eval.h"
#include "engine/uop/walk.h"

namespace assay::codegen {
namespace {

using uop::Graph;
using uop::Op;
using uop::Ref;
using uop::Value;

using Variables = std::span<const std::pair<std::string, int64_t>>;

Result<int64_t> size_of(Graph& g, Ref special, Variables variables) {
  uop::Evaluator evaluator(g, special->src[0]);
  std::vector<Value> values;
  for (const Ref leaf : evaluator.leaves()) {
    const auto found = std::ranges::find_if(variables, [&](const auto& v) {
      return leaf->op == Op::Variable && v.first == leaf->arg.name();
    });
    if (found == variables.end()) {
      return Error{fmt::format("the size of {} depends on {}, which has no value",
                               special->arg.name(),
                               leaf->op == Op::Variable ? leaf->arg.name() : to_text(leaf->op))};
    }
    values.push_back(uop::of_int(leaf->dtype, found->second));
  }
  const uop::Cell cell = evaluator.run(values);
  if (!cell.defined() || as_int(cell.value) < 0) {
    return Error{fmt::format("the size of {} is {}", special->arg.name(),
                             cell.defined() ? to_text(cell.value) : "unspecified")};
  }
  return static_cast<int64_t>(as_int(cell.value));
}

}  // namespace

std::optional<LaunchAxis> launch_axis(std::string_view name) {
  const bool of_groups = name.starts_with("gidx");
  if (name.size() != 5 || (!of_groups && !name.starts_with("lidx"))) return {};
  if (name[4] < '0' || name[4] > '2') return {};
  return LaunchAxis{of_groups, static_cast<size_t>(name[4] - '0')};
}

Result<Launch> launch_sizes(Graph& g, Ref kernel, Variables variables) {
  Launch launch;
  for (const Ref u : toposort(g, kernel)) {
    if (u->op != Op::Special) continue;
    const std::optional<LaunchAxis> axis = launch_axis(u->arg.name());
    ASSAY_CHECK(axis, "{} is no axis of a launch", u->arg.name());
    ASSAY_TRY(size, size_of(g, u, variables));
    (axis->of_groups ? launch.groups : launch.items)[axis->axis] = size;
  }
  return launch;
}

}  // namespace assay::codegen
