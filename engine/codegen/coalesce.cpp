#include "engine/codegen/coalesce.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <tuple>
#include <vector>

#include "engine/codegen/forms.h"
#include "engine/codegen/place.h"
#include "engine/codegen/rebuild.h"
#include "engine/uop/dim.h"
#include "engine/uop/sum.h"

namespace assay::codegen {
namespace {

using uop::AddrSpace;
using uop::DType;
using uop::Graph;
using uop::Op;
using uop::Ref;
using uop::Run;

// Where one LOAD or STORE of the old graph is: base + offset. A base of null is 0.
struct LaneAccess {
  Ref node = nullptr;
  Ref state = nullptr;
  Ref gate = nullptr;
  Ref base = nullptr;
  int64_t offset = 0;
  std::tuple<uint32_t, uint32_t, uint32_t> group;  // equal for equal state, gate and base
};

// Accesses that become one: so many, from the first on, at offsets that follow one another.
struct Vector {
  const LaneAccess* first;
  size_t lanes;
  Ref made = nullptr;  // the new LOAD or STORE
};

class Coalescer {
 public:
  Coalescer(Run& run, Ref root)
      : run_(run),
        g_(run.graph()),
        positions_(g_.facts().positions),
        order_(toposort(g_, root)),
        users_(order_.size()),
        vector_of_(order_.size()) {}

  Ref coalesced();

 private:
  void look();
  std::optional<LaneAccess> access(Ref node);
  uint32_t position(Ref u) const { return u == nullptr ? 0 : positions_.at(u) + 1; }
  void plan(std::vector<LaneAccess>& accesses);
  void add(const Vector& v);
  size_t width_at(const LaneAccess& first, size_t run) const;
  bool is_multiple(Ref u, int64_t n) const;
  Ref now(Ref u) const { return g_.facts().rebuilt.at(u); }
  Ref place(const Vector& v);
  Vector* vector_of(Ref access) {
    const uint32_t v = vector_of_[positions_.at(access)];
    return v == 0 ? nullptr : &vectors_[v - 1];
  }
  Ref loaded(Ref load, Vector& v);
  Ref stored(const Vector& v);
  Ref grouped(Ref group, std::span<const Ref> sources);

  Run& run_;
  Graph& g_;
  uop::NodeMap<uint32_t>& positions_;
  std::vector<Ref> order_;
  std::vector<uint32_t> users_;      // by position: of how many nodes it is a source
  std::vector<uint32_t> vector_of_;  // by position: which vector an access is part of, from 1
  std::vector<Vector> vectors_;
  std::vector<LaneAccess> loads_;
};

bool is_access(Ref u, size_t sources) {
  return u->src.size() == sources && u->src[0]->op == Op::Index && u->src[0]->src.size() == 2 &&
         is_state(u->src[0]->src[0]);
}

std::optional<LaneAccess> Coalescer::access(Ref node) {
  const Ref place = node->src[0];
  const DType t = place->dtype;
  LaneAccess a;
  a.node = node;
  a.state = place->src[0];
  if (space_of(a.state) == AddrSpace::Reg || widths_of(run_.target(), t).empty()) return {};
  const uop::Gated at = uop::split_gate(place->src[1]);
  a.gate = at.gate;
  const Shifted parts = shifted(at.index);
  a.base = parts.base;
  a.offset = parts.constant;
  a.group = {position(a.state), position(a.gate), position(a.base)};
  return a;
}

void Coalescer::look() {
  positions_.clear();
  for (size_t i = 0; i < order_.size(); ++i) {
    const Ref u = order_[i];
    positions_.set(u, static_cast<uint32_t>(i));
    for (const Ref s : u->src) users_[positions_.at(s)]++;
    if (u->op != Op::Load || !is_access(u, 1)) continue;
    if (const std::optional<LaneAccess> a = access(u)) loads_.push_back(*a);
  }
  plan(loads_);
}

bool Coalescer::is_multiple(Ref u, int64_t n) const {
  if (u == nullptr) return true;
  const std::optional<uop::Sum> sum = sum_of(g_, u);
  return sum && sum->constant % n == 0 &&
         std::ranges::all_of(sum->terms(), [&](const auto& t) { return t.factor % n == 0; });
}

// The widest vector that may start at an access which so many follow, itself among them.
size_t Coalescer::width_at(const LaneAccess& first, size_t run) const {
  const uop::Target& target = run_.target();
  const bool is_aligned = target.aligned_vectors || space_of(first.state) == AddrSpace::Local;
  const std::span<const int> widths = widths_of(target, first.node->src[0]->dtype);
  for (size_t i = widths.size(); i-- > 0;) {
    const int n = widths[i];
    if (static_cast<size_t>(n) > run) continue;
    if (!is_aligned) return static_cast<size_t>(n);
    const bool is_power = std::has_single_bit(static_cast<unsigned>(n));
    if (is_power && first.offset % n == 0 && is_multiple(first.base, n)) {
      return static_cast<size_t>(n);
    }
  }
  return 1;
}

// Sorts the accesses and finds those that become vectors. Of several at one address none does: one
// vector has each address once.
void Coalescer::plan(std::vector<LaneAccess>& accesses) {
  std::ranges::sort(accesses, {}, [&](const LaneAccess& a) {
    return std::tuple(a.group, a.offset, position(a.node));
  });
  const auto is_step = [&](size_t i, uint64_t distance) {
    if (i == 0 || i >= accesses.size()) return false;
    const LaneAccess& a = accesses[i - 1];
    const LaneAccess& b = accesses[i];
    return a.group == b.group && uint64_t(b.offset) - uint64_t(a.offset) == distance;
  };
  const auto is_single = [&](size_t i) { return !is_step(i, 0) && !is_step(i + 1, 0); };
  const auto follows = [&](size_t i) { return is_step(i, 1) && is_single(i - 1) && is_single(i); };
  for (size_t i = 0; i < accesses.size();) {
    size_t run = 1;
    while (follows(i + run)) ++run;
    while (run > 0) {
      const size_t n = width_at(accesses[i], run);
      if (n > 1) add({&accesses[i], n, nullptr});
      i += n;
      run -= n;
    }
  }
}

void Coalescer::add(const Vector& v) {
  vectors_.push_back(v);
  for (size_t i = 0; i < v.lanes; ++i) {
    vector_of_[positions_.at(v.first[i].node)] = static_cast<uint32_t>(vectors_.size());
  }
}

// What the vector touches, in the new graph.
Ref Coalescer::place(const Vector& v) {
  const LaneAccess& first = *v.first;
  const Ref state = now(first.state);
  const Ref offset = uop::dim(g_, first.offset);
  uop::Gated at = {first.base == nullptr ? offset : now(first.base)};
  if (first.gate != nullptr) at.gate = now(first.gate);
  if (first.base != nullptr && first.offset != 0) {
    at.index = g_.make(Op::Add, DType::Index, {at.index, offset});
  }
  const Ref begin = uop::gated(g_, at.index, at.gate);
  const Ref size = uop::dim(g_, static_cast<int64_t>(v.lanes));
  return g_.make(Op::Shrink, state->dtype, {state, begin, size});
}

// The lane of the vector that a LOAD is part of.
Ref Coalescer::loaded(Ref load, Vector& v) {
  if (v.made == nullptr) {
    const Ref whole = place(v);
    v.made = g_.make(Op::Load, load->dtype, {whole});
  }
  const auto lane =
      std::find_if(v.first, v.first + v.lanes, [&](const LaneAccess& a) { return a.node == load; });
  const Ref at = uop::dim(g_, lane - v.first);
  return g_.make(Op::Index, load->dtype, {v.made, at});
}

Ref Coalescer::stored(const Vector& v) {
  std::vector<Ref> values;
  values.reserve(v.lanes);
  for (size_t i = 0; i < v.lanes; ++i) values.push_back(now(v.first[i].node->src[1]));
  const Ref whole = place(v);
  const Ref value = g_.make(Op::Stack, whole->dtype, values);
  return g_.make(Op::Store, DType::Void, {whole, value});
}

// A store that others wait for by its name stays what it is.
Ref Coalescer::grouped(Ref group, std::span<const Ref> sources) {
  std::vector<LaneAccess> stores;
  for (const Ref s : group->src) {
    if (s->op != Op::Store || users_[positions_.at(s)] != 1 || !is_access(s, 2)) continue;
    if (const std::optional<LaneAccess> a = access(s)) stores.push_back(*a);
  }
  plan(stores);
  std::vector<Ref> effects;
  for (size_t i = 0; i < sources.size(); ++i) {
    Vector* v = vector_of(group->src[i]);
    if (v != nullptr && v->made != nullptr) continue;
    if (v != nullptr) v->made = stored(*v);
    effects.push_back(v == nullptr ? sources[i] : v->made);
  }
  return effects.size() == 1 ? effects[0] : on_sources(g_, group, effects);
}

Ref Coalescer::coalesced() {
  look();
  return rebuild(g_, order_, [&](Ref u, std::span<const Ref> sources) {
    if (u->op == Op::Group) return grouped(u, sources);
    Vector* v = u->op == Op::Load ? vector_of(u) : nullptr;
    return v != nullptr ? loaded(u, *v) : on_sources(g_, u, sources);
  });
}

Result<Ref> vectors(Run& run, Ref root) { return Coalescer(run, root).coalesced(); }

}  // namespace

const uop::Pass& coalesce() {
  static const uop::Pass pass = {"coalesce", scalar_form(), vectors_form(), {}, {}, vectors};
  return pass;
}

}  // namespace assay::codegen
