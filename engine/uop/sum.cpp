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

}  // namespace

bool Sum::add_constant(Int128 value) {
  const std::optional<int64_t> total = held(dtype, Int128{constant} + value);
  if (total) constant = *total;
  return total.has_value();
}

bool Sum::add(Graph& g, Ref atom, Int128 factor) {
  int at = 0;
  while (at < count && items[at].atom != atom && comes_before(g, items[at].atom, atom)) at++;
  const bool known = at < count && items[at].atom == atom;
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

std::optional<Sum> sum_of(Graph& g, Ref u) {
  if (may_be_invalid(g, u)) return std::nullopt;
  Sum sum;
  sum.dtype = u->dtype;
  std::array<Part, Sum::kMaxTerms * 2> parts;  // still to be taken apart, the next one last
  int left = 0;
  parts[left++] = {u, 1};
  while (left > 0) {
    const Part part = parts[--left];
    if (is_const(part.u)) {
      if (!sum.add_constant(as_int(part.u->value()) * part.factor)) return std::nullopt;
    } else if (part.u->op == Op::Add || part.u->op == Op::Sub) {
      const auto factor =
          held(u->dtype, part.u->op == Op::Add ? part.factor : -Int128{part.factor});
      if (!factor || left + 2 > static_cast<int>(parts.size())) return std::nullopt;
      parts[left++] = {part.u->src[1], *factor};
      parts[left++] = {part.u->src[0], part.factor};
    } else if (is_scaled(part.u)) {
      const auto factor = held(u->dtype, as_int(part.u->src[1]->value()) * part.factor);
      if (!factor) return std::nullopt;
      parts[left++] = {part.u->src[0], *factor};
    } else if (!sum.add(g, part.u, part.factor)) {
      return std::nullopt;
    }
  }
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
