#pragma once

#include <string_view>

#include "engine/uop/walk.h"
#include "engine/uop/watch.h"

namespace assay::oracles {

// Plants a mistake, for tests: nodes of one kind after a pass become others.
class NodeSpoiler : public uop::Watch {
 public:
  using Spoil = uop::Ref (*)(uop::Graph& g, uop::Ref u);
  NodeSpoiler(std::string_view stage, uop::Op op, Spoil spoil)
      : stage_(stage), op_(op), spoil_(spoil) {}

  bool edits() const override { return true; }
  uop::Ref edit(std::string_view stage, uop::Graph& g, uop::Ref u) override {
    if (stage != stage_) return u;
    uop::Substitution map;
    for (const uop::Ref n : uop::toposort(g, u)) {
      if (n->op == op_) map[n] = spoil_(g, n);
    }
    return uop::substitute(g, u, map);
  }

 private:
  std::string_view stage_;
  uop::Op op_;
  Spoil spoil_;
};

// It is left out.
inline uop::Ref first_source(uop::Graph&, uop::Ref u) { return u->src.front(); }
inline uop::Ref last_source(uop::Graph&, uop::Ref u) { return u->src.back(); }

}  // namespace assay::oracles
