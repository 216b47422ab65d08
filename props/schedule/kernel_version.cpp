#include "props/schedule/kernel_version.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/uop/walk.h"

namespace assay::props {
namespace {

using uop::Op;
using uop::Ref;

size_t nth(int32_t i) { return static_cast<size_t>(i); }

bool is_view_of_state(Ref u) {
  return uop::is_movement(u->op) || u->op == Op::Bitcast || u->op == Op::MSelect ||
         u->op == Op::MStack;
}

void sort_unique(std::vector<int32_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

}  // namespace

void NumberSet::add(const NumberSet& more) {
  if (words_.size() < more.words_.size()) words_.resize(more.words_.size());
  for (size_t w = 0; w < more.words_.size(); w++) words_[w] |= more.words_[w];
}

std::vector<int32_t> NumberSet::difference(const NumberSet& other) const {
  std::vector<int32_t> out;
  for (size_t w = 0; w < std::max(words_.size(), other.words_.size()); w++) {
    const uint64_t mine = w < words_.size() ? words_[w] : 0;
    const uint64_t theirs = w < other.words_.size() ? other.words_[w] : 0;
    for (uint64_t bits = mine ^ theirs; bits != 0; bits &= bits - 1) {
      out.push_back(static_cast<int32_t>(w * 64) + __builtin_ctzll(bits));
    }
  }
  return out;
}

KernelVersions::KernelVersions(uop::Graph& g, Ref sink) : g_(g) {
  for (const Ref u : uop::toposort(g, sink, uop::Extent::OutsideBodies)) {
    read(u);
    if (error_) return;
  }
  for (const Ref s : sink->src) {
    const Versions* all = states(s);
    if (all == nullptr) {
      fail(fmt::format("the sink takes {}", uop::to_text(s->op)));
      return;
    }
    wanted_.insert(wanted_.end(), all->begin(), all->end());
  }
}

void KernelVersions::fail(std::string what) {
  if (!error_) error_ = std::move(what);
}

const KernelVersions::Versions* KernelVersions::states(Ref u) const {
  const int32_t* place = state_.find(u);
  return place == nullptr ? nullptr : &states_[nth(*place)];
}

std::vector<int32_t> KernelVersions::versions_of(Ref state) const {
  const Versions* all = states(state);
  return all == nullptr ? Versions() : *all;
}

int32_t KernelVersions::add(Version version) {
  const auto id = static_cast<int32_t>(versions_.size());
  for (const int32_t k : version.writers) kernels_[nth(k)].makes.push_back(id);
  versions_.push_back(std::move(version));
  return id;
}

bool KernelVersions::writes(int32_t kernel, int32_t buffer) const {
  return writer_place(buffer, kernel) >= 0;
}

int32_t KernelVersions::writer_place(int32_t buffer, int32_t kernel) const {
  for (const auto& [b, place] : writes_[nth(kernel)]) {
    if (b == buffer) return place;
  }
  return -1;
}

int32_t KernelVersions::generation(int32_t version) const {
  int32_t count = 0;
  for (int32_t v = version; v >= 0; v = versions_[nth(v)].prior) {
    if (!versions_[nth(v)].writers.empty()) count++;
  }
  return count;
}

// Kernels that made what the version holds out of the version before.
void KernelVersions::makers(int32_t version, std::vector<int32_t>& out) const {
  for (int32_t v = version; v >= 0; v = versions_[nth(v)].prior) {
    const Version& made = versions_[nth(v)];
    out.insert(out.end(), made.only_after.begin(), made.only_after.end());
    out.insert(out.end(), made.writers.begin(), made.writers.end());
    if (!made.writers.empty()) return;
  }
}

void KernelVersions::read(Ref u) {
  Versions all;
  if (u->op == Op::Call) return read_call(u);
  if (u->op == Op::After) return read_after(u);
  if (u->op == Op::Buffer || u->op == Op::Param) {
    const auto buffer = static_cast<int32_t>(buffers_.size());
    buffers_.push_back({u, {}});
    Version first;
    first.buffer = buffer;
    all.push_back(add(std::move(first)));
  } else if (is_view_of_state(u)) {
    const std::span<const Ref> below = u->op == Op::MStack ? u->src : u->src.first(1);
    for (const Ref s : below) {
      const Versions* part = states(s);
      if (part == nullptr) return;  // a value, of which nothing is stored
      all.insert(all.end(), part->begin(), part->end());
    }
    if (u->op == Op::MSelect && u->src[0]->op == Op::MStack) {
      const auto k = static_cast<uint64_t>(u->arg.number());
      if (k >= u->src[0]->src.size()) return fail(fmt::format("no state {} in a stack", k));
      all = *states(u->src[0]->src[k]);
    }
  } else {
    return;
  }
  state_.set(u, static_cast<int32_t>(states_.size()));
  states_.push_back(std::move(all));
}

void KernelVersions::read_call(Ref call) {
  const auto id = static_cast<int32_t>(kernels_.size());
  Kernel kernel;
  kernel.call = call;
  writes_.emplace_back();
  const std::vector<Ref> arguments = storage_arguments(call);
  for (size_t i = 0; i < arguments.size(); i++) {
    const Versions* all = states(arguments[i]);
    if (all == nullptr) {
      return fail(fmt::format("kernel {} takes {}", id, uop::to_text(arguments[i]->op)));
    }
    const ParamUse use = uses_.of(call->src[0], i);
    for (const int32_t v : *all) {
      kernel.takes.push_back({v, static_cast<int32_t>(i), use});
      const int32_t buffer = versions_[nth(v)].buffer;
      if (!use.writes || writes(id, buffer)) continue;
      Buffer& b = buffers_[nth(buffer)];
      writes_.back().emplace_back(buffer, static_cast<int32_t>(b.writers.size()));
      b.writers.push_back(id);
    }
  }
  kernel.bare = bare_call(call);
  kernel_.set(call, id);
  kernels_.push_back(std::move(kernel));
}

void KernelVersions::read_after(Ref after) {
  const Versions* before = states(after->src[0]);
  if (before == nullptr) return;  // it orders what is no storage
  const Versions all = *before;
  Versions next;
  for (const int32_t prior : all) {
    Version v;
    v.buffer = versions_[nth(prior)].buffer;
    v.prior = prior;
    v.made = versions_[nth(prior)].made;
    for (Ref member : after->src.subspan(1)) {
      if (member->op == Op::End) member = member->src[0];
      add_member(v, member, all);
      if (error_) return;
    }
    sort_unique(v.writers);
    sort_unique(v.only_after);
    std::erase_if(v.only_after, [&](int32_t k) {
      return std::binary_search(v.writers.begin(), v.writers.end(), k);
    });
    next.push_back(add(std::move(v)));
  }
  state_.set(after, static_cast<int32_t>(states_.size()));
  states_.push_back(std::move(next));
}

// What a source of an AFTER after its first is to the next version of one of its buffers. A kernel
// that made the prior version or one before is none of its writers.
void KernelVersions::add_member(Version& next, Ref member, const Versions& all) {
  const NumberSet& before = versions_[nth(next.prior)].made;
  const auto is_of_after = [&](int32_t buffer) {
    return std::any_of(all.begin(), all.end(),
                       [&](int32_t v) { return versions_[nth(v)].buffer == buffer; });
  };
  if (member->op == Op::Call) {
    const int32_t k = kernel_.at(member);
    const int32_t place = writer_place(next.buffer, k);
    if (place >= 0) {
      if (!before.has(place)) next.writers.push_back(k);
      next.made.add(place);
    }
    const auto& written = writes_[nth(k)];
    const bool only_orders = std::none_of(written.begin(), written.end(),
                                          [&](const auto& w) { return is_of_after(w.first); });
    if (only_orders) next.only_after.push_back(k);
    return;
  }
  const Versions* joined = states(member);
  if (joined == nullptr) return fail(fmt::format("after takes {}", uop::to_text(member->op)));
  for (const int32_t v : *joined) {
    const Version& other = versions_[nth(v)];
    if (other.buffer != next.buffer) {
      makers(v, next.only_after);
      continue;
    }
    for (const int32_t place : before.difference(other.made)) {
      if (before.has(place)) continue;
      next.writers.push_back(buffers_[nth(next.buffer)].writers[nth(place)]);
    }
    next.made.add(other.made);
    for (int32_t o = v; o >= 0; o = versions_[nth(o)].prior) {
      const std::vector<int32_t>& waits = versions_[nth(o)].only_after;
      if (o != v && !versions_[nth(o)].writers.empty()) break;
      next.only_after.insert(next.only_after.end(), waits.begin(), waits.end());
    }
  }
}

Ref KernelVersions::bare_call(Ref call) {
  std::vector<Ref> sources = {call->src[0]};
  for (const Ref a : call->src.subspan(1)) sources.push_back(bare(a));
  return g_.with_sources(call, sources);
}

Ref KernelVersions::bare(Ref state) {
  std::vector<Ref> stack = {state};
  while (!stack.empty()) {
    const Ref u = stack.back();
    if (bare_.has(u)) {
      stack.pop_back();
      continue;
    }
    if (u->op == Op::After || (u->op == Op::MSelect && u->src[0]->op == Op::MStack)) {
      const size_t k = u->op == Op::After ? 0 : static_cast<size_t>(u->arg.number());
      const Ref of = u->op == Op::After ? u->src[0] : u->src[0]->src[k];
      if (!bare_.has(of)) {
        stack.push_back(of);
        continue;
      }
      bare_.set(u, bare_.at(of));
    } else if (is_view_of_state(u)) {
      const size_t below = u->op == Op::MStack ? u->src.size() : 1;
      std::vector<Ref> sources(u->src.begin(), u->src.end());
      bool is_ready = true;
      for (size_t i = 0; i < below; i++) {
        if (bare_.has(sources[i])) {
          sources[i] = bare_.at(sources[i]);
        } else {
          stack.push_back(sources[i]);
          is_ready = false;
        }
      }
      if (!is_ready) continue;
      bare_.set(u, g_.with_sources(u, sources));
    } else {
      bare_.set(u, u);
    }
    stack.pop_back();
  }
  return bare_.at(state);
}

}  // namespace assay::props
