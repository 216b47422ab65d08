#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/uop/shape.h"
#include "engine/uop/uop.h"

namespace assay::uop {

inline Ref variable(Graph& g, std::string_view name, int64_t lo, int64_t hi) {
  return g.variable(name, of_int(Index, lo), of_int(Index, hi));
}

inline Ref loop(Graph& g, int32_t number, Ref size, AxisType type = AxisType::Loop) {
  return g.make(Op::Range, size->dtype, {size}, Arg::axis(number, type));
}

// The shape of u.
inline std::string text(Graph& g, Ref u) { return shape_text(shape(g, u)); }

}  // namespace assay::uop
