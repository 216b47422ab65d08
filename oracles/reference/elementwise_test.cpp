#include "oracles/reference/test_programs.h"

namespace assay::reference {
namespace {

TEST(Elementwise, IntegersWrapAndDivideAsTheTableSays) {
  EXPECT_EQ(judged(R"(
x: i8[5] = input(data=[-128, -7, 7, 127, 0])
y: i8[5] = input(data=[-1, 2, -2, 127, 5])
a: i8[5] = add(x, y)
expect a = [127, -5, 5, -2, 5]
s: i8[5] = sub(x, y)
expect s = [-127, -9, 9, 0, -5]
m: i8[5] = mul(x, y)
expect m = [-128, -14, -14, 1, 0]
q: i8[5] = idiv(x, y)
expect q = [-128, -4, -4, 1, 0]
r: i8[5] = mod(x, y)
expect r = [0, 1, -1, 0, 0]
t: i8[5] = tdiv(x, y)
expect t = [-128, -3, -3, 1, 0]
u: i8[5] = tmod(x, y)
expect u = [0, -1, 1, 0, 0]
n: i8[5] = neg(x)
expect n = [-128, 7, -7, -127, 0]
b: i8[5] = abs(x)
expect b = [-128, 7, 7, 127, 0]
g: i8[5] = sign(x)
expect g = [-1, -1, 1, 1, 0]
i: i8[5] = not(x)
expect i = [127, 6, -8, -128, -1]
z: i8[5] = square(x)
expect z = [0, 49, 49, 1, 0]
e: i8[5] = relu(x)
expect e = [0, 0, 7, 127, 0]
)"),
            "");
}

TEST(Elementwise, DivisionByZeroAndShiftsPastTheWidthAreUnspecified) {
  const auto values = evaluated(R"(
x: u8[3] = input(data=[6, 7, 255])
y: u8[3] = input(data=[0, 7, 8])
q: u8[3] = idiv(x, y)
r: u8[3] = mod(x, y)
l: u8[3] = shl(x, y)
s: u8[3] = shr(x, y)
o: u8[3] = add(q, 1)
force q, r, l, s, o
)");
  ASSERT_TRUE(values.ok()) << to_string(values.error());
  EXPECT_EQ(to_text(values.value()[0]), "u8[3] {_, 1, 31}");
  EXPECT_EQ(to_text(values.value()[1]), "u8[3] {_, 0, 7}");
  EXPECT_EQ(to_text(values.value()[2]), "u8[3] {6, 128, _}");
  EXPECT_EQ(to_text(values.value()[3]), "u8[3] {6, 0, _}");
  EXPECT_EQ(to_text(values.value()[4]), "u8[3] {_, 2, 32}");
}

TEST(Elementwise, BitsAndLogic) {
  EXPECT_EQ(judged(R"(
x: u8[2] = input(data=[12, 255])
y: u8[2] = input(data=[10, 1])
a: u8[2] = and(x, y)
expect a = [8, 1]
o: u8[2] = or(x, y)
expect o = [14, 255]
e: u8[2] = xor(x, y)
expect e = [6, 254]
p: bool[4] = input(data=[false, false, true, true])
q: bool[4] = input(data=[false, true, false, true])
l: bool[4] = lt(p, q)
expect l = [false, true, false, false]
m: bool[4] = maximum(p, q)
expect m = [false, true, true, true]
n: bool[4] = minimum(p, q)
expect n = [false, false, false, true]
i: bool[4] = not(p)
expect i = [true, true, false, false]
)"),
            "");
}

TEST(Elementwise, ComparisonsOfNaNAndZeros) {
  EXPECT_EQ(judged(R"(
x: f32[5] = input(data=[nan, -0.0, 1, inf, 2])
y: f32[5] = input(data=[1, 0.0, nan, inf, 3])
a: bool[5] = lt(x, y)
expect a = [false, false, false, false, true]
b: bool[5] = le(x, y)
expect b = [false, true, false, true, true]
c: bool[5] = gt(x, y)
expect c = [false, false, false, false, false]
d: bool[5] = ge(x, y)
expect d = [false, true, false, true, false]
e: bool[5] = eq(x, y)
expect e = [false, true, false, true, false]
f: bool[5] = ne(x, y)
expect f = [true, false, true, false, true]
g: bool[5] = isnan(x)
expect g = [true, false, false, false, false]
z: f32[4] = input(data=[inf, -inf, nan, 1])
h: bool[4] = isinf(z)
expect h = [true, true, false, false]
i: bool[4] = isinf(z, negative=false)
expect i = [true, false, false, false]
j: bool[4] = isinf(z, positive=false)
expect j = [false, true, false, false]
k: bool[4] = isinf(z, positive=false, negative=false)
expect k = [false, false, false, false]
u: u64[2] = input(data=[18446744073709551615, 1])
v: u64[2] = input(data=[1, 18446744073709551615])
w: bool[2] = le(u, v)
expect w = [false, true]
)"),
            "");
}

TEST(Elementwise, FloatsKeepZerosInfinitiesAndNaN) {
  EXPECT_EQ(judged(R"(
x: f32[6] = input(data=[0, -0.0, inf, -inf, nan, 1])
a: f32[6] = maximum(x, -0.0)
expect a = [0, -0.0, inf, -0.0, nan, 1]
b: f32[6] = minimum(x, 0)
expect b = [0, -0.0, 0, -inf, nan, 0]
r: f32[6] = relu(x)
expect r = [0, 0, inf, 0, nan, 1]
c: f32[6] = recip(x)
expect c = [inf, -inf, 0, -0.0, nan, _]
d: f32[6] = sub(x, x)
expect d = [0, 0, nan, nan, nan, 0]
n: f32[6] = neg(x)
expect n = [-0.0, 0, -inf, inf, nan, -1]
g: f32[6] = sign(x)
expect g = [0, 0, 1, -1, nan, 1]
s: f32[6] = sqrt(x)
expect s = [0, -0.0, inf, nan, nan, 1]
y: f32[6] = copysign(1.5, x)
expect y = [1.5, -1.5, 1.5, -1.5, _, 1.5]
p: f32[4] = input(data=[-1, nan, 0, -8])
q: f32[4] = input(data=[inf, 0, -1, 0.5])
w: f32[4] = pow(p, q)
expect w = [1, 1, inf, nan]
)"),
            "");
}

TEST(Elementwise, Rounding) {
  EXPECT_EQ(judged(R"(
x: f32[7] = input(data=[-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.7])
f: f32[7] = floor(x)
expect f = [-3, -2, -1, 0, 1, 2, 3]
c: f32[7] = ceil(x)
expect c = [-2, -1, -0.0, 1, 2, 3, 4]
r: f32[7] = round(x)
expect r = [-2, -2, -0.0, 0, 2, 2, 4]
t: f32[7] = trunc(x)
expect t = [-2, -1, -0.0, 0, 1, 2, 3]
)"),
            "");
}

// Values by another implementation in doubles, of erf and atan by their expansions: where the
// steps of an expansion round otherwise, both lie within the bound.
TEST(Elementwise, FunctionsOfNumbers) {
  EXPECT_EQ(judged(R"(
x: f64[3] = input(data=[0.5, -1.25, 2])
v0: f64[3] = square(x)
expect v0 = [0.25, 1.5625, 4.0]
v1: f64[3] = recip(x)
expect v1 = [2.0, -0.8, 0.5]
v2: f64[3] = sqrt(x)
expect v2 = [0.7071067811865476, nan, 1.4142135623730951]
v3: f64[3] = rsqrt(x)
expect v3 = [1.414213562373095, nan, 0.7071067811865475]
v4: f64[3] = exp(x)
expect v4 = [1.6487212707001282, 0.2865047968601901, 7.38905609893065]
v5: f64[3] = exp2(x)
expect v5 = [1.4142135623730951, 0.42044820762685725, 4.0]
v6: f64[3] = expm1(x)
expect v6 = [0.6487212707001282, -0.7134952031398099, 6.38905609893065]
v7: f64[3] = log(x)
expect v7 = [-0.6931471805599453, nan, 0.6931471805599453]
v8: f64[3] = log2(x)
expect v8 = [-1.0, nan, 1.0]
v9: f64[3] = log10(x)
expect v9 = [-0.3010299956639812, nan, 0.3010299956639812]
v10: f64[3] = log1p(x)
expect v10 = [0.4054651081081644, nan, 1.0986122886681096]
v11: f64[3] = sin(x)
expect v11 = [0.479425538604203, -0.9489846193555862, 0.9092974268256817]
v12: f64[3] = cos(x)
expect v12 = [0.8775825618903728, 0.3153223623952687, -0.4161468365471424]
v13: f64[3] = tan(x)
expect v13 = [0.5463024898437905, -3.0095696738628313, -2.185039863261519]
v14: f64[3] = asin(x)
expect v14 = [0.5235987727345544, nan, nan]
v15: f64[3] = acos(x)
expect v15 = [1.0471975540603422, nan, nan]
v16: f64[3] = atan(x)
expect v16 = [0.4636476169256264, -0.8960553792399808, 1.10714870986927]
v17: f64[3] = sinh(x)
expect v17 = [0.5210953054937474, -1.6019190803008256, 3.626860407847019]
v18: f64[3] = cosh(x)
expect v18 = [1.1276259652063807, 1.8884238771610158, 3.7621956910836314]
v19: f64[3] = tanh(x)
expect v19 = [0.46211715726000974, -0.8482836399575129, 0.9640275800758169]
v20: f64[3] = asinh(x)
expect v20 = [0.48121182505960347, -1.0475930126492587, 1.4436354751788103]
v21: f64[3] = acosh(x)
expect v21 = [nan, nan, 1.3169578969248166]
v22: f64[3] = atanh(x)
expect v22 = [0.5493061443340548, nan, nan]
v23: f64[3] = erf(x)
expect v23 = [0.5205000163047472, -0.9229002199429472, 0.9953221395812188]
v24: f64[3] = sigmoid(x)
expect v24 = [0.6224593312018546, 0.22270013882530884, 0.8807970779778823]
v25: f64[3] = relu(x)
expect v25 = [0.5, 0, 2.0]
v26: f64[3] = leaky_relu(x)
expect v26 = [0.5, -0.0125, 2.0]
v27: f64[3] = elu(x)
expect v27 = [0.5, -0.7134952031398099, 2.0]
v28: f64[3] = selu(x)
expect v28 = [0.5253504936777402, -1.2543954463378648, 2.101401974710961]
v29: f64[3] = celu(x)
expect v29 = [0.5, -0.7134952031398099, 2.0]
v30: f64[3] = gelu(x)
expect v30 = [0.3457312313619969, -0.13206230275672004, 1.9544998742254873]
v31: f64[3] = silu(x)
expect v31 = [0.3112296656009273, -0.27837517353163604, 1.7615941559557646]
v32: f64[3] = softplus(x)
expect v32 = [0.9740769841801067, 0.25192908134537295, 2.1269280110429727]
v33: f64[3] = softsign(x)
expect v33 = [0.3333333333333333, -0.5555555555555556, 0.6666666666666666]
v34: f64[3] = mish(x)
expect v34 = [0.3752452113048951, -0.30841396114152775, 1.9439589595339946]
v35: f64[3] = hard_sigmoid(x)
expect v35 = [0.6, 0.25, 0.9]
v36: f64[3] = hard_swish(x)
expect v36 = [0.2916666666666667, -0.36458333333333326, 1.6666666666666665]
g: f64[3] = gelu(x, approximate=tanh)
expect g = [0.34571400982514394, -0.13228579703028542, 1.954597694087775]
y: f64[3] = input(data=[-0.75, 0.5, 1.5])
d: f64[3] = div(x, y)
expect d = [-0.6666666666666666, -2.5, 1.3333333333333333]
p: f64[3] = pow(x, y)
expect p = [1.681792830507429, nan, 2.8284271247461903]
w: f64[3] = fmod(x, y)
expect w = [0.5, -0.25, 0.5]
)"),
            "");
}

TEST(Elementwise, FunctionsAtTheirEnds) {
  EXPECT_EQ(judged(R"(
x: f32[4] = input(data=[inf, -inf, nan, 0])
a: f32[4] = erf(x)
expect a = [1, -1, nan, _]
b: f32[4] = atan(x)
expect b = [1.57079633, -1.57079633, nan, 0]
c: f32[4] = sigmoid(x)
expect c = [1, 0, nan, 0.5]
d: f32[4] = tanh(x)
expect d = [1, -1, nan, 0]
e: f32[4] = softplus(x)
expect e = [inf, 0, nan, 0.693147181]
f: f32[4] = elu(x)
expect f = [inf, -1, nan, 0]
g: f32[4] = leaky_relu(x)
expect g = [inf, -inf, nan, 0]
y: f32[3] = input(data=[1, -1, 1.5])
h: f32[3] = asin(y)
expect h = [1.57079633, -1.57079633, nan]
)"),
            "");
}

TEST(Elementwise, PromotesAndBroadcasts) {
  EXPECT_EQ(judged(R"(
a: i8[2, 1] = input(data=[1, 2])
b: u8[3] = input(data=[10, 20, 255])
c: i16[2, 3] = add(a, b)
expect c = [11, 21, 256, 12, 22, 257]
d: i8[2, 1] = add(a, 127)
expect d = [-128, -127]
e: f32[2, 1] = add(a, 0.5)
expect e = [1.5, 2.5]
f: f16[2, 1] = full(value=2)
g: f16[2, 1] = mul(f, 2049)
expect g = [4096]
h: f32[2, 1] = mul(a, 2.0)
expect h = [2, 4]
i: u64[2, 1] = cast(a)
j: u64[2, 1] = sub(i, a)
expect j = 0
k: bool[2, 3] = lt(a, b)
expect k = true
)"),
            "");
  EXPECT_EQ(judged(R"(
x: f32[0, 3] = full(value=1)
y: f32[1, 3] = full(value=1)
z: f32[0, 3] = add(x, y)
expect z = 1
s: f32[] = full(value=2)
t: f32[] = sub(3, s)
expect t = 1
)"),
            "");
}

TEST(Elementwise, SelectsAndClips) {
  EXPECT_EQ(judged(R"(
c: bool[3] = input(data=[true, false, true])
x: i8[3] = input(data=[1, 2, 3])
y: i16[] = full(value=300)
w: i16[3] = where(c, x, y)
expect w = [1, 300, 3]
v: f32[3] = where(c, x, 2.5)
expect v = [1, 2.5, 3]
u: i8[3] = clip(x, 2)
expect u = [2, 2, 3]
f: f32[4] = input(data=[-1, nan, 5, 0.5])
lo: f32[] = full(value=0)
t: f32[4] = clip(f, lo, 1)
expect t = [0, nan, 1, 0.5]
l: f32[4] = lerp(f, 1.0, 0.5)
expect l = [0, nan, 3, 0.75]
d: i8[3] = undefined()
k: bool[3] = input(data=[true, true, true])
p: i8[3] = where(k, x, d)
expect p = [1, 2, 3]
)"),
            "");
}

TEST(Elementwise, CastsAsConversionsSay) {
  EXPECT_EQ(judged(R"(
x: f32[6] = input(data=[-1.9, 2.9, 65519.999, 65520, -0.0, nan])
i: i32[6] = cast(x)
expect i = [-1, 2, 65520, 65520, 0, _]
h: f16[6] = cast(x)
expect h = [-1.9004, 2.9004, inf, inf, -0.0, nan]
b: bool[6] = cast(x)
expect b = [true, true, true, true, false, true]
n: i32[3] = input(data=[300, -1, 16777217])
u: u8[3] = cast(n)
expect u = [44, 255, 1]
f: f32[3] = cast(n)
expect f = [300, -1, 16777216]
q: e4m3[3] = cast(n)
expect q = [288, -1, nan]
)"),
            "");
}

TEST(Elementwise, IsRefusedByTheRuleItBreaks) {
  EXPECT_EQ(error_of("x: i32[2] = full(value=1)\ny: i32[2] = sqrt(x)"),
            "3: sqrt takes floats, not i32");
  EXPECT_EQ(error_of("x: i32[2] = full(value=1)\ny: f16[2] = add(x, 1.5)"),
            "3: the written type is f16, add gives f32");
  EXPECT_EQ(error_of("x: i32[2] = full(value=1)\ny: i32[3] = full(value=1)\n"
                     "z: i32[3] = add(x, y)"),
            "4: [2] and [3] do not broadcast");
  EXPECT_EQ(error_of("x: i32[4] = full(value=1)\ny: i32[5] = add(x, 1)"),
            "3: the written shape is [5], add gives [4]");
  EXPECT_EQ(error_of("x: i32[] = add(1, 2)"), "2: add of numbers alone, which have no type");
  EXPECT_EQ(error_of("x: i32[2] = full(value=1)\nz: i32[2] = where(x, x, x)"),
            "3: where of i32 beside bool");
}

}  // namespace
}  // namespace assay::reference
