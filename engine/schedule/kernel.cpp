#include "engine/schedule/kernel.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/check.h"
#include "engine/uop/dim.h"

namespace assay::schedule {
namespace {

using uop::Arg;
using uop::DType;
using uop::is_const;
using uop::Op;

// What only says that a value is stored, or moved to another device.
bool is_mark(Op op) { return op == Op::Contiguous || op == Op::Copy; }

std::string size_text(Ref size) {
  if (is_const(size)) return fmt::format("{}", static_cast<int64_t>(size->arg.bits));
  return size->op == Op::Variable ? std::string(size->arg.name()) : "s";
}

}  // namespace

void KernelMaker::collect(Ref root) {
  stack_.assign(1, root);
  while (!stack_.empty()) {
    const Ref u = stack_.back();
    const size_t before = stack_.size();
    if (!seen_.has(u)) {
      seen_.set(u, 0);
      const size_t first = u->op == Op::Index ? 1 : 0;
      const size_t end = is_mark(u->op) ? 1 : u->src.size();
      for (size_t i = end; i-- > first;) {
        if (!seen_.has(u->src[i])) stack_.push_back(u->src[i]);
      }
    }
    if (stack_.size() != before) continue;
    stack_.pop_back();
    if (seen_.at(u) != 0) continue;
    seen_.set(u, 1);
    order_.push_back(u);
    if (u->op == Op::Range) ranges_.push_back(u);
  }
}

void KernelMaker::renumber(std::span<const Ref> loops) {
  for (const Ref r : loops) {
    if (!seen_.has(r)) collect(r);
  }
  std::ranges::sort(ranges_, {}, [](Ref r) { return r->arg.number(); });
  for (size_t i = 0; i < ranges_.size(); ++i) {
    const Ref r = ranges_[i];
    const Arg axis = Arg::axis(static_cast<int32_t>(i), r->arg.axis_type());
    done_.set(r, g_.make(Op::Range, r->dtype, r->src, axis));
  }
}

Ref KernelMaker::param(Ref state) {
  if (!slots_.has(state)) {
    slots_.set(state, static_cast<uint32_t>(states_.size()));
    states_.push_back(state);
  }
  const Ref count = storage(state).count;
  return g_.make(Op::Param, state->dtype, {count}, Arg::number(slots_.at(state)));
}

const KernelMaker::Storage& KernelMaker::storage(Ref state) {
  if (const uint32_t* known = storage_places_.find(state)) return storage_[*known];
  storage_places_.set(state, static_cast<uint32_t>(storage_.size()));
  const Shape sizes = uop::shape(g_, state);
  std::optional<int64_t> count = uop::constant_size(sizes);
  if (!count) {
    const std::optional<Shape> most = uop::max_shape(g_, sizes);
    ASSAY_CHECK(most, "storage of a size without a bound");
    count = uop::constant_size(*most);
    ASSAY_CHECK(count, "storage of more elements than 64 bits count");
  }
  storage_.push_back({indexer_.strides(sizes), uop::dim(g_, *count)});
  return storage_.back();
}

Ref KernelMaker::access(Ref u) {
  index_.clear();
  Ref gate = nullptr;
  for (const Ref s : u->src.subspan(1)) {
    const Gated at = split_gate(done_.at(s));
    index_.push_back(at.index);
    if (at.gate != nullptr) gate = indexer_.both(gate, as_gate(indexer_.tidy(at.gate)));
  }
  const Ref place = indexer_.flat_by(storage(u->src[0]).strides, index_);
  const Ref buffer = param(u->src[0]);
  return g_.make(Op::Index, u->dtype, {buffer, gated(g_, place, gate)});
}

Ref KernelMaker::rebuilt(Ref u) {
  if (is_mark(u->op)) return done_.at(u->src[0]);
  if (u->op == Op::Index) return access(u);
  sources_.clear();
  bool changed = false;
  for (const Ref s : u->src) {
    sources_.push_back(done_.at(s));
    changed = changed || sources_.back() != s;
  }
  if (!is_index_term(u)) {
    for (Ref& s : sources_) {
      if (!is_const(s) && is_index_term(s)) s = indexer_.tidy(s);
      changed = changed || s != u->src[static_cast<size_t>(&s - sources_.data())];
    }
  }
  return changed ? g_.with_sources(u, sources_) : u;
}

std::string KernelMaker::name(std::span<const Ref> loops) const {
  std::string text;
  bool reduces = false;
  for (const Ref r : loops) text += "_" + size_text(r->src[0]);
  for (const Ref r : ranges_) {
    if (std::ranges::find(loops, r) != loops.end()) continue;
    reduces = true;
    text += "_" + size_text(r->src[0]);
  }
  return (reduces ? "r" : "E") + text;
}

Ref KernelMaker::end(Ref store, std::span<const Ref> loops) {
  sources_.assign(1, store);
  for (const Ref r : loops) sources_.push_back(done_.at(r));
  return g_.make(Op::End, DType::Void, sources_);
}

// Whether another iteration may store where this one reads: all but where both name one place, and
// where neither can reach what the other does.
bool KernelMaker::may_meet(Ref read, Ref written) {
  const Ref from = split_gate(read).index;
  const Ref to = split_gate(written).index;
  if (from == to) return false;
  const uop::Bounds a = uop::bounds(g_, from);
  const uop::Bounds b = uop::bounds(g_, to);
  return a.lo <= b.hi && b.lo <= a.hi;
}

Kernel KernelMaker::make(Ref target, Ref value, std::span<const Ref> loops) {
  order_.clear();
  ranges_.clear();
  seen_.clear();
  done_.clear();
  slots_.clear();
  states_.clear();
  collect(value);
  collect(target);
  renumber(loops);
  param(target->src[0]);
  bool clashes = false;
  for (const Ref u : order_) {
    if (!done_.has(u)) done_.set(u, rebuilt(u));
  }
  const Ref place = done_.at(target);
  for (const Ref u : order_) {
    if (u->op != Op::Index || u == target || u->src[0] != target->src[0]) continue;
    clashes = clashes || may_meet(done_.at(u)->src[1], place->src[1]);
  }
  const Ref store = g_.make(Op::Store, DType::Void, {place, done_.at(value)});
  const Ref body = end(store, loops);
  const Ref sink = g_.make(Op::Sink, DType::Void, {body}, g_.info(name(loops), {}));
  return {sink, states_, clashes};
}

std::vector<Ref> KernelMaker::storage_read(Ref value) {
  order_.clear();
  ranges_.clear();
  seen_.clear();
  collect(value);
  std::vector<Ref> all;
  for (const Ref u : order_) {
    if (u->op != Op::Index) continue;
    if (std::ranges::find(all, u->src[0]) == all.end()) all.push_back(u->src[0]);
  }
  return all;
}

}  // namespace assay::schedule
