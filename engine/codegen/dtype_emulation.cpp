#include "engine/codegen/dtype_emulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "engine/check.h"
#include "engine/codegen/forms.h"
#include "engine/codegen/place.h"
#include "engine/codegen/small_float.h"
#include "engine/uop/node_map.h"
#include "engine/uop/scope.h"
#include "engine/uop/walk.h"

namespace assay::codegen {
namespace {

using uop::DType;
using uop::F32;
using uop::Graph;
using uop::Op;
using uop::OpSet;
using uop::Ref;
using uop::Run;
using uop::Target;
using uop::TypeSet;

constexpr TypeSet kSmall = {uop::E4M3, uop::E5M2, uop::F16, uop::BF16};
constexpr OpSet kStates = {Op::Param, Op::Buffer};
constexpr OpSet kViews = {Op::After, Op::Index, Op::Shrink};
// Their results are of their operands' type without rounding.
constexpr OpSet kExact = {Op::Neg,   Op::Max,   Op::Min,  Op::Where,
                          Op::Trunc, Op::Floor, Op::Ceil, Op::Round};

// The storage of which a kernel moves what it holds: what is read there, or written, goes from
// storage to storage, or is other bits by BITCAST, with nothing computed on the way.
class Moved {
 public:
  Moved(Graph& g, std::span<const Ref> kernel) : g_(g) {
    for (const Ref u : kernel) {
      if (moves(u)) moved_.insert(u);
    }
    for (size_t i = kernel.size(); i-- > 0;) look_at(kernel[i]);
  }

  bool has(Ref storage) const { return storages_.has(storage); }
  // Whether u, or a lane of it, may have the bits of what was read, or of another type.
  bool is_moved(Ref u) const { return moved_.has(u); }

 private:
  static constexpr OpSet kMoves = {Op::Where, Op::Stack, Op::Index};

  // What registers hold was computed, and so was a NaN as arithmetic makes it.
  bool moves(Ref u) const {
    if (uop::is_const(u)) return uop::is_nan(u->value()) && u->value() != uop::nan_of(u->dtype);
    if (u->op == Op::Bitcast) return true;
    if (u->op == Op::Load) return space_of(uop::buffer(g_, u->src[0])) != uop::AddrSpace::Reg;
    return kMoves.has(u->op) && std::ranges::any_of(u->src, [&](Ref s) { return moved_.has(s); });
  }

  // Users before their sources: whether the bits of u are asked for.
  void look_at(Ref u) {
    if (u->op == Op::Bitcast) asked_.insert(u->src[0]);
    if (u->op == Op::Store && moved_.has(u->src[1])) {
      storages_.insert(uop::buffer(g_, u->src[0]));
      asked_.insert(u->src[1]);
    }
    if (!asked_.has(u)) return;
    if (u->op == Op::Load) storages_.insert(uop::buffer(g_, u->src[0]));
    if (!kMoves.has(u->op)) return;
    for (const Ref s : u->src) {
      if (s->dtype == u->dtype) asked_.insert(s);
    }
  }

  Graph& g_;
  uop::NodeSet moved_;
  uop::NodeSet asked_;
  uop::NodeSet storages_;
};

bool is_size(Ref u) { return u->dtype == uop::Index && uop::is_const(u); }

// Whether the kernel has types to emulate; an error is one that cannot be.
Result<bool> has_emulated(const Target& target, std::span<const Ref> kernel) {
  bool any = false;
  for (const Ref u : kernel) {
    if (u->dtype == uop::Void || target.arithmetic.has(u->dtype) || is_size(u)) continue;
    if (!kSmall.has(u->dtype)) {
      return Error{fmt::format("{} at {}: target {} has no such type and cannot emulate it",
                               to_text(u->op), to_text(u->dtype), target.name),
                   0, 0};
    }
    if (u->op == Op::Variable) {
      return Error{fmt::format("variable \"{}\" of {}: target {} only emulates that type",
                               u->arg.name(), to_text(u->dtype), target.name),
                   0, 0};
    }
    any = true;
  }
  return any;
}

class Emulation {
 public:
  // Sources stand before their users in `kernel`.
  Emulation(Graph& g, const Target& target, std::span<const Ref> kernel)
      : g_(g), target_(target), moved_(g, kernel) {
    for (const Ref u : kernel) done_.set(u, rebuilt(u));
  }

  Ref of(Ref u) const { return done_.at(u); }

 private:
  bool is_emulated(DType t) const { return kSmall.has(t) && !target_.arithmetic.has(t); }
  Term term(Ref u) { return {&g_, u}; }

  // What storage of type t holds.
  DType stored(Ref storage) const {
    const DType t = storage->dtype;
    const uop::AddrSpace space = space_of(storage);
    if (space == uop::AddrSpace::Reg) return F32;
    if (space == uop::AddrSpace::Local) return unsigned_of(t);
    return target_.storage.has(t) && !moved_.has(storage) ? t : unsigned_of(t);
  }

  // The value of u, which is of an emulated type, as f32: on that type's numbers, or yet to be
  // rounded to them.
  Ref exact(Ref u) {
    if (const Ref x = loose(u)) {
      done_.set(u, rounded(term(x), u->dtype).u);
      loose_.set(u, nullptr);
    }
    return done_.at(u);
  }
  Ref unrounded(Ref u) {
    const Ref x = loose(u);
    return x != nullptr ? x : done_.at(u);
  }
  Ref loose(Ref u) const {
    const Ref* x = loose_.find(u);
    return x == nullptr ? nullptr : *x;
  }
  Term value(Ref u) { return term(is_emulated(u->dtype) ? exact(u) : done_.at(u)); }
  // The bits of u at its type: those that were read, where it was.
  Term code(Ref u) {
    if (const Ref* known = codes_.find(u)) return term(*known);
    const DType t = unsigned_of(u->dtype);
    if (uop::is_const(u)) return term(g_.constant({t, u->value().bits}));
    if (u->op != Op::Where || !moved_.is_moved(u)) {
      return cast(encoded(term(unrounded(u)), u->dtype), t);
    }
    const Term a = code(u->src[1]);
    const Term b = code(u->src[2]);
    codes_.set(u, g_.make(Op::Where, t, {done_.at(u->src[0]), a.u, b.u}));
    return term(codes_.at(u));
  }
  Ref read(Ref u, Ref bits) {
    codes_.set(u, bits);
    return decoded(term(bits), u->dtype).u;
  }

  Ref on_done(Ref u, DType t) {
    sources_.clear();
    for (const Ref s : u->src) sources_.push_back(done_.at(s));
    if (t == u->dtype && std::ranges::equal(u->src, sources_)) return u;
    return g_.make(u->op, t, sources_, u->arg);
  }

  Ref rebuilt(Ref u) {
    if (u->op == Op::Store && is_emulated(u->src[0]->dtype)) return store(u);
    if (is_emulated(u->dtype)) return small(u);
    if (u->src.empty() || !is_emulated(judged_type(u))) return on_done(u, u->dtype);
    const Ref x = u->src[0];
    if (u->op == Op::Cast) return cast(value(x), u->dtype).u;
    if (u->op == Op::Bitcast) return bits_as(code(x), u->dtype).u;
    return compared(u);
  }

  static DType judged_type(Ref u) { return u->op == Op::Where ? u->dtype : u->src[0]->dtype; }

  Ref compared(Ref u) {
    if (!uop::is_scalar(u->op)) return on_done(u, u->dtype);
    const Term a = value(u->src[0]);
    return a.make(u->op, {value(u->src[1])}).u;
  }

  // A node of an emulated type.
  Ref small(Ref u) {
    if (uop::is_const(u)) {
      const std::optional<uop::Value> wide = uop::cast(u->value(), F32);
      ASSAY_CHECK(wide, "{} has no f32", to_text(u->value()));
      return g_.constant(*wide);
    }
    if (u->op == Op::Invalid) return g_.make(Op::Invalid, F32, {});
    if (kStates.has(u->op)) return on_done(u, stored(u));
    if (u->op == Op::Load) return load(u);
    if (kViews.has(u->op)) return view(u);
    if (u->op == Op::Stack) return u;  // its STORE looks at the lanes
    if (u->op == Op::Cast) return cast_to(u);
    if (u->op == Op::Bitcast) return bitcast_to(u);
    if (kExact.has(u->op)) return on_values(u);
    if (u->op == Op::Fma) {
      const Term a = value(u->src[0]);
      const Term b = value(u->src[1]);
      const Term c = value(u->src[2]);
      return round_later(u, narrow_fma(a, b, c, u->dtype).u);
    }
    return round_later(u, on_values(u));
  }

  // Lets u be x rounded, which is worked out when it is asked for.
  Ref round_later(Ref u, Ref x) {
    loose_.set(u, x);
    return x;
  }

  Ref on_values(Ref u) {
    std::vector<Ref> sources;
    for (const Ref s : u->src) sources.push_back(value(s).u);
    return g_.make(u->op, F32, sources, u->arg);
  }

  // A vector of bits is read lane by lane.
  Ref load(Ref u) {
    const DType held = done_.at(u->src[0])->dtype;
    const Ref all = on_done(u, held);
    if (held == F32) return all;
    if (held == u->dtype) return g_.make(Op::Cast, F32, {all});
    return u->src[0]->op == Op::Shrink ? all : read(u, all);
  }

  Ref view(Ref u) {
    const DType held = done_.at(u->src[0])->dtype;
    const Ref now = on_done(u, held);
    const bool lane = u->op == Op::Index && u->src[0]->op == Op::Load;
    return lane && held != F32 ? read(u, now) : now;
  }

  Ref cast_to(Ref u) {
    const Ref x = u->src[0];
    if (x->dtype == uop::Bool) return cast(term(done_.at(x)), F32).u;
    if (uop::is_lossless(x->dtype, u->dtype)) return cast(value(x), F32).u;
    return round_later(u, narrowed(value(x), u->dtype).u);
  }

  Ref bitcast_to(Ref u) {
    const Ref x = u->src[0];
    const Term bits = is_emulated(x->dtype) ? code(x) : term(done_.at(x));
    return read(u, bits_as(bits, unsigned_of(u->dtype)).u);
  }

  Ref store(Ref u) {
    const Ref place = done_.at(u->src[0]);
    std::vector<Ref> sources = {place, stored_value(u->src[1], place->dtype)};
    for (size_t i = 2; i < u->src.size(); i++) sources.push_back(done_.at(u->src[i]));
    return g_.make(Op::Store, uop::Void, sources);
  }

  // x as storage of this type holds it.
  Ref stored_value(Ref x, DType held) {
    if (x->op != Op::Stack) return held == F32 ? exact(x) : rounded_by_storage(x, held);
    std::vector<Ref> lanes;
    for (const Ref lane : x->src) {
      if (uop::is_fixed_int(held)) {
        lanes.push_back(code(lane).u);
      } else {
        lanes.push_back(held == F32 ? exact(lane) : unrounded(lane));
      }
    }
    if (held != x->dtype) return g_.make(Op::Stack, held, lanes);
    return g_.make(Op::Cast, held, {g_.make(Op::Stack, F32, lanes)});
  }

  Ref rounded_by_storage(Ref x, DType held) {
    if (uop::is_fixed_int(held)) return code(x).u;
    return g_.make(Op::Cast, held, {unrounded(x)});
  }

  Graph& g_;
  const Target& target_;
  Moved moved_;
  uop::NodeMap<Ref> done_;
  uop::NodeMap<Ref> loose_;  // null once it has been rounded
  uop::NodeMap<Ref> codes_;  // of what was read as bits, and of selects among such
  std::vector<Ref> sources_;
};

Result<Ref> emulate(Run& run, Ref root) {
  const std::vector<Ref> kernel = uop::toposort(run.graph(), root);
  ASSAY_TRY(any, has_emulated(run.target(), kernel));
  return any ? Emulation(run.graph(), run.target(), kernel).of(root) : root;
}

}  // namespace

const uop::Pass& dtype_emulation() {
  static const uop::Pass pass = {.name = "dtype_emulation",
                                 .accepts = narrow_form(),
                                 .yields = narrow_form(),
                                 .rules = {},
                                 .function = emulate};
  return pass;
}

}  // namespace assay::codegen
