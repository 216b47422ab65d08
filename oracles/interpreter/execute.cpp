#include "oracles/interpreter/execute.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "oracles/interpreter/rows.h"

namespace assay::interpreter {
namespace {

constexpr uint64_t kEverything = ~uint64_t{0};
// Stands for a gate that always holds.
constexpr Slot kTrue = 1;

// The elements of a parameter, and the first index found outside them.
struct Storage {
  std::byte* bytes;
  int64_t size;
  DType dtype;
  std::optional<int64_t> outside;

  bool has(int64_t i) {
    if (static_cast<uint64_t>(i) < static_cast<uint64_t>(size)) return true;
    if (!outside) outside = i;
    return false;
  }
};

// src: index, gate, what stands where nothing is read.
template <typename Codec>
void gather(Storage& from, Slot* out, const Operand* src, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    const auto at = static_cast<int64_t>(src[0].data[i * src[0].stride]);
    const bool held = src[1].data[i * src[1].stride] != 0;
    out[i] = held && from.has(at) ? load<Codec>(from.bytes, at) : src[2].data[i * src[2].stride];
  }
}
// src: index, gate, value.
template <typename Codec>
void scatter(Storage& to, const Operand* src, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    const auto at = static_cast<int64_t>(src[0].data[i * src[0].stride]);
    const bool held = src[1].data[i * src[1].stride] != 0;
    if (held && to.has(at)) store<Codec>(to.bytes, at, src[2].data[i * src[2].stride]);
  }
}

class Execution {
 public:
  Execution(const Effect& effect, std::span<const Parameter> parameters,
            std::span<const Argument> arguments, Slot* scratch)
      : effect_(effect), parameters_(parameters), arguments_(arguments), scratch_(scratch) {
    for (const Loop& loop : effect.loops) blocks_.push_back({0, std::min(loop.count, loop.block)});
  }

  Result<bool> run() {
    if (effect_.iteration >= 0) {
      writers_.assign(static_cast<size_t>(parameters_[parameter()].size), -1);
      recording_ = true;
      if (const auto recorded = run_loops(); !recorded.ok()) return recorded.error();
      recording_ = false;
    }
    return run_loops();
  }

 private:
  struct Block {
    int64_t begin;
    int64_t extent;
  };
  struct Frame {
    int scope;
    size_t next;       // of its steps
    uint64_t changed;  // the loops that are in another block than when its steps ran last
  };

  size_t parameter() const { return static_cast<size_t>(effect_.parameter); }
  const Scope& scope(int i) const { return effect_.scopes[static_cast<size_t>(i)]; }
  const Step& step(int i) const { return effect_.steps[static_cast<size_t>(i)]; }
  Slot* array(int i) { return scratch_ + step(i).place; }
  int64_t extent_of(uint64_t loops) const;
  Rows rows(uint64_t loops, std::span<const int> sources) const;

  Result<bool> run_loops();
  void enter(int scope, uint64_t changed);
  // To the next block of the loops of the last frame; false after the last one.
  bool advance(Frame& frame);
  void fold(const Scope& inner);
  Result<bool> run_step(const Step& s);
  void run_scalar(const Step& s);
  Result<bool> run_load(const Step& s);
  Result<bool> run_check(const Step& s);
  Result<bool> run_store();
  Error outside(const char* does, int parameter, int64_t index) const;
  std::optional<int64_t> raced(const Step& s, int64_t index, int64_t iteration) const;

  const Effect& effect_;
  std::span<const Parameter> parameters_;
  std::span<const Argument> arguments_;
  Slot* scratch_;
  std::vector<Block> blocks_;  // by loop
  std::vector<Frame> frames_;
  std::vector<int64_t> writers_;  // by element: the iteration that writes it, or -1
  bool recording_ = false;        // who writes what; nothing is stored
};

int64_t Execution::extent_of(uint64_t loops) const {
  int64_t n = 1;
  for (; loops != 0; loops &= loops - 1) {
    n *= blocks_[static_cast<size_t>(std::countr_zero(loops))].extent;
  }
  return n;
}

// Over the block of the loops, with the arrays of steps as operands; -1 is one value for all.
Rows Execution::rows(uint64_t loops, std::span<const int> sources) const {
  Rows rows(static_cast<int>(sources.size()));
  int64_t next[Rows::kSources] = {1, 1, 1, 1};
  while (loops != 0) {
    const int loop = 63 - std::countl_zero(loops);
    const uint64_t bit = uint64_t{1} << loop;
    loops &= ~bit;
    const int64_t extent = blocks_[static_cast<size_t>(loop)].extent;
    int64_t strides[Rows::kSources] = {};
    for (size_t k = 0; k < sources.size(); k++) {
      if (sources[k] < 0 || (step(sources[k]).loops & bit) == 0) continue;
      strides[k] = next[k];
      next[k] *= extent;
    }
    rows.add(extent, strides);
  }
  return rows;
}

void Execution::enter(int number, uint64_t changed) {
  const Scope& s = scope(number);
  for (int i = s.first_loop; i < s.first_loop + s.loop_count; i++) {
    const Loop& loop = effect_.loops[static_cast<size_t>(i)];
    blocks_[static_cast<size_t>(i)] = {0, std::min(loop.count, loop.block)};
    if (loop.block < loop.count) changed |= uint64_t{1} << i;
  }
  frames_.push_back({number, 0, changed});
}

bool Execution::advance(Frame& frame) {
  const Scope& s = scope(frame.scope);
  frame.next = 0;
  frame.changed = 0;
  for (int i = s.first_loop + s.loop_count; i-- > s.first_loop;) {
    const Loop& loop = effect_.loops[static_cast<size_t>(i)];
    Block& block = blocks_[static_cast<size_t>(i)];
    if (loop.block < loop.count) frame.changed |= uint64_t{1} << i;
    block.begin += block.extent;
    const bool more = block.begin < loop.count;
    if (!more) block.begin = 0;
    block.extent = std::min(loop.block, loop.count - block.begin);
    if (more) return true;
  }
  return false;
}

Result<bool> Execution::run_loops() {
  enter(0, kEverything);
  while (!frames_.empty()) {
    Frame& frame = frames_.back();
    const Scope& s = scope(frame.scope);
    const bool outer = s.parent < 0;
    const size_t end = outer && recording_ ? effect_.addresses : s.steps.size();
    if (frame.next < end) {
      const Step& now = step(s.steps[frame.next++]);
      if (frame.changed != kEverything && (now.loops & frame.changed) == 0) continue;
      if (now.kind == Step::Kind::Reduce) {
        std::fill_n(scratch_ + now.place, extent_of(now.loops), now.value);
        enter(now.at, frame.changed);
        continue;
      }
      if (const auto ran = run_step(now); !ran.ok()) return ran.error();
      continue;
    }
    if (outer) {
      if (const auto stored = run_store(); !stored.ok()) return stored.error();
    } else {
      fold(s);
    }
    if (!advance(frame)) frames_.pop_back();
  }
  return true;
}

void Execution::fold(const Scope& inner) {
  const Step& reduce = step(inner.reduce);
  const int64_t row = extent_of(inner.loops());
  const int64_t rows = extent_of(reduce.loops);
  Slot* acc = scratch_ + reduce.place;
  const Slot* values = array(inner.result);
  if (row != 1) return reduce.over_rows(acc, rows, values, row, reduce.dtype);
  const Operand operands[] = {{acc, 1}, {values, 1}};
  reduce.scalar.run(acc, operands, rows);
  reduce.scalar.finish(acc, rows);
}

Result<bool> Execution::run_step(const Step& s) {
  Slot* out = scratch_ + s.place;
  switch (s.kind) {
    case Step::Kind::Value: *out = s.value; return true;
    case Step::Kind::Range: {
      const Block block = blocks_[static_cast<size_t>(s.at)];
      for (int64_t i = 0; i < block.extent; i++) {
        out[i] = wrapped(static_cast<Slot>(block.begin + i), s.dtype);
      }
      return true;
    }
    case Step::Kind::Scalar: run_scalar(s); return true;
    case Step::Kind::Load: return run_load(s);
    case Step::Kind::Check: return run_check(s);
    case Step::Kind::Reduce: break;
  }
  return true;
}

void Execution::run_scalar(const Step& s) {
  Slot* out = scratch_ + s.place;
  const int64_t n = extent_of(s.loops);
  Operand operands[3] = {};
  const Slot* from[3] = {};
  size_t count = 0;
  bool plain = true;
  while (count < 3 && s.sources[count] >= 0) {
    const Step& source = step(s.sources[count]);
    from[count] = scratch_ + source.place;
    operands[count] = {from[count], source.loops == 0 ? 0 : 1};
    plain = plain && (source.loops == 0 || source.loops == s.loops);
    count++;
  }
  if (plain) {
    s.scalar.run(out, operands, n);
  } else {
    rows(s.loops, {s.sources, count}).each(from, [&](int64_t place, const Operand* src, int64_t m) {
      s.scalar.run(out + place, src, m);
    });
  }
  s.scalar.finish(out, n);
}

Error Execution::outside(const char* does, int parameter, int64_t index) const {
  const auto k = static_cast<size_t>(parameter);
  return {fmt::format("{} element {} of argument {} (buffer {}), which holds {}", does, index, k,
                      arguments_[k].buffer, parameters_[k].size)};
}

Result<bool> Execution::run_load(const Step& s) {
  const auto k = static_cast<size_t>(s.at);
  Storage storage = {arguments_[k].bytes.data(), parameters_[k].size, parameters_[k].dtype, {}};
  const Slot none = poison(s.dtype);
  const Slot* from[3] = {array(s.sources[0]), s.sources[1] < 0 ? &kTrue : array(s.sources[1]),
                         s.sources[2] < 0 ? &none : array(s.sources[2])};
  Slot* out = scratch_ + s.place;
  const Rows box = rows(s.loops, s.sources);
  with_codec(s.dtype, [&]<typename Codec>(Codec) {
    box.each(from, [&](int64_t place, const Operand* src, int64_t n) {
      gather<Codec>(storage, out + place, src, n);
    });
  });
  if (storage.outside) return outside("reads", s.at, *storage.outside);
  return true;
}

// The element that another iteration writes of those whose bytes an element of a parameter has.
std::optional<int64_t> Execution::raced(const Step& s, int64_t index, int64_t iteration) const {
  const Argument& read = arguments_[static_cast<size_t>(s.at)];
  const Argument& written = arguments_[parameter()];
  const int64_t width = uop::bytes_of(read.dtype);
  const int64_t written_width = uop::bytes_of(written.dtype);
  const int64_t first = read.bytes.data() - written.bytes.data() + index * width;
  const int64_t last = first + width - 1;
  if (last < 0) return std::nullopt;
  const auto end = static_cast<int64_t>(writers_.size());
  for (int64_t e = std::max<int64_t>(first, 0) / written_width;
       e <= last / written_width && e < end; e++) {
    const int64_t writer = writers_[static_cast<size_t>(e)];
    if (writer >= 0 && writer != iteration) return e;
  }
  return std::nullopt;
}

Result<bool> Execution::run_check(const Step& s) {
  if (recording_) return true;
  const Slot* from[3] = {array(s.sources[0]), s.sources[1] < 0 ? &kTrue : array(s.sources[1]),
                         array(s.sources[2])};
  std::optional<int64_t> element;
  rows(s.loops, s.sources).each(from, [&](int64_t /*place*/, const Operand* src, int64_t n) {
    for (int64_t i = 0; i < n && !element; i++) {
      if (src[1].data[i * src[1].stride] == 0) continue;
      element = raced(s, static_cast<int64_t>(src[0].data[i * src[0].stride]),
                      static_cast<int64_t>(src[2].data[i * src[2].stride]));
    }
  });
  if (!element) return true;
  return Error{
      fmt::format("reads element {} of the buffer it writes ({}), which another iteration writes",
                  *element, arguments_[parameter()].buffer)};
}

Result<bool> Execution::run_store() {
  const Parameter& p = parameters_[parameter()];
  Storage storage = {arguments_[parameter()].bytes.data(), p.size, p.dtype, {}};
  const int third = recording_ ? effect_.iteration : effect_.value;
  const int sources[3] = {effect_.index, effect_.gate, third};
  const Slot* from[3] = {array(effect_.index), effect_.gate < 0 ? &kTrue : array(effect_.gate),
                         array(third)};
  const Rows box = rows(scope(0).loops(), sources);
  if (recording_) {
    storage.bytes = reinterpret_cast<std::byte*>(writers_.data());
    box.each(from, [&](int64_t /*place*/, const Operand* src, int64_t n) {
      scatter<IntCodec<int64_t, true>>(storage, src, n);
    });
  } else {
    with_codec(p.dtype, [&]<typename Codec>(Codec) {
      box.each(from, [&](int64_t /*place*/, const Operand* src, int64_t n) {
        scatter<Codec>(storage, src, n);
      });
    });
  }
  if (storage.outside) return outside("writes", effect_.parameter, *storage.outside);
  return true;
}

}  // namespace

Result<bool> execute(const Effect& effect, std::span<const Parameter> parameters,
                     std::span<const Argument> arguments, Slot* scratch) {
  return Execution(effect, parameters, arguments, scratch).run();
}

}  // namespace assay::interpreter
