#include "props/schedule/order_judge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "engine/uop/text.h"
#include "props/schedule/order_solver.h"

namespace assay::props {
namespace {

using uop::Op;
using uop::Ref;

constexpr size_t kMostPairs = size_t{1} << 22;  // of one storage
constexpr size_t kMostTrials = 8;

std::vector<CallConflict> without_order(std::vector<CallConflict> conflicts,
                                        const CallOrder& order) {
  std::vector<CallPair> pairs;
  for (const CallConflict& c : conflicts) pairs.push_back(c.pair());
  std::vector<CallPair> open = order.unordered(std::move(pairs));
  std::sort(open.begin(), open.end());
  std::erase_if(conflicts, [&](const CallConflict& c) {
    return !std::binary_search(open.begin(), open.end(), c.pair());
  });
  return conflicts;
}

// How often the storage was written before the earlier call, and by it where the later one takes
// what it wrote: the version that the two are at odds about.
int32_t version_between(const CallAccesses& accesses, const CallConflict& conflict) {
  int32_t version = conflict.kind == ConflictKind::War ? 0 : 1;
  int32_t last = -1;
  for (const uint32_t place : accesses.on(conflict.storage)) {
    const CallAccess& a = accesses.all()[place];
    if (a.call >= conflict.before) break;
    if (!a.use.writes || a.call == last) continue;
    last = a.call;
    version++;
  }
  return version;
}

}  // namespace

OpenOrder open_order(const CallAccesses& accesses, const CallOrder& order) {
  OpenOrder result;
  Footprints footprints(accesses.graph());
  std::vector<CallConflict> direct = direct_conflicts(accesses);
  const auto all = static_cast<int64_t>(direct.size());
  std::vector<int32_t> excused;  // storages that calls touch in different bytes
  direct = without_order(std::move(direct), order);
  result.ordered = all - static_cast<int64_t>(direct.size());
  for (const CallConflict& c : direct) {
    if (may_meet(accesses, c, footprints)) {
      result.open.push_back(c);
    } else {
      excused.push_back(c.storage);
    }
  }
  std::sort(excused.begin(), excused.end());
  excused.erase(std::unique(excused.begin(), excused.end()), excused.end());
  // There the order of neighbours does not tell that of the others.
  for (const int32_t storage : excused) {
    std::erase_if(result.open, [&](const CallConflict& c) { return c.storage == storage; });
    auto pairs = all_conflicts(accesses, storage, kMostPairs);
    if (!pairs) {
      result.too_many++;
      continue;
    }
    for (const CallConflict& c : without_order(*std::move(pairs), order)) {
      if (may_meet(accesses, c, footprints)) {
        result.open.push_back(c);
      } else {
        result.apart++;
      }
    }
  }
  return result;
}

std::string call_name(Ref linear, int32_t call) {
  const Ref body = linear->src[static_cast<size_t>(call)]->src[0];
  const bool is_named = body->arg.has_record() && !body->arg.name().empty();
  return fmt::format("kernel {} ({})", call, is_named ? body->arg.name() : uop::to_text(body->op));
}

OrderWitness witness_of(const CallAccesses& accesses, const CallConflict& c) {
  const Ref storage = accesses.storages()[static_cast<size_t>(c.storage)];
  const bool is_arena = std::any_of(
      accesses.on(c.storage).begin(), accesses.on(c.storage).end(), [&](uint32_t place) {
        const CallAccess& a = accesses.all()[place];
        return !(a.begin == 0 && a.end == storage_bytes(accesses.graph(), storage));
      });
  return {fmt::format("{}: {} must run before {}, which touches the same bytes {} to {} of {} "
                      "version {}, and no edges order them",
                      to_text(c.kind), call_name(accesses.linear(), c.before),
                      call_name(accesses.linear(), c.after), c.begin, c.end, storage_name(storage),
                      version_between(accesses, c)),
          fmt::format("{} {}", to_text(c.kind),
                      is_arena                   ? "parts of storage"
                      : storage->op == Op::Param ? "param"
                                                 : "buffer"),
          c.before, c.after, c.kind};
}

void add_passed(Checked& checked, int64_t count, std::string_view method) {
  if (count == 0) return;
  checked.obligations += count;
  checked.by_method.try_emplace(std::string(method)).first->second += count;
}

namespace {

// A wrong order that was run.
struct ShownOrder {
  TrialResult shown;
  std::string how;
};

// By what is held in the end; where no order of whole calls shows it, with both at once; and where
// what is wrong is written over before anyone sees it, by what the one that finds it makes of it.
ShownOrder run_wrong(const OrderWitness& w, const std::vector<int>& wrong, OrderTrial* trial) {
  const std::string how = fmt::format("order {}", fmt::join(wrong, " "));
  if (trial == nullptr) return {{}, how};
  TrialResult shown = trial->in_order(wrong);
  if (shown.differs) return {shown, how};
  const auto at = std::find(wrong.begin(), wrong.end(), w.after) - wrong.begin();
  const TrialResult both = trial->at_once(wrong, static_cast<size_t>(at));
  if (both.differs) return {both, fmt::format("{}, {} and {} at once", how, w.after, w.before)};
  const int who = w.kind == ConflictKind::War ? w.before : w.after;
  const TrialResult own = trial->of_call(wrong, who, w.kind == ConflictKind::Waw ? w.before : -1);
  if (own.differs) return {own, fmt::format("{}, up to kernel {},", how, who)};
  return {shown, how};
}

}  // namespace

void judge_witnesses(Checked& checked, const std::vector<OrderWitness>& witnesses,
                     const CallOrder& order, const MakeTrial& make_trial, uop::Graph& g, Ref linear,
                     bool confirms) {
  size_t trials = 0;
  std::optional<OrderTrial> trial;
  for (const OrderWitness& w : witnesses) {
    if (checked.verdict.answer == Answer::Fail) {
      checked.add_unknown("after a failure", w.what);
      continue;
    }
    const bool is_tried = confirms && trials++ < kMostTrials;
    if (is_tried && !trial) trial.emplace(make_trial());
    const auto [shown, how] =
        run_wrong(w, order.swapped(w.before, w.after), is_tried ? &*trial : nullptr);
    if (confirms && !shown.differs) {
      checked.add_unknown("unconfirmed order", fmt::format("{}; {}: {}", w.what, how, shown.text));
      continue;
    }
    checked.add({Answer::Fail, Strength::Proved,
                 confirms ? fmt::format("{}; {} {}", w.what, how, shown.text) : w.what},
                "reachability");
    checked.shape = w.shape;
    checked.evidence.push_back({"order.uop", fmt::format("# {}\n# {}\n{}", w.what, how,
                                                         uop::to_text(g, linear, "linear"))});
  }
}

namespace {

// The same pairs by a solver.
void judge_twice(Checked& checked, const CallAccesses& accesses, const CallOrder& order,
                 smt::Prover& prover) {
  std::vector<CallPair> pairs;
  for (const CallConflict& c : direct_conflicts(accesses)) pairs.push_back(c.pair());
  std::vector<CallPair> open = order.unordered(pairs);
  std::sort(open.begin(), open.end());
  open.erase(std::unique(open.begin(), open.end()), open.end());
  const SolvedOrder solved = solve_order(order, std::move(pairs), prover);
  for (const auto& [method, count] : solved.by_method) {
    checked.by_method.try_emplace(method).first->second += count;
  }
  for (size_t i = 0; i < solved.unknown.size(); i++) checked.add_unknown("solver", solved.why);
  const auto is_known = [&](const CallPair& p) {
    return std::find(solved.unknown.begin(), solved.unknown.end(), p) == solved.unknown.end();
  };
  std::vector<CallPair> differ;
  std::set_symmetric_difference(open.begin(), open.end(), solved.open.begin(), solved.open.end(),
                                std::back_inserter(differ));
  for (const CallPair& p : differ) {
    if (!is_known(p)) continue;
    checked.add_unknown(
        "methods disagree",
        fmt::format("reachability and a solver disagree on whether {} must run "
                    "before {}",
                    call_name(accesses.linear(), p.from), call_name(accesses.linear(), p.to)));
  }
}

}  // namespace

void judge_order(Checked& checked, const CallAccesses& accesses, const CallOrder& order,
                 const MakeTrial& trial, Context& context) {
  const OpenOrder found = open_order(accesses, order);
  add_passed(checked, found.ordered, "reachability");
  const smt::ProverOptions& how = context.prover.options();
  if (how.is_doubled || how.asks_z3) judge_twice(checked, accesses, order, context.prover);
  add_passed(checked, found.apart, "footprint");
  for (int64_t i = 0; i < found.too_many; i++) checked.add_unknown("too many pairs", "");
  std::vector<OrderWitness> witnesses;
  for (const CallConflict& c : found.open) witnesses.push_back(witness_of(accesses, c));
  judge_witnesses(checked, witnesses, order, trial, accesses.graph(), accesses.linear(),
                  context.confirms);
}

}  // namespace assay::props
