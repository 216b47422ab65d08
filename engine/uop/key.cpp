#include "engine/uop/key.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <string>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace assay::uop {
namespace {

void add(std::string& bytes, const void* data, size_t size) {
  bytes.append(static_cast<const char*>(data), size);
}
void add(std::string& bytes, uint64_t word) { add(bytes, &word, sizeof word); }
void add(std::string& bytes, std::string_view text) {
  add(bytes, text.size());
  bytes += text;
}

void add_arg(std::string& bytes, Arg arg) {
  add(bytes, static_cast<uint64_t>(arg.kind));
  if (arg.kind == ArgKind::Fold) {
    add(bytes, to_text(arg.fold_op()));
    add(bytes, static_cast<uint64_t>(arg.number()));
  } else if (arg.has_record()) {
    add(bytes, arg.name());
    add(bytes, arg.numbers().size());
    add(bytes, arg.numbers().data(), arg.numbers().size_bytes());
  } else {
    add(bytes, arg.bits);
  }
}

// Types and operations enter a key by name, so that a new row in a table moves no key. `bytes` is
// room to work in.
Key key_of(const NodeMap<Key>& keys, Ref u, std::string& bytes) {
  bytes.clear();
  add(bytes, to_text(u->op));
  add(bytes, to_text(u->dtype));
  add_arg(bytes, u->arg);
  add(bytes, u->src.size());
  for (const Ref s : u->src) add(bytes, &keys.at(s), sizeof(Key));
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

// Short names first, so that r2 stands before r10.
std::strong_ordering compare_names(std::string_view a, std::string_view b) {
  if (const auto c = a.size() <=> b.size(); c != 0) return c;
  return a <=> b;
}

std::strong_ordering compare_args(Ref a, Ref b) {
  if (a->arg == b->arg) return std::strong_ordering::equal;
  if (const auto c = a->arg.kind <=> b->arg.kind; c != 0) return c;
  if (a->arg.kind == ArgKind::Value) return a->arg.bits <=> b->arg.bits;
  if (!a->arg.has_record()) {
    if (const auto c = a->arg.number() <=> b->arg.number(); c != 0) return c;
    return a->arg.bits <=> b->arg.bits;
  }
  if (const auto c = compare_names(a->arg.name(), b->arg.name()); c != 0) return c;
  const auto x = a->arg.numbers();
  const auto y = b->arg.numbers();
  return std::lexicographical_compare_three_way(x.begin(), x.end(), y.begin(), y.end());
}

}  // namespace

Key key(Graph& g, Ref u) {
  NodeMap<Key>& keys = g.facts().keys;
  if (const Key* known = keys.find(u)) return *known;
  std::string bytes;
  return derive(keys, u, [&](Ref v) { return key_of(keys, v, bytes); });
}

bool comes_before(Graph& g, Ref a, Ref b) {
  if (a == b) return false;
  if (is_const(a) != is_const(b)) return is_const(b);
  if (a->op != b->op) return a->op < b->op;
  if (a->dtype != b->dtype) return a->dtype < b->dtype;
  if (const auto c = compare_args(a, b); c != 0) return c < 0;
  return key(g, a) < key(g, b);
}

std::string to_text(Key key) { return fmt::format("{:016x}{:016x}", key.high, key.low); }

}  // namespace assay::uop
