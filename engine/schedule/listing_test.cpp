#include "engine/schedule/listing.h"

#include <gtest/gtest.h>

#include "engine/schedule/sample_graph.h"

namespace assay::schedule {
namespace {

class Listing : public testing::Test, public SampleGraph {
 protected:
  Listing() {
    const Ref a = buffer(4);
    const Ref b = buffer(4);
    const Ref out = param(0, 4);
    const Ref calls[] = {writes("fill", {a}), changes("add", {out, a}), changes("add", {out, a}),
                         writes("other", {b})};
    linear_ = make_linear(g, calls, {{0, 1, EdgeKind::Raw}, {1, 2, EdgeKind::Raw}});
    int32_t next = 100;
    planned_ = std::move(memory_plan_rewrite(g, linear_, next)).value();
  }

  Ref linear_;
  Planned planned_;
};

TEST_F(Listing, ACallNamesWhatItWritesAndReads) {
  EXPECT_EQ(call_text(g, linear_->src[0]), "fill on sim:0: b0 f32[4]");
  EXPECT_EQ(call_text(g, linear_->src[1]), "add on sim:0: p0 f32[4] <- b0 f32[4]");
  EXPECT_EQ(call_text(g, planned_.linear->src[1]), "add on sim:0: p0 f32[4] <- b100+0 f32[4]");
}

TEST_F(Listing, AScheduleIsATable) {
  EXPECT_EQ(schedule_text(g, linear_),
            "call  kernel  device  writes  reads       waits for\n"
            "0     fill    sim:0   b0.1    -           -\n"
            "1     add     sim:0   p0.1    p0.0, b0.1  0 RAW\n"
            "2     add     sim:0   p0.2    p0.1, b0.1  1 RAW\n"
            "3     other   sim:0   b1.1    -           -\n");
}

TEST_F(Listing, AScheduleIsAPicture) {
  EXPECT_EQ(schedule_dot(g, planned_.linear),
            "digraph schedule {\n"
            "  rankdir=TB;\n"
            "  node [shape=box, fontname=monospace];\n"
            "  k0 [label=\"0 fill on sim:0\", tooltip=\"b100+0.1 <- -\"];\n"
            "  k1 [label=\"1 add on sim:0\", tooltip=\"p0.1 <- p0.0, b100+0.1\"];\n"
            "  k2 [label=\"2 add on sim:0\", tooltip=\"p0.2 <- p0.1, b100+0.1\"];\n"
            "  k3 [label=\"3 other on sim:0\", tooltip=\"b100+0.2 <- -\"];\n"
            "  k0 -> k1 [label=\"RAW\", color=black];\n"
            "  k1 -> k2 [label=\"RAW\", color=black];\n"
            "  k2 -> k3 [label=\"reuse\", color=blue];\n"
            "}\n");
}

TEST_F(Listing, APlanIsATableForEachArena) {
  EXPECT_EQ(plan_text(planned_.plan),
            "arena b100 on sim:0, compute: 256 bytes, 1.000 of the lower bound 256; 512 side by "
            "side; packed: in turn\n"
            "  offset  bytes  calls  buffer  type\n"
            "  0       16     0-2    b0      f32[4]\n"
            "  0       16     3-3    b1      f32[4]\n"
            "planned 256 bytes in 1 arenas, 1.000 of the lower bound 256; 512 side by side\n"
            "reuse edges: 2 -> 3\n");
}

TEST_F(Listing, APlanSaysWhyABufferIsKept) {
  const Ref held[] = {buffer(4)};
  const Ref calls[] = {writes("fill", {held[0]})};
  int32_t next = 100;
  const auto planned = memory_plan_rewrite(g, make_linear(g, calls, {}), next, {held, {}});
  ASSERT_TRUE(planned.ok());
  EXPECT_EQ(plan_text(planned.value().plan),
            "not planned\n"
            "  b2  f32[4]  on sim:0  16 bytes  calls 0-0  held\n"
            "planned 0 bytes in 0 arenas, 1.000 of the lower bound 0; 0 side by side\n"
            "reuse edges: none\n");
}

TEST_F(Listing, APlanIsAPicture) {
  EXPECT_EQ(plan_dot(planned_.plan),
            "digraph plan {\n"
            "  rankdir=LR;\n"
            "  node [shape=box, fontname=monospace];\n"
            "  subgraph cluster0 {\n"
            "    label=\"arena b100 on sim:0, compute: 256 bytes, 1.000 of the lower bound 256; "
            "512 side by side\";\n"
            "    b0 [label=\"b0 f32[4]\\n0 + 16\\ncalls 0-2\"];\n"
            "    b1 [label=\"b1 f32[4]\\n0 + 16\\ncalls 3-3\"];\n"
            "  }\n"
            "  b0 -> b1;\n"
            "}\n");
}

}  // namespace
}  // namespace assay::schedule
