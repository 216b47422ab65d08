#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/codegen/kernel_tensor.h"
#include "engine/codegen/launch.h"

namespace assay::codegen {

// Runs a kernel of any form from tiled to placed by what README.md says it denotes, for tests of
// the passes between them. Values are computed where they are asked for; an effect runs when an
// AFTER that names it is read, once for each value of the ranges that it stands in. What an AFTER
// of LOCAL storage names runs for all work-items of the group. Kernels are small, so it recurses.
//
// Fails the test on an access out of bounds, a read of what nobody stored, and an element of GLOBAL
// or LOCAL storage that is stored twice.
class KernelRun {
 public:
  using Variables = std::vector<std::pair<std::string, int64_t>>;

  KernelRun(uop::Graph& g, const std::map<int64_t, std::vector<uop::Value>>& params,
            Variables variables = {});

  // What PARAM{0} holds afterwards; what was not stored is as it was.
  std::vector<uop::Value> run(uop::Ref sink);

 private:
  using Ref = uop::Ref;
  using Position = std::array<int64_t, 3>;

  // Elements of storage.
  struct Place {
    Cells* storage;
    Elements elements;
  };

  void set_item(const Position& item);
  int64_t integer(Ref u);
  std::vector<int64_t> sizes_of(Ref u);
  // For each value of the ranges; they keep the values that they have around it.
  void loop(std::span<const Ref> ranges, const std::function<void()>& body);

  // One that is not asked for by its loop runs where it did not just run for these values of its
  // ranges.
  void perform(Ref effect, bool asked);
  bool is_new(Ref effect, int64_t item);
  // What a loop is given before it runs, be it not once: stores to registers outside of it.
  void start(Ref end);
  // What an AFTER waits for. Of LOCAL storage it is what all items of the group do.
  void wait(Ref after);
  void store(Ref u);

  Cells& storage_of(Ref buffer);
  Place place(Ref u);
  Tensor read(Ref u);

  Tensor value(Ref u);
  Tensor computed(Ref u);
  std::vector<Tensor> values(std::span<const Ref> all);
  int64_t leaf(Ref u);
  Tensor stack(Ref u);
  Tensor reduce(Ref u);
  Tensor stage(Ref u);
  Tensor indexed(Ref u);

  uop::Graph& g_;
  Variables variables_;
  std::map<int64_t, Cells> params_;
  Launch launch_;
  Position group_ = {};
  Position item_ = {};
  int64_t item_id_ = 0;
  uint64_t epoch_ = 0;  // grows with all that values depend on
  std::map<Ref, int64_t> env_;
  std::map<std::pair<Ref, int64_t>, Cells> memory_;  // LOCAL of the group (-1), REG of an item
  std::map<Ref, std::map<int64_t, int>> stored_;     // how often each element was
  std::map<std::pair<Ref, int64_t>, std::vector<int64_t>> last_;  // by effect and item
  std::map<Ref, std::pair<uint64_t, Tensor>> values_;
};

}  // namespace assay::codegen
