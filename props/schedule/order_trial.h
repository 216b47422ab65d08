#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/uop/uop.h"
#include "oracles/interpreter/interpreter.h"
#include "oracles/interpreter/memory.h"

namespace assay::props {

// What came of running calls in two ways on the same storage.
struct TrialResult {
  bool differs = false;
  std::string text;     // the first element that differs, with both values; or why none was seen
  bool is_run = false;  // both ran, on some inputs
};

// "param 0", "buffer 7".
std::string storage_name(uop::Ref storage);

// Runs the calls of LINEARs in the interpreter, on several inputs, to show that an order matters.
// PARAMs stand for storage of their own. They, storage that is observed and storage that the list
// reads before it writes it are filled with numbers; all else begins as poison.
class OrderTrial {
 public:
  // Without values for variables, some within their bounds are taken.
  OrderTrial(uop::Graph& g, uop::Ref linear,
             std::span<const std::pair<std::string, int64_t>> variables, uint64_t seed);

  // Storage whose contents count at the end: BUFFERs and PARAMs.
  void observe(uop::Ref storage);

  // Whether the list as it stands runs at all: an error is a difference.
  TrialResult runs();
  // The list in this order, against the list as it stands.
  TrialResult in_order(std::span<const int> order);
  // The same where the call at place `at` of the order and the next one run at once: both read
  // before either writes, and either writes last.
  TrialResult at_once(std::span<const int> order, size_t at);
  // What the call `who` of the list does in this order, against what it does in the list as it
  // stands: of the bytes that it changes in either, those that it leaves; or, where `over` is a
  // call too, those that it has left once that one, which comes next in the order, has run as well.
  // So a wrong version shows that nobody uses.
  TrialResult of_call(std::span<const int> order, int who, int over = -1);
  // The list as it stands, against what states of a kernel graph denote.
  TrialResult against(std::span<const uop::Ref> states);
  // The list as it stands, against another list over the same observed storage.
  TrialResult against(uop::Ref other);

 private:
  using Memory = interpreter::Memory;
  using Steps = std::vector<uop::Ref>;                          // calls over BUFFERs
  using Names = std::vector<std::pair<uop::Ref, std::string>>;  // of BUFFERs

  struct Case {
    interpreter::Variables variables;
    uint64_t seed = 0;
  };
  // Leaves its result in the memory; what went wrong, if anything did.
  template <typename Run>
  TrialResult compare(Run run) {
    return compare(observed_, run);
  }
  template <typename Run>
  TrialResult compare(const Names& of, Run run);

  void keep_changed(const Memory& right_before, Memory& right, const Memory& wrong_before,
                    const Memory& wrong, Memory& wrong_end);

  std::vector<Case> cases() const;
  std::vector<uop::Ref> over_buffers_by_device(uop::Ref call);
  uop::Ref over_buffers(uop::Ref argument);
  void fill(Memory& memory, uint64_t seed);
  std::string run(std::span<const uop::Ref> calls, const Case& how, Memory& memory);
  Steps ordered(std::span<const int> order) const;
  std::string difference(const Names& of, const Memory& right, const Memory& wrong) const;

  uop::Graph& g_;
  uop::Ref linear_;
  interpreter::Variables given_;
  uint64_t seed_;
  int64_t next_buffer_ = 0;
  std::vector<std::pair<uop::Ref, uop::Ref>> params_;  // and the BUFFERs that they stand for
  std::vector<std::vector<uop::Ref>> calls_;           // by place: one, or one a device of a stack
  Names storages_;
  std::vector<uop::Ref> filled_;
  Names observed_;
};

}  // namespace assay::props
