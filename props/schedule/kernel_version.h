#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/uop/node_map.h"
#include "engine/uop/uop.h"
#include "props/schedule/param_use.h"

namespace assay::props {

// A set of small numbers.
class NumberSet {
 public:
  void add(int32_t i) {
    const size_t w = static_cast<size_t>(i) / 64;
    if (w >= words_.size()) words_.resize(w + 1);
    words_[w] |= uint64_t{1} << (i % 64);
  }
  bool has(int32_t i) const {
    const size_t w = static_cast<size_t>(i) / 64;
    return w < words_.size() && (words_[w] >> (i % 64) & 1) != 0;
  }
  void add(const NumberSet& more);
  // Those that only one of the two has.
  std::vector<int32_t> difference(const NumberSet& other) const;

 private:
  std::vector<uint64_t> words_;
};

// A kernel graph, SINK(state…), read as kernels that make versions of buffers out of others. All
// are numbered from 0 in the order of the graph's toposort, so that kernels come after the versions
// that they take.
class KernelVersions {
 public:
  // What a buffer holds once those of its kernels that `made` names have run, and no other.
  struct Version {
    int32_t buffer = 0;
    int32_t prior = -1;               // the version it is made of; -1 of the first
    NumberSet made;                   // of the buffer's writers, by their places
    std::vector<int32_t> writers;     // kernels that make it out of the prior one
    std::vector<int32_t> only_after;  // kernels that whoever takes it waits for, no writers of it
  };
  // A kernel takes a version, which is that of a state or of one of a stack of them.
  struct Take {
    int32_t version = 0;
    int32_t slot = 0;  // of the call's storage arguments
    ParamUse use;
  };
  struct Kernel {
    uop::Ref call = nullptr;  // over states
    uop::Ref bare = nullptr;  // over storage
    std::vector<Take> takes;
    std::vector<int32_t> makes;  // versions
  };
  struct Buffer {
    uop::Ref storage = nullptr;
    std::vector<int32_t> writers;  // kernels; a place here is what sets name
  };

  // `error` says what is no kernel graph, if anything is not.
  KernelVersions(uop::Graph& g, uop::Ref sink);

  const std::optional<std::string>& error() const { return error_; }
  const std::vector<Kernel>& kernels() const { return kernels_; }
  const std::vector<Version>& versions() const { return versions_; }
  const std::vector<Buffer>& buffers() const { return buffers_; }
  // Versions that the sink asks for.
  const std::vector<int32_t>& wanted() const { return wanted_; }
  // Those of a state of the graph, one a device; none of what is no state.
  std::vector<int32_t> versions_of(uop::Ref state) const;
  // The place of a kernel among the writers of a buffer; -1 where it is none.
  int32_t writer_place(int32_t buffer, int32_t kernel) const;
  // How often the buffer was written before it holds this: what people call its version.
  int32_t generation(int32_t version) const;
  // The storage that a state is a version of, views and stacks as they are; a call over that.
  uop::Ref bare(uop::Ref state);
  uop::Ref bare_call(uop::Ref call);

 private:
  using Versions = std::vector<int32_t>;

  void read(uop::Ref u);
  void read_call(uop::Ref call);
  void read_after(uop::Ref after);
  void add_member(Version& next, uop::Ref member, const Versions& all);
  int32_t add(Version version);
  bool writes(int32_t kernel, int32_t buffer) const;
  void makers(int32_t version, std::vector<int32_t>& out) const;
  const Versions* states(uop::Ref u) const;
  void fail(std::string what);

  uop::Graph& g_;
  BodyUses uses_;
  std::vector<Kernel> kernels_;
  std::vector<Version> versions_;
  std::vector<Buffer> buffers_;
  std::vector<int32_t> wanted_;
  std::vector<Versions> states_;
  uop::NodeMap<int32_t> state_;   // of a state, its place in states_
  uop::NodeMap<int32_t> kernel_;  // of a CALL
  uop::NodeMap<uop::Ref> bare_;
  std::vector<std::vector<std::pair<int32_t, int32_t>>> writes_;  // by kernel: buffer, place
  std::optional<std::string> error_;
};

}  // namespace assay::props
