#include <gtest/gtest.h>

#include "engine/tensor/build_check.h"

namespace assay::tensor {
namespace {

struct Fault {
  std::string_view text;
  std::string_view message;
};

constexpr Fault kFaults[] = {
    {"x: f32[5] = input()\ny: f32[4] = add(x, 1)", "the written shape is [4], add gives [5]"},
    {"x: bool[2] = input()\ny: bool[2] = add(x, x)",
     "add takes numbers; its operands promote to bool"},
    {"x: bool[2] = input()\ny: bool[2] = neg(x)", "neg takes numbers; x is bool"},
    {"x: i32[2] = input()\ny: i32[2] = mean(x, axes=[])", "mean takes floats; x is i32"},
    {"x: i32[2] = input()\ny: f32[2] = add(x, 1)", "the written type is f32, add gives i32"},
    {"y: f32[] = add(1, 2.5)", "add of numbers alone has no type"},
    {"y: f32[] = sum(1)", "sum of a number alone has no type"},
    {"x: u8[2] = input()\ny: u8[2] = add(x, 300)", "y is 300, which is no u8"},
    {"x: f32[2] = input()\nz: f32[3] = input()\ny: f32[3] = add(x, z)",
     "shapes [2] and [3] do not broadcast"},
    {"x: f32[4] = input()\ny: f32[5] = reshape(x)",
     "reshape of [4] to [5] changes the number of elements"},
    {"x: f32[4] = input()\ny: f32[] = sum(x, axes=[1])", "sum names axis 1 of a value of rank 1"},
    {"x: f32[] = input()\ny: f32[] = sum(x, axes=[1])", "sum names axis 1 of a value of rank 0"},
    {"x: f32[4, 4] = input()\ny: f32[] = sum(x, axes=[1, -1])", "sum names axis -1 twice"},
    {"x: f32[4] = input()\ny: f32[] = sum(x, acc=i32)", "sum of f32 cannot accumulate in i32"},
    {"x: f32[0] = input()\ny: i32[] = argmax(x)", "argmax of an empty axis"},
    {"x: f32[4] = input()\ny: f32[2] = slice(x, at=[3:5])",
     "slice takes 3 to 5 of axis 0, whose size is 4"},
    {"x: f32[4] = input()\ny: f32[2] = slice(x, at=[3:2])",
     "slice takes 3 to 2 of axis 0, whose size is 4"},
    {"x: f32[4] = input()\ny: f32[2] = slice(x, at=[0:2, 0:2])",
     "slice has 2 slices of a value of rank 1"},
    {"x: f32[3] = input()\ny: f32[9] = pad(x, low=[3], high=[3], mode=reflect)",
     "shrink of [3] takes 3 from 1 of axis 0"},
    {"x: f32[3] = input()\nz: f32[2, 3] = input()\ny: f32[2, 3] = cat(x, z)",
     "cat of shapes [3] and [2, 3]"},
    {"x: f32[3] = input()\nz: f32[4] = input()\ny: f32[2, 3] = stack(x, z)",
     "stack of shapes [3] and [4]"},
    {"x: bool[4] = input()\ny: u8[4] = bitcast(x)", "bitcast of bool to u8: bool has no layout"},
    {"x: u8[3] = input()\ny: u16[1] = bitcast(x)", "bitcast of u8 [3] to u16 cuts an element"},
    {"x: f32[2, 3] = input()\nz: f32[2, 3] = input()\ny: f32[2, 3] = matmul(x, z)",
     "matmul of shapes [2, 3] and [2, 3]"},
    {"x: f32[2, 3] = input()\nz: f32[2, 3] = input()\ny: f32[2] = einsum(x, z, "
     "equation=\"ij,jk->i\")",
     "einsum has a letter j of two sizes"},
    {"x: f32[2, 3] = input()\ny: f32[2] = einsum(x, equation=\"ij->k\")",
     "einsum takes an equation like ij,jk->ik; it is ij->k"},
    {"x: f32[1, 3, 4] = input()\nw: f32[2, 2, 3] = input()\ny: f32[1, 2, 2] = conv(x, w)",
     "conv of shapes [1, 3, 4] and [2, 2, 3] in 1 groups"},
    {"x: f32[1, 1, 2] = input()\nw: f32[1, 1, 3] = input()\ny: f32[1, 1, 0] = conv(x, w)",
     "conv has a window of 3 in an axis of 2"},
    {"x: f32[3] = input()\nw: f16[3] = input()\ny: f32[3] = rms_norm(x, w, axes=[0])",
     "rms_norm takes operands of one type; x is f32, w is f16"},
    {"x: f16[3] = input()\ny: f32[3] = rms_norm(x, axes=[0])",
     "the written type is f32, rms_norm gives f16"},
    {"x: bf16[3] = input()\ny: f32[3] = layer_norm(x, axes=[0])",
     "the written type is f32, layer_norm gives bf16"},
    {"x: f32[2, 3] = input()\nw: f32[2, 3] = input()\ny: f32[2, 3] = rms_norm(x, w, axes=[1])",
     "rms_norm has a w of shape [2, 3] beside [2, 3]"},
    {"x: f32[3] = input()\ni: f32[3] = input()\ny: f32[3] = gather(x, i)",
     "gather takes integers as positions; i is f32"},
    {"x: bool[3] = input()\ni: i32[3] = input()\ny: bool[3] = scatter(x, i, x, reduce=mul)",
     "scatter folds bool by mul"},
    {"x: f32[3] = input()\ny: f32[4] = topk(x, k=4)", "topk takes 4 of axis 0 of [3]"},
    {"c: i32[3] = input()\nx: f32[3] = input()\ny: f32[3] = where(c, x, x)",
     "where takes a bool c; it is i32"},
    {"var n in 1..8 = 3\nvar m in 1..8 = 4\na: f32[n] = input()\nb: f32[m] = input()\n"
     "y: f32[n] = add(a, b)",
     "shapes [3] and [4] do not broadcast"},
    {"var n in 1..8 = 3\na: f32[n] = input()\ny: f32[n + 1] = neg(a)",
     "the written shape is [4], neg gives [3]"},
};

TEST(BuildErrors, NameTheRuleThatIsBroken) {
  for (const Fault& fault : kFaults)
    EXPECT_EQ(build_error(fault.text), fault.message) << fault.text;
}

// What is malformed of the first try is in the graph when the second one begins.
TEST(BuildErrors, AreTheSameWhereAStatementIsTriedAgain) {
  for (const Fault& fault : kFaults) {
    Graph g;
    for (int time = 0; time < 2; time++) {
      const Result<BuiltProgram> all = build_all(g, fault.text);
      ASSERT_FALSE(all.ok()) << fault.text;
      EXPECT_EQ(all.error().message, fault.message) << fault.text;
    }
  }
}

}  // namespace
}  // namespace assay::tensor
