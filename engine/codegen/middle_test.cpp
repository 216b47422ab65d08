// Random tiled kernels mean the same after each pass up to placed.
#include <gtest/gtest.h>

#include "engine/codegen/kernel_sample.h"
#include "engine/uop/sample.h"

namespace assay::codegen {
namespace {

using uop::AxisType;
using uop::DType;
using uop::Graph;
using uop::Op;
using uop::Random;
using uop::Ref;
using uop::Value;

struct FoldType {
  Op op;
  DType t;
};
constexpr FoldType kFolds[] = {
    {Op::Add, DType::I32},  {Op::Mul, DType::I32}, {Op::Max, DType::I32},  {Op::Min, DType::I32},
    {Op::And, DType::I32},  {Op::Or, DType::U8},   {Op::Xor, DType::U8},   {Op::Max, DType::U8},
    {Op::And, DType::Bool}, {Op::Or, DType::Bool}, {Op::Max, DType::Bool}, {Op::Add, DType::F32},
    {Op::Max, DType::F32},  {Op::Min, DType::F32}, {Op::Add, DType::F64},  {Op::Max, DType::E4M3},
};

class RandomKernel {
 public:
  RandomKernel(Graph& g, uint64_t seed) : g_(g), make_(g), random_(seed) {}

  Ref kernel() {
    const FoldType& type = kFolds[random_.below(std::size(kFolds))];
    fold_ = type.op;
    t_ = type.t;
    axes(stores_, 3,
         {AxisType::Global, AxisType::Local, AxisType::Warp, AxisType::Upcast, AxisType::Loop});
    axes(folded_, 3, {AxisType::Reduce, AxisType::Unroll, AxisType::GroupReduce});
    Ref value = shaped();
    if (random_.once_in(2)) value = joined(value, element(stores_));
    const int64_t size = constant_product(stores_);
    const Ref out = make_.param(0, t_, size);
    const Ref index = gated(make_.flat(stores_), stores_);
    params_[0] = contents(size);
    return make_.sink({make_.stored(make_.at(out, {index}), value, stores_)});
  }
  const Contents& params() const { return params_; }

 private:
  void axes(std::vector<Ref>& to, uint64_t most, std::initializer_list<AxisType> types) {
    for (uint64_t n = random_.below(most + 1); n > 0; --n) {
      const AxisType type = types.begin()[random_.below(types.size())];
      to.push_back(make_.range(type, 1 + static_cast<int64_t>(random_.below(3))));
      if (random_.once_in(4)) padded_.push_back(to.back());
    }
  }

  static int64_t constant_product(std::span<const Ref> ranges) {
    int64_t n = 1;
    for (const Ref r : ranges) n *= static_cast<int64_t>(as_int(r->src[0]->value()));
    return n;
  }

  std::vector<Value> contents(int64_t size) {
    std::vector<Value> values;
    for (int64_t i = 0; i < size; ++i) {
      values.push_back(uop::of_int(t_, static_cast<int64_t>(random_.below(7)) - 3));
    }
    return values;
  }

  // The condition that all padded ones of these ranges are inside; null where none is padded.
  Ref inside(std::span<const Ref> ranges) {
    Ref all = nullptr;
    for (const Ref r : ranges) {
      if (std::ranges::find(padded_, r) == padded_.end()) continue;
      const Ref c = make_.below(r, static_cast<int64_t>(as_int(r->src[0]->value())) - 1);
      all = all == nullptr ? c : g_.alu(Op::And, {all, c});
    }
    return all;
  }
  Ref gated(Ref x, std::span<const Ref> ranges) {
    const Ref c = inside(ranges);
    return c == nullptr ? x : make_.valid(c, x);
  }

  std::vector<Ref> some_of(std::span<const Ref> ranges) {
    std::vector<Ref> some;
    for (const Ref r : ranges) {
      if (!random_.once_in(4)) some.push_back(r);
    }
    return some;
  }

  // An element of a new input, by some of these ranges.
  Ref element(std::span<const Ref> ranges) {
    const std::vector<Ref> some = some_of(ranges);
    const auto slot = static_cast<int64_t>(params_.size()) + 1;
    const int64_t size = constant_product(some);
    params_[slot] = contents(size);
    const Ref index = gated(make_.flat(some), some);
    const Ref x = make_.at(make_.param(slot, t_, size), {index});
    const Ref c = inside(some);
    if (c == nullptr) return x;
    // What is read is INVALID where it is padded, or another value.
    if (random_.once_in(2)) return g_.make(Op::Where, t_, {c, x, g_.constant(uop::one_of(t_))});
    return make_.valid(c, x);
  }

  Ref joined(Ref a, Ref b) { return g_.alu(t_ == DType::Bool ? Op::Xor : Op::Max, {a, b}); }

  Ref fold(Ref x, std::span<const Ref> ranges) {
    return make_.fold(fold_, gated(x, ranges), ranges);
  }

  std::vector<Ref> all(std::span<const Ref> more) {
    std::vector<Ref> ranges = stores_;
    ranges.insert(ranges.end(), more.begin(), more.end());
    return ranges;
  }

  // One fold or two: side by side over the same ranges or others, one made of the other, or one
  // within the other.
  Ref shaped() {
    const Ref first = fold(element(all(folded_)), folded_);
    std::vector<Ref> others;
    axes(others, 2, {AxisType::Reduce, AxisType::Unroll, AxisType::GroupReduce});
    switch (random_.below(5)) {
      case 0: return first;
      case 1: return joined(first, fold(element(all(folded_)), folded_));
      case 2: return joined(first, fold(element(all(others)), others));
      case 3: return fold(joined(element(all(folded_)), first), folded_);
      default: {
        std::vector<Ref> both = all(folded_);
        both.insert(both.end(), others.begin(), others.end());
        const Ref inner = fold(element(both), folded_);
        return fold(joined(element(all(others)), inner), others);
      }
    }
  }

  Graph& g_;
  Maker make_;
  Random random_;
  Op fold_ = Op::Add;
  DType t_ = DType::I32;
  std::vector<Ref> stores_;
  std::vector<Ref> folded_;
  std::vector<Ref> padded_;
  Contents params_;
};

// Few items and groups along each axis, so that sizes are past the limits now and then.
uop::Target random_target(Random& random) {
  uop::Target target = Middle::target();
  constexpr int64_t kSizes[] = {2, 3, 8, 256};
  for (int64_t& size : target.limits.item_sizes) size = kSizes[random.below(4)];
  for (int64_t& size : target.limits.global_sizes) size = 8 * kSizes[random.below(4)];
  return target;
}

TEST(Middle, KeepsWhatAKernelStores) {
  constexpr int kKernels = 300;
  int placed = 0;
  for (uint64_t seed = 1; seed <= kKernels; ++seed) {
    Graph g;
    RandomKernel random(g, seed);
    const Ref kernel = random.kernel();
    Random choice(seed);
    const uop::Target target = random_target(choice);
    placed += expect_kept(g, kernel, random.params(), {}, target).ok() ? 1 : 0;
    if (testing::Test::HasFailure()) {
      FAIL() << "seed " << seed << "\n" << uop::to_text(g, kernel, "kernel");
    }
  }
  // The others have more work-items than there is room for.
  EXPECT_GE(placed, kKernels * 9 / 10);
}

}  // namespace
}  // namespace assay::codegen
