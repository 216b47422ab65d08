#include "oracles/workgroup/memory.h"

#include <algorithm>
#include <numeric>

#include "oracles/interpreter/numbers.h"

namespace assay::workgroup {

using interpreter::Operand;
using uop::AddrSpace;

namespace {

// What stands for an element where a lane touches none: its gate is false, or its index is outside.
constexpr int64_t kOff = -1;
constexpr int64_t kOut = -2;

// Cells that the shadow of a region has at most: 56 bytes each.
constexpr int64_t kMostCells = int64_t{1} << 23;

}  // namespace

Memory::Memory(const Program& program, const Options& options, const Batch& batch,
               Findings& findings)
    : options_(options), batch_(batch), findings_(findings) {
  on_.resize(static_cast<size_t>(batch.lanes()));
  where_.resize(static_cast<size_t>(batch.lanes()));
  for (int lane = 0; lane < batch.lanes(); lane++) groups_.push_back(lane / batch.group_size);
  places_.resize(program.storages.size());
  for (size_t i = 0; i < places_.size(); i++) {
    places_[i].storage = &program.storages[i];
    if (program.storages[i].space == AddrSpace::Reg) make_registers(places_[i]);
    if (program.storages[i].space == AddrSpace::Local) make_local(places_[i]);
  }
}

void Memory::make_registers(Place& place) {
  const auto cells = static_cast<size_t>(place.storage->size * batch_.lanes());
  place.cells.resize(cells);
  place.known.resize(options_.is_checked && place.storage->is_read ? cells : 0);
}

void Memory::make_local(Place& place) {
  const Storage& s = *place.storage;
  const int64_t bytes = uop::bytes_of(s.type);
  const int64_t elements = s.size * batch_.groups;
  place.per_group = s.size;
  place.local.resize(static_cast<size_t>(elements * bytes));
  place.bytes = place.local.data();
  place.region = static_cast<int>(regions_.size());
  Region region;
  region.begin = place.bytes;
  region.end = place.bytes + elements * bytes;
  region.granule = bytes;
  region.is_written = s.is_written;
  region.known.resize(options_.is_checked && s.is_read ? static_cast<size_t>(elements) : 0);
  regions_.push_back(std::move(region));
}

Result<bool> Memory::bind_argument(Place& place, std::span<const Argument> arguments) {
  const Storage& s = *place.storage;
  if (s.number < 0 || s.number >= static_cast<int64_t>(arguments.size()))
    return Error{fmt::format("param {} has no argument", s.number)};
  const Argument& argument = arguments[static_cast<size_t>(s.number)];
  const int64_t bytes = s.size * uop::bytes_of(s.type);
  if (static_cast<int64_t>(argument.bytes.size()) < bytes)
    return Error{fmt::format("argument {} has {} bytes when its param wants {}", s.number,
                             argument.bytes.size(), bytes)};
  if (!argument.known.empty() && argument.known.size() != argument.bytes.size())
    return Error{fmt::format("argument {} has {} bytes and knows of {}", s.number,
                             argument.bytes.size(), argument.known.size())};
  place.bytes = argument.bytes.data();
  return true;
}

// PARAMs whose bytes overlap are one region, so that a race between them shows.
void Memory::share_regions() {
  std::vector<size_t> order;
  for (size_t i = 0; i < places_.size(); i++) {
    if (places_[i].storage->space == AddrSpace::Global) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(places_[a].bytes, a) < std::pair(places_[b].bytes, b);
  });
  const size_t first = regions_.size();
  for (const size_t i : order) {
    Place& place = places_[i];
    const int64_t element = uop::bytes_of(place.storage->type);
    std::byte* const end = place.bytes + place.storage->size * element;
    if (regions_.size() == first || regions_.back().end <= place.bytes) {
      Region region;
      region.begin = place.bytes;
      region.end = end;
      region.granule = element;
      regions_.push_back(std::move(region));
    }
    Region& region = regions_.back();
    region.end = std::max(region.end, end);
    region.granule = std::gcd(std::gcd(region.granule, element), place.bytes - region.begin);
    region.is_written = region.is_written || place.storage->is_written;
    place.region = static_cast<int>(regions_.size()) - 1;
  }
  // The granule is known once all that share it are there.
  for (const size_t i : order) {
    Place& place = places_[i];
    const Region& region = regions_[static_cast<size_t>(place.region)];
    place.first_cell = (place.bytes - region.begin) / region.granule;
    place.cells_each = uop::bytes_of(place.storage->type) / region.granule;
  }
}

void Memory::watch(Region& region) {
  if (!options_.is_checked || !region.is_written) return;
  const int64_t bytes = region.end - region.begin;
  const int64_t cells = bytes / region.granule;
  if (cells <= kMostCells) {
    region.shadow.resize(cells);
  } else {
    unwatched_bytes_ += bytes;
  }
}

// f(cell of the region, bytes of the argument that are it) for each cell.
template <typename F>
void Memory::each_known(const Place& place, const Argument& argument, F f) {
  const Region& region = regions_[static_cast<size_t>(place.region)];
  const auto granule = static_cast<size_t>(region.granule);
  const auto first = static_cast<size_t>(place.bytes - region.begin) / granule;
  const auto size = static_cast<size_t>(place.storage->size * uop::bytes_of(place.storage->type));
  for (size_t at = 0; at < size; at += granule)
    f(first + at / granule, argument.known.subspan(at, granule));
}

void Memory::take_known(const Place& place, const Argument& argument) {
  if (argument.known.empty() || !options_.is_checked) return;
  Region& region = regions_[static_cast<size_t>(place.region)];
  if (region.known.empty())
    region.known.assign(static_cast<size_t>((region.end - region.begin) / region.granule), 1);
  each_known(place, argument, [&](size_t cell, std::span<const uint8_t> bytes) {
    if (std::find(bytes.begin(), bytes.end(), 0) != bytes.end()) region.known[cell] = 0;
  });
}

void Memory::give_known(std::span<const Argument> arguments) {
  for (const Place& place : places_) {
    if (place.storage->space != AddrSpace::Global) continue;
    const Argument& argument = arguments[static_cast<size_t>(place.storage->number)];
    if (argument.known.empty() || !options_.is_checked) continue;
    const Region& region = regions_[static_cast<size_t>(place.region)];
    each_known(place, argument, [&](size_t cell, std::span<uint8_t> bytes) {
      if (region.known[cell] != 0) std::fill(bytes.begin(), bytes.end(), uint8_t{1});
    });
  }
}

Result<bool> Memory::bind(std::span<const Argument> arguments) {
  for (Place& place : places_) {
    if (place.storage->space != AddrSpace::Global) continue;
    ASSAY_TRY(bound, bind_argument(place, arguments));
    ASSAY_CHECK(bound);
  }
  share_regions();
  for (Region& region : regions_) watch(region);
  for (const Place& place : places_) {
    if (place.storage->space != AddrSpace::Global) continue;
    take_known(place, arguments[static_cast<size_t>(place.storage->number)]);
  }
  return true;
}

void Memory::begin() {
  for (Place& place : places_) {
    const Storage& s = *place.storage;
    std::fill(place.cells.begin(), place.cells.end(), interpreter::poison(s.type));
    std::fill(place.known.begin(), place.known.end(), uint8_t{0});
    if (s.space != AddrSpace::Local) continue;
    interpreter::fill_poison(s.type, place.bytes, s.size * batch_.groups);
    std::vector<uint8_t>& known = regions_[static_cast<size_t>(place.region)].known;
    std::fill(known.begin(), known.end(), uint8_t{0});
  }
}

void Memory::report(Fault fault, const Access& access, const Lanes& lanes, int lane,
                    int64_t element, const Touch& first) {
  Finding f;
  f.fault = fault;
  f.first = first;
  const auto item = batch_.items[static_cast<size_t>(lane)];
  f.second = {lanes.iterations, item, lanes.instruction};
  f.storage = access.storage;
  f.group = item / batch_.group_size;
  f.element = element;
  findings_.add(std::move(f));
}

// The lanes, from the first, that touch anything; null where all do.
const uint8_t* Memory::active(const Access& access, const Lanes& lanes, const Files& files) {
  const uint8_t* const mask = lanes.mask == nullptr ? nullptr : lanes.mask + lanes.first;
  if (!access.is_gated) return mask;
  const Operand gate = files.at(access.gate);
  for (int l = 0; l < lanes.count; l++)
    on_[static_cast<size_t>(l)] = gate.data[l * gate.stride] != 0 ? 1 : 0;
  for (int l = 0; l < lanes.count && mask != nullptr; l++) on_[static_cast<size_t>(l)] &= mask[l];
  return on_.data();
}

// Sets where_ of the lanes. A vector counts from its first element.
void Memory::locate(const Access& access, const Lanes& lanes, const Files& files) {
  const Place& place = places_[static_cast<size_t>(access.storage)];
  const Operand index = files.at(access.index);
  const uint8_t* const on = active(access, lanes, files);
  const int64_t ends = place.storage->size - access.width + 1;
  const uint64_t room = ends > 0 ? static_cast<uint64_t>(ends) : 0;
  int64_t* const where = where_.data() + lanes.first;
  bool is_inside = true;
  for (int l = 0; l < lanes.count; l++) {
    const Slot i = index.data[l * index.stride];
    const bool is_on = on == nullptr || on[l] != 0;
    is_inside = is_inside && (i < room || !is_on);
    where[l] = is_on ? static_cast<int64_t>(i) : kOff;
  }
  for (int l = 0; l < lanes.count && !is_inside; l++) {
    const bool is_on = on == nullptr || on[l] != 0;
    if (!is_on || static_cast<uint64_t>(where[l]) < room) continue;
    report(Fault::Bounds, access, lanes, lanes.first + l, where[l]);
    where[l] = kOut;
  }
  if (access.is_aligned) check_alignment(access, lanes);
  if (place.per_group == 0 || batch_.groups == 1) return;
  for (int l = 0; l < lanes.count; l++) {
    if (where[l] >= 0) where[l] += group_of(lanes.first + l) * place.per_group;
  }
}

void Memory::check_alignment(const Access& access, const Lanes& lanes) {
  for (int l = lanes.first; l < lanes.first + lanes.count; l++) {
    const int64_t element = where_[static_cast<size_t>(l)];
    if (element >= 0 && element % access.width != 0)
      report(Fault::Misaligned, access, lanes, l, element);
  }
}

// f(lane, cell of the region, element) for each cell that lanes touch.
template <typename F>
void Memory::each_cell(const Place& place, const Access& access, const Lanes& lanes, F f) {
  const int64_t each = place.cells_each;
  for (int l = lanes.first; l < lanes.first + lanes.count; l++) {
    const int64_t element = where_[static_cast<size_t>(l)];
    for (int64_t k = 0; element >= 0 && k < access.width; k++) {
      const int64_t first = place.first_cell + (element + k) * each;
      for (int64_t c = 0; c < each; c++) f(l, static_cast<size_t>(first + c), element + k);
    }
  }
}

template <bool writes>
void Memory::check_races(Place& place, const Access& access, const Lanes& lanes) {
  Shadow& shadow = regions_[static_cast<size_t>(place.region)].shadow;
  const bool is_local = place.storage->space == AddrSpace::Local;
  Touch touch = {lanes.iterations, 0, lanes.instruction};
  each_cell(place, access, lanes, [&](int lane, size_t cell, int64_t element) {
    touch.item = batch_.items[static_cast<size_t>(lane)];
    const uint32_t epoch = is_local ? batch_.epochs[static_cast<size_t>(group_of(lane))] : 1;
    const Touch racing =
        writes ? shadow.write(cell, epoch, touch) : shadow.read(cell, epoch, touch);
    if (racing.is_some()) [[unlikely]]
      report(Fault::Race, access, lanes, lane, own(place, lane, element), racing);
  });
}

template <bool writes>
void Memory::check_registers(Place& place, const Access& access, const Lanes& lanes) {
  for (int l = lanes.first; l < lanes.first + lanes.count; l++) {
    const int64_t element = where_[static_cast<size_t>(l)];
    for (int64_t k = 0; element >= 0 && k < access.width; k++) {
      uint8_t& known = place.known[static_cast<size_t>((element + k) * batch_.lanes() + l)];
      if (!writes && known == 0) report(Fault::Uninitialised, access, lanes, l, element + k);
      if (writes) known = 1;
    }
  }
}

template <bool writes>
void Memory::check(Place& place, const Access& access, const Lanes& lanes) {
  if (!place.known.empty()) check_registers<writes>(place, access, lanes);
  if (place.region < 0) return;
  Region& region = regions_[static_cast<size_t>(place.region)];
  if (!region.known.empty()) {
    each_cell(place, access, lanes, [&](int lane, size_t cell, int64_t element) {
      if (!writes && region.known[cell] == 0)
        report(Fault::Uninitialised, access, lanes, lane, own(place, lane, element));
      if (writes) region.known[cell] = 1;
    });
  }
  if (region.shadow.size() != 0) check_races<writes>(place, access, lanes);
}

void Memory::load(const Access& access, const Lanes& lanes, const Files& files) {
  Place& place = places_[static_cast<size_t>(access.storage)];
  locate(access, lanes, files);
  check<false>(place, access, lanes);
  const int64_t* const where = where_.data() + lanes.first;
  const Slot none = interpreter::poison(place.storage->type);
  for (int k = 0; k < access.width; k++) {
    Slot* const out = files.out(access.values[static_cast<size_t>(k)]);
    Operand other = {&none, 0};
    if (access.has_other)
      other = files.at(access.other[access.other.size() == 1 ? 0 : static_cast<size_t>(k)]);
    const auto off = [&](int l) { return where[l] == kOff ? other.data[l * other.stride] : none; };
    if (place.storage->space == AddrSpace::Reg) {
      const int64_t pitch = batch_.lanes();
      const Slot* const cells = place.cells.data() + lanes.first;
      for (int l = 0; l < lanes.count; l++)
        out[l] = where[l] >= 0 ? cells[(where[l] + k) * pitch + l] : off(l);
      continue;
    }
    interpreter::with_codec(place.storage->type, [&]<typename Codec>(Codec) {
      for (int l = 0; l < lanes.count; l++)
        out[l] = where[l] >= 0 ? interpreter::load<Codec>(place.bytes, where[l] + k) : off(l);
    });
  }
}

void Memory::store(const Access& access, const Lanes& lanes, const Files& files) {
  Place& place = places_[static_cast<size_t>(access.storage)];
  locate(access, lanes, files);
  check<true>(place, access, lanes);
  const int64_t* const where = where_.data() + lanes.first;
  for (int k = 0; k < access.width; k++) {
    const Operand value =
        files.at(access.values[access.values.size() == 1 ? 0 : static_cast<size_t>(k)]);
    if (place.storage->space == AddrSpace::Reg) {
      const int64_t pitch = batch_.lanes();
      Slot* const cells = place.cells.data() + lanes.first;
      for (int l = 0; l < lanes.count; l++)
        if (where[l] >= 0) cells[(where[l] + k) * pitch + l] = value.data[l * value.stride];
      continue;
    }
    interpreter::with_codec(place.storage->type, [&]<typename Codec>(Codec) {
      for (int l = 0; l < lanes.count; l++)
        if (where[l] >= 0)
          interpreter::store<Codec>(place.bytes, where[l] + k, value.data[l * value.stride]);
    });
  }
}

}  // namespace assay::workgroup
