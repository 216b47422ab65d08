#include "engine/runtime/buffers.h"

#include <fmt/format.h>

#include <set>

#include "engine/uop/scope.h"
#include "engine/uop/shape.h"
#include "engine/uop/walk.h"

namespace assay::runtime {
namespace {

using uop::Op;

bool share_bytes(const View& a, const View& b) {
  return a.storage == b.storage && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

std::string_view device_name(Graph& g, Ref buffer) {
  const Ref device = uop::device(g, buffer);
  return device == nullptr ? "" : device->arg.name();
}

}  // namespace

Result<int64_t> buffer_bytes(Graph& g, Ref buffer) {
  const auto largest = uop::max_shape(g, uop::shape(g, buffer));
  const auto count = largest ? uop::constant_size(*largest) : std::nullopt;
  const int64_t width = uop::bytes_of(buffer->dtype);
  if (count && *count <= INT64_MAX / width) return *count * width;
  return Error{fmt::format("b{} of shape {} has no size in 63 bits", buffer->arg.number(),
                           uop::shape_text(uop::shape(g, buffer))),
               0, 0};
}

Buffers::~Buffers() {
  for (const auto& [number, entry] : entries_) release(entry);
}

void Buffers::release(const Entry& entry) {
  if (!entry.is_external) entry.device->release(entry.view.storage);
}

Buffers::Entry* Buffers::find(Ref buffer) {
  const auto at = entries_.find(buffer->arg.number());
  return at == entries_.end() ? nullptr : &at->second;
}

Result<Buffers::Entry*> Buffers::make(Graph& g, Ref buffer) {
  if (Entry* entry = find(buffer)) return entry;
  ASSAY_TRY(bytes, buffer_bytes(g, buffer));
  const int64_t number = buffer->arg.number();
  const std::string_view name = device_name(g, buffer);
  if (name.empty()) return Error{fmt::format("b{} is on no device", number), 0, 0};
  ASSAY_TRY(device, devices_.open(name));
  std::string label = fmt::format("b{}", number);
  ASSAY_TRY(storage, device->allocate(bytes, label));
  Entry entry;
  entry.device = device;
  entry.view = {storage, 0, bytes};
  entry.label = std::move(label);
  return &entries_.emplace(number, std::move(entry)).first->second;
}

Result<bool> Buffers::write(Graph& g, Ref buffer, std::span<const std::byte> bytes) {
  ASSAY_TRY(entry, make(g, buffer));
  Batch batch;
  Command& command = batch.commands.emplace_back();
  command.kind = Command::Kind::Write;
  command.lane = Lane::Copy;
  command.views = {entry->view};
  command.from = bytes;
  ASSAY_TRY(outcome, entry->device->run(std::move(batch)));
  entry->invalid = outcome.status == Status::Ok
                       ? ""
                       : fmt::format("a write to it: {}: {}", to_text(outcome.status), outcome.why);
  if (!entry->invalid.empty()) return Error{entry->label + ": " + entry->invalid, 0, 0};
  return true;
}

Result<std::vector<std::byte>> read_view(Device& device, const View& view, std::string_view label) {
  std::vector<std::byte> bytes(static_cast<size_t>(view.bytes));
  Batch batch;
  Command& command = batch.commands.emplace_back();
  command.kind = Command::Kind::Read;
  command.lane = Lane::Copy;
  command.views = {view};
  command.into = bytes;
  ASSAY_TRY(outcome, device.run(std::move(batch)));
  if (outcome.status == Status::Ok) return bytes;
  return Error{fmt::format("reading {}: {}: {}", label, to_text(outcome.status), outcome.why), 0,
               0};
}

Result<std::vector<std::byte>> Buffers::read(Ref buffer) {
  const Entry* entry = find(buffer);
  const int64_t number = buffer->arg.number();
  if (entry == nullptr) return Error{fmt::format("b{} has no storage", number), 0, 0};
  if (!entry->invalid.empty()) {
    return Error{fmt::format("b{} is invalid: {}", number, entry->invalid), 0, 0};
  }
  return read_view(*entry->device, entry->view, fmt::format("b{}", number));
}

Result<bool> Buffers::bind(Graph& g, Ref buffer, const External& external) {
  const int64_t number = buffer->arg.number();
  const auto refuse = [&](std::string_view why) {
    return Error{fmt::format("b{} cannot be {}'s storage: {}", number, external.owner, why), 0, 0};
  };
  ASSAY_TRY(bytes, buffer_bytes(g, buffer));
  const std::string_view on = device_name(g, buffer);
  if (on != external.device->name()) {
    return refuse(fmt::format("it is on {}, the other on {}", on, external.device->name()));
  }
  if (external.dtype != buffer->dtype) {
    return refuse(fmt::format("it is of {}, the other of {}", to_text(buffer->dtype),
                              to_text(external.dtype)));
  }
  if (external.view.bytes != bytes) {
    return refuse(fmt::format("it has {} bytes, the other {}", bytes, external.view.bytes));
  }
  const Target& target = external.device->target();
  if (external.view.offset % std::max<int64_t>(target.view_alignment, 1) != 0) {
    return refuse(fmt::format("it would begin at {}, which is no multiple of {}",
                              external.view.offset, target.view_alignment));
  }
  if (std::string error = external.device->view_error(external.view); !error.empty()) {
    return refuse(error);
  }
  for (const auto& [other, entry] : entries_) {
    if (other == number || entry.device != external.device) continue;
    if (!share_bytes(entry.view, external.view)) continue;
    if (entry.may_alias && external.may_alias) continue;
    return refuse(fmt::format("{} is bound to the same bytes", entry.label));
  }
  drop(buffer);
  Entry entry;
  entry.device = external.device;
  entry.view = external.view;
  entry.label = fmt::format("b{}", number);
  entry.owner = external.owner;
  entry.is_external = true;
  entry.may_alias = external.may_alias;
  entries_.emplace(number, std::move(entry));
  return true;
}

void Buffers::drop(Ref buffer) {
  const auto at = entries_.find(buffer->arg.number());
  if (at == entries_.end()) return;
  release(at->second);
  entries_.erase(at);
}

void Buffers::drop_dead(tensor::Session& session) {
  std::vector<Ref> states;
  for (const tensor::Cell& cell : session.cells()) {
    if (cell.state != nullptr) states.push_back(cell.state);
    if (cell.owned != nullptr) states.push_back(cell.owned);
  }
  Graph& g = session.graph();
  const Ref all = g.make(Op::Sink, uop::Void, states, g.info("", {}));
  std::set<int64_t> named;
  for (const Ref u : uop::toposort(g, all)) {
    if (u->op == Op::Buffer) named.insert(u->arg.number());
  }
  for (auto at = entries_.begin(); at != entries_.end();) {
    const bool is_dead = !at->second.is_external && !named.contains(at->first);
    if (is_dead) release(at->second);
    at = is_dead ? entries_.erase(at) : std::next(at);
  }
}

}  // namespace assay::runtime
