#pragma once

#include <vector>

#include "engine/codegen/place.h"
#include "engine/uop/bounds.h"
#include "engine/uop/dim.h"
#include "engine/uop/sample.h"
#include "engine/uop/shape.h"

// Random kernels of the form `placed`, small enough to run: lanes along one to three axes, loops,
// work-items, gates, accumulators and LOCAL storage.
namespace assay::codegen {

class PlacedSample {
 public:
  PlacedSample(uop::Graph& g, uint64_t seed) : g_(g), random_(seed) {}

  // Each PARAM{k}, k > 0, has kInput elements of type i32; PARAM{0} has outputs().
  static constexpr int64_t kInput = 12;
  static constexpr int64_t kInputs = 3;
  int64_t outputs() const { return outputs_; }

  uop::Ref kernel() {
    const int64_t rank = random_.between(1, 3) == 1 ? 1 : random_.once_in(3) ? 3 : 2;
    for (int64_t i = 0; i < rank; ++i) sizes_.push_back(number(1, 4));
    for (size_t i = 0; i < sizes_.size(); ++i) terms_.push_back(lanes(i));
    if (random_.once_in(2)) loops_.push_back(range(number(1, 3), uop::AxisType::Loop));
    const uop::Ref item = random_.once_in(2) ? special(number(1, 3)) : nullptr;
    terms_.insert(terms_.end(), loops_.begin(), loops_.end());
    if (item != nullptr) terms_.push_back(item);
    nest_ = loops_;
    const uop::Ref place = output();
    const uop::Ref stored = value(3);
    std::vector<uop::Ref> end = {g_.make(uop::Op::Store, uop::Void, {place, stored})};
    end.insert(end.end(), loops_.begin(), loops_.end());
    const uop::Ref closed = loops_.empty() ? end[0] : g_.make(uop::Op::End, uop::Void, end);
    return g_.make(uop::Op::Sink, uop::Void, {closed}, g_.info("sample", {}));
  }

 private:
  int64_t number(int64_t lo, int64_t hi) { return static_cast<int64_t>(random_.between(lo, hi)); }
  uop::Ref index(int64_t n) { return uop::dim(g_, n); }
  uop::Ref i32(int64_t n) { return g_.constant(uop::I32, n); }

  uop::Ref range(int64_t count, uop::AxisType type) {
    return g_.make(uop::Op::Range, uop::Index, {index(count)}, uop::Arg::axis(ranges_++, type));
  }
  uop::Ref special(int64_t count) {
    return g_.make(uop::Op::Special, uop::Index, {index(count)}, g_.name("gidx0"));
  }

  // Axis i of the common shape.
  uop::Ref lanes(size_t i) {
    std::vector<uop::Ref> values;
    values.reserve(static_cast<size_t>(sizes_[i]));
    for (int64_t k = 0; k < sizes_[i]; ++k) values.push_back(index(k));
    const uop::Ref all = g_.make(uop::Op::Stack, uop::Index, values);
    if (i + 1 == sizes_.size()) return all;
    std::vector<uop::Ref> shape = {index(sizes_[i])};
    shape.resize(sizes_.size() - i, index(1));
    return uop::reshape(g_, all, shape);
  }

  uop::Ref scaled(uop::Ref u, int64_t n) { return g_.alu(uop::Op::Mul, {u, index(n)}); }

  // Every element once: the terms in any order of significance.
  uop::Ref output() {
    std::vector<uop::Ref> order = terms_;
    for (size_t i = order.size(); i-- > 1;) std::swap(order[i], order[random_.below(i + 1)]);
    uop::Ref flat = index(number(0, 2));
    int64_t stride = 1;
    for (const uop::Ref u : order) {
      const uop::Ref part = scaled(u, stride);
      flat = g_.alu(uop::Op::Add, {flat, part});
      stride *= static_cast<int64_t>(bounds(g_, u).hi) + 1;
    }
    outputs_ = static_cast<int64_t>(bounds(g_, flat).hi) + 1;
    const uop::Ref gate = random_.once_in(3) ? condition() : nullptr;
    const uop::Ref at = gated(g_, flat, gate);
    const uop::Ref p = g_.make(uop::Op::Param, uop::I32, {index(outputs_)}, uop::Arg::number(0));
    return g_.make(uop::Op::Index, uop::I32, {p, at});
  }

  // A sum of some of the terms, sometimes divided.
  uop::Ref affine() {
    uop::Ref sum = index(number(-3, 4));
    for (uop::Ref u : terms_) {
      if (random_.once_in(3)) continue;
      const uop::Ref d = index(number(2, 4));
      if (random_.once_in(8)) u = g_.alu(random_.once_in(2) ? uop::Op::Div : uop::Op::Mod, {u, d});
      const uop::Ref part = scaled(u, number(-1, 4));
      sum = g_.alu(uop::Op::Add, {sum, part});
    }
    const uop::Ref d = index(number(2, 6));
    if (random_.once_in(5)) return g_.alu(uop::Op::Mod, {sum, d});
    return random_.once_in(5) ? g_.alu(uop::Op::Div, {sum, d}) : sum;
  }

  uop::Ref condition() {
    const uop::Ref a = affine();
    const uop::Ref c = index(number(-2, 8));
    const uop::Op op = random_.once_in(4) ? uop::Op::Ne : uop::Op::Lt;
    const uop::Ref one = random_.once_in(2) ? g_.alu(op, {a, c}) : g_.alu(op, {c, a});
    if (!random_.once_in(3)) return one;
    const uop::Ref other = condition();
    return g_.alu(uop::Op::And, {one, other});
  }

  uop::Ref load() {
    const uop::Ref at = affine();
    const uop::Ref minus_one = index(-1);
    const uop::Ref end = index(kInput);
    const uop::Ref above = g_.alu(uop::Op::Lt, {minus_one, at});
    const uop::Ref below = g_.alu(uop::Op::Lt, {at, end});
    uop::Ref gate = g_.alu(uop::Op::And, {above, below});
    const uop::Bounds b = bounds(g_, at);
    if (b.lo >= 0 && b.hi < kInput && random_.once_in(2)) gate = condition();
    const bool is_free = b.lo >= 0 && b.hi < kInput && random_.once_in(2);
    const uop::Ref p =
        g_.make(uop::Op::Param, uop::I32, {index(kInput)}, uop::Arg::number(number(1, kInputs)));
    const uop::Ref place = gated(g_, at, is_free ? nullptr : gate);
    const uop::Ref read = g_.make(uop::Op::Index, uop::I32, {p, place});
    const uop::Ref other = i32(number(-2, 2));
    return is_free ? read : g_.alu(uop::Op::Where, {gate, read, other});
  }

  // A value in a loop within those that it stands in.
  uop::Ref value_within(uop::Ref r, int depth) {
    terms_.push_back(r);
    nest_.push_back(r);
    const uop::Ref x = value(depth);
    nest_.pop_back();
    terms_.pop_back();
    return x;
  }

  // Some element of what a load finds, and only where it has one.
  uop::Ref gathered() {
    const uop::Ref found = load();
    const uop::Ref at = g_.make(uop::Op::Cast, uop::Index, {found});
    const uop::Ref minus_one = index(-1);
    const uop::Ref end = index(kInput);
    const uop::Ref above = g_.alu(uop::Op::Lt, {minus_one, at});
    const uop::Ref below = g_.alu(uop::Op::Lt, {at, end});
    const uop::Ref gate = g_.alu(uop::Op::And, {above, below});
    const uop::Ref p = g_.make(uop::Op::Param, uop::I32, {end}, uop::Arg::number(1));
    const uop::Ref place = gated(g_, at, gate);
    const uop::Ref read = g_.make(uop::Op::Index, uop::I32, {p, place});
    const uop::Ref zero = i32(0);
    return g_.alu(uop::Op::Where, {gate, read, zero});
  }

  // The lanes of the last axis folded from the left; it comes back as a size of 1.
  uop::Ref horizontal(int depth) {
    const uop::Ref x = value(depth);
    const uop::Shape sizes = shape(g_, x);
    if (sizes.empty()) return x;
    std::vector<int64_t> order = {static_cast<int64_t>(sizes.size()) - 1};
    for (int64_t i = 0; i < order[0]; ++i) order.push_back(i);
    const uop::Ref front = uop::permute(g_, x, order);
    uop::Ref all = nullptr;
    for (int64_t i = 0; i < static_cast<int64_t>(as_int(sizes.back()->value())); ++i) {
      const uop::Ref one = g_.make(uop::Op::Index, uop::I32, {front, index(i)});
      all = all == nullptr ? one : g_.alu(uop::Op::Max, {all, one});
    }
    std::vector<uop::Ref> back(sizes.begin(), sizes.end());
    back.back() = index(1);
    const uop::Ref whole = uop::reshape(g_, all, back);
    return random_.once_in(2) ? whole : uop::expand(g_, whole, sizes);
  }

  // x folded over a loop of its own, as an accumulator of its shape.
  uop::Ref folded(int depth) {
    const uop::Ref r = range(number(1, 3), uop::AxisType::Reduce);
    const std::vector<uop::Ref> around = nest_;
    const uop::Ref x = value_within(r, depth);
    const uop::Shape sizes = shape(g_, x);
    const uop::Ref acc =
        g_.make(uop::Op::Buffer, uop::I32, sizes, uop::Arg::place(buffers_++, uop::AddrSpace::Reg));
    std::vector<uop::Ref> outer = {acc};
    outer.insert(outer.end(), around.begin(), around.end());
    const uop::Ref begin = outer.size() > 1 ? g_.make(uop::Op::After, uop::I32, outer) : acc;
    const uop::Ref unit = i32(0);
    const uop::Ref start = g_.make(uop::Op::Store, uop::Void, {begin, unit});
    const uop::Ref in = g_.make(uop::Op::After, uop::I32, {acc, start, r});
    const uop::Ref next = g_.alu(uop::Op::Add, {in, x});
    const uop::Ref step = g_.make(uop::Op::Store, uop::Void, {in, next});
    const uop::Ref end = g_.make(uop::Op::End, uop::Void, {step, r});
    return g_.make(uop::Op::After, uop::I32, {acc, end});
  }

  // x kept in LOCAL storage of an axis more than its shape, and read from there.
  uop::Ref staged(int depth) {
    const uop::Ref r = range(number(1, 3), uop::AxisType::Loop);
    const uop::Ref x = value_within(r, depth);
    std::vector<uop::Ref> sizes = {r->src[0]};
    const uop::Shape inner = shape(g_, x);
    sizes.insert(sizes.end(), inner.begin(), inner.end());
    const uop::Ref b = g_.make(uop::Op::Buffer, uop::I32, sizes,
                               uop::Arg::place(buffers_++, uop::AddrSpace::Local));
    const uop::Ref place = g_.make(uop::Op::Index, uop::I32, {b, r});
    const uop::Ref store = g_.make(uop::Op::Store, uop::Void, {place, x});
    std::vector<uop::Ref> closes = {g_.make(uop::Op::End, uop::Void, {store, r})};
    std::vector<uop::Ref> state = {b, closes[0]};
    const uop::Ref all = g_.make(uop::Op::After, uop::I32, state);
    const auto last = static_cast<int64_t>(as_int(r->src[0]->value())) - 1;
    const uop::Ref at = index(number(0, last));
    return g_.make(uop::Op::Index, uop::I32, {all, at});
  }

  uop::Ref value(int depth) {
    if (depth == 0 || random_.once_in(6)) return random_.once_in(5) ? i32(number(-3, 3)) : load();
    switch (random_.below(10)) {
      case 0: return folded(depth - 1);
      case 1: return staged(depth - 1);
      case 2: {
        const uop::Ref c = condition();
        const uop::Ref a = value(depth - 1);
        const uop::Ref b = value(depth - 1);
        return g_.alu(uop::Op::Where, {c, a, b});
      }
      case 3: {
        const uop::Ref at = affine();
        return g_.make(uop::Op::Cast, uop::I32, {at});
      }
      case 4: return gathered();
      case 5: return horizontal(depth - 1);
      default: {
        static constexpr uop::Op kOps[] = {uop::Op::Add, uop::Op::Mul, uop::Op::Max, uop::Op::Sub};
        const uop::Ref a = value(depth - 1);
        const uop::Ref b = value(depth - 1);
        return g_.alu(kOps[random_.below(4)], {a, b});
      }
    }
  }

  uop::Graph& g_;
  uop::Random random_;
  std::vector<int64_t> sizes_;
  std::vector<uop::Ref> terms_;  // what varies: lanes, loops, work-items
  std::vector<uop::Ref> loops_;  // that the store stands in
  std::vector<uop::Ref> nest_;   // that the value at hand stands in
  int32_t ranges_ = 0;
  int32_t buffers_ = 0;
  int64_t outputs_ = 0;
};

}  // namespace assay::codegen
