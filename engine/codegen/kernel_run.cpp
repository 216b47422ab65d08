#include "engine/codegen/kernel_run.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/uop/scope.h"
#include "engine/uop/shape.h"
#include "engine/uop/walk.h"

namespace assay::codegen {
namespace {

using uop::Cell;
using uop::Op;
using uop::Ref;

template <typename Body>
void each(const std::array<int64_t, 3>& sizes, Body body) {
  for (int64_t i = 0; i < count(sizes); ++i) {
    body(std::array{i % sizes[0], i / sizes[0] % sizes[1], i / sizes[0] / sizes[1]});
  }
}

bool is_of(Ref storage, uop::AddrSpace space) {
  return storage != nullptr && storage->op == Op::Buffer && storage->arg.addr_space() == space;
}
bool is_own(Ref storage) { return is_of(storage, uop::AddrSpace::Reg); }

bool is_storage(Ref u) {
  while (u->op == Op::After) u = u->src[0];
  return u->op == Op::Buffer || u->op == Op::Param;
}

}  // namespace

KernelRun::KernelRun(uop::Graph& g, const std::map<int64_t, std::vector<uop::Value>>& params,
                     Variables variables)
    : g_(g), variables_(std::move(variables)) {
  for (const auto& [slot, values] : params) {
    for (const uop::Value v : values) params_[slot].push_back(Cell::of(v));
  }
}

std::vector<uop::Value> KernelRun::run(Ref sink) {
  const Result<Launch> sizes = launch_sizes(g_, sink, variables_);
  if (!sizes.ok()) {
    ADD_FAILURE() << sizes.error().message;
    return {};
  }
  launch_ = sizes.value();
  each(launch_.groups, [&](const Position& group) {
    group_ = group;
    memory_.clear();
    last_.clear();
    each(launch_.items, [&](const Position& item) {
      set_item(item);
      perform(sink, true);
    });
  });
  std::vector<uop::Value> out;
  for (const Cell& cell : params_[0]) {
    EXPECT_TRUE(cell.defined()) << "PARAM 0 holds what is no value";
    out.push_back(cell.value);
  }
  return out;
}

void KernelRun::set_item(const Position& item) {
  item_ = item;
  item_id_ = (item[2] * launch_.items[1] + item[1]) * launch_.items[0] + item[0];
  ++epoch_;
}

int64_t KernelRun::integer(Ref u) {
  const Tensor t = value(u);
  if (t.cells.size() == 1 && t.cells[0].defined()) {
    return static_cast<int64_t>(as_int(t.cells[0].value));
  }
  ADD_FAILURE() << to_text(u->op) << " is no number";
  return 0;
}

std::vector<int64_t> KernelRun::sizes_of(Ref u) {
  const uop::Shape whole = shape(g_, u);
  std::vector<int64_t> sizes;
  sizes.reserve(whole.size());
  for (const Ref size : whole) sizes.push_back(integer(size));
  return sizes;
}

void KernelRun::loop(std::span<const Ref> ranges, const std::function<void()>& body) {
  if (ranges.empty()) return body();
  const Ref r = ranges[0];
  const bool held = env_.contains(r);
  const int64_t before = held ? env_[r] : 0;
  const int64_t n = integer(r->src[0]);
  for (int64_t i = 0; i < n; ++i) {
    env_[r] = i;
    ++epoch_;
    loop(ranges.subspan(1), body);
  }
  env_.erase(r);
  if (held) env_[r] = before;
  ++epoch_;
}

void KernelRun::perform(Ref effect, bool asked) {
  if (effect->op == Op::Range) return;
  if (!asked && !is_new(effect, item_id_)) return;
  switch (effect->op) {
    case Op::Sink:
    case Op::Group:
      for (const Ref s : effect->src) perform(s, asked);
      return;
    case Op::End:
      start(effect);
      return loop(effect->src.subspan(1), [&] { perform(effect->src[0], true); });
    case Op::Store: return store(effect);
    default: ADD_FAILURE() << to_text(effect->op) << " is no effect";
  }
}

void KernelRun::start(Ref end) {
  for (const Ref u : toposort(g_, end->src[0])) {
    if (u->op != Op::Store || !is_own(uop::buffer(g_, u->src[0]))) continue;
    const std::span<const Ref> in = uop::ranges(g_, u);
    if (std::ranges::all_of(in, [&](Ref r) { return env_.contains(r); })) perform(u, false);
  }
}

bool KernelRun::is_new(Ref effect, int64_t item) {
  const std::span<const Ref> in = uop::ranges(g_, effect);
  std::vector<int64_t> now;
  now.reserve(in.size());
  for (const Ref r : in) now.push_back(env_.contains(r) ? env_[r] : -1);
  const auto [at, is_first] = last_.try_emplace({effect, item}, now);
  if (!is_first && at->second == now) return false;
  at->second = now;
  return true;
}

void KernelRun::wait(Ref after) {
  const Ref storage = uop::buffer(g_, after);
  for (const Ref effect : after->src.subspan(1)) {
    if (!is_of(storage, uop::AddrSpace::Local)) {
      perform(effect, false);
      continue;
    }
    if (effect->op == Op::Range || !is_new(effect, -1)) continue;
    stored_[storage].clear();
    const Position mine = item_;
    each(launch_.items, [&](const Position& item) {
      set_item(item);
      perform(effect, true);
    });
    set_item(mine);
  }
}

void KernelRun::store(Ref u) {
  const Tensor x = value(u->src[1]);
  const Place to = place(u->src[0]);
  const Ref storage = uop::buffer(g_, u->src[0]);
  const Elements& at = to.elements;
  for (int64_t i = 0; i < count(at.sizes); ++i) {
    const int64_t offset = at.offsets[static_cast<size_t>(i)];
    if (offset < 0) continue;
    const Cell& cell = x.cells[broadcast_from(x.sizes, at.sizes, i)];
    EXPECT_NE(cell.state, Cell::State::Invalid) << "INVALID is stored";
    (*to.storage)[static_cast<size_t>(offset)] = cell;
    const int times = is_own(storage) ? 1 : ++stored_[storage][offset];
    EXPECT_EQ(times, 1) << "element " << offset << " is stored again";
  }
  ++epoch_;
}

Cells& KernelRun::storage_of(Ref buffer) {
  if (buffer->op == Op::Param) return params_[buffer->arg.number()];
  Cells& cells = memory_[{buffer, is_own(buffer) ? item_id_ : -1}];
  if (cells.empty()) cells.resize(static_cast<size_t>(count(sizes_of(buffer))));
  return cells;
}

KernelRun::Place KernelRun::place(Ref u) {
  const Ref state = u->op == Op::Index ? u->src[0] : u;
  for (Ref s = state; s->op == Op::After; s = s->src[0]) wait(s);
  const std::span<const Ref> indices =
      u->op == Op::Index ? u->src.subspan(1) : std::span<const Ref>();
  const Elements at = elements(sizes_of(state), values(indices));
  return {&storage_of(uop::buffer(g_, state)), at};
}

Tensor KernelRun::read(Ref u) {
  const Place from = place(u);
  Tensor t = taken(*from.storage, from.elements);
  for (const Cell& cell : t.cells) {
    EXPECT_NE(cell.state, Cell::State::Unspecified) << "read before it is stored";
  }
  return t;
}

Tensor KernelRun::value(Ref u) {
  const auto known = values_.find(u);
  if (known != values_.end() && known->second.first == epoch_) return known->second.second;
  Tensor t = computed(u);
  values_[u] = {epoch_, t};
  return t;
}

Tensor KernelRun::computed(Ref u) {
  if (is_scalar(u->op)) return applied(u, values(u->src));
  switch (u->op) {
    case Op::Const: return {{}, {Cell::of(u->value())}};
    case Op::Invalid: return {{}, {kInvalidCell}};
    case Op::Variable:
    case Op::Range:
    case Op::Special: return {{}, {Cell::of(uop::of_int(u->dtype, leaf(u)))}};
    case Op::Stack: return stack(u);
    case Op::Reshape: return {sizes_of(u), value(u->src[0]).cells};
    case Op::Expand:
    case Op::Permute: return moved(u, value(u->src[0]), sizes_of(u));
    case Op::Reduce: return reduce(u);
    case Op::Stage: return stage(u);
    case Op::Index: return is_storage(u->src[0]) ? read(u) : indexed(u);
    case Op::After:
    case Op::Buffer:
    case Op::Param: return read(u);
    default: ADD_FAILURE() << to_text(u->op) << " is no value"; return {{}, {Cell{}}};
  }
}

std::vector<Tensor> KernelRun::values(std::span<const Ref> all) {
  std::vector<Tensor> tensors;
  tensors.reserve(all.size());
  for (const Ref u : all) tensors.push_back(value(u));
  return tensors;
}

int64_t KernelRun::leaf(Ref u) {
  if (u->op == Op::Range) {
    EXPECT_TRUE(env_.contains(u)) << "range " << u->arg.number() << " outside of its loop";
    return env_[u];
  }
  if (u->op == Op::Special) {
    const LaunchAxis at = launch_axis(u->arg.name()).value();
    return (at.of_groups ? group_ : item_)[at.axis];
  }
  const auto named = [&](const auto& variable) { return variable.first == u->arg.name(); };
  const auto found = std::ranges::find_if(variables_, named);
  if (found != variables_.end()) return found->second;
  ADD_FAILURE() << u->arg.name() << " has no value";
  return 0;
}

Tensor KernelRun::stack(Ref u) {
  Tensor t = {sizes_of(u), {}};
  const Extents inner = Extents(t.sizes).subspan(1);
  for (const Tensor& part : values(u->src)) {
    for (int64_t i = 0; i < count(inner); ++i) {
      t.cells.push_back(part.cells[broadcast_from(part.sizes, inner, i)]);
    }
  }
  return t;
}

Tensor KernelRun::reduce(Ref u) {
  Tensor t = {sizes_of(u), {}};
  const Cell unit = Cell::of(uop::unit_of(u->arg.fold_op(), u->dtype));
  t.cells.assign(static_cast<size_t>(count(t.sizes)), unit);
  loop(u->src.subspan(1), [&] { fold(u, value(u->src[0]), t.cells); });
  return t;
}

Tensor KernelRun::stage(Ref u) {
  Tensor t = {sizes_of(u), {}};
  loop(u->src.subspan(1), [&] {
    const Tensor part = value(u->src[0]);
    t.cells.insert(t.cells.end(), part.cells.begin(), part.cells.end());
  });
  return t;
}

Tensor KernelRun::indexed(Ref u) {
  const Tensor x = value(u->src[0]);
  return taken(x.cells, elements(x.sizes, values(u->src.subspan(1))));
}

}  // namespace assay::codegen
