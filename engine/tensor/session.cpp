#include "engine/tensor/session.h"

#include <utility>

#include "engine/check.h"
#include "engine/tensor/reads.h"
#include "engine/uop/scope.h"

namespace assay::tensor {

using uop::Arg;
namespace {

// A place in `all` that is free, or a new one.
template <typename T>
uint32_t place(std::vector<T>& all, std::vector<uint32_t>& free) {
  if (free.empty()) {
    all.push_back({});
    return static_cast<uint32_t>(all.size() - 1);
  }
  const uint32_t found = free.back();
  free.pop_back();
  return found;
}

}  // namespace

Tensor::Tensor(Tensor&& other) noexcept
    : session_(std::exchange(other.session_, nullptr)), view_(other.view_) {}

Tensor& Tensor::operator=(Tensor&& other) noexcept {
  std::swap(session_, other.session_);
  std::swap(view_, other.view_);
  return *this;
}

Tensor::~Tensor() {
  if (session_ != nullptr) session_->release(view_);
}

uint32_t Tensor::cell() const { return session_->views_[view_].cell; }
Ref Tensor::term() const { return session_->views_[view_].term; }

Ref Tensor::read() const {
  const Cell& cell = session_->cells_[this->cell()];
  if (term() == cell.hole) return cell.state;
  return uop::substitute(session_->graph(), term(), {{cell.hole, cell.state}});
}

Tensor Tensor::view(Ref term) const { return session_->handle(cell(), term); }

Session::Session(std::string_view default_device)
    : graph_(std::make_unique<Graph>()), default_device_(nullptr) {
  default_device_ = graph_->make(uop::Op::Device, DType::Void, {}, graph_->name(default_device));
}

Ref Session::device(std::string_view name) {
  if (name.empty() || name == kDefaultDevice) return default_device_;
  return graph().make(uop::Op::Device, DType::Void, {}, graph().name(name));
}

Ref Session::new_buffer(DType t, Shape shape, Ref device) {
  std::vector<Ref> src(shape.begin(), shape.end());
  src.push_back(device);
  return graph().make(uop::Op::Buffer, t, src, Arg::place(next_buffer_++, uop::AddrSpace::Global));
}

Tensor Session::handle(uint32_t cell, Ref term) {
  const uint32_t view = place(views_, free_views_);
  views_[view] = {cell, term};
  ++cells_[cell].handles;
  return {this, view};
}

Tensor Session::tensor(Ref value, Ref device) {
  const Shape shape = uop::shape(graph(), value);
  const Ref hole = graph().make(uop::Op::Param, value->dtype, shape, Arg::number(-1));
  const uint32_t cell = place(cells_, free_cells_);
  cells_[cell] = {value, hole, nullptr, device, 0};
  return handle(cell, hole);
}

Tensor Session::storage(Ref buffer) {
  Tensor made = tensor(buffer, uop::device(graph(), buffer));
  cells_[made.cell()].owned = buffer;
  return made;
}

void Session::release(uint32_t view) {
  const uint32_t cell = views_[view].cell;
  views_[view] = {};
  free_views_.push_back(view);
  Cell& c = cells_[cell];
  ASSAY_CHECK(c.handles > 0);
  if (--c.handles != 0) return;
  c = {};
  free_cells_.push_back(cell);
}

// Gives the cell a BUFFER of its own that holds what it now denotes.
void Session::ensure_storage(Cell& cell) {
  if (cell.owned != nullptr && storage_of(cell.state) == cell.owned) return;
  Ref device = uop::device(graph(), cell.state);
  if (device == nullptr) device = cell.device;
  const Ref buffer = new_buffer(cell.state->dtype, uop::shape(graph(), cell.state), device);
  const Ref store = graph().make(uop::Op::Store, DType::Void, {buffer, cell.state});
  cell.state = graph().make(uop::Op::After, buffer->dtype, {buffer, store});
  cell.owned = buffer;
}

void Session::write(const Tensor& target, Ref value) {
  Cell& cell = cells_[target.cell()];
  ensure_storage(cell);
  const Ref view = target.read();
  const Shape shape = uop::shape(graph(), view);
  const Shape given = uop::shape(graph(), value);
  if (given.data() != shape.data() || given.size() != shape.size()) {
    value = uop::expand(graph(), value, shape);
  }
  const Ref store = graph().make(uop::Op::Store, DType::Void, {view, value});
  cell.state = graph().make(uop::Op::After, cell.state->dtype, {cell.state, store});
}

void Session::apply_map_to_tensors(const uop::Substitution& map, std::span<const Owner> owners) {
  std::vector<Ref> states;
  for (const Cell& cell : cells_) {
    if (cell.state != nullptr) states.push_back(cell.state);
  }
  const Ref all = graph().make(uop::Op::Sink, DType::Void, states, graph().info("", {}));
  const Ref moved = rebuild_reads(graph(), all, [&](Ref u, Ref) -> Ref {
    const auto found = map.find(u);
    return found == map.end() ? nullptr : found->second;
  });
  size_t next = 0;
  for (Cell& cell : cells_) {
    if (cell.state != nullptr) cell.state = moved->src[next++];
  }
  for (const Owner& owner : owners) {
    cells_[owner.cell].owned = owner.buffer;
    cells_[owner.cell].state = owner.buffer;
  }
}

void Session::compact(size_t enough) {
  if (graph().size() < enough) return;
  std::vector<Ref*> live = {&default_device_};
  for (Cell& c : cells_) {
    for (Ref* r : {&c.state, &c.hole, &c.owned, &c.device}) live.push_back(r);
  }
  for (View& v : views_) live.push_back(&v.term);
  std::erase_if(live, [](Ref* r) { return *r == nullptr; });
  std::vector<Ref> src;
  src.reserve(live.size());
  for (Ref* r : live) src.push_back(*r);
  const Ref all = graph().make(uop::Op::Group, DType::Void, src);
  if (uop::toposort(graph(), all).size() * 2 > graph().size()) return;
  auto fresh = std::make_unique<Graph>();
  const Ref copied = uop::copy_to(*fresh, graph(), all);
  for (size_t i = 0; i < live.size(); ++i) *live[i] = copied->src[i];
  graph_ = std::move(fresh);
  ++generation_;
}

Ref storage_of(Ref state) {
  while (state->op == uop::Op::After) state = state->src[0];
  return state->op == uop::Op::Buffer || state->op == uop::Op::Param ? state : nullptr;
}

}  // namespace assay::tensor
