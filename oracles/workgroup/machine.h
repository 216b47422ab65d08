#pragma once

#include <cstdint>
#include <vector>

#include "oracles/workgroup/chance.h"
#include "oracles/workgroup/memory.h"

namespace assay::workgroup {

// Runs a program batch by batch. A batch's work-items are cut into strands: lanes that run in
// lockstep, with a counter a loop and a mask a loop or branch whose condition differs among them. A
// strand stops at a barrier until all strands of its group have, and then they go on together.
class Machine {
 public:
  Machine(const Program& program, const Launch& launch, const uop::Target& target,
          const Options& options, Batch& batch, Memory& memory, Findings& findings);

  // The groups of one batch, by their numbers in the launch; as many as the batch has lanes for, or
  // fewer at the end of a launch. False where the budget ended.
  bool run(std::span<const int64_t> groups, Chance& chance);
  int64_t executed() const { return executed_; }
  int64_t barriers() const { return barriers_; }

 private:
  enum class State : uint8_t { Running, Waiting, Finished };
  struct Strand {
    int first = 0;
    int count = 0;
    State state = State::Running;
    int32_t at = 0;  // in the code
    std::vector<Slot> uniforms;
    std::vector<int64_t> counters;      // of the loops it is in
    std::vector<const uint8_t*> masks;  // of the loops and branches it is in, outermost first
  };

  void place_items(std::span<const int64_t> groups, Chance& chance);
  void cut_strands();
  void set_positions(std::span<const int64_t> groups);
  bool run_in_turn();
  bool run_at_random(Chance& chance);
  void step(Strand& strand, int64_t quantum);
  void compute(const Instruction& i, Strand& strand, const Files& files);
  void access(const Instruction& i, Strand& strand, const Files& files);
  template <typename F>
  bool narrow(Strand& strand, F holds);
  bool goes_on(Strand& strand, interpreter::Operand count);
  void enter_loop(const Instruction& i, Strand& strand, const Files& files);
  void end_loop(const Instruction& i, Strand& strand, const Files& files);
  void enter_branch(const Instruction& i, Strand& strand, const Files& files);
  void arrive(const Instruction& i, Strand& strand);
  void pass_in_lockstep(const Instruction& i, const Strand& strand);
  bool release();
  void release_group(int group);
  bool may_diverge(const Instruction& i) const;
  void report(Fault fault, const Strand& strand, int arrived, int absent);

  Files files_of(Strand& strand) {
    return {{const_cast<Slot*>(program_.constants.data()), strand.uniforms.data(),
             lanes_.data() + strand.first},
            {1, 1, pitch_},
            {0, 0, 1}};
  }

  const Program& program_;
  const Launch& launch_;
  const uop::MemoryContract contract_;
  const Options& options_;
  Batch& batch_;
  Memory& memory_;
  Findings& findings_;
  int64_t pitch_;               // from one register to the next
  std::vector<Slot> lanes_;     // registers by number and lane
  std::vector<uint8_t> masks_;  // by loop or branch, and lane
  std::vector<Strand> strands_;
  int strands_each_ = 0;         // strands of a group; 0 where one has all groups
  std::vector<int64_t> places_;  // of the items of a group, along each axis
  std::vector<int> order_;       // of the items of a group
  int64_t executed_ = 0;
  int64_t barriers_ = 0;
};

}  // namespace assay::workgroup
