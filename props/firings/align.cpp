#include "props/firings/align.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "engine/uop/refines.h"
#include "engine/uop/walk.h"

namespace assay::props {
namespace {

using uop::DType;
using uop::Graph;
using uop::Op;
using uop::OpSet;
using uop::Ref;

constexpr OpSet kTermLeaves = {Op::Const, Op::Invalid, Op::Variable,
                               Op::Range, Op::Special, Op::Bind};
constexpr OpSet kLoopCounters = {Op::Range, Op::Special};

bool is_term(Ref u) { return uop::is_scalar(u->op) || kTermLeaves.has(u->op); }

bool is_alike(Ref a, Ref b) {
  const bool same_type = a->dtype == b->dtype || (uop::is_int(a->dtype) && uop::is_int(b->dtype));
  return a->op == b->op && same_type && a->arg == b->arg && a->src.size() == b->src.size();
}

class Aligner {
 public:
  Aligner(Graph& g, Context& context) : g_(g), context_(context) {}

  Aligned run(Ref before, Ref after) {
    const std::vector<Ref> left = nodes_of(before);
    const std::vector<Ref> right = nodes_of(after);
    const bool same_list = std::equal(left.begin(), left.end(), right.begin(), right.end(),
                                      [](Ref a, Ref b) { return is_alike(a, b); });
    if (!same_list) return std::move(result_);
    for (size_t i = 0; i < left.size(); i++) {
      partner_[right[i]] = left[i];
      if (left[i] != right[i]) same_[right[i]] = at_type_of(left[i], right[i]);
    }
    result_.is_one_to_one = true;
    for (size_t i = 0; i < left.size() && result_.is_one_to_one; i++) compare(left[i], right[i]);
    return std::move(result_);
  }

 private:
  // What is paired: all but terms, and counters, which are told apart by number and name.
  static std::vector<Ref> nodes_of_order(const std::vector<Ref>& order) {
    std::vector<Ref> nodes;
    for (const Ref u : order) {
      if (!is_term(u) || kLoopCounters.has(u->op)) nodes.push_back(u);
    }
    return nodes;
  }
  std::vector<Ref> nodes_of(Ref root) { return nodes_of_order(uop::toposort(g_, root)); }

  Ref at_type_of(Ref u, Ref other) {
    return u->dtype == other->dtype ? u : g_.make(Op::Cast, other->dtype, {u});
  }

  void compare(Ref a, Ref b) {
    if (a == b) return;
    for (size_t i = 0; i < a->src.size(); i++) {
      const Ref x = a->src[i];
      const Ref y = b->src[i];
      if (is_term(x) && is_term(y)) {
        compare_terms(x, y);
      } else if (partner_.contains(y) ? partner_.at(y) != x : x != y) {
        result_.is_one_to_one = false;
        return;
      }
    }
  }

  void compare_terms(Ref x, Ref y) {
    if (x == y) return;
    Graph own;
    const PairOptions options = {.is_general = false, .same = &same_};
    const Ref wide = x->dtype == y->dtype ? y : g_.make(Op::Cast, x->dtype, {y});
    const auto pair = scalar_pair(g_, x, wide, options, own);
    if (pair) {
      const Outcome outcome = recall_scalar(own, *pair, context_);
      const bool is_proof =
          outcome.verdict.answer == Answer::Pass && outcome.verdict.strength != Strength::Sampled;
      if (is_proof) {
        result_.proved++;
        result_.by_method[outcome.method]++;
        return;
      }
    }
    if (result_.open++ == 0) result_.first_open = uop::shown(x, 4) + " and " + uop::shown(y, 4);
  }

  Graph& g_;
  Context& context_;
  Aligned result_;
  std::unordered_map<Ref, Ref> partner_;
  SameAs same_;
};

}  // namespace

Aligned align(Graph& g, Ref before, Ref after, Context& context) {
  return Aligner(g, context).run(before, after);
}

}  // namespace assay::props
