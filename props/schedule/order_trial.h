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
  std::string text;  // the first element that differs, with both values; or why none was seen
};

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

  // The list in this order, against the list as it stands.
  TrialResult in_order(std::span<const int> order);
  // The same where the call at place `at` of the order and the next one run at once: both read
  // before either writes, and either writes last.
  TrialResult at_once(std::span<const int> order, size_t at);
  // The list as it stands, against what states of a kernel graph denote.
  TrialResult against(std::span<const uop::Ref> states);
  // The list as it stands, against another list over the same observed storage.
  TrialResult against(uop::Ref other);

 private:
  using Memory = interpreter::Memory;
  using Steps = std::vector<uop::Ref>;  // calls over BUFFERs

  struct Case {
    interpreter::Variables variables;
    uint64_t seed = 0;
  };
  // Leaves its result in the memory; what went wrong, if anything did.
  template <typename Run>
  TrialResult compare(Run run);

  std::vector<Case> cases() const;
  std::vector<uop::Ref> over_buffers_by_device(uop::Ref call);
  uop::Ref over_buffers(uop::Ref argument);
  void fill(Memory& memory, uint64_t seed);
  std::string run(std::span<const uop::Ref> calls, const Case& how, Memory& memory);
  Steps ordered(std::span<const int> order) const;
  std::string difference(const Memory& right, const Memory& wrong) const;

  uop::Graph& g_;
  uop::Ref linear_;
  interpreter::Variables given_;
  uint64_t seed_;
  int64_t next_buffer_ = 0;
  std::vector<std::pair<uop::Ref, uop::Ref>> params_;  // and the BUFFERs that they stand for
  std::vector<std::vector<uop::Ref>> calls_;           // by place: one, or one a device of a stack
  std::vector<uop::Ref> storages_;                     // BUFFERs
  std::vector<uop::Ref> filled_;
  std::vector<std::pair<uop::Ref, std::string>> observed_;
};

}  // namespace assay::props
