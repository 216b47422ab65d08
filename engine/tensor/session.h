#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/tensor/program/default_device.h"
#include "engine/uop/shape.h"
#include "engine/uop/uop.h"
#include "engine/uop/walk.h"

namespace assay::tensor {

using uop::DType;
using uop::Graph;
using uop::Ref;
using uop::Shape;

class Session;

// A handle to a value of a session, or to a view of one (README.md, Storage and versions). The
// value is dropped with its last handle.
class Tensor {
 public:
  Tensor() = default;
  Tensor(Tensor&& other) noexcept;
  Tensor& operator=(Tensor&& other) noexcept;
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
  ~Tensor();

  explicit operator bool() const { return session_ != nullptr; }
  // The place of its cell in the session.
  uint32_t cell() const;
  // The value as it is now.
  Ref read() const;
  // The view as a term over a hole, a node that stands for the whole cell: what a further view is
  // built on.
  Ref term() const;
  // Another handle to the same cell, through the view that `term` says: movement (but EXPAND) and
  // BITCAST over this tensor's term.
  Tensor view(Ref term) const;

 private:
  friend class Session;
  Tensor(Session* session, uint32_t view) : session_(session), view_(view) {}

  Session* session_ = nullptr;
  uint32_t view_ = 0;  // its place among the session's views
};

// The storage of one value, and the node that says what is in it.
struct Cell {
  Ref state = nullptr;  // a computed value, a BUFFER, or an AFTER over one; null when dropped
  Ref hole = nullptr;   // the PARAM that views of the cell are terms over
  Ref owned = nullptr;  // the BUFFER that only this cell writes to, once there is one
  Ref device = nullptr;
  uint32_t handles = 0;
};

// What a handle shows: a cell through a term over its hole.
struct View {
  uint32_t cell = 0;
  Ref term = nullptr;
};

// Owns the graph, the numbers of its storage and the live values.
class Session {
 public:
  // Values that say nothing of a device are on the default one.
  explicit Session(std::string_view default_device = kDefaultDevice);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Graph& graph() { return *graph_; }
  Ref default_device() const { return default_device_; }
  Ref device(std::string_view name);  // the default one for ""

  // Storage that nothing has, of this shape: BUFFER{next number}(dim…, DEVICE).
  Ref new_buffer(DType t, Shape shape, Ref device);
  // The number that the next storage gets.
  int32_t next_buffer() const { return next_buffer_; }
  void set_next_buffer(int32_t number) { next_buffer_ = number; }

  // A value of its own. Where it is a fresh BUFFER, the value owns it.
  Tensor tensor(Ref value, Ref device);
  Tensor storage(Ref buffer);

  // The next version of the target's cell: what the target shows becomes `value`, which has its
  // type and a shape that broadcasts to its own.
  void write(const Tensor& target, Ref value);

  std::span<const Cell> cells() const { return cells_; }
  // A schedule was made: every live value that names a key of `map` names its value from now on,
  // and each cell in `owners` the storage made for it.
  struct Owner {
    uint32_t cell;
    Ref buffer;
  };
  void apply_map_to_tensors(const uop::Substitution& map, std::span<const Owner> owners);

  // Copies what lives to a fresh graph where the graph holds more than `enough` nodes and most are
  // dead. All nodes that others hold are gone then: the generation counts how often that was.
  void compact(size_t enough = size_t{1} << 20);
  uint32_t generation() const { return generation_; }

 private:
  friend class Tensor;
  Tensor handle(uint32_t cell, Ref term);
  void ensure_storage(Cell& cell);
  void release(uint32_t view);

  std::unique_ptr<Graph> graph_;
  Ref default_device_;
  int32_t next_buffer_ = 0;
  uint32_t generation_ = 0;
  std::vector<Cell> cells_;
  std::vector<View> views_;
  std::vector<uint32_t> free_cells_;
  std::vector<uint32_t> free_views_;
};

// The BUFFER or PARAM that a state is a version of; nullptr for a computed value.
Ref storage_of(Ref state);

}  // namespace assay::tensor
