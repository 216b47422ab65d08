#include "engine/codegen/apply_opts.h"

#include <fmt/format.h>

#include <span>
#include <vector>

#include "engine/check.h"
#include "engine/codegen/forms.h"
#include "engine/codegen/replace_ranges.h"
#include "engine/codegen/tiling.h"
#include "engine/uop/dim.h"
#include "engine/uop/sum.h"

namespace assay::codegen {
namespace {

using uop::AxisType;
using uop::DType;
using uop::Graph;
using uop::Op;
using uop::Ref;

Ref make_range(Graph& g, Ref size, int32_t number, AxisType type) {
  return g.make(Op::Range, DType::Index, {size}, uop::Arg::axis(number, type));
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

RangeChange change_of(Graph& g, const Axis& axis) {
  std::vector<Ref> pieces;
  pieces.reserve(axis.pieces.size() + 1);
  for (const Piece& piece : axis.pieces) {
    const Ref count = uop::dim(g, piece.count);
    pieces.push_back(make_range(g, count, piece.number, piece.type));
  }
  Ref rest = nullptr;
  if (axis.has_rest()) {
    const Ref count = axis.is_symbolic ? axis.range->src[0] : uop::dim(g, axis.left);
    rest = make_range(g, count, axis.number, axis.type);
  }
  Ref inside = nullptr;
  for (const Padding& padding : axis.paddings) {
    const Ref at = place(g, axis, pieces, rest, padding.pieces, padding.factor);
    const Ref bound = uop::dim(g, padding.bound);
    const Ref below = g.make(Op::Lt, DType::Bool, {at, bound});
    inside = inside == nullptr ? below : g.make(Op::And, DType::Bool, {inside, below});
  }
  const Ref value = place(g, axis, pieces, rest, 0, 1);
  if (rest != nullptr) pieces.push_back(rest);
  return {axis.range, value, std::move(pieces), inside};
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
  std::vector<RangeChange> changes;
  changes.reserve(tiling.value().axes().size());
  for (const Axis& axis : tiling.value().axes()) changes.push_back(change_of(run.graph(), axis));
  return replace_ranges(run, kernel, changes);
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
