#pragma once

#include <cstdint>
#include <optional>

#include "engine/uop/op.h"
#include "oracles/interpreter/numbers.h"

namespace assay::interpreter {

using uop::Op;

// A run of elements, `stride` slots from one to the next.
struct Operand {
  const Slot* data;
  int64_t stride;
};

struct Types {
  DType result;
  DType operand;  // of the first source
};

// A scalar function over runs (engine/uop/README.md, "What operations mean"): loop() writes n
// results, one after the other, and finish() then rounds them where they are floats that have not
// their type's precision yet. What is unspecified becomes poison; nothing traps. Functions of
// floats are the C library's in double, rounded.
struct Scalar {
  void (*loop)(Slot* out, const Operand* src, int64_t n, Types types) = nullptr;
  void (*round)(Slot* out, int64_t n) = nullptr;
  Types types = {};

  void run(Slot* out, const Operand* src, int64_t n) const { loop(out, src, n, types); }
  void finish(Slot* out, int64_t n) const {
    if (round != nullptr) round(out, n);
  }
};

// Nothing where op has no meaning at these types, or is no scalar function.
std::optional<Scalar> scalar_of(Op op, Types types);
// Each element as it is.
Scalar moved(DType t);

// A reduce: from `unit`, acc = op(acc, x) for each x in order, rounded each time.
struct Fold {
  Scalar step;
  Slot unit = 0;
  // acc[i] is folded with the `row` elements of x from i * row on, for i < rows.
  void (*over_rows)(Slot* acc, int64_t rows, const Slot* x, int64_t row, DType t) = nullptr;
};
std::optional<Fold> fold_of(Op op, DType t);

}  // namespace assay::interpreter
