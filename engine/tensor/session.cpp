#include "engine/tensor/session.h"

#include <utility>

#include "engine/check.h"
#include "engine/uop/scope.h"

namespace assay::tensor {

using uop::Arg;
using uop::Op;

Tensor::Tensor(Session* session, uint32_t cell, Ref term)
    : session_(session), cell_(cell), term_(term) {
  ++session_->cells_[cell_].handles;
}

Tensor::Tensor(Tensor&& other) noexcept
    : session_(std::exchange(other.session_, nullptr)), cell_(other.cell_), term_(other.term_) {}

Tensor& Tensor::operator=(Tensor&& other) noexcept {
  std::swap(session_, other.session_);
  std::swap(cell_, other.cell_);
  std::swap(term_, other.term_);
  return *this;
}

Tensor::~Tensor() {
  if (session_ != nullptr) session_->release(cell_);
}

Ref Tensor::read() const {
  const Cell& cell = session_->cells_[cell_];
  if (term_ == cell.hole) return cell.state;
  return uop::substitute(session_->graph_, term_, {{cell.hole, cell.state}});
}

Tensor Tensor::view(Ref term) const { return {session_, cell_, term}; }

Session::Session(std::string_view default_device) : default_device_(nullptr) {
  default_device_ = graph_.make(Op::Device, DType::Void, {}, graph_.name(default_device));
}

Ref Session::device(std::string_view name) {
  if (name.empty()) return default_device_;
  return graph_.make(Op::Device, DType::Void, {}, graph_.name(name));
}

Ref Session::new_buffer(DType t, Shape shape, Ref device) {
  std::vector<Ref> src(shape.begin(), shape.end());
  src.push_back(device);
  return graph_.make(Op::Buffer, t, src, Arg::place(next_buffer_++, uop::AddrSpace::Global));
}

Tensor Session::tensor(Ref value, Ref device) {
  const Shape shape = uop::shape(graph_, value);
  const Ref hole = graph_.make(Op::Param, value->dtype, shape, Arg::number(-1));
  cells_.push_back({value, hole, nullptr, device, 0});
  return {this, static_cast<uint32_t>(cells_.size() - 1), hole};
}

Tensor Session::storage(Ref buffer) {
  Tensor made = tensor(buffer, uop::device(graph_, buffer));
  cells_[made.cell_].owned = buffer;
  return made;
}

void Session::release(uint32_t cell) {
  Cell& c = cells_[cell];
  ASSAY_CHECK(c.handles > 0);
  if (--c.handles == 0) c = {};
}

// Gives the cell a BUFFER of its own that holds what it now denotes.
void Session::ensure_storage(Cell& cell) {
  if (cell.owned != nullptr && storage_of(cell.state) == cell.owned) return;
  Ref device = uop::device(graph_, cell.state);
  if (device == nullptr) device = cell.device;
  const Ref buffer = new_buffer(cell.state->dtype, uop::shape(graph_, cell.state), device);
  const Ref store = graph_.make(Op::Store, DType::Void, {buffer, cell.state});
  cell.state = graph_.make(Op::After, buffer->dtype, {buffer, store});
  cell.owned = buffer;
}

void Session::write(const Tensor& target, Ref value) {
  Cell& cell = cells_[target.cell_];
  ensure_storage(cell);
  const Ref view = target.read();
  const Shape shape = uop::shape(graph_, view);
  const Shape given = uop::shape(graph_, value);
  if (given.data() != shape.data() || given.size() != shape.size()) {
    value = uop::expand(graph_, value, shape);
  }
  const Ref store = graph_.make(Op::Store, DType::Void, {view, value});
  cell.state = graph_.make(Op::After, cell.state->dtype, {cell.state, store});
}

void Session::realized(const uop::Substitution& map, std::span<const Owner> owners) {
  for (Cell& cell : cells_) {
    if (cell.state != nullptr) cell.state = uop::substitute(graph_, cell.state, map);
  }
  for (const Owner& owner : owners) {
    cells_[owner.cell].owned = owner.buffer;
    cells_[owner.cell].state = owner.buffer;
  }
}

Ref storage_of(Ref state) {
  while (state->op == Op::After) state = state->src[0];
  return state->op == Op::Buffer || state->op == Op::Param ? state : nullptr;
}

}  // namespace assay::tensor
