#pragma once

#include <span>
#include <vector>

#include "engine/render/places.h"
#include "engine/uop/node_map.h"
#include "engine/uop/uop.h"

namespace assay::render {

// Which values of a list are variables of their own, and which are written where they are used.
class Usage {
 public:
  Usage(std::span<const uop::Ref> lines, const Storages& storages);

  // Whether u is computed where it stands: it is used more than once, or in a deeper loop, or reads
  // what may have changed by the time it is used.
  bool is_named(uop::Ref u) const { return uses_[at_.at(u)].is_named; }

 private:
  struct Use {
    uint32_t scope = 0;      // the innermost loop that it stands in, by number
    uint32_t count = 0;      // how often its text would be written
    uint32_t statement = 0;  // the line whose text it is part of, if it is not named
    bool deeper = false;     // used in a loop that it does not stand in
    bool is_named = false;
  };

  void find_scopes(std::span<const uop::Ref> lines);
  void spread(uint32_t line, uop::Ref u);
  bool names(uint32_t line, uop::Ref u, const Storages& storages) const;

  uop::NodeMap<uint32_t> at_;
  std::vector<Use> uses_;
};

}  // namespace assay::render
