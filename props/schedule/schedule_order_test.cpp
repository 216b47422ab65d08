#include <gtest/gtest.h>

#include "props/schedule/planted.h"

namespace assay::props {
namespace {

class ScheduleOrder : public Props {
 protected:
  // The engine's LINEAR of these states passes, and each of its edges left out is found: fails with
  // an order that was run. "WAR 0 1;" for each that fails.
  std::string each_drop(std::initializer_list<Ref> states) {
    const Ref kernels = sink(states);
    const auto linear = schedule::create_schedule(g, kernels);
    EXPECT_TRUE(linear.ok()) << linear.error().message;
    if (!linear.ok()) return "";
    const Checked whole = judge_order(kernels, linear.value());
    EXPECT_EQ(whole.verdict.answer, Answer::Pass) << whole.verdict.evidence;
    EXPECT_EQ(whole.unknown, 0);
    std::string found;
    for (const auto& [edge, faulty] : each_edge_dropped(g, linear.value())) {
      const Checked c = judge_order(kernels, faulty);
      EXPECT_EQ(c.verdict.answer, Answer::Fail)
          << edge.from << " " << edge.to << ": " << c.verdict.evidence;
      if (c.verdict.answer != Answer::Fail) continue;
      evidence = c.verdict.evidence;
      EXPECT_NE(evidence.find("is right"), std::string::npos) << evidence;
      found += fmt::format("{} {} {};", c.shape, edge.from, edge.to);
    }
    return found;
  }

  std::string evidence;
};

TEST_F(ScheduleOrder, AnOldReaderPrecedesTheFirstOfTwoWriters) {  // B001
  const Ref x = param(0, 4);
  const Ref y = buffer(4);
  const Ref y1 = after(y, {fills("reads", {y, x})});
  const Ref x1 = after(x, {scales("triples", {x})});
  const Ref x2 = after(x1, {scales("doubles", {x1}, 2)});
  EXPECT_EQ(each_drop({y1, x2}), "WAR param 0 1;RAW param 1 2;");
  EXPECT_EQ(evidence,
            "RAW: kernel 1 (triples) must run before kernel 2 (doubles), which touches the same "
            "bytes 0 to 16 of param 0 version 1, and no edges order them; order 0 2 1 leaves 8.5 "
            "at element 0 of param 0 where 7.5 is right (inputs 1)");
}

TEST_F(ScheduleOrder, TheSameCallTwiceIsARaceWhereBothRunAtOnce) {
  const Ref x = param(0, 4);
  const Ref x1 = after(x, {scales("triples", {x})});
  const Ref x2 = after(x1, {scales("triples", {x1})});
  EXPECT_EQ(each_drop({x2}), "RAW param 0 1;");
  EXPECT_NE(evidence.find("at once"), std::string::npos) << evidence;
}

TEST_F(ScheduleOrder, ReadersThroughSelectsAndStacksAreHeldToo) {  // B002
  const Ref left = param(0, 4, uop::F32, "sim:0");
  const Ref right = param(1, 4, uop::F32, "sim:1");
  const Ref whole = stack({left, right});
  const Ref out = buffer(4);
  const Ref stale = after(out, {fills("gathers", {out, select(whole, 1)})});
  const Ref full = after(whole, {fills("fills", {whole})});
  EXPECT_EQ(each_drop({stale, full}), "WAR param 0 1;");
}

TEST_F(ScheduleOrder, AReaderOfAMaterializedTemporaryPrecedesTheWriter) {  // B009
  const Ref a = param(0, 4);
  const Ref t = buffer(4);
  const Ref out = buffer(4);
  const Ref a1 = after(a, {fills("fills", {a})});
  const Ref t1 = after(t, {fills("minus", {t, a})});
  const Ref out1 = after(out, {fills("adds", {out, a1, t1})});
  EXPECT_EQ(each_drop({out1, a1}), "WAR param 0 1;RAW param 1 2;");
}

TEST_F(ScheduleOrder, AStepReadsAScalarBeforeItIsRescaled) {  // B003
  const Ref p = param(0, 4);
  const Ref m = param(1, 4);
  const Ref b = param(2, 4);
  const Ref m1 = after(m, {scales("decay", {m})});
  const Ref p1 = after(p, {scales("step", {p, m1, b})});
  const Ref b1 = after(b, {scales("rescale", {b}), p1});
  const Ref b2 = after(b1, {p1});
  EXPECT_EQ(each_drop({p1, m1, b2}), "RAW param 0 1;WAR param 1 2;");
}

}  // namespace
}  // namespace assay::props
