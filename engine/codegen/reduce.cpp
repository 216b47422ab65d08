#include "engine/codegen/reduce.h"

#include <algorithm>

#include "engine/codegen/accumulate.h"
#include "engine/codegen/folds.h"
#include "engine/codegen/forms.h"
#include "engine/codegen/group_reduce.h"
#include "engine/codegen/reduce_identity.h"
#include "engine/uop/walk.h"

namespace assay::codegen {
namespace {

using uop::Graph;
using uop::Ref;

Result<Ref> reduce_local(uop::Run& run, Ref root) {
  Graph& g = run.graph();
  const std::vector<Ref> kernel = toposort(g, root);
  const bool folds = std::ranges::any_of(kernel, [](Ref u) { return u->op == uop::Op::Reduce; });
  if (!folds) return root;
  FreeNumbers free(kernel);
  root = pm_reduce_identity(g, root);
  root = fix_group_for_reduce(g, root, free);
  root = separate_loops(g, root, free);
  return reduce_ranges_to_acc(g, root, free);
}

}  // namespace

const uop::Pass& pm_reduce_local() {
  static const uop::Pass pass = {"pm_reduce_local", expanded_form(), reduced_form(), {}, {},
                                 reduce_local};
  return pass;
}

}  // namespace assay::codegen
