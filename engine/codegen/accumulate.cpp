#include "engine/codegen/accumulate.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/check.h"
#include "engine/codegen/folds.h"
#include "engine/codegen/rebuild.h"
#include "engine/uop/dim.h"
#include "engine/uop/eval.h"
#include "engine/uop/shape.h"

namespace assay::codegen {
namespace {

using uop::AddrSpace;
using uop::Arg;
using uop::Graph;
using uop::Op;
using uop::Ref;
using uop::Shape;

// The next element of a block of these sizes in row-major order; false after the last.
bool next_element(std::span<int64_t> at, std::span<const int64_t> sizes) {
  for (size_t i = at.size(); i-- > 0;) {
    if (++at[i] < sizes[i]) return true;
    at[i] = 0;
  }
  return false;
}

class Accumulate {
 public:
  Accumulate(Graph& g, FreeNumbers& free, const FoldLoops& all) : g_(g), free_(free), all_(all) {}

  Ref of(Ref u, std::span<const Ref> src) {
    if (u->op != Op::Reduce) return on_sources(g_, u, src);
    if (u->src.size() == 1) return chain(u, src[0]);
    if (result_of(u) == nullptr) run_loop(u);
    return result_of(u);
  }

 private:
  struct Step {
    Ref acc;
    Ref store;
  };

  Ref unit(Ref u) { return g_.constant(uop::unit_of(u->arg.fold_op(), u->dtype)); }

  Ref result_of(Ref u) const {
    const auto found = std::ranges::find(done_, u, &std::pair<Ref, Ref>::first);
    return found == done_.end() ? nullptr : found->second;
  }

  // expand_horizontal_reduce: op(op(first, x[0]), x[1])…, over the axes that u folds. A null first
  // begins with x[0].
  Ref horizontal(Ref u, Ref first, Ref x) {
    const auto join = [&](Ref element) {
      first = first == nullptr ? element : g_.make(u->arg.fold_op(), u->dtype, {first, element});
    };
    const auto axes = static_cast<size_t>(u->arg.number());
    if (axes == 0) {
      join(x);
      return first;
    }
    std::vector<int64_t> sizes;
    for (const Ref size : shape(g_, x).first(axes)) {
      ASSAY_CHECK(is_const(size), "{} lanes are folded", uop::shape_text(shape(g_, x)));
      sizes.push_back(static_cast<int64_t>(as_int(size->value())));
    }
    if (std::ranges::find(sizes, 0) != sizes.end()) return first;
    std::vector<int64_t> at(axes);
    std::vector<Ref> element(axes + 1, x);
    do {
      for (size_t i = 0; i < axes; ++i) element[i + 1] = uop::dim(g_, at[i]);
      join(g_.make(Op::Index, x->dtype, element));
    } while (next_element(at, sizes));
    return first;
  }

  // A fold over lanes alone. A sum of floats begins with its unit: what it adds up to is never
  // -0.0.
  Ref chain(Ref u, Ref x) {
    const bool loses_sign = u->arg.fold_op() == Op::Add && uop::is_float(u->dtype);
    const Ref folded = horizontal(u, loses_sign ? unit(u) : nullptr, x);
    if (folded != nullptr && folded != unit(u)) return folded;
    const Shape whole = shape(g_, u);
    return whole.empty() ? unit(u) : uop::expand(g_, unit(u), whole);
  }

  Ref after(Ref state, Ref effect, std::span<const Ref> ranges) {
    std::vector<Ref> sources = {state};
    if (effect != nullptr) sources.push_back(effect);
    sources.insert(sources.end(), ranges.begin(), ranges.end());
    return sources.size() == 1 ? state : g_.make(Op::After, state->dtype, sources);
  }

  Step step(const FoldLoop& loop, Ref u, Ref x) {
    const Shape sizes = shape(g_, u);
    const Arg place = Arg::place(free_.buffer++, AddrSpace::Reg);
    const Ref acc = g_.make(Op::Buffer, u->dtype, sizes, place);
    const Ref fresh = after(acc, nullptr, loop.outer);
    const Ref start = g_.make(Op::Store, uop::DType::Void, {fresh, unit(u)});
    const Ref in = after(acc, start, loop.ranges);
    const Ref next = horizontal(u, in, x);
    return {acc, g_.make(Op::Store, uop::DType::Void, {in, next})};
  }

  // All folds of the loop that u is in, with one END.
  void run_loop(Ref u) {
    const auto loop = std::ranges::find_if(all_.loops, [&](const FoldLoop& l) {
      return std::ranges::find(l.folds, u) != l.folds.end();
    });
    std::vector<Step> steps;
    std::vector<Ref> stores;
    for (const Ref fold : loop->folds) {
      steps.push_back(step(*loop, fold, rebuilt(g_, fold->src[0])));
      stores.push_back(steps.back().store);
    }
    std::vector<Ref> closing = {stores[0]};
    if (stores.size() > 1) closing[0] = g_.make(Op::Group, uop::DType::Void, stores);
    closing.insert(closing.end(), loop->ranges.begin(), loop->ranges.end());
    const Ref end = g_.make(Op::End, uop::DType::Void, closing);
    for (size_t i = 0; i < steps.size(); ++i) {
      done_.emplace_back(loop->folds[i], after(steps[i].acc, end, {}));
    }
  }

  Graph& g_;
  FreeNumbers& free_;
  const FoldLoops& all_;
  std::vector<std::pair<Ref, Ref>> done_;  // folds over ranges, and what they became
};

}  // namespace

Ref reduce_ranges_to_acc(Graph& g, Ref root, FreeNumbers& free) {
  const FoldLoops all(g, toposort(g, root));
  Accumulate accumulate(g, free, all);
  return rebuild(g, all.order,
                 [&](Ref u, std::span<const Ref> src) { return accumulate.of(u, src); });
}

}  // namespace assay::codegen
