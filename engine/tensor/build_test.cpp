#include "engine/tensor/build.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/tensor/build_check.h"

namespace assay::tensor {
namespace {

TEST(Builds, HaveARowForEachOp) {
  ASSERT_EQ(all_builds().size(), static_cast<size_t>(kOpCount));
  for (int i = 0; i < kOpCount; i++) {
    EXPECT_EQ(all_builds()[static_cast<size_t>(i)].op, static_cast<Op>(i));
    EXPECT_NE(all_builds()[static_cast<size_t>(i)].build, nullptr);
  }
}

struct Sample {
  Op op;
  std::string_view text;  // statements, the last of which is the op
};

// A statement or more of each op that is not elementwise: sizes that do and do not divide, axes of
// all kinds, scalars, empties, symbolic sizes.
constexpr Sample kSamples[] = {
    {Op::Full, "y: f32[2, 3] = full(value=2.5)"},
    {Op::Full, "y: f32[] = full(value=-0.0)"},
    {Op::Full, "y: bool[0, 4] = full(value=true)"},
    {Op::Full, "var n in 1..8 = 3\ny: i8[n] = full(value=-1)"},
    {Op::Iota, "y: i32[5] = iota()"},
    {Op::Iota, "y: f16[5] = iota(start=0.5, step=-0.25)"},
    {Op::Iota, "y: u8[0] = iota()"},
    {Op::Iota, "var n in 1..8 = 3\ny: i64[n + 1] = iota(step=2)"},
    {Op::Undefined, "y: f32[3] = undefined()"},
    {Op::RandomBits, "y: u32[5] = random_bits(seed=3)"},
    {Op::RandomBits, "y: u32[2, 3] = random_bits()"},
    {Op::RandomBits, "y: u32[0] = random_bits()"},
    {Op::RandomBits, "y: u32[1] = random_bits(seed=-1)"},
    {Op::RandomUniform, "y: f16[7] = random_uniform()"},
    {Op::Threefry, "x: u64[3] = input()\ny: u64[3] = threefry(x, 7)"},
    {Op::Cast, "x: f32[3] = input()\ny: i8[3] = cast(x)"},
    {Op::Cast, "x: f32[3] = input()\ny: f32[3] = cast(x)"},
    {Op::Where, "c: bool[2, 1] = input()\nx: i8[3] = input()\ny: f32[2, 3] = where(c, x, 0.5)"},
    {Op::Where, "x: i8[3] = input()\ny: i8[3] = where(true, 1, x)"},
    {Op::Clip, "x: u8[3] = input()\ny: u8[3] = clip(x, 2, 200)"},
    {Op::Clip, "x: f32[3] = input()\ny: f32[3] = clip(x, none, 1)"},
    {Op::Lerp, "x: f32[3] = input()\ny: f32[3] = lerp(x, 1, 0.5)"},
    {Op::Pow, "x: i32[4] = input()\ny: f32[4] = pow(x, 0.5)"},
    {Op::Pow, "x: i32[4] = input()\ny: i32[4] = pow(x, -2)"},
    {Op::Reshape, "x: f32[2, 6] = input()\ny: f32[3, 4] = reshape(x)"},
    {Op::Reshape, "x: f32[1, 1] = input()\ny: f32[] = reshape(x)"},
    {Op::Reshape, "x: f32[0, 3] = input()\ny: f32[5, 0] = reshape(x)"},
    {Op::Reshape, "var n in 1..8 = 3\nx: f32[n, 4] = input()\ny: f32[n * 4] = reshape(x)"},
    {Op::Permute, "x: f32[2, 3, 4] = input()\ny: f32[4, 2, 3] = permute(x, order=[2, 0, 1])"},
    {Op::Permute, "x: f32[2, 3, 4] = input()\ny: f32[4, 3, 2] = permute(x)"},
    {Op::Permute, "x: f32[] = input()\ny: f32[] = permute(x)"},
    {Op::Flip, "x: f32[2, 3] = input()\ny: f32[2, 3] = flip(x, axes=[-1])"},
    {Op::Slice, "x: f32[5] = input()\ny: f32[3] = slice(x, at=[0:5:2])"},
    {Op::Slice, "x: f32[5, 6] = input()\ny: f32[2, 2] = slice(x, at=[1:3, 1:6:3])"},
    {Op::Slice, "x: f32[5] = input()\ny: f32[0] = slice(x, at=[2:2:2])"},
    {Op::Slice, "x: f32[5] = input()\ny: f32[1] = slice(x, at=[4:5:9])"},
    {Op::Slice, "var k in 0..4 = 1\nx: f32[8] = input()\ny: f32[3] = slice(x, at=[k:k + 3])"},
    {Op::Slice, "var k in 0..4 = 1\nx: f32[8] = input()\ny: f32[2] = slice(x, at=[k:k + 3:2])"},
    {Op::Slice,
     "var n in 1..8 = 5\nx: f32[n] = input()\ny: f32[(n + 1) // 2] = slice(x, at=[::2])"},
    {Op::Bitcast, "x: f32[3] = input()\ny: u8[12] = bitcast(x)"},
    {Op::Bitcast, "x: u8[2, 8] = input()\ny: f64[2, 1] = bitcast(x)"},
    {Op::Bitcast, "x: f32[] = input()\ny: u32[] = bitcast(x)"},
    {Op::Bitcast, "x: bool[2] = input()\ny: bool[2] = bitcast(x)"},
    {Op::Expand, "x: f32[3, 1] = input()\ny: f32[2, 3, 4] = expand(x)"},
    {Op::Expand, "x: f32[3, 1] = input()\ny: f32[3, 0] = expand(x)"},
    {Op::Expand, "x: f32[] = input()\ny: f32[] = expand(x)"},
    {Op::Pad, "x: f32[2, 3] = input()\ny: f32[5, 4] = pad(x, low=[1, 0], high=[2, 1])"},
    {Op::Pad, "x: i8[2] = input()\ny: i8[4] = pad(x, low=[1], high=[1], value=-3)"},
    {Op::Pad, "x: bool[0] = input()\ny: bool[2] = pad(x, low=[1], high=[1], value=true)"},
    {Op::Pad, "x: f32[3] = input()\ny: f32[7] = pad(x, low=[2], high=[2], mode=reflect)"},
    {Op::Pad, "x: f32[3] = input()\ny: f32[8] = pad(x, low=[5], high=[0], mode=edge)"},
    {Op::Pad, "x: f32[3, 2] = input()\ny: f32[6, 4] = pad(x, low=[3, 1], high=[0, 1], mode=wrap)"},
    {Op::Pad,
     "var n in 1..8 = 5\nx: f32[n] = input()\ny: f32[n + 2] = pad(x, low=[1], high=[1], "
     "value=1)"},
    {Op::Stack, "x: f32[2, 3] = input()\ny: f32[2, 3, 2] = stack(x, x, axis=-1)"},
    {Op::Stack, "x: f32[] = input()\ny: f32[1] = stack(x)"},
    {Op::Cat,
     "a: f32[2, 3] = input()\nb: i8[2, 4] = input()\ny: f32[2, 10] = cat(a, b, a, axis=1)"},
    {Op::Cat, "a: i64[2, 1] = input()\ny: i64[2, 1] = cat(a, axis=1)"},
    {Op::Cat,
     "a: f32[4, 0, 4] = input()\nb: f32[4, 1, 4] = input()\ny: f32[4, 1, 4] = cat(a, b, "
     "axis=1)"},
    {Op::Cat, "var n in 1..8 = 5\na: f32[n] = input()\ny: f32[2 * n] = cat(a, a)"},
    {Op::Roll, "x: f32[5] = input()\ny: f32[5] = roll(x, shifts=[-7], axes=[0])"},
    {Op::Roll, "x: f32[2, 0, 3] = input()\ny: f32[2, 0, 3] = roll(x, shifts=[1, 1], axes=[0, 1])"},
    {Op::Roll, "var n in 1..8 = 5\nx: f32[n] = input()\ny: f32[n] = roll(x, shifts=[2], axes=[0])"},
    {Op::Repeat, "x: f32[2, 3] = input()\ny: f32[4, 3] = repeat(x, times=[2, 1])"},
    {Op::Repeat, "x: f32[2] = input()\ny: f32[0] = repeat(x, times=[0])"},
    {Op::Diagonal, "x: f32[3, 4, 5] = input()\ny: f32[3, 4] = diagonal(x)"},
    {Op::Diagonal, "x: f32[4, 5] = input()\ny: f32[2] = diagonal(x, offset=3)"},
    {Op::Diagonal, "x: f32[4, 5] = input()\ny: f32[1] = diagonal(x, offset=-3)"},
    {Op::Diagonal, "x: f32[4, 5] = input()\ny: f32[0] = diagonal(x, offset=9)"},
    {Op::Diagonal, "x: f32[0, 5] = input()\ny: f32[0] = diagonal(x)"},
    {Op::Unfold, "x: f32[8] = input()\ny: f32[3, 3] = unfold(x, axis=0, size=3, step=2)"},
    {Op::Unfold, "x: f32[8, 2] = input()\ny: f32[2, 2, 2] = unfold(x, axis=0, size=2, step=5)"},
    {Op::Unfold, "x: f32[8] = input()\ny: f32[1, 8] = unfold(x, axis=0, size=8, step=1)"},
    {Op::Unfold,
     "var n in 4..9 = 7\nx: f32[n] = input()\ny: f32[(n - 3) // 2 + 1, 3] = unfold(x, "
     "axis=0, size=3, step=2)"},
    {Op::Unfold, "x: f32[5] = input()\ny: f32[3, 0] = unfold(x, axis=0, size=0, step=2)"},
    {Op::Diagonal, "x: f32[4, 5] = input()\ny: f32[0] = diagonal(x, offset=-9223372036854775808)"},
    {Op::Triu, "x: f32[2, 3, 4] = input()\ny: f32[2, 3, 4] = triu(x, diagonal=1)"},
    {Op::Tril, "x: i8[3, 0] = input()\ny: i8[3, 0] = tril(x, diagonal=-1)"},
    {Op::Sum, "x: f32[2, 3] = input()\ny: f32[] = sum(x)"},
    {Op::Sum, "x: f16[2, 3] = input()\ny: f16[2, 1] = sum(x, axes=[1], keep=true)"},
    {Op::Sum, "x: i8[2, 3] = input()\ny: i32[3] = sum(x, axes=[0])"},
    {Op::Sum, "x: u16[2, 3] = input()\ny: u32[2, 3] = sum(x, axes=[])"},
    {Op::Sum, "x: bool[2, 3] = input()\ny: f32[] = sum(x, acc=f32)"},
    {Op::Sum, "x: f32[] = input()\ny: f32[] = sum(x, axes=[0])"},
    {Op::Sum, "x: f32[] = input()\ny: f32[] = sum(x, axes=[-1])"},
    {Op::Sum, "x: f32[3, 0] = input()\ny: f32[3] = sum(x, axes=[1])"},
    {Op::Sum, "var n in 1..8 = 5\nx: f32[n, 3] = input()\ny: f32[3] = sum(x, axes=[0])"},
    {Op::Prod, "x: i64[2, 3] = input()\ny: i64[2] = prod(x, axes=[-1])"},
    {Op::Max, "x: u8[2, 3] = input()\ny: u8[2] = max(x, axes=[1])"},
    {Op::Min, "x: bool[2, 3] = input()\ny: bool[] = min(x)"},
    {Op::Mean, "x: f16[70000] = input()\ny: f16[] = mean(x)"},
    {Op::Mean, "x: f32[0] = input()\ny: f32[] = mean(x)"},
    {Op::Mean, "var n in 1..8 = 5\nx: f32[n, 3] = input()\ny: f32[3] = mean(x, axes=[0])"},
    {Op::Var, "x: f16[70000] = input()\ny: f16[] = var(x)"},
    {Op::Var,
     "var n in 1..8 = 5\nx: f32[n, 3] = input()\ny: f32[1, 3] = var(x, axes=[0], "
     "keep=true, correction=0)"},
    {Op::Std, "x: f32[2, 3] = input()\ny: f32[2] = std(x, axes=[1])"},
    {Op::Any, "x: f32[2, 3] = input()\ny: bool[2] = any(x, axes=[1])"},
    {Op::All, "x: i8[0] = input()\ny: bool[] = all(x)"},
    {Op::ArgMax, "x: f32[2, 3] = input()\ny: i32[2] = argmax(x, axis=1)"},
    {Op::ArgMax, "x: bool[2, 3] = input()\ny: i32[] = argmax(x, last=true)"},
    {Op::ArgMin, "x: i32[2, 3] = input()\ny: i32[1, 1] = argmin(x, keep=true)"},
    {Op::ArgMin, "x: f32[] = input()\ny: i32[] = argmin(x, axis=0)"},
    {Op::LogSumExp, "x: f32[2, 3] = input()\ny: f32[2] = logsumexp(x, axes=[1])"},
    {Op::LogSumExp, "x: f16[0] = input()\ny: f16[1] = logsumexp(x, keep=true)"},
    {Op::Softmax, "x: f16[2, 3] = input()\ny: f16[2, 3] = softmax(x)"},
    {Op::Softmax, "x: f32[] = input()\ny: f32[] = softmax(x)"},
    {Op::LogSoftmax, "x: f32[2, 0] = input()\ny: f32[2, 0] = log_softmax(x)"},
    {Op::CumSum, "x: f32[600] = input()\ny: f32[600] = cumsum(x)"},
    {Op::CumSum, "x: bool[0] = input()\ny: i32[0] = cumsum(x)"},
    {Op::CumSum, "x: i8[2, 3, 4] = input()\ny: i32[2, 3, 4] = cumsum(x, axis=1)"},
    {Op::CumSum, "x: i8[] = input()\ny: i32[] = cumsum(x)"},
    {Op::CumProd, "x: f32[2, 1000] = input()\ny: f32[2, 1000] = cumprod(x, axis=1)"},
    {Op::CumMax, "var n in 1..8 = 5\nx: f32[n] = input()\ny: f32[n] = cummax(x)"},
    {Op::CumMax, "x: bool[513] = input()\ny: bool[513] = cummax(x)"},
    {Op::MatMul, "x: f32[2, 3] = input()\nw: f32[3, 4] = input()\ny: f32[2, 4] = matmul(x, w)"},
    {Op::MatMul,
     "x: f16[5, 1, 2, 3] = input()\nw: f16[6, 3, 4] = input()\ny: f16[5, 6, 2, 4] = "
     "matmul(x, w)"},
    {Op::MatMul, "x: f32[3] = input()\nw: f32[3] = input()\ny: f32[] = matmul(x, w)"},
    {Op::MatMul, "x: f32[3] = input()\nw: f32[2, 3, 4] = input()\ny: f32[2, 4] = matmul(x, w)"},
    {Op::MatMul, "x: i8[2, 3] = input()\nw: i8[3] = input()\ny: i8[2] = matmul(x, w, acc=i32)"},
    {Op::MatMul, "x: f32[2, 0] = input()\nw: f32[0, 4] = input()\ny: f32[2, 4] = matmul(x, w)"},
    {Op::Einsum,
     "x: f32[2, 3] = input()\nw: f32[3, 4] = input()\ny: f32[4, 2] = einsum(x, w, "
     "equation=\"ij,jk->ki\")"},
    {Op::Einsum, "x: f32[2, 3, 3] = input()\ny: f32[2] = einsum(x, equation=\"...ii->...\")"},
    {Op::Einsum, "x: f32[3, 3] = input()\ny: f32[3] = einsum(x, equation=\"ii->i\")"},
    {Op::Einsum,
     "x: f32[5, 2, 3] = input()\nw: f32[3, 4] = input()\ny: f32[5, 2, 4] = einsum(x, "
     "w, equation=\"...ij, jk\")"},
    {Op::Conv,
     "x: f32[1, 4, 8, 8] = input()\nw: f32[6, 2, 3, 3] = input()\nb: f32[6] = input()\n"
     "y: f32[1, 6, 4, 4] = conv(x, w, b, stride=[2, 2], padding=[1, 1, 1, 1], groups=2)"},
    {Op::Conv,
     "x: i32[1, 1, 8] = input()\nw: i32[1, 1, 3] = input()\ny: i32[1, 1, 4] = conv(x, w, "
     "dilation=[2])"},
    {Op::Conv,
     "x: f32[0, 1, 8] = input()\nw: f32[1, 1, 3] = input()\ny: f32[0, 1, 6] = conv(x, "
     "w)"},
    {Op::Conv,
     "var n in 1..8 = 5\nx: f32[n, 1, 8] = input()\nw: f32[1, 1, 3] = input()\n"
     "y: f32[n, 1, 6] = conv(x, w)"},
    {Op::Conv,
     "var n in 4..8 = 5\nx: f32[1, 1, n] = input()\nw: f32[1, 1, 3] = input()\n"
     "y: f32[1, 1, n - 2] = conv(x, w)"},
    {Op::ConvTranspose,
     "x: f32[1, 4, 3, 3] = input()\nw: f32[4, 3, 3, 2] = input()\nb: f32[6] = "
     "input()\ny: f32[1, 6, 6, 5] = conv_transpose(x, w, b, stride=[2, 2], "
     "padding=[1, 0, 0, 1], groups=2)"},
    {Op::ConvTranspose,
     "x: f32[1, 1, 3] = input()\nw: f32[1, 1, 3] = input()\ny: f32[1, 1, 8] = "
     "conv_transpose(x, w, stride=[2], output_padding=[1])"},
    {Op::MaxPool,
     "x: i32[1, 2, 5, 5] = input()\ny: i32[1, 2, 3, 3] = max_pool(x, size=[2, 2], "
     "padding=[1, 0, 0, 1])"},
    {Op::ConvTranspose,
     "x: f32[1, 1, 1] = input()\nw: f32[1, 1, 3] = input()\ny: f32[1, 1, 0] = "
     "conv_transpose(x, w, padding=[2, 1])"},
    {Op::ConvTranspose,
     "x: f32[1, 1, 1] = input()\nw: f32[1, 1, 1] = input()\ny: f32[1, 1, 0] = "
     "conv_transpose(x, w, padding=[2, 0], output_padding=[1])"},
    {Op::MaxPool, "x: f32[5] = input()\ny: f32[3] = max_pool(x, size=[2], ceil=true)"},
    {Op::MaxPool,
     "x: f32[4] = input()\ny: f32[3] = max_pool(x, size=[2], padding=[1, 1], "
     "ceil=true)"},
    {Op::AvgPool, "x: f16[1, 4, 16, 16] = input()\ny: f16[1, 4, 4, 4] = avg_pool(x, size=[4, 4])"},
    {Op::AvgPool,
     "x: f32[5] = input()\ny: f32[4] = avg_pool(x, size=[3], stride=[2], padding=[2, "
     "2], count_padding=false)"},
    {Op::AvgPool, "x: f32[5] = input()\ny: f32[3] = avg_pool(x, size=[2], ceil=true)"},
    {Op::LayerNorm,
     "x: f16[2, 3, 4] = input()\nw: f16[3, 4] = input()\ny: f16[2, 3, 4] = "
     "layer_norm(x, w, 0.5, axes=[1, 2])"},
    {Op::RmsNorm, "x: f32[2, 4] = input()\ny: f32[2, 4] = rms_norm(x, axes=[-1])"},
    {Op::GroupNorm,
     "x: f32[2, 6, 3, 3] = input()\nw: f32[6] = input()\ny: f32[2, 6, 3, 3] = "
     "group_norm(x, w, w, groups=2)"},
    {Op::BatchNorm,
     "x: f32[2, 6, 3] = input()\nw: f32[6] = input()\ny: f32[2, 6, 3] = "
     "batch_norm(x, w, w, w, w)"},
    {Op::Attention,
     "q: f32[2, 4, 5, 8] = input()\nk: f32[2, 4, 7, 8] = input()\nv: f32[2, 4, 7, "
     "3] = input()\nm: bool[5, 7] = input()\ny: f32[2, 4, 5, 3] = attention(q, k, "
     "v, m, causal=true)"},
    {Op::Gather, "x: f32[3, 4] = input()\ni: u8[2, 4] = input()\ny: f32[2, 4] = gather(x, i)"},
    {Op::Gather,
     "x: bool[3, 4] = input()\ni: i64[3, 9] = input()\ny: bool[3, 9] = gather(x, i, "
     "axis=1)"},
    {Op::Gather, "x: f32[0] = input()\ni: i32[2] = input()\ny: f32[2] = gather(x, i)"},
    {Op::Take, "x: f32[100, 8] = input()\ni: i32[12] = input()\ny: f32[12, 8] = take(x, i)"},
    {Op::Take,
     "x: f32[2, 100, 8] = input()\ni: u64[3, 4] = input()\ny: f32[2, 3, 4, 8] = take(x, "
     "i, axis=1)"},
    {Op::Take, "x: f32[5] = input()\ny: f32[] = take(x, 3)"},
    {Op::Scatter,
     "x: f32[3, 4] = input()\ni: i32[2, 3] = input()\nv: f32[2, 3] = input()\n"
     "y: f32[3, 4] = scatter(x, i, v)"},
    {Op::Scatter,
     "x: i8[3, 4] = input()\ni: i32[3, 4] = input()\ny: i8[3, 4] = scatter(x, i, 1, "
     "axis=1, reduce=add)"},
    {Op::Scatter,
     "x: f16[5] = input()\ni: i32[0] = input()\ny: f16[5] = scatter(x, i, 1, "
     "reduce=max)"},
    {Op::OneHot,
     "i: i32[2, 3] = input()\ny: f32[2, 5, 3] = one_hot(i, classes=5, axis=1, "
     "on=0.5)"},
    {Op::OneHot, "y: u8[5] = one_hot(3, classes=5)"},
    {Op::Sort, "x: f32[4, 16] = input()\ny: f32[4, 16] = sort(x)"},
    {Op::Sort, "x: f32[0] = input()\ny: f32[0] = sort(x, axis=0)"},
    {Op::Sort, "x: f32[1, 5] = input()\ny: f32[1, 5] = sort(x, axis=0)"},
    {Op::Sort, "x: f32[] = input()\ny: f32[] = sort(x)"},
    {Op::ArgSort, "x: bool[0, 5] = input()\ny: i32[0, 5] = argsort(x, axis=0)"},
    {Op::ArgSort, "x: u8[5] = input()\ny: i32[5] = argsort(x, descending=true)"},
    {Op::TopK, "x: f32[4, 6] = input()\ny: f32[4, 2] = topk(x, k=2)"},
    {Op::ArgTopK,
     "x: f32[4, 6] = input()\ny: i32[0, 6] = argtopk(x, k=0, axis=0, "
     "largest=false)"},
    {Op::Contiguous, "x: f32[4] = input()\ny: f32[4] = contiguous(x)"},
    {Op::Clone, "x: f32[4] = input()\ny: f32[4] = clone(x)"},
    {Op::Copy, "x: f32[4] = input()\ny: f32[4] = copy(x) to sim:1"},
};

bool is_elementwise(Family f) {
  return f == Family::Unary || f == Family::Binary || f == Family::Compare;
}

TEST(Builds, AreWellFormedForEachSample) {
  std::vector<bool> seen(static_cast<size_t>(kOpCount));
  for (const Sample& sample : kSamples) {
    Graph g;
    const Result<BuiltProgram> all = build_all(g, sample.text);
    ASSERT_TRUE(all.ok()) << sample.text << "\n" << to_string(all.error());
    EXPECT_NE(built(g, sample.text), nullptr);
    const auto& last = std::get<Define>(all.value().program.statements.back().what);
    EXPECT_EQ(last.op, sample.op) << sample.text;
    seen[static_cast<size_t>(sample.op)] = true;
  }
  for (const OpRow& row : all_ops()) {
    if (is_elementwise(row.family) || row.op == Op::Input) continue;
    EXPECT_TRUE(seen[static_cast<size_t>(row.op)]) << row.text << " has no sample";
  }
}

// The type of the result of an elementwise op of operands of type t.
DType result_of(const OpRow& row, DType t) {
  return row.result == ResultType::Bool ? uop::Bool : t;
}

std::string elementwise_text(const OpRow& row, DType t, std::string_view variable,
                             std::string_view shape) {
  const std::string_view type = uop::to_text(t);
  const bool has_two = row.operands.size() == 2;
  return fmt::format("{}x: {}[{}] = input()\nz: {}[{}] = input()\ny: {}[{}] = {}(x{})", variable,
                     type, shape, type, shape, uop::to_text(result_of(row, t)), shape, row.text,
                     has_two ? ", z" : "");
}

TEST(Builds, AreWellFormedForEachElementwiseOpAtEachType) {
  for (const OpRow& row : all_ops()) {
    if (!is_elementwise(row.family)) continue;
    for (int i = 0; i < uop::kDTypeCount; i++) {
      const auto t = static_cast<DType>(i);
      if (t == uop::Index || t == uop::Void) continue;
      Graph g;
      if (!row.over.has(t)) {
        EXPECT_NE(build_error(elementwise_text(row, t, "", "3")), "") << row.text;
        continue;
      }
      built(g, elementwise_text(row, t, "", ""));
      built(g, elementwise_text(row, t, "", "2, 0"));
      built(g, elementwise_text(row, t, "", "2, 3"));
      built(g, elementwise_text(row, t, "var n in 1..4 = 2\n", "n, 3"));
    }
  }
}

}  // namespace
}  // namespace assay::tensor
