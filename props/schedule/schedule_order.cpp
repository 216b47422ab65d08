#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/uop/text.h"
#include "props/schedule/kernel_order.h"
#include "props/schedule/list_replay.h"
#include "props/schedule/needless_edge.h"
#include "props/schedule/order_judge.h"
#include "props/schedule/own_element.h"
#include "props/schedule/schedule_props.h"

namespace assay::props {
namespace {

using schedule::ScheduleSeen;
using uop::Ref;

constexpr std::string_view kReplay = "replay";

class ScheduleJudge {
 public:
  ScheduleJudge(const ScheduleSeen& seen, Context& context)
      : seen_(seen), context_(context), graph_(seen.graph, seen.kernels) {}

  Checked judge() {
    if (graph_.error()) {
      malformed();
    } else if (seen_.linear == nullptr) {
      refused();
    } else {
      listed();
    }
    return std::move(checked_);
  }

 private:
  void malformed() {
    if (seen_.linear == nullptr) {
      return checked_.add({Answer::Pass, Strength::Proved, "refused: " + *graph_.error()}, kReplay);
    }
    checked_.add_unknown("kernel graph", *graph_.error());
  }

  // The engine finds no order: there must be none.
  void refused() {
    const KernelOrder order(graph_);
    if (order.too_many()) return checked_.add_unknown("too many pairs", std::string(seen_.error));
    if (order.is_circle()) {
      return checked_.add({Answer::Pass, Strength::Proved, "no order is right"}, "reachability");
    }
    std::vector<Ref> calls;
    for (const int32_t k : order.order()) {
      calls.push_back(graph_.kernels()[static_cast<size_t>(k)].bare);
    }
    const Ref linear =
        seen_.graph.make(uop::Op::Linear, uop::Void, calls, seen_.graph.info("", {}));
    const std::string what = fmt::format("refused ({}), though kernels can run in the order {}",
                                         seen_.error, fmt::join(order.order(), " "));
    OrderTrial trial(seen_.graph, linear, {}, context_.seed);
    const TrialResult shown = trial.against(final_states(trial));
    if (!shown.is_run || shown.differs) {
      return checked_.add_unknown("unconfirmed order", what + ": " + shown.text);
    }
    checked_.add({Answer::Fail, Strength::Proved, what}, "reachability");
    checked_.shape = "refusal";
  }

  void listed() {
    const Result<std::vector<CallEdge>> edges = read_edges(seen_.linear);
    if (!edges.ok()) {
      checked_.add({Answer::Fail, Strength::Proved, edges.error().message}, kReplay);
      checked_.shape = "edges";
      return;
    }
    const CallAccesses accesses(seen_.graph, seen_.linear);
    const CallOrder order(accesses.calls(), edges.value());
    const ListReplay replay(graph_, seen_.linear);
    if (!replay.mismatch().empty()) {
      show_list({replay.mismatch(), "kernels"});
    } else {
      judge_replay(replay, accesses);
    }
    judge_in_place(accesses);
    if (checked_.verdict.answer == Answer::Fail) return;
    const MakeTrial trial = [&] {
      OrderTrial made(seen_.graph, seen_.linear, {}, context_.seed);
      final_states(made);
      return made;
    };
    judge_order(checked_, accesses, order, trial, context_);
    if (checked_.verdict.answer == Answer::Pass) judge_only_after(replay, accesses, order);
  }

  struct ListFault {
    std::string what;
    std::string shape;
  };
  // Shows that the list as it stands leaves other values than the graph says.
  void show_list(const ListFault& fault) {
    OrderTrial trial(seen_.graph, seen_.linear, {}, context_.seed);
    fail_if(trial.against(final_states(trial)), fault);
  }

  void fail_if(const TrialResult& shown, const ListFault& fault) {
    if (context_.confirms && !shown.differs) {
      return checked_.add_unknown("unconfirmed order", fault.what + ": " + shown.text);
    }
    checked_.add({Answer::Fail, Strength::Proved,
                  fmt::format("{}; the list as it stands {}", fault.what, shown.text)},
                 kReplay);
    checked_.shape = fault.shape;
    checked_.evidence.push_back(
        {"order.uop",
         fmt::format("# {}\n{}", fault.what, uop::to_text(seen_.graph, seen_.linear, "linear"))});
  }

  // The states of the sink that are what their buffers hold in the end, observed by the trial.
  std::vector<Ref> final_states(OrderTrial& trial) {
    std::vector<NumberSet> all(graph_.buffers().size());
    const auto version = [&](int32_t v) -> const KernelVersions::Version& {
      return graph_.versions()[static_cast<size_t>(v)];
    };
    for (const int32_t v : graph_.wanted()) {
      all[static_cast<size_t>(version(v).buffer)].add(version(v).made);
    }
    std::vector<Ref> states;
    std::vector<int32_t> taken;
    for (const Ref s : seen_.kernels->src) {
      const std::vector<int32_t> of = graph_.versions_of(s);
      if (of.size() != 1) continue;
      const KernelVersions::Version& v = version(of[0]);
      const bool is_final = all[static_cast<size_t>(v.buffer)].difference(v.made).empty();
      if (!is_final || std::find(taken.begin(), taken.end(), v.buffer) != taken.end()) continue;
      taken.push_back(v.buffer);
      states.push_back(s);
      trial.observe(graph_.buffers()[static_cast<size_t>(v.buffer)].storage);
    }
    return states;
  }

  // Whether the bodies of the two kernels say that they touch other bytes of the buffer.
  bool are_apart(const ListReplay::Fault& fault, const ListReplay& replay,
                 const CallAccesses& accesses) {
    if (fault.earlier < 0) return false;
    const int32_t a = replay.places()[static_cast<size_t>(fault.earlier)];
    const int32_t b = replay.places()[static_cast<size_t>(fault.later)];
    const Ref storage = graph_.buffers()[static_cast<size_t>(fault.buffer)].storage;
    const auto found = std::find(accesses.storages().begin(), accesses.storages().end(), storage);
    if (a < 0 || b < 0 || found == accesses.storages().end()) return false;
    Footprints footprints(seen_.graph);
    CallConflict pair;
    pair.before = std::min(a, b);
    pair.after = std::max(a, b);
    pair.storage = static_cast<int32_t>(found - accesses.storages().begin());
    return !may_meet(accesses, pair, footprints);
  }

  std::string fault_text(const ListReplay::Fault& f, const ListReplay& replay) {
    const Ref storage = graph_.buffers()[static_cast<size_t>(f.buffer)].storage;
    const auto name = [&](int32_t kernel) {
      if (kernel < 0) return std::string("the end of the list");
      return call_name(seen_.linear, replay.places()[static_cast<size_t>(kernel)]);
    };
    return fmt::format("{}: {} must run before {} by version {} of {} {}", f.kind, name(f.earlier),
                       name(f.later), graph_.generation(f.version),
                       storage->op == uop::Op::Param ? "param" : "buffer", storage->arg.number());
  }

  void judge_replay(const ListReplay& replay, const CallAccesses& accesses) {
    add_passed(checked_, static_cast<int64_t>(graph_.kernels().size()), kReplay);
    for (const ListReplay::Fault& f : replay.faults()) {
      if (are_apart(f, replay, accesses)) {
        add_passed(checked_, 1, "footprint");
        continue;
      }
      show_list({fault_text(f, replay), std::string(f.kind) + " in the list"});
      if (checked_.verdict.answer == Answer::Fail) return;
    }
  }

  // A kernel that changes a buffer reads, of each element, no more than it writes itself.
  void judge_in_place(const CallAccesses& accesses) {
    Footprints footprints(seen_.graph);
    for (int32_t k = 0; k < accesses.calls(); k++) {
      for (const CallAccess& write : accesses.of(k)) {
        for (const CallAccess& read : accesses.of(k)) {
          const bool meet = write.storage == read.storage && write.use.writes && read.use.reads &&
                            write.begin < read.end && read.begin < write.end;
          if (!meet) continue;
          if (!may_read_others(accesses, write, read, footprints)) {
            add_passed(checked_, 1, "footprint");
            continue;
          }
          OrderTrial trial(seen_.graph, seen_.linear, {}, context_.seed);
          fail_if(trial.runs(), {fmt::format("{} reads elements of what it writes that others of "
                                             "its iterations write",
                                             call_name(seen_.linear, k)),
                                 "in place"});
          if (checked_.verdict.answer == Answer::Fail) return;
        }
      }
    }
  }

  // What an AFTER orders without a write that would show it: calls that meet in a byte are ordered
  // as they are in the list, which is right, so that all orders of the others leave the same. That
  // such a pair has no order is listed.
  void judge_only_after(const ListReplay& replay, const CallAccesses& accesses,
                        const CallOrder& order) {
    std::vector<CallPair> pairs;
    std::vector<CallPair> turned;
    for (const CallPair& p : only_after_pairs(graph_)) {
      const int32_t from = replay.places()[static_cast<size_t>(p.from)];
      const int32_t to = replay.places()[static_cast<size_t>(p.to)];
      if (from >= 0 && to >= 0) (from < to ? pairs : turned).push_back({from, to});
    }
    const std::vector<CallPair> open = order.unordered(pairs);
    add_passed(checked_, static_cast<int64_t>(pairs.size() - open.size()), "reachability");
    add_passed(checked_, static_cast<int64_t>(open.size() + turned.size()), "no byte");
    checked_.listed = needless_edges(accesses, order, pairs);
    turned.insert(turned.end(), open.begin(), open.end());
    for (const CallPair& p : turned) {
      checked_.listed.push_back(fmt::format("only after: {} to {}, which no edges order",
                                            call_name(seen_.linear, p.from),
                                            call_name(seen_.linear, p.to)));
    }
  }

  const ScheduleSeen& seen_;
  Context& context_;
  KernelVersions graph_;
  Checked checked_;
};

}  // namespace

Checked schedule_order(const ScheduleSeen& seen, Context& context) {
  return ScheduleJudge(seen, context).judge();
}

}  // namespace assay::props
