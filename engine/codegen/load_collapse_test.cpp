#include "engine/codegen/load_collapse.h"

#include <gtest/gtest.h>

#include "engine/codegen/sample_kernel.h"

namespace assay::codegen {
namespace {

using uop::DType;
using uop::Op;
using uop::Ref;

class LoadCollapse : public testing::Test {
 protected:
  std::string after(Ref kernel) {
    uop::Run run(g);
    const Result<Ref> result = run_pass(load_collapse(), run, kernel);
    return result.ok() ? SampleText::of(g, result.value()) : to_string(result.error());
  }
  Ref cast(DType t, Ref u) { return g.make(Op::Cast, t, {u}); }
  Ref where(Ref c, Ref a, Ref b) { return g.make(Op::Where, a->dtype, {c, a, b}); }
  // p0[r0] = fold over r1 of where(condition, value, unit).
  Ref stored(Ref fold, DType t = uop::I32) {
    return k.kernel("r", {k.end(k.at(0, 12, "r0", t), fold, {i})});
  }

  uop::Graph g;
  SampleKernel k{g};
  Ref i = k.loop(12);
  Ref r = k.fold(100);
};

TEST_F(LoadCollapse, ReadsTheElementThatAGatherNames) {
  const Ref hit = g.alu(Op::Eq, {k.at(1, 12, "r0", uop::I32), cast(uop::I32, r)});
  const Ref bits = g.make(Op::Bitcast, uop::U32, {k.at(2, 1200, "(+ (* r1 12) r0)")});
  const Ref zero = g.constant(uop::U32, 0);
  const Ref sum = k.reduce(Op::Add, where(hit, bits, zero), {r});
  const Ref value = g.make(Op::Bitcast, uop::F32, {sum});
  EXPECT_EQ(after(stored(value, uop::F32)),
            "r\n"
            "W0:12\n"
            "p0[W0] = (bitcast f32 (where (and (< p1[W0] 100) (< -1 p1[W0])) (bitcast u32 "
            "p2[(where (and (< p1[W0] 100) (< -1 p1[W0])) (+ W0 (* (cast index p1[W0]) 12)) "
            "invalid)]) 0))\n");
}

TEST_F(LoadCollapse, KnowsIterationsByTerms) {
  // Only r1 = 99 - r0 counts, and it is always there.
  const Ref hit = k.term("(== (+ r1 r0) 99)");
  const Ref x = k.at(1, 100, "r1", uop::I32);
  const Ref sum = k.reduce(Op::Add, where(hit, x, g.constant(uop::I32, 0)), {r});
  EXPECT_EQ(after(stored(sum)),
            "r\n"
            "W0:12\n"
            "p0[W0] = p1[(+ (* W0 -1) 99)]\n");
}

TEST_F(LoadCollapse, KeepsTheOtherConditions) {
  const Ref hit = k.term("(and (< r1 50) (== (+ r1 r0) 40))");
  const Ref x = k.at(1, 100, "r1", uop::I32);
  const Ref top = k.reduce(Op::Max, where(hit, x, g.constant(uop::lowest(uop::I32))), {r});
  EXPECT_EQ(after(stored(top)),
            "r\n"
            "W0:12\n"
            "p0[W0] = p1[(+ (* W0 -1) 40)]\n");
}

TEST_F(LoadCollapse, FoldsAFloatOnceMore) {
  const Ref hit = k.term("(== r1 (* r0 7))");
  const Ref x = k.at(1, 100, "r1");
  const Ref sum = k.reduce(Op::Add, where(hit, x, k.f32(0)), {r});
  EXPECT_EQ(after(stored(sum, uop::F32)),
            "r\n"
            "W0:12\n"
            "p0[W0] = (+ p1[(* W0 7)] 0.0)\n");
}

TEST_F(LoadCollapse, FindsAnyOfOneCondition) {
  const Ref hit = g.alu(Op::Eq, {k.at(1, 12, "r0", uop::U8), cast(uop::U8, r)});
  const Ref any = k.reduce(Op::Or, hit, {r});
  EXPECT_EQ(after(stored(any, uop::Bool)),
            "r\n"
            "W0:12\n"
            "p0[W0] = (< p1[W0] 100)\n");
}

TEST_F(LoadCollapse, LosesOneRangeOfSeveral) {
  const Ref s = k.fold(5);
  const Ref hit = k.term("(== r1 (* r0 8))");
  const Ref x = k.at(1, 500, "(+ (* r1 5) r2)", uop::I32);
  const Ref sum = k.reduce(Op::Add, where(hit, x, g.constant(uop::I32, 0)), {r, s});
  EXPECT_EQ(after(stored(sum)),
            "r\n"
            "W0:12 R2:5\n"
            "p0[W0] = (reduce_add p1[(+ (* W0 40) R2)] R2)\n");
}

TEST_F(LoadCollapse, CountsIterationsOfAnInterval) {
  const Ref held = k.term("(and (< r1 (* r0 9)) (not (< (+ r1 3) r0)))");
  const Ref three = g.constant(uop::I32, 3);
  const Ref sum = k.reduce(Op::Add, where(held, three, g.constant(uop::I32, 0)), {r});
  EXPECT_EQ(after(stored(sum)).substr(0, 19), "r\nW0:12\np0[W0] = (*");
}

TEST_F(LoadCollapse, CountsAsFarAsALoadedEnd) {
  const Ref end = k.at(1, 12, "r0", uop::I32);
  const Ref held = g.alu(Op::Lt, {cast(uop::I32, r), end});
  const Ref sum = k.reduce(Op::Add, cast(uop::I32, held), {r});
  EXPECT_EQ(after(stored(sum)),
            "r\n"
            "W0:12\n"
            "p0[W0] = (cast i32 (max (min (cast index p1[W0]) 100) 0))\n");
}

TEST_F(LoadCollapse, LeavesFoldsOfWhichMoreCounts) {
  // Each r1 may equal what is read for it.
  const Ref by_element = g.alu(Op::Eq, {k.at(1, 100, "r1", uop::I32), cast(uop::I32, i)});
  const Ref x = k.at(2, 100, "r1", uop::I32);
  const Ref zero = g.constant(uop::I32, 0);
  const Ref many = stored(k.reduce(Op::Add, where(by_element, x, zero), {r}));
  EXPECT_EQ(after(many), SampleText::of(g, many));
  // Two in hundred iterations are 2 * r1 = x.
  const Ref even = k.term("(== (* r1 2) r0)");
  const Ref halves = stored(k.reduce(Op::Add, where(even, x, zero), {r}));
  EXPECT_EQ(after(halves), SampleText::of(g, halves));
  // An i8 cannot tell the iterations of 1000 apart.
  const Ref wide = k.fold(1000);
  const Ref wraps = g.alu(Op::Eq, {k.at(1, 12, "r0", uop::I8), cast(uop::I8, wide)});
  const Ref wrapped =
      stored(k.reduce(Op::Add, where(wraps, k.at(2, 1000, "r2", uop::I32), zero), {wide}));
  EXPECT_EQ(after(wrapped), SampleText::of(g, wrapped));
  // What does not count is no unit.
  const Ref hit = k.term("(== r1 r0)");
  const Ref ones = stored(k.reduce(Op::Add, where(hit, x, g.constant(uop::I32, 1)), {r}));
  EXPECT_EQ(after(ones), SampleText::of(g, ones));
  // Equal floats add up to what their number times one of them rounds to only by chance.
  const Ref held = k.term("(< r1 r0)");
  const Ref tenths = stored(k.reduce(Op::Add, where(held, k.f32(0.1), k.f32(0)), {r}), uop::F32);
  EXPECT_EQ(after(tenths), SampleText::of(g, tenths));
}

}  // namespace
}  // namespace assay::codegen
