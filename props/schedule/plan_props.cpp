#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/uop/text.h"
#include "props/schedule/needless_edge.h"
#include "props/schedule/order_judge.h"
#include "props/schedule/plan_layout.h"
#include "props/schedule/plan_report.h"
#include "props/schedule/schedule_props.h"

namespace assay::props {
namespace {

using schedule::PlanSeen;
using uop::Ref;

constexpr int64_t kPlanBlock = 256;  // what places of parts are multiples of
constexpr std::string_view kLayout = "layout";

// Storage whose contents count when all has run: what others hold, or all that stays where it is.
void observe_kept(OrderTrial& trial, const PlanSeen& seen, const CallAccesses& accesses) {
  for (const Ref s : accesses.storages()) {
    const auto& held = seen.options.held;
    const bool is_held = std::find(held.begin(), held.end(), s) != held.end();
    if (is_held || s->op == uop::Op::Param) trial.observe(s);
  }
}

Checked every_order(const PlanSeen& seen, Ref linear, Context& context) {
  Checked checked;
  const Result<std::vector<CallEdge>> edges = read_edges(linear);
  if (!edges.ok()) {
    checked.add({Answer::Fail, Strength::Proved, edges.error().message}, "reachability");
    checked.shape = "edges";
    return checked;
  }
  const CallAccesses accesses(seen.graph, linear);
  const CallOrder order(accesses.calls(), edges.value());
  OrderTrial trial(seen.graph, linear, seen.variables, context.seed);
  observe_kept(trial, seen, accesses);
  judge_order(checked, accesses, order, trial, context);
  checked.listed = needless_edges(accesses, order);
  return checked;
}

class LayoutJudge {
 public:
  LayoutJudge(const PlanSeen& seen, Context& context)
      : seen_(seen), context_(context), layout_(seen) {}

  Checked judge() {
    require(layout_.mismatch().empty(), "planned calls", [&] { return layout_.mismatch(); });
    judge_edges();
    if (checked_.verdict.answer != Answer::Pass) return std::move(checked_);
    judge_places();
    judge_lanes();
    judge_lives();
    for (std::string& wrong : wrong_reports(layout_, seen_.plan)) {
      require(false, "report", [&] { return wrong; });
    }
    require(true, "report", [] { return std::string(); });
    return std::move(checked_);
  }

 private:
  // One obligation that the two LINEARs decide.
  template <typename Why>
  void require(bool holds, std::string_view shape, Why why) {
    if (holds) return add_passed(checked_, 1, kLayout);
    if (checked_.verdict.answer == Answer::Pass) checked_.shape = shape;
    checked_.add({Answer::Fail, Strength::Proved, why()}, kLayout);
  }

  // The plan only adds edges.
  void judge_edges() {
    const Result<std::vector<CallEdge>> before = read_edges(seen_.linear);
    const Result<std::vector<CallEdge>> after = read_edges(seen_.planned);
    if (!before.ok() || !after.ok()) {
      return require(false, "edges",
                     [&] { return before.ok() ? after.error().message : before.error().message; });
    }
    std::vector<CallPair> kept;
    for (const CallEdge& e : after.value()) kept.push_back({e.from, e.to});
    std::sort(kept.begin(), kept.end());
    for (const CallEdge& e : before.value()) {
      require(std::binary_search(kept.begin(), kept.end(), CallPair{e.from, e.to}), "edges", [&] {
        return fmt::format("the plan loses the {} edge from {} to {}", edge_kind(e.kind),
                           call_name(seen_.linear, e.from), call_name(seen_.linear, e.to));
      });
    }
  }

  void judge_places() {
    for (const PlanLayout::Placed& p : layout_.buffers()) {
      const int64_t n = p.buffer->arg.number();
      if (!p.kept.empty()) {
        require(!p.is_moved(), "kept storage",
                [&] { return fmt::format("buffer {} ({}) is put into an arena", n, p.kept); });
        continue;
      }
      if (!p.is_moved()) continue;
      require(p.begin % kPlanBlock == 0, "alignment", [&] {
        return fmt::format("buffer {} begins at byte {}, no multiple of {}", n, p.begin,
                           kPlanBlock);
      });
      require(p.end - p.begin == p.bytes, "size", [&] {
        return fmt::format("buffer {} of {} bytes has {}", n, p.bytes, p.end - p.begin);
      });
      require(p.end <= storage_bytes(seen_.graph, p.arena), "outside", [&] {
        return fmt::format("buffer {} ends at byte {} of an arena of {}", n, p.end,
                           storage_bytes(seen_.graph, p.arena));
      });
      require(layout_.device(p.arena) == layout_.device(p.buffer), "device", [&] {
        return fmt::format("buffer {} moves from {} to {}", n, layout_.device(p.buffer),
                           layout_.device(p.arena));
      });
    }
    for (const PlanLayout::Placed& p : layout_.buffers()) {
      const bool is_arena = std::find(layout_.arenas().begin(), layout_.arenas().end(), p.buffer) !=
                            layout_.arenas().end();
      require(!is_arena, "kept storage",
              [&] { return fmt::format("buffer {} is made an arena", p.buffer->arg.number()); });
    }
  }

  // What copies touch shares no arena with what they do not.
  void judge_lanes() {
    for (const Ref arena : layout_.arenas()) {
      int kinds = 0;
      for (const PlanLayout::Placed& p : layout_.buffers()) {
        if (p.arena == arena) kinds |= p.is_copied ? 1 : 2;
      }
      require(kinds != 3, "lane", [&] {
        return fmt::format("arena {} has buffers of both lanes", arena->arg.number());
      });
    }
  }

  // No two buffers have a byte while both are in use, as calls stand in the list.
  void judge_lives() {
    std::vector<const PlanLayout::Placed*> order;
    for (const PlanLayout::Placed& p : layout_.buffers()) {
      if (p.is_moved()) order.push_back(&p);
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const auto* a, const auto* b) { return a->first < b->first; });
    struct Piece {
      int64_t end;
      const PlanLayout::Placed* owner;
    };
    // By arena and begin: whose bytes these are now.
    std::map<std::pair<int64_t, int64_t>, Piece> owners;
    for (const PlanLayout::Placed* p : order) {
      const int64_t arena = p->arena->arg.number();
      auto it = owners.lower_bound({arena, p->begin});
      if (it != owners.begin() && std::prev(it)->first.first == arena) --it;
      while (it != owners.end() && it->first < std::pair(arena, p->end)) {
        const Piece piece = it->second;
        const int64_t begin = it->first.second;
        if (it->first.first != arena || piece.end <= p->begin) {
          ++it;
          continue;
        }
        meet(*piece.owner, *p);
        it = owners.erase(it);
        if (begin < p->begin) owners[{arena, begin}] = {p->begin, piece.owner};
        if (p->end < piece.end) owners[{arena, p->end}] = {piece.end, piece.owner};
      }
      owners[{arena, p->begin}] = {p->end, p};
    }
  }

  void meet(const PlanLayout::Placed& a, const PlanLayout::Placed& b) {
    if (a.last < b.first) return add_passed(checked_, 1, kLayout);
    const std::string what = fmt::format(
        "buffers {} and {} both have bytes {} to {} of arena {} while both are in use, calls {} "
        "to {}",
        a.buffer->arg.number(), b.buffer->arg.number(), std::max(a.begin, b.begin),
        std::min(a.end, b.end), a.arena->arg.number(), b.first, a.last);
    if (checked_.verdict.answer == Answer::Fail) {
      return checked_.add_unknown("after a failure", what);
    }
    OrderTrial trial(seen_.graph, seen_.planned, seen_.variables, context_.seed);
    const CallAccesses accesses(seen_.graph, seen_.planned);
    observe_kept(trial, seen_, accesses);
    const TrialResult shown = context_.confirms ? trial.against(seen_.linear) : TrialResult();
    if (context_.confirms && !shown.differs) {
      return checked_.add_unknown("unconfirmed overlap", fmt::format("{}: {}", what, shown.text));
    }
    require(false, "overlap", [&] { return fmt::format("{}; the plan {}", what, shown.text); });
    checked_.evidence.push_back(
        {"plan.uop",
         fmt::format("# {}\n{}", what, uop::to_text(seen_.graph, seen_.planned, "planned"))});
  }

  const PlanSeen& seen_;
  Context& context_;
  PlanLayout layout_;
  Checked checked_;
};

}  // namespace

Checked linear_order(const PlanSeen& seen, Context& context) {
  return every_order(seen, seen.linear, context);
}

Checked plan_order(const PlanSeen& seen, Context& context) {
  return every_order(seen, seen.planned, context);
}

Checked plan_layout(const PlanSeen& seen, Context& context) {
  return LayoutJudge(seen, context).judge();
}

}  // namespace assay::props
