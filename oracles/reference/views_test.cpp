#include "oracles/reference/test_programs.h"

namespace assay::reference {
namespace {

TEST(Views, ShareTheBytesOfWhatTheyAreAViewOf) {
  EXPECT_EQ(judged(R"(
x: i32[2, 3] = input(start=0, step=1)
t: i32[3, 2] = permute(x, order=[1, 0])
f: i32[3, 2] = flip(t, axes=[0])
s: i32[2, 1] = slice(f, at=[0:3:2, 1:2])
r: i32[2] = reshape(s)
expect r = [5, 3]
y: i32[2, 3] = add(x, 0)
r := 9
expect x = [0, 1, 2, 9, 4, 9]
expect f = [2, 9, 1, 4, 0, 9]
expect y = [0, 1, 2, 3, 4, 5]
x := 7
expect r = [7, 7]
)"),
            "");
}

TEST(Views, ReadBytesLowFirst) {
  EXPECT_EQ(judged(R"(
x: u32[2] = input(data=[67305985, 134678021])
b: u8[8] = bitcast(x)
expect b = [1, 2, 3, 4, 5, 6, 7, 8]
f: u8[8] = flip(b, axes=[0])
w: u16[4] = bitcast(f)
expect w = [1800, 1286, 772, 258]
s: u16[2] = slice(w, at=[1:4:2])
s := 43707
expect x = [67353514, 134724522]
)"),
            "");
}

TEST(Views, WriteThroughChainsOfAllKinds) {
  // A slice of a flip of a permutation of a bitcast, written and read back where it lies.
  EXPECT_EQ(judged(R"(
x: f32[4] = input(data=[1, 2, 3, 4])
h: u16[8] = bitcast(x)
m: u16[4, 2] = reshape(h)
p: u16[2, 4] = permute(m)
f: u16[2, 4] = flip(p, axes=[0, 1])
s: u16[1, 2] = slice(f, at=[0:1, 0:4:2])
expect s = [16512, 16384]
s := 16256
expect x = [1, 1, 3, 1]
)"),
            "");
}

TEST(Views, OfTheSameWidthReinterpretEachElement) {
  EXPECT_EQ(judged(R"(
a: f32[4] = input(data=[1, 2, 3, 4])
v: u32[4] = bitcast(a)
w: u32[4] = input(data=[1082130432, 1077936128, 1073741824, 1065353216])
v := w
expect a = [4, 3, 2, 1]
n: f32[1] = input(data=[-0.0])
m: i32[1] = bitcast(n)
expect m = [-2147483648]
)"),
            "");
}

TEST(Views, KeepBoundsOfElementsThatAWriteOfBytesDoesNotTouch) {
  const auto values = evaluated(R"(
x: f32[2] = input(data=[1, 2])
e: f32[2] = exp(x)
b: u8[8] = bitcast(e)
s: u8[1] = slice(b, at=[7:8])
s := 0
force e, b
)");
  ASSERT_TRUE(values.ok()) << to_string(values.error());
  EXPECT_EQ(values.value()[0].elements[0].certainty, Certainty::Bounded);
  EXPECT_EQ(to_text(values.value()[1]), "u8[8] {?, ?, ?, ?, ?, ?, ?, ?}");
  EXPECT_EQ(values.value()[0].elements[1].certainty, Certainty::Ambiguous);
}

TEST(Views, OfOneAxisThatIsEmptyOrMissingAreWellFormed) {
  EXPECT_EQ(judged(R"(
x: f32[0, 3] = input(data=1)
p: f32[3, 0] = permute(x)
r: f32[0] = reshape(p)
f: f32[0] = flip(r, axes=[-1])
s: f32[0] = slice(f, at=[0:0])
b: u8[0] = bitcast(s)
b := 3
expect b = 1
z: f32[] = full(value=2)
p0: f32[] = permute(z)
f0: f32[] = flip(p0, axes=[])
s0: f32[] = slice(f0, at=[])
b0: i32[] = bitcast(s0)
r0: i32[1, 1] = reshape(b0)
r0 := 0
expect z = 0
)"),
            "");
}

TEST(Views, AreRefusedByTheRuleTheyBreak) {
  EXPECT_EQ(error_of("x: f32[4] = full(value=0)\ny: f32[5] = reshape(x)"),
            "3: reshape of [4] to [5] changes the number of elements");
  EXPECT_EQ(error_of("x: f32[4, 2] = full(value=0)\ny: f32[4, 2] = permute(x)"),
            "3: the written shape is [4, 2], permute gives [2, 4]");
  EXPECT_EQ(error_of("x: f32[4, 2] = full(value=0)\ny: f32[4] = permute(x, order=[0])"),
            "3: order names 1 of 2 axes");
  EXPECT_EQ(error_of("x: f32[4] = full(value=0)\ny: f32[2] = slice(x, at=[3:5])"),
            "3: 3:5:1 is no slice of axis 0, which is 4");
  EXPECT_EQ(error_of("x: f32[4] = full(value=0)\ny: f32[2] = slice(x, at=[0:2, 0:1])"),
            "3: 2 slices of 1 axes");
  EXPECT_EQ(error_of("x: f32[4] = full(value=0)\ny: f32[4] = flip(x, axes=[1])"),
            "3: axis 1 is not one of the 1 axes");
  EXPECT_EQ(error_of("x: f32[4] = full(value=0)\ny: f32[4] = flip(x, axes=[0, -1])"),
            "3: axis 0 is named twice");
  EXPECT_EQ(error_of("x: u8[6] = full(value=0)\ny: u32[1] = bitcast(x)"),
            "3: the last axis of [6] of u8 does not hold whole elements of u32");
  EXPECT_EQ(error_of("x: bool[8] = full(value=true)\ny: u8[8] = bitcast(x)"),
            "3: bool has no bytes to be read as another type");
}

TEST(Writes, BroadcastAndTakeTheTypeOfTheirTarget) {
  EXPECT_EQ(judged(R"(
x: i8[2, 3] = full(value=0)
row: i8[3] = input(data=[1, 2, 3])
x := row
expect x = [1, 2, 3, 1, 2, 3]
x := 4
expect x = 4
)"),
            "");
  EXPECT_EQ(error_of("x: i8[3] = full(value=0)\ny: i16[3] = full(value=0)\nx := y"),
            "4: x is i8, what is written to it is i16");
  EXPECT_EQ(error_of("x: i8[3] = full(value=0)\ny: i8[2] = full(value=0)\nx := y"),
            "4: x is [3], what is written to it is [2]");
}

TEST(Writes, ReadWhatTheyWriteBeforeItChanges) {
  EXPECT_EQ(judged(R"(
x: i32[4] = input(start=0, step=1)
a: i32[3] = slice(x, at=[1:4])
b: i32[3] = slice(x, at=[0:3])
a := b
expect x = [0, 0, 1, 2]
f: i32[4] = flip(x, axes=[0])
x := f
expect x = [2, 1, 0, 0]
)"),
            "");
}

TEST(Programs, ReadEachOutputAtItsPlace) {
  const auto values = evaluated(R"(
var n in 1..4 = 2
x: i32[n] = full(value=1)
force x
x := 2
bind n = 3
y: i32[n] = full(value=5)
expect y = 5
force x
)");
  ASSERT_TRUE(values.ok()) << to_string(values.error());
  ASSERT_EQ(values.value().size(), 3U);
  EXPECT_EQ(to_text(values.value()[0]), "i32[2] {1, 1}");
  EXPECT_EQ(to_text(values.value()[1]), "i32[3] {5, 5, 5}");
  EXPECT_EQ(to_text(values.value()[2]), "i32[2] {2, 2}");
}

TEST(Programs, ThatAskForTooMuchAreRefused) {
  EXPECT_EQ(error_of("x: f32[1048576, 1048576] = full(value=0)"),
            "2: [1048576, 1048576] is too large to evaluate");
  EXPECT_EQ(error_of("x: f32[8192, 1] = full(value=0)\n"
                     "y: f32[8192, 8192] = expand(x)"),
            "3: [8192, 8192] is too large to evaluate");
}

}  // namespace
}  // namespace assay::reference
