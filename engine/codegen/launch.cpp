#include "engine/codegen/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
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

Result<Launch> launch_sizes(Graph& g, Ref kernel, Variables variables) {
  Launch launch;
  for (const Ref u : toposort(g, kernel)) {
    if (u->op != Op::Special) continue;
    const std::string_view name = u->arg.name();
    const bool is_group = name.starts_with("gidx");
    const bool is_axis = name.size() == 5 && (is_group || name.starts_with("lidx")) &&
                         '0' <= name[4] && name[4] <= '2';
    ASSAY_CHECK(is_axis, "{} is no axis of a launch", name);
    ASSAY_TRY(size, size_of(g, u, variables));
    (is_group ? launch.groups : launch.items)[static_cast<size_t>(name[4] - '0')] = size;
  }
  return launch;
}

}  // namespace assay::codegen
