#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/tensor/build.h"
#include "engine/uop/dim.h"

namespace assay::tensor {

// An operation of the graph, where Op is one of the programs.
using Fn = uop::Op;

// A size of an axis with its graph. What is constant is folded.
struct Dim {
  Graph* g = nullptr;
  Ref u = nullptr;

  bool is(int64_t n) const { return uop::is_dim(u, n); }
  Dim of(int64_t n) const { return {g, uop::dim(*g, n)}; }
};
inline Dim operator+(Dim a, Dim b) { return {a.g, uop::dim_add(*a.g, a.u, b.u)}; }
inline Dim operator-(Dim a, Dim b) { return {a.g, uop::dim_sub(*a.g, a.u, b.u)}; }
inline Dim operator*(Dim a, Dim b) { return {a.g, uop::dim_mul(*a.g, a.u, b.u)}; }
inline Dim operator/(Dim a, Dim b) { return {a.g, uop::dim_div(*a.g, a.u, b.u)}; }  // down
inline Dim operator+(Dim a, int64_t b) { return a + a.of(b); }
inline Dim operator-(Dim a, int64_t b) { return a - a.of(b); }
inline Dim operator*(Dim a, int64_t b) { return a * a.of(b); }
inline Dim operator/(Dim a, int64_t b) { return a / a.of(b); }
Dim operator%(Dim a, Dim b);
Dim least(Dim a, Dim b);
Dim largest(Dim a, Dim b);
// Whether a <= b, and a > b, for all values of the variables.
bool is_at_most(Dim a, Dim b);
bool is_beyond(Dim a, Dim b);
bool may_be_equal(Dim a, Dim b);
// A step along an axis of n: all that are past its end are one.
int64_t capped_step(int64_t step, Dim n);
// Whether an axis of a may be repeated to b.
bool may_broadcast(Dim a, Dim b);
std::string text_of(Dim d);  // for messages

// A node with its graph: what ops are put into words with. Operands have one type; their shapes
// broadcast.
struct Term {
  Graph* g = nullptr;
  Ref u = nullptr;

  DType dtype() const { return u->dtype; }
  Shape shape() const { return uop::shape(*g, u); }
  int64_t rank() const { return static_cast<int64_t>(shape().size()); }
  Dim size(int64_t axis) const { return {g, shape()[static_cast<size_t>(axis)]}; }
  Dim dim(int64_t n) const { return {g, uop::dim(*g, n)}; }
};
inline Term operand(const Building& b, size_t i) { return {&b.g, b.operands[i]}; }
inline bool has_operand(const Building& b, size_t i) { return b.operands[i] != nullptr; }

// Scalar functions

inline Term call(Fn f, Term x) { return {x.g, x.g->alu(f, {x.u})}; }
inline Term call(Fn f, Term x, Term y) { return {x.g, x.g->alu(f, {x.u, y.u})}; }
inline Term operator+(Term x, Term y) { return call(Fn::Add, x, y); }
inline Term operator-(Term x, Term y) { return call(Fn::Sub, x, y); }
inline Term operator*(Term x, Term y) { return call(Fn::Mul, x, y); }
inline Term operator/(Term x, Term y) { return call(Fn::FDiv, x, y); }  // of floats
inline Term operator-(Term x) { return call(Fn::Neg, x); }
inline Term maximum(Term x, Term y) { return call(Fn::Max, x, y); }
inline Term minimum(Term x, Term y) { return call(Fn::Min, x, y); }
inline Term lt(Term x, Term y) { return call(Fn::Lt, x, y); }
inline Term eq(Term x, Term y) { return call(Fn::Eq, x, y); }
inline Term ne(Term x, Term y) { return call(Fn::Ne, x, y); }
inline Term both(Term x, Term y) { return call(Fn::And, x, y); }
inline Term either(Term x, Term y) { return call(Fn::Or, x, y); }
inline Term negation(Term x) { return call(Fn::Not, x); }
Term le(Term x, Term y);  // false with a NaN
inline Term is_nan(Term x) { return ne(x, x); }
Term where(Term c, Term x, Term y);
Term cast(Term x, DType t);     // x itself where that is its type
Term bitcast(Term x, DType t);  // likewise

// Constants of x's type, scalars: a number rounded to it, and a value of it.
Term number(Term x, double n);
Term value(Term x, uop::Value v);
inline Term operator+(Term x, double n) { return x + number(x, n); }
inline Term operator-(Term x, double n) { return x - number(x, n); }
inline Term operator*(Term x, double n) { return x * number(x, n); }
inline Term operator/(Term x, double n) { return x / number(x, n); }

// x, which all who read it see with the same bits: a float that is computed is stored, since each
// reader's kernel may compute it anew and round it otherwise (contraction, orders of sums). What is
// stored anyway, or moved, stays as it is.
Term computed_once(Term x);

// Floats as their bits, integers and bool as they are, and back: what is added up without rounding
// and keeps NaNs and the sign of zeros.
Term to_bits(Term x);
Term from_bits(Term bits, DType t);

// Movement. What changes nothing makes no node.

using Dims = std::vector<Ref>;
using Axes = std::vector<int64_t>;

inline Dims dims_of(Term x) { return {x.shape().begin(), x.shape().end()}; }
Term reshape(Term x, const Dims& dims);
Term expand(Term x, const Dims& dims);
Term permute(Term x, const Axes& order);
Term flip(Term x, const Axes& axes);
// Axis `from` stands at `to`, the others in their order.
Term move_axis(Term x, int64_t from, int64_t to);
// A new axis of size 1 before `axis`; and such an axis taken away.
Term insert_axis(Term x, int64_t axis);
Term drop_axis(Term x, int64_t axis);
// One axis in the place of the `count` axes from `axis`.
Term join_axes(Term x, int64_t axis, int64_t count);
// The axes of these sizes in the place of `axis`.
Term split_axis(Term x, int64_t axis, const Dims& dims);
// `size` elements of an axis from `begin`.
Term shrink(Term x, int64_t axis, Dim begin, Dim size);
// An axis longer by zeros, or by `fill`.
Term pad(Term x, int64_t axis, Dim low, Dim high);
Term pad(Term x, int64_t axis, Dim low, Dim high, uop::Value fill);
// An axis shorter where an amount is negative.
Term pad_or_cut(Term x, int64_t axis, Dim low, Dim high);
// Axis as [count, step] of its first count * step elements, some of which may lie past its end.
Term group_axis(Term x, int64_t axis, Dim count, Dim step);
// The whole `times` times along an axis.
Term repeat(Term x, int64_t axis, Dim times);

// The diagonal of the last two axes, which have one size, as a last axis.
Term diagonal(Term x);

// Windows of an axis: each begins `stride` after the one before, and takes `size` elements that lie
// `dilation` apart.
struct Window {
  int64_t size = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t extent() const { return dilation * (size - 1) + 1; }
};
// The windows stand in the axis's place, their elements are a new last axis. The first window fits.
Term windows(Term x, int64_t axis, const Window& window);

// One after the other along an axis; all agree in the other axes.
Term concatenate(std::vector<Term> parts, int64_t axis);

// Tensors and folds

Term full(Term like, uop::Value v, const Dims& dims);  // in the graph of `like`
// 0, 1, … n - 1 along `axis` of a value of this rank, other axes of size 1.
Term positions(Dim n, int64_t axis, int64_t rank, DType t);
// Folded over axes by an operation with a unit, at x's type; `keep` leaves axes of size 1.
Term reduce(Fn f, Term x, const Axes& axes, bool keep = false);
// The elements of x where mask is true, of which there is one along the leading axis, which goes:
// zero if there is none.
Term pick(Term mask, Term x);

}  // namespace assay::tensor
