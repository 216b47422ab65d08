#include "engine/uop/scope.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/uop/dim.h"
#include "engine/uop/test_terms.h"

namespace assay::uop {
namespace {

Ref device_named(Graph& g, std::string_view name) {
  return g.make(Op::Device, Void, {}, g.name(name));
}

Ref buffer_at(Graph& g, int32_t number, Ref where) {
  return g.make(Op::Buffer, F32, {dim(g, 16), where}, Arg::place(number, AddrSpace::Global));
}

// "0:loop 1:reduce".
std::string text(std::span<const Ref> ranges) {
  std::string text;
  for (const Ref r : ranges) {
    if (!text.empty()) text += ' ';
    text += std::to_string(r->arg.number()) + ":" + std::string(to_text(r->arg.axis_type()));
  }
  return text;
}

bool same(std::span<const Ref> a, std::span<const Ref> b) {
  return a.data() == b.data() && a.size() == b.size();
}

TEST(Ranges, AreTheLoopsOfTheSources) {
  Graph g;
  const Ref r0 = loop(g, 0, dim(g, 4));
  const Ref r1 = loop(g, 1, dim(g, 4));
  EXPECT_TRUE(ranges(g, dim(g, 4)).empty());
  EXPECT_EQ(text(ranges(g, r0)), "0:loop");
  EXPECT_EQ(text(ranges(g, g.alu(Op::Add, {r1, r0}))), "0:loop 1:loop");
  EXPECT_TRUE(same(ranges(g, g.alu(Op::Add, {r1, r0})), ranges(g, g.alu(Op::Mul, {r0, r1}))));
  EXPECT_TRUE(same(ranges(g, g.alu(Op::Neg, {r1})), ranges(g, r1)));
  const Ref sum = g.alu(Op::Add, {r0, r1});
  EXPECT_TRUE(same(ranges(g, g.alu(Op::Add, {sum, r1})), ranges(g, sum)));
}

TEST(Ranges, AreOrderedByNumberTypeAndStructure) {
  const auto made = [](bool backwards) {
    Graph g;
    std::vector<Ref> loops;
    if (backwards) dim(g, 9);
    for (int i = 0; i < 4; i++) {
      const int32_t number = backwards ? 3 - i : i;
      loops.push_back(loop(g, number, dim(g, 4), AxisType::Unroll));
      loops.push_back(loop(g, number, dim(g, backwards ? 5 : 4)));
      loops.push_back(loop(g, number, dim(g, backwards ? 4 : 5)));
    }
    std::string shown;
    for (const Ref r : ranges(g, g.make(Op::Sink, Void, loops))) {
      shown += text({&r, 1}) + "<" + std::to_string(int64_t(as_int(r->src[0]->value()))) + " ";
    }
    return shown;
  };
  EXPECT_EQ(made(false), made(true));
  EXPECT_EQ(made(false).find("0:loop"), 0U);
  EXPECT_LT(made(false).find("2:unroll"), made(false).find("3:loop"));
}

TEST(Ranges, IncludeThoseOfASize) {
  Graph g;
  const Ref r0 = loop(g, 0, dim(g, 4));
  const Ref r1 = loop(g, 1, g.alu(Op::Add, {r0, dim(g, 1)}));
  EXPECT_EQ(text(ranges(g, r1)), "0:loop 1:loop");
  const Ref x = g.make(Op::Cast, F32, {r1});
  const Ref inner = g.make(Op::Reduce, F32, {x, r1}, Arg::fold(Op::Add, 0));
  EXPECT_EQ(text(ranges(g, inner)), "0:loop");
}

TEST(Ranges, AreClosedByEndReduceAndStage) {
  Graph g;
  const Ref r0 = loop(g, 0, dim(g, 4));
  const Ref r1 = loop(g, 1, dim(g, 4), AxisType::Reduce);
  const Ref x = g.make(Op::Cast, F32, {g.alu(Op::Add, {r0, r1})});
  const auto closing = [&](Op op, Arg arg) { return g.make(op, F32, {x, r1}, arg); };
  const Ref reduce = closing(Op::Reduce, Arg::fold(Op::Add, 0));
  EXPECT_EQ(text(ranges(g, reduce)), "0:loop");
  EXPECT_TRUE(same(ranges(g, reduce), ranges(g, r0)));
  EXPECT_EQ(text(ranges(g, closing(Op::Stage, Arg::place(0, AddrSpace::Local)))), "0:loop");
  EXPECT_EQ(text(ranges(g, closing(Op::End, {}))), "0:loop");
  EXPECT_TRUE(ranges(g, g.make(Op::End, F32, {x, r0, r1})).empty());
  EXPECT_EQ(text(ranges(g, g.make(Op::After, F32, {x, r1}))), "0:loop 1:reduce");
}

TEST(Ranges, AreClosedByATermThatTookTheirPlace) {
  Graph g;
  const Ref r0 = loop(g, 0, dim(g, 4));
  const Ref r1 = loop(g, 1, dim(g, 4));
  const Ref r2 = loop(g, 2, dim(g, 4));
  const Ref both = g.alu(Op::Add, {r0, r1});
  const Ref x = g.make(Op::Cast, F32, {g.alu(Op::Add, {both, r2})});
  EXPECT_EQ(text(ranges(g, g.make(Op::End, F32, {x, both, dim(g, 0)}))), "2:loop");
}

TEST(Ranges, OfACallAreThoseOfItsArguments) {
  Graph g;
  const Ref r0 = loop(g, 0, dim(g, 4));
  const Ref r1 = loop(g, 1, dim(g, 4));
  EXPECT_EQ(text(ranges(g, g.make(Op::Call, Index, {r0, r1}, g.info("f", {})))), "1:loop");
  EXPECT_TRUE(ranges(g, g.make(Op::Call, Index, {r0}, g.info("f", {}))).empty());
}

TEST(Device, ComesFromCopiesAndStorage) {
  Graph g;
  const Ref here = device_named(g, "sim:0");
  const Ref there = device_named(g, "sim:1");
  const Ref x = buffer_at(g, 0, here);
  const Ref y = buffer_at(g, 1, there);
  EXPECT_EQ(device(g, x), here);
  EXPECT_EQ(device(g, here), here);
  EXPECT_EQ(device(g, dim(g, 1)), nullptr);
  EXPECT_EQ(device(g, g.make(Op::Param, F32, {dim(g, 4)}, Arg::number(0))), nullptr);
  EXPECT_EQ(device(g, g.make(Op::Copy, F32, {x, there})), there);
  EXPECT_EQ(device(g, g.make(Op::AllReduce, F32, {x, there}, Arg::fold(Op::Add, 0))), there);
  EXPECT_EQ(device(g, g.alu(Op::Add, {g.constant(F32, 1), y})), there);
  EXPECT_EQ(device(g, g.alu(Op::Add, {x, y})), here);
  EXPECT_EQ(device(g, g.make(Op::Call, F32, {x, y}, g.info("f", {}))), there);
  const Ref shards = g.make(Op::MStack, F32, {x, y});
  EXPECT_EQ(device(g, g.make(Op::MSelect, F32, {shards}, Arg::number(1))), there);
  EXPECT_EQ(device(g, g.make(Op::MSelect, F32, {shards}, Arg::number(7))), here);
}

using FindsBuffer = Ref (*)(Graph&, Ref);

// The mutant of bug B007: movement operations are views, a bitcast is not.
Ref buffer_up_to_a_bitcast(Graph& g, Ref u) {
  for (Ref at = u; is_movement(at->op) || at->op == Op::Bitcast; at = at->src[0]) {
    if (at->op == Op::Bitcast) return nullptr;
  }
  return buffer(g, u);
}

bool finds_views(FindsBuffer find) {
  Graph g;
  const Ref x = buffer_at(g, 0, device_named(g, "sim:0"));
  const Ref bits = g.make(Op::Bitcast, U32, {x});
  const Ref part = g.make(Op::Shrink, U32, {bits, dim(g, 1), dim(g, 3)});
  return find(g, x) == x && find(g, bits) == x && find(g, part) == x;
}

TEST(Buffer, IsSeenThroughBitcastsAsInB007) {
  EXPECT_TRUE(finds_views(buffer));
  EXPECT_FALSE(finds_views(buffer_up_to_a_bitcast));
}

TEST(Buffer, IsSeenThroughViewsOnly) {
  Graph g;
  const Ref here = device_named(g, "sim:0");
  const Ref x = buffer_at(g, 0, here);
  const Ref y = buffer_at(g, 1, here);
  const Ref p = g.make(Op::Param, F32, {dim(g, 16)}, Arg::number(0));
  const Ref store = g.make(Op::Store, Void, {x, y});
  const Ref after = g.make(Op::After, F32, {x, store});
  const Ref shards = g.make(Op::MStack, F32, {x, y});
  const Ref element = g.make(Op::Index, F32, {after, dim(g, 3)});
  EXPECT_EQ(buffer(g, p), p);
  EXPECT_EQ(buffer(g, after), x);
  EXPECT_EQ(buffer(g, element), x);
  EXPECT_EQ(buffer(g, g.make(Op::Flip, F32, {y}, g.numbers({}))), y);
  EXPECT_EQ(buffer(g, g.make(Op::MSelect, F32, {y}, Arg::number(0))), y);
  EXPECT_EQ(buffer(g, g.make(Op::MSelect, F32, {shards}, Arg::number(1))), y);
  const std::vector<Ref> values = {
      g.make(Op::Load, F32, {element}),
      g.alu(Op::Add, {x, y}),
      g.make(Op::Cast, F64, {x}),
      g.make(Op::Contiguous, F32, {x}),
      g.make(Op::Copy, F32, {x, here}),
      g.make(Op::Reshape, F32, {g.alu(Op::Neg, {x}), dim(g, 16)}),
      shards,
      dim(g, 3),
  };
  for (const Ref u : values) EXPECT_EQ(buffer(g, u), nullptr) << to_text(u->op);
}

TEST(Scope, AsksOncePerNodeAsInB185) {
  Graph g;
  const Ref here = device_named(g, "sim:0");
  const Ref r = loop(g, 0, dim(g, 16));
  const Ref x = buffer_at(g, 0, here);
  Ref sum = g.make(Op::Load, F32, {g.make(Op::Index, F32, {x, r})});
  Ref view = x;
  for (int i = 0; i < 60; i++) {
    sum = g.alu(Op::Add, {sum, sum});
    view = g.make(Op::After, F32, {view, view});
  }
  EXPECT_TRUE(same(ranges(g, sum), ranges(g, r)));
  EXPECT_EQ(device(g, sum), here);
  EXPECT_EQ(buffer(g, view), x);
  EXPECT_EQ(buffer(g, sum), nullptr);
}

TEST(Scope, GoesThroughAMillionNodesAsInB186) {
  Graph g;
  const Ref here = device_named(g, "sim:0");
  const Ref x = buffer_at(g, 0, here);
  std::vector<Ref> loops;
  loops.reserve(8);
  for (int i = 0; i < 8; i++) loops.push_back(g.make(Op::Cast, F32, {loop(g, i, dim(g, 4))}));
  Ref sum = x;
  Ref view = x;
  for (int i = 0; i < 1'000'000; i++) {
    sum = g.make(Op::Add, F32, {sum, loops[i % 8]});
    view = g.make(Op::Flip, F32, {view}, Arg::number(0));
  }
  EXPECT_EQ(ranges(g, sum).size(), 8U);
  EXPECT_TRUE(same(ranges(g, sum), ranges(g, sum->src[0])));
  EXPECT_EQ(device(g, sum), here);
  EXPECT_EQ(buffer(g, view), x);
}

TEST(Scope, UnitesAHundredThousandRanges) {
  Graph g;
  std::vector<Ref> loops;
  loops.reserve(100'001);
  for (int i = 100'000; i-- > 0;) loops.push_back(loop(g, i, dim(g, 2)));
  const Ref all = g.make(Op::Sink, Void, loops);
  const std::span<const Ref> set = ranges(g, all);
  ASSERT_EQ(set.size(), loops.size());
  for (size_t i = 0; i < set.size(); i++) {
    ASSERT_EQ(set[i]->arg.number(), static_cast<int64_t>(i));
  }
  loops.insert(loops.begin(), all);
  EXPECT_TRUE(ranges(g, g.make(Op::End, Void, loops)).empty());
}

}  // namespace
}  // namespace assay::uop
