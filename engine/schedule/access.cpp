#include "engine/schedule/access.h"

#include <algorithm>

#include "engine/check.h"
#include "engine/uop/dim.h"
#include "engine/uop/given.h"
#include "engine/uop/sum.h"

namespace assay::schedule {
namespace {

using uop::bounds;
using uop::Bounds;
using uop::DType;
using uop::is_const;
using uop::is_dim;
using uop::Op;
using uop::Sum;

// A variable of one value is that number: the rules know, so it is no leaf.
bool is_leaf(Ref u) {
  if (u->op != Op::Variable) return is_const(u) || u->op == Op::Range;
  const std::span<const int64_t> ends = u->arg.numbers();
  return ends.size() != 2 || ends[0] != ends[1];
}

// Sizes other than 1, with what stands beside them.
std::vector<size_t> wide_axes(Shape sizes) {
  std::vector<size_t> axes;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!is_dim(sizes[i], 1)) axes.push_back(i);
  }
  return axes;
}

}  // namespace

bool is_index_term(Ref u) {
  if (u->dtype == DType::Index) return true;
  if (u->dtype != DType::Bool) return false;
  std::vector<Ref> stack = {u};
  while (!stack.empty()) {
    const Ref top = stack.back();
    stack.pop_back();
    if (top->dtype == DType::Index || (is_const(top) && top->dtype == DType::Bool)) continue;
    const bool decides = top->dtype == DType::Bool && uop::is_scalar(top->op);
    if (!decides) return false;
    stack.insert(stack.end(), top->src.begin(), top->src.end());
  }
  return true;
}

Ref as_gate(Ref condition) {
  return is_const(condition) && !is_false(condition) ? nullptr : condition;
}

bool is_false(Ref gate) { return gate != nullptr && is_const(gate) && gate->value().bits == 0; }

Ref or_zero(Graph& g, Ref gate, Ref u) {
  if (gate == nullptr) return u;
  const Ref zero = g.constant(uop::zero_of(u->dtype));
  return is_false(gate) ? zero : g.make(Op::Where, u->dtype, {gate, u, zero});
}

bool Indexer::is_affine(Ref u) {
  if (is_leaf(u)) return true;
  const std::optional<Sum> s = uop::sum_of(g_, u);
  return s && std::ranges::all_of(s->terms(), [](const Sum::Term& t) { return is_leaf(t.atom); });
}

Ref Indexer::simplified(Ref u) {
  if (is_leaf(u)) return u;
  if (u->dtype == DType::Index) {
    const std::optional<Sum> s = uop::sum_of(g_, u);
    const auto leaf = [](const Sum::Term& t) { return is_leaf(t.atom); };
    if (s && std::ranges::all_of(s->terms(), leaf)) return build(g_, *s);
  }
  return rewritten_(u);
}

Ref Indexer::tidy(Ref u) {
  static constexpr uop::OpSet kPlain = {Op::Add, Op::Mul,   Op::Sub,   Op::Lt,
                                        Op::Eq,  Op::Ne,    Op::And,   Op::Or,
                                        Op::Not, Op::Const, Op::Range, Op::Variable};
  room_.assign(1, u);
  while (!room_.empty()) {
    const Ref top = room_.back();
    room_.pop_back();
    if (!kPlain.has(top->op)) return simplified(u);
    if (top->op != Op::Range) room_.insert(room_.end(), top->src.begin(), top->src.end());
  }
  return u;
}

Ref Indexer::sum(std::span<const Product> products, uop::Int128 constant) {
  Sum total;
  bool held = total.add_constant(constant);
  for (const auto& [u, d] : products) {
    if (is_dim(u, 0)) continue;
    if (!is_const(d)) {
      held = held && total.add(g_, uop::dim_mul(g_, u, d), 1);
      continue;
    }
    const uop::Int128 factor = as_int(d->value());
    if (u->op == Op::Range) {
      held = held && total.add(g_, u, factor);
      continue;
    }
    const std::optional<Sum> part = uop::sum_of(g_, u);
    held = held && part && total.add(g_, *part, factor);
  }
  if (held) return build(g_, total);
  Ref all = g_.constant(uop::of_int(DType::Index, constant));
  for (const auto& [u, d] : products) {
    const Ref product = uop::dim_mul(g_, u, d);
    all = uop::dim_add(g_, all, product);
  }
  return all;
}

Ref Indexer::plus(Ref u, Ref amount, int sign) {
  if (is_dim(amount, 0)) return u;
  const Product products[] = {{u, uop::dim(g_, 1)}, {amount, uop::dim(g_, sign)}};
  return sum(products, 0);
}

Ref Indexer::flat(Shape sizes, Shape index) { return flat_by(strides(sizes), index); }

Ref Indexer::flat_by(std::span<const Ref> strides, Shape index) {
  ASSAY_CHECK(strides.size() == index.size());
  if (index.size() == 1) return simplified(index[0]);
  products_.clear();
  for (size_t i = index.size(); i-- > 0;) products_.emplace_back(index[i], strides[i]);
  return simplified(sum(products_, 0));
}

std::vector<Ref> Indexer::strides(Shape sizes) {
  std::vector<Ref> result(sizes.size());
  int64_t constant = 1;
  Ref symbolic = nullptr;
  for (size_t i = sizes.size(); i-- > 0;) {
    const Ref stride = uop::dim(g_, constant);
    result[i] = symbolic == nullptr ? stride : uop::dim_mul(g_, symbolic, stride);
    if (is_const(sizes[i])) {
      constant *= static_cast<int64_t>(as_int(sizes[i]->value()));
    } else {
      symbolic = symbolic == nullptr ? sizes[i] : uop::dim_mul(g_, sizes[i], symbolic);
    }
  }
  return result;
}

Ref Indexer::quotient(Ref u, Ref d) { return is_dim(d, 1) ? u : uop::dim_div(g_, u, d); }

Ref Indexer::remainder(Ref u, Ref d) {
  const bool below = bounds(g_, u).lo >= 0 && is_const(d) && bounds(g_, u).hi < as_int(d->value());
  return below ? u : g_.make(Op::Mod, DType::Index, {u, d});
}

// Both shapes hold equally many elements and have no size of 1.
void Indexer::reshape_group(Shape from, Shape to, Shape index, std::span<Ref> out) {
  if (from.size() == 1 && to.size() == 1 && from[0] == to[0]) {
    out[0] = index[0];
    return;
  }
  Ref stride = uop::dim(g_, 1);
  products_.clear();
  for (size_t i = to.size(); i-- > 0;) {
    products_.emplace_back(index[i], stride);
    stride = uop::dim_mul(g_, to[i], stride);
  }
  const Ref whole = simplified(sum(products_, 0));
  Ref below = uop::dim(g_, 1);
  for (size_t i = from.size(); i-- > 0;) {
    const Ref q = quotient(whole, below);
    const Ref u = i == 0 ? q : remainder(q, from[i]);
    out[i] = u == whole || whole->op == Op::Range ? u : simplified(u);
    below = uop::dim_mul(g_, from[i], below);
  }
}

// The indices of `to` for `from`, if the two differ in sizes of 1 alone.
bool Indexer::reshape_by_ones(Shape from, Shape to, Shape index) {
  size_t b = 0;
  room_.clear();
  for (const Ref size : from) {
    if (is_dim(size, 1)) {
      room_.push_back(uop::dim(g_, 0));
      continue;
    }
    while (b < to.size() && is_dim(to[b], 1)) ++b;
    if (b == to.size() || to[b] != size) return false;
    room_.push_back(index[b++]);
  }
  while (b < to.size() && is_dim(to[b], 1)) ++b;
  return b == to.size();
}

// Takes the least groups of axes, of `from` on from a and of `to` on from b, that hold equally many
// elements. Those of symbolic sizes are equal one by one, or take all that is left.
void Indexer::next_group(std::span<const Ref> from, std::span<const Ref> to, size_t& a, size_t& b) {
  const size_t a0 = a;
  const size_t b0 = b;
  Ref x = from[a++];
  Ref y = to[b++];
  while (x != y && (a < from.size() || b < to.size())) {
    const bool behind =
        !is_const(x) || !is_const(y) ? a - a0 <= b - b0 : as_int(x->value()) < as_int(y->value());
    if ((behind && a < from.size()) || b == to.size()) {
      x = uop::dim_mul(g_, x, from[a++]);
    } else {
      y = uop::dim_mul(g_, y, to[b++]);
    }
  }
  if (x == y) return;
  a = from.size();
  b = to.size();
}

Shape Indexer::reshape(Shape from, Shape to, Shape index) {
  if (reshape_by_ones(from, to, index)) return uop::intern_shape(g_, room_);
  std::vector<Ref> result(from.size(), uop::dim(g_, 0));
  std::vector<size_t> places;  // of the sizes in `from`
  std::vector<Ref> sizes;
  for (const size_t i : wide_axes(from)) {
    places.push_back(i);
    sizes.push_back(from[i]);
  }
  std::vector<Ref> whole;
  std::vector<Ref> at;
  for (const size_t i : wide_axes(to)) {
    whole.push_back(to[i]);
    at.push_back(index[i]);
  }
  std::vector<Ref> out(sizes.size());
  size_t a = 0;
  size_t b = 0;
  while (a < sizes.size() && b < whole.size()) {
    const size_t a0 = a;
    const size_t b0 = b;
    next_group(sizes, whole, a, b);
    const auto group = [](auto& all, size_t begin, size_t end) {
      return std::span(all).subspan(begin, end - begin);
    };
    reshape_group(group(sizes, a0, a), group(whole, b0, b), group(at, b0, b), group(out, a0, a));
  }
  for (size_t i = 0; i < a; ++i) result[places[i]] = out[i];
  return uop::intern_shape(g_, result);
}

Access Indexer::pad(Ref movement, const Access& at, Ref* valid) {
  const Shape sizes = uop::shape(g_, movement->src[0]);
  std::vector<Ref> result;
  Ref inside = nullptr;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Ref low = movement->src[2 * i + 1];
    const Ref high = movement->src[2 * i + 2];
    const Ref u = at.index[i];
    result.push_back(plus(u, low, -1));
    const Bounds b = bounds(g_, u);
    const Ref zero = uop::dim(g_, 0);
    if (!is_dim(low, 0) && !(is_const(low) && b.lo >= as_int(low->value()))) {
      const Ref minus_one = uop::dim(g_, -1);
      inside = both(inside, less(minus_one, result.back()));
    }
    const Ref end = uop::dim_add(g_, low, sizes[i]);
    if (high != zero && !(is_const(end) && b.hi < as_int(end->value()))) {
      inside = both(inside, less(result.back(), sizes[i]));
    }
  }
  *valid = inside;
  return {uop::intern_shape(g_, result), both(at.gate, inside)};
}

Access Indexer::through(Ref movement, const Access& at, Ref* valid) {
  *valid = nullptr;
  const Shape from = uop::shape(g_, movement->src[0]);
  const Shape to = uop::shape(g_, movement);
  std::vector<Ref> result(from.size());
  switch (movement->op) {
    case Op::Pad: return pad(movement, at, valid);
    case Op::Reshape:
      if (same(from, to)) return at;
      return {reshape(from, to, at.index), at.gate};
    case Op::Expand: return broadcast(from, to, at);
    case Op::Permute:
      for (size_t i = 0; i < from.size(); ++i) {
        result[static_cast<size_t>(movement->arg.numbers()[i])] = at.index[i];
      }
      break;
    case Op::Flip:
      std::ranges::copy(at.index, result.begin());
      for (const int64_t axis : movement->arg.numbers()) {
        const auto i = static_cast<size_t>(axis);
        const Ref last = uop::dim_sub(g_, from[i], uop::dim(g_, 1));
        const Product products[] = {{at.index[i], uop::dim(g_, -1)}, {last, uop::dim(g_, 1)}};
        result[i] = sum(products, 0);
      }
      break;
    default:
      ASSAY_CHECK(movement->op == Op::Shrink);
      for (size_t i = 0; i < from.size(); ++i) {
        result[i] = plus(at.index[i], movement->src[2 * i + 1], 1);
      }
  }
  return {uop::intern_shape(g_, result), at.gate};
}

Access Indexer::broadcast(Shape operand, Shape whole, const Access& at) {
  if (same(operand, whole)) return at;
  const size_t added = whole.size() - operand.size();
  room_.assign(at.index.begin() + static_cast<std::ptrdiff_t>(added), at.index.end());
  for (size_t i = 0; i < operand.size(); ++i) {
    const Ref size = operand[i];
    if (is_dim(size, 1)) {
      room_[i] = uop::dim(g_, 0);
    } else if (size != whole[added + i] && bounds(g_, size).lo <= 1) {
      // A symbolic size is the whole's, or 1 and repeated.
      const Ref last = uop::dim_sub(g_, size, uop::dim(g_, 1));
      room_[i] = simplified(g_.alu(Op::Min, {room_[i], last}));
    }
  }
  return {uop::intern_shape(g_, room_), at.gate};
}

Ref Indexer::less(Ref a, Ref b) {
  const Bounds x = bounds(g_, a);
  const Bounds y = bounds(g_, b);
  if (x.hi < y.lo) return nullptr;
  return as_gate(simplified(g_.make(Op::Lt, DType::Bool, {a, b})));
}

Ref Indexer::both(Ref a, Ref b) {
  if (is_false(a)) return a;
  return is_false(b) ? b : uop::both(g_, a, b);
}

Ref Indexer::either(Ref a, Ref b) {
  if (a == nullptr || b == nullptr) return nullptr;
  if (a == b || is_false(b)) return a;
  if (is_false(a)) return b;
  const std::vector<Ref> x = uop::conjuncts(a);
  const std::vector<Ref> y = uop::conjuncts(b);
  const auto within = [](const std::vector<Ref>& part, const std::vector<Ref>& all) {
    return std::ranges::all_of(part, [&](Ref c) { return std::ranges::find(all, c) != all.end(); });
  };
  if (within(x, y)) return a;
  if (within(y, x)) return b;
  return g_.make(Op::Or, DType::Bool, {a, b});
}

}  // namespace assay::schedule
