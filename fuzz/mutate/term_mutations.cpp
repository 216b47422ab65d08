#include <fmt/format.h>

#include <algorithm>

#include "engine/uop/node_map.h"
#include "engine/uop/verify.h"
#include "engine/uop/walk.h"
#include "fuzz/mutate/mutate_term.h"
#include "fuzz/trial/term_trial.h"

namespace assay::fuzz {
namespace {

using uop::DType;
using uop::Op;
using uop::Ref;
using uop::Typing;
using uop::Value;

// Another operation with as many operands of the same types.
Ref change_op(TermMutator& m) {
  const Ref u = m.some([](Ref v) { return uop::is_scalar(v->op) && !v->src.empty(); });
  if (u == nullptr) return nullptr;
  const uop::OpInfo& old = info(u->op);
  std::vector<Op> alike;
  for (int i = 0; i < uop::kOpCount; i++) {
    const auto op = static_cast<Op>(i);
    const uop::OpInfo& row = uop::info(op);
    const DType operated = row.typing == Typing::Compare ? u->src[0]->dtype : u->dtype;
    if (op != u->op && uop::is_scalar(op) && row.typing == old.typing &&
        row.min_sources == old.min_sources && row.over.has(operated)) {
      alike.push_back(op);
    }
  }
  if (alike.empty()) return nullptr;
  return m.with(u, m.g.make(alike[m.c.below(alike.size())], u->dtype, u->src));
}

// An operation around a node.
Ref insert(TermMutator& m) {
  const Ref u = m.any();
  std::vector<Op> ops;
  for (int i = 0; i < uop::kOpCount; i++) {
    const auto op = static_cast<Op>(i);
    const bool keeps_type = info(op).typing == Typing::Same || info(op).typing == Typing::Select ||
                            info(op).typing == Typing::Convert;
    const bool compares = info(op).typing == Typing::Compare && u->dtype == DType::Bool;
    if (uop::is_scalar(op) && info(op).over.has(u->dtype) && (keeps_type || compares)) {
      ops.push_back(op);
    }
  }
  const Ref around =
      m.maker.rooted(ops[m.c.below(ops.size())], u->dtype, static_cast<int>(m.c.between(1, 4)));
  std::vector<Ref> src(around->src.begin(), around->src.end());
  std::vector<size_t> places;
  for (size_t i = 0; i < src.size(); i++) {
    if (src[i]->dtype == u->dtype) places.push_back(i);
  }
  if (places.empty() || around->dtype != u->dtype) return nullptr;
  src[places[m.c.below(places.size())]] = u;
  return m.with(u, m.g.with_sources(around, src));
}

// An operand in the place of its operation.
Ref remove(TermMutator& m) {
  const Ref u = m.some([](Ref v) { return !v->src.empty(); });
  if (u == nullptr) return nullptr;
  const Ref s = u->src[m.c.below(u->src.size())];
  return m.with(u, s->dtype == u->dtype ? s : m.g.make(Op::Cast, u->dtype, {s}));
}

// The term becomes one of its parts.
Ref narrow(TermMutator& m) {
  const Ref u = m.some([&](Ref v) { return v != m.root && !v->src.empty(); });
  return u;
}

// A new term in the place of a part.
Ref replace(TermMutator& m) {
  const Ref u = m.any();
  return m.with(u, m.maker.term(u->dtype, static_cast<int>(m.c.below(5))));
}

// What some rule is about in the place of a part, or of a part of it.
Ref plant_match(TermMutator& m) {
  for (int attempt = 0; attempt < 8; attempt++) {
    const Ref match = make_term(m.g, m.c);
    const Ref u = m.some([&](Ref v) { return v->dtype == match->dtype; });
    if (u == nullptr) continue;
    // Its leaves are parts of what was there, some of them.
    uop::Substitution map;
    for (const Ref leaf : uop::toposort(m.g, match)) {
      if (leaf->op != Op::Variable || !m.c.chance(1, 2)) continue;
      const Ref part = m.some([&](Ref v) { return v->dtype == leaf->dtype; });
      if (part != nullptr) map[leaf] = part;
    }
    return m.with(u, map.empty() ? match : uop::substitute(m.g, match, map));
  }
  return nullptr;
}

Value nudged(Value v, Choices& c) {
  if (!uop::is_int(v.dtype)) return c.value(v.dtype);
  const uop::Int128 x = as_int(v);
  switch (c.below(7)) {
    case 0: return uop::of_int(v.dtype, std::min(x + 1, uop::max_int(v.dtype)));
    case 1: return uop::of_int(v.dtype, std::max(x - 1, uop::min_int(v.dtype)));
    case 2:
      return uop::of_int(v.dtype, std::clamp(-x, uop::min_int(v.dtype), uop::max_int(v.dtype)));
    case 3:
      return uop::of_int(v.dtype, std::clamp(2 * x, uop::min_int(v.dtype), uop::max_int(v.dtype)));
    case 4: return uop::of_int(v.dtype, x / 2);
    case 5: return uop::of_int(v.dtype, c.between(-4, 32) & (uop::is_unsigned(v.dtype) ? 31 : -1));
    default: return c.value(v.dtype);
  }
}

// Another value of a constant, here or wherever that constant stands.
Ref change_constant(TermMutator& m) {
  const Ref u = m.some([](Ref v) { return uop::is_const(v); });
  if (u == nullptr) return nullptr;
  const Ref same = m.some([&](Ref v) { return uop::is_const(v) && v->dtype == u->dtype; });
  return m.with(u, m.c.chance(1, 4) ? same : m.g.constant(nudged(u->value(), m.c)));
}

// A constant in the place of a part, or a variable in that of a constant.
Ref turn_leaf(TermMutator& m) {
  const Ref u = m.any();
  if (uop::is_const(u)) return m.with(u, m.maker.rooted(Op::Variable, u->dtype, 0));
  return m.with(u, m.g.constant(m.c.value(u->dtype)));
}

// Other ends of a variable, wherever it stands.
Ref change_bounds(TermMutator& m) {
  const Ref u = m.some([](Ref v) { return v->op == Op::Variable && uop::is_int(v->dtype); });
  if (u == nullptr) return nullptr;
  if (m.c.chance(1, 8) && u->dtype != DType::Index) {
    return m.with(u, m.g.variable(u->arg.name(), u->dtype));
  }
  const auto ends = u->arg.numbers();
  Value lo =
      ends.empty() ? uop::zero_of(u->dtype) : Value{u->dtype, static_cast<uint64_t>(ends[0])};
  Value hi = ends.empty() ? lo : Value{u->dtype, static_cast<uint64_t>(ends[1])};
  (m.c.chance(1, 2) ? lo : hi) = nudged(m.c.chance(1, 2) ? lo : hi, m.c);
  if (as_int(hi) < as_int(lo)) std::swap(lo, hi);
  return m.with(u, m.g.variable(u->arg.name(), lo, hi));
}

// Operands the other way round.
Ref swap_operands(TermMutator& m) {
  const Ref u = m.some([](Ref v) { return v->src.size() >= 2; });
  if (u == nullptr) return nullptr;
  std::vector<Ref> src(u->src.begin(), u->src.end());
  const size_t first = src.size() == 3 && m.c.chance(1, 2) ? 1 : 0;
  if (src[first]->dtype != src.back()->dtype) return nullptr;
  std::swap(src[first], src.back());
  return m.with(u, m.g.with_sources(u, src));
}

// One part in the place of another, so that it stands there twice.
Ref share(TermMutator& m) {
  const Ref part = m.any();
  const Ref place = m.some([&](Ref v) { return v->dtype == part->dtype && v != part; });
  return place == nullptr ? nullptr : m.with(place, part);
}

// One type in the place of another throughout, as far as operations work on it.
Ref change_type(TermMutator& m) {
  const DType from = m.any()->dtype;
  const DType to = m.c.pick(std::span<const DType>(std::vector<DType>{
      uop::Index, uop::I8, uop::I32, uop::I64, uop::U8, uop::U32, uop::U64, uop::F16, uop::F32}));
  if (from == to || from == DType::Bool) return nullptr;
  uop::NodeMap<Ref> made;
  for (const Ref u : m.nodes) {
    std::vector<Ref> src;
    for (const Ref s : u->src) src.push_back(made.at(s));
    const DType type = u->dtype == from ? to : u->dtype;
    uop::Arg arg = u->arg;
    if (type != u->dtype && uop::is_const(u)) {
      const std::optional<Value> v = cast(u->value(), to);
      if (!v) return nullptr;
      arg = uop::Arg::value(*v);
    }
    if (type != u->dtype && u->op == Op::Variable) {
      const std::string_view name = u->arg.name();
      made.set(u,
               m.g.variable(fmt::format("{}_{}", name.substr(0, name.find('_')), to_text(to)), to));
      continue;
    }
    made.set(u, m.g.make(u->op, type, src, arg));
  }
  return made.at(m.root);
}

// By way of another type and back.
Ref convert(TermMutator& m) {
  const Ref u = m.any();
  const DType by = m.maker.rooted(Op::Cast, u->dtype, 1)->dtype;
  return m.with(u, m.g.make(Op::Cast, u->dtype, {m.g.make(Op::Cast, by, {u})}));
}

}  // namespace

std::span<const TermMutation> term_mutations() {
  static constexpr TermMutation kRows[] = {
      {"change_op", 4, change_op},
      {"insert", 4, insert},
      {"remove", 4, remove},
      {"narrow", 1, narrow},
      {"replace", 3, replace},
      {"plant_match", 6, plant_match},
      {"change_constant", 6, change_constant},
      {"turn_leaf", 2, turn_leaf},
      {"change_bounds", 3, change_bounds},
      {"swap_operands", 2, swap_operands},
      {"share", 3, share},
      {"change_type", 2, change_type},
      {"convert", 1, convert},
  };
  return kRows;
}

}  // namespace assay::fuzz
