#include "engine/codegen/loop_invariants.h"

#include <gtest/gtest.h>

#include "engine/codegen/forms.h"
#include "engine/uop/text.h"

namespace assay::codegen {
namespace {

std::optional<std::string> breach_of(const uop::Spec& spec, std::string_view text) {
  uop::Graph g;
  const Result<uop::Parsed> kernel = uop::from_text(g, text);
  EXPECT_TRUE(kernel.ok());
  return breach(spec, g, kernel.value().root);
}

TEST(Forms, AReadWithoutALoadIsABreach) {
  constexpr std::string_view kText = R"(uop 1 loads
%0 = const index 8
%1 = param f32 %0 {0}
%2 = const index 3
%3 = index f32 %1 %2
%4 = neg f32 %3
%5 = store void %3 %4
%6 = sink void %5 {"k"}
)";
  EXPECT_EQ(breach_of(placed_form(), kText), std::nullopt);
  EXPECT_EQ(breach_of(loads_form(), kText),
            "loads: not loaded: %4 = neg reads its source 0 without a load");
}

TEST(Forms, AShapeIsABreachOfScalar) {
  constexpr std::string_view kText = R"(uop 1 scalar
%0 = const index 8
%1 = buffer f32 %0 %0 {0 local}
%2 = const index 3
%3 = index f32 %1 %2 %2
%4 = const f32 1.0
%5 = store void %3 %4
%6 = sink void %5 {"k"}
)";
  EXPECT_EQ(breach_of(loads_form(), kText), std::nullopt);
  EXPECT_EQ(breach_of(scalar_form(), kText), "scalar: not shapeless: %1 = buffer has shape [8, 8]");
}

}  // namespace
}  // namespace assay::codegen
