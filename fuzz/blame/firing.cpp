#include "fuzz/blame/firing.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "engine/uop/bounds.h"
#include "engine/uop/refines.h"
#include "engine/uop/rule.h"
#include "engine/uop/walk.h"
#include "fuzz/trial/trial.h"

namespace assay::fuzz {
namespace {

using uop::Op;
using uop::Ref;

// The last firing of a run, and whether what the pass left is wrong.
class Again : public uop::Watch {
 public:
  explicit Again(const std::function<bool(const uop::PassSeen& again)>& is_wrong)
      : is_wrong_(is_wrong) {}

  using Watch::seen;
  void seen(const uop::RuleSeen& seen) override {
    if (seen.firing != limit) return;
    firing.rule = uop::full_name(seen.set, seen.rule);
    firing.number = seen.firing;
    firing.title = title_of(seen);
  }
  void seen(const uop::PassSeen& seen) override {
    wrong = is_wrong_(seen);
    firings = seen.firings;
  }

  uint64_t limit = uop::kNoLimit;
  bool wrong = false;
  uint64_t firings = 0;
  Firing firing;

 private:
  // The group of terms with a variable in the place of all that is no scalar function.
  static Ref opened(uop::Graph& g, Ref u) {
    uop::Substitution map;
    for (const Ref v : uop::toposort(g, u)) {
      const bool is_known = uop::is_scalar(v->op) || v->op == Op::Const || v->op == Op::Invalid ||
                            v->op == Op::Variable;
      if (is_known || v == u) continue;
      const std::string name = fmt::format("{}{}", uop::info(v->op).text, map.size());
      const bool is_ranged = uop::kInts.has(v->dtype) && uop::bounds(g, v).hi < uop::kInfinite &&
                             uop::bounds(g, v).lo > -uop::kInfinite;
      map[v] = is_ranged ? g.variable(name, uop::of_int(v->dtype, uop::bounds(g, v).lo),
                                      uop::of_int(v->dtype, uop::bounds(g, v).hi))
                         : g.variable(name, v->dtype);
    }
    return uop::substitute(g, u, map);
  }

  // A point at which the two differ, or else both.
  static std::string title_of(const uop::RuleSeen& seen) {
    const std::string name = uop::full_name(seen.set, seen.rule);
    const auto is_term = [&](Ref u) {
      return uop::is_scalar(u->op) || u->op == Op::Const || u->op == Op::Variable;
    };
    if (is_term(seen.before) && is_term(seen.after)) {
      // Equal parts of both become equal variables where both are opened as one.
      const Ref both[] = {seen.before, seen.after};
      const Ref pair = opened(seen.graph, seen.graph.make(Op::Group, uop::Void, both));
      uop::Random random(1);
      const uop::Judged judged = uop::judge(seen.graph, pair->src[0], pair->src[1], random, 4096);
      if (judged.counterexample) return fmt::format("{}: {}", name, *judged.counterexample);
    }
    return fmt::format("{}: {} becomes {}", name, uop::shown(seen.before, 4),
                       uop::shown(seen.after, 4));
  }

  const std::function<bool(const uop::PassSeen& again)>& is_wrong_;
};

}  // namespace

Firing find_firing(const uop::PassSeen& seen, const uop::Switches& switches, uop::Watch* watch,
                   const uop::Target& target,
                   const std::function<bool(const uop::PassSeen& again)>& is_wrong) {
  const auto run = [&](uint64_t limit) {
    Again again(is_wrong);
    again.limit = limit;
    Watches watches({watch, &again});
    uop::Switches limited = switches;
    limited.limit = limit;
    uop::Run pass_run(seen.graph, limited, &watches, target);
    const Result<Ref> done = uop::run_pass(seen.pass, pass_run, seen.before);
    if (!done.ok()) again.wrong = false;
    return std::make_pair(again.wrong, again.firing);
  };
  if (seen.firings == 0 || run(0).first || !run(seen.firings).first) return {};
  uint64_t right = 0;
  uint64_t wrong = seen.firings;
  while (wrong - right > 1) {
    const uint64_t middle = right + (wrong - right) / 2;
    (run(middle).first ? wrong : right) = middle;
  }
  return run(wrong).second;
}

}  // namespace assay::fuzz
