#include <algorithm>

#include "oracles/workgroup/machine.h"

// What happens at barriers.
namespace assay::workgroup {

using uop::Standing;

// Whether some may pass where others do not come.
bool Machine::may_diverge(const Instruction& i) const {
  const bool is_in_branch = i.branches > i.loops;
  return (i.loops == 0 || contract_.in_loop == Standing::Anywhere) &&
         (!is_in_branch || contract_.in_branch == Standing::Anywhere);
}

// `absent` is a lane that does not arrive, -1 where that is not the matter.
void Machine::report(Fault fault, const Strand& strand, int arrived, int absent) {
  Finding f;
  f.fault = fault;
  f.second = {pack(strand.counters), batch_.items[static_cast<size_t>(arrived)],
              static_cast<uint32_t>(strand.at) + 1};
  if (absent >= 0) f.first.item = batch_.items[static_cast<size_t>(absent)];
  f.group = f.second.item / batch_.group_size;
  findings_.add(std::move(f));
}

void Machine::arrive(const Instruction& i, Strand& strand) {
  const bool is_in_branch = i.branches > i.loops;
  const bool is_misplaced = (i.loops > 0 && contract_.in_loop == Standing::Nowhere) ||
                            (is_in_branch && contract_.in_branch == Standing::Nowhere);
  if (is_misplaced) report(Fault::Placement, strand, strand.first, -1);
  if (strands_each_ != 0) {
    strand.state = State::Waiting;
    return;
  }
  pass_in_lockstep(i, strand);
  strand.at++;
}

// One strand has all work-items: each group passes, or is found not to be together.
void Machine::pass_in_lockstep(const Instruction& i, const Strand& strand) {
  const uint8_t* const mask = strand.masks.empty() ? nullptr : strand.masks.back();
  for (int group = 0; group < batch_.live; group++) {
    const int first = group * batch_.group_size;
    int arrived = -1;
    int absent = -1;
    for (int l = first; l < first + batch_.group_size && mask != nullptr; l++) {
      int& kind = mask[l] != 0 ? arrived : absent;
      if (kind < 0) kind = l;
    }
    if (mask != nullptr && arrived < 0) continue;
    if (absent >= 0 && !may_diverge(i)) report(Fault::Divergence, strand, arrived, absent);
    batch_.epochs[static_cast<size_t>(group)]++;
    barriers_++;
  }
}

// All strands of a group wait or have finished: those that wait go on.
void Machine::release_group(int group) {
  const auto begin = strands_.begin() + group * strands_each_;
  const auto end = begin + strands_each_;
  const auto is_waiting = [](const Strand& s) { return s.state == State::Waiting; };
  const auto leader = std::find_if(begin, end, is_waiting);
  if (leader == end) return;
  for (auto strand = begin; strand != end; ++strand) {
    if (!is_waiting(*strand)) continue;
    const Instruction& i = program_.code[static_cast<size_t>(strand->at)];
    const uint8_t* const mask = strand->masks.empty() ? nullptr : strand->masks.back();
    int arrived = strand->first;
    int absent = -1;
    for (int l = strand->first; l < strand->first + strand->count && mask != nullptr; l++) {
      if (mask[l] == 0) absent = l;
      if (mask[l] != 0) arrived = l;
    }
    // Those of other strands that are elsewhere.
    for (auto other = begin; other != end && absent < 0; ++other) {
      const bool is_together =
          is_waiting(*other) && other->at == strand->at && other->counters == strand->counters;
      if (!is_together) absent = other->first;
    }
    if (absent >= 0 && !may_diverge(i)) report(Fault::Divergence, *strand, arrived, absent);
  }
  for (auto strand = begin; strand != end; ++strand) {
    if (!is_waiting(*strand)) continue;
    strand->state = State::Running;
    strand->at++;
  }
  batch_.epochs[static_cast<size_t>(group)]++;
  barriers_++;
}

// False where all have finished.
bool Machine::release() {
  const bool is_any = std::any_of(strands_.begin(), strands_.end(),
                                  [](const Strand& s) { return s.state == State::Waiting; });
  for (int group = 0; group < batch_.live && is_any && strands_each_ != 0; group++)
    release_group(group);
  return is_any;
}

}  // namespace assay::workgroup
