#include "props/schedule/plan_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/uop/dtype.h"

namespace assay::props {
namespace {

using Placed = PlanLayout::Placed;

constexpr int64_t kReportBlock = 256;

int64_t in_blocks(int64_t bytes) {
  return (bytes + kReportBlock - 1) / kReportBlock * kReportBlock;
}

class ReportJudge {
 public:
  ReportJudge(const PlanLayout& layout, const schedule::MemoryPlan& plan)
      : layout_(layout), plan_(plan) {}

  std::vector<std::string> judge() {
    buffers();
    int64_t planned = 0;
    int64_t lowest = 0;
    int64_t wanted = 0;
    expect("arenas", static_cast<int64_t>(plan_.arenas.size()),
           static_cast<int64_t>(layout_.arenas().size()));
    for (size_t i = 0; i < std::min(plan_.arenas.size(), layout_.arenas().size()); i++) {
      const Totals totals = totals_of(layout_.arenas()[i]);
      arena(plan_.arenas[i], layout_.arenas()[i], totals);
      planned += totals.bytes;
      lowest += totals.lowest;
      wanted += totals.wanted;
    }
    expect("bytes planned", plan_.planned_bytes, planned);
    expect("bytes at best", plan_.lower_bound_bytes, lowest);
    expect("bytes side by side", plan_.wanted_bytes, wanted);
    return std::move(wrong_);
  }

 private:
  struct Totals {
    int64_t bytes = 0;
    int64_t lowest = 0;  // the most that is held at once
    int64_t wanted = 0;
    bool is_copied = false;
  };

  void expect(std::string_view what, int64_t reported, int64_t actual) {
    if (reported == actual) return;
    wrong_.push_back(fmt::format("{}: {} are reported where there are {}", what, reported, actual));
  }

  Totals totals_of(uop::Ref arena) const {
    Totals t;
    std::map<int32_t, int64_t> changes;  // of what is held, by call
    for (const Placed& p : layout_.buffers()) {
      if (p.arena != arena) continue;
      const int64_t bytes = in_blocks(p.bytes);
      t.bytes = std::max(t.bytes, in_blocks(p.end));
      t.wanted += bytes;
      t.is_copied |= p.is_copied;
      changes[p.first] += bytes;
      changes[p.until()] -= bytes;
    }
    int64_t held = 0;
    for (const auto& [call, change] : changes) {
      held += change;
      t.lowest = std::max(t.lowest, held);
    }
    return t;
  }

  void arena(const schedule::MemoryPlan::Arena& said, uop::Ref arena, const Totals& t) {
    const std::string name = fmt::format("arena {}", arena->arg.number());
    expect(name + " number", said.number, arena->arg.number());
    expect(name + " bytes", said.bytes, t.bytes);
    expect(name + " storage", said.bytes, layout_.arena_bytes(arena));
    expect(name + " bytes at best", said.lower_bound_bytes, t.lowest);
    expect(name + " bytes side by side", said.wanted_bytes, t.wanted);
    expect(name + " lane", static_cast<int64_t>(said.lane), t.is_copied ? 1 : 0);
    if (said.device != layout_.device(arena)) wrong_.push_back(name + " is on another device");
  }

  void buffers() {
    expect("buffers", static_cast<int64_t>(plan_.buffers.size()),
           static_cast<int64_t>(layout_.buffers().size()));
    for (size_t i = 0; i < std::min(plan_.buffers.size(), layout_.buffers().size()); i++) {
      const schedule::MemoryPlan::Buffer& said = plan_.buffers[i];
      const Placed& p = layout_.buffers()[i];
      const std::string name = fmt::format("buffer {}", p.buffer->arg.number());
      expect(name + " number", said.number, p.buffer->arg.number());
      expect(name + " bytes", said.bytes, p.bytes);
      expect(name + " first call", said.first, p.first);
      expect(name + " last call", said.last, p.last);
      expect(name + " end", said.end, p.until());
      if (said.kept != p.kept) {
        wrong_.push_back(
            fmt::format("{} is kept as '{}' where it is '{}'", name, said.kept, p.kept));
      }
      if (!p.is_moved()) continue;
      expect(name + " offset", said.offset, p.begin);
      const bool is_there =
          said.arena >= 0 && static_cast<size_t>(said.arena) < plan_.arenas.size() &&
          plan_.arenas[static_cast<size_t>(said.arena)].number == p.arena->arg.number();
      if (!is_there) wrong_.push_back(fmt::format("{} is in another arena", name));
    }
  }

  const PlanLayout& layout_;
  const schedule::MemoryPlan& plan_;
  std::vector<std::string> wrong_;
};

}  // namespace

std::vector<std::string> wrong_reports(const PlanLayout& layout, const schedule::MemoryPlan& plan) {
  return ReportJudge(layout, plan).judge();
}

}  // namespace assay::props
