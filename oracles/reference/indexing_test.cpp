#include "oracles/reference/test_programs.h"

namespace assay::reference {
namespace {

TEST(Indexing, GathersAndTakes) {
  EXPECT_EQ(judged(R"(
x: i32[2, 3] = input(start=1, step=1)
i: i32[2, 2] = input(data=[0, 2, 1, 3])
a: i32[2, 2] = gather(x, i, axis=1)
expect a = [1, 3, 5, 0]
j: i64[1, 3] = input(data=[1, 0, -1])
b: i32[1, 3] = gather(x, j)
expect b = [4, 2, 0]
c: i32[2, 2, 2] = take(x, i, axis=1)
expect c = [1, 3, 2, 0, 4, 6, 5, 0]
d: i32[3] = take(x, 1)
expect d = [4, 5, 6]
u: u64[2] = input(data=[18446744073709551615, 1])
e: i32[2, 3] = take(x, u)
expect e = [0, 0, 0, 4, 5, 6]
n: i32[0] = full(value=0)
f: i32[0, 3] = take(x, n)
expect f = 0
)"),
            "");
  EXPECT_EQ(judged(R"(
z: f32[0, 3] = full(value=1)
k: i8[2] = input(data=[0, 1])
g: f32[2, 3] = take(z, k)
expect g = 0
v: f32[3] = input(data=[nan, -0.0, 2])
h: f32[2] = gather(v, k)
expect h = [nan, -0.0]
)"),
            "");
}

TEST(Indexing, ScattersAndFolds) {
  EXPECT_EQ(judged(R"(
x: i32[4] = input(data=[1, 2, 3, 4])
i: i32[5] = input(data=[1, 1, 3, -1, 9])
y: i32[5] = input(data=[10, 20, 30, 40, 50])
a: i32[4] = scatter(x, i, y)
expect a = [1, 20, 3, 30]
b: i32[4] = scatter(x, i, y, reduce=add)
expect b = [1, 32, 3, 34]
c: i32[4] = scatter(x, i, y, reduce=mul)
expect c = [1, 400, 3, 120]
d: i32[4] = scatter(x, i, y, reduce=max)
expect d = [1, 20, 3, 30]
e: i32[4] = scatter(x, i, y, reduce=min)
expect e = [1, 2, 3, 4]
f: i32[4] = scatter(x, i, 7)
expect f = [1, 7, 3, 7]
m: i32[2, 2] = full(value=0)
j: i32[1, 2] = input(data=[1, 0])
k: i32[1, 2] = input(data=[5, 6])
g: i32[2, 2] = scatter(m, j, k)
expect g = [0, 6, 5, 0]
h: i32[2, 2] = scatter(m, j, k, axis=1)
expect h = [6, 5, 0, 0]
)"),
            "");
  EXPECT_EQ(judged(R"(
v: f32[3] = input(data=[-0.0, 1, nan])
o: i32[1] = full(value=1)
t: f32[3] = scatter(v, o, 0.5, reduce=add)
expect t = [-0.0, 1.5, nan]
)"),
            "");
}

TEST(Indexing, PositionsThatAreNotKnownGiveWhatIsNot) {
  const auto values = evaluated(R"(
z: i32[2] = input(data=[0, 1])
i: i32[2] = idiv(1, z)
x: f32[2] = input(data=[5, 6])
g: f32[2] = gather(x, i)
s: f32[2] = scatter(x, i, 1)
h: i32[2, 2] = one_hot(i, classes=2)
force g, s, h
)");
  ASSERT_TRUE(values.ok()) << to_string(values.error());
  EXPECT_EQ(to_text(values.value()[0]), "f32[2] {_, 6}");
  EXPECT_EQ(to_text(values.value()[1]), "f32[2] {_, _}");
  EXPECT_EQ(to_text(values.value()[2]), "i32[2, 2] {_, _, 0, 1}");
}

TEST(Indexing, OneHot) {
  EXPECT_EQ(judged(R"(
i: i8[3] = input(data=[1, -1, 2])
a: f32[3, 3] = one_hot(i, classes=3)
expect a = [0, 1, 0, 0, 0, 0, 0, 0, 1]
b: i32[2, 3] = one_hot(i, classes=2, on=5, off=-1, axis=0)
expect b = [-1, -1, -1, 5, -1, -1]
s: i32[] = full(value=0)
c: bool[2] = one_hot(s, classes=2)
expect c = [true, false]
d: i32[3, 0] = one_hot(i, classes=0)
expect d = 0
)"),
            "");
}

TEST(Order, SortsStablyWithNaNLast) {
  EXPECT_EQ(judged(R"(
x: f32[6] = input(data=[3, nan, -inf, 3, -0.0, 0.0])
a: f32[6] = sort(x)
expect a = [-inf, -0.0, 0.0, 3, 3, nan]
b: i32[6] = argsort(x)
expect b = [2, 4, 5, 0, 3, 1]
c: f32[6] = sort(x, descending=true)
expect c = [nan, 3, 3, -0.0, 0.0, -inf]
d: i32[6] = argsort(x, descending=true)
expect d = [1, 0, 3, 4, 5, 2]
e: f32[2] = topk(x, k=2)
expect e = [nan, 3]
f: i32[2] = argtopk(x, k=2)
expect f = [1, 0]
g: f32[3] = topk(x, k=3, largest=false)
expect g = [-inf, -0.0, 0.0]
y: u64[2, 2] = input(data=[18446744073709551615, 1, 0, 9223372036854775808])
h: u64[2, 2] = sort(y)
expect h = [1, 18446744073709551615, 0, 9223372036854775808]
i: u64[2, 2] = sort(y, axis=0)
expect i = [0, 1, 18446744073709551615, 9223372036854775808]
t: bool[3] = input(data=[true, false, true])
j: i32[3] = argsort(t)
expect j = [1, 0, 2]
s: f32[] = full(value=5)
k: f32[1] = topk(s, k=1)
expect k = 5
l: f32[6] = sort(x, axis=-1)
expect l = [-inf, -0.0, 0.0, 3, 3, nan]
)"),
            "");
  EXPECT_EQ(error_of("x: f32[2] = full(value=1)\ny: f32[3] = topk(x, k=3)"),
            "3: the first 3 of an axis of 2");
}

TEST(Sources, CountFillAndDraw) {
  EXPECT_EQ(judged(R"(
a: i32[4] = iota(start=3, step=-2)
expect a = [3, 1, -1, -3]
b: f32[3] = iota(start=0.5, step=0.25)
expect b = [0.5, 0.75, 1]
c: u8[3] = iota(start=255)
expect c = [255, 0, 1]
d: f16[2] = full(value=0.1)
expect d = 0.1
k: u64[2] = input(data=[0, 18446744073709551615])
e: u64[2] = threefry(k, k)
expect e = [11077253088097075545, 13474818356711888636]
r: u32[3] = random_bits(seed=7)
expect r = [613157572, 1928169959, 3159897689]
u: f32[3] = random_uniform(seed=7)
expect u = [0.14276182651519775, 0.44893699884414673, 0.7357209920883179]
n: f32[0] = random_uniform()
expect n = 0
)"),
            "");
  EXPECT_EQ(error_of("x: u32[] = random_bits()"), "2: random_bits needs an axis, [] has none");
  EXPECT_EQ(error_of("x: i32[2, 2] = iota()"), "2: iota has one axis");
  EXPECT_EQ(error_of("x: i32[2] = random_uniform()"), "2: random_uniform takes floats, not i32");
}

}  // namespace
}  // namespace assay::reference
