// Public bugs of kernels that were split, padded, shared out and made of lanes: each kernel with
// lists of opts, every pass judged, and the value that is right.
#include <gtest/gtest.h>

#include <cstring>

#include "engine/codegen/opt.h"
#include "engine/codegen/scheduled_sample.h"
#include "engine/uop/text.h"
#include "engine/uop/walk.h"
#include "oracles/interpreter/lowered.h"
#include "oracles/passes/judge.h"

namespace assay::oracles {
namespace {

using codegen::grouped_target;
using codegen::ScheduledSample;
using uop::DType;
using uop::Op;
using uop::Ref;

class OptsBugs : public testing::Test {
 protected:
  template <typename T>
  void set(size_t slot, const std::vector<T>& values) {
    if (inputs.arguments.size() <= slot) inputs.arguments.resize(slot + 1);
    inputs.arguments[slot].resize(values.size() * sizeof(T));
    std::memcpy(inputs.arguments[slot].data(), values.data(), values.size() * sizeof(T));
  }

  // The kernel stores these values, and no pass changes that, whatever the list.
  template <typename T>
  void expect(Ref kernel, const std::vector<T>& want, std::initializer_list<const char*> lists) {
    set(0, std::vector<T>(want.size()));
    std::vector<interpreter::Argument> arguments(inputs.arguments.size());
    KernelInputs ran = inputs;
    for (const Ref u : uop::toposort(g, kernel)) {
      if (u->op != Op::Param) continue;
      const auto slot = static_cast<size_t>(u->arg.number());
      const auto size = static_cast<int64_t>(u->src[0]->arg.bits);
      arguments[slot] = {ran.arguments[slot], u->dtype, size, true, u->arg.number()};
    }
    const auto done = interpreter::run_kernel(g, kernel, arguments, {});
    ASSERT_TRUE(done.ok()) << to_string(done.error());
    std::vector<T> got(want.size());
    std::memcpy(got.data(), ran.arguments[0].data(), got.size() * sizeof(T));
    EXPECT_EQ(got, want);
    const PassesJudged by_itself = judge_passes(g, kernel, inputs, target);
    EXPECT_EQ(by_itself.verdict.answer, Answer::Pass) << by_itself.verdict.evidence;
    for (const char* list : lists) {
      const auto opts = codegen::opts_from_text(list);
      ASSERT_TRUE(opts.ok()) << to_string(opts.error());
      const Ref listed = codegen::with_opts(g, kernel, opts.value());
      const PassesJudged judged = judge_passes(g, listed, inputs, target);
      EXPECT_EQ(judged.verdict.answer, Answer::Pass) << list << "\n" << judged.verdict.evidence;
    }
  }

  Ref scalar_fold(Op op, Ref x, std::vector<Ref> over) {
    const Ref all = k.reduce(op, x, std::move(over));
    return k.kernel("r", {k.end(k.at(0, 1, "0", all->dtype), all, {})});
  }

  uop::Graph g;
  ScheduledSample k{g};
  uop::Target target = grouped_target();
  KernelInputs inputs;
};

TEST_F(OptsBugs, B129AProductStartsAtOne) {
  const Ref r = k.fold(3);
  set<float>(1, {1, 2, 3});
  expect<float>(scalar_fold(Op::Mul, k.at(1, 3, "r0"), {r}), {6},
                {"NONE", "UNROLL(0,0)", "GROUP(0,3)", "PADTO(0,4) UNROLL(0,2) GROUP(0,2)"});
}

TEST_F(OptsBugs, B130AFoldOverALoopThatItsValueDoesNotUse) {
  constexpr std::pair<Op, float> kFolds[] = {{Op::Add, 18}, {Op::Mul, 512}, {Op::Max, 2}};
  const Ref r = k.fold(3);
  const Ref s = k.fold(3);
  for (const auto& [op, right] : kFolds) {
    expect<float>(scalar_fold(op, k.f32(2), {r, s}), {right},
                  {"NONE", "UNROLL(0,3)", "GROUP(1,3)", "PADTO(0,8) GROUP(0,4) UNROLL(1,3)",
                   "PADTO(0,4) PADTO(1,4) UNROLL(0,4) GROUPTOP(1,4)"});
  }
}

TEST_F(OptsBugs, B131APaddedAxisUnrolledPastItsLength) {
  const Ref r = k.fold(16);
  expect<float>(scalar_fold(Op::Add, k.f32(1), {r}), {16},
                {"PADTO(0,32) UNROLL(0,32)", "PADTO(0,32) GROUP(0,32)", "PADTO(0,3) UNROLL(0,3)"});
}

TEST_F(OptsBugs, B131AsItWasFound) {
  const Ref i = k.loop(28);
  const Ref r = k.fold(2);
  const Ref s = k.fold(100);
  const Ref x = k.at(1, 5600, "(+ (+ (* r1 2800) (* r0 100)) r2)", uop::BF16);
  const Ref wide = g.make(Op::Cast, uop::F32, {x});
  const Ref half = g.alu(Op::Mul, {wide, k.f32(0.5)});
  const Ref sum = k.reduce(Op::Add, g.alu(Op::Mul, {half, half}), {r, s});
  set(1, std::vector<uint16_t>(5600, 0x3f80));
  expect<float>(k.kernel("r", {k.end(k.at(0, 28, "r0"), sum, {i})}), std::vector<float>(28, 50),
                {"PADTO(2,32) GROUP(1,32) UNROLL(1,0) UNROLL(0,0) UPCAST(0,7)",
                 "PADTO(2,256) GROUPTOP(1,256) UPCAST(0,7) UNROLL(0,2)",
                 "PADTO(1,8) GROUP(0,4) GROUP(1,4) UPCAST(0,7)"});
}

TEST_F(OptsBugs, B133B135NothingIsLessThanTheLeastOfItsType) {
  const Ref i = k.loop(6);
  const Ref r = k.fold(4);
  const std::initializer_list<const char*> lists = {
      "PADTO(1,8) GROUP(0,8)", "PADTO(1,8) UNROLL(0,0)", "PADTO(0,8) UPCAST(0,8) PADTO(1,3)"};
  const Ref floats = k.reduce(Op::Max, k.at(1, 24, "(+ (* r0 4) r1)"), {r});
  set(1, std::vector<float>(24, -1));
  expect<float>(k.kernel("r", {k.end(k.at(0, 6, "r0"), floats, {i})}), std::vector<float>(6, -1),
                lists);
  const Ref ints = k.reduce(Op::Max, k.at(1, 24, "(+ (* r0 4) r1)", uop::I32), {r});
  set(1, std::vector<int32_t>(24, -2147483647));
  expect<int32_t>(k.kernel("r", {k.end(k.at(0, 6, "r0", uop::I32), ints, {i})}),
                  std::vector<int32_t>(6, -2147483647), lists);
}

TEST_F(OptsBugs, B137SeveralSharedAxes) {
  const Ref r = k.fold(16);
  const Ref s = k.fold(16);
  set(1, std::vector<float>(320, 1));
  expect<float>(scalar_fold(Op::Add, k.at(1, 320, "(+ (* r0 20) r1)"), {r, s}), {256},
                {"GROUP(0,4) GROUP(1,4)", "GROUPTOP(0,4) GROUP(1,4) UNROLL(0,2)",
                 "PADTO(0,5) GROUP(0,5) GROUP(1,8)"});
}

TEST_F(OptsBugs, B138WhatComesAfterASharedFoldHasNoneOfItsWorkItems) {
  const Ref i = k.loop(3);
  const Ref r = k.fold(26);
  const Ref x = k.at(1, 78, "(+ (* r0 26) r1)");
  const Ref y = k.at(2, 78, "(+ (* r1 3) r0)");
  const Ref more = g.alu(Op::Add, {x, k.f32(1)});
  const Ref product = g.alu(Op::Mul, {more, y});
  const Ref sum = k.reduce(Op::Add, g.alu(Op::Mul, {product, product}), {r});
  const Ref again = g.alu(Op::Add, {sum, k.at(2, 78, "(* r0 2)")});
  set(1, std::vector<float>(78, 1));
  set(2, std::vector<float>(78, 2));
  expect<float>(k.kernel("r", {k.end(k.at(0, 3, "r0"), again, {i})}), {418, 418, 418},
                {"PADTO(1,32) GROUP(0,4)", "GROUP(0,2) UPCAST(0,3)", "LOCAL(0,3) GROUPTOP(0,13)"});
}

TEST_F(OptsBugs, B149AllOfManyFlags) {
  const Ref r = k.fold(1 << 15);
  set(1, std::vector<uint8_t>(1 << 15, 1));
  expect<uint8_t>(scalar_fold(Op::And, k.at(1, 1 << 15, "r0", uop::Bool), {r}), {1},
                  {"GROUP(0,256)", "GROUPTOP(0,32) UNROLL(0,4)", "PADTO(0,48) GROUP(0,48)"});
}

TEST_F(OptsBugs, B151ATransposeOfLanesBothWays) {
  const Ref i = k.loop(8);
  const Ref j = k.loop(32);
  std::vector<float> in;
  std::vector<float> out;
  for (int n = 0; n < 256; ++n) in.push_back(static_cast<float>(n));
  for (int n = 0; n < 256; ++n) out.push_back(static_cast<float>(n % 32 * 8 + n / 32));
  set(1, in);
  const Ref to = k.at(0, 256, "(+ (* r0 32) r1)");
  expect<float>(k.kernel("E", {k.end(to, k.at(1, 256, "(+ (* r1 8) r0)"), {i, j})}), out,
                {"UPCAST(0,4) UPCAST(1,2) LOCAL(0,2) LOCAL(1,4)", "UPCAST(1,4) UPCAST(0,2)",
                 "PADTO(1,24) UPCAST(1,8) LOCAL(0,8)"});
}

TEST_F(OptsBugs, B154LanesOnBothSidesOfAGate) {
  const Ref i = k.loop(7);
  const Ref inside = k.term("(< 1 r0)");
  const Ref x = k.at(1, 5, "(where (< 1 r0) (+ r0 -2) invalid)");
  const Ref value = g.alu(Op::Where, {inside, x, k.f32(7)});
  set<float>(1, {1, 2, 3, 4, 5});
  expect<float>(k.kernel("E", {k.end(k.at(0, 7, "r0"), value, {i})}), {7, 7, 1, 2, 3, 4, 5},
                {"PADTO(0,4) UPCAST(0,4)", "UPCAST(0,7)", "PADTO(0,2) LOCAL(0,2) UPCAST(0,4)"});
}

TEST_F(OptsBugs, B155RowsThatAreNotThere) {
  const Ref i = k.loop(5);
  const Ref j = k.loop(8);
  const Ref r = k.fold(256);
  const Ref named = g.make(Op::Cast, uop::I32, {r});
  const Ref hit = g.alu(Op::Eq, {named, k.at(1, 5, "r0", uop::I32)});
  const Ref bits = g.make(Op::Bitcast, uop::U32, {k.at(2, 2048, "(+ (* r2 8) r1)")});
  const Ref one = g.alu(Op::Where, {hit, bits, g.constant(uop::U32, 0)});
  const Ref row = g.make(Op::Bitcast, uop::F32, {k.reduce(Op::Add, one, {r})});
  set<int32_t>(1, {-19238, -257, 256, 495, 10982377});
  set(2, std::vector<float>(2048, 1));
  expect<float>(k.kernel("r", {k.end(k.at(0, 40, "(+ (* r0 8) r1)"), row, {i, j})}),
                std::vector<float>(40, 0), {"NONE", "UPCAST(1,4)", "LOCAL(0,5) UPCAST(1,8)"});
}

TEST_F(OptsBugs, B086RemaindersOfLanesWrap) {
  const Ref i = k.loop(2);
  const Ref j = k.loop(2);
  const Ref l = k.loop(8);
  const Ref u = k.term("(% (+ (+ (* r0 50) (* r1 8)) r2) 20)");
  const Ref value = g.make(Op::Cast, uop::I32, {u});
  std::vector<int32_t> want;
  for (int n = 0; n < 32; ++n) want.push_back((n / 16 * 50 + n / 8 % 2 * 8 + n % 8) % 20);
  const Ref to = k.at(0, 32, "(+ (+ (* r0 16) (* r1 8)) r2)", uop::I32);
  expect<int32_t>(k.kernel("E", {k.end(to, value, {i, j, l})}), want,
                  {"UPCAST(2,8)", "UPCAST(2,4) LOCAL(2,2)", "PADTO(2,12) UPCAST(2,4) UPCAST(0,2)"});
}

}  // namespace
}  // namespace assay::oracles
