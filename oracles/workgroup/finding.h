#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/codegen/launch.h"
#include "oracles/workgroup/program.h"

namespace assay::workgroup {

using codegen::Launch;

enum class Fault : uint8_t {
  Race,           // two work-items touch an element, one writes, and nothing orders them
  Divergence,     // a barrier that not all work-items of a group reach together
  Placement,      // a barrier where the memory contract allows none
  Bounds,         // an index outside its storage
  Uninitialised,  // a read of what nobody wrote
  Misaligned,     // a vector at an element that is no multiple of its width
};
std::string_view to_text(Fault fault);

// One execution of an instruction by a work-item. Without an instruction there was none.
struct Touch {
  uint64_t iterations = 0;   // of the loops around it, packed (pack)
  uint32_t item = 0;         // counted through the launch, group by group
  uint32_t instruction = 0;  // its place in the code, from 1; 0 where there is none

  bool is_some() const { return instruction != 0; }
};

// The counters of nested loops in one word, 64 / n bits each; what does not fit is all ones.
uint64_t pack(std::span<const int64_t> counters);
// "[2 0]", with ">=" before what did not fit, and nothing outside of loops.
std::string iterations_text(uint64_t packed, int loops);

// What is wrong with a kernel. Findings of the same fault at the same nodes are one.
struct Finding {
  Fault fault;
  Touch first;        // the earlier access; none but of a Race; of a Divergence who did not arrive
  Touch second;       // where it was found
  int storage = -1;   // in the program; -1 of barriers
  int64_t group = 0;  // whose LOCAL storage it is
  int64_t element = 0;
  int64_t count = 1;
  std::vector<int> nodes;  // their lines in the LINEAR, in rising order
  std::string text;        // all of it, as a sentence
};

// Findings so far, at most kMost of them distinct.
class Findings {
 public:
  static constexpr size_t kMost = 64;
  Findings(const Program& program, const Launch& launch) : program_(program), launch_(launch) {}

  void add(Finding finding);
  // What was counted but not kept.
  int64_t dropped() const { return dropped_; }
  // In order of fault and nodes, with their texts.
  std::vector<Finding> take();

 private:
  int node_of(const Touch& touch) const;
  bool is_same(const Finding& a, const Finding& b) const;
  std::string touch_text(const Touch& touch) const;
  std::string item_text(const Touch& touch) const;
  std::string text_of(const Finding& finding) const;

  const Program& program_;
  const Launch& launch_;
  std::vector<Finding> findings_;
  int64_t dropped_ = 0;
};

}  // namespace assay::workgroup
