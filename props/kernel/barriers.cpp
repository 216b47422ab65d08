#include <fmt/format.h>

#include <algorithm>

#include "props/kernel/checks.h"
#include "props/kernel/races.h"

namespace assay::props::kernel {

using uop::Standing;
using workgroup::Fault;

namespace {

class BarrierCheck {
 public:
  explicit BarrierCheck(const Subject& s)
      : s_(s), m_(s.model), contract_(s.target.memory.value_or(uop::MemoryContract{})) {}

  Checked run() {
    for (const BarrierSite& b : m_.barriers) check(b);
    confirm(s_, claims_, "affine", checked_);
    state_contract(s_, checked_);
    return std::move(checked_);
  }

 private:
  void pass(std::string_view method) { checked_.add({Answer::Pass, Strength::Proved, ""}, method); }
  void claim(Fault fault, const BarrierSite& b, std::string text, Inputs inputs) {
    const auto is_known = [&](const Claim& c) { return c.fault == fault && c.lines[0] == b.line; };
    if (std::ranges::any_of(claims_, is_known)) return;
    claims_.push_back({fault,
                       {b.line},
                       std::move(text),
                       std::string(workgroup::to_text(fault)),
                       std::move(inputs)});
  }

  void check(const BarrierSite& b) {
    bool is_in_loop = false;
    bool is_in_branch = false;
    for (const int s : m_.scopes_around(b.scope)) {
      is_in_loop = is_in_loop || scope(s).is_loop();
      is_in_branch = is_in_branch || scope(s).is_branch();
    }
    if (contract_.barrier == uop::Reach::Subgroup) {
      checked_.add_unknown("subgroups", "barriers of subgroups, whose size is not known");
      return;
    }
    if ((is_in_loop && contract_.in_loop == Standing::Nowhere) ||
        (is_in_branch && contract_.in_branch == Standing::Nowhere)) {
      const Question nothing(m_, 0);
      claim(Fault::Placement, b,
            fmt::format("{} stands where the memory contract allows no barrier", m_.text(b.line)),
            inputs_of(s_, nothing, {}));
    } else {
      pass("contract");
    }
    const bool may_diverge = (!is_in_loop || contract_.in_loop == Standing::Anywhere) &&
                             (!is_in_branch || contract_.in_branch == Standing::Anywhere);
    if (may_diverge) {
      pass("contract");
      return;
    }
    for (const int s : m_.scopes_around(b.scope)) reaches(b, s);
  }

  // All work-items of a group that come to the scope take the branch or none, or go around the loop
  // equally often.
  void reaches(const BarrierSite& b, int at) {
    const Scope& here = scope(at);
    const uop::Ref decides = here.node->src[0];
    Question q(m_, kItemDims);
    Dims depends = 0;
    if (here.is_loop()) {
      const Form count = m_.terms.form(decides);
      depends = m_.terms.depends_of(count);
      q.require_difference(count, count, 1, kInfinity);
      q.require(0, at_least(count, 1));
    } else {
      const Cases yes = m_.terms.condition(decides, true);
      const Cases no = m_.terms.condition(decides, false);
      for (const Cases* cases : {&yes, &no}) {
        for (const Case& c : *cases) {
          for (const Within& w : c) depends |= m_.terms.depends_of(w.form);
        }
      }
      q.require(0, yes);
      q.require(1, no);
    }
    if ((depends & kItemDims) == 0 && !wants_two(s_.context)) {
      pass("uniform");
      return;
    }
    for (int outer = here.parent; outer > 0; outer = scope(outer).parent) enter(q, outer);
    const Decided d = decide(q, s_.context, "uniform");
    if (d.found == Found::No) pass(d.method);
    if (d.found == Found::Unknown) checked_.add_unknown(d.method, m_.text(b.line));
    if (d.found != Found::Yes) return;
    claim(
        Fault::Divergence, b,
        fmt::format("{} is reached at {} and not at {}, by work-items of one group",
                    m_.text(b.line), to_text(q.event(0, d.values)), to_text(q.event(1, d.values))),
        inputs_of(s_, q, d.values));
  }
  // Both points are in the same iteration of a loop, and in a branch.
  void enter(Question& q, int at) {
    const Scope& here = scope(at);
    for (int side = 0; side < 2; side++) {
      if (here.is_branch()) {
        q.require(side, m_.terms.condition(here.node->src[0], true));
        continue;
      }
      const Form count = m_.terms.form(here.node->src[0]);
      q.require(side, at_least(sum(count, m_.terms.form(here.node), -1), 1));
    }
    if (here.is_loop()) {
      const Form counter = m_.terms.form(here.node);
      q.require_difference(counter, counter, 0, 0);
    }
  }
  const Scope& scope(int s) const { return m_.scopes[static_cast<size_t>(s)]; }

  const Subject& s_;
  KernelModel& m_;
  const uop::MemoryContract contract_;
  Checked checked_;
  std::vector<Claim> claims_;
};

}  // namespace

Checked check_barriers(const Subject& subject) { return BarrierCheck(subject).run(); }

Checked check_spare_barriers(const Subject& s) {
  Checked checked;
  const std::vector<BarrierSite> all = s.model.barriers;
  for (size_t i = 0; i < all.size(); i++) {
    s.model.barriers = all;
    s.model.barriers.erase(s.model.barriers.begin() + static_cast<std::ptrdiff_t>(i));
    s.model.place_barriers();
    const RaceSearch without = find_races(s, true, 1);
    const bool is_spare = without.races.empty() && without.by_cause.empty();
    if (is_spare) checked.listed.push_back(s.model.text(all[i].line));
    checked.add({Answer::Pass, Strength::Proved, ""}, "affine");
  }
  s.model.barriers = all;
  s.model.place_barriers();
  return checked;
}

}  // namespace assay::props::kernel
