#pragma once

#include "engine/uop/uop.h"

namespace assay::codegen {

inline bool has_type(uop::Ref u, uop::AxisType type) {
  return u->op == uop::Op::Range && u->arg.axis_type() == type;
}
// A RANGE whose iterations are lanes.
inline bool is_lane_axis(uop::Ref u) {
  return has_type(u, uop::AxisType::Upcast) || has_type(u, uop::AxisType::Unroll);
}
// A RANGE whose iterations are work-groups.
inline bool is_group_axis(uop::Ref u) { return has_type(u, uop::AxisType::Global); }
// A RANGE whose iterations are work-items of one group.
inline bool is_item_axis(uop::Ref u) {
  return has_type(u, uop::AxisType::Local) || has_type(u, uop::AxisType::Warp) ||
         has_type(u, uop::AxisType::GroupReduce);
}

}  // namespace assay::codegen
