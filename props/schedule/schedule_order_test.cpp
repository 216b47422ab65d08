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

class PublicBug : public ScheduleOrder {
 protected:
  // A LINEAR made by hand, and what is said of it.
  std::string judged(std::initializer_list<Ref> states, std::initializer_list<Ref> calls,
                     std::vector<schedule::Edge> edges) {
    const std::vector<Ref> list(calls);
    const Ref linear = schedule::make_linear(g, list, std::move(edges));
    const Checked c = judge_order(sink(states), linear);
    evidence = c.verdict.evidence;
    EXPECT_EQ(c.verdict.answer, Answer::Fail) << evidence;
    EXPECT_NE(evidence.find("is right"), std::string::npos) << evidence;
    EXPECT_FALSE(c.evidence.empty());
    return c.shape;
  }
  // Writes 1 to every other element of 8.
  Ref strided() {
    const Ref r = range(0, 4);
    const Ref two = uop::dim(g, 2);
    const Ref place = g.alu(uop::Op::Mul, {r, two});
    const Ref base = flat(0, 8);
    const Ref target = index(base, place);
    return kernel("strided", target, g.constant(uop::of_int(uop::F32, 1)), {r});
  }
};

TEST_F(PublicBug, AReaderIsPointedAtALaterVersion) {  // B001, B005
  const Ref x = param(0, 4);
  const Ref r = buffer(4);
  const Ref reads = fills("reads", {r, x});
  const Ref writes = scales("writes", {x});
  EXPECT_EQ(judged({after(r, {reads}), after(x, {writes})}, {writes, reads},
                   {{0, 1, schedule::EdgeKind::Raw}}),
            "WAR in the list");
}

TEST_F(PublicBug, AStridedWriteIsLost) {  // B006
  const Ref t = param(0, 8);
  const Ref t1 = after(t, {call(strided(), {t})});
  EXPECT_EQ(judged({t1}, {}, {}), "kernels");
}

TEST_F(PublicBug, AWriteThroughABitcastIsLost) {  // B007
  const Ref a = param(0, 4);
  const Ref r = range(0, 4);
  const Ref base = flat(0, 4);
  const Ref target = index(base, r);
  const Ref bits = g.constant(uop::of_int(uop::U32, 0x41100000));
  const Ref value = g.make(uop::Op::Bitcast, uop::F32, {bits});
  const Ref body = kernel("bits", target, value, {r});
  const Ref a1 = after(a, {call(body, {a})});
  const Ref out = buffer(4);
  const Ref reads = fills("reads", {out, a1});
  EXPECT_EQ(judged({after(out, {reads}), a1}, {fills("reads", {out, a})}, {}), "kernels");
}

TEST_F(PublicBug, AKernelOfACircleVanishes) {  // B010
  const Ref a = param(0, 4);
  const Ref out = buffer(4);
  const Ref a1 = after(a, {fills("fills", {a})});
  const Ref out1 = after(out, {fills("adds", {out, a1})});
  EXPECT_EQ(judged({out1, a1}, {fills("adds", {out, a})}, {}), "kernels");
}

TEST_F(PublicBug, SlicesAreWrittenInTheOtherOrder) {  // B015
  const Ref b = param(0, 8);
  const Ref one = call(kernel_of("one", 0, 0, 8, 0), {b});
  const Ref b1 = after(b, {one});
  const Ref value = param(1, 4);
  const Ref two = call(kernel_of("two", 1, 0, 8, 2), {b1, value});
  const Ref b2 = after(b1, {two});
  const Ref two_bare = call(kernel_of("two", 1, 0, 8, 2), {b, value});
  EXPECT_EQ(judged({b2}, {two_bare, one}, {{0, 1, schedule::EdgeKind::Waw}}), "WAW in the list");
}

TEST_F(PublicBug, AKernelReadsWhatItOverwrites) {  // B018, B022, B025
  const Ref x = param(0, 4);
  const Ref r = range(0, 4);
  const Ref three = uop::dim(g, 3);
  const Ref minus = g.alu(uop::Op::Sub, {three, r});
  const Ref base = flat(0, 4);
  const Ref target = index(base, r);
  const Ref flipped = index(base, minus);
  const Ref value = g.alu(uop::Op::Add, {target, flipped});
  const Ref body = kernel("flips", target, value, {r});
  const Ref x1 = after(x, {call(body, {x})});
  const Ref kernels = sink({x1});
  const Ref calls[] = {call(body, {x})};
  const Checked c = judge_order(kernels, schedule::make_linear(g, calls, {}));
  EXPECT_EQ(c.verdict.answer, Answer::Fail) << c.verdict.evidence;
  EXPECT_EQ(c.shape, "in place");
  EXPECT_NE(c.verdict.evidence.find("which another iteration writes"), std::string::npos);
}

TEST_F(PublicBug, ARefusalOfWhatHasAnOrderIsFound) {  // B010
  const Ref a = param(0, 4);
  const Ref out = buffer(4);
  const Ref a1 = after(a, {scales("triples", {a})});
  const Ref kernels = sink({after(out, {fills("reads", {out, a})}), a1});
  EXPECT_EQ(judge_order(kernels, nullptr, "cycle").shape, "refusal");
  const Ref both = after(out, {fills("adds", {out, a1, a})});
  const Checked right = judge_order(sink({both}), nullptr, "cycle");
  EXPECT_EQ(right.verdict.answer, Answer::Pass);
  EXPECT_EQ(right.obligations, 1);
}

TEST_F(ScheduleOrder, WritersOfOneVersionInDifferentBytesNeedNoOrder) {
  const Ref b = param(0, 8);
  const Ref one = call(kernel_of("one", 0, 0, 8, 0), {b});
  const Ref two = call(kernel_of("two", 0, 0, 8, 4), {b});
  const Ref apart[] = {one, two};
  const Checked c = judge_order(sink({after(b, {one, two})}), schedule::make_linear(g, apart, {}));
  EXPECT_EQ(c.verdict.answer, Answer::Pass) << c.verdict.evidence;
  EXPECT_EQ(c.by_method.count("footprint"), 1U);
  const Ref value = param(1, 4);
  const Ref third = call(kernel_of("third", 1, 0, 8, 2), {b, value});
  const Ref meeting[] = {one, third};
  EXPECT_EQ(
      judge_order(sink({after(after(b, {one}), {third})}), schedule::make_linear(g, meeting, {}))
          .shape,
      "WAW param");
}

// The two touch other elements of one buffer, and the same of another.
TEST_F(ScheduleOrder, EachStorageThatTwoCallsShareIsLookedAt) {
  const Ref shared = param(0, 8);
  const Ref x = param(1, 4);
  const Ref writes_low = call(kernel_of("low", 1, 0, 8, 0), {shared, x});
  const Ref low = after(shared, {writes_low});
  const Ref r = range(0, 4);
  const Ref four = uop::dim(g, 4);
  const Ref place = g.alu(uop::Op::Add, {r, four});
  const Ref high = flat(1, 8);
  const Ref target_base = flat(0, 4);
  const Ref body = kernel("high", index(target_base, r), index(high, place), {r});
  const Ref x1 = after(x, {call(body, {x, low})});
  const Ref calls[] = {writes_low, call(body, {x, shared})};
  const Checked c = judge_order(sink({low, x1}), schedule::make_linear(g, calls, {}));
  EXPECT_EQ(c.verdict.answer, Answer::Fail) << c.verdict.evidence;
  EXPECT_EQ(c.shape, "WAR param");
}

TEST_F(ScheduleOrder, EdgesThatNothingNeedsAreListed) {
  const Ref x = param(0, 4);
  const Ref y = param(1, 4);
  const Ref x1 = after(x, {scales("one", {x})});
  const Ref x2 = after(x1, {scales("two", {x1}, 2)});
  const Ref y1 = after(y, {scales("other", {y})});
  const Ref calls[] = {scales("one", {x}), scales("two", {x}, 2), scales("other", {y})};
  using schedule::EdgeKind;
  const Ref linear = schedule::make_linear(
      g, calls, {{0, 1, EdgeKind::Raw}, {1, 2, EdgeKind::War}, {0, 2, EdgeKind::War}});
  const Checked c = judge_order(sink({x2, y1}), linear);
  EXPECT_EQ(c.verdict.answer, Answer::Pass) << c.verdict.evidence;
  EXPECT_EQ(c.listed, (std::vector<std::string>{"implied: kernel 0 (one) to kernel 2 (other)",
                                                "needless: kernel 1 (two) to kernel 2 (other)"}));
}

// Who waits for a call that touches nothing of its own is right in any order: that it need not wait
// is listed.
TEST_F(ScheduleOrder, AnOrderOnlyEdgeChangesNothingThatIsFound) {
  const Ref a = param(0, 4);
  const Ref b = param(1, 4);
  const Ref first = scales("first", {a});
  const Ref b1 = after(b, {scales("second", {b}), first});
  const Ref kernels = sink({b1, after(a, {first})});
  const Ref second = scales("second", {b});
  const Checked kept = judge_order(kernels, schedule::create_schedule(g, kernels).value());
  EXPECT_EQ(kept.verdict.answer, Answer::Pass);
  EXPECT_TRUE(kept.listed.empty());
  const std::string line =
      "only after: kernel {} (first) to kernel {} (second), which no edges order";
  const Ref listed[] = {first, second};
  const Ref turned[] = {second, first};
  const Checked c = judge_order(kernels, schedule::make_linear(g, listed, {}));
  EXPECT_EQ(c.verdict.answer, Answer::Pass) << c.verdict.evidence;
  EXPECT_EQ(c.by_method.at("no byte"), 1);
  EXPECT_EQ(c.listed, std::vector<std::string>{fmt::format(fmt::runtime(line), 0, 1)});
  const Checked d = judge_order(kernels, schedule::make_linear(g, turned, {}));
  EXPECT_EQ(d.verdict.answer, Answer::Pass) << d.verdict.evidence;
  EXPECT_EQ(d.listed, std::vector<std::string>{fmt::format(fmt::runtime(line), 1, 0)});
}

// And is found where the two meet in a byte after all.
TEST_F(ScheduleOrder, AnOrderOnlyEdgeBetweenCallsThatMeetIsNeeded) {
  const Ref a = param(0, 4);
  const Ref b = param(1, 4);
  const Ref first = scales("first", {a});
  const Ref a1 = after(a, {first});
  const Ref second = scales("second", {b, a1});
  const Ref kernels = sink({after(b, {second, first}), a1});
  const Ref calls[] = {first, scales("second", {b, a})};
  EXPECT_EQ(judge_order(kernels, schedule::make_linear(g, calls, {})).shape, "RAW param");
}

// A version that is written over before anyone reads it, and one that nobody reads.
TEST_F(ScheduleOrder, AWrongVersionIsShownByWhatIsMadeOfIt) {
  const Ref a = param(0, 4);
  const Ref t = buffer(4);
  const Ref a1 = after(a, {scales("triples", {a})});
  const Ref t1 = after(t, {fills("copies", {t, a})});
  const Ref t2 = after(t1, {fills("again", {t1})});
  const Ref out = param(1, 4);
  const Ref kernels = sink({after(out, {fills("reads", {out, t2})}), a1});
  const Ref calls[] = {fills("copies", {t, a}), scales("triples", {a}), fills("again", {t}),
                       fills("reads", {out, t})};
  using schedule::EdgeKind;
  const schedule::Edge war = {0, 1, EdgeKind::War};
  const schedule::Edge waw = {0, 2, EdgeKind::Waw};
  const schedule::Edge raw = {2, 3, EdgeKind::Raw};
  EXPECT_EQ(judge_order(kernels, schedule::make_linear(g, calls, {war, waw, raw})).verdict.answer,
            Answer::Pass);
  const Checked c = judge_order(kernels, schedule::make_linear(g, calls, {waw, raw}));
  EXPECT_EQ(c.verdict.answer, Answer::Fail) << c.verdict.evidence;
  EXPECT_EQ(c.shape, "WAR param");
  EXPECT_NE(c.verdict.evidence.find("order 1 0 2 3, up to kernel 0, leaves"), std::string::npos)
      << c.verdict.evidence;
}

}  // namespace
}  // namespace assay::props
