#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "engine/result.h"
#include "engine/schedule/calls.h"
#include "engine/schedule/seen.h"
#include "engine/uop/rewrite.h"
#include "engine/uop/target.h"

namespace assay::schedule {

// LINEARs by what they were made from. Nodes are copied in and out: the cache has a graph of its
// own. A key says where to look; what is there counts only if it was made from the same structure.
class Cache {
 public:
  struct Key {
    uop::Key structure;
    uop::Key target;
    std::string switches;  // Switches::digest()
    auto operator<=>(const Key&) const = default;
  };

  Cache();
  // The LINEAR made from `sink`, in its graph; nullptr where there is none.
  Ref find(Graph& g, Ref sink, const Key& key);
  void keep(Graph& g, Ref sink, const Key& key, Ref linear);
  size_t size() const { return entries_.size(); }

  // Look-ups so far, by what became of them.
  uint64_t hits = 0;
  uint64_t misses = 0;
  uint64_t skipped = 0;

 private:
  struct Entry {
    Ref sink;
    Ref linear;
  };
  // Beyond so many nodes all entries are dropped: what runs for days must not fill the memory.
  static constexpr size_t kMostNodes = size_t{1} << 20;

  std::unique_ptr<Graph> graph_;
  std::map<Key, Entry> entries_;
};

// Makes the LINEAR of a SINK over PARAMs.
using Lower = std::function<Result<Ref>(Ref sink)>;

// The LINEAR of `sink`, the body of a call: from the cache where it holds one for this structure,
// target and switches, else as `lower` makes it, which is then kept. Structures that differ in the
// numbers of ranges, buffers and parameters alone are one, also to `lower`: it is given the sink
// renumbered. The watch is shown what became of the look-up. A cache is neither read nor written
// where there is none, firings are limited, or the watch edits.
Result<Ref> lower_sink_to_linear(uop::Run& run, Cache* cache, const uop::Target& target, Ref sink,
                                 const Lower& lower);

}  // namespace assay::schedule
