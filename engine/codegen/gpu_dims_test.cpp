#include "engine/codegen/gpu_dims.h"

#include <gtest/gtest.h>

#include "engine/codegen/kernel_sample.h"
#include "engine/codegen/launch_axes.h"
#include "engine/uop/gate.h"

namespace assay::codegen {
namespace {

using uop::AxisType;
using uop::DType;
using uop::Op;
using uop::Ref;

constexpr AxisNames kNames = {"work-groups", {"gidx0", "gidx1", "gidx2"}};

class Axes : public testing::Test {
 protected:
  // Launches loops of these sizes, outermost first, and expects each iteration at one position.
  std::array<int64_t, 3> expect_each_once(std::vector<int64_t> sizes,
                                          std::array<int64_t, 3> limits) {
    std::vector<Ref> dims;
    int64_t count = 1;
    for (const int64_t n : sizes) {
      dims.push_back(uop::dim(g_, n));
      count *= n;
    }
    const Result<LaunchAxes> axes = launch_axes(g_, kNames, dims, limits);
    if (!axes.ok()) {
      ADD_FAILURE() << axes.error().message;
      return {};
    }
    Ref flat = uop::dim(g_, 0);
    for (size_t i = 0; i < dims.size(); ++i) {
      const Ref outer = uop::dim_mul(g_, flat, dims[i]);
      flat = uop::dim_add(g_, outer, axes.value().terms[i]);
    }
    const Ref inside = axes.value().inside;
    const std::array<int64_t, 3> launch = positions(flat, inside, count);
    for (size_t a = 0; a < 3; ++a) {
      EXPECT_LE(launch[a], limits[a]);
      EXPECT_LE(launch[a], int64_t(axes.value().sizes[a]));
    }
    return launch;
  }

  // Where `inside` holds, `flat` takes each value below count once; elsewhere one of them.
  std::array<int64_t, 3> positions(Ref flat, Ref inside, int64_t count) {
    const Ref gate = inside == nullptr ? g_.constant(uop::of_bool(true)) : inside;
    const Ref value = g_.make(Op::Sink, DType::Void, {flat, gate});
    const Launch launch = launch_sizes(g_, value).value();
    uop::Evaluator at(g_, flat);
    uop::Evaluator holds(g_, gate);
    std::vector<int> seen(static_cast<size_t>(count));
    const auto& n = launch.groups;
    for (int64_t i = 0; i < n[0] * n[1] * n[2]; ++i) {
      const int64_t position[] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
      const auto of = [&](uop::Evaluator& e) {
        std::vector<uop::Value> leaves;
        for (const Ref s : e.leaves()) {
          leaves.push_back(uop::of_int(uop::Index, position[s->arg.name()[4] - '0']));
        }
        return static_cast<int64_t>(as_int(e.run(leaves).value));
      };
      const int64_t iteration = of(at);
      if (iteration < 0 || iteration >= count) {
        ADD_FAILURE() << "position " << i << " is at " << iteration;
        return n;
      }
      if (of(holds) != 0) ++seen[static_cast<size_t>(iteration)];
    }
    EXPECT_TRUE(std::ranges::all_of(seen, [](int times) { return times == 1; }));
    return n;
  }

  uop::Graph g_;
};

using Three = std::array<int64_t, 3>;
constexpr Three kWide = {1 << 20, 1 << 20, 1 << 20};

TEST_F(Axes, AreTheLoopsWithTheLastOnAxisZero) {
  EXPECT_EQ(expect_each_once({3, 4, 5}, kWide), (Three{5, 4, 3}));
  EXPECT_EQ(expect_each_once({7}, kWide), (Three{7, 1, 1}));
  EXPECT_EQ(expect_each_once({}, kWide), (Three{1, 1, 1}));
}

TEST_F(Axes, LeaveOutLoopsOfOne) {
  EXPECT_EQ(expect_each_once({1, 6, 1, 1, 5, 1, 4, 1}, kWide), (Three{4, 5, 6}));
}

TEST_F(Axes, GroupNeighboursWhereThereAreMoreThanThree) {
  EXPECT_EQ(expect_each_once({6, 2, 3, 7}, kWide), (Three{7, 6, 6}));
  EXPECT_EQ(expect_each_once({2, 3, 2, 3, 2, 3, 2}, kWide), (Three{12, 6, 6}));
}

// B085: factors move between axes, so indices are made anew from the position among all.
TEST_F(Axes, AreRebuiltWhereASizeIsPastItsLimit) {
  EXPECT_EQ(expect_each_once({2, 65536}, {65535, 65535, 65535}), (Three{32768, 4, 1}));
  EXPECT_EQ(expect_each_once({128, 128}, {16, 16, 256}), (Three{16, 16, 64}));
  EXPECT_EQ(expect_each_once({65536}, {256, 256, 1}), (Three{256, 256, 1}));
}

TEST_F(Axes, AreGroupedAndSplitAtOnce) {
  EXPECT_EQ(expect_each_once({4, 9, 2, 5, 8}, {10, 12, 64}), (Three{8, 10, 36}));
  expect_each_once({3, 3, 3, 3, 3}, {4, 9, 9});
}

TEST_F(Axes, HavePositionsToSpareWhereFactorsDoNotFit) {
  EXPECT_EQ(expect_each_once({65537}, {65535, 65535, 65535}), (Three{65535, 2, 1}));
  EXPECT_EQ(expect_each_once({13, 17}, {4, 5, 100}), (Three{4, 5, 12}));
}

TEST_F(Axes, SayWhatDoesNotFit) {
  const Ref sizes[] = {uop::dim(g_, 65537), uop::dim(g_, 2)};
  EXPECT_EQ(launch_axes(g_, kNames, sizes, {16, 16, 16}).error().message,
            "131074 work-groups do not fit axes of 16, 16 and 16");
}

class GpuDims : public testing::Test {
 protected:
  std::string text(Ref kernel) { return uop::to_text(g_, Middle(g_)(kernel, 4), "kernel"); }
  Launch launch(Ref kernel) { return launch_sizes(g_, Middle(g_)(kernel, 4)).value(); }
  // The indices of the stores to GLOBAL or LOCAL storage, in order.
  std::vector<Ref> gates(Ref kernel) {
    std::vector<Ref> found;
    for (const Ref u : toposort(g_, Middle(g_)(kernel, 4))) {
      if (u->op != Op::Store || u->src[0]->op != Op::Index) continue;
      const Ref index = u->src[0]->src[1];
      const bool is_gated = index->op == Op::Where;
      found.push_back(is_gated ? index->src[0] : nullptr);
    }
    return found;
  }

  uop::Graph g_;
  Maker make_{g_};
};

TEST_F(GpuDims, PlaceGroupsAndItems) {
  const Ref i = make_.range(AxisType::Global, 4);
  const Ref j = make_.range(AxisType::Global, 5);
  const Ref k = make_.range(AxisType::Local, 3);
  const Ref l = make_.range(AxisType::Warp, 2);
  const Ref at = make_.flat({i, j, k, l});
  const Ref x = make_.at(make_.param(1, DType::F32, 120), {at});
  const Ref out = make_.at(make_.param(0, DType::F32, 120), {at});
  const Ref kernel = make_.sink({make_.stored(out, x, {i, j, k, l})});
  EXPECT_EQ(text(kernel), R"(uop 1 kernel
%0 = const index 120
%1 = param f32 %0 {0}
%2 = const index 2
%3 = special index %2 {"lidx0"}
%4 = const index 3
%5 = special index %4 {"lidx1"}
%6 = const index 5
%7 = special index %6 {"gidx0"}
%8 = const index 4
%9 = special index %8 {"gidx1"}
%10 = mul index %9 %6
%11 = add index %7 %10
%12 = mul index %11 %4
%13 = add index %5 %12
%14 = mul index %13 %2
%15 = add index %3 %14
%16 = index f32 %1 %15
%17 = param f32 %0 {1}
%18 = index f32 %17 %15
%19 = store void %16 %18
%20 = sink void %19 {"kernel"}
)");
  EXPECT_EQ(launch(kernel), (Launch{{5, 4, 1}, {2, 3, 1}}));
  expect_kept(g_, kernel, {{0, counting(DType::F32, 120)}, {1, counting(DType::F32, 120, 7)}});
}

TEST_F(GpuDims, LeaveLoopsAlone) {
  const Ref i = make_.range(AxisType::Loop, 4);
  const Ref at = make_.at(make_.param(0, DType::F32, 4), {i});
  const Ref kernel = make_.sink({make_.stored(at, g_.constant(DType::F32, 1), {i})});
  EXPECT_EQ(Middle(g_)(kernel, 4), kernel);
  EXPECT_EQ(launch(kernel), (Launch{{1, 1, 1}, {1, 1, 1}}));
}

// B137: every axis that a store does not name guards it.
TEST_F(GpuDims, GateWhatSeveralItemsWouldStore) {
  const Ref a = make_.range(AxisType::GroupReduce, 4);
  const Ref b = make_.range(AxisType::GroupReduce, 4);
  const Ref r = make_.range(AxisType::Reduce, 16);
  const Ref x = make_.at(make_.param(1, DType::F32, 256), {make_.flat({a, b, r})});
  const Ref out = make_.at(make_.param(0, DType::F32, 1), {make_.number(0)});
  const Ref kernel = make_.sink({make_.stored(out, make_.fold(Op::Add, x, {a, b, r}), {})});
  const std::vector<Ref> found = gates(kernel);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0], nullptr);
  ASSERT_NE(found[1], nullptr);
  const Ref zero = make_.number(0);
  const Ref lidx1 = g_.make(Op::Special, uop::Index, {make_.number(4)}, g_.name("lidx1"));
  const Ref lidx0 = g_.make(Op::Special, uop::Index, {make_.number(4)}, g_.name("lidx0"));
  const Ref first = g_.alu(Op::Eq, {lidx1, zero});
  const Ref second = g_.alu(Op::Eq, {lidx0, zero});
  EXPECT_EQ(found[1], g_.alu(Op::And, {first, second}));
  EXPECT_EQ(launch(kernel), (Launch{{1, 1, 1}, {4, 4, 1}}));
  const auto stored =
      expect_kept(g_, kernel, {{0, counting(DType::F32, 1)}, {1, counting(DType::F32, 256)}});
  EXPECT_EQ(stored[0], uop::of_int(DType::F32, 255 * 128));
}

// A stage that does not depend on a work-item axis of the kernel is stored by the first items only;
// so is a second output that has no such axis, and by the first group where it names no group.
TEST_F(GpuDims, GateStoresThatLackAnAxis) {
  const Ref i = make_.range(AxisType::Global, 2);
  const Ref l = make_.range(AxisType::Local, 3);
  const Ref s = make_.range(AxisType::GroupReduce, 4);
  const Ref x = make_.at(make_.param(1, DType::I32, 8), {make_.flat({i, s})});
  const Ref sum = make_.fold(Op::Add, x, {s});
  const Ref out = make_.at(make_.param(0, DType::I32, 6), {make_.flat({i, l})});
  const Ref other = make_.at(make_.param(2, DType::I32, 1), {make_.number(0)});
  const Ref nine = g_.constant(DType::I32, 9);
  const Ref kernel = make_.sink({make_.stored(out, sum, {i, l}), make_.stored(other, nine, {})});
  const std::vector<Ref> found = gates(kernel);
  ASSERT_EQ(found.size(), 3U);
  const auto axes = [&](Ref gate) {
    std::string names;
    for (const Ref u : toposort(g_, gate)) {
      if (u->op == Op::Special) names += std::string(u->arg.name()) + " ";
    }
    return names;
  };
  EXPECT_EQ(axes(found[0]), "lidx1 ");
  EXPECT_EQ(axes(found[1]), "lidx0 ");
  EXPECT_EQ(axes(found[2]), "gidx0 lidx1 lidx0 ");
  expect_kept(
      g_, kernel,
      {{0, counting(DType::I32, 6)}, {1, counting(DType::I32, 8)}, {2, counting(DType::I32, 1)}});
}

// B138: what is read after a shared fold does not depend on the item that shares it.
TEST_F(GpuDims, ReadTheSameAfterASharedFold) {
  const Ref i = make_.range(AxisType::Global, 3);
  const Ref s = make_.range(AxisType::GroupReduce, 4);
  const Ref r = make_.range(AxisType::Reduce, 8);
  const Ref at = make_.flat({s, r});
  const Ref inside = make_.below(at, 26);
  const Ref index = make_.add(make_.mul(i, 26), at);
  const Ref x = make_.at(make_.param(1, DType::I32, 78), {make_.valid(inside, index)});
  const Ref y = make_.at(make_.param(2, DType::I32, 3), {i});
  const Ref product = make_.mul(make_.add(x, y), x);
  const Ref sum = make_.fold(Op::Add, make_.valid(inside, product), {r, s});
  const Ref out = make_.at(make_.param(0, DType::I32, 3), {i});
  const Ref kernel = make_.sink({make_.stored(out, make_.mul(sum, y), {i})});
  expect_kept(g_, kernel,
              {{0, counting(DType::I32, 3)},
               {1, counting(DType::I32, 78, 1)},
               {2, counting(DType::I32, 3, 5)}});
}

// Of the items that share a fold one stores: the others do not read there either.
TEST_F(GpuDims, GateReadsOfWhatIsStoredTo) {
  const Ref i = make_.range(AxisType::Global, 3);
  const Ref s = make_.range(AxisType::GroupReduce, 4);
  const Ref x = make_.at(make_.param(1, DType::I32, 12), {make_.flat({i, s})});
  const Ref y = make_.at(make_.param(2, DType::I32, 3), {i});
  const Ref out = make_.at(make_.param(0, DType::I32, 3), {i});
  const Ref sum = make_.add(make_.mul(out, y), make_.fold(Op::Add, x, {s}));
  const Ref kernel = make_.sink({make_.stored(out, sum, {i})});
  expect_kept(g_, kernel,
              {{0, counting(DType::I32, 3, 7)},
               {1, counting(DType::I32, 12)},
               {2, counting(DType::I32, 3, 5)}});
  for (const Ref u : toposort(g_, Middle(g_)(kernel, 4))) {
    if (u->op != Op::Index || u->src[0]->op != Op::Param) continue;
    EXPECT_EQ(uop::is_gated(u->src[1]), u->src[0]->arg.number() == 0);
  }
}

// Stores to one buffer are each gated by the axes that they do not run along, and what one of them
// reads there by its own.
TEST_F(GpuDims, GateStoresToOneBufferEachOnItsOwn) {
  const Ref i = make_.range(AxisType::Global, 8);
  const Ref j = make_.range(AxisType::Global, 4);
  const Ref out = make_.param(0, DType::I32, 12);
  const Ref later = g_.alu(Op::Add, {j, make_.number(8)});
  const Ref first = make_.at(out, {i});
  const Ref second = make_.at(out, {later});
  const Ref x = make_.at(make_.param(1, DType::I32, 8), {i});
  const Ref y = make_.at(make_.param(1, DType::I32, 8), {j});
  const Ref sum = make_.add(first, x);
  const Ref product = make_.mul(second, y);
  const Ref one = make_.stored(first, sum, {i});
  const Ref other = make_.stored(second, product, {j});
  expect_kept(g_, make_.sink({one, other}),
              {{0, counting(DType::I32, 12, 3)}, {1, counting(DType::I32, 8, 5)}});
}

TEST_F(GpuDims, TakeSizesFromVariables) {
  const Ref n = g_.variable("n", uop::of_int(uop::Index, 1), uop::of_int(uop::Index, 10));
  const Ref i = make_.range(AxisType::Global, n);
  const Ref j = make_.range(AxisType::Global, 3);
  const Ref k = make_.range(AxisType::Global, n);
  const Ref l = make_.range(AxisType::Global, 2);
  const Ref at = make_.flat({i, j, k, l});
  const Ref x = make_.at(make_.param(1, DType::I32, 600), {at});
  const Ref out = make_.at(make_.param(0, DType::I32, 600), {at});
  const Ref kernel = make_.sink({make_.stored(out, x, {i, j, k, l})});
  const Contents params = {{0, counting(DType::I32, 600)}, {1, counting(DType::I32, 600, 9)}};
  for (const int64_t size : {1, 2, 7, 10}) {
    expect_kept(g_, kernel, params, {{"n", size}});
    const std::pair<std::string, int64_t> values[] = {{"n", size}};
    const Launch sizes = launch_sizes(g_, Middle(g_)(kernel, 4), values).value();
    EXPECT_EQ(sizes.groups[0] * sizes.groups[1] * sizes.groups[2], 6 * size * size);
  }
}

// A symbolic size has no factors: positions to spare store nothing and read nothing else.
TEST_F(GpuDims, SplitASizeOfVariablesWithPositionsToSpare) {
  const Ref n = g_.variable("n", uop::of_int(uop::Index, 1), uop::of_int(uop::Index, 50));
  const Ref i = make_.range(AxisType::Global, n);
  const Ref x = make_.at(make_.param(1, DType::I32, 50), {i});
  const Ref out = make_.at(make_.param(0, DType::I32, 50), {i});
  const Ref kernel = make_.sink({make_.stored(out, x, {i})});
  uop::Target target = Middle::target();
  for (int64_t& size : target.limits.global_sizes) size = 8;
  const Ref placed = Middle(g_, target)(kernel, 4);
  const Contents params = {{0, counting(DType::I32, 50)}, {1, counting(DType::I32, 50, 9)}};
  for (const int64_t size : {1, 7, 8, 9, 50}) {
    EXPECT_EQ(KernelRun(g_, params, {{"n", size}}).run(placed),
              KernelRun(g_, params, {{"n", size}}).run(kernel));
  }
}

TEST_F(GpuDims, CountItemsAgainstTheTargetsGroups) {
  const Ref i = make_.range(AxisType::Local, 16);
  const Ref j = make_.range(AxisType::Local, 32);
  const Ref at = make_.at(make_.param(0, DType::F32, 512), {make_.flat({i, j})});
  const Ref kernel = make_.sink({make_.stored(at, g_.constant(DType::F32, 1), {i, j})});
  Middle middle(g_);
  EXPECT_EQ(middle.lower(kernel, 4).error().message,
            "groups of 32 by 16 by 1 work-items are larger than the target's 256");
}

// The launch's axes hold groups and items together.
TEST_F(GpuDims, LeaveRoomForItemsAlongEachAxis) {
  const Ref i = make_.range(AxisType::Global, 12);
  const Ref l = make_.range(AxisType::Local, 4);
  const Ref at = make_.at(make_.param(0, DType::F32, 48), {make_.flat({i, l})});
  const Ref kernel = make_.sink({make_.stored(at, g_.constant(DType::F32, 1), {i, l})});
  uop::Target target = Middle::target();
  target.limits.global_sizes[0] = 24;
  const Ref placed = Middle(g_, target)(kernel, 4);
  EXPECT_EQ(launch_sizes(g_, placed).value(), (Launch{{6, 2, 1}, {4, 1, 1}}));
}

}  // namespace
}  // namespace assay::codegen
