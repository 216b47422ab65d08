#include "engine/codegen/pipeline.h"

#include <gtest/gtest.h>

#include "engine/uop/spec.h"

namespace assay::codegen {
namespace {

TEST(Pipeline, EachPassSuitsTheNext) {
  const auto passes = pipeline();
  for (size_t i = 0; i + 1 < passes.size(); ++i) {
    EXPECT_TRUE(uop::implies(passes[i]->yields, passes[i + 1]->accepts))
        << passes[i]->name << ", " << passes[i + 1]->name;
  }
}

}  // namespace
}  // namespace assay::codegen
