#pragma once

#include <string_view>

#include "engine/uop/walk.h"
#include "engine/uop/watch.h"

namespace assay::fuzz {

// For tests: an engine that computes one operation as another, from the kernel graph on.
class OpFault : public uop::Watch {
 public:
  OpFault(uop::Op from, uop::Op to, uop::DType t) : from_(from), to_(to), dtype_(t) {}

  uop::Ref edit(std::string_view stage, uop::Graph& g, uop::Ref u) override {
    if (stage != "kernel_graph") return u;
    uop::Substitution changed;
    for (const uop::Ref v : uop::toposort(g, u)) {
      if (v->op == from_ && v->dtype == dtype_) changed[v] = g.make(to_, v->dtype, v->src);
    }
    return changed.empty() ? u : uop::substitute(g, u, changed);
  }
  bool edits() const override { return true; }

 private:
  uop::Op from_;
  uop::Op to_;
  uop::DType dtype_;
};

}  // namespace assay::fuzz
