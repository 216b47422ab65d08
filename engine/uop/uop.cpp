#include "engine/uop/uop.h"

#include <algorithm>
#include <unordered_set>

#include "engine/check.h"
#include "engine/uop/facts.h"

namespace assay::uop {
namespace {

constexpr size_t kFirstSlots = 512;
constexpr size_t kMostNodes = ~uint32_t{0};  // ids have 32 bits
constexpr int kAddressBits = 48;

uint64_t slot_of(Ref u, uint64_t hash) {
  return reinterpret_cast<uintptr_t>(u) | hash >> kAddressBits << kAddressBits;
}
bool has_tag(uint64_t slot, uint64_t hash) { return (slot ^ hash) >> kAddressBits == 0; }
Ref node_in(uint64_t slot) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the address shares its word with the tag
  return reinterpret_cast<Ref>(slot & ((uint64_t{1} << kAddressBits) - 1));
}

// Folds a word into a hash: the 128-bit product spreads each bit over all others.
uint64_t mix(uint64_t h, uint64_t word) {
  const UInt128 product = UInt128{h ^ word} * 0x9E3779B97F4A7C15U;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t hash_of(std::string_view name, std::span<const int64_t> numbers) {
  uint64_t h = mix(0x243F6A8885A308D3U, name.size());
  for (const char c : name) h = mix(h, static_cast<unsigned char>(c));
  for (const int64_t n : numbers) h = mix(h, static_cast<uint64_t>(n));
  return h;
}

// Where a node stands in the table. Within a graph, addresses name sources and records as well as
// their contents do, and are at hand without touching them; the order of the table never shows.
uint64_t hash_of(Op op, DType dtype, std::span<const Ref> src, Arg arg) {
  const uint64_t head =
      uint64_t(op) | uint64_t(dtype) << 8 | uint64_t(arg.kind) << 16 | uint64_t{src.size()} << 24;
  uint64_t h = mix(head * 0x452821E638D01377U, arg.bits);
  for (const Ref s : src) h = mix(h, reinterpret_cast<uintptr_t>(s));
  return h;
}

bool same(Ref u, Op op, DType dtype, std::span<const Ref> src, Arg arg) {
  if (u->op != op || u->dtype != dtype || u->src.size() != src.size() || !(u->arg == arg)) {
    return false;
  }
  for (size_t i = 0; i < src.size(); i++) {
    if (u->src[i] != src[i]) return false;
  }
  return true;
}

}  // namespace

struct Graph::RecordHash {
  size_t operator()(const Record* r) const { return r->hash; }
};
struct Graph::RecordEqual {
  bool operator()(const Record* a, const Record* b) const {
    return a->name == b->name &&
           std::equal(a->numbers.begin(), a->numbers.end(), b->numbers.begin(), b->numbers.end());
  }
};
struct Graph::Records {
  std::unordered_set<const Record*, RecordHash, RecordEqual> set;
};

Graph::Graph()
    : slots_(kFirstSlots, Slot{0}),
      records_(std::make_unique<Records>()),
      facts_(std::make_unique<Facts>()) {
  nodes_.reserve(kFirstSlots / 2);
}
Graph::~Graph() = default;

Ref Graph::make(Op op, DType dtype, std::span<const Ref> src, Arg arg) {
  const uint64_t hash = hash_of(op, dtype, src, arg);
  const size_t mask = slots_.size() - 1;
  size_t i = hash & mask;
  for (; slots_[i] != 0; i = (i + 1) & mask) {
    if (!has_tag(slots_[i], hash)) continue;
    const Ref u = node_in(slots_[i]);
    if (same(u, op, dtype, src, arg)) return u;
  }
  const Ref u = append(op, dtype, src, arg);
  slots_[i] = slot_of(u, hash);
  if (nodes_.size() * 3 > slots_.size() * 2) grow();
  return u;
}

Ref Graph::append(Op op, DType dtype, std::span<const Ref> src, Arg arg) {
  ASSAY_CHECK(nodes_.size() < kMostNodes, "a graph holds at most {} nodes", kMostNodes);
  auto* u = static_cast<UOp*>(arena_.allocate(sizeof(UOp) + src.size_bytes()));
  ASSAY_CHECK(reinterpret_cast<uintptr_t>(u) >> kAddressBits == 0, "addresses have 48 bits");
  auto* sources = reinterpret_cast<Ref*>(u + 1);
  std::copy(src.begin(), src.end(), sources);
  const auto id = static_cast<uint32_t>(nodes_.size());
  new (u) UOp{op, dtype, id, arg, std::span<const Ref>(sources, src.size())};
  nodes_.push_back(u);
  return u;
}

void Graph::grow() {
  std::vector<Slot> larger(slots_.size() * 2, Slot{0});
  const size_t mask = larger.size() - 1;
  // Slots are asked for some nodes ahead, since each lies elsewhere in memory.
  constexpr size_t kAhead = 16;
  uint64_t hashes[kAhead];
  for (size_t k = 0; k < nodes_.size() + kAhead; k++) {
    uint64_t& hash = hashes[k % kAhead];
    if (k >= kAhead) {
      size_t i = hash & mask;
      while (larger[i] != 0) i = (i + 1) & mask;
      larger[i] = slot_of(nodes_[k - kAhead], hash);
    }
    if (k >= nodes_.size()) continue;
    const Ref u = nodes_[k];
    hash = hash_of(u->op, u->dtype, u->src, u->arg);
    __builtin_prefetch(&larger[hash & mask]);
  }
  slots_ = std::move(larger);
}

Ref Graph::alu(Op op, std::initializer_list<Ref> src) {
  const Typing typing = uop::info(op).typing;
  ASSAY_CHECK(is_scalar(op) && typing != Typing::Convert, "{} has no type of its own", to_text(op));
  const DType dtype = typing == Typing::Compare ? DType::Bool : src.begin()[src.size() - 1]->dtype;
  return make(op, dtype, src);
}

Ref Graph::variable(std::string_view name, Value lo, Value hi) {
  ASSAY_CHECK(lo.dtype == hi.dtype, "the bounds of {} have different types", name);
  const int64_t bounds[] = {static_cast<int64_t>(lo.bits), static_cast<int64_t>(hi.bits)};
  return make(Op::Variable, lo.dtype, {}, symbol(name, bounds));
}

Ref Graph::variable(std::string_view name, DType t) {
  return make(Op::Variable, t, {}, symbol(name, {}));
}

Arg Graph::interned(ArgKind kind, std::string_view name, std::span<const int64_t> numbers) {
  const Record probe = {hash_of(name, numbers), name, numbers};
  auto found = records_->set.find(&probe);
  if (found == records_->set.end()) {
    auto* kept = static_cast<Record*>(arena_.allocate(sizeof(Record)));
    const std::string_view kept_name = arena_.copy(name);
    const std::span<const int64_t> kept_numbers = arena_.copy(numbers);
    new (kept) Record{probe.hash, kept_name, kept_numbers};
    found = records_->set.insert(kept).first;
  }
  Arg arg;
  arg.kind = kind;
  arg.record = *found;
  return arg;
}

size_t Graph::bytes() const {
  return arena_.bytes() + nodes_.capacity() * sizeof(Ref) + slots_.capacity() * sizeof(Slot) +
         records_->set.size() * 4 * sizeof(void*);
}

}  // namespace assay::uop
