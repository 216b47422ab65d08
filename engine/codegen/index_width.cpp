#include "engine/codegen/index_width.h"

#include <algorithm>
#include <vector>

#include "engine/codegen/forms.h"
#include "engine/uop/bounds.h"
#include "engine/uop/node_map.h"
#include "engine/uop/walk.h"

namespace assay::codegen {
namespace {

using uop::Bounds;
using uop::DType;
using uop::Graph;
using uop::I32;
using uop::I64;
using uop::Op;
using uop::Ref;
using uop::Run;

// A shift by the width or more means something at `index` only.
bool shifts_out(Graph& g, Ref u) {
  if (u->op != Op::Shl && u->op != Op::Shr) return false;
  return uop::bounds(g, u->src[1]).hi >= uop::bits_of(I32);
}

class Narrowing {
 public:
  explicit Narrowing(Graph& g) : g_(g) {}

  Ref of(Ref root) {
    const std::vector<Ref> order = uop::toposort(g_, root);
    const bool any = std::ranges::any_of(order, [](Ref u) { return is_index(u); });
    if (!any) return root;
    for (const Ref u : order) done_.set(u, rebuilt(u));
    return done_.at(root);
  }

 private:
  static bool is_index(Ref u) { return u->dtype == uop::Index; }

  // The type that u, a term of type `index`, has from here on. Its sources are done.
  DType width(Ref u) {
    const Bounds b = uop::bounds(g_, u);
    if (!uop::fits(I32, b.lo) || !uop::fits(I32, b.hi) || shifts_out(g_, u)) return I64;
    return width_of_sources(u);
  }

  DType width_of_sources(Ref u) {
    const bool narrow = std::ranges::all_of(u->src, [&](Ref s) {
      return !is_index(s) || s->op == Op::Invalid || done_.at(s)->dtype == I32;
    });
    return narrow ? I32 : I64;
  }

  Ref as(Ref u, DType t) {
    if (u->dtype == t) return u;
    if (uop::is_const(u) && uop::is_fixed_int(t)) {
      return g_.constant(uop::of_int(t, as_int(u->value())));
    }
    if (u->op == Op::Invalid) return g_.make(Op::Invalid, t, {});
    return g_.make(Op::Cast, t, {u});
  }

  // Sizes describe storage and are not computed with: they stay constants of type `index`.
  static bool is_size(Ref u, size_t i) {
    if (!is_index(u->src[i])) return false;
    if (u->op == Op::Buffer || u->op == Op::Param) return true;
    return u->op == Op::Shrink && i > 0 && i % 2 == 0;
  }

  // A symbolic size is its largest: what memory must hold.
  Ref size(Ref s) {
    const Bounds b = uop::bounds(g_, s);
    return uop::is_const(s) || !uop::fits(uop::Index, b.hi)
               ? s
               : g_.constant(uop::of_int(uop::Index, b.hi));
  }

  Ref leaf(Ref u, DType t) {
    if (uop::is_const(u)) return g_.constant(uop::of_int(t, as_int(u->value())));
    return g_.make(u->op, t, u->src, u->arg);
  }

  Ref rebuilt(Ref u) {
    if (is_index(u)) return index_term(u);
    if (u->op == Op::Cast && is_index(u->src[0])) return as(done_.at(u->src[0]), u->dtype);
    sources_.clear();
    // A comparison is of one type; all others take their indices as they come.
    const bool compares = uop::info(u->op).typing == uop::Typing::Compare && is_index(u->src[0]);
    const DType t = compares ? width_of_sources(u) : I64;
    for (size_t i = 0; i < u->src.size(); i++) {
      const Ref s = u->src[i];
      const Ref now = is_size(u, i) ? size(s) : done_.at(s);
      sources_.push_back(compares ? as(now, t) : now);
    }
    return with(u, u->dtype);
  }

  Ref index_term(Ref u) {
    const DType t = width(u);
    if (u->src.empty()) return leaf(u, t);
    if (u->op == Op::Cast) return as(done_.at(u->src[0]), t);
    sources_.clear();
    for (const Ref s : u->src) sources_.push_back(is_index(s) ? as(done_.at(s), t) : done_.at(s));
    return with(u, t);
  }

  Ref with(Ref u, DType t) {
    if (u->dtype == t && std::ranges::equal(u->src, sources_)) return u;
    return g_.make(u->op, t, sources_, u->arg);
  }

  Graph& g_;
  uop::NodeMap<Ref> done_;
  std::vector<Ref> sources_;
};

Result<Ref> narrow(Run& run, Ref root) { return Narrowing(run.graph()).of(root); }

}  // namespace

const uop::Pass& index_width() {
  static const uop::Pass pass = {.name = "index_width",
                                 .accepts = vectors_form(),
                                 .yields = narrow_form(),
                                 .rules = {},
                                 .function = narrow};
  return pass;
}

}  // namespace assay::codegen
