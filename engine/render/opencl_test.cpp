#include <gtest/gtest.h>

#include "engine/codegen/pipeline.h"
#include "engine/codegen/sample_kernel.h"
#include "engine/render/renderer.h"

namespace assay::render {
namespace {

using codegen::SampleKernel;
using uop::Op;
using uop::Ref;

struct OpenCl : ::testing::Test, SampleKernel {
  std::string text(Ref sink, const uop::Target& target = uop::generic_target()) {
    uop::Run run(g);
    const Result<Ref> linear = codegen::lower(run, sink);
    EXPECT_TRUE(linear.ok()) << linear.error().message;
    const Result<Source> source = render(g, linear.value(), target);
    EXPECT_TRUE(source.ok()) << source.error().message;
    return source.ok() ? "\n" + source.value().text : "";
  }
};

TEST_F(OpenCl, WritesAReduceWithItsAccumulatorAsAVariable) {
  const Ref gidx = special("gidx0", 8);
  const Ref r = range(0, 16);
  const Ref x = load(index(param(1, 128), add(mul(gidx, i32(16)), r)));
  const Ref out = store(index(param(0, 8), gidx), load(sum(0, x, {r}), 0));
  EXPECT_EQ(text(sink({out}, "r_8_16 NONE")), R"(
#pragma OPENCL FP_CONTRACT OFF
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void k_r_8_16(__global float* data0, __global const float* data1) {
  const int gidx0 = get_group_id(0);
  float acc0;
  acc0 = 0.0f;
  const int alu0 = gidx0 * 16;
  for (int ridx0 = 0; ridx0 < 16; ridx0++) {
    const float val0 = data1[alu0 + ridx0];
    acc0 = acc0 + val0;
  }
  data0[gidx0] = acc0;
}
)");
}

}  // namespace
}  // namespace assay::render
