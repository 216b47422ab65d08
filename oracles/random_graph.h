#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "engine/uop/dim.h"
#include "engine/uop/shape.h"
#include "engine/uop/uop.h"

namespace assay::schedule {

// Small tensor graphs for tests: elementwise functions with broadcasts, movement, reduces, stacks,
// casts between widths, and writes through views whose older versions are still read.
class RandomGraph {
 public:
  RandomGraph(uop::Graph& g, uint64_t seed) : g_(g), random_(seed) {}

  // SINK(state…): some values in buffers of their own, and the last version of each buffer that was
  // written to.
  uop::Ref make() {
    for (int i = 0; i < 3; ++i) {
      states_.push_back(
          buffer(random_shape(), below(4) == 0 ? kTypes[below(kTypes.size())] : uop::I32));
      inputs_.push_back(states_.back());
    }
    for (const uop::Ref s : states_) values_.push_back(s);
    values_.push_back(iota());
    const size_t steps = 4 + below(16);
    for (size_t i = 0; i < steps; ++i) step();
    std::vector<uop::Ref> outputs;
    const size_t count = 1 + below(3);
    for (size_t i = 0; i < count; ++i) outputs.push_back(stored(recent()));
    for (size_t i = 0; i < states_.size(); ++i) {
      if (states_[i]->op == uop::Op::After) outputs.push_back(states_[i]);
    }
    return g_.make(uop::Op::Sink, uop::DType::Void, outputs, g_.info("", {}));
  }
  const std::vector<uop::Ref>& inputs() const { return inputs_; }
  size_t below(size_t n) { return static_cast<size_t>(random_() % n); }

 private:
  using Ref = uop::Ref;
  using Op = uop::Op;
  using DType = uop::DType;
  using Sizes = std::vector<int64_t>;

  static constexpr std::array<DType, 5> kTypes = {DType::I32, DType::F32, DType::U8, DType::I16,
                                                  DType::U32};

  Sizes sizes(Ref u) {
    Sizes all;
    for (const Ref size : uop::shape(g_, u)) all.push_back(static_cast<int64_t>(size->arg.bits));
    return all;
  }
  uop::Shape shape(const Sizes& all) {
    std::vector<Ref> refs;
    for (const int64_t n : all) refs.push_back(uop::dim(g_, n));
    return uop::intern_shape(g_, refs);
  }
  static int64_t count(const Sizes& all) {
    int64_t n = 1;
    for (const int64_t size : all) n *= size;
    return n;
  }

  Sizes random_shape() {
    Sizes all(below(4));
    for (int64_t& n : all) n = 1 + static_cast<int64_t>(below(below(3) == 0 ? 6 : 4));
    return all;
  }
  Ref device() { return g_.make(Op::Device, DType::Void, {}, g_.name("sim:0")); }
  Ref buffer(const Sizes& all, DType t) {
    const uop::Shape s = shape(all);
    std::vector<Ref> src(s.begin(), s.end());
    src.push_back(device());
    return g_.make(Op::Buffer, t, src, uop::Arg::place(next_++, uop::AddrSpace::Global));
  }
  Ref stored(Ref value) {
    const Ref b = buffer(sizes(value), value->dtype);
    return written(b, b, value);
  }
  Ref written(Ref state, Ref view, Ref value) {
    const Ref store = g_.make(Op::Store, DType::Void, {view, value});
    return g_.make(Op::After, state->dtype, {state, store});
  }
  Ref constant(DType t) { return g_.constant(t, static_cast<int64_t>(below(5))); }
  Ref iota() {
    const Ref size = uop::dim(g_, 1 + static_cast<int64_t>(below(5)));
    const Ref r = g_.make(Op::Range, DType::Index, {size}, uop::Arg::axis(0, uop::AxisType::Weak));
    const Ref term = g_.make(Op::Cast, DType::I32, {r});
    return g_.make(Op::Stage, DType::I32, {term, r}, uop::Arg::place(0, uop::AddrSpace::Global));
  }

  Ref any() { return values_[below(values_.size())]; }
  Ref recent() {
    const size_t last = std::min<size_t>(values_.size(), 4);
    return below(3) == 0 ? any() : values_[values_.size() - 1 - below(last)];
  }
  void keep(Ref u) {
    if (count(sizes(u)) <= 96) values_.push_back(u);
  }

  void step() {
    switch (below(12)) {
      case 0:
      case 1: return keep(unary(recent()));
      case 2:
      case 3: return keep(binary(recent()));
      case 4:
      case 5:
      case 6: return keep(moved(recent(), true));
      case 7: return keep(reduced(recent()));
      case 8: return keep(stacked(recent()));
      case 9: return keep(converted(recent()));
      case 10: return keep(contiguous(recent()));
      default: return write();
    }
  }

  Ref unary(Ref x) {
    const Ref c = constant(x->dtype);
    switch (below(4)) {
      case 0: return g_.alu(Op::Add, {x, c});
      case 1: return g_.alu(Op::Sub, {c, x});
      case 2: return g_.alu(Op::Max, {x, c});
      default: {
        const Ref small = g_.alu(Op::Lt, {x, c});
        return g_.alu(Op::Where, {small, x, c});
      }
    }
  }

  Ref contiguous(Ref x) { return g_.make(Op::Contiguous, x->dtype, {x}); }
  Ref cast(Ref x, DType t) { return x->dtype == t ? x : g_.make(Op::Cast, t, {x}); }

  // A value that broadcasts with one of these sizes: another one of the pool, made to fit.
  Ref fitting(const Sizes& to, DType t) {
    for (int tries = 0; tries < 6; ++tries) {
      const Ref y = any();
      if (t == DType::F32 ? y->dtype == t : y->dtype != DType::F32) {
        const Sizes from = sizes(y);
        if (from.size() > to.size()) continue;
        bool fits = true;
        for (size_t i = 0; i < from.size(); ++i) {
          fits = fits && (from[i] == 1 || from[i] == to[to.size() - from.size() + i]);
        }
        if (fits) return cast(y, t);
      }
    }
    return constant(t);
  }

  Ref binary(Ref x) {
    const Ref y = fitting(sizes(x), x->dtype);
    static constexpr std::array<Op, 4> kOps = {Op::Add, Op::Sub, Op::Mul, Op::Max};
    return g_.alu(kOps[below(kOps.size())], {x, y});
  }

  Ref reduced(Ref x) {
    const auto rank = sizes(x).size();
    if (rank == 0) return unary(x);
    const Ref p = permuted(x);
    const auto axes = static_cast<int32_t>(1 + below(rank));
    const bool exact = x->dtype != DType::F32;
    const Op op = exact && below(3) != 0 ? (below(3) == 0 ? Op::Mul : Op::Add) : Op::Max;
    const Ref r = g_.make(Op::Reduce, x->dtype, {p}, uop::Arg::fold(op, axes));
    if (below(2) == 0) return r;
    // With the axes kept, and then often under a broadcast.
    Sizes kept(static_cast<size_t>(axes), 1);
    const Sizes rest = sizes(r);
    kept.insert(kept.end(), rest.begin(), rest.end());
    const Ref k = uop::reshape(g_, r, shape(kept));
    return below(2) == 0 ? k : g_.alu(Op::Sub, {p, k});
  }

  Ref stacked(Ref x) {
    std::vector<Ref> sources = {x};
    const size_t more = below(3);
    for (size_t i = 0; i < more; ++i) sources.push_back(below(2) == 0 ? unary(x) : reshaped_to(x));
    return g_.make(Op::Stack, x->dtype, sources);
  }
  // Another value of the same shape: x upside down.
  Ref reshaped_to(Ref x) {
    std::vector<int64_t> axes;
    for (size_t i = 0; i < sizes(x).size(); ++i) axes.push_back(static_cast<int64_t>(i));
    return uop::flip(g_, x, axes);
  }

  Ref converted(Ref x) {
    const DType t = kTypes[below(kTypes.size())];
    if (below(2) == 0 && x->dtype != DType::F32) return cast(x, t);
    return bitcast(x, t);
  }
  Ref bitcast(Ref x, DType t) {
    if (t == x->dtype) return x;
    const Sizes from = sizes(x);
    const int a = uop::bits_of(x->dtype);
    const int b = uop::bits_of(t);
    if (a != b && (from.empty() || from.back() * a % b != 0)) return x;
    return g_.make(Op::Bitcast, t, {x});
  }

  Ref permuted(Ref x) {
    std::vector<int64_t> order(sizes(x).size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[below(i)]);
    return uop::permute(g_, x, order);
  }
  Ref reshaped(Ref x) {
    int64_t left = count(sizes(x));
    Sizes to;
    while (left > 1) {
      Sizes divisors;
      for (int64_t d = 2; d <= left; ++d) {
        if (left % d == 0) divisors.push_back(d);
      }
      to.push_back(divisors[below(divisors.size())]);
      left /= to.back();
    }
    if (below(3) == 0) to.insert(to.begin() + static_cast<std::ptrdiff_t>(below(to.size() + 1)), 1);
    return uop::reshape(g_, x, shape(to));
  }
  Ref flipped(Ref x) {
    std::vector<int64_t> axes;
    for (size_t i = 0; i < sizes(x).size(); ++i) {
      if (below(2) == 0) axes.push_back(static_cast<int64_t>(i));
    }
    return uop::flip(g_, x, axes);
  }
  Ref padded(Ref x) {
    std::vector<Ref> amounts;
    for (size_t i = 0; i < 2 * sizes(x).size(); ++i) {
      amounts.push_back(uop::dim(g_, static_cast<int64_t>(below(3))));
    }
    return uop::pad(g_, x, amounts);
  }
  Ref shrunk(Ref x) {
    std::vector<Ref> amounts;
    for (const int64_t n : sizes(x)) {
      const auto begin = static_cast<int64_t>(below(static_cast<size_t>(n)));
      amounts.push_back(uop::dim(g_, begin));
      amounts.push_back(
          uop::dim(g_, 1 + static_cast<int64_t>(below(static_cast<size_t>(n - begin)))));
    }
    return uop::shrink(g_, x, amounts);
  }
  // Every second element of the first axis: pad, reshape, shrink, reshape.
  Ref strided(Ref x) {
    const Sizes from = sizes(x);
    if (from.empty()) return x;
    const int64_t half = (from[0] + 1) / 2;
    std::vector<Ref> amounts(2 * from.size(), uop::dim(g_, 0));
    amounts[1] = uop::dim(g_, 2 * half - from[0]);
    const Ref even = uop::pad(g_, x, amounts);
    Sizes split = {half, 2};
    split.insert(split.end(), from.begin() + 1, from.end());
    const Ref pairs = uop::reshape(g_, even, shape(split));
    std::vector<Ref> first;
    for (size_t i = 0; i < split.size(); ++i) {
      first.push_back(uop::dim(g_, 0));
      first.push_back(uop::dim(g_, i == 1 ? 1 : split[i]));
    }
    const Ref one = uop::shrink(g_, pairs, first);
    Sizes to = {half};
    to.insert(to.end(), from.begin() + 1, from.end());
    return uop::reshape(g_, one, shape(to));
  }
  Ref expanded(Ref x) {
    Sizes to = sizes(x);
    for (int64_t& n : to) {
      if (n == 1 && below(2) == 0) n = 2 + static_cast<int64_t>(below(2));
    }
    if (below(2) == 0) to.insert(to.begin(), 2);
    return uop::expand(g_, x, shape(to));
  }

  Ref moved(Ref x, bool value) {
    switch (below(value ? 7 : 5)) {
      case 0: return permuted(x);
      case 1: return reshaped(x);
      case 2: return flipped(x);
      case 3: return shrunk(x);
      case 4: return strided(x);
      case 5: return padded(x);
      default: return expanded(x);
    }
  }

  void write() {
    const size_t which = below(states_.size());
    const Ref state = states_[which];
    Ref view = state;
    const size_t moves = below(4);
    for (size_t i = 0; i < moves; ++i) {
      view = below(4) == 0 ? bitcast(view, kTypes[below(kTypes.size())]) : moved(view, false);
    }
    const Sizes to = sizes(view);
    Ref value = below(3) == 0 ? own_value(view) : fitting(to, view->dtype);
    if (sizes(value) != to) value = uop::expand(g_, value, shape(to));
    states_[which] = written(state, view, value);
    values_.push_back(states_[which]);
  }
  // Something of the view itself, or of it moved.
  Ref own_value(Ref view) {
    const Ref other = below(2) == 0 ? view : reshaped_to(view);
    return below(2) == 0 ? unary(other)
                         : g_.alu(Op::Add, {other, fitting(sizes(view), view->dtype)});
  }

  uop::Graph& g_;
  std::mt19937_64 random_;
  std::vector<Ref> values_;
  std::vector<Ref> states_;
  std::vector<Ref> inputs_;
  int32_t next_ = 0;
};

}  // namespace assay::schedule
