#include "engine/runtime/work.h"

#include <algorithm>
#include <vector>

#include "engine/uop/bounds.h"
#include "engine/uop/shape.h"

namespace assay::runtime {
namespace {

using uop::Op;
using uop::Ref;

double most(uop::Graph& g, Ref size) {
  return static_cast<double>(std::max<uop::Int128>(uop::bounds(g, size).hi, 0));
}

double operations_of(uop::Graph& g, Ref u) {
  const bool moves = u->op == Op::Where || u->op == Op::Cast || u->op == Op::Bitcast;
  if (!is_scalar(u->op) || moves || !is_float(u->dtype)) return 0;
  const auto lanes = static_cast<double>(uop::constant_size(uop::shape(g, u)).value_or(1));
  return u->op == Op::Fma ? 2 * lanes : lanes;
}

}  // namespace

int64_t float_operations(uop::Graph& g, Ref linear) {
  double total = 0;
  double items = 1;
  std::vector<double> times = {1};
  for (const Ref u : linear->src) {
    if (u->op == Op::Special) items *= most(g, u->src[0]);
    if (u->op == Op::Range) times.push_back(times.back() * most(g, u->src[0]));
    if (u->op == Op::End && times.size() > 1) times.pop_back();
    total += times.back() * operations_of(g, u);
  }
  return static_cast<int64_t>(std::min(total * items, 9e18));
}

}  // namespace assay::runtime
