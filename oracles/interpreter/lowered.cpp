#include "oracles/interpreter/lowered.h"

#include <fmt/format.h>

#include <algorithm>

#include "oracles/interpreter/lowered_memory.h"

namespace assay::interpreter {
namespace {

// Lanes that run together: enough to pay for starting a step, few enough that arrays stay small.
constexpr int64_t kBlock = 4096;
constexpr int64_t kMostSlots = int64_t{1} << 28;

class LoweredRun {
 public:
  LoweredRun(const LoweredAxes& axes, const LoweredPlan& plan, std::span<const Argument> arguments)
      : axes_(axes), plan_(plan), memory_(axes, plan, arguments), counters_(plan.loops.size()) {}

  Result<bool> run(std::span<const int64_t> places, int64_t room, int64_t block);

 private:
  using Kind = LoweredStep::Kind;
  struct Frame {
    int scope;
    int step;  // the Nest or Fold that it is of; -1 for the kernel's
    size_t next = 0;
  };

  int64_t lanes(const LoweredStep& s) const { return s.laned ? block_.count : 1; }
  const LoweredStep& step(int i) const { return plan_.steps[static_cast<size_t>(i)]; }
  Slot* array(int i) { return arena_.data() + places_[static_cast<size_t>(i)]; }

  Result<bool> run_block();
  Result<bool> run_step(int number);
  bool enter(int scope, int step);
  bool advance(const LoweredScope& scope);
  void run_axis(int number);
  void run_scalar(int number);
  void run_move(int number);
  Result<bool> run_pick(int number);
  void run_bits(int number);
  Result<bool> run_access(int number);
  void fold(int number);

  const LoweredAxes& axes_;
  const LoweredPlan& plan_;
  LoweredMemory memory_;
  LaneBlock block_;
  std::span<const int64_t> places_;
  std::vector<Slot> arena_;
  std::vector<int64_t> counters_;
  std::vector<Frame> frames_;
};

Result<bool> LoweredRun::run(std::span<const int64_t> places, int64_t room, int64_t block) {
  places_ = places;
  arena_.resize(static_cast<size_t>(room));
  for (int64_t first = 0; first < axes_.lanes; first += block) {
    block_ = {first, std::min(block, axes_.lanes - first)};
    memory_.begin(block_);
    if (const auto ran = run_block(); !ran.ok()) return ran.error();
  }
  return true;
}

// Whether there is an iteration to run.
bool LoweredRun::enter(int scope, int step) {
  for (const int loop : plan_.scopes[static_cast<size_t>(scope)].loops) {
    if (plan_.loops[static_cast<size_t>(loop)] == 0) return false;
    counters_[static_cast<size_t>(loop)] = 0;
  }
  frames_.push_back({scope, step});
  return true;
}

bool LoweredRun::advance(const LoweredScope& scope) {
  for (size_t i = scope.loops.size(); i-- > 0;) {
    const auto loop = static_cast<size_t>(scope.loops[i]);
    if (++counters_[loop] < plan_.loops[loop]) return true;
    counters_[loop] = 0;
  }
  return false;
}

Result<bool> LoweredRun::run_block() {
  enter(0, -1);
  while (!frames_.empty()) {
    Frame& frame = frames_.back();
    const LoweredScope& scope = plan_.scopes[static_cast<size_t>(frame.scope)];
    if (frame.next == scope.steps.size()) {
      const int nest = frame.step;
      if (nest >= 0 && step(nest).kind == Kind::Fold) fold(nest);
      frame.next = 0;
      if (!advance(scope)) frames_.pop_back();
      continue;
    }
    const int now = scope.steps[frame.next++];
    const LoweredStep& s = step(now);
    if (s.kind == Kind::Fold) std::fill_n(array(now), lanes(s) * s.size, s.value);
    if (s.kind == Kind::Nest || s.kind == Kind::Fold) {
      if (s.at >= 0) {
        enter(s.at, now);
      } else {
        fold(now);
      }
      continue;
    }
    if (const auto ran = run_step(now); !ran.ok()) return ran.error();
  }
  return true;
}

Result<bool> LoweredRun::run_step(int number) {
  const LoweredStep& s = step(number);
  Slot* out = array(number);
  switch (s.kind) {
    case Kind::Value: *out = s.value; break;
    case Kind::Axis: run_axis(number); break;
    case Kind::Counter:
      *out = wrapped(static_cast<Slot>(counters_[static_cast<size_t>(s.at)]), s.dtype);
      break;
    case Kind::Iota:
      for (int64_t e = 0; e < s.size; e++) out[e] = static_cast<Slot>(e);
      break;
    case Kind::Scalar: run_scalar(number); break;
    case Kind::Move: run_move(number); break;
    case Kind::Bits: run_bits(number); break;
    case Kind::Pick: return run_pick(number);
    case Kind::Read:
    case Kind::Write: return run_access(number);
    case Kind::Same:
    case Kind::Nest:
    case Kind::Fold: break;
  }
  return true;
}

void LoweredRun::run_axis(int number) {
  const LoweredStep& s = step(number);
  const LaunchAxis& axis = axes_.axes[static_cast<size_t>(s.at)];
  Slot* out = array(number);
  for (int64_t i = 0; i < block_.count; i++) {
    const int64_t at = (block_.first + i) / axis.weight % axis.extent;
    out[i] = wrapped(static_cast<Slot>(at), s.dtype);
  }
}

void LoweredRun::run_scalar(int number) {
  const LoweredStep& s = step(number);
  Slot* out = array(number);
  const int64_t n = lanes(s) * s.size;
  bool plain = true;
  Operand operands[3] = {};
  for (size_t k = 0; k < s.sources.size(); k++) {
    const LoweredStep& source = step(s.sources[k]);
    const bool one = source.size == 1 && !source.laned;
    plain = plain && (one || (source.size == s.size && source.laned == s.laned));
    operands[k] = {array(s.sources[k]), one ? 0 : 1};
  }
  if (plain) {
    s.scalar.run(out, operands, n);
    s.scalar.finish(out, n);
    return;
  }
  for (int64_t lane = 0; lane < lanes(s); lane++) {
    for (size_t k = 0; k < s.sources.size(); k++) {
      const LoweredStep& source = step(s.sources[k]);
      const int64_t row = source.laned ? lane * source.size : 0;
      operands[k] = {array(s.sources[k]) + row, source.size == 1 ? 0 : 1};
    }
    s.scalar.run(out + lane * s.size, operands, s.size);
  }
  s.scalar.finish(out, n);
}

void LoweredRun::run_move(int number) {
  const LoweredStep& s = step(number);
  Slot* out = array(number);
  for (int64_t lane = 0; lane < lanes(s); lane++) {
    for (const LoweredStep::Taken& taken : s.moves) {
      const int source = s.sources[static_cast<size_t>(taken.source)];
      const int64_t row = step(source).laned ? lane * step(source).size : 0;
      *out++ = array(source)[row + taken.element];
    }
  }
}

Result<bool> LoweredRun::run_pick(int number) {
  const LoweredStep& s = step(number);
  const LoweredStep& from = step(s.sources[0]);
  const LoweredStep& rows = step(s.sources[1]);
  const LoweredStep* gate = s.sources[2] < 0 ? nullptr : &step(s.sources[2]);
  if (s.size == 0) return true;
  const int64_t width = s.size / rows.size;
  const bool dead = memory_.is_dead(s.axes);
  Slot* out = array(number);
  for (int64_t lane = 0; lane < lanes(s); lane++) {
    const Slot* x = array(s.sources[0]) + (from.laned ? lane * from.size : 0);
    const Slot* at = array(s.sources[1]) + (rows.laned ? lane * rows.size : 0);
    for (int64_t r = 0; r < rows.size; r++, out += width) {
      bool held = !dead;
      if (gate != nullptr && held) {
        const int64_t row = gate->laned ? lane * gate->size : 0;
        held = array(s.sources[2])[row + (gate->size == 1 ? 0 : r)] != 0;
      }
      if (!held) {
        std::fill_n(out, width, poison(s.dtype));
        continue;
      }
      const auto index = static_cast<int64_t>(at[r]);
      if (index < 0 || (index + 1) * width > from.size)
        return Error{fmt::format("takes element {} of a value of {}", index, from.size / width)};
      std::copy_n(x + index * width, width, out);
    }
  }
  return true;
}

void LoweredRun::run_bits(int number) {
  const LoweredStep& s = step(number);
  const LoweredStep& from = step(s.sources[0]);
  std::vector<std::byte> bytes(static_cast<size_t>(from.size * uop::bytes_of(from.dtype)));
  for (int64_t lane = 0; lane < lanes(s); lane++) {
    encode(from.dtype, array(s.sources[0]) + lane * from.size, bytes.data(), from.size);
    decode(s.dtype, bytes.data(), array(number) + lane * s.size, s.size);
  }
}

Result<bool> LoweredRun::run_access(int number) {
  const LoweredStep& s = step(number);
  const Slot* from[3] = {};
  int64_t sizes[3] = {1, 1, 1};
  bool laned[3] = {};
  for (size_t k = 0; k < 3; k++) {
    if (s.sources[k] < 0) continue;
    from[k] = array(s.sources[k]);
    sizes[k] = step(s.sources[k]).size;
    laned[k] = step(s.sources[k]).laned;
  }
  if (s.kind == Kind::Read) return memory_.read(s, from, sizes, laned, array(number));
  return memory_.write(number, s, from, sizes, laned);
}

void LoweredRun::fold(int number) {
  const LoweredStep& s = step(number);
  if (s.size == 0) return;
  const int64_t rows = step(s.sources[0]).size / s.size;
  Slot* acc = array(number);
  const Slot* x = array(s.sources[0]);
  if (rows == 1) {
    const Operand operands[] = {{acc, 1}, {x, 1}};
    s.scalar.run(acc, operands, lanes(s) * s.size);
    s.scalar.finish(acc, lanes(s) * s.size);
    return;
  }
  for (int64_t lane = 0; lane < lanes(s); lane++, acc += s.size) {
    for (int64_t row = 0; row < rows; row++, x += s.size) {
      const Operand operands[] = {{acc, 1}, {x, 1}};
      s.scalar.run(acc, operands, s.size);
      s.scalar.finish(acc, s.size);
    }
  }
}

Result<bool> check_arguments(const LoweredPlan& plan, std::span<const Argument> arguments) {
  for (const LoweredStorage& s : plan.storage) {
    if (s.space != uop::AddrSpace::Global) continue;
    if (s.number >= std::ssize(arguments))
      return Error{fmt::format("takes argument {}, given {}", s.number, arguments.size())};
    const Argument& a = arguments[static_cast<size_t>(s.number)];
    const bool fits = s.exact && a.exact ? s.size == a.size : s.size <= a.size;
    if (may_bind(s.dtype, a.dtype) && fits) continue;
    return Error{fmt::format("argument {} (buffer {}) is {} {}, the parameter {} {}", s.number,
                             a.buffer, a.size, uop::to_text(a.dtype), s.size,
                             uop::to_text(s.dtype))};
  }
  return true;
}

}  // namespace

Result<bool> run_kernel(uop::Graph& g, uop::Ref kernel, std::span<const Argument> arguments,
                        const Variables& variables, StepOrder order) {
  ASSAY_TRY(axes, axes_of(g, kernel, variables));
  ASSAY_TRY(plan, plan_lowered(g, axes, variables, order));
  if (const auto fits = check_arguments(plan, arguments); !fits.ok()) return fits.error();
  const int64_t groups = std::max<int64_t>(kBlock / axes.group, 1);
  const int64_t block = std::min(axes.lanes, groups * axes.group);
  std::vector<int64_t> places;
  int64_t room = 0;
  for (const LoweredStep& s : plan.steps) {
    if (s.kind == LoweredStep::Kind::Same) {
      places.push_back(places[static_cast<size_t>(s.sources[0])]);
      continue;
    }
    places.push_back(room);
    room += (s.laned ? block : 1) * s.size;
    if (room > kMostSlots) return Error{"a kernel that is too large to interpret"};
  }
  return LoweredRun(axes, plan, arguments).run(places, room, block);
}

}  // namespace assay::interpreter
