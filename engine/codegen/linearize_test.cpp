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
  EXPECT_EQ(lines(sink({out}, "r_8_16 NONE")), "");
}

}  // namespace
}  // namespace assay::codegen
