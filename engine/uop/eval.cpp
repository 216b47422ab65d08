#include "engine/uop/eval.h"

#include <bit>
#include <cmath>

#include "engine/check.h"
#include "engine/uop/bounds.h"
#include "engine/uop/functions.h"
#include "engine/uop/walk.h"

namespace assay::uop {
namespace {

std::optional<Value> int_result(DType t, Int128 exact) {
  if (t == Index && !fits(Index, exact)) return std::nullopt;
  return of_int(t, exact);
}

std::optional<Value> int_div(Op op, DType t, Int128 a, Int128 b) {
  if (b == 0) return std::nullopt;
  switch (op) {
    case Op::Div: return int_result(t, floor_div(a, b));
    case Op::Mod: return int_result(t, a - floor_div(a, b) * b);
    case Op::TDiv: return int_result(t, a / b);
    default: return int_result(t, a % b);
  }
}

std::optional<Value> shift(Op op, DType t, Int128 a, Int128 by) {
  if (by < 0 || by >= bits_of(t)) return std::nullopt;
  const int n = static_cast<int>(by);
  if (op == Op::Shr) return int_result(t, a >> n);
  return int_result(t, a * (Int128{1} << n));  // at most 127 bits
}

// Powers of an `index` by multiplying until 64 bits are left: at most 63 times, since |a| > 1.
std::optional<Value> index_pow(Int128 a, Int128 n) {
  if (a == 0) return of_int(Index, n == 0 ? 1 : 0);
  if (a == 1 || a == -1) return of_int(Index, n % 2 != 0 ? a : 1);
  Int128 result = 1;
  for (Int128 i = 0; i < n; i++) {
    result *= a;
    if (!fits(Index, result)) return std::nullopt;
  }
  return of_int(Index, result);
}

// Integer power by squaring, modulo 2^64 for fixed widths. A negative exponent gives the quotient
// 1 / a^n cut towards zero, unspecified for a = 0.
std::optional<Value> int_pow(DType t, Int128 a, Int128 n) {
  if (n < 0) {
    if (a == 0) return std::nullopt;
    if (a == 1 || a == -1) return of_int(t, n % 2 != 0 ? a : 1);
    return of_int(t, 0);
  }
  if (t == Index) return index_pow(a, n);
  uint64_t result = 1;
  auto base = static_cast<uint64_t>(a);
  for (auto left = static_cast<uint64_t>(n); left != 0; left >>= 1) {
    if ((left & 1) != 0) result *= base;
    base *= base;
  }
  return of_int(t, Int128{result});
}

std::optional<Value> eval_int(Op op, DType t, std::span<const Value> src) {
  const Int128 a = as_int(src[0]);
  const Int128 b = src.size() > 1 ? as_int(src[1]) : 0;
  switch (op) {
    case Op::Neg: return int_result(t, -a);
    case Op::Not: return int_result(t, ~a);
    case Op::Add: return int_result(t, a + b);
    case Op::Sub: return int_result(t, a - b);
    case Op::Mul:
      // The product of two u64 leaves Int128; only its low bits are kept.
      if (t == U64) return Value{U64, src[0].bits * src[1].bits};
      return int_result(t, a * b);
    case Op::Div:
    case Op::Mod:
    case Op::TDiv:
    case Op::TMod: return int_div(op, t, a, b);
    case Op::Max: return of_int(t, a > b ? a : b);
    case Op::Min: return of_int(t, a < b ? a : b);
    case Op::And: return of_int(t, a & b);
    case Op::Or: return of_int(t, a | b);
    case Op::Xor: return of_int(t, a ^ b);
    case Op::Shl:
    case Op::Shr: return shift(op, t, a, b);
    case Op::Pow: return int_pow(t, a, b);
    case Op::Threefry: return Value{U64, threefry(src[0].bits, src[1].bits)};
    case Op::Fma:
      if (t == U64) return Value{U64, src[0].bits * src[1].bits + src[2].bits};
      return int_result(t, a * b + as_int(src[2]));
    default: ASSAY_CHECK(false, "{} has no meaning at {}", to_text(op), to_text(t));
  }
}

std::optional<Value> eval_bool(Op op, std::span<const Value> src) {
  const bool a = src[0].bits != 0;
  const bool b = src.size() > 1 && src[1].bits != 0;
  switch (op) {
    case Op::Not: return of_bool(!a);
    case Op::And:
    case Op::Min: return of_bool(a && b);
    case Op::Or:
    case Op::Max: return of_bool(a || b);
    case Op::Xor: return of_bool(a != b);
    default: ASSAY_CHECK(false, "{} has no meaning at bool", to_text(op));
  }
}

bool compare_values(Op op, Value a, Value b) {
  if (is_float(a.dtype)) {
    const double x = as_double(a);
    const double y = as_double(b);
    if (op == Op::Lt) return x < y;
    return op == Op::Eq ? x == y : x != y;
  }
  if (op == Op::Lt) return as_int(a) < as_int(b);
  return (a.bits == b.bits) == (op == Op::Eq);
}

}  // namespace

Value unit_of(Op op, DType t) {
  ASSAY_CHECK(info(op).unit != Unit::None, "{} has no unit", to_text(op));
  switch (info(op).unit) {
    case Unit::One: return one_of(t);
    case Unit::Lowest: return lowest(t);
    case Unit::Highest: return highest(t);
    case Unit::Ones: return t == Bool ? of_bool(true) : of_int(t, -1);
    default: return zero_of(t);
  }
}

std::optional<Value> eval(Op op, DType t, std::span<const Value> src) {
  switch (op) {
    case Op::Cast: return cast(src[0], t);
    case Op::Bitcast: return bitcast(src[0], t);
    case Op::Where: return src[0].bits != 0 ? src[1] : src[2];
    case Op::Lt:
    case Op::Eq:
    case Op::Ne: return of_bool(compare_values(op, src[0], src[1]));
    default: break;
  }
  if (t == Bool) return eval_bool(op, src);
  if (is_float(t)) return eval_float(op, t, src);
  return eval_int(op, t, src);
}

Evaluator::Evaluator(Graph& g, Ref root) {
  std::unordered_map<Ref, uint32_t> position;
  for (const Ref u : toposort(g, root)) {
    const bool leaf = u->op == Op::Variable || u->op == Op::Range || u->op == Op::Special;
    ASSAY_CHECK(leaf || is_const(u) || u->op == Op::Invalid || is_scalar(u->op),
                "{} is no part of a scalar term", to_text(u->op));
    position[u] = static_cast<uint32_t>(steps_.size());
    steps_.push_back({u, static_cast<uint32_t>(operands_.size()),
                      static_cast<uint32_t>(leaf ? leaves_.size() : 0)});
    if (leaf) leaves_.push_back(u);
    for (const Ref s : u->src) operands_.push_back(position.at(s));
  }
  cells_.resize(steps_.size());
}

Cell Evaluator::run(std::span<const Value> leaf_values) {
  ASSAY_CHECK(leaf_values.size() == leaves_.size(), "{} values for {} leaves", leaf_values.size(),
              leaves_.size());
  for (size_t i = 0; i < steps_.size(); i++) cells_[i] = step(steps_[i], leaf_values);
  return cells_.back();
}

Cell Evaluator::step(const Step& s, std::span<const Value> leaf_values) const {
  const Ref u = s.u;
  const auto operand = [&](size_t i) { return cells_[operands_[s.first + i]]; };
  switch (u->op) {
    case Op::Const: return Cell::of(u->value());
    case Op::Invalid: return {Cell::State::Invalid, {}};
    case Op::Variable:
    case Op::Range:
    case Op::Special: return Cell::of(leaf_values[s.leaf]);
    case Op::Where:
      if (!operand(0).defined()) return {operand(0).state, {}};
      return operand(operand(0).value.bits != 0 ? 1 : 2);
    default: break;
  }
  Value values[3];
  Cell::State worst = Cell::State::Defined;
  for (size_t i = 0; i < u->src.size(); i++) {
    const Cell c = operand(i);
    values[i] = c.value;
    if (static_cast<int>(c.state) > static_cast<int>(worst)) worst = c.state;
  }
  if (worst != Cell::State::Defined) return {worst, {}};
  const std::optional<Value> v = eval(u->op, u->dtype, std::span(values, u->src.size()));
  return v ? Cell::of(*v) : Cell{};
}

}  // namespace assay::uop
