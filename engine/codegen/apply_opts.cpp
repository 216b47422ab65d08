#include "engine/codegen/apply_opts.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "engine/check.h"
#include "engine/codegen/forms.h"
#include "engine/codegen/tiling.h"
#include "engine/uop/dim.h"
#include "engine/uop/rules/rules.h"
#include "engine/uop/scope.h"
#include "engine/uop/sum.h"
#include "engine/uop/walk.h"

namespace assay::codegen {
namespace {

using uop::AxisType;
using uop::DType;
using uop::Graph;
using uop::Op;
using uop::Ref;

// What takes the place of an axis' range.
struct Replacement {
  Ref value = nullptr;      // the same iteration, in terms of `ranges`
  std::vector<Ref> ranges;  // by number
  Ref inside = nullptr;     // where this is an iteration at all; null where it always is
};

Ref make_range(Graph& g, Ref size, int32_t number, AxisType type) {
  return g.make(Op::Range, DType::Index, {size}, uop::Arg::axis(number, type));
}

// Both conditions; null is one that always holds.
Ref both(Graph& g, Ref a, Ref b) {
  if (a == nullptr || b == nullptr) return a == nullptr ? b : a;
  return g.make(Op::And, DType::Bool, {a, b});
}

// x where the condition holds, else INVALID.
Ref gated(Graph& g, Ref condition, Ref x) {
  if (condition == nullptr) return x;
  const bool is_gated = x->op == Op::Where && x->src[2]->op == Op::Invalid;
  const Ref gate = is_gated ? both(g, condition, x->src[0]) : condition;
  const Ref nothing = g.make(Op::Invalid, x->dtype, {});
  return g.make(Op::Where, x->dtype, {gate, is_gated ? x->src[1] : x, nothing});
}

// The pieces of an axis from the first-th on and what is left of it, in steps of `unit`.
Ref place(Graph& g, const Axis& axis, std::span<const Ref> pieces, Ref rest, size_t first,
          int64_t unit) {
  uop::Sum sum;
  for (size_t i = first; i < pieces.size(); ++i) {
    ASSAY_CHECK(sum.add(g, pieces[i], axis.pieces[i].factor / unit));
  }
  if (rest != nullptr) ASSAY_CHECK(sum.add(g, rest, axis.factor / unit));
  return uop::build(g, sum);
}

Replacement replacement(Graph& g, const Axis& axis) {
  Replacement result;
  std::vector<Ref> pieces;
  for (const Piece& piece : axis.pieces) {
    const Ref count = uop::dim(g, piece.count);
    pieces.push_back(make_range(g, count, piece.number, piece.type));
  }
  Ref rest = nullptr;
  if (axis.has_rest()) {
    const Ref count = axis.is_symbolic ? axis.range->src[0] : uop::dim(g, axis.left);
    rest = make_range(g, count, axis.number, axis.type);
  }
  result.value = place(g, axis, pieces, rest, 0, 1);
  for (const Padding& padding : axis.paddings) {
    const Ref at = place(g, axis, pieces, rest, padding.pieces, padding.factor);
    const Ref bound = uop::dim(g, padding.bound);
    const Ref below = g.make(Op::Lt, DType::Bool, {at, bound});
    result.inside = both(g, result.inside, below);
  }
  result.ranges = std::move(pieces);
  if (rest != nullptr) result.ranges.push_back(rest);
  std::ranges::sort(result.ranges, {}, [](Ref r) { return r->arg.number(); });
  return result;
}

// One walk over a kernel that puts ranges in the place of ranges.
class Tiler {
 public:
  Tiler(Graph& g, const Tiling& tiling) : g_(g), tiling_(tiling) {
    axes_.reserve(tiling.axes().size());
    for (const Axis& axis : tiling.axes()) {
      places_.set(axis.range, static_cast<int>(axes_.size()));
      axes_.push_back(replacement(g, axis));
      is_padded_ = is_padded_ || axes_.back().inside != nullptr;
    }
    if (is_padded_) find_stores();
  }

  Ref tiled(Ref kernel) {
    for (const Ref u : uop::toposort(g_, kernel)) done_.set(u, rebuilt(u));
    return done_.at(kernel);
  }

 private:
  // The condition under which each STORE is one of the kernel's: all axes about it count, whether
  // its index depends on them or not.
  void find_stores() {
    for (const Nest& end : tiling_.ends()) {
      std::vector<Ref> stack = {end.u->src[0]};
      while (!stack.empty()) {
        const Ref u = stack.back();
        stack.pop_back();
        if (u->op == Op::Store) {
          const Ref outer = stores_.has(u) ? stores_.at(u) : nullptr;
          stores_.set(u, both(g_, outer, inside(end.u->src.subspan(1))));
        }
        if (u->op == Op::Group) stack.insert(stack.end(), u->src.begin(), u->src.end());
        if (u->op == Op::End) stack.push_back(u->src[0]);
      }
    }
  }

  // Where these ranges' iterations are the kernel's; null where all are.
  Ref inside(std::span<const Ref> ranges) {
    Ref all = nullptr;
    for (const Ref r : ranges) {
      if (const int* axis = places_.find(r)) {
        all = both(g_, all, axes_[static_cast<size_t>(*axis)].inside);
      }
    }
    return all;
  }

  Ref rebuilt(Ref u) {
    if (const int* axis = places_.find(u)) return axes_[static_cast<size_t>(*axis)].value;
    if (u->src.empty()) return u;
    if (u->op == Op::End || u->op == Op::Reduce) return closed(u);
    room_.clear();
    for (const Ref s : u->src) room_.push_back(done_.at(s));
    if (is_padded_ && u->op == Op::Index) {
      room_[1] = gated(g_, inside(uop::ranges(g_, u->src[1])), room_[1]);
    }
    if (is_padded_ && u->op == Op::Store && stores_.has(u)) {
      const Ref target = u->src[0];
      const Ref index = gated(g_, stores_.at(u), done_.at(target->src[1]));
      room_[0] = g_.make(Op::Index, target->dtype, {done_.at(target->src[0]), index});
    }
    return g_.with_sources(u, room_);
  }

  // An END or a REDUCE over what became of its ranges.
  Ref closed(Ref u) {
    room_.clear();
    for (const Ref r : u->src.subspan(1)) {
      const std::vector<Ref>& ranges = axes_[static_cast<size_t>(places_.at(r))].ranges;
      room_.insert(room_.end(), ranges.begin(), ranges.end());
    }
    std::ranges::sort(room_, {}, [](Ref r) { return r->arg.number(); });
    const Ref body = done_.at(u->src[0]);
    const Ref outside = u->op == Op::Reduce ? inside(u->src.subspan(1)) : nullptr;
    room_.insert(room_.begin(), gated(g_, outside, body));
    return g_.with_sources(u, room_);
  }

  Graph& g_;
  const Tiling& tiling_;
  std::vector<Replacement> axes_;
  bool is_padded_ = false;
  uop::NodeMap<int> places_;  // of ranges, in axes_
  uop::NodeMap<Ref> stores_;
  uop::NodeMap<Ref> done_;
  std::vector<Ref> room_;
};

bool splits(const Tiling& tiling) {
  return std::ranges::any_of(tiling.axes(), [](const Axis& axis) {
    return !axis.pieces.empty() || !axis.paddings.empty();
  });
}

Error of_kernel(std::string_view name, const Error& error) {
  return {fmt::format("kernel {}: {}", name, to_string(error))};
}

Result<Ref> apply(uop::Run& run, Ref kernel) {
  const KernelName name = kernel_name(kernel);
  const Result<std::vector<Opt>> opts = opts_from_text(name.opts.value_or("NONE"));
  if (!opts.ok()) return of_kernel(name.name, opts.error());
  const Result<Tiling> tiling = Tiling::of(run.graph(), run.target(), kernel, opts.value());
  if (!tiling.ok()) return of_kernel(name.name, tiling.error());
  const Ref tiled = Tiler(run.graph(), tiling.value()).tiled(kernel);
  return splits(tiling.value()) ? run.rewrite(uop::symbolic_rules(), tiled) : Result<Ref>(tiled);
}

}  // namespace

const uop::Pass& apply_opts() {
  static const uop::Pass pass = {.name = "apply_opts",
                                 .accepts = scheduled_form(),
                                 .yields = tiled_form(),
                                 .rules = {},
                                 .function = apply};
  return pass;
}

}  // namespace assay::codegen
