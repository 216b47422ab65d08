#include "engine/codegen/reduce_identity.h"

#include <algorithm>
#include <vector>

#include "engine/codegen/rebuild.h"
#include "engine/uop/bounds.h"
#include "engine/uop/eval.h"
#include "engine/uop/given.h"
#include "engine/uop/shape.h"
#include "engine/uop/unspecified.h"

namespace assay::codegen {
namespace {

using uop::DType;
using uop::Graph;
using uop::NodeMap;
using uop::Op;
using uop::Ref;

// A value that may be INVALID, in two parts: `value` is it wherever `condition` holds, and holds no
// INVALID but in indices. A null condition always holds.
struct Valid {
  Ref condition = nullptr;
  Ref value = nullptr;
};

class Identity {
 public:
  explicit Identity(Graph& g) : g_(g) {}

  // What REDUCE u folds, with the unit of its fold where it is INVALID.
  Ref folded(Ref u, Ref x) {
    if (!may_be_invalid(g_, x)) return x;
    std::vector<Ref> moves;
    for (; uop::is_movement(x->op); x = x->src[0]) moves.push_back(x);
    const Valid valid = parts_of(x);
    if (valid.condition != nullptr) {
      const Ref unit = g_.constant(uop::unit_of(u->arg.fold_op(), u->dtype));
      x = g_.make(Op::Where, u->dtype, {valid.condition, valid.value, unit});
    }
    while (!moves.empty()) {
      x = on(moves.back(), x);
      moves.pop_back();
    }
    return x;
  }

 private:
  Ref truth(bool value) { return g_.constant(uop::of_bool(value)); }

  // The movement u of another value.
  Ref on(Ref u, Ref x) {
    std::vector<Ref> sources(u->src.begin(), u->src.end());
    sources[0] = x;
    return g_.make(u->op, x->dtype, sources, u->arg);
  }

  // What condition c says where `known` holds; null where that is nothing. Null always holds. Where
  // c is a condition under others, where(p, x, true), only x is asked, and p is known as well.
  Ref beyond(Ref known, Ref c) {
    if (known == nullptr || c == nullptr) return c;
    std::vector<Ref> held = uop::conjuncts(known);
    Ref last = c;
    while (last->op == Op::Where && last->src[2] == truth(true)) {
      const std::vector<Ref> more = uop::conjuncts(last->src[0]);
      held.insert(held.end(), more.begin(), more.end());
      last = last->src[1];
    }
    const auto is_held = [&](Ref part) { return std::ranges::find(held, part) != held.end(); };
    if (last != c) return std::ranges::all_of(uop::conjuncts(last), is_held) ? nullptr : c;
    std::vector<Ref> news;
    for (const Ref part : uop::conjuncts(c)) {
      if (!is_held(part)) news.push_back(part);
    }
    return news.empty() ? nullptr : uop::conjunction(g_, news);
  }

  // Where both hold. The second is not asked where the first does not hold.
  Ref both(Ref a, Ref b) {
    const Ref rest = beyond(a, b);
    if (a == nullptr || rest == nullptr) return rest == nullptr ? a : rest;
    if (!may_be_unspecified(g_, rest)) return g_.make(Op::And, DType::Bool, {a, rest});
    const Ref no = truth(false);
    return g_.make(Op::Where, DType::Bool, {a, rest, no});
  }

  Valid parts_of(Ref root) {
    parts_.clear();
    for (const Ref u : toposort(g_, root)) parts_.set(u, of(u));
    return parts_.at(root);
  }

  Valid of(Ref u) {
    if (!may_be_invalid(g_, u) || u->op == Op::Reduce) return {nullptr, u};
    if (u->op == Op::Invalid) return {truth(false), g_.constant(uop::zero_of(u->dtype))};
    if (u->op == Op::Where) return of_where(u);
    if (uop::is_movement(u->op)) return of_movement(u);
    Valid all = {nullptr, u};
    std::vector<Ref> values;
    for (const Ref s : u->src) {
      all.condition = both(all.condition, parts_.at(s).condition);
      values.push_back(parts_.at(s).value);
    }
    if (u->op != Op::Index) all.value = on_sources(g_, u, values);
    return all;
  }

  Valid of_movement(Ref u) {
    const Valid x = parts_.at(u->src[0]);
    if (x.condition == nullptr) return {nullptr, on(u, x.value)};
    const Ref whole = uop::expand(g_, x.condition, shape(g_, u->src[0]));
    const Ref condition = on(u, whole);
    return {condition, on(u, x.value)};
  }

  Valid of_where(Ref u) {
    const Valid p = parts_.at(u->src[0]);
    const Valid a = parts_.at(u->src[1]);
    const Valid b = parts_.at(u->src[2]);
    if (u->src[2]->op == Op::Invalid) {
      const Ref inside = both(p.value, a.condition);
      return {both(p.condition, inside), a.value};
    }
    const Ref value = g_.make(Op::Where, u->dtype, {p.value, a.value, b.value});
    const Ref first = beyond(p.value, a.condition);
    if (first == nullptr && b.condition == nullptr) return {p.condition, value};
    const Ref then = first == nullptr ? truth(true) : first;
    const Ref otherwise = b.condition == nullptr ? truth(true) : b.condition;
    const Ref picked = g_.make(Op::Where, DType::Bool, {p.value, then, otherwise});
    return {both(p.condition, picked), value};
  }

  Graph& g_;
  NodeMap<Valid> parts_;
};

}  // namespace

Ref pm_reduce_identity(Graph& g, Ref root) {
  if (!may_be_invalid(g, root)) return root;
  Identity identity(g);
  return rebuild(g, toposort(g, root), [&](Ref u, std::span<const Ref> src) {
    if (u->op != Op::Reduce) return on_sources(g, u, src);
    std::vector<Ref> sources(src.begin(), src.end());
    sources[0] = identity.folded(u, sources[0]);
    return on_sources(g, u, sources);
  });
}

}  // namespace assay::codegen
