#include <fmt/format.h>

#include <algorithm>

#include "engine/uop/eval.h"
#include "engine/uop/walk.h"
#include "props/kernel/checks.h"
#include "props/kernel/races.h"

// Elements that one work-item stores twice. What two work-items store twice is a race.
namespace assay::props::kernel {

using uop::Op;
using uop::Ref;

namespace {

// What a kernel of the schedule stores to a parameter.
struct ScheduledStore {
  int64_t slot;
  Ref index;
  std::vector<Ref> ranges;  // the loops that it stands in
  int count = 1;            // such STOREs
};

std::map<int64_t, ScheduledStore> scheduled_stores(uop::Graph& g, Ref kernel) {
  std::map<int64_t, ScheduledStore> stores;
  // A list that no schedule is known of is held to nothing.
  if (kernel->op != Op::Sink) return stores;
  for (const Ref u : uop::toposort(g, kernel)) {
    const bool is_end = u->op == Op::End && u->src[0]->op == Op::Store;
    if (u->op != Op::Store && !is_end) continue;
    const Ref store = is_end ? u->src[0] : u;
    const Ref place = store->src[0];
    const Ref param = place->op == Op::Index ? place->src[0] : nullptr;
    if (param == nullptr || param->op != Op::Param) continue;
    const auto [known, is_new] =
        stores.try_emplace(param->arg.number(), ScheduledStore{param->arg.number(), {}, {}, 0});
    ScheduledStore& s = known->second;
    if (!is_end) s.count++;
    s.index = place->src[1];
    if (is_end) s.ranges.assign(u->src.begin() + 1, u->src.end());
  }
  return stores;
}

// Whether a kernel of the schedule stores each element at most once.
class ScheduledOnce {
 public:
  explicit ScheduledOnce(Context& context) : context_(context) {}

  bool holds(const ScheduledStore& store) {
    if (store.count != 1) return false;
    KernelModel m;
    m.scopes.push_back({});
    Dims loops = 0;
    std::vector<int> all;
    for (size_t i = 0; i < store.ranges.size(); i++) {
      Scope s;
      s.node = store.ranges[i];
      s.dim = loop_dim(i);
      m.terms.set_loop(s.node, s.dim);
      all.push_back(static_cast<int>(m.scopes.size()));
      m.scopes.push_back(s);
      loops |= s.dim;
    }
    Ref index = store.index;
    Ref gate = nullptr;
    if (index->op == Op::Where && index->src[2]->op == Op::Invalid) {
      gate = index->src[0];
      index = index->src[1];
    }
    const Form form = m.terms.form(index);
    Question q(m, loops);
    q.require_difference(form, form, 0, 0);
    if (gate != nullptr) {
      for (int side = 0; side < 2; side++) q.require(side, m.terms.condition(gate, true));
    }
    q.require_apart(all);
    return decide(q, context_, "injective").found == Found::No;
  }

 private:
  Context& context_;
};

class StoreCheck {
 public:
  explicit StoreCheck(const Subject& s) : s_(s), m_(s.model) {
    for (const Scope& scope : m_.scopes) loops_ |= scope.dim;
  }

  Checked run(Ref scheduled) {
    const std::vector<AccessClass> classes = access_classes(m_, false);
    ScheduledOnce once(s_.context);
    for (const auto& [slot, store] : scheduled_stores(s_.graph, scheduled)) {
      if (!once.holds(store)) {
        checked_.listed.push_back(fmt::format("the schedule may store to {} repeatedly", slot));
        continue;
      }
      for (size_t a = 0; a < classes.size(); a++) {
        for (size_t b = a; b < classes.size(); b++) {
          if (stores_to(classes[a], slot) && stores_to(classes[b], slot))
            pair(classes[a], classes[b]);
        }
      }
    }
    return std::move(checked_);
  }

 private:
  bool stores_to(const AccessClass& c, int64_t slot) const {
    const Storage& s =
        m_.storages[static_cast<size_t>(m_.accesses[c.lanes.front().access].storage)];
    return s.space == uop::AddrSpace::Global && s.number == slot;
  }

  void pair(const AccessClass& a, const AccessClass& b) {
    std::string method = "affine";
    if (are_apart(a, b)) {
      checked_.add({Answer::Pass, Strength::Proved, ""}, method);
      return;
    }
    for (size_t i = 0; i < a.lanes.size(); i++) {
      for (size_t j = &a == &b ? i : 0; j < b.lanes.size(); j++) {
        const Decided d = ask(a, b, a.lanes[i], b.lanes[j]);
        if (d.found == Found::Unknown) checked_.add_unknown(d.method, "two stores");
        if (d.found != Found::No) return;
        if (d.method != "affine") method = d.method;
      }
    }
    checked_.add({Answer::Pass, Strength::Proved, ""}, method);
  }

  // Whether no lane of the one meets one of the other, whichever: in different iterations by one
  // question, in the same one by their places.
  bool are_apart(const AccessClass& a, const AccessClass& b) {
    if (a.lanes.size() == 1 && b.lanes.size() == 1) return false;
    const bool is_one = &a == &b;
    Question q(m_, loops_);
    const Interval hull = hull_of(a, b);
    q.require_difference(a.form, b.form, hull.lo, hull.hi);
    if (is_one) q.require_apart(loops_around(m_.accesses[a.lanes.front().access]));
    require_executed(q, m_, 0, m_.accesses[a.lanes.front().access]);
    require_executed(q, m_, 1, m_.accesses[b.lanes.front().access]);
    if (decide(q, s_.context, "injective").found != Found::No) return false;
    if (!is_one) return true;
    std::vector<AccessClass::Lane> lanes = a.lanes;
    const auto is_less = [](const auto& x, const auto& y) { return x.at < y.at; };
    std::sort(lanes.begin(), lanes.end(), is_less);
    for (size_t i = 1; i < lanes.size(); i++) {
      if (lanes[i].at < lanes[i - 1].at + lanes[i - 1].bytes) return false;
    }
    return true;
  }
  std::vector<int> loops_around(const Access& access) const {
    std::vector<int> loops;
    for (const int s : m_.scopes_around(access.scope)) {
      if (m_.scopes[static_cast<size_t>(s)].is_loop()) loops.push_back(s);
    }
    return loops;
  }

  // Whether a work-item may store a byte by both: by one of them in two iterations, where they are
  // one.
  Decided ask(const AccessClass& a, const AccessClass& b, const AccessClass::Lane& x,
              const AccessClass::Lane& y) {
    const Access& first = m_.accesses[x.access];
    const Access& second = m_.accesses[y.access];
    Question q(m_, loops_);
    q.require_difference(a.form, b.form, y.at - x.at - (x.bytes - 1), y.at - x.at + y.bytes - 1);
    if (x.access == y.access) q.require_apart(loops_around(first));
    require_executed(q, m_, 0, first);
    require_executed(q, m_, 1, second);
    Decided d = decide(q, s_.context, "injective");
    if (d.found == Found::Yes) fail(q, first, second, d);
    return d;
  }

  // The element that an access touches at a point, computed from the node itself; nothing where it
  // needs data, or the access does not happen there.
  std::optional<int64_t> element(const Question& q, int side, const Access& a,
                                 std::span<const Int128> values) const {
    const auto value = [&](Ref root) -> std::optional<uop::Value> {
      for (const Ref u : uop::toposort(s_.graph, root)) {
        if (u->op == Op::Load || u->op == Op::Param || u->op == Op::Buffer) return std::nullopt;
      }
      uop::Evaluator evaluator(s_.graph, root);
      std::vector<uop::Value> leaves;
      for (const Ref leaf : evaluator.leaves())
        leaves.push_back(uop::of_int(leaf->dtype, q.value(side, m_.terms.form(leaf), values)));
      const uop::Cell cell = evaluator.run(leaves);
      if (!cell.defined()) return std::nullopt;
      return cell.value;
    };
    std::vector<Ref> gates;
    if (a.gate != nullptr) gates.push_back(a.gate);
    for (const int s : m_.scopes_around(a.scope)) {
      const Scope& scope = m_.scopes[static_cast<size_t>(s)];
      if (scope.is_branch()) gates.push_back(scope.node->src[0]);
    }
    for (const Ref gate : gates) {
      const auto v = value(gate);
      if (!v || v->bits == 0) return std::nullopt;
    }
    if (a.index == nullptr) return 0;
    const auto v = value(a.index);
    if (!v) return std::nullopt;
    return static_cast<int64_t>(uop::as_int(*v));
  }

  void fail(const Question& q, const Access& a, const Access& b, const Decided& d) {
    const auto x = element(q, 0, a, d.values);
    const auto y = element(q, 1, b, d.values);
    const std::string text = fmt::format(
        "{} at {} and {} at {} of one work-item store to one element of storage {}",
        m_.text(a.line), to_text(q.event(0, d.values)), m_.text(b.line),
        to_text(q.event(1, d.values)), m_.storages[static_cast<size_t>(a.storage)].number);
    const bool is_confirmed = x && y && *x < *y + b.width && *y < *x + a.width;
    if (!is_confirmed) {
      checked_.add_unknown("unconfirmed store", text);
      return;
    }
    checked_.add({Answer::Fail, Strength::Proved, text}, "affine");
    if (!checked_.shape.empty()) return;
    checked_.shape = "stored twice";
    const Result<std::string> file = file_of(s_, text, inputs_of(s_, q, d.values));
    if (file.ok()) checked_.evidence.push_back({"stores.uop", file.value()});
  }

  const Subject& s_;
  KernelModel& m_;
  Dims loops_ = 0;
  Checked checked_;
};

}  // namespace

Checked check_stores(const Subject& subject, uop::Ref scheduled) {
  return StoreCheck(subject).run(scheduled);
}

}  // namespace assay::props::kernel
