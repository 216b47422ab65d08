#include "engine/uop/sum.h"

#include <algorithm>

#include "engine/uop/key.h"

namespace assay::uop {
namespace {

// A number at the sum's type; nothing where an `index` leaves 64 bits.
std::optional<int64_t> held(DType t, Int128 exact) {
  if (t == Index && !fits(Index, exact)) return std::nullopt;
  return static_cast<int64_t>(wrap(t, exact));
}

struct Part {
  Ref u;
  int64_t factor;
};

bool is_scaled(Ref u) { return u->op == Op::Mul && is_const(u->src[1]); }

Int128 clamped_product(Int128 a, Int128 b) {
  if (a == 0 || b == 0) return 0;
  if (a >= kInfinite || a <= -kInfinite) return (a < 0) != (b < 0) ? -kInfinite : kInfinite;
  return a * b;
}

// sum + factor * part
bool add_multiple(Graph& g, Sum& sum, const SumOfNode& part, int64_t factor) {
  if (sum.count == 0 && factor == 1) {
    std::copy(part.terms.begin(), part.terms.end(), sum.items.begin());
    sum.count = static_cast<int>(part.terms.size());
    return sum.add_constant(part.constant);
  }
  for (const Sum::Term& t : part.terms) {
    if (!sum.add(g, t.atom, Int128{t.factor} * factor)) return false;
  }
  return sum.add_constant(Int128{part.constant} * factor);
}

// What is still to be taken apart, the next one last.
class Parts {
 public:
  bool empty() const { return count_ == 0; }
  Part pop() { return items_[--count_]; }
  // False where there is no room, or the factor leaves 64 bits.
  bool push(DType t, Ref u, Int128 factor) {
    const std::optional<int64_t> kept = held(t, factor);
    if (!kept || count_ == items_.size()) return false;
    items_[count_++] = {u, *kept};
    return true;
  }

 private:
  std::array<Part, size_t{2} * Sum::kMaxTerms> items_;
  size_t count_ = 0;
};

// Adds a part to the sum, or puts what it is made of in its place.
bool take_apart(Graph& g, Sum& sum, Parts& parts, const Part& part) {
  const Ref u = part.u;
  const DType t = sum.dtype;
  if (is_const(u)) return sum.add_constant(as_int(u->value()) * part.factor);
  if (u->op == Op::Add || u->op == Op::Sub) {
    const Int128 factor = u->op == Op::Add ? part.factor : -Int128{part.factor};
    return parts.push(t, u->src[1], factor) && parts.push(t, u->src[0], part.factor);
  }
  if (!is_scaled(u)) return sum.add(g, u, part.factor);
  return parts.push(t, u->src[0], as_int(u->src[1]->value()) * part.factor);
}

std::optional<Sum> computed_sum(Graph& g, Ref u) {
  if (may_be_invalid(g, u)) return std::nullopt;
  Sum sum;
  sum.dtype = u->dtype;
  Parts parts;
  parts.push(u->dtype, u, 1);
  while (!parts.empty()) {
    const Part part = parts.pop();
    const SumOfNode* known = part.u == u ? nullptr : g.facts().sums.find(part.u);
    const bool fits = known != nullptr && known->is_sum ? add_multiple(g, sum, *known, part.factor)
                                                        : take_apart(g, sum, parts, part);
    if (!fits) return std::nullopt;
  }
  return sum;
}

}  // namespace

bool Sum::add_constant(Int128 value) {
  const std::optional<int64_t> total = held(dtype, Int128{constant} + value);
  if (total) constant = *total;
  return total.has_value();
}

bool Sum::add(Graph& g, Ref atom, Int128 factor) {
  // From the end, since what is added mostly comes in order.
  int at = count;
  while (at > 0 && items[at - 1].atom != atom && comes_before(g, atom, items[at - 1].atom)) at--;
  const bool known = at > 0 && items[at - 1].atom == atom;
  if (known) at--;
  const std::optional<int64_t> total = held(dtype, factor + (known ? items[at].factor : 0));
  if (!total) return false;
  if (known) {
    items[at].factor = *total;
    if (*total == 0) {
      std::copy(items.begin() + at + 1, items.begin() + count, items.begin() + at);
      count--;
    }
    return true;
  }
  if (*total == 0) return true;
  if (count == kMaxTerms) return false;
  std::copy_backward(items.begin() + at, items.begin() + count, items.begin() + count + 1);
  items[at] = {atom, *total};
  count++;
  return true;
}

bool Sum::add(Graph& g, const Sum& other, Int128 factor) {
  for (const Term& t : other.terms()) {
    if (!add(g, t.atom, Int128{t.factor} * factor)) return false;
  }
  return add_constant(Int128{other.constant} * factor);
}

std::optional<Sum> sum_of(Graph& g, Ref u) {
  NodeMap<SumOfNode>& known = g.facts().sums;
  if (!known.has(u)) {
    const std::optional<Sum> sum = computed_sum(g, u);
    known.set(u, sum ? SumOfNode{true, sum->constant, g.arena().copy(sum->terms())} : SumOfNode{});
  }
  const SumOfNode& found = known.at(u);
  if (!found.is_sum) return std::nullopt;
  std::optional<Sum> sum(std::in_place);
  sum->dtype = u->dtype;
  sum->count = static_cast<int>(found.terms.size());
  sum->constant = found.constant;
  std::copy(found.terms.begin(), found.terms.end(), sum->items.begin());
  return sum;
}

Ref build(Graph& g, const Sum& sum) {
  Ref result = nullptr;
  for (const Sum::Term& term : sum.terms()) {
    Ref t = term.atom;
    if (of_int(sum.dtype, term.factor) != one_of(sum.dtype)) {
      const Ref factor = g.constant(sum.dtype, term.factor);
      t = g.make(Op::Mul, sum.dtype, {t, factor});
    }
    result = result == nullptr ? t : g.make(Op::Add, sum.dtype, {result, t});
  }
  if (result == nullptr) return g.constant(sum.dtype, sum.constant);
  if (sum.constant == 0) return result;
  const Ref constant = g.constant(sum.dtype, sum.constant);
  return g.make(Op::Add, sum.dtype, {result, constant});
}

Bounds bounds(Graph& g, const Sum& sum) {
  Bounds total = {sum.constant, sum.constant};
  for (const Sum::Term& term : sum.terms()) {
    const Bounds b = bounds(g, term.atom);
    const Int128 low = clamped_product(term.factor < 0 ? b.hi : b.lo, term.factor);
    const Int128 high = clamped_product(term.factor < 0 ? b.lo : b.hi, term.factor);
    total.lo = std::max(total.lo + low, -kInfinite);
    total.hi = std::min(total.hi + high, kInfinite);
  }
  if (total.lo < min_int(Index)) total.lo = -kInfinite;
  if (total.hi > max_int(Index)) total.hi = kInfinite;
  return total;
}

}  // namespace assay::uop
