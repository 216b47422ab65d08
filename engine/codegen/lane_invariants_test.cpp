#include "engine/codegen/lane_invariants.h"

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

TEST(LaneForms, AReadWithoutALoadIsABreach) {
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

TEST(LaneForms, AShapeIsABreachOfScalar) {
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

// where(gate, x, INVALID) as a value, and one that an index computes with.
TEST(LaneForms, AnInvalidValueIsABreachOfScalar) {
  constexpr std::string_view kText = R"(uop 1 scalar
%0 = const index 8
%1 = param f32 %0 {0}
%2 = range index %0 {0 loop}
%3 = const index 3
%4 = lt bool %2 %3
%5 = invalid index
%6 = where index %4 %2 %5
%7 = add index %6 %3
%8 = index f32 %1 %7
%9 = const f32 1.0
%10 = store void %8 %9
%11 = end void %10 %2
%12 = sink void %11 {"k"}
)";
  EXPECT_EQ(breach_of(loads_form(), kText), std::nullopt);
  EXPECT_EQ(breach_of(scalar_form(), kText),
            "scalar: not gates_at_places: source 0 of %7 = add is invalid, and gates no place");
}

TEST(LaneForms, AVectorThatIsComputedWithIsABreachOfVectors) {
  constexpr std::string_view kText = R"(uop 1 vectors
%0 = const index 8
%1 = param f32 %0 {0}
%2 = const index 4
%3 = shrink f32 %1 %2 %2
%4 = load f32 %3
%5 = neg f32 %4
%6 = store void %3 %5
%7 = sink void %6 {"k"}
)";
  EXPECT_EQ(breach_of(vectors_form(), kText),
            "vectors: not whole_vectors: source 0 of %5 = neg is a vector, and stands for no lane");
}

TEST(LaneForms, AVectorOfOtherLanesThanItsPlaceIsABreachOfVectors) {
  constexpr std::string_view kText = R"(uop 1 vectors
%0 = const index 8
%1 = param f32 %0 {0}
%2 = const index 4
%3 = shrink f32 %1 %2 %2
%4 = const f32 1.0
%5 = stack f32 %4 %4
%6 = store void %3 %5
%7 = sink void %6 {"k"}
)";
  EXPECT_EQ(breach_of(vectors_form(), kText),
            "vectors: not whole_vectors: source 1 of %6 = store is a vector, and stands for no "
            "lane");
}

}  // namespace
}  // namespace assay::codegen
