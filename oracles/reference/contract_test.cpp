#include "oracles/reference/test_programs.h"

namespace assay::reference {
namespace {

TEST(MatMul, OfMatricesVectorsAndStacks) {
  EXPECT_EQ(judged(R"(
x: i32[2, 3] = input(start=1, step=1)
y: i32[3, 2] = input(data=[1, 0, 0, 1, 1, 1])
a: i32[2, 2] = matmul(x, y)
expect a = [4, 5, 10, 11]
v: i32[3] = input(data=[1, 10, 100])
b: i32[2] = matmul(x, v)
expect b = [321, 654]
c: i32[2] = matmul(v, y)
expect c = [101, 110]
d: i32[] = matmul(v, v)
expect d = 10101
)"),
            "");
  EXPECT_EQ(judged(R"(
x: i32[2, 1, 1, 2] = input(start=1, step=1)
y: i32[3, 2, 1] = input(start=1, step=1)
a: i32[2, 3, 1, 1] = matmul(x, y)
expect a = [5, 11, 17, 11, 25, 39]
v: i32[2] = input(data=[1, -1])
b: i32[3, 1] = matmul(v, y)
expect b = -1
p: i8[1, 2] = input(data=[100, 100])
q: i8[2, 1] = input(data=[2, 3])
w: i8[1, 1] = matmul(p, q)
expect w = -12
)"),
            "");
  EXPECT_EQ(error_of("x: i8[2] = full(value=1)\ny: i32[] = matmul(x, x, acc=i32)"),
            "3: the written type is i32, matmul gives i8");
  EXPECT_EQ(error_of("x: i8[2] = full(value=1)\nz: i8[3] = full(value=1)\n"
                     "y: i8[] = matmul(x, z)"),
            "4: matmul of [2] and [3]: 2 columns meet 3 rows");
  EXPECT_EQ(error_of("x: i8[] = full(value=1)\ny: i8[] = matmul(x, x)"),
            "3: matmul of [] and []: both need an axis");
  EXPECT_EQ(judged(R"(
x: f32[2, 0] = full(value=1)
y: f32[0, 3] = full(value=1)
a: f32[2, 3] = matmul(x, y)
expect a = 0
h: f16[1, 3] = input(data=[300, 300, 1])
k: f16[3, 1] = input(data=[300, -300, 0.5])
b: f16[1, 1] = matmul(h, k)
expect b = 0.5
i: i8[3, 1] = input(data=[1, 2, 3])
c: f16[1, 1] = matmul(h, i)
expect c = 903
)"),
            "");
}

TEST(Einsum, SumsOverTheLettersThatTheResultLacks) {
  EXPECT_EQ(judged(R"(
x: i32[2, 3] = input(start=1, step=1)
y: i32[3, 2] = input(start=1, step=1)
a: i32[2, 2] = einsum(x, y, equation="ij,jk->ik")
expect a = [22, 28, 49, 64]
b: i32[3, 2] = einsum(x, equation="ij->ji")
expect b = [1, 4, 2, 5, 3, 6]
c: i32[] = einsum(x, equation="ij->")
expect c = 21
q: i32[2, 2] = input(start=1, step=1)
d: i32[2] = einsum(q, equation="ii->i")
expect d = [1, 4]
e: i32[] = einsum(q, equation="ii")
expect e = 5
f: i32[2, 2, 2] = einsum(q, q, equation="ij, kl -> ijk")
expect f = [3, 7, 6, 14, 9, 21, 12, 28]
g: i32[2, 2] = einsum(q, q, q, equation="ij,jk,kl->il")
expect g = [37, 54, 81, 118]
s: i32[2, 2, 2] = input(start=1, step=1)
h: i32[2, 2, 2] = einsum(s, q, equation="...ij,jk->...ik")
expect h = [7, 10, 15, 22, 23, 34, 31, 46]
t: i32[2, 2, 2] = einsum(s, equation="...ij->...ji")
expect t = [1, 3, 2, 4, 5, 7, 6, 8]
u: i32[2, 2] = einsum(x, y, equation="ij,jk")
expect u = [22, 28, 49, 64]
v: f32[2] = input(data=[0.5, 2])
w: f32[2, 2] = einsum(q, v, equation="ij,j->ij")
expect w = [0.5, 4, 1.5, 8]
z: i32[0, 2] = full(value=1)
o: i32[2] = einsum(z, equation="ij->j")
expect o = 0
)"),
            "");
}

TEST(Einsum, IsRefusedByTheRuleItBreaks) {
  const std::string x = "x: i32[2, 3] = full(value=1)\n";
  EXPECT_EQ(error_of(x + "y: i32[2] = einsum(x, equation=\"ii->i\")"),
            "3: an axis of einsum is 2 and 3");
  EXPECT_EQ(error_of(x + "y: i32[2] = einsum(x, equation=\"i->i\")"),
            "3: 'i' does not name the axes of [2, 3]");
  EXPECT_EQ(error_of(x + "y: i32[2] = einsum(x, x, equation=\"ij->i\")"),
            "3: 1 terms for 2 operands");
  EXPECT_EQ(error_of(x + "y: i32[2] = einsum(x, equation=\"ij->k\")"),
            "3: the result of the equation names k alone");
  EXPECT_EQ(error_of(x + "y: i32[2, 2] = einsum(x, equation=\"ij->ii\")"),
            "3: the result of the equation names i twice");
  EXPECT_EQ(error_of(x + "y: i32[2] = einsum(x, equation=\"i$->i\")"),
            "3: 'i$' does not name the axes of [2, 3]");
}

TEST(Conv, CorrelatesWindows) {
  EXPECT_EQ(judged(R"(
x: i32[1, 1, 3, 3] = input(start=1, step=1)
w: i32[1, 1, 2, 2] = input(data=[1, 2, 3, 4])
a: i32[1, 1, 2, 2] = conv(x, w)
expect a = [37, 47, 67, 77]
b: i32[1, 1, 2, 2] = conv(x, w, stride=[2, 2], padding=[1, 0, 0, 1])
expect b = [11, 9, 67, 33]
c: i32[1, 1, 1, 1] = conv(x, w, dilation=[2, 2])
expect c = 64
v: i32[2, 1, 1] = input(data=[2, 3])
bias: i32[2] = input(data=[10, 20])
u: i32[1, 2, 3] = input(start=1, step=1)
d: i32[1, 2, 3] = conv(u, v, bias, groups=2)
expect d = [12, 14, 16, 32, 35, 38]
k: i32[4, 1, 2] = input(start=1, step=1)
e: i32[1, 4, 2] = conv(u, k, groups=2)
expect e = [5, 8, 11, 18, 50, 61, 68, 83]
f: i32[2, 2, 1] = input(data=[1, 10, 100, 1000])
g: i32[1, 2, 3] = conv(u, f)
expect g = [41, 52, 63, 4100, 5200, 6300]
z: i32[0, 2, 3] = full(value=1)
h: i32[0, 2, 3] = conv(z, f)
expect h = 0
n: i32[2, 1, 2] = input(data=[1, 2, 3, 4])
o: i32[1, 1, 1] = full(value=3)
p: i32[2, 1, 2] = conv(n, o)
expect p = [3, 6, 9, 12]
)"),
            "");
}

TEST(Conv, TransposedAddsMultiplesOfTheWindow) {
  EXPECT_EQ(judged(R"(
x: i32[1, 1, 2, 2] = input(data=[1, 2, 3, 4])
w: i32[1, 1, 2, 2] = input(data=[1, 10, 100, 1000])
a: i32[1, 1, 3, 3] = conv_transpose(x, w)
expect a = [1, 12, 20, 103, 1234, 2040, 300, 3400, 4000]
b: i32[1, 1, 4, 4] = conv_transpose(x, w, stride=[2, 2])
expect b = [1, 10, 2, 20, 100, 1000, 200, 2000, 3, 30, 4, 40, 300, 3000, 400, 4000]
c: i32[1, 1, 1, 1] = conv_transpose(x, w, padding=[1, 1, 1, 1])
expect c = 1234
v: i32[1, 1, 3] = input(data=[1, 2, 3])
k: i32[1, 2, 2] = input(data=[1, 2, 10, 20])
d: i32[1, 2, 5] = conv_transpose(v, k, dilation=[2])
expect d = [1, 2, 5, 4, 6, 10, 20, 50, 40, 60]
e: i32[1, 2, 7] = conv_transpose(v, k, stride=[2], output_padding=[1])
expect e = [1, 2, 2, 4, 3, 6, 0, 10, 20, 20, 40, 30, 60, 0]
u: i32[1, 2, 2] = input(data=[1, 2, 3, 4])
g: i32[2, 1, 1] = input(data=[5, 7])
f: i32[1, 2, 2] = conv_transpose(u, g, groups=2)
expect f = [5, 10, 21, 28]
h: i32[1, 1, 2] = conv_transpose(u, g)
expect h = [26, 38]
bias: i32[2] = input(data=[100, 200])
i: i32[1, 2, 2] = conv_transpose(u, g, bias, groups=2)
expect i = [105, 110, 221, 228]
)"),
            "");
}

TEST(Conv, IsRefusedByTheRuleItBreaks) {
  const std::string x = "x: f32[1, 2, 3] = full(value=1)\n";
  EXPECT_EQ(error_of(x + "w: f32[1, 2, 4] = full(value=1)\ny: f32[1, 1, 0] = conv(x, w)"),
            "4: a window of 4 in an axis of 3");
  EXPECT_EQ(error_of(x + "w: f32[1, 1, 2] = full(value=1)\ny: f32[1, 1, 2] = conv(x, w)"),
            "4: conv of [1, 2, 3] by [1, 1, 2] in 1 groups: the channels of x and w differ");
  EXPECT_EQ(error_of(x + "w: f32[3, 1, 2] = full(value=1)\n"
                         "y: f32[1, 3, 2] = conv(x, w, groups=2)"),
            "4: conv of [1, 2, 3] by [3, 1, 2] in 2 groups: channels are not divided by groups");
  EXPECT_EQ(error_of(x + "w: f32[1, 2, 2] = full(value=1)\n"
                         "y: f32[1, 1, 2] = conv(x, w, stride=[0])"),
            "4: axis 0: size, stride and dilation of a window are 2, 0 and 1");
}

TEST(Pool, LargestAndMeanOfWindows) {
  EXPECT_EQ(judged(R"(
x: i32[1, 4] = input(data=[-5, -2, -3, -4])
a: i32[1, 2] = max_pool(x, size=[2])
expect a = [-2, -3]
b: i32[1, 3] = max_pool(x, size=[2], padding=[1, 1])
expect b = [-5, -2, -4]
f: f32[5] = input(data=[1, 2, 3, 4, 5])
c: f32[2] = avg_pool(f, size=[2])
expect c = [1.5, 3.5]
d: f32[3] = avg_pool(f, size=[2], ceil=true)
expect d = [1.5, 3.5, 5]
e: f32[3] = avg_pool(f, size=[3], stride=[2], padding=[1, 1])
expect e = [1, 3, 3]
g: f32[3] = avg_pool(f, size=[3], stride=[2], padding=[1, 1], count_padding=false)
expect g = [1.5, 3, 4.5]
h: f32[3] = max_pool(f, size=[2], stride=[1], dilation=[2])
expect h = [3, 4, 5]
i: f32[2, 2] = input(data=[1, 2, 3, nan])
j: f32[1, 1] = max_pool(i, size=[2, 2])
expect j = nan
k: f32[2] = max_pool(f, size=[2], stride=[3])
expect k = [2, 5]
l: f32[2] = max_pool(f, size=[2], stride=[3], ceil=true)
expect l = [2, 5]
m: f32[3] = avg_pool(f, size=[3], stride=[2], padding=[1, 0], ceil=true)
expect m = [1, 3, 4.5]
)"),
            "");
}

// What is computed of no storage is on any device until it is kept, and then so is what it made.
TEST(Contract, WhatIsKeptOfNothingIsOnTheDefaultDevice) {
  const std::string text =
      "v: f32[2] = random_uniform()\n"
      "w: f32[2] = add(v, 1)\n"
      "a: f32[2] = input(step=1) on sim:1\n";
  const std::string use = "x: f32[2] = add(w, a)\nforce x\n";
  EXPECT_EQ(error_of(text + use), "no error");
  EXPECT_EQ(error_of(text + "force w\n" + use).substr(3),
            "values on sim:0 and sim:1 meet; a copy of one has to");
  EXPECT_EQ(error_of(text + "force v\n" + use).substr(3),
            "values on sim:0 and sim:1 meet; a copy of one has to");
  // What is on a device stays there.
  EXPECT_EQ(error_of(text + use + "force v\ny: f32[2] = add(x, a)\n"), "no error");
}

}  // namespace
}  // namespace assay::reference
