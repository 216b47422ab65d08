#include "engine/uop/dim.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/uop/eval.h"
#include "engine/uop/key.h"

namespace assay::uop {
namespace {

// A shared sum or product is as large as all its paths, so no more nodes than this are looked into;
// what is left is taken as it stands.
constexpr int kMostSteps = 64;
constexpr Int128 kLargestCoefficient = Int128{1} << 31;

Int128 value_of(Ref u) { return as_int(u->value()); }

// The constant, or nothing where it leaves 64 bits or an operand is none.
Ref fold(Graph& g, Op op, Ref a, Ref b) {
  if (!is_const(a) || !is_const(b)) return nullptr;
  const Value values[] = {a->value(), b->value()};
  const std::optional<Value> v = eval(op, Index, values);
  return v ? g.constant(*v) : nullptr;
}

// a op b for an op that commutes and associates, unit its unit: operands in canonical order, units
// dropped, (x op c) op d as x op (c op d).
Ref join(Graph& g, Op op, int64_t unit, Ref a, Ref b) {
  if (const Ref c = fold(g, op, a, b)) return c;
  if (comes_before(g, b, a)) std::swap(a, b);
  if (is_dim(b, unit)) return a;
  if (is_const(b) && a->op == op) {
    if (const Ref c = fold(g, op, a->src[1], b)) {
      return is_dim(c, unit) ? a->src[0] : g.make(op, Index, {a->src[0], c});
    }
  }
  return g.make(op, Index, {a, b});
}

// Ends of bounds: an end that leaves 64 bits is infinite, held as ±2^64.
constexpr Int128 kInfinity = Int128{1} << 64;
bool is_infinite(Int128 end) { return !fits(Index, end); }

Bounds bounded(Int128 lo, Int128 hi) {
  const Int128 least = min_int(Index);
  const Int128 most = max_int(Index);
  return {lo < least ? -kInfinity : std::min(lo, most),
          hi > most ? kInfinity : std::max(hi, least)};
}

Bounds unbounded() { return {-kInfinity, kInfinity}; }

Bounds add(Bounds a, Bounds b) {
  const Int128 lo = is_infinite(a.lo) || is_infinite(b.lo) ? -kInfinity : a.lo + b.lo;
  const Int128 hi = is_infinite(a.hi) || is_infinite(b.hi) ? kInfinity : a.hi + b.hi;
  return bounded(lo, hi);
}

Bounds negated(Bounds a) { return bounded(-a.hi, -a.lo); }

Int128 times(Int128 a, Int128 b) {
  if (a == 0 || b == 0) return 0;
  if (is_infinite(a) || is_infinite(b)) return (a < 0) == (b < 0) ? kInfinity : -kInfinity;
  return a * b;
}

Bounds mul(Bounds a, Bounds b) {
  const auto [lo, hi] =
      std::minmax({times(a.lo, b.lo), times(a.lo, b.hi), times(a.hi, b.lo), times(a.hi, b.hi)});
  return bounded(lo, hi);
}

Int128 floor_div(Int128 a, Int128 positive) {
  if (is_infinite(a)) return a;
  return a >= 0 ? a / positive : -((-a + positive - 1) / positive);
}

Bounds div(Bounds a, Bounds b) {
  if (b.lo != b.hi || b.lo <= 0) return unbounded();
  return bounded(floor_div(a.lo, b.lo), floor_div(a.hi, b.lo));
}

Bounds variable_bounds(Ref u) {
  const std::span<const int64_t> ends = u->arg.numbers();
  if (ends.size() != 2) return unbounded();
  const Value lo = {u->dtype, static_cast<uint64_t>(ends[0])};
  const Value hi = {u->dtype, static_cast<uint64_t>(ends[1])};
  return bounded(as_int(lo), as_int(hi));
}

Bounds bounds_of(const NodeMap<Bounds>& known, Ref u) {
  const auto at = [&](size_t i) { return known.at(u->src[i]); };
  if (!is_int(u->dtype)) return unbounded();
  switch (u->op) {
    case Op::Const: return {value_of(u), value_of(u)};
    case Op::Variable: return variable_bounds(u);
    case Op::Range:
    case Op::Special: return bounded(0, is_infinite(at(0).hi) ? kInfinity : at(0).hi - 1);
    case Op::Bind: return at(0);
    default: break;
  }
  // Types of fixed width wrap; no dim is computed in one.
  if (u->dtype != Index) return unbounded();
  switch (u->op) {
    case Op::Cast: return is_int(u->src[0]->dtype) ? at(0) : unbounded();
    case Op::Neg: return negated(at(0));
    case Op::Add: return add(at(0), at(1));
    case Op::Sub: return add(at(0), negated(at(1)));
    case Op::Mul: return mul(at(0), at(1));
    case Op::Div: return div(at(0), at(1));
    case Op::Max: return {std::max(at(0).lo, at(1).lo), std::max(at(0).hi, at(1).hi)};
    case Op::Min: return {std::min(at(0).lo, at(1).lo), std::min(at(0).hi, at(1).hi)};
    case Op::Where: return {std::min(at(1).lo, at(2).lo), std::max(at(1).hi, at(2).hi)};
    default: return unbounded();
  }
}

// A sum of multiples of terms, or a product of powers of factors.
struct Multiples {
  std::vector<std::pair<Ref, Int128>> terms;
  Int128 constant = 0;

  void count(Ref u, Int128 times_more) {
    for (auto& [term, times_so_far] : terms) {
      if (term != u) continue;
      times_so_far += times_more;
      return;
    }
    terms.emplace_back(u, times_more);
  }
};

// The operand of a product whose other operand is a small constant, and the constant; or nothing.
std::optional<std::pair<Ref, Int128>> multiple(Ref u) {
  if (u->op == Op::Neg) return std::pair{u->src[0], Int128{-1}};
  if (u->op != Op::Mul) return std::nullopt;
  for (const size_t i : {0, 1}) {
    if (!is_const(u->src[i])) continue;
    const Int128 c = value_of(u->src[i]);
    if (-kLargestCoefficient < c && c < kLargestCoefficient) return std::pair{u->src[1 - i], c};
  }
  return std::nullopt;
}

void add_sum(Multiples& sum, Ref root, int sign) {
  std::vector<std::pair<Ref, Int128>> stack = {{root, sign}};
  for (int steps = 0; !stack.empty(); steps++) {
    const auto [u, times_u] = stack.back();
    stack.pop_back();
    const bool open = steps < kMostSteps;
    const auto inner = multiple(u);
    if (is_const(u)) {
      sum.constant += times_u * value_of(u);
    } else if (open && (u->op == Op::Add || u->op == Op::Sub)) {
      stack.emplace_back(u->src[0], times_u);
      stack.emplace_back(u->src[1], u->op == Op::Add ? times_u : -times_u);
    } else if (open && inner && times_u * inner->second < kLargestCoefficient &&
               times_u * inner->second > -kLargestCoefficient) {
      stack.emplace_back(inner->first, times_u * inner->second);
    } else {
      sum.count(u, times_u);
    }
  }
}

// The constants of a product: nothing once they leave 64 bits.
struct Product {
  Multiples factors;
  std::optional<Int128> constant = 1;
};

void add_factors(Product& product, std::span<const Ref> dims, int sign) {
  std::vector<Ref> stack(dims.begin(), dims.end());
  for (size_t steps = 0; !stack.empty(); steps++) {
    const Ref u = stack.back();
    stack.pop_back();
    if (is_const(u)) {
      if (value_of(u) == 0) product.constant = 0;
      if (product.constant && *product.constant != 0) {
        const Int128 next = *product.constant * value_of(u);
        product.constant = fits(Index, next) ? std::optional(next) : std::nullopt;
      }
    } else if (u->op == Op::Mul && steps < dims.size() + kMostSteps) {
      stack.push_back(u->src[0]);
      stack.push_back(u->src[1]);
    } else {
      product.factors.count(u, sign);
    }
  }
}

// The values of the product of the factors whose count has this sign, and of a constant.
Bounds product_bounds(Graph& g, const Multiples& factors, int sign, Int128 constant) {
  Bounds product = {constant, constant};
  for (const auto& [u, count] : factors.terms) {
    for (Int128 i = 0; i < count * sign; i++) product = mul(product, dim_bounds(g, u));
  }
  return product;
}

}  // namespace

Ref dim(Graph& g, int64_t size) { return g.constant(Index, size); }

std::vector<Ref> dims(Graph& g, std::initializer_list<int64_t> sizes) {
  std::vector<Ref> made;
  made.reserve(sizes.size());
  for (const int64_t size : sizes) made.push_back(dim(g, size));
  return made;
}

Ref as_dim(Graph& g, Ref u) {
  if (u->dtype == Index) return u;
  if (is_const(u) && is_int(u->dtype) && fits(Index, value_of(u))) {
    return g.constant(of_int(Index, value_of(u)));
  }
  return g.make(Op::Cast, Index, {u});
}

Ref dim_add(Graph& g, Ref a, Ref b) { return join(g, Op::Add, 0, a, b); }

Ref dim_sub(Graph& g, Ref a, Ref b) {
  if (a == b) return dim(g, 0);
  if (!is_const(b) || value_of(b) == min_int(Index)) return g.make(Op::Sub, Index, {a, b});
  const Ref negative = dim(g, -static_cast<int64_t>(value_of(b)));
  return dim_add(g, a, negative);
}

Ref dim_mul(Graph& g, Ref a, Ref b) {
  if (is_dim(a, 0) || is_dim(b, 0)) return dim(g, 0);
  return join(g, Op::Mul, 1, a, b);
}

Ref dim_div(Graph& g, Ref a, Ref b) {
  if (is_dim(b, 1)) return a;
  if (const Ref c = fold(g, Op::Div, a, b)) return c;
  const bool multiple = a->op == Op::Mul && is_const(a->src[1]) && is_const(b) && !is_dim(b, 0);
  if (multiple && value_of(a->src[1]) % value_of(b) == 0) {
    const Ref times = fold(g, Op::Div, a->src[1], b);
    if (times != nullptr) return dim_mul(g, a->src[0], times);
  }
  return g.make(Op::Div, Index, {a, b});
}

Ref ceil_div(Graph& g, Ref x, Ref d) {
  const Ref one = dim(g, 1);
  const Ref most = dim_sub(g, d, one);
  const Ref sum = dim_add(g, x, most);
  return dim_div(g, sum, d);
}

Bounds dim_bounds(Graph& g, Ref dim) {
  NodeMap<Bounds>& known = g.facts().dim_bounds;
  return derive(known, dim, [&](Ref u) { return bounds_of(known, u); });
}

bool may_equal(Graph& g, Ref a, Ref b) { return a == b || may_be(dim_difference(g, a, b), 0); }

Bounds dim_difference(Graph& g, Ref a, Ref b) {
  Multiples sum;
  add_sum(sum, a, 1);
  add_sum(sum, b, -1);
  Bounds total = bounded(sum.constant, sum.constant);
  for (const auto& [u, count] : sum.terms) {
    if (count != 0) total = add(total, mul({count, count}, dim_bounds(g, u)));
  }
  return total;
}

bool products_may_equal(Graph& g, std::span<const Ref> a, std::span<const Ref> b) {
  Product left;
  add_factors(left, a, 1);
  Product right;
  right.factors = std::move(left.factors);
  add_factors(right, b, -1);
  if (!left.constant || !right.constant) return true;
  const Int128 x = *left.constant;
  const Int128 y = *right.constant;
  if (x == 0 && y == 0) return true;
  const Bounds l = product_bounds(g, right.factors, 1, x);
  const Bounds r = product_bounds(g, right.factors, -1, y);
  if (l.hi < r.lo || r.hi < l.lo) return false;
  // A multiple of x is no number that x does not divide.
  if (r == Bounds{y, y} && x != 0 && y % x != 0) return false;
  if (l == Bounds{x, x} && y != 0 && x % y != 0) return false;
  return true;
}

}  // namespace assay::uop
