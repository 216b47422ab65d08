#include "engine/schedule/inline.h"

#include <algorithm>

#include "engine/uop/scope.h"
#include "engine/uop/value.h"

namespace assay::schedule {
namespace {

using uop::is_const;
using uop::Op;

}  // namespace

Ref picked(Ref u) {
  if (u->op != Op::Where || !is_const(u->src[0])) return u;
  return u->src[0]->value() == uop::of_bool(true) ? u->src[1] : u->src[2];
}

void Mover::clear() {
  done_.clear();
  mapped_.clear();
  gate_ = nullptr;
  settle_ = false;
}

void Mover::map(Ref range, Ref index) {
  done_.set(range, index);
  mapped_.set(range, 1);
}

bool Mover::depends(Ref u) {
  const auto ranges = uop::ranges(g_, u);
  return std::ranges::any_of(ranges, [&](Ref r) { return mapped_.has(r); });
}

Ref Mover::moved(Ref value, size_t most) {
  size_t count = 0;
  stack_.assign(1, value);
  while (!stack_.empty()) {
    const Ref u = stack_.back();
    if (done_.has(u)) {
      stack_.pop_back();
      continue;
    }
    if (!settle_ && !depends(u)) {
      done_.set(u, u);
      stack_.pop_back();
      continue;
    }
    const size_t before = stack_.size();
    // What an index reads from stays; so does what a reduce counts to.
    for (size_t i = u->src.size(); i-- > (u->op == Op::Index ? 1U : 0U);) {
      if (!done_.has(u->src[i])) stack_.push_back(u->src[i]);
    }
    if (stack_.size() != before) continue;
    stack_.pop_back();
    if (++count > most) return nullptr;
    done_.set(u, u->op == Op::Index ? rebuilt_index(u) : rebuilt(u));
  }
  return done_.at(value);
}

Ref Mover::rebuilt(Ref u) {
  sources_.clear();
  bool changed = false;
  const bool within_index = is_index_term(u);
  for (const Ref s : u->src) {
    Ref now = done_.at(s);
    if (now != s) {
      changed = true;
      if (!within_index && is_index_term(now)) now = indexer_.simplified(now);
    }
    sources_.push_back(now);
  }
  return changed ? picked(g_.with_sources(u, sources_)) : u;
}

Ref Mover::rebuilt_index(Ref u) {
  sources_.assign(1, u->src[0]);
  Ref gate = gate_;
  for (const Ref s : u->src.subspan(1)) {
    const Gated now = split_gate(done_.at(s));
    const bool changed = done_.at(s) != s;
    sources_.push_back(changed ? indexer_.simplified(now.index) : now.index);
    if (now.gate == nullptr) continue;
    gate = indexer_.both(gate, changed ? as_gate(indexer_.simplified(now.gate)) : now.gate);
  }
  if (sources_.size() == 1) return u;
  if (is_false(gate)) return g_.constant(uop::zero_of(u->dtype));
  sources_[1] = gated(g_, sources_[1], gate);
  const Ref load = g_.with_sources(u, sources_);
  return settle_ ? or_zero(g_, gate, load) : load;
}

}  // namespace assay::schedule
