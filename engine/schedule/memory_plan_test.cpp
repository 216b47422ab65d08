#include "engine/schedule/memory_plan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/schedule/sample_graph.h"
#include "engine/uop/scope.h"
#include "engine/uop/shape.h"
#include "engine/uop/text.h"
#include "engine/uop/verify.h"

namespace assay::schedule {
namespace {

class MemoryPlanning : public testing::Test, public SampleGraph {
 protected:
  std::string plan(std::initializer_list<Ref> calls, std::vector<Edge> edges = {},
                   std::vector<Ref> held = {}, std::vector<std::string> opted_in = {}) {
    const Ref linear = make_linear(g, std::span(calls.begin(), calls.size()), std::move(edges));
    auto result = memory_plan_rewrite(g, linear, next_, {held, opted_in});
    if (!result.ok()) return result.error().message;
    planned_ = std::move(result).value();
    EXPECT_EQ(uop::verify(g, planned_.linear).value_or(""), "");
    for (const Ref u : planned_.linear->src) {
      for (const Ref arg : u->src.subspan(1)) {
        EXPECT_EQ(uop::shape_error(g, arg).value_or(""), "");
      }
    }
    return brief(planned_.linear);
  }
  Ref argument(size_t k, size_t i) const { return planned_.linear->src[k]->src[i + 1]; }
  // "arena 100 + 256: 16 bytes of f32"
  std::string place(Ref arg) {
    const std::string_view type = to_text(arg->dtype);
    const Ref part = arg->op == uop::Op::Bitcast ? arg->src[0] : arg;
    if (part->op != uop::Op::Shrink) return std::string(to_text(arg->op));
    return fmt::format("{} + {}: {} bytes of {}", part->src[0]->arg.number(),
                       part->src[1]->arg.bits, part->src[2]->arg.bits, type);
  }

  int32_t next_ = 100;
  Planned planned_;
};

TEST_F(MemoryPlanning, BuffersBecomePartsOfAnArena) {
  const Ref a = buffer(4);
  const Ref b = buffer(4);
  const Ref c = buffer(4);
  const Ref out = buffer(4);
  EXPECT_EQ(
      plan({writes("a", {a}), writes("b", {b, a}), writes("c", {c, b}), writes("d", {out, c})},
           {{0, 1, EdgeKind::Raw}, {1, 2, EdgeKind::Raw}, {2, 3, EdgeKind::Raw}}, {out}),
      "a b c d; 0 RAW 1, 1 RAW 2, 2 RAW 3");
  EXPECT_EQ(place(argument(0, 0)), "100 + 0: 16 bytes of f32");
  EXPECT_EQ(place(argument(1, 0)), "100 + 256: 16 bytes of f32");
  EXPECT_EQ(argument(2, 0), argument(0, 0));
  EXPECT_EQ(argument(3, 0), out);
  EXPECT_EQ(uop::device(g, argument(0, 0)), device("sim:0"));
  EXPECT_EQ(planned_.plan.planned_bytes, 512);
  EXPECT_EQ(planned_.plan.lower_bound_bytes, 512);
  EXPECT_EQ(planned_.plan.wanted_bytes, 768);
  EXPECT_EQ(next_, 101);
}

TEST_F(MemoryPlanning, ReuseAddsEdges) {
  const Ref a = buffer(4);
  const Ref b = buffer(4);
  const Ref out = buffer(4);
  EXPECT_EQ(plan({writes("a", {a}), writes("b", {out, a}), writes("c", {b})},
                 {{0, 1, EdgeKind::Raw}}, {out}),
            "a b c; 0 RAW 1, 1 reuse 2");
}

TEST_F(MemoryPlanning, TypesKeepTheirBytes) {
  const Ref half = buffer(3, uop::F16);
  const Ref bits = buffer(5, uop::Bool);
  const Ref bytes = buffer(5, uop::U8);
  const Ref wide = buffer(100, uop::I64);
  plan({writes("all", {half, bits, bytes, wide})});
  EXPECT_EQ(place(argument(0, 0)), "100 + 0: 6 bytes of f16");
  EXPECT_EQ(place(argument(0, 1)), "100 + 256: 5 bytes of u8");
  EXPECT_EQ(place(argument(0, 2)), "100 + 512: 5 bytes of u8");
  EXPECT_EQ(place(argument(0, 3)), "100 + 768: 800 bytes of i64");
  EXPECT_EQ(uop::constant_size(uop::shape(g, argument(0, 3))), 100);
}

TEST_F(MemoryPlanning, ViewsOfABufferFollowIt) {  // B034
  const Ref sources[] = {uop::dim(g, 4), uop::dim(g, 4), device("sim:0")};
  const Ref base = g.make(uop::Op::Buffer, uop::F32, sources,
                          uop::Arg::place(next_buffer++, uop::AddrSpace::Global));
  const Ref bounds[] = {uop::dim(g, 1), uop::dim(g, 2), uop::dim(g, 0), uop::dim(g, 4)};
  const Ref part = uop::shrink(g, base, bounds);
  const Ref out = buffer(4);
  plan({writes("reads", {out, part}), writes("writes", {base})}, {{0, 1, EdgeKind::War}}, {out});
  const Ref moved = argument(0, 1);
  EXPECT_EQ(moved->op, uop::Op::Shrink);
  EXPECT_EQ(uop::shape_text(uop::shape(g, moved)), "[2, 4]");
  EXPECT_EQ(uop::buffer(g, moved)->arg.number(), 100);
  EXPECT_EQ(uop::buffer(g, argument(1, 0))->arg.number(), 100);
  EXPECT_EQ(moved->src[0]->src[0], argument(1, 0));
}

TEST_F(MemoryPlanning, ShardsAreBuffersOfTheirOwn) {
  const Ref left = buffer(4, uop::F32, "sim:0");
  const Ref right = buffer(4, uop::F32, "sim:1");
  plan({writes("both", {stack({left, right})})});
  EXPECT_EQ(argument(0, 0)->op, uop::Op::MStack);
  EXPECT_EQ(place(argument(0, 0)->src[0]->src[0]), "100 + 0: 16 bytes of f32");
  EXPECT_EQ(place(argument(0, 0)->src[1]->src[0]), "101 + 0: 16 bytes of f32");
}

TEST_F(MemoryPlanning, ACopyPutsItsBuffersInALane) {
  const Ref a = buffer(4, uop::F32, "sim:0");
  const Ref b = buffer(4, uop::F32, "sim:1");
  const Ref bounds[] = {uop::dim(g, 0), uop::dim(g, 4)};
  const Ref moved =
      g.make(uop::Op::Copy, uop::F32, {uop::shrink(g, flat(1, 4), bounds), device("sim:1")});
  const Ref body =
      g.make(uop::Op::Sink, uop::Void,
             {g.make(uop::Op::Store, uop::Void, {uop::shrink(g, flat(0, 4), bounds), moved})},
             g.info("copy", {}));
  const Ref c = buffer(4, uop::F32, "sim:1");
  plan({writes("a", {a}), call(body, {b, a}), writes("c", {c, b})});
  std::string lanes;
  for (const MemoryPlan::Arena& arena : planned_.plan.arenas) {
    lanes += fmt::format("{} {} {};", arena.device, to_text(arena.lane), arena.bytes);
  }
  EXPECT_EQ(lanes, "sim:0 copy 256;sim:1 compute 256;sim:1 copy 256;");
}

TEST_F(MemoryPlanning, SizesLeave32Bits) {  // B041
  const Ref large = buffer((int64_t{1} << 30) + 64);
  const Ref small = buffer(4);
  plan({writes("both", {large, small})});
  EXPECT_EQ(place(argument(0, 1)), "100 + 4294967552: 16 bytes of f32");
}

TEST_F(MemoryPlanning, WhatNoArenaHoldsIsRefused) {  // B035
  const Ref a = buffer(int64_t{1} << 61);
  const Ref b = buffer(int64_t{1} << 61);
  EXPECT_EQ(plan({writes("both", {a, b})}),
            "the arena of sim:0 takes 72057594037927936 blocks of 256 bytes, which leaves 63 bits");
  const Ref dims[] = {uop::dim(g, int64_t{1} << 60), uop::dim(g, int64_t{1} << 60),
                      uop::dim(g, int64_t{1} << 60), device("sim:0")};
  const Ref endless = g.make(uop::Op::Buffer, uop::F32, dims,
                             uop::Arg::place(next_buffer++, uop::AddrSpace::Global));
  EXPECT_EQ(plan({writes("one", {endless})}),
            "buffer 2 of [1152921504606846976, 1152921504606846976, 1152921504606846976] is more "
            "than can be planned");
}

TEST_F(MemoryPlanning, SymbolicSizesTakeTheirLargest) {
  const Ref n = g.variable("n", uop::of_int(uop::Index, 1), uop::of_int(uop::Index, 100));
  const Ref sources[] = {n, device("sim:0")};
  const Ref a = g.make(uop::Op::Buffer, uop::F32, sources,
                       uop::Arg::place(next_buffer++, uop::AddrSpace::Global));
  plan({writes("a", {a})});
  EXPECT_EQ(place(argument(0, 0)), "100 + 0: 400 bytes of f32");
  const Ref endless[] = {g.variable("m", uop::Index), device("sim:0")};
  const Ref b = g.make(uop::Op::Buffer, uop::F32, endless,
                       uop::Arg::place(next_buffer++, uop::AddrSpace::Global));
  EXPECT_EQ(plan({writes("b", {b})}), "buffer 1 of [m] has no largest size");
}

class Excluded : public MemoryPlanning, public testing::WithParamInterface<Exclusion> {};

TEST_P(Excluded, IsLeftAloneUnlessItMayOptIn) {
  const std::string name = fmt::format("{}:x", GetParam().kind);
  const Ref a = buffer(4, uop::F32, name);
  const Ref call = writes("a", {a});
  plan({call});
  EXPECT_EQ(argument(0, 0), a);
  EXPECT_EQ(planned_.plan.buffers[0].kept, GetParam().kind);
  EXPECT_EQ(planned_.plan.planned_bytes, 0);
  plan({call}, {}, {}, {name});
  EXPECT_EQ(argument(0, 0) != a, GetParam().may_opt_in);
  plan({call}, {}, {}, {fmt::format("{}:y", GetParam().kind)});
  EXPECT_EQ(argument(0, 0), a);
}

INSTANTIATE_TEST_SUITE_P(MemoryPlanning, Excluded,
                         testing::ValuesIn(all_exclusions().begin(), all_exclusions().end()),
                         [](const auto& row) { return std::string(row.param.kind); });

}  // namespace
}  // namespace assay::schedule
