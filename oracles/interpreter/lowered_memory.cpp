#include "oracles/interpreter/lowered_memory.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::interpreter {

using uop::AddrSpace;

namespace {

// One of a step's sources.
struct Source {
  const Slot* data;
  int64_t size;
  bool laned;

  Slot at(int64_t lane, int64_t element) const {
    const int64_t row = laned ? lane * size : 0;
    return data[row + (size == 1 ? 0 : element)];
  }
};

bool holds(const Source& gate, int64_t lane, int64_t element) {
  return gate.data == nullptr || gate.at(lane, element) != 0;
}

}  // namespace

LoweredMemory::LoweredMemory(const LoweredAxes& axes, const LoweredPlan& plan,
                             std::span<const Argument> arguments)
    : axes_(axes), plan_(plan), arguments_(arguments), cells_(plan.storage.size()) {
  find_regions();
}

const Argument& LoweredMemory::argument(int storage) const {
  const auto slot = plan_.storage[static_cast<size_t>(storage)].number;
  return arguments_[static_cast<size_t>(slot)];
}

// The bytes of written arguments, those that overlap as one.
void LoweredMemory::find_regions() {
  const auto is_global = [&](size_t k) { return plan_.storage[k].space == AddrSpace::Global; };
  for (size_t k = 0; k < plan_.storage.size(); k++) {
    const LoweredStorage& s = plan_.storage[k];
    if (!is_global(k) || !s.written) continue;
    const auto bytes = argument(static_cast<int>(k)).bytes;
    Region now = {bytes.data(), bytes.data() + bytes.size(), s.axes, {}};
    std::erase_if(regions_, [&](const Region& r) {
      if (r.begin >= now.end || now.begin >= r.end) return false;
      now = {std::min(r.begin, now.begin), std::max(r.end, now.end), r.axes | now.axes, {}};
      return true;
    });
    regions_.push_back(std::move(now));
  }
  for (Region& r : regions_) {
    r.pages.resize(static_cast<size_t>(r.end - r.begin) / kPage + 1);
    if (axes_.specials != 0) r.axes &= axes_.group_axes();
  }
  regions_of_.resize(plan_.storage.size());
  for (size_t k = 0; k < plan_.storage.size(); k++) {
    if (!is_global(k)) continue;
    const auto bytes = argument(static_cast<int>(k)).bytes;
    for (size_t r = 0; r < regions_.size(); r++) {
      if (bytes.data() < regions_[r].end && regions_[r].begin < bytes.data() + bytes.size())
        regions_of_[k].push_back(static_cast<int>(r));
    }
  }
}

void LoweredMemory::begin(LaneBlock block) {
  block_ = block;
  along_.clear();
  for (size_t k = 0; k < plan_.storage.size(); k++) {
    const LoweredStorage& s = plan_.storage[k];
    if (s.space == AddrSpace::Global) continue;
    const int64_t copies = s.space == AddrSpace::Local ? block.count / axes_.group : block.count;
    cells_[k].slots.assign(static_cast<size_t>(copies * s.size), poison(s.dtype));
    cells_[k].stamps.assign(static_cast<size_t>(copies * s.size), -1);
  }
}

bool LoweredMemory::is_dead(uint64_t axes) const {
  for (size_t k = 0; k < axes_.axes.size(); k++) {
    if ((axes >> k & 1) != 0 && axes_.axes[k].count == 0) return true;
  }
  return false;
}

int64_t LoweredMemory::cell(const LoweredStorage& s, int64_t lane, int64_t offset) const {
  const int64_t copy = s.space == AddrSpace::Local ? lane / axes_.group : lane;
  return copy * s.size + offset;
}

// For each lane of the block, its number were all other axes 0.
const std::vector<int64_t>& LoweredMemory::lanes_along(uint64_t axes) {
  for (const auto& [known, numbers] : along_) {
    if (known == axes) return numbers;
  }
  std::vector<int64_t> numbers(static_cast<size_t>(block_.count), 0);
  for (size_t k = 0; k < axes_.axes.size(); k++) {
    if ((axes >> k & 1) == 0) continue;
    const LaunchAxis& axis = axes_.axes[k];
    for (int64_t i = 0; i < block_.count; i++) {
      numbers[static_cast<size_t>(i)] +=
          (block_.first + i) / axis.weight % axis.extent * axis.weight;
    }
  }
  along_.emplace_back(axes, std::move(numbers));
  return along_.back().second;
}

std::string LoweredMemory::name(const LoweredStep& s, int64_t offset) const {
  const LoweredStorage& storage = plan_.storage[static_cast<size_t>(s.at)];
  if (storage.space != AddrSpace::Global) {
    return fmt::format("element {} of {} buffer {}", offset, uop::to_text(storage.space),
                       storage.number);
  }
  return fmt::format("element {} of argument {} (buffer {})", offset, storage.number,
                     argument(s.at).buffer);
}

Error LoweredMemory::outside(const char* does, const LoweredStep& s, int64_t offset,
                             int64_t lane) const {
  const std::string at = axes_.lane_text(block_.first + lane);
  return {fmt::format("{} {}, which holds {}{}{}", does, name(s, offset),
                      plan_.storage[static_cast<size_t>(s.at)].size, at.empty() ? "" : ", at ",
                      at)};
}

LoweredMemory::Touch& LoweredMemory::Region::at(const std::byte* b) {
  const auto place = static_cast<size_t>(b - begin);
  std::vector<Touch>& page = pages[place / kPage];
  if (page.empty()) page.resize(kPage);
  return page[place % kPage];
}

// f(region, touch) for each byte of an element that is written somewhere.
template <typename F>
void LoweredMemory::touched(const LoweredStep& s, int64_t offset, F f) {
  const int64_t width = uop::bytes_of(s.dtype);
  const std::byte* first = argument(s.at).bytes.data() + offset * width;
  for (const int r : regions_of_[static_cast<size_t>(s.at)]) {
    Region& region = regions_[static_cast<size_t>(r)];
    for (const std::byte* b = first; b < first + width; b++) {
      if (b >= region.begin && b < region.end) f(region, region.at(b));
    }
  }
}

// A lane of -1 stands for all of them.
std::optional<Error> LoweredMemory::saw_read(const LoweredStep& s, int64_t lane, int64_t offset) {
  bool raced = false;
  touched(s, offset, [&](const Region& region, Touch& touch) {
    int64_t who = lane < 0 ? kMany : lanes_along(region.axes)[static_cast<size_t>(lane)];
    if (lane < 0) {
      int64_t many = 1;
      for (size_t k = 0; k < axes_.axes.size(); k++) {
        if ((region.axes >> k & 1) != 0) many *= axes_.axes[k].extent;
      }
      if (many == 1) who = 0;
    }
    raced = raced || (touch.writer != kNobody && touch.writer != who);
    touch.reader = touch.reader == kNobody || touch.reader == who ? who : kMany;
  });
  if (!raced) return std::nullopt;
  return Error{fmt::format("reads {}, which another work-item writes", name(s, offset))};
}

std::optional<Error> LoweredMemory::saw_write(int number, const LoweredStep& s, int64_t lane,
                                              int64_t offset) {
  const char* trouble = nullptr;
  touched(s, offset, [&](const Region& region, Touch& touch) {
    const int64_t who = lanes_along(region.axes)[static_cast<size_t>(lane)];
    if (touch.writer != kNobody && touch.writer != who) trouble = "another work-item writes";
    if (touch.reader != kNobody && touch.reader != who) trouble = "another work-item reads";
    if (touch.store == number) trouble = "the same store has written";
    touch.writer = who;
    touch.store = number;
  });
  if (trouble == nullptr) return std::nullopt;
  return Error{fmt::format("writes {}, which {}", name(s, offset), trouble)};
}

Result<bool> LoweredMemory::read(const LoweredStep& s, const Slot* const* from,
                                 const int64_t* sizes, const bool* laned, Slot* out) {
  const LoweredStorage& storage = plan_.storage[static_cast<size_t>(s.at)];
  const bool global = storage.space == AddrSpace::Global;
  const bool tracked = !regions_of_[static_cast<size_t>(s.at)].empty();
  const Source offsets = {from[0], sizes[0], laned[0]};
  const Source gate = {from[1], sizes[1], laned[1]};
  const Source other = {from[2], sizes[2], laned[2]};
  const int64_t lanes = s.laned ? block_.count : 1;
  if (is_dead(s.axes)) {
    std::fill_n(out, lanes * s.size, poison(s.dtype));
    return true;
  }
  const std::byte* bytes = global ? argument(s.at).bytes.data() : nullptr;
  const std::vector<Slot>& slots = cells_[static_cast<size_t>(s.at)].slots;
  std::optional<Error> error;
  with_codec(s.dtype, [&]<typename Codec>(Codec) {
    for (int64_t lane = 0; lane < lanes && !error; lane++) {
      for (int64_t e = 0; e < s.size && !error; e++, out++) {
        if (!holds(gate, lane, e)) {
          *out = other.data == nullptr ? poison(s.dtype) : other.at(lane, e);
          continue;
        }
        const auto offset = static_cast<int64_t>(offsets.at(lane, e));
        if (offset < 0 || offset >= storage.size) {
          error = outside("reads", s, offset, lane);
          break;
        }
        *out = global ? load<Codec>(bytes, offset)
                      : slots[static_cast<size_t>(cell(storage, lane, offset))];
        if (tracked) error = saw_read(s, s.laned ? lane : -1, offset);
      }
    }
  });
  if (error) return *error;
  return true;
}

Result<bool> LoweredMemory::write(int number, const LoweredStep& s, const Slot* const* from,
                                  const int64_t* sizes, const bool* laned) {
  const LoweredStorage& storage = plan_.storage[static_cast<size_t>(s.at)];
  const bool global = storage.space == AddrSpace::Global;
  const bool own = storage.space == AddrSpace::Reg;
  const Source offsets = {from[0], sizes[0], laned[0]};
  const Source gate = {from[1], sizes[1], laned[1]};
  const Source value = {from[2], sizes[2], laned[2]};
  if (is_dead(s.axes)) return true;
  const std::vector<int64_t> active = lanes_along(s.axes);
  std::byte* bytes = global ? argument(s.at).bytes.data() : nullptr;
  Cells& cells = cells_[static_cast<size_t>(s.at)];
  writes_++;
  std::optional<Error> error;
  with_codec(s.dtype, [&]<typename Codec>(Codec) {
    for (int64_t lane = 0; lane < block_.count && !error; lane++) {
      if (!own && active[static_cast<size_t>(lane)] != block_.first + lane) continue;
      for (int64_t e = 0; e < s.size && !error; e++) {
        if (!holds(gate, lane, e)) continue;
        const auto offset = static_cast<int64_t>(offsets.at(lane, e));
        if (offset < 0 || offset >= storage.size) {
          error = outside("writes", s, offset, lane);
          break;
        }
        if (global) {
          store<Codec>(bytes, offset, value.at(lane, e));
          error = saw_write(number, s, lane, offset);
          continue;
        }
        const auto at = static_cast<size_t>(cell(storage, lane, offset));
        if (cells.stamps[at] == writes_)
          error = Error{fmt::format("writes {} twice at once", name(s, offset))};
        cells.stamps[at] = writes_;
        cells.slots[at] = value.at(lane, e);
      }
    }
  });
  if (error) return *error;
  return true;
}

}  // namespace assay::interpreter
