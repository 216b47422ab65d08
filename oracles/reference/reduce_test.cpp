#include "oracles/reference/test_programs.h"

namespace assay::reference {
namespace {

TEST(Reduce, SumsAndProductsInTheTypeToAccumulateIn) {
  EXPECT_EQ(judged(R"(
x: i8[2, 3] = input(data=[100, 100, 100, -1, 2, 3])
a: i32[] = sum(x)
expect a = 304
b: i32[3] = sum(x, axes=[0])
expect b = [99, 102, 103]
c: i32[2, 1] = sum(x, axes=[-1], keep=true)
expect c = [300, 4]
d: i8[2] = sum(x, axes=[1], acc=i8)
expect d = [44, 4]
e: i32[2, 3] = sum(x, axes=[])
expect e = [100, 100, 100, -1, 2, 3]
p: i32[2] = prod(x, axes=[1])
expect p = [1000000, -6]
u: u8[2] = input(data=[200, 100])
s: u32[] = sum(u)
expect s = 300
t: bool[3] = input(data=[true, true, false])
n: i32[] = sum(t)
expect n = 2
f: f16[3] = input(data=[2048, 1, 1])
g: f16[] = sum(f)
expect g = 2050
h: f32[] = sum(t, acc=f32)
expect h = 2
)"),
            "");
}

TEST(Reduce, ExtremesAndTruth) {
  EXPECT_EQ(judged(R"(
x: f32[2, 3] = input(data=[1, nan, 3, -0.0, 0.0, -0.0])
a: f32[2] = max(x, axes=[1])
expect a = [nan, 0.0]
b: f32[2] = min(x, axes=[1])
expect b = [nan, -0.0]
c: bool[2] = any(x, axes=[1])
expect c = [true, false]
d: bool[2] = all(x, axes=[1])
expect d = [true, false]
i: i8[3] = input(data=[-3, 5, 2])
e: i8[] = max(i)
expect e = 5
f: i8[] = min(i)
expect f = -3
t: bool[2] = input(data=[true, false])
g: bool[] = max(t)
expect g = true
h: bool[] = min(t)
expect h = false
)"),
            "");
}

TEST(Reduce, OfNothing) {
  EXPECT_EQ(judged(R"(
x: f32[2, 0] = full(value=1)
a: f32[2] = sum(x, axes=[1])
expect a = 0
b: f32[2] = prod(x, axes=[1])
expect b = 1
c: f32[2] = max(x, axes=[1])
expect c = -inf
d: f32[2] = min(x, axes=[1])
expect d = inf
e: f32[2] = mean(x, axes=[1])
expect e = nan
f: f32[2] = var(x, axes=[1])
expect f = nan
g: bool[2] = any(x, axes=[1])
expect g = false
h: bool[2] = all(x, axes=[1])
expect h = true
i: f32[2] = logsumexp(x, axes=[1])
expect i = -inf
j: i8[0] = full(value=1)
k: i8[] = max(j)
expect k = -128
l: e4m3[0] = full(value=1)
m: e4m3[] = max(l)
expect m = -448
n: f32[0] = sum(x, axes=[0])
expect n = 0
o: f32[2, 0] = softmax(x)
expect o = 0
p: f32[2, 0] = cumsum(x, axis=1)
expect p = 0
q: i32[0] = argmax(x, axis=0)
expect q = 0
)"),
            "");
}

TEST(Reduce, OfAValueWithoutAxes) {
  EXPECT_EQ(judged(R"(
x: f32[] = full(value=2)
a: f32[] = sum(x)
expect a = 2
b: f32[] = sum(x, axes=[0])
expect b = 2
c: f32[] = sum(x, axes=[-1], keep=true)
expect c = 2
d: f32[] = sum(x, axes=[])
expect d = 2
e: i32[] = argmax(x)
expect e = 0
f: i32[] = argmin(x, axis=0, keep=true)
expect f = 0
g: f32[] = softmax(x)
expect g = 1
h: f32[] = cumsum(x)
expect h = 2
i: f32[] = sort(x)
expect i = 2
j: f32[] = var(x, correction=0)
expect j = 0
)"),
            "");
  EXPECT_EQ(error_of("x: f32[] = full(value=2)\ny: f32[] = sum(x, axes=[1])"),
            "3: axis 1 is not one of the 0 axes");
}

TEST(Reduce, MeansAndVariances) {
  EXPECT_EQ(judged(R"(
x: f32[2, 4] = input(data=[1, 2, 3, 4, 0.5, 0.25, -1, 8])
a: f32[2] = mean(x, axes=[1])
expect a = [2.5, 1.9375]
b: f32[2] = var(x, axes=[1])
expect b = [1.6666666666666667, 16.765625]
c: f32[2] = var(x, axes=[1], correction=0)
expect c = [1.25, 12.57421875]
d: f32[2] = std(x, axes=[1])
expect d = [1.2909944487358056, 4.0945848385398]
e: f32[] = mean(x)
expect e = 2.21875
f: f32[1] = full(value=3)
g: f32[] = var(f)
expect g = nan
h: f32[2] = logsumexp(x, axes=[1])
expect h = [4.440189698561196, 8.001106624180345]
y: f32[3] = input(data=[-inf, -inf, -inf])
i: f32[] = logsumexp(y)
expect i = -inf
j: f16[3] = input(data=[60000, 60000, 60000])
k: f16[] = mean(j)
expect k = 60000
l: f16[] = var(j)
expect l = 0
)"),
            "");
}

TEST(Reduce, PositionsOfExtremes) {
  EXPECT_EQ(judged(R"(
x: f32[2, 4] = input(data=[1, 3, 3, 0, nan, 2, nan, 5])
a: i32[2] = argmax(x, axis=1)
expect a = [1, 0]
b: i32[2] = argmax(x, axis=1, last=true)
expect b = [2, 2]
c: i32[2] = argmin(x, axis=1)
expect c = [3, 0]
d: i32[4] = argmax(x, axis=0)
expect d = [1, 0, 1, 1]
e: i32[] = argmax(x)
expect e = 4
f: i32[1, 1] = argmax(x, keep=true)
expect f = 4
g: i32[2, 1] = argmin(x, axis=-1, keep=true, last=true)
expect g = [3, 2]
u: u64[3] = input(data=[1, 18446744073709551615, 9223372036854775808])
h: i32[] = argmax(u)
expect h = 1
z: f32[3] = input(data=[-0.0, 0.0, -0.0])
i: i32[] = argmax(z)
expect i = 0
w: f32[3] = input(data=[-inf, -inf, -inf])
j: i32[] = argmax(w)
expect j = 0
)"),
            "");
  EXPECT_EQ(error_of("x: f32[0] = full(value=2)\ny: i32[] = argmax(x)"),
            "3: argmax of an empty axis");
}

TEST(Reduce, PositionsWithinBoundsAreAmbiguous) {
  const auto values = evaluated(R"(
x: f32[3] = input(data=[1, 1, 2])
e: f32[3] = exp(x)
m: i32[] = argmax(e)
n: i32[] = argmin(e)
a: i32[3] = argsort(e)
s: f32[3] = sort(e)
b: bool[3] = lt(e, 3)
c: bool[] = any(b)
force m, n, a, s, b, c
)");
  ASSERT_TRUE(values.ok()) << to_string(values.error());
  EXPECT_EQ(to_text(values.value()[0]), "i32[] {2}");
  EXPECT_EQ(to_text(values.value()[1]), "i32[] {?}");
  EXPECT_EQ(to_text(values.value()[2]), "i32[3] {?, ?, 2}");
  for (const Bounded& x : values.value()[3].elements) {
    EXPECT_EQ(x.certainty, Certainty::Bounded);
    EXPECT_LT(x.bound, 1e-5);
  }
  EXPECT_EQ(to_text(values.value()[4]), "bool[3] {1, 1, 0}");
  EXPECT_EQ(to_text(values.value()[5]), "bool[] {1}");
}

TEST(Scan, SumsProductsAndLargest) {
  EXPECT_EQ(judged(R"(
x: i8[2, 3] = input(data=[100, 100, -1, 2, 3, 4])
a: i32[2, 3] = cumsum(x, axis=1)
expect a = [100, 200, 199, 2, 5, 9]
b: i32[2, 3] = cumsum(x)
expect b = [100, 100, -1, 102, 103, 3]
c: i32[2, 3] = cumprod(x, axis=-1)
expect c = [100, 10000, -10000, 2, 6, 24]
d: i8[2, 3] = cummax(x, axis=1)
expect d = [100, 100, 100, 2, 3, 4]
e: i8[2, 3] = cumsum(x, axis=1, acc=i8)
expect e = [100, -56, -57, 2, 5, 9]
f: f32[4] = input(data=[0.5, nan, 1, inf])
g: f32[4] = cummax(f)
expect g = [0.5, nan, nan, nan]
h: f32[4] = cumsum(f)
expect h = [0.5, nan, nan, nan]
)"),
            "");
}

TEST(Scan, Softmax) {
  EXPECT_EQ(judged(R"(
x: f32[2, 3] = input(data=[1, 2, 3, 1000, 1000, -inf])
a: f32[2, 3] = softmax(x)
expect a = [0.09003057317038046, 0.24472847105479767, 0.6652409557748219, 0.5, 0.5, 0]
b: f32[2, 3] = log_softmax(x)
expect b = [-2.4076059644443806, -1.4076059644443806, -0.4076059644443806, -0.6931471805599453, -0.6931471805599453, -inf]
c: f32[2, 3] = softmax(x, axis=0)
expect c = [0, 0, 1, 1, 1, 0]
)"),
            "");
}

TEST(Reduce, IsRefusedByTheRuleItBreaks) {
  const std::string x = "x: f32[2, 3] = full(value=1)\n";
  EXPECT_EQ(error_of(x + "y: f32[2] = sum(x, axes=[2])"), "3: axis 2 is not one of the 2 axes");
  EXPECT_EQ(error_of(x + "y: f32[] = sum(x, axes=[1, -1])"), "3: axis 1 is named twice");
  EXPECT_EQ(error_of(x + "y: f32[2] = sum(x, axes=[0])"),
            "3: the written shape is [2], sum gives [3]");
  EXPECT_EQ(error_of(x + "y: f32[] = sum(x, acc=i32)"), "3: sum of f32 cannot accumulate in i32");
  EXPECT_EQ(error_of(x + "y: i32[] = sum(x)"), "3: the written type is i32, sum gives f32");
  EXPECT_EQ(error_of("x: i32[2] = full(value=1)\ny: i32[] = mean(x)"),
            "3: mean takes floats, not i32");
}

}  // namespace
}  // namespace assay::reference
