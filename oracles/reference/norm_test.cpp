#include "oracles/reference/test_programs.h"

namespace assay::reference {
namespace {

TEST(Norm, OfLayersRootsGroupsAndBatches) {
  EXPECT_EQ(judged(R"(
x: f32[2, 3] = input(data=[1, 2, 4, -1, 0, 3])
w: f32[3] = input(data=[1, 2, 0.5])
b: f32[3] = input(data=[0, 1, -1])
a: f32[2, 3] = layer_norm(x, axes=[1])
expect a = [-1.069041531, -0.2672603829, 1.336301914, -0.9805789785, -0.3922315914, 1.37281057]
c: f32[2, 3] = layer_norm(x, w, b, axes=[-1])
expect c = [-1.069041531, 0.4654792343, -0.3318490428, -0.9805789785, 0.2155368172, -0.313594715]
d: f32[2, 3] = rms_norm(x, w, axes=[1])
expect d = [0.377964446, 1.511857784, 0.755928892, -0.5477224753, 0, 0.821583713]
e: f32[2, 3] = layer_norm(x, axes=[0, 1], eps=0.5)
expect e = [-0.2705008904, 0.2705008904, 1.352504452, -1.352504452, -0.8115026712, 0.8115026712]
g: f32[1, 4, 2] = input(data=[1, 2, 3, 5, 8, 13, 21, 34])
gw: f32[4] = input(data=[1, 2, 3, 4])
gb: f32[4] = input(data=[0, 0, 1, 1])
f: f32[1, 4, 2] = group_norm(g, gw, gb, groups=2)
expect f = [-1.183213252, -0.5070913938, 0.3380609292, 3.042548363, -2.359311376, -0.8323516599, 1.814378515, 7.107838866]
m: f32[3] = input(data=[1, 0, 2])
v: f32[3] = input(data=[4, 1, 0.25])
h: f32[2, 3] = batch_norm(x, m, v, w, b)
expect h = [0, 4.99998, 0.9999600012, -0.99999875, 1, -1.999940002e-05]
i: f32[2, 3] = batch_norm(x, m, v, eps=0)
expect i = [0, 2, 4, -1, 0, 2]
)"),
            "");
}

TEST(Norm, IsRefusedByTheRuleItBreaks) {
  EXPECT_EQ(error_of("x: f32[2, 3] = full(value=1)\nw: f32[2] = full(value=1)\n"
                     "y: f32[2, 3] = layer_norm(x, w, axes=[1])"),
            "4: w is [2] for elements of [3]");
  EXPECT_EQ(error_of("x: f32[2, 3] = full(value=1)\nw: f16[3] = full(value=1)\n"
                     "y: f32[2, 3] = layer_norm(x, w, axes=[1])"),
            "4: layer_norm of f16 beside f32");
  EXPECT_EQ(error_of("x: f32[2, 3] = full(value=1)\ny: f32[2, 3] = group_norm(x, groups=2)"),
            "3: [2, 3] is not divided in 2 groups of channels");
}

TEST(Attention, WeighsRowsOfVByTheScores) {
  EXPECT_EQ(judged(R"(
q: f32[2, 2] = input(data=[1, 0, 0.5, -1])
k: f32[3, 2] = input(data=[1, 1, 0, 2, -1, 0.5])
v: f32[3, 1] = input(data=[1, 2, 4])
a: f32[2, 1] = attention(q, k, v)
expect a = [1.704083145, 2.197409642]
b: f32[2, 1] = attention(q, k, v, scale=1)
expect b = [1.514820191, 2.116448534]
c: f32[2, 1] = attention(q, k, v, causal=true)
expect c = [1, 1.257183315]
m: bool[3] = input(data=[true, false, true])
d: f32[2, 1] = attention(q, k, v, m)
expect d = [1.586710952, 2.237562997]
n: f32[2, 3] = input(data=[0, 1, 0, -inf, 0, 0])
e: f32[2, 1] = attention(q, k, v, n)
expect e = [1.801129028, 3.339523099]
no: bool[3] = full(value=false)
f: f32[2, 1] = attention(q, k, v, no)
expect f = nan
)"),
            "");
}

}  // namespace
}  // namespace assay::reference
