#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "engine/codegen/kernel_sample.h"

namespace assay::codegen {

// A kernel, and what pm_reduce_local makes of it.
class ReduceTest : public testing::Test {
 protected:
  uop::Ref reduced(uop::Ref kernel) { return Middle(g_)(kernel, 2); }
  std::string text(uop::Ref kernel) { return uop::to_text(g_, reduced(kernel), "kernel"); }
  std::vector<uop::Ref> all(uop::Ref kernel, uop::Op op) {
    std::vector<uop::Ref> found;
    for (const uop::Ref u : toposort(g_, kernel)) {
      if (u->op == op) found.push_back(u);
    }
    return found;
  }
  // What is read of input `slot` by these ranges.
  uop::Ref input(int64_t slot, uop::DType t, std::initializer_list<uop::Ref> ranges,
                 int64_t size = 64) {
    return make_.at(make_.param(slot, t, size), {make_.flat(ranges)});
  }
  uop::Ref output(uop::DType t, std::initializer_list<uop::Ref> ranges, int64_t size = 64) {
    return input(0, t, ranges, size);
  }
  // Stores one value into PARAM{0} of one element.
  uop::Ref only(uop::Ref value) {
    return make_.sink({make_.stored(output(value->dtype, {}, 1), value, {})});
  }
  // The ENDs that close ranges of folds: how many folds, and the ranges, as "1 r1 r2 | 2 r3".
  std::string loops(uop::Ref kernel) {
    std::string text;
    for (const uop::Ref end : all(kernel, uop::Op::End)) {
      if (end->src[1]->arg.axis_type() != uop::AxisType::Reduce) continue;
      if (!text.empty()) text += " | ";
      text += end->src[0]->op == uop::Op::Group ? std::to_string(end->src[0]->src.size()) : "1";
      for (const uop::Ref r : end->src.subspan(1)) text += " r" + std::to_string(r->arg.number());
    }
    return text;
  }

  uop::Graph g_;
  Maker make_{g_};
};

inline std::vector<uop::Value> values(uop::DType t, std::initializer_list<double> numbers) {
  std::vector<uop::Value> v;
  for (const double x : numbers) {
    v.push_back(uop::is_float(t) ? uop::of_double(t, x) : uop::of_int(t, int64_t(x)));
  }
  return v;
}

}  // namespace assay::codegen
