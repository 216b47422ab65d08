#include "engine/codegen/replace_ranges.h"

#include <algorithm>

#include "engine/codegen/index_terms.h"
#include "engine/uop/gate.h"
#include "engine/uop/rules/rules.h"
#include "engine/uop/scope.h"
#include "engine/uop/walk.h"

namespace assay::codegen {
namespace {

using uop::Graph;
using uop::Op;
using uop::Ref;

// One walk over a kernel.
class Replacing {
 public:
  Replacing(uop::Run& run, std::span<const RangeChange> changes)
      : run_(run), g_(run.graph()), terms_(run, uop::symbolic_rules()) {
    for (const RangeChange& change : changes) {
      changes_.set(change.range, &change);
      renames_ = renames_ && change.value->op == Op::Range;
      pads_ = pads_ || change.inside != nullptr;
    }
  }

  Result<Ref> kernel(Ref root) {
    const std::vector<Ref> order = uop::toposort(g_, root);
    if (pads_) find_stores(order);
    for (const Ref u : order) {
      terms_.note(u);
      done_.set(u, rebuilt(u));
    }
    if (const auto& trouble = terms_.trouble()) return *trouble;
    const Ref result = done_.at(root);
    return terms_.has_decided() ? run_.rewrite(uop::symbolic_rules(), result) : Result<Ref>(result);
  }

 private:
  // The condition under which each STORE is one of the kernel's: all ranges about it count, whether
  // its index depends on them or not.
  void find_stores(std::span<const Ref> order) {
    for (const Ref end : order) {
      if (end->op != Op::End) continue;
      const Ref iteration = inside(end->src.subspan(1));
      std::vector<Ref> stack = {end->src[0]};
      while (!stack.empty()) {
        const Ref u = stack.back();
        stack.pop_back();
        if (u->op == Op::Store) {
          const Ref* inner = stores_.find(u);
          stores_.set(u, uop::both(g_, inner == nullptr ? nullptr : *inner, iteration));
        }
        if (u->op == Op::Group) stack.insert(stack.end(), u->src.begin(), u->src.end());
        if (u->op == Op::End) stack.push_back(u->src[0]);
      }
    }
  }

  // Where iterations of these ranges are the kernel's; null where all are.
  Ref inside(std::span<const Ref> ranges) {
    Ref all = nullptr;
    for (const Ref r : ranges) {
      const RangeChange* const* change = changes_.find(r);
      if (change != nullptr) all = uop::both(g_, all, (*change)->inside);
    }
    return all;
  }

  Ref rebuilt(Ref u) {
    if (const RangeChange* const* change = changes_.find(u)) return (*change)->value;
    if (u->src.empty()) return u;
    sources_.clear();
    const bool closes = u->op == Op::End || u->op == Op::Reduce;
    for (const Ref s : u->src.first(closes ? 1 : u->src.size())) sources_.push_back(read_by(u, s));
    if (closes) close(u);
    if (pads_) gate(u);
    if (std::ranges::equal(sources_, u->src)) return u;
    return g_.with_sources(u, sources_);
  }

  // What became of a source: a term that is read by something else is done with.
  Ref read_by(Ref u, Ref s) {
    const Ref now = done_.at(s);
    const bool is_done = now == s || renames_ || terms_.is_term(u) || !terms_.is_term(s);
    return is_done ? now : terms_.settled(s, now);
  }

  void close(Ref u) {
    for (const Ref r : u->src.subspan(1)) {
      if (const RangeChange* const* change = changes_.find(r)) {
        sources_.insert(sources_.end(), (*change)->ranges.begin(), (*change)->ranges.end());
      } else {
        sources_.push_back(done_.at(r));
      }
    }
    const auto begin = sources_.begin() + 1;
    std::ranges::sort(begin, sources_.end(), {}, [](Ref r) { return r->arg.number(); });
    sources_.erase(std::unique(begin, sources_.end()), sources_.end());
  }

  void gate(Ref u) {
    if (u->op == Op::Index) {
      sources_[1] = uop::also_gated(g_, sources_[1], inside(uop::ranges(g_, u->src[1])));
    } else if (u->op == Op::Reduce) {
      sources_[0] = uop::also_gated(g_, sources_[0], inside(u->src.subspan(1)));
    } else if (u->op == Op::Store && stores_.has(u)) {
      const Ref place = u->src[0];
      const Ref index = uop::also_gated(g_, read_by(place, place->src[1]), stores_.at(u));
      sources_[0] = g_.make(Op::Index, place->dtype, {done_.at(place->src[0]), index});
    }
  }

  uop::Run& run_;
  Graph& g_;
  IndexTerms terms_;
  bool renames_ = true;  // each range is one of another number or type
  bool pads_ = false;
  uop::NodeMap<const RangeChange*> changes_;
  uop::NodeMap<Ref> stores_;
  uop::NodeMap<Ref> done_;
  std::vector<Ref> sources_;
};

}  // namespace

Result<Ref> replace_ranges(uop::Run& run, Ref kernel, std::span<const RangeChange> changes) {
  return Replacing(run, changes).kernel(kernel);
}

}  // namespace assay::codegen
