#include "oracles/workgroup/finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace assay::workgroup {

using uop::AddrSpace;

std::string_view to_text(Fault fault) {
  switch (fault) {
    case Fault::Race: return "race";
    case Fault::Divergence: return "divergence";
    case Fault::Placement: return "placement";
    case Fault::Bounds: return "bounds";
    case Fault::Uninitialised: return "uninitialised";
    case Fault::Misaligned: return "misaligned";
  }
  return "";
}

namespace {

int bits_each(size_t loops) { return loops == 0 ? 64 : std::max(1, 64 / static_cast<int>(loops)); }

uint64_t ones(int bits) { return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

std::string place_text(const int64_t (&at)[3]) {
  return fmt::format("({}, {}, {})", at[0], at[1], at[2]);
}

void split(int64_t number, const std::array<int64_t, 3>& sizes, int64_t (&at)[3]) {
  at[0] = number % sizes[0];
  at[1] = number / sizes[0] % sizes[1];
  at[2] = number / sizes[0] / sizes[1];
}

}  // namespace

uint64_t pack(std::span<const int64_t> counters) {
  const int bits = bits_each(counters.size());
  const uint64_t most = ones(bits);
  uint64_t packed = 0;
  for (size_t i = 0; i < counters.size() && static_cast<int>(i) * bits < 64; i++) {
    packed |= std::min(static_cast<uint64_t>(counters[i]), most) << (static_cast<int>(i) * bits);
  }
  return packed;
}

std::string iterations_text(uint64_t packed, int loops) {
  if (loops == 0) return "";
  const int bits = bits_each(static_cast<size_t>(loops));
  std::string text = "[";
  for (int i = 0; i < loops && i * bits < 64; i++) {
    const uint64_t counter = packed >> (i * bits) & ones(bits);
    text += fmt::format("{}{}{}", i == 0 ? "" : " ", counter == ones(bits) ? ">=" : "", counter);
  }
  return text + "]";
}

int Findings::node_of(const Touch& touch) const {
  return touch.is_some() ? program_.code[touch.instruction - 1].node : -1;
}

bool Findings::is_same(const Finding& a, const Finding& b) const {
  if (a.fault != b.fault) return false;
  return std::minmax(node_of(a.first), node_of(a.second)) ==
         std::minmax(node_of(b.first), node_of(b.second));
}

void Findings::add(Finding finding) {
  for (Finding& known : findings_) {
    if (!is_same(known, finding)) continue;
    known.count++;
    return;
  }
  if (findings_.size() < kMost) {
    findings_.push_back(std::move(finding));
  } else {
    dropped_++;
  }
}

std::string Findings::item_text(const Touch& touch) const {
  const int64_t size = launch_.group_size();
  int64_t group[3];
  int64_t item[3];
  split(touch.item / size, launch_.groups, group);
  split(touch.item % size, launch_.items, item);
  return fmt::format("item {} of group {}", place_text(item), place_text(group));
}

std::string Findings::touch_text(const Touch& touch) const {
  const Instruction& i = program_.code[touch.instruction - 1];
  const std::string iterations = iterations_text(touch.iterations, i.loops);
  return fmt::format("{} by {}{}{}", program_.texts[static_cast<size_t>(i.node)], item_text(touch),
                     iterations.empty() ? "" : " in iteration ", iterations);
}

std::string Findings::text_of(const Finding& f) const {
  std::string where;
  if (f.storage >= 0) {
    const Storage& s = program_.storages[static_cast<size_t>(f.storage)];
    where = fmt::format(" at {} {}[{}] of {}", uop::to_text(s.space), s.number, f.element, s.size);
  }
  std::string text = fmt::format("{}{}: ", to_text(f.fault), where);
  switch (f.fault) {
    case Fault::Race: {
      const int64_t size = launch_.group_size();
      const bool is_local =
          program_.storages[static_cast<size_t>(f.storage)].space == AddrSpace::Local;
      text += fmt::format("{} and {}, with {} between them", touch_text(f.first),
                          touch_text(f.second), is_local ? "no barrier" : "nothing");
      if (!is_local && f.first.item / size == f.second.item / size)
        text += " that orders GLOBAL storage";
      break;
    }
    case Fault::Divergence:
      text += fmt::format("{} is not reached by {}", touch_text(f.second), item_text(f.first));
      break;
    case Fault::Placement:
      text += fmt::format("{} stands where the memory contract allows none", touch_text(f.second));
      break;
    case Fault::Bounds:
    case Fault::Uninitialised:
    case Fault::Misaligned: text += touch_text(f.second); break;
  }
  return f.count == 1 ? text : fmt::format("{} ({} times)", text, f.count);
}

std::vector<Finding> Findings::take() {
  for (Finding& f : findings_) {
    for (const Touch& touch : {f.first, f.second}) {
      if (touch.is_some()) f.nodes.push_back(node_of(touch));
    }
    std::sort(f.nodes.begin(), f.nodes.end());
    f.nodes.erase(std::unique(f.nodes.begin(), f.nodes.end()), f.nodes.end());
    f.text = text_of(f);
  }
  std::sort(findings_.begin(), findings_.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.fault, a.nodes, a.storage) < std::tie(b.fault, b.nodes, b.storage);
  });
  return std::move(findings_);
}

}  // namespace assay::workgroup
