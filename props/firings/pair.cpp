#include "props/firings/pair.h"

#include <fmt/format.h>

#include <unordered_set>

#include "engine/uop/bounds.h"
#include "engine/uop/scope.h"

namespace assay::props {
namespace {

using uop::DType;
using uop::Graph;
using uop::Op;
using uop::OpSet;
using uop::Ref;
using uop::Value;

// What is copied as it stands, beside scalar functions.
constexpr OpSet kPlain = {Op::Const, Op::Invalid};

// A bound for the counter of a loop whose size is a term: index arithmetic on it stays within 64
// bits.
constexpr int64_t kLongLoop = int64_t{1} << 40;

bool is_divided_by_constant(Ref u) { return uop::is_const(u->src[1]) && u->src[1]->arg.bits != 0; }

bool is_shifted_within(Ref u) {
  if (!uop::is_const(u->src[1])) return false;
  const uop::Int128 amount = uop::as_int(u->src[1]->value());
  return amount >= 0 && amount < uop::bits_of(u->dtype);
}

// Whether u has a value wherever its sources have.
bool is_total(Ref u) {
  switch (u->op) {
    case Op::Div:
    case Op::Mod:
    case Op::TDiv:
    case Op::TMod: return is_divided_by_constant(u);
    case Op::Shl:
    case Op::Shr: return is_shifted_within(u);
    case Op::Pow: return uop::is_float(u->dtype);
    case Op::Cast:
      return !uop::is_float(u->src[0]->dtype) || uop::is_float(u->dtype) || u->dtype == DType::Bool;
    case Op::Bitcast: return !uop::is_float(u->src[0]->dtype);
    default: return true;
  }
}

class PairMaker {
 public:
  PairMaker(Graph& from, const PairOptions& options, Graph& to)
      : from_(from), options_(options), to_(to) {}

  std::optional<ScalarPair> make(Ref before, Ref after) {
    if (options_.is_general) find_shared(before, after);
    pair_.before = copy(before);
    is_after_ = true;
    pair_.after = copy(after);
    if (has_new_reads_) return std::nullopt;
    return pair_;
  }

 private:
  Ref named(Ref u) const {
    if (options_.same == nullptr) return u;
    const auto found = options_.same->find(u);
    return found == options_.same->end() ? u : found->second;
  }

  // The nodes below root that are copied, sources first; leaves are among them.
  std::vector<Ref> order_of(Ref root) {
    std::vector<Ref> order;
    std::vector<std::pair<Ref, bool>> stack = {{named(root), false}};
    std::unordered_set<Ref> met;
    while (!stack.empty()) {
      const auto [u, is_done] = stack.back();
      stack.pop_back();
      if (is_done) {
        order.push_back(u);
        continue;
      }
      if (!met.insert(u).second) continue;
      stack.emplace_back(u, true);
      if (is_cut(u)) continue;
      for (size_t i = u->src.size(); i-- > 0;) stack.emplace_back(named(u->src[i]), false);
    }
    return order;
  }

  bool is_cut(Ref u) const {
    return !(uop::is_scalar(u->op) || u->op == Op::Range || u->op == Op::Special) ||
           general_.contains(u);
  }

  // Nodes that root reads wherever it has a value: not those that a WHERE may pass over.
  std::unordered_set<Ref> read_always(Ref root) {
    std::unordered_set<Ref> met;
    std::vector<Ref> stack = {named(root)};
    while (!stack.empty()) {
      const Ref u = stack.back();
      stack.pop_back();
      if (!met.insert(u).second || is_cut(u)) continue;
      const size_t count = u->op == Op::Where ? 1 : u->src.size();
      for (size_t i = 0; i < count; i++) stack.push_back(named(u->src[i]));
    }
    return met;
  }

  // The terms that both sides have and for which a value may stand. Where such a term has no value
  // neither has `before`, which reads it; where it is Invalid, so is all that reads it.
  void find_shared(Ref before, Ref after) {
    const std::vector<Ref> left = order_of(before);
    const std::vector<Ref> right = order_of(after);
    const std::unordered_set<Ref> also(right.begin(), right.end());
    const std::unordered_set<Ref> first = read_always(before);
    const std::unordered_set<Ref> second = read_always(after);
    std::unordered_set<Ref> partial;
    std::unordered_set<Ref> invalid;
    std::unordered_set<Ref> shared;
    for (const Ref u : left) {
      const bool is_term = uop::is_scalar(u->op);
      bool may_lack_value = is_term && !is_total(u);
      bool may_be_invalid = u->op == Op::Invalid;
      for (const Ref s : u->src) {
        may_lack_value = may_lack_value || (is_term && partial.contains(named(s)));
        may_be_invalid = may_be_invalid || (is_term && invalid.contains(named(s)));
      }
      if (may_lack_value) partial.insert(u);
      if (may_be_invalid) invalid.insert(u);
      const bool is_read = (!may_lack_value && !may_be_invalid) || first.contains(u);
      const bool is_kept = !may_be_invalid || second.contains(u);
      if (is_term && also.contains(u) && is_read && is_kept) shared.insert(u);
    }
    general_ = std::move(shared);
  }

  Ref copy(Ref root) {
    for (const Ref u : order_of(root)) {
      if (copied_.contains(u)) continue;
      copied_[u] = copied(u);
    }
    return copied_.at(named(root));
  }

  Ref copied(Ref u) {
    if (general_.contains(u)) return opaque(u);
    if (uop::is_scalar(u->op)) {
      std::vector<Ref> sources;
      for (const Ref s : u->src) sources.push_back(copied_.at(named(s)));
      return to_.make(u->op, u->dtype, sources);
    }
    if (kPlain.has(u->op)) return to_.make(u->op, u->dtype, {}, u->arg);
    if (u->op == Op::Variable) return variable(u);
    if (u->op == Op::Range || u->op == Op::Special) return counter(u);
    return read(u);
  }

  std::string next_name() { return fmt::format("v{}", leaves_++); }

  Ref variable(Ref u) {
    const auto ends = u->arg.numbers();
    if (ends.empty()) return to_.variable(next_name(), u->dtype);
    const Value lo = {u->dtype, static_cast<uint64_t>(ends[0])};
    const Value hi = {u->dtype, static_cast<uint64_t>(ends[1])};
    return to_.variable(next_name(), lo, hi);
  }

  // From 0 to below its size.
  Ref counter(Ref u) {
    const Ref size = copied_.at(named(u->src[0]));
    const bool is_known = uop::is_const(size);
    uop::Int128 last = kLongLoop;
    if (is_known) last = uop::as_int(size->value()) - 1;
    if (size->op == Op::Variable && !size->arg.numbers().empty()) {
      last = uop::as_int({size->dtype, static_cast<uint64_t>(size->arg.numbers()[1])}) - 1;
    }
    last = std::min(last, uop::max_int(u->dtype));
    const Value lo = uop::zero_of(u->dtype);
    const Value hi = uop::of_int(u->dtype, std::max<uop::Int128>(last, 0));
    const Ref made = to_.variable(next_name(), lo, hi);
    if (!is_known || last < 0) pair_.when.push_back(to_.alu(Op::Lt, {made, size}));
    return made;
  }

  Ref opaque(Ref u) {
    pair_.is_free = false;
    return to_.variable(next_name(), u->dtype);
  }

  Ref read(Ref u) {
    has_new_reads_ = has_new_reads_ || is_after_;
    if (u->op == Op::Bind && u->src[0]->op == Op::Variable) return variable(u->src[0]);
    if (u->dtype == DType::Void) has_new_reads_ = true;
    const bool is_storage = u->op == Op::Load || uop::buffer(from_, u) != nullptr;
    if (is_storage) return to_.variable(next_name(), u->dtype);
    return opaque(u);
  }

  Graph& from_;
  const PairOptions& options_;
  Graph& to_;
  ScalarPair pair_;
  std::unordered_map<Ref, Ref> copied_;
  std::unordered_set<Ref> general_;
  size_t leaves_ = 0;
  bool is_after_ = false;
  bool has_new_reads_ = false;
};

}  // namespace

uop::Key ScalarPair::key(Graph& g) const {
  std::vector<Ref> all = {before, after};
  all.insert(all.end(), when.begin(), when.end());
  return uop::key(g, g.make(Op::Group, DType::Void, all));
}

std::optional<ScalarPair> scalar_pair(Graph& from, Ref before, Ref after,
                                      const PairOptions& options, Graph& to) {
  return PairMaker(from, options, to).make(before, after);
}

}  // namespace assay::props
