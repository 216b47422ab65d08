#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "engine/uop/eval.h"
#include "engine/uop/walk.h"
#include "props/kernel/checks.h"

// Reads of storage that has nothing in it at first: each element was written before, going by the
// order of lines, which is that of the work-items where there is no race.
namespace assay::props::kernel {

using uop::AddrSpace;
using uop::Op;
using uop::Ref;

namespace {

// Evaluations that one read may take.
constexpr int64_t kMostPoints = int64_t{1} << 18;

// Values of positions, counters and variables.
using Assignment = std::map<uint32_t, Int128>;  // by the node's id

// The terms that say what an access touches, each with what it is computed from.
class Touched {
 public:
  Touched(uop::Graph& g, const KernelModel& m, const Access& a) : access_(a) {
    if (a.index != nullptr) add(g, a.index);
    gates_from_ = terms_.size();
    if (a.gate != nullptr) add(g, a.gate);
    for (const int s : m.scopes_around(a.scope)) {
      const Scope& scope = m.scopes[static_cast<size_t>(s)];
      const Ref decides = scope.node->src[0];
      if (scope.is_branch()) add(g, decides);
      // An iteration that there is only for some, or for nobody.
      const bool is_sure = uop::is_const(decides) && uop::as_int(decides->value()) > 0;
      if (scope.is_loop() && !is_sure) add(g, g.alu(Op::Lt, {scope.node, decides}));
    }
  }
  const Access& access() const { return access_; }
  const std::vector<Ref>& leaves() const { return leaves_; }
  bool is_known() const { return is_known_; }

  // The first element; nothing where the access does not happen. No value is unspecified.
  std::optional<int64_t> element(const Assignment& at) {
    for (size_t i = gates_from_; i < terms_.size(); i++) {
      const uop::Cell cell = terms_[i].run(values(terms_[i], at));
      if (!cell.defined() || cell.value.bits == 0) return std::nullopt;
    }
    if (gates_from_ == 0) return 0;
    const uop::Cell cell = terms_[0].run(values(terms_[0], at));
    if (!cell.defined()) return std::nullopt;
    return static_cast<int64_t>(uop::as_int(cell.value));
  }

 private:
  void add(uop::Graph& g, Ref root) {
    for (const Ref u : uop::toposort(g, root)) {
      const bool is_term =
          uop::is_scalar(u->op) || u->src.empty() || u->op == Op::Special || u->op == Op::Range;
      is_known_ = is_known_ && is_term && u->op != Op::Param && u->op != Op::Buffer;
    }
    if (!is_known_) return;
    terms_.emplace_back(g, root);
    for (const Ref leaf : terms_.back().leaves()) {
      if (std::ranges::find(leaves_, leaf) == leaves_.end()) leaves_.push_back(leaf);
    }
  }
  static std::vector<uop::Value> values(const uop::Evaluator& term, const Assignment& at) {
    std::vector<uop::Value> all;
    for (const Ref leaf : term.leaves()) all.push_back(uop::of_int(leaf->dtype, at.at(leaf->id)));
    return all;
  }

  const Access& access_;
  std::vector<uop::Evaluator> terms_;  // the index, where there is one, then gates
  size_t gates_from_ = 0;
  std::vector<Ref> leaves_;
  bool is_known_ = true;
};

class ReadCheck {
 public:
  explicit ReadCheck(const Subject& s) : s_(s), m_(s.model) {}

  Checked run() {
    find_constants();
    for (const Access& a : m_.accesses) {
      if (!a.is_write && is_empty_at_first(a)) check(a);
    }
    confirm(s_, claims_, "enumeration", checked_);
    return std::move(checked_);
  }

 private:
  const Storage& storage(const Access& a) const {
    return m_.storages[static_cast<size_t>(a.storage)];
  }
  bool is_empty_at_first(const Access& a) const {
    const Storage& s = storage(a);
    if (s.space != AddrSpace::Global) return true;
    return s_.file != nullptr && s_.file->unknown.count(static_cast<int>(s.number)) != 0;
  }
  bool is_constant(const Access& a) const { return a.index == nullptr || uop::is_const(a.index); }
  static int64_t constant(const Access& a) {
    return a.index == nullptr ? 0 : static_cast<int64_t>(uop::as_int(a.index->value()));
  }

  // Registers are mostly written at constants, by whoever comes there.
  void find_constants() {
    for (const Access& a : m_.accesses) {
      if (!a.is_write || !is_constant(a) || a.gate != nullptr || !is_always_reached(a)) continue;
      for (int64_t k = 0; k < a.width; k++) {
        const auto key = std::pair(a.storage, constant(a) + k);
        written_.try_emplace(key, a.line);
      }
    }
  }
  bool is_always_reached(const Access& a) const { return m_.scopes_around(a.scope).empty(); }

  void pass(std::string_view method) {
    checked_.add({Answer::Pass, Strength::Exhaustive, ""}, method);
  }
  void check(const Access& read) {
    if (is_constant(read) && finds_constants(read)) {
      pass("constants");
      return;
    }
    left_ = kMostPoints;
    const std::vector<size_t> writes = writes_before(read);
    Touched reads(s_.graph, m_, read);
    if (finds_all(read, writes)) {
      pass("intervals");
      return;
    }
    if (!reads.is_known()) {
      checked_.add_unknown("read by data", m_.text(read.line));
      return;
    }
    std::optional<Assignment> missing;
    for_each(context_of(reads, writes), {}, 0, [&](const Assignment& at) {
      if (!finds(reads, writes, at)) missing = at;
      return !missing;
    });
    if (left_ <= 0) {
      checked_.add_unknown("points", m_.text(read.line));
    } else if (missing) {
      claim(read, *missing);
    } else {
      pass("enumeration");
    }
  }

  // Numbers in touched_ of the writes that come before a read, as far as it is known what they do.
  std::vector<size_t> writes_before(const Access& read) {
    if (touched_.empty()) {
      for (const Access& a : m_.accesses) {
        if (a.is_write) touched_.emplace_back(s_.graph, m_, a);
      }
    }
    std::vector<size_t> before;
    for (size_t i = 0; i < touched_.size(); i++) {
      const Access& w = touched_[i].access();
      if (w.storage != read.storage || w.line > read.line) continue;
      if (touched_[i].is_known()) before.push_back(i);
    }
    return before;
  }

  // Whether all that the read could touch, going by the range of its index, is written whatever
  // else holds.
  bool finds_all(const Access& read, const std::vector<size_t>& writes) {
    if (read.index == nullptr) return false;
    std::vector<size_t> always;
    for (const size_t w : writes) {
      const std::vector<Ref>& leaves = touched_[w].leaves();
      const auto is_context = [&](Ref leaf) { return is_shared(read, leaf); };
      if (std::ranges::none_of(leaves, is_context)) always.push_back(w);
    }
    auto known = always_.find(always);
    if (known == always_.end()) known = always_.emplace(always, written_by(read, always, {})).first;
    const Interval range = m_.terms.range_of(m_.terms.form(read.index));
    if (range.hi - range.lo >= kMostPoints) return false;
    for (Int128 e = range.lo; e < range.hi + read.width; e++) {
      if (known->second.count(static_cast<int64_t>(e)) == 0) return false;
    }
    return true;
  }

  std::unordered_set<int64_t> written_by(const Access& read, const std::vector<size_t>& writes,
                                         const Assignment& at) {
    std::unordered_set<int64_t> written;
    for (const size_t w : writes) {
      for_each(own_leaves(read, touched_[w]), at, 0, [&](const Assignment& here) {
        const std::optional<int64_t> first = touched_[w].element(here);
        for (int64_t k = 0; first && k < touched_[w].access().width; k++)
          written.insert(*first + k);
        return true;
      });
    }
    return written;
  }
  bool finds_constants(const Access& read) const {
    for (int64_t k = 0; k < read.width; k++) {
      const auto w = written_.find({read.storage, constant(read) + k});
      if (w == written_.end() || w->second > read.line) return false;
    }
    return true;
  }
  // What the read and the writes it may find share: for LOCAL storage all but the work-item, for
  // others that too, and the loops around the read.
  bool is_shared(const Access& read, Ref leaf) const {
    if (leaf->op == Op::Variable) return true;
    if (leaf->op == Op::Special)
      return storage(read).space != AddrSpace::Local || leaf->arg.name().starts_with("gidx");
    const std::vector<int> around = m_.scopes_around(read.scope);
    return std::ranges::any_of(
        around, [&](int s) { return m_.scopes[static_cast<size_t>(s)].node == leaf; });
  }
  std::vector<Ref> context_of(const Touched& reads, const std::vector<size_t>& writes) const {
    std::vector<Ref> context;
    const auto add = [&](const Touched& t) {
      for (const Ref leaf : t.leaves()) {
        const bool is_new = std::ranges::find(context, leaf) == context.end();
        if (is_new && is_shared(reads.access(), leaf)) context.push_back(leaf);
      }
    };
    add(reads);
    for (const size_t w : writes) add(touched_[w]);
    return context;
  }
  std::vector<Ref> own_leaves(const Access& read, const Touched& t) const {
    std::vector<Ref> own;
    for (const Ref leaf : t.leaves()) {
      if (!is_shared(read, leaf)) own.push_back(leaf);
    }
    return own;
  }

  // f(assignment) for all values of these leaves; false where f was, or where they are too many.
  template <typename F>
  bool for_each(const std::vector<Ref>& leaves, Assignment at, size_t first, F f) {
    if (first == leaves.size()) return left_-- > 0 && f(at);
    const Interval range = m_.terms.range_of(m_.terms.form(leaves[first]));
    for (Int128 v = range.lo; v <= range.hi; v++) {
      at[leaves[first]->id] = v;
      if (!for_each(leaves, at, first + 1, f)) return false;
    }
    return true;
  }

  bool finds(Touched& reads, const std::vector<size_t>& writes, const Assignment& at) {
    const Access& read = reads.access();
    const std::unordered_set<int64_t> written = written_by(read, writes, at);
    // What lies outside is another fault.
    const Int128 size = m_.terms.range_of(storage(read).size).hi;
    return for_each(own_leaves(read, reads), at, 0, [&](const Assignment& here) {
      const std::optional<int64_t> first = reads.element(here);
      if (!first || *first < 0 || *first + read.width > size) return true;
      for (int64_t k = 0; k < read.width; k++) {
        if (written.count(*first + k) == 0) return false;
      }
      return true;
    });
  }
  void claim(const Access& read, const Assignment& at) {
    Claim claim;
    claim.fault = workgroup::Fault::Uninitialised;
    claim.lines = {read.line};
    claim.text = fmt::format("{} reads of storage {} what was not written before it",
                             m_.text(read.line), storage(read).number);
    claim.shape = "uninitialised";
    claim.inputs.variables = Question(m_, 0).variables({});
    for (auto& [name, value] : claim.inputs.variables) {
      for (const auto& [id, v] : at) {
        const Ref leaf = s_.graph.at(id);
        if (leaf->op == Op::Variable && leaf->arg.name() == name) value = static_cast<int64_t>(v);
      }
    }
    claims_.push_back(std::move(claim));
  }

  const Subject& s_;
  KernelModel& m_;
  std::map<std::pair<int, int64_t>, int> written_;  // the first line that writes a constant place
  std::vector<Touched> touched_;                    // by the writes
  // By some writes, what they write whatever they share with others.
  std::map<std::vector<size_t>, std::unordered_set<int64_t>> always_;
  int64_t left_ = 0;
  Checked checked_;
  std::vector<Claim> claims_;
};

}  // namespace

Checked check_reads(const Subject& subject) { return ReadCheck(subject).run(); }

}  // namespace assay::props::kernel
