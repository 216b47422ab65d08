#include "engine/codegen/decompose.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/codegen/dtype_emulation.h"
#include "engine/codegen/forms.h"
#include "engine/codegen/index_width.h"
#include "engine/codegen/transcendental.h"
#include "engine/uop/rewrite.h"

namespace assay::codegen {
namespace {

using uop::Op;
using uop::OpSet;
using uop::Ref;
using uop::Run;

// What a target computes at each of its types: comparisons, choices, conversions.
constexpr OpSet kFree = {Op::Where, Op::Cast, Op::Bitcast, Op::Lt, Op::Eq, Op::Ne};

// Every function of floats that is left is one that the target has.
Result<Ref> only_of_target(Run& run, Ref root) {
  OpSet has[uop::kDTypeCount];
  for (const uop::UlpLimit& row : run.target().math.limits) {
    for (int t = 0; t < uop::kDTypeCount; t++) {
      if (row.over.has(uop::DType(t))) has[t].insert(row.op);
    }
  }
  for (const Ref u : uop::toposort(run.graph(), root)) {
    if (!uop::is_float(u->dtype) || !uop::is_scalar(u->op) || kFree.has(u->op)) continue;
    if (has[static_cast<int>(u->dtype)].has(u->op)) continue;
    return Error{fmt::format("{} at {}: target {} has no such function", to_text(u->op),
                             to_text(u->dtype), run.target().name),
                 0, 0};
  }
  return root;
}

const uop::Pass& decompose() {
  static const uop::Pass pass = {.name = "decompose",
                                 .accepts = narrow_form(),
                                 .yields = lowered_form(),
                                 .rules = {decompose_rules().begin(), decompose_rules().end()},
                                 .options = {},
                                 .function = only_of_target};
  return pass;
}

}  // namespace

std::span<const uop::RuleSet* const> decompose_rules() {
  static const std::vector<const uop::RuleSet*> sets = {
      &lower_integer_rules(), &lower_float_rules(), &transcendental_rules()};
  return sets;
}

std::span<const uop::Pass* const> decompose_passes() {
  static const std::vector<const uop::Pass*> passes = {&index_width(), &dtype_emulation(),
                                                       &decompose()};
  return passes;
}

}  // namespace assay::codegen
