#include "engine/uop/dot.h"

#include <gtest/gtest.h>

namespace assay::uop {
namespace {

TEST(Dot, DrawsNodesArrowsAndAConstantForEachOfItsUsers) {
  Graph g;
  const Ref x = g.variable("n\"", of_int(Index, 1), of_int(Index, 4));
  const Ref two = g.constant(Index, 2);
  const Ref product = g.alu(Op::Mul, {x, two});
  EXPECT_EQ(to_dot(g, g.alu(Op::Add, {product, two})),
            "digraph uop {\n"
            "  rankdir=TB;\n"
            "  node [shape=box, fontname=monospace];\n"
            "  n0 [label=\"var index {\\\"n\\\\\\\"\\\" 1 4}\"];\n"
            "  n2 [label=\"mul index\"];\n"
            "  n0 -> n2;\n"
            "  n1_2_1 [label=\"index 2\", shape=plaintext];\n"
            "  n1_2_1 -> n2;\n"
            "  n3 [label=\"add index\"];\n"
            "  n2 -> n3;\n"
            "  n1_3_1 [label=\"index 2\", shape=plaintext];\n"
            "  n1_3_1 -> n3;\n"
            "}\n");
}

}  // namespace
}  // namespace assay::uop
