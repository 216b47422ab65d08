#include "oracles/reference/test_programs.h"

namespace assay::reference {
namespace {

TEST(Movement, ExpandPadAndRepeat) {
  EXPECT_EQ(judged(R"(
x: i32[2, 1] = input(data=[1, 2])
e: i32[2, 2, 3] = expand(x)
expect e = [1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2]
v: i32[4] = input(data=[1, 2, 3, 4])
c: i32[7] = pad(v, low=[1], high=[2], value=9)
expect c = [9, 1, 2, 3, 4, 9, 9]
r: i32[10] = pad(v, low=[3], high=[3], mode=reflect)
expect r = [4, 3, 2, 1, 2, 3, 4, 3, 2, 1]
g: i32[8] = pad(v, low=[2], high=[2], mode=edge)
expect g = [1, 1, 1, 2, 3, 4, 4, 4]
w: i32[9] = pad(v, low=[4], high=[1], mode=wrap)
expect w = [1, 2, 3, 4, 1, 2, 3, 4, 1]
m: i32[2, 4] = repeat(x, times=[1, 4])
expect m = [1, 1, 1, 1, 2, 2, 2, 2]
n: i32[8] = repeat(v, times=[2])
expect n = [1, 2, 3, 4, 1, 2, 3, 4]
z: i32[0] = repeat(v, times=[0])
expect z = 0
s: i32[] = full(value=5)
p: i32[] = pad(s, low=[], high=[])
q: i32[] = repeat(p, times=[])
t: i32[2] = expand(q)
expect t = 5
)"),
            "");
}

TEST(Movement, JoinsAndRolls) {
  EXPECT_EQ(judged(R"(
a: i32[2, 2] = input(data=[1, 2, 3, 4])
b: i32[2, 1] = input(data=[5, 6])
c: i32[2, 3] = cat(a, b, axis=1)
expect c = [1, 2, 5, 3, 4, 6]
f: f32[1, 2] = input(data=[0.5, 1.5])
d: f32[3, 2] = cat(a, f)
expect d = [1, 2, 3, 4, 0.5, 1.5]
e: i32[2, 2, 2] = stack(a, a, axis=-1)
expect e = [1, 1, 2, 2, 3, 3, 4, 4]
s: i32[] = full(value=7)
t: i32[2] = stack(s, 8)
expect t = [7, 8]
r: i32[2, 2] = roll(a, shifts=[1], axes=[1])
expect r = [2, 1, 4, 3]
q: i32[2, 2] = roll(a, shifts=[-3, 5], axes=[0, 1])
expect q = [4, 3, 2, 1]
u: i32[] = roll(s, shifts=[1], axes=[0])
expect u = 7
)"),
            "");
}

TEST(Movement, DiagonalsWindowsAndTriangles) {
  EXPECT_EQ(judged(R"(
x: i32[2, 3] = input(start=0, step=1)
d: i32[2] = diagonal(x)
expect d = [0, 4]
e: i32[2] = diagonal(x, offset=1)
expect e = [1, 5]
f: i32[1] = diagonal(x, offset=-1)
expect f = 3
g: i32[0] = diagonal(x, offset=-9)
expect g = 0
h: i32[0] = diagonal(x, offset=9223372036854775807)
expect h = 0
v: i32[5] = input(start=0, step=1)
w: i32[2, 3] = unfold(v, axis=0, size=3, step=2)
expect w = [0, 1, 2, 2, 3, 4]
y: i32[2, 2, 2] = unfold(x, axis=1, size=2, step=1)
expect y = [0, 1, 1, 2, 3, 4, 4, 5]
u: i32[2, 3] = triu(x)
expect u = [0, 1, 2, 0, 4, 5]
l: i32[2, 3] = tril(x, diagonal=1)
expect l = [0, 1, 0, 3, 4, 5]
k: i32[2, 3] = triu(x, diagonal=1)
expect k = [0, 1, 2, 0, 0, 5]
z: i32[0, 0] = full(value=1)
o: i32[0, 0] = tril(z)
expect o = 0
)"),
            "");
}

TEST(Movement, OfNothing) {
  EXPECT_EQ(judged(R"(
x: f32[0, 3] = full(value=1)
e: f32[2, 0, 3] = expand(x)
expect e = 0
p: f32[2, 3] = pad(x, low=[1, 0], high=[1, 0], value=4)
expect p = 4
r: f32[0, 3] = roll(x, shifts=[1, 1], axes=[0, 1])
expect r = 0
c: f32[0, 6] = cat(x, x, axis=1)
expect c = 0
s: f32[2, 0, 3] = stack(x, x)
expect s = 0
u: f32[0, 2, 2] = unfold(x, axis=1, size=2, step=1)
expect u = 0
d: f32[0] = diagonal(x)
expect d = 0
)"),
            "");
}

TEST(Movement, IsRefusedByTheRuleItBreaks) {
  const std::string x = "x: i32[2, 3] = full(value=1)\n";
  EXPECT_EQ(error_of(x + "y: i32[2, 2] = expand(x)"), "3: [2, 3] does not expand to [2, 2]");
  EXPECT_EQ(error_of(x + "y: i32[2, 9] = pad(x, low=[0, 3], high=[0, 3], mode=reflect)"),
            "3: axis 1 of 3 cannot be padded by 3 and 3 in mode reflect");
  EXPECT_EQ(error_of(x + "y: i32[2, 3] = pad(x, low=[0], high=[0])"),
            "3: low names 1 sizes, there are 2");
  EXPECT_EQ(error_of(x + "y: i32[2, 3] = pad(x, low=[-1, 0], high=[1, 0])"), "3: low is -1");
  EXPECT_EQ(error_of(x + "z: i32[3] = full(value=1)\ny: i32[5] = cat(x, z)"),
            "4: [3] does not stand beside [2, 3] along axis 0");
  EXPECT_EQ(error_of(x + "z: i32[3] = full(value=1)\ny: i32[5] = stack(x, z)"),
            "4: [3] is stacked on [2, 3]");
  EXPECT_EQ(error_of(x + "y: i32[2, 0, 4] = unfold(x, axis=1, size=4, step=1)"),
            "3: a window of 4 in an axis of 3");
  EXPECT_EQ(error_of(x + "y: i32[2, 3] = roll(x, shifts=[1, 2], axes=[0])"),
            "3: 2 shifts for 1 axes");
  EXPECT_EQ(error_of("x: i32[2] = full(value=1)\ny: i32[2] = triu(x)"),
            "3: triu needs 2 axes, [2] has 1");
}

}  // namespace
}  // namespace assay::reference
