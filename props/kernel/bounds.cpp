#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "props/kernel/checks.h"
#include "props/kernel/races.h"

namespace assay::props::kernel {

using workgroup::Fault;

namespace {

// Accesses whose index differs by a constant.
struct IndexClass {
  Form form;  // without a constant
  struct Lane {
    Int128 at;
    int width;
    size_t access;
  };
  std::vector<Lane> lanes;
};

std::vector<IndexClass> index_classes(KernelModel& m) {
  using Key = std::tuple<int, int, uint32_t, Form>;
  std::map<Key, size_t> known;
  std::vector<IndexClass> classes;
  for (size_t i = 0; i < m.accesses.size(); i++) {
    const Access& a = m.accesses[i];
    Form form = a.index == nullptr ? number_form(0) : m.terms.form(a.index);
    const Int128 at = form.constant;
    form.constant = 0;
    const uint32_t gate = a.gate == nullptr ? UINT32_MAX : a.gate->id;
    const auto [place, is_new] =
        known.try_emplace(Key(a.storage, a.scope, gate, form), classes.size());
    if (is_new) classes.push_back({form, {}});
    classes[place->second].lanes.push_back({at, a.width, i});
  }
  return classes;
}

// What both properties of indices do with each class of accesses.
class IndexCheck {
 public:
  IndexCheck(const Subject& s, Fault fault) : s_(s), m_(s.model), fault_(fault) {}

 protected:
  void pass(std::string_view method) { checked_.add({Answer::Pass, Strength::Proved, ""}, method); }
  // Whether the access may be executed with its index so; a claim where it may.
  Decided ask(const IndexClass& c, const IndexClass::Lane& lane, const Within& wrong,
              std::string_view kind, bool is_claimed) {
    Question q(m_, 0);
    const Access& a = m_.accesses[lane.access];
    q.require(1, wrong);
    require_executed(q, m_, 1, a);
    Decided d = decide(q, s_.context, kind);
    if (d.found != Found::Yes || !is_claimed) return d;
    const auto is_known = [&](const Claim& k) { return k.lines[0] == a.line; };
    if (std::ranges::any_of(claims_, is_known)) return d;
    const Storage& storage = m_.storages[static_cast<size_t>(a.storage)];
    const Int128 element = q.value(1, c.form, d.values) + lane.at;
    claims_.push_back(
        {fault_,
         {a.line},
         fmt::format("{} at {} touches {} elements from {} on of storage {}, which has {}",
                     m_.text(a.line), to_text(q.event(1, d.values)), a.width,
                     static_cast<int64_t>(element), storage.number,
                     static_cast<int64_t>(q.value(1, storage.size, d.values))),
         fmt::format("{} {}", kind, a.is_write ? "store" : "load"),
         inputs_of(s_, q, d.values)});
    return d;
  }
  const Storage& storage_of(const IndexClass& c) const {
    return m_.storages[static_cast<size_t>(m_.accesses[c.lanes.front().access].storage)];
  }

  const Subject& s_;
  KernelModel& m_;
  const Fault fault_;
  Checked checked_;
  std::vector<Claim> claims_;
};

class BoundsCheck : IndexCheck {
 public:
  explicit BoundsCheck(const Subject& s) : IndexCheck(s, Fault::Bounds) {}

  Checked run() {
    for (const IndexClass& c : index_classes(m_)) check(c);
    confirm(s_, claims_, "affine", checked_);
    return std::move(checked_);
  }

 private:
  static Form below(const IndexClass& c, Int128 at) { return sum(c.form, number_form(at)); }
  // How many elements there are behind the last one that is touched.
  Form room(const IndexClass& c, Int128 end) const {
    return sum(sum(storage_of(c).size, number_form(end), -1), c.form, -1);
  }

  void check(const IndexClass& c) {
    Int128 first = kInfinity;
    Int128 end = -kInfinity;
    for (const IndexClass::Lane& lane : c.lanes) {
      first = std::min(first, lane.at);
      end = std::max(end, lane.at + lane.width);
    }
    const bool is_inside =
        m_.terms.range_of(below(c, first)).lo >= 0 && m_.terms.range_of(room(c, end)).lo >= 0;
    if (is_inside && !wants_two(s_.context)) {
      pass("intervals");
      return;
    }
    const Decided low = ask(c, c.lanes.front(), at_most(below(c, first), -1), "bounds", false);
    const Decided high = ask(c, c.lanes.front(), at_most(room(c, end), -1), "bounds", false);
    if (low.found == Found::No && high.found == Found::No) {
      pass(low.method == "affine" ? high.method : low.method);
      return;
    }
    bool is_unknown = false;
    for (const IndexClass::Lane& lane : c.lanes) {
      for (const Form& form : {below(c, lane.at), room(c, lane.at + lane.width)}) {
        const Decided d = ask(c, lane, at_most(form, -1), "bounds", true);
        if (d.found != Found::Unknown || is_unknown) continue;
        is_unknown = true;
        checked_.add_unknown(d.method, m_.text(m_.accesses[lane.access].line));
      }
    }
  }
};

class AlignmentCheck : IndexCheck {
 public:
  explicit AlignmentCheck(const Subject& s) : IndexCheck(s, Fault::Misaligned) {}

  Checked run() {
    for (const IndexClass& c : index_classes(m_)) {
      for (const IndexClass::Lane& lane : c.lanes) check(c, lane);
    }
    confirm(s_, claims_, "affine", checked_);
    return std::move(checked_);
  }

 private:
  void check(const IndexClass& c, const IndexClass::Lane& lane) {
    const bool is_aligned =
        storage_of(c).space == uop::AddrSpace::Local || s_.target.aligned_vectors;
    // Three elements lie packed.
    if (lane.width == 1 || lane.width == 3 || !is_aligned) return;
    const Form rest = m_.terms.remainder(sum(c.form, number_form(lane.at)), lane.width);
    if (rest == number_form(0)) {
      pass("multiples");
      return;
    }
    const Decided d = ask(c, lane, at_least(rest, 1), "alignment", true);
    if (d.found == Found::No) pass(d.method);
    if (d.found == Found::Unknown)
      checked_.add_unknown(d.method, m_.text(m_.accesses[lane.access].line));
  }
};

}  // namespace

Checked check_bounds(const Subject& subject) { return BoundsCheck(subject).run(); }
Checked check_alignment(const Subject& subject) { return AlignmentCheck(subject).run(); }

}  // namespace assay::props::kernel
