#include "engine/codegen/local_buffers.h"

#include <gtest/gtest.h>

#include "engine/codegen/kernel_sample.h"
#include "engine/uop/shape.h"

namespace assay::codegen {
namespace {

using uop::AxisType;
using uop::DType;
using uop::Op;
using uop::Ref;

class AddLocalBuffers : public testing::Test {
 protected:
  uop::Graph g_;
  Maker make_{g_};
};

TEST_F(AddLocalBuffers, StoresWhatAStageHolds) {
  const Ref l = make_.range(AxisType::Local, 3);
  const Ref s = make_.range(AxisType::GroupReduce, 4);
  const Ref x = make_.at(make_.param(1, DType::F32, 12), {make_.flat({l, s})});
  const Ref out = make_.at(make_.param(0, DType::F32, 3), {l});
  const Ref kernel = make_.sink({make_.stored(out, make_.fold(Op::Add, x, {s}), {l})});
  EXPECT_EQ(uop::to_text(g_, Middle(g_)(kernel, 3), "kernel"), R"(uop 1 kernel
%0 = const index 3
%1 = param f32 %0 {0}
%2 = range index %0 {0 local}
%3 = index f32 %1 %2
%4 = buffer f32 {1 reg}
%5 = after f32 %4 %2
%6 = const f32 0.0
%7 = store void %5 %6
%8 = const index 4
%9 = range index %8 {2 reduce}
%10 = after f32 %4 %7 %9
%11 = buffer f32 %0 %8 {0 local}
%12 = range index %8 {1 group_reduce}
%13 = index f32 %11 %2 %12
%14 = const index 12
%15 = param f32 %14 {1}
%16 = mul index %2 %8
%17 = add index %12 %16
%18 = index f32 %15 %17
%19 = store void %13 %18
%20 = end void %19 %2 %12
%21 = after f32 %11 %20
%22 = index f32 %21 %2 %9
%23 = add f32 %10 %22
%24 = store void %10 %23
%25 = end void %24 %9
%26 = after f32 %4 %25
%27 = store void %3 %26
%28 = end void %27 %2
%29 = sink void %28 {"kernel"}
)");
}

// Lanes are axes of the buffer, and each lane of a work-item is stored.
TEST_F(AddLocalBuffers, HoldsLanes) {
  const Ref s = make_.range(AxisType::GroupReduce, 4);
  const Ref j = make_.range(AxisType::Upcast, 2);
  const Ref k = make_.range(AxisType::Upcast, 3);
  const Ref x = make_.at(make_.param(1, DType::I32, 24), {make_.flat({s, j, k})});
  const Ref out = make_.at(make_.param(0, DType::I32, 6), {make_.flat({j, k})});
  const Ref kernel = make_.sink({make_.stored(out, make_.fold(Op::Max, x, {s}), {j, k})});
  int buffers = 0;
  for (const Ref u : toposort(g_, Middle(g_)(kernel, 3))) {
    if (u->op != Op::Buffer || u->arg.addr_space() != uop::AddrSpace::Local) continue;
    EXPECT_EQ(uop::shape_text(uop::shape(g_, u)), "[4, 2, 3]");
    ++buffers;
  }
  EXPECT_EQ(buffers, 1);
  expect_kept(g_, kernel, {{0, counting(DType::I32, 6)}, {1, counting(DType::I32, 24)}});
}

TEST_F(AddLocalBuffers, LeavesAKernelWithoutStagesAsItIs) {
  const Ref i = make_.range(AxisType::Global, 8);
  const Ref x = make_.at(make_.param(1, DType::F32, 8), {i});
  const Ref out = make_.at(make_.param(0, DType::F32, 8), {i});
  const Ref kernel = make_.sink({make_.stored(out, x, {i})});
  EXPECT_EQ(Middle(g_)(kernel, 3), kernel);
}

}  // namespace
}  // namespace assay::codegen
