#include "engine/codegen/control_flow.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/codegen/forms.h"
#include "engine/codegen/sample_kernel.h"
#include "engine/uop/scope.h"
#include "engine/uop/walk.h"

namespace assay::codegen {
namespace {

using uop::AxisType;
using uop::Op;
using uop::Ref;

struct ControlFlow : ::testing::Test, SampleKernel {
  const Ref out = param(0, 64);

  Ref split(Ref sink) {
    uop::Run run(g);
    const Result<Ref> after = run_pass(add_control_flow(), run, sink);
    EXPECT_TRUE(after.ok()) << after.error().message;
    EXPECT_EQ(uop::breach(looped_form(), g, after.value()), std::nullopt);
    EXPECT_EQ(run_pass(add_control_flow(), run, after.value()).value(), after.value());
    return after.value();
  }
  // The numbers of the ranges that ENDs close, in the order of the toposort: inner ones first.
  std::vector<int64_t> closed(Ref sink) {
    std::vector<int64_t> numbers;
    for (const Ref u : uop::toposort(g, sink)) {
      if (u->op == Op::End) numbers.push_back(u->src[1]->arg.number());
    }
    return numbers;
  }
  using Numbers = std::vector<int64_t>;
};

TEST_F(ControlFlow, OneEndARangeTheLastInside) {
  const Ref a = range(0, 2);
  const Ref b = range(1, 3);
  const Ref c = range(2, 4);
  const Ref x = store(index(out, add(add(mul(a, i32(12)), mul(b, i32(4))), c)), f32(1));
  EXPECT_EQ(split(sink({end(x, {a, b, c})})), sink({end(end(end(x, {c}), {b}), {a})}));
  EXPECT_EQ(closed(split(sink({end(x, {c, a, b})}))), (Numbers{1, 0, 2}));
}

TEST_F(ControlFlow, ATermStandsForTheRangesInIt) {
  const Ref a = range(0, 2);
  const Ref b = range(1, 3);
  const Ref x = store(index(out, add(mul(a, i32(3)), b)), f32(1));
  const Ref both = end(x, {add(mul(a, i32(3)), b), a});
  EXPECT_EQ(closed(split(sink({both}))), (Numbers{1, 0}));
  const Ref none = end(x, {special("lidx0", 4), a, b});
  EXPECT_EQ(closed(split(sink({none}))), (Numbers{1, 0}));
}

TEST_F(ControlFlow, AnEndOfNoRangeIsNone) {
  const Ref x = store(index(out, i32(0)), f32(1));
  EXPECT_EQ(split(sink({end(x, {i32(3)})})), sink({x}));
}

TEST_F(ControlFlow, ARangeStandsInsideOfThoseItsCountDependsOn) {
  const Ref a = range(0, 4);
  const Ref b = range(1, add(a, i32(1)));
  const Ref c = range(2, add(b, i32(1)));
  const Ref x = store(index(out, c), f32(1));
  EXPECT_EQ(closed(split(sink({end(x, {c, b, a})}))), (Numbers{2, 1, 0}));
  EXPECT_EQ(closed(split(sink({end(x, {b, c, a})}))), (Numbers{2, 1, 0}));
}

// One range, two loops: the second needs the result of the first.
TEST_F(ControlFlow, ARangeThatTwoEndsCloseIsTwoLoops) {
  const Ref r = range(3, 8);
  const Ref x = load(index(param(1, 8), r));
  const Ref total = load(sum(0, x, {r}), 0);
  const Ref scaled = load(sum(1, mul(x, total), {r}), 0);
  const Ref both = split(sink({store(index(out, i32(0)), scaled)}));
  EXPECT_EQ(closed(both), (Numbers{3, 4}));
  const Ref s = range(4, 8);
  const Ref y = load(index(param(1, 8), s));
  EXPECT_EQ(both, sink({store(index(out, i32(0)), load(sum(1, mul(y, total), {s}), 0))}));
}

// The inner loops go with it.
TEST_F(ControlFlow, ALoopThatIsCopiedTakesThoseInsideAlong) {
  const Ref r = range(0, 8);
  const Ref s = range(1, 4);
  const Ref x = load(index(param(1, 32), add(mul(r, i32(4)), s)));
  const Ref row = load(sum(0, x, {s}, {r}), 0);
  const Ref total = load(sum(1, row, {r}), 0);
  const Ref scaled = load(sum(2, mul(row, total), {r}), 0);
  const Ref both = split(sink({store(index(out, i32(0)), scaled)}));
  Numbers numbers = closed(both);
  EXPECT_EQ(numbers.size(), 4);
  std::sort(numbers.begin(), numbers.end());
  EXPECT_EQ(numbers, (Numbers{0, 1, 2, 3}));
}

// Work does not grow with the square of the number of loops.
TEST_F(ControlFlow, TakesManyLoopsInARow) {
  Ref x = f32(1);
  for (int i = 0; i < 5000; i++) {
    const Ref r = range(i, 4);
    x = load(sum(i, add(x, load(index(param(1, 4), r))), {r}), 0);
  }
  EXPECT_EQ(closed(split(sink({store(index(out, i32(0)), x)}))).size(), 5000);
}

TEST_F(ControlFlow, ARangeThatIsLeftOpenIsABreach) {
  const Ref r = range(7, 8);
  uop::Run run(g);
  const Ref after = run_pass(add_control_flow(), run, sink({store(index(out, r), f32(1))})).value();
  EXPECT_EQ(uop::breach(looped_form(), g, after),
            "looped: not one_end_a_range: range 7 has no end");
}

}  // namespace
}  // namespace assay::codegen
