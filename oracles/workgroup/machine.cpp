#include "oracles/workgroup/machine.h"

#include <algorithm>
#include <numeric>

namespace assay::workgroup {

using interpreter::Operand;
using uop::Standing;

Machine::Machine(const Program& program, const Launch& launch, const uop::Target& target,
                 const Options& options, Batch& batch, Memory& memory, Findings& findings)
    : program_(program),
      launch_(launch),
      contract_(target.memory.value_or(uop::MemoryContract{})),
      options_(options),
      batch_(batch),
      memory_(memory),
      findings_(findings) {
  const auto lanes = static_cast<size_t>(batch.lanes());
  // A cache line more than the lanes fill: at powers of two apart, registers of one work-item would
  // all share the same few places of a cache.
  pitch_ = batch.lanes() + 8;
  lanes_.resize(program.lanes * static_cast<size_t>(pitch_));
  masks_.resize(static_cast<size_t>(program.branches) * lanes);
  batch_.items.resize(lanes);
  batch_.epochs.assign(static_cast<size_t>(batch.groups), 1);
  order_.resize(static_cast<size_t>(batch.group_size));
  std::iota(order_.begin(), order_.end(), 0);
  if (options.schedule.items == Order::Falling) std::reverse(order_.begin(), order_.end());
  for (int axis = 0; axis < 3; axis++) {
    const int64_t step = axis == 0   ? 1
                         : axis == 1 ? launch.items[0]
                                     : launch.items[0] * launch.items[1];
    for (int item = 0; item < batch.group_size; item++)
      places_.push_back(item / step % launch.items[static_cast<size_t>(axis)]);
  }
}

void Machine::place_items(std::span<const int64_t> groups, Chance& chance) {
  batch_.live = static_cast<int>(groups.size());
  for (size_t g = 0; g < groups.size(); g++) {
    if (options_.schedule.items == Order::Random) {
      for (size_t i = order_.size(); i > 1; i--) std::swap(order_[i - 1], order_[chance.below(i)]);
    }
    uint32_t* const items = batch_.items.data() + g * order_.size();
    const auto first = static_cast<uint32_t>(groups[g] * batch_.group_size);
    for (size_t i = 0; i < order_.size(); i++) items[i] = first + static_cast<uint32_t>(order_[i]);
  }
}

void Machine::cut_strands() {
  const int size = batch_.group_size;
  const int width = options_.schedule.width;
  strands_each_ = width == 0 ? 0 : (size + width - 1) / width;
  strands_.resize(static_cast<size_t>(width == 0 ? 1 : strands_each_ * batch_.live));
  for (size_t s = 0; s < strands_.size(); s++) {
    Strand& strand = strands_[s];
    const int group = width == 0 ? 0 : static_cast<int>(s) / strands_each_;
    const int within = width == 0 ? 0 : static_cast<int>(s) % strands_each_ * width;
    strand.first = group * size + within;
    strand.count = width == 0 ? batch_.live * size : std::min(width, size - within);
    strand.state = State::Running;
    strand.at = 0;
    strand.uniforms.resize(program_.uniforms);
    strand.counters.clear();
    strand.masks.clear();
  }
}

void Machine::set_positions(std::span<const int64_t> groups) {
  const auto size = static_cast<size_t>(batch_.group_size);
  const auto place_of_group = [&](int64_t group, int axis) {
    for (int a = 0; a < axis; a++) group /= launch_.groups[static_cast<size_t>(a)];
    return static_cast<Slot>(group % launch_.groups[static_cast<size_t>(axis)]);
  };
  for (const Position& position : program_.positions) {
    if (position.out.file == File::Uniform) {
      const Slot place = place_of_group(groups[0], position.axis);
      for (Strand& strand : strands_) strand.uniforms[position.out.number] = place;
      continue;
    }
    Slot* out = lanes_.data() + position.out.number * static_cast<size_t>(pitch_);
    const int64_t* const places = places_.data() + static_cast<size_t>(position.axis) * size;
    for (size_t g = 0; g < groups.size(); g++, out += size) {
      const uint32_t* const items = batch_.items.data() + g * size;
      const auto first = static_cast<uint32_t>(groups[g] * batch_.group_size);
      const Slot place = place_of_group(groups[g], position.axis);
      for (size_t i = 0; i < size; i++)
        out[i] = position.is_group ? place : static_cast<Slot>(places[items[i] - first]);
    }
  }
}

bool Machine::run(std::span<const int64_t> groups, Chance& chance) {
  place_items(groups, chance);
  cut_strands();
  set_positions(groups);
  memory_.begin();
  // What an earlier batch did to LOCAL storage is over.
  for (uint32_t& epoch : batch_.epochs) epoch++;
  return options_.schedule.quantum == 0 ? run_in_turn() : run_at_random(chance);
}

bool Machine::run_in_turn() {
  do {
    for (Strand& strand : strands_) {
      if (strand.state == State::Running) step(strand, INT64_MAX);
      if (executed_ > options_.budget) return false;
    }
  } while (release());
  return true;
}

bool Machine::run_at_random(Chance& chance) {
  std::vector<Strand*> running;
  do {
    running.clear();
    for (Strand& strand : strands_) {
      if (strand.state == State::Running) running.push_back(&strand);
    }
    while (!running.empty()) {
      const size_t picked = chance.below(running.size());
      const auto most = static_cast<size_t>(options_.schedule.quantum);
      step(*running[picked], static_cast<int64_t>(1 + chance.below(most)));
      if (executed_ > options_.budget) return false;
      if (running[picked]->state == State::Running) continue;
      running[picked] = running.back();
      running.pop_back();
    }
  } while (release());
  return true;
}

// Runs a strand until it waits or has finished, or for so many instructions.
void Machine::step(Strand& strand, int64_t quantum) {
  const auto size = static_cast<int32_t>(program_.code.size());
  const Files files = files_of(strand);
  for (; quantum > 0 && strand.state == State::Running; quantum--) {
    if (strand.at == size) {
      strand.state = State::Finished;
      return;
    }
    const Instruction& i = program_.code[static_cast<size_t>(strand.at)];
    executed_ += i.is_uniform ? 1 : strand.count;
    if (executed_ > options_.budget) return;
    switch (i.code) {
      case Code::Compute: compute(i, strand, files); break;
      case Code::Load:
      case Code::Store: access(i, strand, files); break;
      case Code::Loop: enter_loop(i, strand, files); break;
      case Code::EndLoop: end_loop(i, strand, files); break;
      case Code::If: enter_branch(i, strand, files); break;
      case Code::EndIf:
        strand.masks.pop_back();
        strand.at++;
        break;
      case Code::Barrier: arrive(i, strand); break;
    }
  }
}

void Machine::compute(const Instruction& i, Strand& strand, const Files& files) {
  const Operand src[3] = {files.at(i.src[0]), files.at(i.src[1]), files.at(i.src[2])};
  const int64_t n = i.is_uniform ? 1 : strand.count;
  Slot* const out = files.out(i.out);
  strand.at++;
  if (i.freedom.is_some()) {
    compute_freely(i.scalar, i.op, i.freedom, options_.adversary->seed, out, src, n);
    return;
  }
  i.scalar.run(out, src, n);
  i.scalar.finish(out, n);
}

void Machine::access(const Instruction& i, Strand& strand, const Files& files) {
  const Access& a = program_.accesses[static_cast<size_t>(i.access)];
  const Lanes lanes = {strand.first, strand.count,
                       strand.masks.empty() ? nullptr : strand.masks.back(), pack(strand.counters),
                       static_cast<uint32_t>(strand.at) + 1};
  strand.at++;
  if (i.code == Code::Load) {
    memory_.load(a, lanes, files);
  } else {
    memory_.store(a, lanes, files);
  }
}

// Sets the innermost mask to those of the one around it for whom `holds` is true; false where there
// are none.
template <typename F>
bool Machine::narrow(Strand& strand, F holds) {
  const size_t level = strand.masks.size() - 1;
  const uint8_t* const outer = level == 0 ? nullptr : strand.masks[level - 1];
  uint8_t* const own = masks_.data() + level * static_cast<size_t>(batch_.lanes());
  bool is_any = false;
  bool is_all = outer == nullptr;
  for (int l = 0; l < strand.count; l++) {
    const int at = strand.first + l;
    const bool is_on = (outer == nullptr || outer[at] != 0) && holds(l);
    own[at] = is_on ? 1 : 0;
    is_any = is_any || is_on;
    is_all = is_all && is_on;
  }
  strand.masks[level] = is_all ? nullptr : own;
  return is_any;
}

// Whether anyone is in the iteration that the counter says.
bool Machine::goes_on(Strand& strand, Operand count) {
  const int64_t counter = strand.counters.back();
  if (count.stride == 0) return counter < static_cast<int64_t>(*count.data);
  return narrow(strand, [&](int l) { return counter < static_cast<int64_t>(count.data[l]); });
}

void Machine::enter_loop(const Instruction& i, Strand& strand, const Files& files) {
  strand.masks.push_back(strand.masks.empty() ? nullptr : strand.masks.back());
  strand.counters.push_back(0);
  *files.out(i.out) = 0;
  strand.at++;
  if (goes_on(strand, files.at(i.src[0]))) return;
  strand.at = i.partner + 1;
  strand.masks.pop_back();
  strand.counters.pop_back();
}

void Machine::end_loop(const Instruction& i, Strand& strand, const Files& files) {
  const Instruction& begin = program_.code[static_cast<size_t>(i.partner)];
  *files.out(begin.out) = static_cast<Slot>(++strand.counters.back());
  if (goes_on(strand, files.at(i.src[0]))) {
    strand.at = i.partner + 1;
    return;
  }
  strand.at++;
  strand.masks.pop_back();
  strand.counters.pop_back();
}

void Machine::enter_branch(const Instruction& i, Strand& strand, const Files& files) {
  const Operand gate = files.at(i.src[0]);
  strand.masks.push_back(strand.masks.empty() ? nullptr : strand.masks.back());
  const bool is_any =
      gate.stride == 0 ? *gate.data != 0 : narrow(strand, [&](int l) { return gate.data[l] != 0; });
  strand.at++;
  if (is_any) return;
  strand.at = i.partner + 1;
  strand.masks.pop_back();
}

}  // namespace assay::workgroup
