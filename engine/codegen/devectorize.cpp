#include "engine/codegen/devectorize.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/codegen/forms.h"
#include "engine/codegen/lane_bits.h"
#include "engine/codegen/lane_order.h"
#include "engine/codegen/lane_terms.h"
#include "engine/codegen/place.h"
#include "engine/codegen/rebuild.h"
#include "engine/uop/dim.h"
#include "engine/uop/shape.h"
#include "engine/uop/walk.h"

namespace assay::codegen {
namespace {

using uop::DType;
using uop::Graph;
using uop::is_const;
using uop::Op;
using uop::Ref;
using uop::Run;
using uop::Shape;

// The lanes of a node: so many, from this place of one list.
struct Lanes {
  uint32_t first = 0;
  uint32_t count = 0;
};

bool is_same(Shape a, Shape b) { return a.data() == b.data() && a.size() == b.size(); }

class Devectorizer {
 public:
  explicit Devectorizer(Run& run)
      : run_(run), g_(run.graph()), terms_(run), positions_(g_.facts().positions), operands_(3) {}

  Result<Ref> devectorized(Ref root) {
    const std::vector<Ref> order = toposort(g_, root);
    table_.resize(order.size());
    positions_.clear();
    for (size_t i = 0; i < order.size() && !trouble_; ++i) {
      positions_.set(order[i], static_cast<uint32_t>(i));
      visit(order[i]);
    }
    if (trouble_) return *trouble_;
    if (const std::optional<Error>& trouble = terms_.trouble()) return *trouble;
    return lane(root);
  }

 private:
  Lanes& lanes(Ref u) { return table_[positions_.at(u)]; }
  uint32_t count(Ref u) { return lanes(u).count; }
  Ref lane(Ref u, size_t i = 0) { return all_[lanes(u).first + i]; }
  void set(Ref u, Ref scalar) { set_all(u, {&scalar, 1}); }
  void set_all(Ref u, std::span<const Ref> made) {
    lanes(u) = {static_cast<uint32_t>(all_.size()), static_cast<uint32_t>(made.size())};
    all_.insert(all_.end(), made.begin(), made.end());
  }
  void fail(Ref u, std::string_view what) {
    if (!trouble_) trouble_ = Error{fmt::format("devectorize: {} {}", to_text(u->op), what)};
  }

  void visit(Ref u);
  void storage(Ref u);
  void each(Ref u);
  void bitcast(Ref u);
  void group(Ref u);
  void load(Ref u);
  void store(Ref u);
  void index(Ref u);
  void pick(Ref u);
  void stack(Ref u);
  void permute(Ref u);
  void reshape(Ref u);

  Ref on_lanes(Ref u, std::span<const Ref> sources);
  bool spread_place(Ref place, std::vector<Ref>& out);
  bool spread(Ref u, Shape whole, std::vector<Ref>& out);
  bool spread_sources(Ref u, size_t first, Shape whole);
  std::optional<Sizes> sizes(Ref u, Shape shape);
  std::vector<Ref> strides(Shape shape);
  uop::Gated flat(std::span<const Ref> strides, size_t lane);
  Ref stored(Ref store, std::span<const Ref> sources);

  Run& run_;
  Graph& g_;
  LaneTerms terms_;
  uop::NodeMap<uint32_t>& positions_;
  std::vector<Lanes> table_;  // by position
  std::vector<Ref> all_;
  std::vector<std::vector<Ref>> operands_;  // of the node at hand, each lane by lane
  std::vector<Ref> sources_;
  std::vector<Ref> made_;
  std::vector<uint32_t> order_;
  bool has_invalid_values_ = false;  // as well as places
  std::optional<Error> trouble_;
};

void Devectorizer::visit(Ref u) {
  switch (u->op) {
    case Op::Buffer:
    case Op::Param: return storage(u);
    case Op::Group: return group(u);
    case Op::Load: return load(u);
    case Op::Store: return store(u);
    case Op::Index: return is_state(u->src[0]) ? index(u) : pick(u);
    case Op::Stack: return stack(u);
    case Op::Permute: return permute(u);
    case Op::Reshape: return reshape(u);
    case Op::Expand:
      if (spread(u->src[0], shape(g_, u), made_)) set_all(u, made_);
      return;
    case Op::Bitcast:
      return uop::bits_of(u->dtype) == uop::bits_of(u->src[0]->dtype) ? each(u) : bitcast(u);
    case Op::Invalid:
      has_invalid_values_ = has_invalid_values_ || u->dtype != DType::Index;
      return set(u, u);
    default: return each(u);
  }
}

std::optional<Sizes> Devectorizer::sizes(Ref u, Shape shape) {
  std::optional<Sizes> known = sizes_of(shape);
  if (!known) fail(u, fmt::format("has lanes of shape {}", shape_text(shape)));
  return known;
}

// Each buffer has one axis.
void Devectorizer::storage(Ref u) {
  const Shape sizes = shape(g_, u);
  if (sizes.size() == 1) return set(u, u);
  sources_ = {size_of(g_, sizes)};
  for (const Ref s : u->src) {
    if (s->dtype != DType::Index) sources_.push_back(s);
  }
  set(u, g_.with_sources(u, sources_));
}

// The lanes of u that each lane of a shape finds, to which u broadcasts.
bool Devectorizer::spread(Ref u, Shape whole, std::vector<Ref>& out) {
  const std::optional<Sizes> to = sizes(u, whole);
  if (!to) return false;
  out.resize(static_cast<size_t>(codegen::count_of(*to)));
  if (count(u) == 1) {
    std::ranges::fill(out, lane(u));
    return true;
  }
  const Shape own = shape(g_, u);
  const Ref* const from = all_.data() + lanes(u).first;
  if (is_same(own, whole)) {
    std::copy_n(from, out.size(), out.begin());
    return true;
  }
  const std::optional<Sizes> part = sizes(u, own);
  const std::optional<Sizes> steps = part ? broadcast_strides(*part, *to) : std::nullopt;
  if (!steps) {
    fail(u,
         fmt::format("of shape {} stands where {} is needed", shape_text(own), shape_text(whole)));
    return false;
  }
  order_by(*to, *steps, order_);
  std::ranges::transform(order_, out.begin(), [&](uint32_t i) { return from[i]; });
  return true;
}

// The sources of u from `first` on, spread over a shape, in operands_.
bool Devectorizer::spread_sources(Ref u, size_t first, Shape whole) {
  if (operands_.size() < u->src.size()) operands_.resize(u->src.size());
  for (size_t i = first; i < u->src.size(); ++i) {
    if (!spread(u->src[i], whole, operands_[i])) return false;
  }
  return true;
}

// u on other sources; itself where they are its own.
Ref Devectorizer::on_lanes(Ref u, std::span<const Ref> sources) {
  const bool is_term = uop::is_scalar(u->op) && !std::ranges::equal(u->src, sources);
  return is_term ? terms_.make(u->op, u->dtype, sources) : on_sources(g_, u, sources);
}

// Lane by lane; where no source has more than one, u has one as well.
void Devectorizer::each(Ref u) {
  sources_.clear();
  bool is_single = true;
  for (const Ref s : u->src) {
    is_single = is_single && count(s) == 1;
    sources_.push_back(count(s) == 0 ? nullptr : lane(s));
  }
  if (is_single) return set(u, on_lanes(u, sources_));
  if (!spread_sources(u, 0, shape(g_, u))) return;
  made_.resize(operands_[0].size());
  for (size_t i = 0; i < made_.size(); ++i) {
    for (size_t k = 0; k < sources_.size(); ++k) sources_[k] = operands_[k][i];
    made_[i] = on_lanes(u, sources_);
  }
  set_all(u, made_);
}

void Devectorizer::bitcast(Ref u) {
  const Ref x = u->src[0];
  const std::span<const Ref> from(all_.data() + lanes(x).first, count(x));
  if (!rebits(terms_, from, x->dtype, u->dtype, made_)) return fail(u, "cuts an element");
  set_all(u, made_);
}

// Order is said of one list of effects, however it was nested.
void Devectorizer::group(Ref u) {
  sources_.clear();
  for (const Ref s : u->src) {
    const Ref effect = lane(s);
    if (effect->op != Op::Group) {
      sources_.push_back(effect);
      continue;
    }
    sources_.insert(sources_.end(), effect->src.begin(), effect->src.end());
  }
  set(u, sources_.size() == 1 ? sources_[0] : on_lanes(u, sources_));
}

// All the places of a state or an INDEX, lane by lane.
bool Devectorizer::spread_place(Ref place, std::vector<Ref>& out) {
  const Shape whole = shape(g_, place);
  if (!is_state(place)) return spread(place, whole, out);
  const std::optional<Sizes> known = sizes(place, whole);
  if (!known) return false;
  const Ref state = lane(place);
  out.clear();
  for (int64_t i = 0; i < codegen::count_of(*known); ++i) {
    const Ref at = g_.constant(DType::Index, i);
    out.push_back(g_.make(Op::Index, state->dtype, {state, at}));
  }
  return true;
}

// What is never read is no value; zero is one that every type has.
void Devectorizer::load(Ref u) {
  const Ref place = u->src[0];
  if (!spread_place(place, operands_[0]) || !spread_sources(u, 1, shape(g_, place))) return;
  made_.clear();
  for (size_t i = 0; i < operands_[0].size(); ++i) {
    if (operands_[0][i]->op == Op::Invalid) {
      made_.push_back(g_.constant(uop::zero_of(u->dtype)));
      continue;
    }
    sources_.clear();
    for (size_t k = 0; k < u->src.size(); ++k) sources_.push_back(operands_[k][i]);
    made_.push_back(on_lanes(u, sources_));
  }
  set_all(u, made_);
}

// One lane's store; null where it has no place or no value. What has a value only under a condition
// is stored only under it.
Ref Devectorizer::stored(Ref store, std::span<const Ref> sources) {
  const Ref place = sources[0];
  if (place->op == Op::Invalid) return nullptr;
  if (!has_invalid_values_) return on_lanes(store, sources);
  const uop::Gated value = split_gates(run_, sources[1]);
  if (value.index->op == Op::Invalid) return nullptr;
  if (value.index == sources[1]) return on_lanes(store, sources);
  uop::Gated at = split_gates(run_, place->src[1]);
  at.gate = uop::both(g_, at.gate, value.gate);
  const Ref index = uop::gated(g_, at.index, at.gate);
  std::vector<Ref> all(sources.begin(), sources.end());
  all[0] = g_.make(Op::Index, place->dtype, {place->src[0], index});
  all[1] = value.index;
  return on_lanes(store, all);
}

void Devectorizer::store(Ref u) {
  const Ref place = u->src[0];
  if (!spread_place(place, operands_[0]) || !spread_sources(u, 1, shape(g_, place))) return;
  made_.clear();
  for (size_t i = 0; i < operands_[0].size(); ++i) {
    sources_.clear();
    for (size_t k = 0; k < u->src.size(); ++k) sources_.push_back(operands_[k][i]);
    if (const Ref one = stored(u, sources_)) made_.push_back(one);
  }
  set(u, made_.size() == 1 ? made_[0] : g_.make(Op::Group, DType::Void, made_));
}

std::vector<Ref> Devectorizer::strides(Shape shape) {
  std::vector<Ref> all(shape.size());
  Ref stride = uop::dim(g_, 1);
  for (size_t i = shape.size(); i-- > 0;) {
    all[i] = stride;
    stride = uop::dim_mul(g_, stride, shape[i]);
  }
  return all;
}

// The place in row-major order that the indices in operands_ name.
uop::Gated Devectorizer::flat(std::span<const Ref> strides, size_t lane) {
  uop::Gated all = {uop::dim(g_, 0)};
  for (size_t k = 0; k < strides.size(); ++k) {
    const uop::Gated at = split_gates(run_, operands_[k + 1][lane]);
    if (at.index->op == Op::Invalid) return at;
    const Ref part = terms_.times(at.index, strides[k]);
    all.index = terms_.plus(all.index, part);
    all.gate = uop::both(g_, all.gate, at.gate);
  }
  all.index = terms_.canonical(all.index);
  return all;
}

// Places of storage: the lanes of the indices, and in each all that the indices leave over.
void Devectorizer::index(Ref u) {
  const size_t given = u->src.size() - 1;
  const Shape axes = shape(g_, u->src[0]);
  const Shape whole = shape(g_, u);
  const std::optional<Sizes> left = sizes(u, axes.subspan(given));
  if (!left || !spread_sources(u, 1, whole.first(whole.size() - left->size()))) return;
  const std::vector<Ref> steps = strides(axes);
  const Ref state = lane(u->src[0]);
  const size_t outer = given == 0 ? 1 : operands_[1].size();
  made_.clear();
  for (size_t i = 0; i < outer; ++i) {
    const uop::Gated first = flat(std::span(steps).first(given), i);
    for (int64_t inner = 0; inner < codegen::count_of(*left); ++inner) {
      if (first.index->op == Op::Invalid) {
        made_.push_back(g_.make(Op::Invalid, u->dtype, {}));
        continue;
      }
      const Ref offset = uop::dim(g_, inner);
      const Ref at = uop::gated(g_, terms_.plus(first.index, offset), first.gate);
      made_.push_back(g_.make(Op::Index, u->dtype, {state, at}));
    }
  }
  set_all(u, made_);
}

// Lanes of a value, by constants.
void Devectorizer::pick(Ref u) {
  const size_t given = u->src.size() - 1;
  const std::optional<Sizes> from = sizes(u, shape(g_, u->src[0]));
  const Shape whole = shape(g_, u);
  if (!from || !spread_sources(u, 1, whole.first(whole.size() + given - from->size()))) return;
  const Sizes steps = strides_of(*from);
  const int64_t inner = codegen::count_of(std::span(*from).subspan(given));
  const size_t outer = given == 0 ? 1 : operands_[1].size();
  made_.clear();
  for (size_t i = 0; i < outer; ++i) {
    int64_t first = 0;
    for (size_t k = 0; k < given; ++k) {
      const Ref at = operands_[k + 1][i];
      const auto number = is_const(at) ? static_cast<int64_t>(at->arg.bits) : -1;
      if (number < 0 || number >= (*from)[k]) return fail(u, "picks no lane of a value");
      first += number * steps[k];
    }
    for (int64_t j = 0; j < inner; ++j) made_.push_back(lane(u->src[0], first + j));
  }
  set_all(u, made_);
}

void Devectorizer::stack(Ref u) {
  if (!spread_sources(u, 0, shape(g_, u).subspan(1))) return;
  made_.clear();
  for (size_t k = 0; k < u->src.size(); ++k) {
    made_.insert(made_.end(), operands_[k].begin(), operands_[k].end());
  }
  set_all(u, made_);
}

void Devectorizer::permute(Ref u) {
  const std::optional<Sizes> from = sizes(u, shape(g_, u->src[0]));
  const std::optional<Sizes> to = sizes(u, shape(g_, u));
  if (!from || !to) return;
  const Sizes steps = strides_of(*from);
  Sizes moved;
  moved.reserve(steps.size());
  for (const int64_t axis : u->arg.numbers()) moved.push_back(steps[static_cast<size_t>(axis)]);
  order_by(*to, moved, order_);
  made_.clear();
  for (const uint32_t i : order_) made_.push_back(lane(u->src[0], i));
  set_all(u, made_);
}

void Devectorizer::reshape(Ref u) {
  const std::optional<Sizes> to = sizes(u, shape(g_, u));
  if (!to) return;
  if (codegen::count_of(*to) != count(u->src[0])) return fail(u, "changes the number of lanes");
  lanes(u) = lanes(u->src[0]);
}

Result<Ref> scalars(Run& run, Ref root) { return Devectorizer(run).devectorized(root); }

}  // namespace

const uop::Pass& devectorize() {
  static const uop::Pass pass = {"devectorize", loads_form(), scalar_form(), {}, {}, scalars};
  return pass;
}

}  // namespace assay::codegen
