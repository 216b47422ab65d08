#include "engine/uop/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/uop/key.h"

namespace assay::uop {
namespace {

Shape known(Graph& g, Ref u) { return g.facts().shapes.at(u); }

bool same(Shape a, Shape b) { return a.data() == b.data() && a.size() == b.size(); }

// The size to which both broadcast, or nothing where they never do.
Ref broadcast_dim(Graph& g, Ref a, Ref b) {
  if (a == b || is_dim(b, 1)) return a;
  if (is_dim(a, 1)) return b;
  // Of two symbolic sizes that must be equal, a constant speaks for both, else the first in order:
  // a + b and b + a have one shape.
  if (is_const(b) || (!is_const(a) && comes_before(g, b, a))) std::swap(a, b);
  const bool a_may_be_one = may_be(bounds(g, a), 1);
  const bool b_may_be_one = may_be(bounds(g, b), 1);
  if (!a_may_be_one && !b_may_be_one) return may_equal(g, a, b) ? a : nullptr;
  if (!a_may_be_one) return a;
  if (!b_may_be_one) return b;
  const Ref one = dim(g, 1);
  const Ref a_is_one = g.alu(Op::Eq, {a, one});
  return g.make(Op::Where, Index, {a_is_one, b, a});
}

Shape scalar(Graph&, Ref) { return {}; }

Shape first_source(Graph& g, Ref u) { return known(g, u->src[0]); }

Shape storage(Graph& g, Ref u) {
  std::vector<Ref> sizes;
  for (const Ref s : u->src) {
    if (s->dtype == Index) sizes.push_back(s);
  }
  return intern_shape(g, sizes);
}

// Sources that never broadcast together leave the shape of those before them.
Shape broadcast_of(Graph& g, std::span<const Ref> sources) {
  Shape all;
  for (const Ref s : sources) {
    const Shape next = known(g, s);
    if (same(all, next) || next.empty()) continue;
    if (all.empty()) {
      all = next;
      continue;
    }
    const Result<Shape> joined = broadcast(g, all, next);
    if (joined.ok()) all = joined.value();
  }
  return all;
}

Shape elementwise(Graph& g, Ref u) { return broadcast_of(g, u->src); }

Shape bitcast_shape(Graph& g, Ref u) {
  const Shape from = known(g, u->src[0]);
  const int before = bits_of(u->src[0]->dtype);
  const int after = bits_of(u->dtype);
  if (from.empty() || before == after) return from;
  std::vector<Ref> sizes(from.begin(), from.end());
  const Ref ratio = dim(g, std::max(before, after) / std::min(before, after));
  sizes.back() = before > after ? dim_mul(g, sizes.back(), ratio) : dim_div(g, sizes.back(), ratio);
  return intern_shape(g, sizes);
}

Shape listed(Graph& g, Ref u) {
  std::vector<Ref> sizes;
  for (const Ref s : u->src.subspan(1)) sizes.push_back(as_dim(g, s));
  return intern_shape(g, sizes);
}

Shape permuted(Graph& g, Ref u) {
  const Shape from = known(g, u->src[0]);
  std::vector<Ref> sizes;
  for (const int64_t axis : u->arg.numbers()) {
    if (0 <= axis && axis < static_cast<int64_t>(from.size())) sizes.push_back(from[axis]);
  }
  return intern_shape(g, sizes);
}

Shape padded(Graph& g, Ref u) {
  const Shape from = known(g, u->src[0]);
  std::vector<Ref> sizes(from.begin(), from.end());
  for (size_t i = 0; i < sizes.size() && 2 * i + 2 < u->src.size(); i++) {
    const Ref lo = as_dim(g, u->src[2 * i + 1]);
    const Ref hi = as_dim(g, u->src[2 * i + 2]);
    const Ref after = dim_add(g, sizes[i], hi);
    sizes[i] = dim_add(g, after, lo);
  }
  return intern_shape(g, sizes);
}

Shape shrunk(Graph& g, Ref u) {
  std::vector<Ref> sizes;
  for (size_t i = 2; i < u->src.size(); i += 2) sizes.push_back(as_dim(g, u->src[i]));
  return intern_shape(g, sizes);
}

Shape prefixed(Graph& g, std::span<const Ref> outer, Shape inner) {
  std::vector<Ref> sizes(outer.begin(), outer.end());
  sizes.insert(sizes.end(), inner.begin(), inner.end());
  return intern_shape(g, sizes);
}

Shape stacked(Graph& g, Ref u) {
  const Ref outer[] = {dim(g, static_cast<int64_t>(u->src.size()))};
  return prefixed(g, outer, broadcast_of(g, u->src));
}

Shape reduced(Graph& g, Ref u) {
  const Shape from = known(g, u->src[0]);
  const auto rank = static_cast<int64_t>(from.size());
  const int64_t axes = std::clamp(u->arg.number(), int64_t{0}, rank);
  return axes == 0 ? from : intern_shape(g, from.subspan(axes));
}

Shape accumulator(Graph& g, Ref u) { return known(g, u->src[2]); }

Shape indexed(Graph& g, Ref u) {
  const Shape from = known(g, u->src[0]);
  const Shape left = from.subspan(std::min(from.size(), u->src.size() - 1));
  const Shape outer = broadcast_of(g, u->src.subspan(1));
  if (left.empty()) return outer;
  return prefixed(g, outer, left);
}

// A source that is no range stands for a range that became a term, or a constant where it had one
// iteration: all its values have room.
Ref staged_size(Graph& g, Ref s) {
  if (s->op == Op::Range) return as_dim(g, s->src[0]);
  const Ref last = as_dim(g, s);
  const Bounds b = bounds(g, last);
  if (fits(Index, b.hi + 1)) return g.constant(of_int(Index, b.hi + 1));
  const Ref one = dim(g, 1);
  return dim_add(g, last, one);
}

Shape staged(Graph& g, Ref u) {
  std::vector<Ref> outer;
  for (const Ref s : u->src.subspan(1)) outer.push_back(staged_size(g, s));
  return prefixed(g, outer, known(g, u->src[0]));
}

struct Row {
  OpSet ops;
  Shape (*shape)(Graph&, Ref);
};

constexpr OpSet elementwise_ops() {
  OpSet ops;
  for (int i = 0; i < kOpCount; i++) {
    if (is_scalar(Op(i)) && Op(i) != Op::Bitcast) ops.insert(Op(i));
  }
  return ops;
}

constexpr Row kRows[] = {
    {elementwise_ops(), elementwise},
    {{Op::Const, Op::Invalid, Op::Variable, Op::Range, Op::Special}, scalar},
    {{Op::Device, Op::Store, Op::Barrier, Op::If, Op::EndIf, Op::Group, Op::Noop}, scalar},
    {{Op::Linear, Op::Sink}, scalar},
    {{Op::Load, Op::Copy, Op::Contiguous, Op::AllReduce, Op::After, Op::End}, first_source},
    {{Op::Flip, Op::Bind, Op::Call, Op::Multi, Op::MSelect, Op::MStack}, first_source},
    {{Op::Buffer, Op::Param}, storage},
    {{Op::Bitcast}, bitcast_shape},
    {{Op::Reshape, Op::Expand}, listed},
    {{Op::Permute}, permuted},
    {{Op::Pad}, padded},
    {{Op::Shrink}, shrunk},
    {{Op::Stack}, stacked},
    {{Op::Reduce}, reduced},
    {{Op::Wmma}, accumulator},
    {{Op::Index}, indexed},
    {{Op::Stage}, staged},
};

constexpr OpSet covered() {
  OpSet ops;
  for (const Row& row : kRows) ops = ops | row.ops;
  return ops;
}
static_assert(covered() == OpSet::all(), "each operation has a shape");

Shape shape_of(Graph& g, Ref u) {
  if (u->dtype == Void) return {};
  const auto* row = std::ranges::find_if(kRows, [&](const Row& r) { return r.ops.has(u->op); });
  return row->shape(g, u);
}

// One size in prefix text, cut where it is long.
void append_dim(std::string& text, Ref dim) {
  constexpr int kMostWords = 24;
  std::vector<Ref> stack = {dim};  // nullptr closes a bracket
  for (int words = 0; !stack.empty(); words++) {
    const Ref u = stack.back();
    stack.pop_back();
    if (words == kMostWords) {
      text += " …";
      return;
    }
    if (u == nullptr) {
      text += ')';
      continue;
    }
    if (text.back() != '[' && text.back() != '(' && text.back() != ' ') text += ' ';
    if (is_const(u)) {
      text += to_text(u->value());
    } else if (u->op == Op::Variable) {
      text += u->arg.name();
    } else {
      text += fmt::format("({}", info(u->op).symbol);
      stack.push_back(nullptr);
      stack.insert(stack.end(), u->src.rbegin(), u->src.rend());
    }
  }
}

Ref moved(Graph& g, Op op, Ref x, std::span<const Ref> others) {
  std::vector<Ref> sources = {x};
  sources.insert(sources.end(), others.begin(), others.end());
  return g.make(op, x->dtype, sources);
}

}  // namespace

Shape shape(Graph& g, Ref u) {
  return derive(g.facts().shapes, u, [&](Ref v) { return shape_of(g, v); });
}

Shape intern_shape(Graph& g, Shape sizes) { return g.facts().lists.intern(g.arena(), sizes); }

Result<Shape> broadcast(Graph& g, Shape a, Shape b) {
  if (same(a, b)) return a;
  const size_t rank = std::max(a.size(), b.size());
  std::vector<Ref> sizes(rank);
  for (size_t i = 0; i < rank; i++) {
    const size_t from_right = rank - i;
    const bool in_a = from_right <= a.size();
    const bool in_b = from_right <= b.size();
    const Ref x = in_a ? a[a.size() - from_right] : nullptr;
    const Ref y = in_b ? b[b.size() - from_right] : nullptr;
    sizes[i] = in_a && in_b ? broadcast_dim(g, x, y) : in_a ? x : y;
    if (sizes[i] == nullptr) {
      return Error{fmt::format("shapes {} and {} do not broadcast", shape_text(a), shape_text(b))};
    }
  }
  return intern_shape(g, sizes);
}

Ref size_of(Graph& g, Shape shape) {
  for (const Ref size : shape) {
    if (is_dim(size, 0)) return size;
  }
  Ref product = dim(g, 1);
  for (const Ref size : shape) product = dim_mul(g, product, size);
  return product;
}

std::optional<int64_t> constant_size(Shape shape) {
  Int128 product = 1;
  bool empty = false;
  bool held = true;
  for (const Ref size : shape) {
    if (!is_const(size)) return std::nullopt;
    empty = empty || is_dim(size, 0);
    held = held && fits(Index, product *= as_int(size->value()));
    if (!held) product = 0;
  }
  if (empty) return 0;
  return held ? std::optional(static_cast<int64_t>(product)) : std::nullopt;
}

std::optional<Shape> max_shape(Graph& g, Shape shape) {
  std::vector<Ref> sizes;
  for (const Ref size : shape) {
    const Bounds b = bounds(g, size);
    if (!fits(Index, b.hi)) return std::nullopt;
    sizes.push_back(g.constant(of_int(Index, b.hi)));
  }
  return intern_shape(g, sizes);
}

std::string shape_text(Shape shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); i++) {
    if (i != 0) text += ", ";
    append_dim(text, shape[i]);
  }
  return text + "]";
}

Ref reshape(Graph& g, Ref x, Shape sizes) { return moved(g, Op::Reshape, x, sizes); }
Ref expand(Graph& g, Ref x, Shape sizes) { return moved(g, Op::Expand, x, sizes); }
Ref pad(Graph& g, Ref x, std::span<const Ref> amounts) { return moved(g, Op::Pad, x, amounts); }
Ref shrink(Graph& g, Ref x, std::span<const Ref> bounds) { return moved(g, Op::Shrink, x, bounds); }

Ref permute(Graph& g, Ref x, std::span<const int64_t> order) {
  return g.make(Op::Permute, x->dtype, {x}, g.numbers(order));
}

Ref flip(Graph& g, Ref x, std::span<const int64_t> axes) {
  return g.make(Op::Flip, x->dtype, {x}, g.numbers(axes));
}

}  // namespace assay::uop
