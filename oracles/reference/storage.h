#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "oracles/reference/array.h"

namespace assay::reference {

// What a view op picks of the value it is a view of: its elements at these places, or all of them
// in order; read as dtype, whose width may be another only if they are in order.
struct Seen {
  DType dtype = DType::Void;
  Dims shape;
  std::optional<std::vector<int64_t>> at;
};

// A value as it lies in the storage of another, or in its own. `at` are the places of its elements
// there, or of its bytes where widths have changed on the way: those of an element from the lowest.
struct View {
  int32_t storage = -1;  // the statement that defines it
  DType dtype = DType::Void;
  Dims shape;
  bool is_whole = true;  // all of the storage in its order and type; `at` is empty
  bool by_bytes = false;
  std::vector<int64_t> at;
};

// A view of a view of storage at type t.
View seen_through(const View& view, DType t, Seen seen);

// The elements that a view names now.
Array read(const View& view, const Array& storage);
// Puts elements where the view names them. There are as many as it has.
void write(const View& view, Array& storage, Elements elements);

}  // namespace assay::reference
