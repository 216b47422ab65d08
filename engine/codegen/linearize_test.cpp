#include "engine/codegen/linearize.h"

#include <gtest/gtest.h>

#include <chrono>

#include "engine/codegen/barriers.h"
#include "engine/codegen/control_flow.h"
#include "engine/codegen/forms.h"
#include "engine/codegen/listing.h"
#include "engine/codegen/sample_kernel.h"

namespace assay::codegen {
namespace {

using uop::AxisType;
using uop::Ref;

struct Linearize : ::testing::Test, SampleKernel {
  Ref lower(Ref sink) {
    uop::Run run(g);
    const Result<Ref> looped = run_pass(add_control_flow(), run, sink);
    EXPECT_TRUE(looped.ok()) << looped.error().message;
    EXPECT_EQ(uop::breach(looped_form(), g, looped.value()), std::nullopt);
    const Result<Ref> linear = run_pass(linearize(), run, looped.value());
    EXPECT_TRUE(linear.ok()) << linear.error().message;
    EXPECT_EQ(uop::breach(linear_form(), g, linear.value()), std::nullopt);
    return linear.value();
  }
  std::string lines(Ref sink) { return "\n" + lines_text(lower(sink)); }
};

TEST_F(Linearize, PutsALoopBetweenItsRangeAndItsEnd) {
  const Ref gidx = special("gidx0", 8);
  const Ref r = range(0, 16);
  const Ref in = param(1, 128);
  const Ref x = load(index(in, add(mul(gidx, i32(16)), r)));
  const Ref out = store(index(param(0, 8), gidx), load(sum(0, x, {r}), 0));
  EXPECT_EQ(lines(sink({out}, "r_8_16 NONE")), R"(
%0 = param f32 8 {0}
%1 = param f32 128 {1}
%2 = special i32 8 {"gidx0"}
%3 = buffer f32 1 {0 reg}
%4 = index f32 %0 %2
%5 = index f32 %3 0
%6 = store %5 0.0
%7 = mul i32 %2 16
%8 = range i32 16 {0 reduce}
  %9 = add i32 %7 %8
  %10 = index f32 %1 %9
  %11 = load f32 %10
  %12 = after f32 %3 %6 %8
  %13 = index f32 %12 0
  %14 = load f32 %13
  %15 = add f32 %14 %11
  %16 = store %13 %15
%17 = end %16 %8
%18 = after f32 %3 %17
%19 = index f32 %18 0
%20 = load f32 %19
%21 = store %4 %20
)");
}

}  // namespace
}  // namespace assay::codegen
