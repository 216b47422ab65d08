#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/uop/arena.h"
#include "engine/uop/op.h"
#include "engine/uop/value.h"

namespace assay::uop {

// The parts of an argument that do not fit in a word: interned by the graph, so that within a graph
// equal records are one record.
struct Record {
  uint64_t hash;  // of name and numbers, the same in every graph
  std::string_view name;
  std::span<const int64_t> numbers;
};

// What an operation carries besides its sources. Trivially destructible; two arguments of one graph
// are equal exactly when their words are.
struct Arg {
  ArgKind kind = ArgKind::None;
  union {
    uint64_t bits = 0;     // Value, Number; Axis, Place and Fold as number << 32 | code
    const Record* record;  // Numbers, Name, Symbol, Info
  };

  static Arg value(Value v) { return word(ArgKind::Value, v.bits); }
  static Arg number(int64_t n) { return word(ArgKind::Number, static_cast<uint64_t>(n)); }
  static Arg axis(int32_t number, AxisType t) { return pair(ArgKind::Axis, number, int(t)); }
  static Arg place(int32_t number, AddrSpace s) { return pair(ArgKind::Place, number, int(s)); }
  static Arg fold(Op op, int32_t axes) { return pair(ArgKind::Fold, axes, int(op)); }

  bool has_record() const { return kind >= ArgKind::Numbers; }
  // The number of Number, Axis, Place and Fold.
  int64_t number() const {
    return kind == ArgKind::Number ? static_cast<int64_t>(bits) : static_cast<int32_t>(bits >> 32);
  }
  AxisType axis_type() const { return static_cast<AxisType>(bits & 0xFF); }
  AddrSpace addr_space() const { return static_cast<AddrSpace>(bits & 0xFF); }
  Op fold_op() const { return static_cast<Op>(bits & 0xFF); }
  std::string_view name() const { return record->name; }
  std::span<const int64_t> numbers() const { return record->numbers; }

  bool operator==(const Arg& o) const { return kind == o.kind && bits == o.bits; }

 private:
  static Arg word(ArgKind kind, uint64_t bits) {
    Arg arg;
    arg.kind = kind;
    arg.bits = bits;
    return arg;
  }
  static Arg pair(ArgKind kind, int32_t number, int code) {
    return word(kind, uint64_t{static_cast<uint32_t>(number)} << 32 | static_cast<uint64_t>(code));
  }
};

struct UOp;
using Ref = const UOp*;

// One operation. Immutable, and unique in its Graph: two UOps of a graph are equal exactly when
// their addresses are. `id` is a dense index for side tables, never an order that shows.
struct UOp {
  Op op;
  DType dtype;
  uint32_t id;
  Arg arg;
  std::span<const Ref> src;

  Value value() const { return {dtype, arg.bits}; }  // of a Const
};

inline bool is_const(Ref u) { return u->op == Op::Const; }

struct Facts;

// Owns, interns and frees all its nodes together.
class Graph {
 public:
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // The node with these parts, made if the graph has none yet. Sources belong to this graph. Arity
  // and types are checked by verify() (uop/verify.h), not here.
  Ref make(Op op, DType dtype, std::span<const Ref> src, Arg arg = {});
  Ref make(Op op, DType dtype, std::initializer_list<Ref> src, Arg arg = {}) {
    return make(op, dtype, std::span(src.begin(), src.size()), arg);
  }
  // The same node on other sources.
  Ref with_sources(Ref u, std::span<const Ref> src) { return make(u->op, u->dtype, src, u->arg); }

  // A scalar function, its type taken from its sources.
  Ref alu(Op op, std::initializer_list<Ref> src);
  Ref constant(Value v) { return make(Op::Const, v.dtype, {}, Arg::value(v)); }
  // The integer n at type t, by of_int().
  Ref constant(DType t, int64_t n) { return constant(of_int(t, n)); }
  // A value that may be anything between lo and hi (both inclusive), or anything at all.
  Ref variable(std::string_view name, Value lo, Value hi);
  Ref variable(std::string_view name, DType t);

  Arg name(std::string_view name) { return interned(ArgKind::Name, name, {}); }
  Arg numbers(std::span<const int64_t> n) { return interned(ArgKind::Numbers, {}, n); }
  Arg symbol(std::string_view name, std::span<const int64_t> bounds) {
    return interned(ArgKind::Symbol, name, bounds);
  }
  Arg info(std::string_view name, std::span<const int64_t> n) {
    return interned(ArgKind::Info, name, n);
  }

  size_t size() const { return nodes_.size(); }
  Ref at(uint32_t id) const { return nodes_[id]; }
  // Bytes held for nodes, their table and interned arguments.
  size_t bytes() const;

  // Facts derived from nodes (facts.h), each computed on demand.
  Facts& facts() { return *facts_; }
  Arena& arena() { return arena_; }

 private:
  // A node's address in the low 48 bits, where every address of a process lies, and the top 16 of
  // its hash above: a look-up reads no node but the one it finds. Zero where the slot is free.
  using Slot = uint64_t;
  struct RecordHash;
  struct RecordEqual;
  struct Records;

  Arg interned(ArgKind kind, std::string_view name, std::span<const int64_t> numbers);
  Ref append(Op op, DType dtype, std::span<const Ref> src, Arg arg);
  void grow();

  Arena arena_;
  std::vector<Ref> nodes_;
  std::vector<Slot> slots_;
  std::unique_ptr<Records> records_;
  std::unique_ptr<Facts> facts_;
};

}  // namespace assay::uop
