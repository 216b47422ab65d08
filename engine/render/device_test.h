#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "engine/codegen/pipeline.h"
#include "engine/codegen/sample_kernel.h"
#include "engine/render/opencl_runner.h"
#include "engine/render/renderer.h"

namespace assay::render {

// A device with double precision and groups.
inline const uop::Target& test_target() {
  static const uop::Target target = [] {
    uop::Target t = uop::generic_target();
    t.name = "test";
    t.arithmetic = t.arithmetic | uop::TypeSet{uop::DType::F64};
    t.limits.group_size = 64;
    return t;
  }();
  return target;
}

// Kernels that are made by hand, lowered, rendered, and run as one program. The parameter is a part
// of the platform's name.
class Device : public ::testing::TestWithParam<const char*>, public codegen::SampleKernel {
 protected:
  // Adds a kernel that is run with these buffers.
  size_t kernel(Ref sink, std::vector<Bytes> buffers) {
    uop::Run run(g);
    const Result<Ref> linear = uop::run_passes(codegen::late_passes(), run, sink);
    EXPECT_TRUE(linear.ok()) << linear.error().message;
    const Result<Source> source =
        render(g, linear.value(), test_target(), "t" + std::to_string(launches.size()));
    EXPECT_TRUE(source.ok()) << source.error().message;
    launches.push_back({source.value(), std::move(buffers)});
    return launches.size() - 1;
  }
  void run_launches(Build how) { ASSERT_EQ(run_all(GetParam(), launches, how), ""); }
  const Bytes& result(size_t launch, size_t slot = 0) { return launches[launch].buffers[slot]; }
  std::string text(size_t launch) { return launches[launch].source.text; }

  std::vector<Launch> launches;
};

}  // namespace assay::render
