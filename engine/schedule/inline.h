#pragma once

#include <cstddef>
#include <vector>

#include "engine/schedule/access.h"
#include "engine/uop/node_map.h"

namespace assay::schedule {

// Copies values to other ranges.
class Mover {
 public:
  Mover(Graph& g, Indexer& indexer) : g_(g), indexer_(indexer) {}

  // From here on, `range` becomes `index`, until the next clear().
  void clear();
  void map(Ref range, Ref index);
  // What is read in the value is read only where this holds.
  void set_gate(Ref gate) { gate_ = gate; }
  // What is read under a gate is zero elsewhere, so that the value is one everywhere.
  void set_settle(bool settle) { settle_ = settle; }

  // The value with its indices simplified again; null where more than `most` nodes depend on the
  // ranges.
  Ref moved(Ref value, size_t most = ~size_t{0});

 private:
  bool depends(Ref u);
  Ref rebuilt(Ref u);
  Ref rebuilt_index(Ref u);

  Graph& g_;
  Indexer& indexer_;
  uop::NodeMap<Ref> done_;
  uop::NodeMap<uint8_t> mapped_;
  Ref gate_ = nullptr;
  bool settle_ = false;
  std::vector<Ref> stack_;
  std::vector<Ref> sources_;
};

// A where whose condition is a constant is what it picks.
Ref picked(Ref u);

}  // namespace assay::schedule
