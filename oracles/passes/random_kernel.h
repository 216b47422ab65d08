#pragma once

#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/uop/dim.h"
#include "engine/uop/sample.h"
#include "engine/uop/target.h"
#include "engine/uop/uop.h"
#include "oracles/interpreter/interpreter.h"

// Random kernels of the form that the schedule leaves (engine/schedule/README.md), for tests.
namespace assay::oracles {

// Element-wise terms, gates as pads make them, views through flips, transposes, strides and
// reshapes, folds side by side, over one range, and within one another, sizes that are primes, 1 or
// variables. On small_inputs every number is a small integer that its type holds exactly, so
// results do not depend on an order; but with `functions` floats go through functions, and then no
// decision depends on them.
class RandomKernel {
 public:
  RandomKernel(uop::Graph& g, uint64_t seed, bool functions = false)
      : g_(g), random_(seed), functions_(functions) {}

  uop::Ref make() {
    do {
      type_ = kTypes[below(kTypes.size())];
    } while (functions_ && !uop::is_float(type_));
    const size_t rank = below(4);
    for (size_t i = 0; i < rank; ++i) open_range(uop::AxisType::Weak);
    const std::vector<Axis> axes = scope_;
    const auto [at, size] = store_index();
    const Ref out = param(type_, size);
    Ref value = number(4).term;
    if (value->dtype != type_) value = g_.make(Op::Cast, type_, {value});
    if (once_in(6)) value = added_to(out, at, value);
    const Ref to = g_.make(Op::Index, type_, {out, at});
    Ref effect = g_.make(Op::Store, DType::Void, {to, value});
    if (!axes.empty()) {
      std::vector<Ref> src = {effect};
      for (const Axis& a : axes) src.push_back(a.range);
      effect = g_.make(Op::End, DType::Void, src);
    }
    return g_.make(Op::Sink, DType::Void, {effect}, g_.info("random", {}));
  }
  const interpreter::Variables& variables() const { return variables_; }
  // What no number that the kernel comes by is larger than.
  int64_t most() const { return most_; }

 private:
  using Ref = uop::Ref;
  using Op = uop::Op;
  using DType = uop::DType;

  // A loop, and how often it runs: `most` where that is a variable.
  struct Axis {
    Ref range;
    Ref size;
    int64_t most;
  };
  // A term, what its magnitude is at most, and whether it is an integer.
  struct Number {
    Ref term;
    int64_t most;
    bool exact = true;
  };

  static constexpr std::array<DType, 9> kTypes = {DType::F32, DType::I32,  DType::F32,
                                                  DType::I32, DType::I16,  DType::I64,
                                                  DType::F16, DType::BF16, DType::F64};
  static constexpr std::array<int64_t, 12> kSizes = {1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 16, 32};
  static constexpr int64_t kMostElements = 1024;
  static constexpr int64_t kMostIterations = 1 << 14;

  size_t below(size_t n) { return static_cast<size_t>(random_.below(n)); }
  bool once_in(uint64_t n) { return random_.once_in(n); }
  Ref size(int64_t n) { return uop::dim(g_, n); }
  Ref param(DType t, Ref size) {
    return g_.make(Op::Param, t, {size}, uop::Arg::number(next_param_++));
  }

  // What integers a type holds exactly, and all arithmetic of small ones stays within.
  static int64_t limit_of(DType t) {
    switch (t) {
      case DType::F16: return 2048;
      case DType::BF16: return 256;
      case DType::I16: return 32767;
      default: return int64_t{1} << 24;
    }
  }

  int64_t iterations() const {
    int64_t n = 1;
    for (const Axis& a : scope_) n *= a.most;
    return n;
  }
  void open_range(uop::AxisType type) {
    const int64_t limit = type == uop::AxisType::Reduce ? kMostIterations : kMostElements;
    int64_t n = kSizes[below(kSizes.size())];
    while (n > 1 && iterations() * n > limit) n /= 2;
    Ref s = size(n);
    if (n > 1 && once_in(8)) {
      const std::string name = "n" + std::to_string(next_range_);
      s = g_.variable(name, uop::of_int(DType::Index, 1), uop::of_int(DType::Index, n));
      variables_[name] = 1 + static_cast<int64_t>(below(static_cast<size_t>(n)));
    }
    const auto arg = uop::Arg::axis(next_range_++, type);
    scope_.push_back({g_.make(Op::Range, DType::Index, {s}, arg), s, n});
  }

  // Row-major over these axes, and how many elements that is.
  std::pair<Ref, Ref> row_major(std::span<const Axis> axes) {
    Ref at = size(0);
    Ref all = size(1);
    for (const Axis& a : axes) {
      const Ref rows = uop::dim_mul(g_, at, a.size);
      at = uop::dim_add(g_, rows, a.range);
      all = uop::dim_mul(g_, all, a.size);
    }
    return {at, all};
  }
  void shuffle(std::vector<Axis>& axes) {
    for (size_t i = axes.size(); i > 1; --i) std::swap(axes[i - 1], axes[below(i)]);
  }
  // Counted from the end, now and then.
  Ref flipped(const Axis& a) {
    if (!once_in(6)) return a.range;
    const Ref one = size(1);
    const Ref last = uop::dim_sub(g_, a.size, one);
    return uop::dim_sub(g_, last, a.range);
  }
  Ref gated(Ref gate, Ref index) {
    const Ref none = g_.make(Op::Invalid, DType::Index, {});
    return g_.alu(Op::Where, {gate, index, none});
  }

  // Where the kernel stores: each iteration another element, now and then through a gate or into
  // the middle of a larger buffer.
  std::pair<Ref, Ref> store_index() {
    std::vector<Axis> axes = scope_;
    shuffle(axes);
    for (Axis& a : axes) a.range = flipped(a);
    auto [at, all] = row_major(axes);
    if (once_in(5)) {
      const Ref some = size(1 + static_cast<int64_t>(below(9)));
      at = uop::dim_add(g_, at, some);
      all = uop::dim_add(g_, all, some);
    }
    if (!scope_.empty() && once_in(5)) {
      const Axis& a = scope_[below(scope_.size())];
      const Ref end = size(1 + static_cast<int64_t>(below(static_cast<size_t>(a.most))));
      at = gated(g_.alu(Op::Lt, {a.range, end}), at);
    }
    return {at, all};
  }

  // out[i] + value: in place.
  Ref added_to(Ref out, Ref at, Ref value) {
    const Ref index = at->op == Op::Where ? at->src[1] : at;
    const Ref old = g_.make(Op::Index, type_, {out, index});
    return g_.alu(Op::Add, {old, value});
  }

  // An element of a new buffer, at some of the axes in scope.
  Number read() {
    const DType t = once_in(5) ? DType::I32 : type_;
    std::vector<Axis> axes;
    for (const Axis& a : scope_) {
      if (!once_in(4)) axes.push_back(a);
    }
    shuffle(axes);
    for (Axis& a : axes) a.range = flipped(a);
    auto [at, all] = row_major(axes);
    if (axes.size() > 1 && once_in(5)) at = reshaped(at);
    if (once_in(6)) {
      // Every second element.
      const Ref two = size(2);
      at = uop::dim_mul(g_, at, two);
      all = uop::dim_mul(g_, all, two);
    }
    Number x = {nullptr, 4};
    if (once_in(4)) {
      x.term = padded(t, at, all);
    } else {
      const Ref p = param(t, all);
      x.term = g_.make(Op::Index, t, {p, at});
    }
    return cast({x.term, x.most}, type_);
  }
  // The same element through a row of another length.
  Ref reshaped(Ref at) {
    const Ref width = size(2 + static_cast<int64_t>(below(4)));
    const Ref row = g_.alu(Op::Div, {at, width});
    const Ref column = g_.alu(Op::Mod, {at, width});
    const Ref begin = g_.alu(Op::Mul, {row, width});
    return g_.alu(Op::Add, {begin, column});
  }
  // An element of a buffer that begins later and ends earlier, or a constant.
  Ref padded(DType t, Ref at, Ref all) {
    const Ref low = size(static_cast<int64_t>(below(3)));
    const Ref begin = uop::dim_sub(g_, at, low);
    const Ref zero = size(0);
    const Ref one = size(1);
    const Ref less = uop::dim_sub(g_, all, one);
    const Ref smaller = g_.alu(Op::Max, {less, one});
    const Ref before = g_.alu(Op::Lt, {begin, zero});
    const Ref yes = g_.constant(uop::of_bool(true));
    const Ref from = g_.alu(Op::Xor, {before, yes});
    const Ref to = g_.alu(Op::Lt, {begin, smaller});
    const Ref inside = g_.alu(Op::And, {from, to});
    const Ref p = param(t, smaller);
    const Ref x = g_.make(Op::Index, t, {p, gated(inside, begin)});
    const Ref other = g_.constant(t, once_in(3) ? 3 : 0);
    return g_.alu(Op::Where, {inside, x, other});
  }

  Number cast(Number x, DType t) {
    if (x.term->dtype == t) return x;
    return {g_.make(Op::Cast, t, {x.term}), x.most};
  }
  Ref constant(double x) { return g_.constant(uop::of_double(type_, x)); }
  Number leaf() {
    if (!scope_.empty() && once_in(6)) {
      const Axis& a = scope_[below(scope_.size())];
      return cast({a.range, a.most}, type_);
    }
    if (once_in(8)) {
      const int64_t n = static_cast<int64_t>(below(7)) - 3;
      return {g_.constant(type_, n), 3};
    }
    return read();
  }

  Number number(int depth) {
    const Number x = depth == 0 ? leaf() : inner(depth);
    most_ = std::max(most_, x.most);
    return x;
  }
  Number inner(int depth) {
    if (functions_ && once_in(3)) return function(depth);
    switch (below(9)) {
      case 0:
      case 1: return leaf();
      case 2:
      case 3: return reduced(depth);
      case 4: return selected(depth);
      default: return binary(depth);
    }
  }
  Number binary(int depth) {
    const Number a = number(depth - 1);
    const Number b = once_in(4) ? a : number(depth - 1);
    const bool exact = a.exact && b.exact;
    static constexpr Op kOps[] = {Op::Mul, Op::Add, Op::Sub, Op::Max, Op::Min};
    const Op op = kOps[below(std::size(kOps))];
    int64_t most = std::max(a.most, b.most);
    if (op == Op::Mul) most = a.most * b.most;
    if (op == Op::Add || op == Op::Sub) most = a.most + b.most;
    if (most > limit_of(type_)) return {g_.alu(Op::Max, {a.term, b.term}), a.most, exact};
    return {g_.alu(op, {a.term, b.term}), most, exact};
  }
  Number selected(int depth) {
    const Number a = number(depth - 1);
    const Number b = number(depth - 1);
    const Number c = leaf();
    const Number d = leaf();
    const Ref less = g_.alu(Op::Lt, {c.term, d.term});
    const Ref term = g_.alu(Op::Where, {less, a.term, b.term});
    return {term, std::max(a.most, b.most), a.exact && b.exact};
  }
  // A function of what is made to lie where the function is tame.
  Number function(int depth) {
    const Number x = number(depth - 1);
    const Ref least = constant(-3);
    const Ref largest = constant(3);
    const Ref above = g_.alu(Op::Max, {x.term, least});
    const Ref tame = g_.alu(Op::Min, {above, largest});
    const Ref one = constant(1);
    const Ref square = g_.alu(Op::Mul, {tame, tame});
    const Ref positive = g_.alu(Op::Add, {square, one});
    static constexpr Op kOfAny[] = {Op::Exp, Op::Exp2, Op::Sin, Op::Cos};
    static constexpr Op kOfPositive[] = {Op::Sqrt, Op::Log, Op::Log2, Op::Recip};
    const bool any = once_in(2);
    const size_t which = below(4);
    const Op op = any ? kOfAny[which] : kOfPositive[which];
    return {g_.alu(op, {any ? tame : positive}), 21, false};
  }

  // A fold over one or two ranges; now and then one more over the same ranges beside it.
  Number reduced(int depth) {
    const size_t outer = scope_.size();
    const int64_t before = iterations();
    open_range(uop::AxisType::Reduce);
    if (once_in(3)) open_range(uop::AxisType::Reduce);
    const int64_t times = iterations() / before;
    const std::vector<Axis> own(scope_.begin() + static_cast<std::ptrdiff_t>(outer), scope_.end());
    const Number x = folded(number(depth - 1), own, times);
    Number result = x;
    if (once_in(4)) {
      const Number y = folded(number(depth - 1), own, times);
      const Op op = once_in(2) ? Op::Max : Op::Min;
      const Ref term = g_.alu(op, {x.term, y.term});
      result = {term, std::max(x.most, y.most), x.exact && y.exact};
    }
    scope_.resize(outer);
    return result;
  }
  Number folded(Number x, std::span<const Axis> axes, int64_t times) {
    const bool sums = x.most * times <= limit_of(type_) && !once_in(3);
    const Op op = sums ? Op::Add : (once_in(2) ? Op::Max : Op::Min);
    std::vector<Ref> src = {x.term};
    for (const Axis& a : axes) src.push_back(a.range);
    const Ref term = g_.make(Op::Reduce, type_, src, uop::Arg::fold(op, 0));
    return {term, sums ? x.most * times : x.most, x.exact};
  }

  uop::Graph& g_;
  uop::Random random_;
  const bool functions_;
  DType type_ = DType::F32;
  std::vector<Axis> scope_;
  interpreter::Variables variables_;
  int32_t next_range_ = 0;
  int64_t next_param_ = 0;
  int64_t most_ = 0;
};

// A target for random kernels, with work-items, local storage and doubles.
inline uop::Target random_target() {
  uop::Target t = uop::generic_target();
  t.name = "random";
  t.limits.group_size = 256;
  for (int64_t& n : t.limits.item_sizes) n = 256;
  for (int64_t& n : t.limits.global_sizes) n = int64_t{1} << 31;
  t.limits.local_bytes = 32768;
  t.limits.buffers = 64;
  t.memory = uop::MemoryContract{};
  t.arithmetic = t.arithmetic | uop::TypeSet{uop::F64};
  for (uop::UlpLimit& limit : t.math.limits) {
    if (limit.over.has(uop::F32)) limit.over = limit.over | uop::TypeSet{uop::F64};
  }
  return t;
}

}  // namespace assay::oracles
