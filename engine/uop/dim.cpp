#include "engine/uop/dim.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/uop/eval.h"
#include "engine/uop/key.h"
#include "engine/uop/sum.h"

namespace assay::uop {
namespace {

// A shared product is as large as all its paths, so no more nodes than this are looked into; what
// is left is taken as it stands.
constexpr size_t kMostSteps = 64;

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

// Factors, each with how often it stands on the left less how often on the right.
struct Factors {
  std::vector<std::pair<Ref, int>> counts;

  void count(Ref u, int sign) {
    for (auto& [factor, count] : counts) {
      if (factor != u) continue;
      count += sign;
      return;
    }
    counts.emplace_back(u, sign);
  }
};

// The constants of a product: nothing once they leave 64 bits.
struct Product {
  Factors factors;
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
Bounds product_bounds(Graph& g, const Factors& factors, int sign, Int128 constant) {
  Bounds values = {constant, constant};
  for (const auto& [u, count] : factors.counts) {
    for (int i = 0; i < count * sign; i++) values = product(Index, values, bounds(g, u));
  }
  return values;
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

bool may_equal(Graph& g, Ref a, Ref b) { return a == b || may_be(dim_difference(g, a, b), 0); }

Bounds dim_difference(Graph& g, Ref a, Ref b) {
  if (a == b) return {0, 0};
  std::optional<Sum> difference = sum_of(g, a);
  const std::optional<Sum> subtrahend = sum_of(g, b);
  const bool held = difference && subtrahend && difference->add(g, *subtrahend, -1);
  if (held) return bounds(g, *difference);
  const Ref uncancelled = g.alu(Op::Sub, {a, b});
  return bounds(g, uncancelled);
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
