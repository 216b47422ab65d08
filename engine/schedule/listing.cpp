#include "engine/schedule/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <string_view>
#include <vector>

#include "engine/schedule/at.h"
#include "engine/schedule/in_place.h"
#include "engine/uop/node_map.h"
#include "engine/uop/scan.h"
#include "engine/uop/scope.h"
#include "engine/uop/shape.h"
#include "engine/uop/walk.h"

namespace assay::schedule {
namespace {

using uop::NodeMap;
using uop::Op;

// Lines of cells, each column as wide as its widest cell.
class Table {
 public:
  void add(std::vector<std::string> cells) { lines_.push_back(std::move(cells)); }

  std::string text(std::string_view indent = "") const {
    std::vector<size_t> widths;
    for (const auto& line : lines_) {
      widths.resize(std::max(widths.size(), line.size()));
      for (size_t i = 0; i < line.size(); i++) widths[i] = std::max(widths[i], line[i].size());
    }
    std::string out;
    for (const auto& line : lines_) {
      std::string row(indent);
      for (size_t i = 0; i < line.size(); i++) row += fmt::format("{:<{}}  ", line[i], widths[i]);
      row.erase(row.find_last_not_of(' ') + 1);
      out += row + "\n";
    }
    return out;
  }

 private:
  std::vector<std::vector<std::string>> lines_;
};

std::string joined(std::span<const std::string> items, std::string_view none) {
  std::string out;
  for (const std::string& item : items)
    fmt::format_to(std::back_inserter(out), "{}{}", out.empty() ? "" : ", ", item);
  return out.empty() ? std::string(none) : out;
}

// What an argument names: storage, or a part of it.
std::string name_of(Ref arg) {
  if (arg->op == Op::Buffer) return fmt::format("b{}", arg->arg.number());
  if (arg->op == Op::Param) return fmt::format("p{}", arg->arg.number());
  const Ref part = arg->op == Op::Bitcast ? arg->src[0] : arg;
  if (part->op == Op::Shrink && part->src[0]->op == Op::Buffer && uop::is_const(part->src[1])) {
    return fmt::format("b{}+{}", part->src[0]->arg.number(), part->src[1]->arg.bits);
  }
  std::vector<std::string> below;
  for (const Ref s : arg->src) {
    if (s->op != Op::Const) below.push_back(name_of(s));
  }
  return fmt::format("{}({})", to_text(arg->op), joined(below, ""));
}

std::string with_type(Graph& g, Ref arg) {
  return fmt::format("{} {}{}", name_of(arg), to_text(arg->dtype),
                     uop::shape_text(uop::shape(g, arg)));
}

std::string device_name(Graph& g, Ref call) {
  for (const Ref arg : call->src.subspan(1)) {
    if (const Ref on = uop::device(g, arg)) return std::string(on->arg.name());
  }
  return "-";
}

// What a call writes and reads, with versions by what was written before.
struct Line {
  std::string writes;
  std::string reads;
};

std::vector<Line> lines_of(Ref linear) {
  NodeMap<int32_t> versions;
  InPlace in_place;
  std::vector<Line> lines;
  const auto named = [&](Ref arg, int32_t later) {
    const int32_t* version = versions.find(arg);
    return fmt::format("{}.{}", name_of(arg), (version == nullptr ? 0 : *version) + later);
  };
  for (const Ref call : linear->src) {
    const std::span<const Ref> args = call->src.subspan(1);
    if (args.empty()) {
      lines.push_back({"-", "-"});
      continue;
    }
    std::vector<std::string> reads;
    if (in_place(call->src[0])) reads.push_back(named(args[0], 0));
    for (const Ref arg : args.subspan(1)) {
      if (arg->op != Op::Bind) reads.push_back(named(arg, 0));
    }
    lines.push_back({named(args[0], 1), joined(reads, "-")});
    const int32_t* version = versions.find(args[0]);
    versions.set(args[0], (version == nullptr ? 0 : *version) + 1);
  }
  return lines;
}

constexpr std::array<std::string_view, 4> kArrows = {"color=black", "color=red, style=dashed",
                                                     "color=orange, style=dotted", "color=blue"};

std::string percent_over(int64_t bytes, int64_t bound) {
  if (bound == 0) return "1.000";
  return fmt::format("{:.3f}", static_cast<double>(bytes) / static_cast<double>(bound));
}

std::string life(const MemoryPlan::Buffer& b) {
  const std::string held = b.end > b.last + 1 ? fmt::format(" held to {}", b.end) : std::string();
  return fmt::format("{}-{}{}", b.first, b.last, held);
}

std::vector<size_t> by_place(const MemoryPlan& plan) {
  std::vector<size_t> order(plan.buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const MemoryPlan::Buffer& x = plan.buffers[a];
    const MemoryPlan::Buffer& y = plan.buffers[b];
    return std::tuple(x.arena, x.offset, x.first, a) < std::tuple(y.arena, y.offset, y.first, b);
  });
  return order;
}

std::string arena_title(const MemoryPlan::Arena& a) {
  return fmt::format("arena b{} on {}, {}: {} bytes, {} of the lower bound {}; {} side by side",
                     a.number, a.device, to_text(a.lane), a.bytes,
                     percent_over(a.bytes, a.lower_bound_bytes), a.lower_bound_bytes,
                     a.wanted_bytes);
}

}  // namespace

std::string call_text(Graph& g, Ref call) {
  std::vector<std::string> reads;
  const std::span<const Ref> args = call->src.subspan(1);
  for (size_t i = 1; i < args.size(); i++) {
    if (args[i]->op != Op::Bind) reads.push_back(with_type(g, args[i]));
  }
  const std::string writes = args.empty() ? std::string("-") : with_type(g, args[0]);
  return fmt::format("{} on {}: {}{}{}", kernel_name(call), device_name(g, call), writes,
                     reads.empty() ? "" : " <- ", joined(reads, ""));
}

std::string schedule_text(Graph& g, Ref linear) {
  const auto edges = edges_of(linear);
  if (!edges.ok()) return edges.error().message + "\n";
  std::vector<std::vector<std::string>> waits(linear->src.size());
  for (const Edge& e : edges.value()) {
    waits[at(e.to)].push_back(fmt::format("{} {}", e.from, to_text(e.kind)));
  }
  const std::vector<Line> lines = lines_of(linear);
  Table table;
  table.add({"call", "kernel", "device", "writes", "reads", "waits for"});
  for (size_t k = 0; k < lines.size(); k++) {
    const Ref call = linear->src[k];
    table.add({std::to_string(k), std::string(kernel_name(call)), device_name(g, call),
               lines[k].writes, lines[k].reads, joined(waits[k], "-")});
  }
  return table.text();
}

std::string schedule_dot(Graph& g, Ref linear) {
  std::string out = "digraph schedule {\n  rankdir=TB;\n  node [shape=box, fontname=monospace];\n";
  const auto end = std::back_inserter(out);
  const std::vector<Line> lines = lines_of(linear);
  for (size_t k = 0; k < lines.size(); k++) {
    fmt::format_to(end, "  k{} [label=", k);
    uop::append_quoted(out, fmt::format("{} {} on {}", k, kernel_name(linear->src[k]),
                                        device_name(g, linear->src[k])));
    fmt::format_to(end, ", tooltip=\"{} <- {}\"];\n", lines[k].writes, lines[k].reads);
  }
  const auto edges = edges_of(linear);
  if (edges.ok()) {
    for (const Edge& e : edges.value()) {
      fmt::format_to(end, "  k{} -> k{} [label=\"{}\", {}];\n", e.from, e.to, to_text(e.kind),
                     kArrows[static_cast<size_t>(e.kind)]);
    }
  }
  return out + "}\n";
}

std::string plan_text(const MemoryPlan& plan) {
  std::string out;
  const auto end = std::back_inserter(out);
  const std::vector<size_t> order = by_place(plan);
  for (size_t a = 0; a < plan.arenas.size(); a++) {
    fmt::format_to(end, "{}; packed: {}\n", arena_title(plan.arenas[a]), plan.arenas[a].by);
    Table table;
    table.add({"offset", "bytes", "calls", "buffer", "type"});
    for (const size_t i : order) {
      const MemoryPlan::Buffer& b = plan.buffers[i];
      if (b.arena != static_cast<int32_t>(a)) continue;
      table.add({std::to_string(b.offset), std::to_string(b.bytes), life(b),
                 fmt::format("b{}", b.number), b.type});
    }
    out += table.text("  ");
  }
  Table kept;
  for (const size_t i : order) {
    const MemoryPlan::Buffer& b = plan.buffers[i];
    if (b.arena >= 0) continue;
    kept.add({fmt::format("b{}", b.number), b.type, fmt::format("on {}", b.device),
              fmt::format("{} bytes", b.bytes), fmt::format("calls {}", life(b)),
              std::string(b.kept)});
  }
  const std::string kept_text = kept.text("  ");
  if (!kept_text.empty()) out += "not planned\n" + kept_text;
  std::vector<std::string> reuse;
  reuse.reserve(plan.reuse.size());
  for (const Edge& e : plan.reuse) reuse.push_back(fmt::format("{} -> {}", e.from, e.to));
  fmt::format_to(end, "planned {} bytes in {} arenas, {} of the lower bound {}; {} side by side\n",
                 plan.planned_bytes, plan.arenas.size(),
                 percent_over(plan.planned_bytes, plan.lower_bound_bytes), plan.lower_bound_bytes,
                 plan.wanted_bytes);
  fmt::format_to(end, "reuse edges: {}\n", joined(reuse, "none"));
  return out;
}

std::string plan_dot(const MemoryPlan& plan) {
  std::string out = "digraph plan {\n  rankdir=LR;\n  node [shape=box, fontname=monospace];\n";
  const auto end = std::back_inserter(out);
  const std::vector<size_t> order = by_place(plan);
  for (size_t a = 0; a < plan.arenas.size(); a++) {
    fmt::format_to(end, "  subgraph cluster{} {{\n    label=", a);
    uop::append_quoted(out, arena_title(plan.arenas[a]));
    out += ";\n";
    for (const size_t i : order) {
      const MemoryPlan::Buffer& b = plan.buffers[i];
      if (b.arena != static_cast<int32_t>(a)) continue;
      fmt::format_to(end, "    b{} [label=\"b{} {}\\n{} + {}\\ncalls {}\"];\n", b.number, b.number,
                     b.type, b.offset, b.bytes, life(b));
    }
    out += "  }\n";
  }
  for (const MemoryPlan::Buffer& b : plan.buffers) {
    for (const MemoryPlan::Buffer& a : plan.buffers) {
      const bool is_before = a.arena >= 0 && a.arena == b.arena && a.last < b.first &&
                             a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
      if (is_before) fmt::format_to(end, "  b{} -> b{};\n", a.number, b.number);
    }
  }
  return out + "}\n";
}

}  // namespace assay::schedule
