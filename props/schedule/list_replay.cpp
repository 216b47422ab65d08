#include "props/schedule/list_replay.h"

#include <fmt/format.h>

#include <map>

namespace assay::props {
namespace {

using uop::Ref;

constexpr size_t kMostFaults = 64;

size_t nth_of(int32_t i) { return static_cast<size_t>(i); }

std::string_view name_of_call(Ref call) {
  const uop::Arg& arg = call->src[0]->arg;
  return arg.has_record() && !arg.name().empty() ? arg.name() : "unnamed";
}

}  // namespace

ListReplay::ListReplay(KernelVersions& graph, Ref linear)
    : graph_(graph), done_(graph.buffers().size()), place_of_(graph.kernels().size(), -1) {
  // Equal calls over storage are kernels of several versions, each to be run once.
  std::map<uint32_t, std::vector<int32_t>> open;  // by the node's number; only looked up
  for (size_t k = 0; k < graph.kernels().size(); k++) {
    open[graph.kernels()[k].bare->id].push_back(static_cast<int32_t>(k));
  }
  for (size_t i = 0; i < linear->src.size(); i++) {
    const Ref call = linear->src[i];
    const auto same = open.find(graph.bare_call(call)->id);
    if (same == open.end() || same->second.empty()) {
      kernel_at_.push_back(-1);
      if (mismatch_.empty()) {
        mismatch_ = fmt::format("call {} ({}) is none of the kernels", i, name_of_call(call));
      }
      continue;
    }
    std::vector<int32_t>& candidates = same->second;
    size_t pick = 0;
    for (size_t c = 0; c < candidates.size() && candidates.size() > 1; c++) {
      if (!run(candidates[c], false)) continue;
      pick = c;
      break;
    }
    const int32_t kernel = candidates[pick];
    candidates.erase(candidates.begin() + static_cast<int64_t>(pick));
    run(kernel, true);
    place_of_[nth_of(kernel)] = static_cast<int32_t>(i);
    kernel_at_.push_back(kernel);
    for (const KernelVersions::Take& t : graph.kernels()[nth_of(kernel)].takes) {
      const int32_t buffer = graph.versions()[nth_of(t.version)].buffer;
      const int32_t place = graph.writer_place(buffer, kernel);
      if (t.use.writes && place >= 0) done_[nth_of(buffer)].add(place);
    }
  }
  finish();
}

void ListReplay::note(const Fault& fault, bool report) {
  is_right_ = false;
  if (report && faults_.size() < kMostFaults) faults_.push_back(fault);
}

// Whether the kernel finds what it takes, and writes over what it is to write over.
bool ListReplay::run(int32_t kernel, bool report) {
  is_right_ = true;
  const KernelVersions::Kernel& k = graph_.kernels()[nth_of(kernel)];
  for (const KernelVersions::Take& t : k.takes) {
    if (!t.use.reads) continue;
    const KernelVersions::Version& v = graph_.versions()[nth_of(t.version)];
    for (const int32_t place : done_[nth_of(v.buffer)].difference(v.made)) {
      const int32_t other = graph_.buffers()[nth_of(v.buffer)].writers[nth_of(place)];
      if (v.made.has(place)) {
        note({"RAW", other, kernel, v.buffer, t.version}, report);
      } else {
        note({"WAR", kernel, other, v.buffer, t.version}, report);
      }
    }
  }
  for (const int32_t made : k.makes) {
    const KernelVersions::Version& next = graph_.versions()[nth_of(made)];
    const KernelVersions::Version& prior = graph_.versions()[nth_of(next.prior)];
    for (const int32_t place : done_[nth_of(next.buffer)].difference(prior.made)) {
      const int32_t other = graph_.buffers()[nth_of(next.buffer)].writers[nth_of(place)];
      if (prior.made.has(place)) {
        note({"WAW", other, kernel, next.buffer, made}, report);
      } else if (!next.made.has(place)) {
        note({"WAW", kernel, other, next.buffer, made}, report);
      }
    }
  }
  return is_right_;
}

// What is left over, and what stands in buffers that the sink asks for.
void ListReplay::finish() {
  for (size_t k = 0; k < place_of_.size() && mismatch_.empty(); k++) {
    if (place_of_[k] >= 0) continue;
    mismatch_ =
        fmt::format("kernel {} ({}) is not in the list", k, name_of_call(graph_.kernels()[k].call));
  }
  std::vector<NumberSet> wanted(graph_.buffers().size());
  std::vector<int32_t> last(graph_.buffers().size(), -1);
  for (const int32_t v : graph_.wanted()) {
    const KernelVersions::Version& version = graph_.versions()[nth_of(v)];
    wanted[nth_of(version.buffer)].add(version.made);
    last[nth_of(version.buffer)] = v;
  }
  for (size_t b = 0; b < wanted.size(); b++) {
    if (last[b] < 0) continue;
    for (const int32_t place : done_[b].difference(wanted[b])) {
      if (wanted[b].has(place)) continue;  // it is missing
      const int32_t other = graph_.buffers()[b].writers[nth_of(place)];
      note({"WAR", -1, other, static_cast<int32_t>(b), last[b]}, true);
    }
  }
}

}  // namespace assay::props
