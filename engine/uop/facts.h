#pragma once

#include <cstdint>
#include <span>

#include "engine/uop/node_map.h"

namespace assay::uop {

// The structure of a node and all below it, in 128 bits: equal in any two graphs exactly when the
// structures are equal (up to collisions of the hash).
struct Key {
  uint64_t high = 0;
  uint64_t low = 0;
  auto operator<=>(const Key&) const = default;
};

// The values a node of an integer type can take lie between lo and hi, both inclusive. An end that
// leaves 64 bits at type `index` is infinite.
struct Bounds {
  Int128 lo = 0;
  Int128 hi = 0;
  bool operator==(const Bounds&) const = default;
};

// The same for a float: all values but NaN lie between lo and hi; may_be_nan says whether NaN is
// one of them.
struct FloatBounds {
  double lo = 0;
  double hi = 0;
  bool may_be_nan = true;
};

// What is derived from a node's structure: each once, on demand, by the function named beside it.
struct Facts {
  NodeMap<Key> keys;                     // key()           key.h
  NodeMap<Bounds> bounds;                // bounds()        bounds.h
  NodeMap<FloatBounds> float_bounds;     // float_bounds()  bounds.h
  NodeMap<uint8_t> may_be_invalid;       // may_be_invalid() bounds.h
  NodeMap<uint8_t> may_be_unspecified;   // may_be_unspecified() unspecified.h
  NodeMap<std::span<const Ref>> ranges;  // ranges()        scope.h
  NodeMap<std::span<const Ref>> shapes;  // shape()         shape.h
  NodeMap<Ref> devices;                  // device()        scope.h
  NodeMap<Ref> buffers;                  // buffer()        scope.h

  NodeMap<uint8_t> visited;  // scratch of one walk at a time
};

}  // namespace assay::uop
