#include "engine/runtime/device.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/check.h"

namespace assay::runtime {
namespace {

// A number nobody has: one that was given back, or the next.
template <typename T>
uint32_t take_number(std::vector<uint32_t>& free, std::vector<T>& table) {
  if (free.empty()) {
    table.emplace_back();
    return static_cast<uint32_t>(table.size() - 1);
  }
  const uint32_t number = free.back();
  free.pop_back();
  return number;
}

std::string_view to_text(Command::Kind kind) {
  static constexpr std::string_view kNames[] = {"launch", "copy", "read", "write", "fill"};
  return kNames[static_cast<int>(kind)];
}

bool overlap(const View& a, const View& b) {
  return a.storage == b.storage && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

}  // namespace

std::string_view to_text(Status status) {
  static constexpr std::string_view kNames[] = {"ok", "fault", "timeout", "lost"};
  return kNames[static_cast<int>(status)];
}

Device::Device(std::string name, Target target)
    : name_(std::move(name)), target_(std::move(target)) {}

Result<StorageId> Device::allocate(int64_t bytes, std::string_view label) {
  return keep_storage(bytes, label, {});
}

Result<StorageId> Device::adopt(std::span<std::byte> memory, std::string_view label) {
  const auto address = reinterpret_cast<uintptr_t>(memory.data());
  if (memory.data() == nullptr || address % static_cast<uintptr_t>(target_.limits.alignment) != 0) {
    return Error{fmt::format("{}: memory of {} is not aligned to {} bytes", name_, label,
                             target_.limits.alignment),
                 0, 0};
  }
  return keep_storage(static_cast<int64_t>(memory.size()), label, memory);
}

Result<StorageId> Device::keep_storage(int64_t bytes, std::string_view label,
                                       std::span<std::byte> memory) {
  if (!lost_.empty()) return Error{fmt::format("{} is lost: {}", name_, lost_), 0, 0};
  if (bytes < 0 || bytes > target_.limits.allocation_bytes) {
    return Error{fmt::format("{}: {} is of {} bytes when the device allows {}", name_, label, bytes,
                             target_.limits.allocation_bytes),
                 0, 0};
  }
  const bool is_adopted = memory.data() != nullptr;
  const uint32_t number = take_number(free_storages_, storages_);
  const Result<bool> made =
      is_adopted ? adopt_storage(number, memory) : make_storage(number, bytes);
  if (!made.ok()) {
    free_storages_.push_back(number);
    return Error{fmt::format("{}: {} of {} bytes: {}", name_, label, bytes, made.error().message),
                 0, 0};
  }
  const uint32_t use = storages_[number].use;
  storages_[number] = {bytes, true, is_adopted, use, std::string(label)};
  live_storages_++;
  if (!is_adopted) live_bytes_ += bytes;
  peak_bytes_ = std::max(peak_bytes_, live_bytes_);
  return StorageId{number, generation_, use};
}

Result<bool> Device::adopt_storage(uint32_t, std::span<std::byte>) {
  return Error{"the device takes no memory of others", 0, 0};
}

void Device::release(StorageId storage) {
  if (storage.generation != generation_) return;
  ASSAY_CHECK(storage.number < storages_.size() && storages_[storage.number].is_live &&
                  storages_[storage.number].use == storage.use,
              "storage {} of {} is released twice", storage.number, name_);
  ASSAY_CHECK(!is_busy_, "storage of {} is released while it works", name_);
  StorageRow& s = storages_[storage.number];
  if (lost_.empty()) drop_storage(storage.number);
  if (!s.is_adopted) live_bytes_ -= s.bytes;
  live_storages_--;
  s = StorageRow{0, false, false, s.use + 1, ""};
  free_storages_.push_back(storage.number);
}

std::vector<Result<KernelId>> Device::build(Graph& g, std::span<const Ref> linears,
                                            uop::Watch* watch) {
  std::vector<Result<KernelId>> built;
  std::vector<Ref> sound;
  std::vector<uint32_t> numbers;
  std::vector<size_t> places;
  for (size_t i = 0; i < linears.size(); i++) {
    built.emplace_back(Error{fmt::format("{} is lost: {}", name_, lost_), 0, 0});
    if (!lost_.empty()) continue;
    Result<Signature> signature = signature_of(g, linears[i]);
    if (!signature.ok()) {
      built.back() = signature.error();
      continue;
    }
    const uint32_t number = take_number(free_kernels_, kernels_);
    kernels_[number].signature = std::move(signature).value();
    numbers.push_back(number);
    sound.push_back(linears[i]);
    places.push_back(i);
  }
  if (sound.empty()) return built;
  const std::vector<Result<bool>> made = make_kernels(g, sound, numbers, watch);
  for (size_t k = 0; k < sound.size(); k++) {
    if (!made[k].ok()) {
      built[places[k]] =
          Error{fmt::format("{}: kernel {}: {}", name_, kernels_[numbers[k]].signature.name,
                            made[k].error().message),
                0, 0};
      free_kernels_.push_back(numbers[k]);
      continue;
    }
    kernels_[numbers[k]].is_live = true;
    live_kernels_++;
    built[places[k]] = KernelId{numbers[k], generation_, kernels_[numbers[k]].use};
  }
  return built;
}

KernelId Device::take_kernel(Signature signature) {
  const uint32_t number = take_number(free_kernels_, kernels_);
  kernels_[number].signature = std::move(signature);
  kernels_[number].is_live = true;
  live_kernels_++;
  return {number, generation_, kernels_[number].use};
}

bool Device::is_live(KernelId kernel) const {
  return kernel.number < kernels_.size() && kernels_[kernel.number].is_live &&
         kernels_[kernel.number].use == kernel.use;
}

const Signature& Device::signature(KernelId kernel) const {
  ASSAY_CHECK(kernel.generation == generation_ && is_live(kernel), "{} has no such kernel", name_);
  return kernels_[kernel.number].signature;
}

void Device::release(KernelId kernel) {
  if (kernel.generation != generation_) return;
  ASSAY_CHECK(is_live(kernel), "kernel {} of {} is released twice", kernel.number, name_);
  ASSAY_CHECK(!is_busy_, "a kernel of {} is released while it works", name_);
  if (lost_.empty()) drop_kernel(kernel.number);
  kernels_[kernel.number] = KernelRow{{}, false, kernel.use + 1};
  live_kernels_--;
  free_kernels_.push_back(kernel.number);
}

std::string Device::view_error(const View& view) const {
  const StorageId id = view.storage;
  if (id.generation != generation_) {
    return fmt::format("storage of generation {} when {} is at {}", id.generation, name_,
                       generation_);
  }
  if (id.number >= storages_.size() || !storages_[id.number].is_live ||
      storages_[id.number].use != id.use) {
    return "storage that was released";
  }
  const StorageRow& s = storages_[id.number];
  if (view.offset < 0 || view.bytes < 0 || view.bytes > s.bytes - view.offset) {
    return fmt::format("{} bytes from {} on of {}, which has {}", view.bytes, view.offset, s.label,
                       s.bytes);
  }
  return "";
}

std::string Device::launch_error(const Batch& batch, const Command& command) const {
  if (command.kernel.generation != generation_) {
    return fmt::format("a kernel of generation {} when {} is at {}", command.kernel.generation,
                       name_, generation_);
  }
  if (!is_live(command.kernel)) return "a kernel that was released";
  const Signature& s = kernels_[command.kernel.number].signature;
  for (const Signature::Slot& slot : s.slots) {
    if (static_cast<size_t>(slot.slot) >= command.views.size()) {
      return fmt::format("{} has no argument for slot {}", s.name, slot.slot);
    }
    const View& view = command.views[static_cast<size_t>(slot.slot)];
    if (view.bytes < slot.bytes) {
      return fmt::format("slot {} of {} is given {} bytes when it takes {}", slot.slot, s.name,
                         view.bytes, slot.bytes);
    }
    if (view.offset != 0 && !target_.views) {
      return fmt::format("slot {} of {} is part of a buffer, which the device cannot bind",
                         slot.slot, s.name);
    }
    if (view.offset != 0 && view.offset % target_.view_alignment != 0) {
      return fmt::format("slot {} of {} begins at {}, which is no multiple of {}", slot.slot,
                         s.name, view.offset, target_.view_alignment);
    }
  }
  for (const Signature::Variable& v : s.variables) {
    const int64_t* value = find_variable(batch.variables, v.name);
    if (value == nullptr) return fmt::format("variable {} of {} has no value", v.name, s.name);
    if (*value < v.lo || *value > v.hi) {
      return fmt::format("variable {} is {} when it lies from {} to {}", v.name, *value, v.lo,
                         v.hi);
    }
  }
  const Result<Launch> sizes = s.sizes(batch.variables);
  return sizes.ok() ? "" : fmt::format("{}: {}", s.name, sizes.error().message);
}

std::string Device::command_error(const Batch& batch, size_t place) const {
  const Command& c = batch.commands[place];
  for (const int32_t wait : c.waits) {
    if (wait < 0 || static_cast<size_t>(wait) >= place) {
      return fmt::format("waits for command {}", wait);
    }
  }
  for (const View& view : c.views) {
    if (std::string error = view_error(view); !error.empty()) return error;
  }
  if (c.kind == Command::Kind::Launch) return launch_error(batch, c);
  const size_t views = c.kind == Command::Kind::Copy ? 2 : 1;
  if (c.views.size() != views) return fmt::format("has {} views", c.views.size());
  const auto bytes = static_cast<size_t>(c.views[0].bytes);
  if (c.kind == Command::Kind::Read && c.into.size() != bytes) {
    return fmt::format("{} bytes are read into {}", bytes, c.into.size());
  }
  if (c.kind == Command::Kind::Write && c.from.size() != bytes) {
    return fmt::format("{} bytes are written from {}", bytes, c.from.size());
  }
  if (c.kind != Command::Kind::Copy) return "";
  if (c.views[1].bytes != c.views[0].bytes) {
    return fmt::format("{} bytes become {}", c.views[0].bytes, c.views[1].bytes);
  }
  return overlap(c.views[0], c.views[1]) ? "source and destination overlap" : "";
}

Result<bool> Device::submit(Batch batch) {
  ASSAY_CHECK(!is_busy_, "{} is given a batch while it works on another", name_);
  if (!lost_.empty()) return Error{fmt::format("{} is lost: {}", name_, lost_), 0, 0};
  for (size_t i = 0; i < batch.commands.size(); i++) {
    const std::string error = command_error(batch, i);
    if (error.empty()) continue;
    return Error{
        fmt::format("{}: command {}, a {}: {}", name_, i, to_text(batch.commands[i].kind), error),
        0, 0};
  }
  batch_ = std::move(batch);
  const Result<bool> started = start(batch_);
  if (!started.ok()) return Error{fmt::format("{}: {}", name_, started.error().message), 0, 0};
  is_busy_ = true;
  return true;
}

Outcome Device::finish() {
  ASSAY_CHECK(is_busy_, "{} has nothing to finish", name_);
  Outcome outcome = complete(batch_);
  ASSAY_CHECK(outcome.done.size() == batch_.commands.size(), "{} says nothing of some commands",
              name_);
  is_busy_ = false;
  batch_ = {};
  if (outcome.status == Status::Lost && lost_.empty()) lose(outcome.why);
  return outcome;
}

Result<Outcome> Device::run(Batch batch) {
  ASSAY_TRY(submitted, submit(std::move(batch)));
  return submitted ? finish() : Outcome{};
}

void Device::lose(std::string why) { lost_ = why.empty() ? "for no known reason" : std::move(why); }

Result<bool> Device::reopen() {
  ASSAY_CHECK(!is_busy_, "{} is opened anew while it works", name_);
  if (lost_.empty()) {
    for (uint32_t i = 0; i < storages_.size(); i++) {
      if (storages_[i].is_live) drop_storage(i);
    }
    for (uint32_t i = 0; i < kernels_.size(); i++) {
      if (kernels_[i].is_live) drop_kernel(i);
    }
  }
  storages_.clear();
  kernels_.clear();
  free_storages_.clear();
  free_kernels_.clear();
  live_bytes_ = peak_bytes_ = live_storages_ = live_kernels_ = 0;
  generation_++;
  lost_.clear();
  const Result<bool> restarted = restart();
  if (!restarted.ok()) lose(restarted.error().message);
  return restarted;
}

}  // namespace assay::runtime
