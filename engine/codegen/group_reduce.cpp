#include "engine/codegen/group_reduce.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/codegen/axes.h"
#include "engine/codegen/rebuild.h"
#include "engine/uop/scope.h"
#include "engine/uop/shape.h"

namespace assay::codegen {
namespace {

using uop::AddrSpace;
using uop::Arg;
using uop::AxisType;
using uop::Graph;
using uop::Op;
using uop::Ref;

class GroupReduce {
 public:
  GroupReduce(Graph& g, FreeNumbers& free) : g_(g), free_(free) {}

  Ref split(Ref u, std::span<const Ref> src) {
    std::vector<Ref> own = {src[0]};
    std::vector<Ref> shared;
    for (const Ref r : src.subspan(1))
      (has_type(r, AxisType::GroupReduce) ? shared : own).push_back(r);
    if (shared.empty()) return on_sources(g_, u, src);
    const bool folds = own.size() > 1 || u->arg.number() > 0;
    const Ref part = folds ? g_.make(Op::Reduce, u->dtype, own, u->arg) : src[0];
    const std::vector<Ref> items = other_items(part, shared);

    std::vector<Ref> written = {part};
    written.insert(written.end(), items.begin(), items.end());
    written.insert(written.end(), shared.begin(), shared.end());
    const Arg place = Arg::place(free_.buffer++, AddrSpace::Local);
    std::vector<Ref> read = {g_.make(Op::Stage, u->dtype, written, place)};
    read.insert(read.end(), items.begin(), items.end());
    std::vector<Ref> again(1);
    for (const Ref r : shared) again.push_back(loop_over(r));
    read.insert(read.end(), again.begin() + 1, again.end());
    again[0] = g_.make(Op::Index, u->dtype, read);
    return g_.make(Op::Reduce, u->dtype, again, Arg::fold(u->arg.fold_op(), 0));
  }

 private:
  // The work-item axes that a part stands in beside those that share it: each of their items has a
  // fold of its own.
  std::vector<Ref> other_items(Ref part, std::span<const Ref> shared) {
    std::vector<Ref> items;
    for (const Ref r : uop::ranges(g_, part)) {
      if (is_item_axis(r) && std::ranges::find(shared, r) == shared.end()) items.push_back(r);
    }
    return items;
  }

  // The loop in which each item goes over what the items of r left: one for each r, so that folds
  // over the same items can share it.
  Ref loop_over(Ref r) {
    const auto found = std::ranges::find(loops_, r, &std::pair<Ref, Ref>::first);
    if (found != loops_.end()) return found->second;
    const Arg axis = Arg::axis(free_.range++, AxisType::Reduce);
    loops_.emplace_back(r, g_.make(Op::Range, r->dtype, {r->src[0]}, axis));
    return loops_.back().second;
  }

  Graph& g_;
  FreeNumbers& free_;
  std::vector<std::pair<Ref, Ref>> loops_;
};

}  // namespace

Ref fix_group_for_reduce(Graph& g, Ref root, FreeNumbers& free) {
  const std::vector<Ref> order = toposort(g, root);
  const bool any =
      std::ranges::any_of(order, [](Ref u) { return has_type(u, AxisType::GroupReduce); });
  if (!any) return root;
  GroupReduce group(g, free);
  return rebuild(g, order, [&](Ref u, std::span<const Ref> src) {
    return u->op == Op::Reduce ? group.split(u, src) : on_sources(g, u, src);
  });
}

}  // namespace assay::codegen
