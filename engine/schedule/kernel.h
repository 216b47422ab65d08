#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/schedule/access.h"
#include "engine/uop/node_map.h"

namespace assay::schedule {

// One kernel as it is cut out of the graph.
struct Kernel {
  Ref body;                 // README.md, Forms
  std::vector<Ref> states;  // what its PARAMs stand for: storage, or a STAGE
  // It may read what another of its iterations stores.
  bool clashes = false;
};

// Cuts kernels out of a graph of ranges. Ranges are numbered anew in their order, storage becomes
// PARAMs by first use, indices become flat.
class KernelMaker {
 public:
  KernelMaker(Graph& g, Indexer& indexer) : g_(g), indexer_(indexer) {}

  // What stores `value` to `target`, an INDEX, for all values of the loops.
  Kernel make(Ref target, Ref value, std::span<const Ref> loops);
  // The storage and STAGEs that a value reads, by first use.
  std::vector<Ref> storage_read(Ref value);

 private:
  // What all kernels that take a state have in common.
  struct Storage {
    std::vector<Ref> strides;
    Ref count = nullptr;  // as it is, with all sizes at their largest
  };

  void collect(Ref root);
  void renumber(std::span<const Ref> loops);
  Ref rebuilt(Ref u);
  Ref access(Ref u);
  Ref param(Ref state);
  const Storage& storage(Ref state);
  bool may_meet(Ref read, Ref written);
  Ref end(Ref store, std::span<const Ref> loops);
  std::string name(std::span<const Ref> loops) const;

  Graph& g_;
  Indexer& indexer_;
  std::vector<Storage> storage_;
  uop::NodeMap<uint32_t> storage_places_;
  std::vector<Ref> order_;   // below the roots, sources first
  std::vector<Ref> ranges_;  // in order of their numbers
  uop::NodeMap<uint8_t> seen_;
  uop::NodeMap<Ref> done_;
  uop::NodeMap<uint32_t> slots_;
  std::vector<Ref> states_;
  std::vector<Ref> sources_;
  std::vector<Ref> stack_;
  std::vector<Ref> index_;
};

}  // namespace assay::schedule
