#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/codegen/expand.h"
#include "engine/codegen/gpu_dims.h"
#include "engine/codegen/kernel_run.h"
#include "engine/codegen/local_buffers.h"
#include "engine/codegen/reduce.h"
#include "engine/uop/dim.h"
#include "engine/uop/pass.h"
#include "engine/uop/target.h"
#include "engine/uop/text.h"

namespace assay::codegen {

// Makes tiled kernels by hand, for tests.
class Maker {
 public:
  using Ref = uop::Ref;
  using Op = uop::Op;

  explicit Maker(uop::Graph& g) : g_(g) {}

  Ref number(int64_t n) { return uop::dim(g_, n); }
  // The next range.
  Ref range(uop::AxisType type, Ref size) {
    return g_.make(Op::Range, uop::Index, {size}, uop::Arg::axis(next_++, type));
  }
  Ref range(uop::AxisType type, int64_t size) { return range(type, number(size)); }
  Ref param(int64_t slot, uop::DType t, int64_t size) {
    const Ref n = number(size);
    return g_.make(Op::Param, t, {n}, uop::Arg::number(slot));
  }
  Ref at(Ref state, std::initializer_list<Ref> indices) {
    std::vector<Ref> sources = {state};
    sources.insert(sources.end(), indices);
    return g_.make(Op::Index, state->dtype, sources);
  }
  Ref add(Ref a, Ref b) { return g_.alu(Op::Add, {a, b}); }
  Ref mul(Ref a, Ref b) { return g_.alu(Op::Mul, {a, b}); }
  Ref mul(Ref a, int64_t n) {
    const Ref b = number(n);
    return mul(a, b);
  }
  // a < n
  Ref below(Ref a, int64_t n) {
    const Ref b = number(n);
    return g_.alu(Op::Lt, {a, b});
  }
  Ref valid(Ref condition, Ref x) {
    const Ref nothing = g_.make(Op::Invalid, x->dtype, {});
    return g_.make(Op::Where, x->dtype, {condition, x, nothing});
  }
  // Row-major over ranges of constant sizes.
  Ref flat(std::span<const Ref> ranges) {
    Ref index = number(0);
    for (const Ref r : ranges) {
      const Ref outer = uop::dim_mul(g_, index, r->src[0]);
      index = uop::dim_add(g_, outer, r);
    }
    return index;
  }
  Ref flat(std::initializer_list<Ref> ranges) { return flat(std::span(ranges)); }
  Ref fold(Op op, Ref x, std::span<const Ref> ranges) {
    std::vector<Ref> sources = {x};
    sources.insert(sources.end(), ranges.begin(), ranges.end());
    return g_.make(Op::Reduce, x->dtype, sources, uop::Arg::fold(op, 0));
  }
  Ref fold(Op op, Ref x, std::initializer_list<Ref> ranges) {
    return fold(op, x, std::span(ranges));
  }
  // The END of a store over these ranges.
  Ref stored(Ref place, Ref value, std::span<const Ref> ranges) {
    std::vector<Ref> sources = {g_.make(Op::Store, uop::Void, {place, value})};
    sources.insert(sources.end(), ranges.begin(), ranges.end());
    return sources.size() == 1 ? sources[0] : g_.make(Op::End, uop::Void, sources);
  }
  Ref stored(Ref place, Ref value, std::initializer_list<Ref> ranges) {
    return stored(place, value, std::span(ranges));
  }
  Ref sink(std::initializer_list<Ref> effects) {
    return g_.make(Op::Sink, uop::Void, effects, g_.info("kernel", {}));
  }

 private:
  uop::Graph& g_;
  int32_t next_ = 0;
};

// The passes from tiled to placed, and what their specs said.
class Middle : public uop::Watch {
 public:
  using uop::Watch::seen;

  static std::span<const uop::Pass* const> passes() {
    static const uop::Pass* const all[] = {&expander(), &pm_reduce_local(), &pm_add_local_buffers(),
                                           &add_gpu_dims()};
    return all;
  }
  // What OpenCL devices mostly take.
  static uop::Target target() {
    uop::Target t = uop::generic_target();
    t.limits.group_size = 256;
    for (int64_t& size : t.limits.item_sizes) size = 256;
    return t;
  }

  Middle(uop::Graph& g, uop::Target target = Middle::target())
      : target_(std::move(target)), run_(g, {}, this, target_) {}

  // The kernel after the first `count` passes.
  Result<uop::Ref> lower(uop::Ref kernel, size_t count) {
    return run_passes(passes().first(count), run_, kernel);
  }
  uop::Ref operator()(uop::Ref kernel, size_t count) {
    const Result<uop::Ref> lowered = lower(kernel, count);
    EXPECT_TRUE(lowered.ok()) << lowered.error().message;
    return lowered.ok() ? lowered.value() : kernel;
  }
  void seen(const uop::PassSeen& seen) override {
    EXPECT_FALSE(seen.breach.has_value()) << seen.pass.name << ": " << *seen.breach;
  }

 private:
  uop::Target target_;
  uop::Run run_;
};

using Contents = std::map<int64_t, std::vector<uop::Value>>;

// Integers at type t: first, first + 1, ….
inline std::vector<uop::Value> counting(uop::DType t, int64_t count, int64_t first = 0) {
  std::vector<uop::Value> values;
  values.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) values.push_back(uop::of_int(t, first + i));
  return values;
}

// Each of the four passes leaves what a kernel stores as it is. An error of the last is given back.
inline Result<std::vector<uop::Value>> expect_kept(uop::Graph& g, uop::Ref kernel,
                                                   const Contents& params,
                                                   const KernelRun::Variables& variables,
                                                   const uop::Target& target) {
  Middle middle(g, target);
  const std::vector<uop::Value> before = KernelRun(g, params, variables).run(kernel);
  for (size_t n = 1; n <= Middle::passes().size(); ++n) {
    ASSAY_TRY(lowered, middle.lower(kernel, n));
    EXPECT_EQ(KernelRun(g, params, variables).run(lowered), before)
        << Middle::passes()[n - 1]->name << "\n"
        << uop::to_text(g, lowered, "kernel");
  }
  return before;
}

inline std::vector<uop::Value> expect_kept(uop::Graph& g, uop::Ref kernel, const Contents& params,
                                           const KernelRun::Variables& variables = {}) {
  const auto stored = expect_kept(g, kernel, params, variables, Middle::target());
  EXPECT_TRUE(stored.ok()) << stored.error().message;
  return stored.ok() ? stored.value() : std::vector<uop::Value>();
}

}  // namespace assay::codegen
