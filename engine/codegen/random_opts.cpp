#include "engine/codegen/random_opts.h"

#include <algorithm>

#include "engine/codegen/pipeline.h"
#include "engine/codegen/tiling.h"
#include "engine/uop/walk.h"

namespace assay::codegen {
namespace {

// Scalar functions that a kernel has at most once its lanes are written out.
constexpr int64_t kMostRandomOperations = 1 << 12;
constexpr int64_t kMostAmount = 64;
constexpr uint64_t kMostOpts = 8;

// How often a kind of opt is tried, of all in the table.
struct Weight {
  OptKind kind;
  uint64_t times;
};
constexpr Weight kWeights[] = {
    {OptKind::Local, 4}, {OptKind::Upcast, 4},   {OptKind::Unroll, 3}, {OptKind::Group, 3},
    {OptKind::PadTo, 2}, {OptKind::GroupTop, 2}, {OptKind::Swap, 1},
};

class Drawing {
 public:
  Drawing(uop::Random& random, Tiling tiling, int64_t operations)
      : random_(random), tiling_(std::move(tiling)), operations_(operations) {}

  std::vector<Opt> list() {
    if (random_.once_in(16)) {
      try_add({OptKind::NoLocals, 0, 0});
    } else if (tiling_.reduce_axes() > 0 && !random_.once_in(8)) {
      share();
    }
    for (uint64_t tries = random_.below(kMostOpts + 1); tries > 0; --tries) step();
    return tiling_.opts();
  }

 private:
  bool try_add(const Opt& opt) {
    Tiling next = tiling_;
    if (next.add(opt)) return false;
    if (next.lanes() > 1 && next.lanes() * operations_ > kMostRandomOperations) return false;
    tiling_ = std::move(next);
    return true;
  }

  // A fold over some axis shared, the axis padded first where nothing divides it.
  void share() {
    const auto axis =
        static_cast<int64_t>(random_.below(static_cast<uint64_t>(tiling_.reduce_axes())));
    const OptKind kind = random_.once_in(3) ? OptKind::GroupTop : OptKind::Group;
    if (try_add({kind, axis, amount(tiling_.reduce_axis(axis).left)})) return;
    const auto n = static_cast<int64_t>(2 + random_.below(7));
    try_add({OptKind::PadTo, tiling_.store_axes() + axis, n});
    try_add({kind, axis, n});
  }

  void step() {
    const OptKind kind = any_kind();
    const OptInfo& row = info(kind);
    const int all = tiling_.store_axes() + tiling_.reduce_axes();
    const int count = kind == OptKind::PadTo ? all
                      : row.of_reduces       ? tiling_.reduce_axes()
                                             : tiling_.store_axes();
    if (count == 0) return;
    const auto axis = static_cast<int64_t>(random_.below(static_cast<uint64_t>(count)));
    if (kind == OptKind::Swap) {
      const uint64_t other = random_.below(static_cast<uint64_t>(count));
      try_add({kind, axis, static_cast<int64_t>(other)});
    } else if (kind == OptKind::PadTo) {
      const uint64_t n =
          random_.once_in(2) ? 2 + random_.below(7) : uint64_t{2} << random_.below(5);
      try_add({kind, axis, static_cast<int64_t>(n)});
    } else {
      const Axis& a = row.of_reduces ? tiling_.reduce_axis(axis) : tiling_.store_axis(axis);
      try_add({kind, axis, amount(a.left)});
    }
  }

  OptKind any_kind() {
    uint64_t all = 0;
    for (const Weight& w : kWeights) all += w.times;
    uint64_t at = random_.below(all);
    for (const Weight& w : kWeights) {
      if (at < w.times) return w.kind;
      at -= w.times;
    }
    return OptKind::Swap;
  }

  // Something that divides what is left of an axis, or 0 for all of it.
  int64_t amount(int64_t left) {
    std::vector<int64_t> divisors;
    for (int64_t n = 2; n <= std::min(left, kMostAmount); ++n) {
      if (left % n == 0) divisors.push_back(n);
    }
    if (divisors.empty() || (left <= kMostAmount && random_.once_in(6))) return 0;
    // The lesser of two: small amounts leave room for more opts.
    const size_t i = static_cast<size_t>(random_.below(divisors.size()));
    const size_t j = static_cast<size_t>(random_.below(divisors.size()));
    return divisors[std::min(i, j)];
  }

  uop::Random& random_;
  Tiling tiling_;
  int64_t operations_;
};

}  // namespace

Result<std::vector<Opt>> random_opts(uop::Graph& g, const uop::Target& target, uop::Ref kernel,
                                     uop::Random& random) {
  ASSAY_TRY(tiling, Tiling::of(g, target, kernel));
  const auto operations = static_cast<int64_t>(uop::count_ops(g, kernel));
  return Drawing(random, tiling, std::max<int64_t>(operations, 1)).list();
}

Result<uop::Ref> with_random_opts(uop::Run& run, uop::Ref kernel, uop::Random& random) {
  ASSAY_TRY(simple, uop::run_passes(early_passes(), run, kernel));
  ASSAY_TRY(opts, random_opts(run.graph(), run.target(), simple, random));
  return with_opts(run.graph(), simple, opts);
}

}  // namespace assay::codegen
