#include "engine/uop/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "engine/uop/walk.h"

namespace assay::uop {
namespace {

using Trouble = std::optional<std::string>;
using Check = Trouble (*)(Ref);

constexpr std::string_view kArgNames[] = {"no argument", "a value", "a number", "an axis",
                                          "a place",     "a fold",  "numbers",  "a name",
                                          "a symbol",    "an info"};

std::string sources(int n) {
  if (n == 0) return "no sources";
  return n == 1 ? "1 source" : fmt::format("{} sources", n);
}

Trouble arity(Ref u) {
  const OpInfo& op = info(u->op);
  const size_t n = u->src.size();
  const bool too_few = n < static_cast<size_t>(op.min_sources);
  if (!too_few && (op.max_sources == kMany || n <= static_cast<size_t>(op.max_sources))) return {};
  std::string takes = sources(op.min_sources);
  if (op.max_sources == kMany) takes = "at least " + takes;
  if (op.max_sources > op.min_sources) {
    takes = fmt::format("{} to {}", op.min_sources, sources(op.max_sources));
  }
  return fmt::format("{} takes {}, found {}", op.text, takes, n);
}

Trouble argument(Ref u) {
  const ArgKind kind = u->arg.kind;
  const ArgKind expected = info(u->op).arg;
  const bool is_absent_info = expected == ArgKind::Info && kind == ArgKind::None;
  if (kind == expected || is_absent_info) return {};
  return fmt::format("{} takes {}, found {}", to_text(u->op), kArgNames[int(expected)],
                     kArgNames[int(kind)]);
}

Trouble source_is(Ref u, size_t i, DType t) {
  const DType found = u->src[i]->dtype;
  if (found == t) return {};
  return fmt::format("source {} of {} has type {}, expected {}", i + 1, to_text(u->op),
                     to_text(found), to_text(t));
}

Trouble sources_are(Ref u, size_t first, DType t) {
  for (size_t i = first; i < u->src.size(); i++) {
    if (u->src[i]->dtype != t) return source_is(u, i, t);
  }
  return {};
}

Trouble sources_are_integers(Ref u, size_t first) {
  for (size_t i = first; i < u->src.size(); i++) {
    const DType found = u->src[i]->dtype;
    if (is_int(found)) continue;
    return fmt::format("source {} of {} has type {}, expected an integer type", i + 1,
                       to_text(u->op), to_text(found));
  }
  return {};
}

Trouble node_is(Ref u, DType t) {
  if (u->dtype == t) return {};
  return fmt::format("{} has type {}, expected {}", to_text(u->op), to_text(u->dtype), to_text(t));
}

Trouble compare_typing(Ref u) {
  if (Trouble bad = node_is(u, Bool)) return bad;
  const DType t = u->src[0]->dtype;
  if (!info(u->op).over.has(t)) {
    return fmt::format("{} does not compare {}", to_text(u->op), to_text(t));
  }
  return sources_are(u, 1, t);
}

Trouble typing(Ref u) {
  const OpInfo& op = info(u->op);
  if (op.typing == Typing::Compare) return compare_typing(u);
  if (op.typing == Typing::Effect) return node_is(u, Void);
  if (!op.over.has(u->dtype)) {
    return fmt::format("{} does not work on {}", op.text, to_text(u->dtype));
  }
  if (op.typing == Typing::Same) return sources_are(u, 0, u->dtype);
  if (op.typing == Typing::First) return source_is(u, 0, u->dtype);
  if (op.typing == Typing::Select) {
    if (Trouble bad = source_is(u, 0, Bool)) return bad;
    return sources_are(u, 1, u->dtype);
  }
  if (op.typing == Typing::Convert && u->src[0]->dtype == Void) {
    return fmt::format("{} does not work on void", op.text);
  }
  return {};
}

bool is_canonical(Value v) {
  if (v.dtype == Bool) return v.bits <= 1;
  const int spare = 64 - bits_of(v.dtype);
  const uint64_t zero_extended = v.bits << spare >> spare;
  if (kind_of(v.dtype) != Kind::Signed) return v.bits == zero_extended;
  return static_cast<int64_t>(v.bits) == static_cast<int64_t>(v.bits << spare) >> spare;
}

Trouble value(Ref u, uint64_t bits) {
  if (is_canonical({u->dtype, bits})) return {};
  return fmt::format("{} holds {:#x}, which is no value of {}", to_text(u->op), bits,
                     to_text(u->dtype));
}

Trouble check_const(Ref u) { return value(u, u->arg.bits); }

// NaN is no bound: nothing lies below or above it.
bool in_order(Value lo, Value hi) {
  if (is_float(lo.dtype)) return as_double(lo) <= as_double(hi);
  return as_int(lo) <= as_int(hi);
}

Trouble check_variable(Ref u) {
  const std::span<const int64_t> bounds = u->arg.numbers();
  if (bounds.empty()) return {};
  if (bounds.size() != 2) {
    return fmt::format("var has no bounds or 2, found {}", bounds.size());
  }
  for (const int64_t bound : bounds) {
    if (Trouble bad = value(u, static_cast<uint64_t>(bound))) return bad;
  }
  const Value lo = {u->dtype, static_cast<uint64_t>(bounds[0])};
  const Value hi = {u->dtype, static_cast<uint64_t>(bounds[1])};
  if (in_order(lo, hi)) return {};
  return fmt::format("the bounds of var are {} and {}, which are not in order", to_text(lo),
                     to_text(hi));
}

Trouble check_permute(Ref u) {
  const std::span<const int64_t> axes = u->arg.numbers();
  std::vector<bool> seen(axes.size());
  for (const int64_t axis : axes) {
    const auto a = static_cast<size_t>(axis);
    if (axis < 0 || a >= axes.size()) {
      return fmt::format("axis {} of permute is not below {}", axis, axes.size());
    }
    if (seen[a]) return fmt::format("axis {} of permute stands there twice", axis);
    seen[a] = true;
  }
  return {};
}

Trouble check_flip(Ref u) {
  std::vector<int64_t> axes(u->arg.numbers().begin(), u->arg.numbers().end());
  std::sort(axes.begin(), axes.end());
  if (!axes.empty() && axes[0] < 0) return fmt::format("axis {} of flip is negative", axes[0]);
  const auto twice = std::adjacent_find(axes.begin(), axes.end());
  if (twice == axes.end()) return {};
  return fmt::format("axis {} of flip stands there twice", *twice);
}

Trouble check_fold(Ref u) {
  const OpInfo& fold = info(u->arg.fold_op());
  if (fold.unit == Unit::None) {
    return fmt::format("{} folds by {}, which has no unit", to_text(u->op), fold.text);
  }
  if (!fold.over.has(u->dtype)) {
    return fmt::format("{} folds by {}, which does not work on {}", to_text(u->op), fold.text,
                       to_text(u->dtype));
  }
  if (u->arg.number() >= 0) return {};
  return fmt::format("{} folds {} axes", to_text(u->op), u->arg.number());
}

Trouble check_reduce(Ref u) {
  if (Trouble bad = check_fold(u)) return bad;
  return sources_are_integers(u, 1);
}

Trouble check_dimensions(Ref u) { return sources_are(u, 1, Index); }

Trouble check_ranges(Ref u) { return sources_are_integers(u, 1); }

Trouble check_load(Ref u) {
  if (u->src.size() > 1) {
    if (Trouble bad = source_is(u, 1, u->dtype)) return bad;
  }
  return u->src.size() > 2 ? source_is(u, 2, Bool) : Trouble();
}

Trouble check_store(Ref u) {
  const DType t = u->src[0]->dtype;
  if (t == Void) return "store does not work on void";
  if (Trouble bad = source_is(u, 1, t)) return bad;
  return u->src.size() > 2 ? source_is(u, 2, Bool) : Trouble();
}

Trouble check_if(Ref u) { return source_is(u, 0, Bool); }

Trouble check_end_if(Ref u) {
  if (u->src[0]->op == Op::If) return {};
  return fmt::format("the source of endif is {}, expected if", to_text(u->src[0]->op));
}

Trouble check_bitcast(Ref u) {
  const DType from = u->src[0]->dtype;
  if (from == u->dtype) return {};
  const TypeSet laid_out = kFixedInts | kFloats;
  for (const DType t : {from, u->dtype}) {
    if (!laid_out.has(t)) {
      return fmt::format("bitcast from {} to {}: {} has no layout", to_text(from),
                         to_text(u->dtype), to_text(t));
    }
  }
  return {};
}

constexpr std::array<Check, kOpCount> make_checks() {
  constexpr std::pair<Op, Check> kOpChecks[] = {
      {Op::Const, check_const},        {Op::Variable, check_variable},
      {Op::Permute, check_permute},    {Op::Flip, check_flip},
      {Op::Reduce, check_reduce},      {Op::AllReduce, check_fold},
      {Op::Reshape, check_dimensions}, {Op::Expand, check_dimensions},
      {Op::Pad, check_dimensions},     {Op::Shrink, check_ranges},
      {Op::Index, check_ranges},       {Op::Stage, check_ranges},
      {Op::End, check_ranges},         {Op::Load, check_load},
      {Op::Store, check_store},        {Op::If, check_if},
      {Op::EndIf, check_end_if},       {Op::Bitcast, check_bitcast},
  };
  std::array<Check, kOpCount> checks = {};
  for (const auto& [op, check] : kOpChecks) checks[static_cast<size_t>(op)] = check;
  return checks;
}

}  // namespace

Trouble verify_node(Ref u) {
  static constexpr std::array<Check, kOpCount> kChecks = make_checks();
  for (const Check check : {arity, argument, typing}) {
    if (Trouble bad = check(u)) return bad;
  }
  const Check own = kChecks[static_cast<size_t>(u->op)];
  return own == nullptr ? Trouble() : own(u);
}

Trouble verify(Graph& g, Ref root) {
  const std::vector<Ref> order = toposort(g, root);
  for (size_t i = 0; i < order.size(); i++) {
    const Trouble bad = verify_node(order[i]);
    if (bad) return fmt::format("%{} = {}: {}", i, to_text(order[i]->op), *bad);
  }
  return {};
}

}  // namespace assay::uop
