#include "engine/runtime/protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace assay::runtime {
namespace {

constexpr std::string_view kMagic = "asay";
constexpr size_t kHeader = 24;
constexpr int kLastSay = static_cast<int>(Say::Failed);

void put(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; i++) out.push_back(static_cast<char>(value >> (8 * i) & 0xFF));
}
uint64_t get(std::string_view in, size_t at, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; i++) {
    value |= uint64_t{static_cast<unsigned char>(in[at + static_cast<size_t>(i)])} << (8 * i);
  }
  return value;
}

uint64_t checksum(std::string_view payload, uint64_t type, uint64_t serial) {
  return XXH3_64bits_withSeed(payload.data(), payload.size(), type << 32 | serial);
}

}  // namespace

std::string encode(const Frame& frame) {
  std::string out(kMagic);
  const auto type = static_cast<uint64_t>(frame.type);
  out.reserve(kHeader + frame.payload.size());
  put(out, kProtocolVersion, 2);
  put(out, type, 2);
  put(out, frame.serial, 4);
  put(out, frame.payload.size(), 4);
  put(out, checksum(frame.payload, type, frame.serial), 8);
  return out += frame.payload;
}

Result<std::optional<Frame>> FrameReader::next() {
  const size_t there = std::min(bytes_.size(), kMagic.size());
  if (std::string_view(bytes_).substr(0, there) != kMagic.substr(0, there)) {
    return Error{fmt::format("{} is no frame", quoted(std::string_view(bytes_).substr(0, 16))), 0,
                 0};
  }
  if (bytes_.size() < 6) return std::optional<Frame>();
  const uint64_t version = get(bytes_, 4, 2);
  if (version != kProtocolVersion) {
    return Error{fmt::format("the protocol is of version {} when {} is spoken here", version,
                             kProtocolVersion),
                 0, 0};
  }
  if (bytes_.size() < kHeader) return std::optional<Frame>();
  const uint64_t type = get(bytes_, 6, 2);
  const uint64_t serial = get(bytes_, 8, 4);
  const uint64_t length = get(bytes_, 12, 4);
  if (type > kLastSay || length > kMostPayload) {
    return Error{fmt::format("a frame of type {} and {} bytes", type, length), 0, 0};
  }
  if (bytes_.size() < kHeader + length) return std::optional<Frame>();
  Frame frame = {static_cast<Say>(type), static_cast<uint32_t>(serial),
                 bytes_.substr(kHeader, length)};
  if (get(bytes_, 16, 8) != checksum(frame.payload, type, serial)) {
    return Error{"a frame has a wrong checksum", 0, 0};
  }
  bytes_.erase(0, kHeader + length);
  return std::optional<Frame>(std::move(frame));
}

Packer& Packer::number(int64_t n) {
  put(bytes_, static_cast<uint64_t>(n), 8);
  return *this;
}

Packer& Packer::text(std::string_view text) {
  number(static_cast<int64_t>(text.size()));
  bytes_ += text;
  return *this;
}

int64_t Unpacker::number() {
  if (!is_sound_ || bytes_.size() - at_ < 8) {
    is_sound_ = false;
    return 0;
  }
  at_ += 8;
  return static_cast<int64_t>(get(bytes_, at_ - 8, 8));
}

size_t Unpacker::count() {
  const int64_t n = number();
  if (n < 0 || static_cast<uint64_t>(n) > bytes_.size() - at_) is_sound_ = false;
  return is_sound_ ? static_cast<size_t>(n) : 0;
}

std::string_view Unpacker::text() {
  const size_t size = count();
  at_ += size;
  return is_sound_ ? bytes_.substr(at_ - size, size) : std::string_view();
}

// Targets

namespace {

int64_t mask_of(uop::TypeSet types) {
  int64_t mask = 0;
  for (int i = 0; i < uop::kDTypeCount; i++) {
    if (types.has(static_cast<uop::DType>(i))) mask |= int64_t{1} << i;
  }
  return mask;
}
uop::TypeSet types_of(int64_t mask) {
  uop::TypeSet types;
  for (int i = 0; i < uop::kDTypeCount; i++) {
    if ((mask >> i & 1) != 0) types = types | uop::TypeSet{static_cast<uop::DType>(i)};
  }
  return types;
}

void pack_limits(Packer& p, const uop::Limits& l) {
  p.number(l.group_size).number(l.local_bytes).number(l.buffers);
  p.number(l.allocation_bytes).number(l.alignment);
  for (size_t i = 0; i < 3; i++) p.number(l.item_sizes[i]).number(l.global_sizes[i]);
}
void unpack_limits(Unpacker& u, uop::Limits& l) {
  for (int64_t* n :
       {&l.group_size, &l.local_bytes, &l.buffers, &l.allocation_bytes, &l.alignment}) {
    *n = u.number();
  }
  for (size_t i = 0; i < 3; i++) {
    l.item_sizes[i] = u.number();
    l.global_sizes[i] = u.number();
  }
}

// A value of an enumeration that ends with `last`.
template <typename E>
E unpack_one(Unpacker& u, E last, bool& is_known) {
  const int64_t n = u.number();
  is_known = is_known && n >= 0 && n <= static_cast<int64_t>(last);
  return is_known ? static_cast<E>(n) : last;
}

}  // namespace

void pack(Packer& p, const Target& t) {
  p.text(t.name);
  pack_limits(p, t.limits);
  p.number(mask_of(t.arithmetic)).number(mask_of(t.storage));
  p.number(static_cast<int64_t>(t.widths.size()));
  for (const uop::Widths& w : t.widths) {
    p.number(mask_of(w.over)).number(static_cast<int64_t>(w.lanes.size()));
    for (const int lanes : w.lanes) p.number(lanes);
  }
  p.number(t.aligned_vectors ? 1 : 0);
  p.number(t.tuning.items).number(t.tuning.busy).number(t.tuning.share).number(t.tuning.lanes);
  p.number(t.tuning.tile).number(t.tuning.items_are_lanes ? 1 : 0);
  p.number(static_cast<int64_t>(t.math.limits.size()));
  for (const uop::UlpLimit& row : t.math.limits) {
    p.text(to_text(row.op)).number(mask_of(row.over)).number(std::bit_cast<int64_t>(row.ulps));
  }
  p.number(t.math.contracts ? 1 : 0).number(static_cast<int64_t>(t.math.subnormals));
  std::string native;
  for (int i = 0; i < uop::kOpCount; i++) {
    if (t.math.native.has(static_cast<uop::Op>(i))) {
      native += std::string(to_text(static_cast<uop::Op>(i))) + " ";
    }
  }
  p.text(native).number(t.compute_queues).number(t.copy_queues).number(t.images ? 1 : 0);
  p.number(t.views ? 1 : 0).number(t.view_alignment).number(t.sharding ? 1 : 0);
  p.number(t.memory ? 1 : 0);
  const uop::MemoryContract m = t.memory.value_or(uop::MemoryContract{});
  p.number(static_cast<int64_t>(m.local)).number(static_cast<int64_t>(m.barrier));
  p.number(static_cast<int64_t>(m.in_branch)).number(static_cast<int64_t>(m.in_loop));
}

std::optional<Target> unpack_target(Unpacker& u) {
  Target t;
  bool is_known = true;
  t.name = u.text();
  unpack_limits(u, t.limits);
  t.arithmetic = types_of(u.number());
  t.storage = types_of(u.number());
  t.widths.resize(u.count());
  for (uop::Widths& w : t.widths) {
    w.over = types_of(u.number());
    w.lanes.resize(u.count());
    for (int& lanes : w.lanes) lanes = static_cast<int>(u.number());
  }
  t.aligned_vectors = u.number() != 0;
  t.tuning.items = u.number();
  t.tuning.busy = u.number();
  t.tuning.share = u.number();
  t.tuning.lanes = u.number();
  t.tuning.tile = u.number();
  t.tuning.items_are_lanes = u.number() != 0;
  for (size_t n = u.count(); n > 0 && is_known; n--) {
    const std::optional<uop::Op> op = uop::op_from_text(u.text());
    const uop::TypeSet over = types_of(u.number());
    const auto ulps = std::bit_cast<double>(u.number());
    is_known = op.has_value();
    if (is_known) t.math.limits.push_back({*op, over, ulps});
  }
  t.math.contracts = u.number() != 0;
  t.math.subnormals = unpack_one(u, uop::Subnormals::Either, is_known);
  std::string_view native = u.text();
  while (!native.empty() && is_known) {
    const size_t space = std::min(native.find(' '), native.size() - 1);
    const std::optional<uop::Op> op = uop::op_from_text(native.substr(0, space));
    is_known = op.has_value();
    if (is_known) t.math.native.insert(*op);
    native.remove_prefix(space + 1);
  }
  t.compute_queues = static_cast<int>(u.number());
  t.copy_queues = static_cast<int>(u.number());
  t.images = u.number() != 0;
  t.views = u.number() != 0;
  t.view_alignment = u.number();
  t.sharding = u.number() != 0;
  const bool has_memory = u.number() != 0;
  uop::MemoryContract m;
  m.local = unpack_one(u, uop::Visibility::AfterBarrier, is_known);
  m.barrier = unpack_one(u, uop::Reach::Group, is_known);
  m.in_branch = unpack_one(u, uop::Standing::Anywhere, is_known);
  m.in_loop = unpack_one(u, uop::Standing::Anywhere, is_known);
  if (has_memory) t.memory = m;
  if (!u.is_sound() || !is_known || target_error(t)) return std::nullopt;
  return t;
}

// Batches

void pack(Packer& p, const Batch& batch) {
  p.number(static_cast<int64_t>(batch.variables.size()));
  for (const auto& [name, value] : batch.variables) p.text(name).number(value);
  p.number(static_cast<int64_t>(batch.commands.size()));
  for (const Command& c : batch.commands) {
    p.number(static_cast<int64_t>(c.kind)).number(static_cast<int64_t>(c.lane));
    p.number(c.kernel.number).number(c.byte).number(static_cast<int64_t>(c.views.size()));
    for (const View& v : c.views) p.number(v.storage.number).number(v.offset).number(v.bytes);
    p.number(static_cast<int64_t>(c.waits.size()));
    for (const int32_t wait : c.waits) p.number(wait);
    p.text({reinterpret_cast<const char*>(c.from.data()), c.from.size()});
  }
}

std::optional<Batch> unpack_batch(Unpacker& u) {
  Batch batch;
  bool is_known = true;
  for (size_t n = u.count(); n > 0; n--) {
    std::string name(u.text());
    batch.variables.emplace_back(std::move(name), u.number());
  }
  batch.commands.resize(u.count());
  for (Command& c : batch.commands) {
    c.kind = unpack_one(u, Command::Kind::Fill, is_known);
    c.lane = unpack_one(u, Lane::Copy, is_known);
    c.kernel.number = static_cast<uint32_t>(u.number());
    c.byte = static_cast<uint8_t>(u.number());
    c.views.resize(u.count());
    for (View& v : c.views) {
      v.storage.number = static_cast<uint32_t>(u.number());
      v.offset = u.number();
      v.bytes = u.number();
    }
    c.waits.resize(u.count());
    for (int32_t& wait : c.waits) wait = static_cast<int32_t>(u.number());
    const std::string_view from = u.text();
    c.from = {reinterpret_cast<const std::byte*>(from.data()), from.size()};
  }
  if (!u.is_done() || !is_known) return std::nullopt;
  return batch;
}

void pack(Packer& p, const Outcome& o) {
  p.number(static_cast<int64_t>(o.status)).number(o.command).text(o.why).number(o.queue_waits);
  p.number(static_cast<int64_t>(o.done.size()));
  for (const Done& d : o.done) {
    p.number(static_cast<int64_t>(d.status)).number(d.begin_ns).number(d.end_ns);
  }
}

std::optional<Outcome> unpack_outcome(Unpacker& u) {
  Outcome o;
  bool is_known = true;
  o.status = unpack_one(u, Status::Lost, is_known);
  o.command = static_cast<int32_t>(u.number());
  o.why = u.text();
  o.queue_waits = u.number();
  o.done.resize(u.count());
  for (Done& d : o.done) {
    d.status = unpack_one(u, Status::Lost, is_known);
    d.begin_ns = u.number();
    d.end_ns = u.number();
  }
  if (!u.is_sound() || !is_known) return std::nullopt;
  return o;
}

}  // namespace assay::runtime
