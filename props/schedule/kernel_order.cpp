#include "props/schedule/kernel_order.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace assay::props {
namespace {

constexpr size_t kMostWaits = size_t{1} << 22;

// Who waits for whom by versions alone.
std::vector<CallPair> waits_of(const KernelVersions& graph) {
  std::vector<CallPair> waits = only_after_pairs(graph);
  for (size_t i = 0; i < graph.kernels().size() && waits.size() <= kMostWaits; i++) {
    const auto k = static_cast<int32_t>(i);
    const auto add_writers = [&](int32_t version, bool later_too) {
      const KernelVersions::Version& v = graph.versions()[static_cast<size_t>(version)];
      const std::vector<int32_t>& writers = graph.buffers()[static_cast<size_t>(v.buffer)].writers;
      for (size_t place = 0; place < writers.size(); place++) {
        const bool is_before = v.made.has(static_cast<int32_t>(place));
        if (is_before) waits.push_back({writers[place], k});
        if (!is_before && later_too && writers[place] != k) waits.push_back({k, writers[place]});
      }
    };
    for (const KernelVersions::Take& t : graph.kernels()[i].takes) {
      if (t.use.reads) add_writers(t.version, true);
    }
    for (const int32_t made : graph.kernels()[i].makes) {
      add_writers(graph.versions()[static_cast<size_t>(made)].prior, false);
    }
  }
  return waits;
}

}  // namespace

std::vector<CallPair> only_after_pairs(const KernelVersions& graph) {
  std::vector<CallPair> pairs;
  const auto add = [&](int32_t version, int32_t kernel) {
    for (int32_t v = version; v >= 0;) {
      const KernelVersions::Version& at = graph.versions()[static_cast<size_t>(v)];
      for (const int32_t k : at.only_after) {
        if (k != kernel) pairs.push_back({k, kernel});
      }
      v = at.writers.empty() ? at.prior : -1;
    }
  };
  for (size_t i = 0; i < graph.kernels().size(); i++) {
    const auto k = static_cast<int32_t>(i);
    for (const KernelVersions::Take& t : graph.kernels()[i].takes) add(t.version, k);
    for (const int32_t made : graph.kernels()[i].makes) add(made, k);
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

KernelOrder::KernelOrder(const KernelVersions& graph) : kernels_(graph.kernels().size()) {
  const std::vector<CallPair> waits = waits_of(graph);
  if (waits.size() > kMostWaits) {
    too_many_ = true;
    return;
  }
  std::vector<std::vector<int32_t>> next(kernels_);
  std::vector<int32_t> open(kernels_);
  for (const CallPair& p : waits) {
    next[static_cast<size_t>(p.from)].push_back(p.to);
    open[static_cast<size_t>(p.to)]++;
  }
  std::priority_queue<int32_t, std::vector<int32_t>, std::greater<>> ready;
  for (size_t k = 0; k < kernels_; k++) {
    if (open[k] == 0) ready.push(static_cast<int32_t>(k));
  }
  while (!ready.empty()) {
    const int32_t k = ready.top();
    ready.pop();
    order_.push_back(k);
    for (const int32_t after : next[static_cast<size_t>(k)]) {
      if (--open[static_cast<size_t>(after)] == 0) ready.push(after);
    }
  }
}

}  // namespace assay::props
