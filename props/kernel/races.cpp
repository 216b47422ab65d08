#include "props/kernel/races.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "props/kernel/checks.h"
#include "props/kernel/epochs.h"

namespace assay::props::kernel {

using uop::AddrSpace;

namespace {

constexpr size_t kMostRaces = 64;

// What stands before a line of what parts epochs.
int slot_of(const KernelModel& m, int line) {
  int before = 0;
  for (const BarrierSite& b : m.barriers) before += b.line < line ? 1 : 0;
  for (size_t i = 1; i < m.scopes.size(); i++) {
    const Scope& s = m.scopes[i];
    if (!s.has_barrier) continue;
    before += (s.begin < line ? 1 : 0) + (s.end < line ? 1 : 0);
  }
  return before;
}

}  // namespace

std::vector<AccessClass> access_classes(KernelModel& m, bool with_loads) {
  using Key = std::tuple<int, bool, int, int, uint32_t, Form>;
  std::map<Key, size_t> known;
  std::vector<AccessClass> classes;
  for (size_t i = 0; i < m.accesses.size(); i++) {
    const Access& a = m.accesses[i];
    const Storage& s = m.storages[static_cast<size_t>(a.storage)];
    if (s.space == AddrSpace::Reg || !s.is_written || (!a.is_write && !with_loads)) continue;
    Form form = number_form(0);
    if (a.index != nullptr) form = scaled(m.terms.form(a.index), s.bytes);
    const Int128 at = form.constant + s.offset;
    form.constant = 0;
    const int slot = s.space == AddrSpace::Local ? slot_of(m, a.line) : 0;
    const uint32_t gate = a.gate == nullptr ? UINT32_MAX : a.gate->id;
    const auto [place, is_new] =
        known.try_emplace(Key(s.region, a.is_write, a.scope, slot, gate, form), classes.size());
    if (is_new) classes.push_back({s.space, s.region, a.is_write, a.scope, slot, a.gate, form, {}});
    classes[place->second].lanes.push_back({at, Int128{a.width} * s.bytes, i});
  }
  return classes;
}

Interval hull_of(const AccessClass& a, const AccessClass& b) {
  Interval hull = {kInfinity, -kInfinity};
  Interval from = {kInfinity, -kInfinity};
  for (const AccessClass::Lane& x : a.lanes) {
    from = {std::min(from.lo, x.at), std::max(from.hi, x.at + x.bytes - 1)};
  }
  for (const AccessClass::Lane& y : b.lanes) {
    hull = {std::min(hull.lo, y.at - from.hi), std::max(hull.hi, y.at + y.bytes - 1 - from.lo)};
  }
  return hull;
}

void require_executed(Question& q, KernelModel& m, int side, const Access& a) {
  if (a.gate != nullptr) q.require(side, m.terms.condition(a.gate, true));
  for (int s = a.scope; s > 0; s = m.scopes[static_cast<size_t>(s)].parent) {
    const Scope& scope = m.scopes[static_cast<size_t>(s)];
    if (scope.is_branch()) {
      q.require(side, m.terms.condition(scope.node->src[0], true));
      continue;
    }
    const Form count = m.terms.form(scope.node->src[0]);
    if (count.is_constant() && count.constant >= 1) continue;
    q.require(side, at_least(sum(count, m.terms.form(scope.node), -1), 1));
  }
}

namespace {

class RaceFinder {
 public:
  RaceFinder(const Subject& s, bool only_local, size_t most)
      : s_(s), m_(s.model), only_local_(only_local), most_(most) {
    for (size_t i = 0; i < m_.scopes.size(); i++) loops_ |= m_.scopes[i].dim;
  }

  RaceSearch run() {
    const std::vector<AccessClass> classes = access_classes(m_, true);
    count_alone();
    for (size_t a = 0; a < classes.size(); a++) {
      if (only_local_ && classes[a].space != AddrSpace::Local) continue;
      if (!has_others(classes[a].space)) continue;
      for (size_t b = a; b < classes.size(); b++) {
        const bool may_race =
            classes[a].region == classes[b].region && (classes[a].is_write || classes[b].is_write);
        if (may_race) pair(classes[a], classes[b]);
        if (out_.races.size() >= most_) return std::move(out_);
      }
    }
    return std::move(out_);
  }

 private:
  // Whether there are other work-items that could touch this storage.
  bool has_others(AddrSpace space) const {
    const int first = space == AddrSpace::Local ? 3 : 0;
    for (int bit = first; bit < kFirstLoop; bit++) {
      const int32_t p = m_.terms.position(bit);
      if (p >= 0 && m_.terms.atom(p).range.hi > 0) return true;
    }
    return false;
  }
  void count_alone() {
    for (const Storage& storage : m_.storages) {
      if (storage.space == AddrSpace::Reg || !storage.is_written || !has_others(storage.space))
        out_.alone++;
    }
  }

  struct Way {
    Spot a, b;
    Meeting meeting;
  };

  // Points 0 and 1 of the question are executions of the two, `lo` to `hi` bytes apart, that
  // nothing orders. False where barriers do.
  bool ask(Question& q, const AccessClass& a, const AccessClass& b, const Way& way, Int128 lo,
           Int128 hi) {
    const bool is_local = a.space == AddrSpace::Local;
    if (is_local && !require_meeting(q, m_, way.a, way.b, way.meeting)) return false;
    q.require_difference(a.form, b.form, lo, hi);
    require_executed(q, m_, 0, m_.accesses[a.lanes.front().access]);
    require_executed(q, m_, 1, m_.accesses[b.lanes.front().access]);
    q.require_apart(is_local ? kItemDims : kItemDims | kGroupDims);
    return true;
  }
  Question question(const AccessClass& a) const {
    return Question(m_,
                    loops_ | (a.space == AddrSpace::Local ? kItemDims : kItemDims | kGroupDims));
  }

  void pair(const AccessClass& a, const AccessClass& b) {
    const Spot p = {m_.accesses[a.lanes.front().access].line, a.scope};
    const Spot r = {m_.accesses[b.lanes.front().access].line, b.scope};
    std::vector<Meeting> ways = {{0, -1}};
    if (a.space == AddrSpace::Local) ways = meetings(m_, p, r);
    std::string method = "affine";
    for (const Meeting& meeting : ways) {
      const Decided d = meets(a, b, {p, r, meeting});
      if (d.found == Found::Yes) return;
      if (d.found == Found::Unknown) {
        out_.by_cause[d.method]++;
        return;
      }
      if (d.method != "affine") method = d.method;
    }
    out_.by_method[method]++;
  }

  // No: no two of these lanes do. Yes: races were found, and kept.
  Decided meets(const AccessClass& a, const AccessClass& b, const Way& way) {
    const bool is_one = a.lanes.size() == 1 && b.lanes.size() == 1;
    if (!is_one) {
      Question q = question(a);
      const Interval hull = hull_of(a, b);
      if (!ask(q, a, b, way, hull.lo, hull.hi)) return {Found::No, {}, "affine"};
      const Decided all = decide(q, s_.context, "race");
      if (all.found == Found::No) return all;
    }
    return lane_by_lane(a, b, way);
  }

  // How far the first byte of the one may lie from that of the other for the two to overlap, less
  // what their forms say.
  static Interval apart(const AccessClass::Lane& x, const AccessClass::Lane& y) {
    return {y.at - x.at - (x.bytes - 1), y.at - x.at + y.bytes - 1};
  }
  Decided lane_by_lane(const AccessClass& a, const AccessClass& b, const Way& way) {
    Decided result = {Found::No, {}, "affine"};
    std::set<std::pair<Int128, Int128>> safe;  // lanes so far apart never meet
    for (size_t i = 0; i < a.lanes.size(); i++) {
      for (size_t j = &a == &b ? i : 0; j < b.lanes.size(); j++) {
        const Interval gap = apart(a.lanes[i], b.lanes[j]);
        const auto key = std::pair(gap.lo, gap.hi);
        if (safe.count(key) != 0) continue;
        Question q = question(a);
        if (!ask(q, a, b, way, gap.lo, gap.hi)) return {Found::No, {}, "affine"};
        Decided one = decide(q, s_.context, "race");
        if (one.found == Found::No) safe.insert(key);
        if (one.found == Found::Yes) {
          // What lies outside of its storage is no access, but another fault.
          require_inside(q, 0, a.lanes[i].access);
          require_inside(q, 1, b.lanes[j].access);
          one = decide(q, s_.context, "race");
        }
        if (one.found == Found::Unknown && result.found == Found::No) result = one;
        if (one.found == Found::No && one.method != "affine") result.method = one.method;
        if (one.found != Found::Yes) continue;
        result.found = Found::Yes;
        keep(q, a, b, i, j, one.values);
        if (out_.races.size() >= most_) return result;
      }
    }
    return result;
  }

  void require_inside(Question& q, int side, size_t access) {
    const Access& a = m_.accesses[access];
    if (a.index == nullptr) return;
    const Form index = m_.terms.form(a.index);
    const Form& size = m_.storages[static_cast<size_t>(a.storage)].size;
    q.require(side, at_least(index, 0));
    q.require(side, at_least(sum(size, index, -1), a.width));
  }

  void keep(const Question& q, const AccessClass& a, const AccessClass& b, size_t i, size_t j,
            std::span<const Int128> values) {
    Race race;
    race.first = a.lanes[i].access;
    race.second = b.lanes[j].access;
    for (int side = 0; side < 2; side++) race.events[side] = q.event(side, values);
    const Int128 x = q.value(0, a.form, values) + a.lanes[i].at;
    const Int128 y = q.value(1, b.form, values) + b.lanes[j].at;
    race.byte = std::max(x, y);
    race.inputs = inputs_of(s_, q, values);
    out_.races.push_back(std::move(race));
  }

  const Subject& s_;
  KernelModel& m_;
  const bool only_local_;
  const size_t most_;
  Dims loops_ = 0;
  RaceSearch out_;
};

}  // namespace

RaceSearch find_races(const Subject& subject, bool only_local, size_t most) {
  return RaceFinder(subject, only_local, most).run();
}

Claim claim_of(const Subject& s, const Race& race) {
  const Access* first = &s.model.accesses[race.first];
  const Access* second = &s.model.accesses[race.second];
  const Storage& storage = s.model.storages[static_cast<size_t>(first->storage)];
  const std::string space = storage.space == AddrSpace::Local ? "LOCAL" : "GLOBAL";
  Claim claim;
  claim.fault = workgroup::Fault::Race;
  claim.lines = {first->line, second->line};
  std::ranges::sort(claim.lines);
  claim.lines.erase(std::unique(claim.lines.begin(), claim.lines.end()), claim.lines.end());
  const auto kind = [](const Access* a) { return a->is_write ? "store" : "load"; };
  claim.text = fmt::format(
      "{} at {} and {} at {} touch element {} of {} storage {}, and no barrier orders them",
      s.model.text(first->line), to_text(race.events[0]), s.model.text(second->line),
      to_text(race.events[1]), static_cast<int64_t>(floor_div(race.byte, storage.bytes)), space,
      storage.number);
  if (!second->is_write) std::swap(first, second);
  claim.shape = fmt::format("race {} {}/{}", space, kind(second), kind(first));
  claim.inputs = race.inputs;
  return claim;
}

Checked check_races(const Subject& s) {
  Checked checked;
  const RaceSearch found = find_races(s, false, kMostRaces);
  const auto note = [&](std::string_view method, int64_t times) {
    for (int64_t i = 0; i < times; i++) checked.add({Answer::Pass, Strength::Proved, ""}, method);
  };
  note("alone", found.alone);
  for (const auto& [method, times] : found.by_method) note(method, times);
  for (const auto& [cause, times] : found.by_cause) {
    for (int64_t i = 0; i < times; i++) checked.add_unknown(cause, "two accesses: " + cause);
  }
  std::map<std::vector<int>, Claim> claims;
  for (const Race& race : found.races) {
    Claim claim = claim_of(s, race);
    const std::vector<int> lines = claim.lines;
    claims.emplace(lines, std::move(claim));
  }
  std::vector<Claim> all;
  for (auto& [lines, claim] : claims) all.push_back(std::move(claim));
  confirm(s, all, "affine", checked);
  state_contract(s, checked);
  return checked;
}

}  // namespace assay::props::kernel
