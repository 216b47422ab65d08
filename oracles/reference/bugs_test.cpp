#include <fmt/format.h>

#include "oracles/reference/test_programs.h"

namespace assay::reference {
namespace {

// Public bugs whose right value a program can say.
struct Bug {
  std::string_view name;
  std::string_view program;
};

constexpr Bug kBugs[] = {
    {"B001_reader_and_two_writes", R"(
x: f32[1] = input(data=1)
y: f32[1] = add(x, 10)
t: f32[1] = mul(x, 2)
x := t
u: f32[1] = add(x, 3)
x := u
force y, x
expect y = [11]
expect x = [5]
)"},
    {"B005_reader_before_a_view_is_written", R"(
x: i32[2] = input(data=[1, 2])
r: i32[2] = add(x, 10)
v: i32[1] = slice(x, at=[0:1])
v := 9
expect r = [11, 12]
expect x = [9, 2]
)"},
    {"B006_write_of_every_second", R"(
t: f32[8] = input(data=0)
v: f32[4] = slice(t, at=[0:8:2])
v := 1
expect t = [1, 0, 1, 0, 1, 0, 1, 0]
)"},
    {"B007_write_through_a_bitcast", R"(
a: f32[4] = input(data=[1, 2, 3, 4])
v: u32[4] = bitcast(a)
w: u32[4] = input(data=[1082130432, 1077936128, 1073741824, 1065353216])
v := w
expect a = [4, 3, 2, 1]
)"},
    {"B009_old_and_new_form", R"(
a: f32[4] = full(value=1)
t: f32[4] = mul(a, 3)
a := 2
s: f32[4] = sub(t, 1)
m: f32[4] = contiguous(s)
new: f32[4] = add(a, m)
expect new = 4
)"},
    {"B010_two_that_need_each_other", R"(
a: f32[1] = input(data=2)
b: f32[1] = input(data=3)
c: f32[1] = add(a, 9)
d: f32[1] = add(a, b)
a := d
e: f32[1] = add(b, c)
b := e
expect a = [5]
expect b = [14]
)"},
    {"B011_reads_around_writes", R"(
buf: f32[4] = input(data=0)
buf := 3
mid: f32[] = sum(buf)
buf := 5
fin: f32[] = sum(buf)
force fin
force mid
expect fin = 20
expect mid = 12
)"},
    {"B013_swap_of_halves", R"(
b: i32[8] = input(start=1, step=1)
low: i32[4] = slice(b, at=[0:4])
high: i32[4] = slice(b, at=[4:8])
l: i32[4] = clone(low)
r: i32[4] = clone(high)
low := r
force b
high := l
expect b = [5, 6, 7, 8, 1, 2, 3, 4]
)"},
    {"B014_write_into_what_is_not_computed", R"(
x: i32[4] = input(data=[1, 2, 3, 4])
y: i32[4] = input(data=[5, 6, 7, 8])
c: i32[4] = add(x, y)
v: i32[2] = slice(c, at=[0:2])
v := 99
expect c = [99, 99, 10, 12]
)"},
    {"B015_overlapping_writes", R"(
b: f32[8] = input(data=0)
p: f32[4] = slice(b, at=[0:4])
q: f32[4] = slice(b, at=[2:6])
p := 1
q := 2
expect b = [1, 1, 2, 2, 2, 2, 0, 0]
p := 1
expect b = [1, 1, 1, 1, 2, 2, 0, 0]
)"},
    {"B017_in_place_above_a_reader", R"(
x: f32[1] = input(data=3)
y: f32[1] = log(x)
x := y
expect y = [1.0986123]
expect x = [1.0986123]
)"},
    {"B018_sum_with_the_reversed", R"(
x: f32[4, 2] = input(start=0, step=1)
f: f32[4, 2] = flip(x, axes=[0])
s: f32[4, 2] = add(x, f)
x := s
expect x = [6, 8, 6, 8, 6, 8, 6, 8]
)"},
    {"B019_copy_before_a_write", R"(
d: f32[3, 4] = input(data=0)
s: f32[3, 4] = input(start=0, step=1)
d := s
t: f32[3, 4] = add(s, 1)
s := t
expect d = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
expect s = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
)"},
    {"B021_pad_by_nothing_is_a_copy", R"(
a: f32[1] = input(data=2)
b: f32[1] = pad(a, low=[0], high=[0])
a := 1
expect b = [2]
)"},
    {"B022_shifted_write_of_itself", R"(
x: i32[4] = input(start=0, step=1)
base: i32[4] = add(x, 1)
to: i32[3] = slice(base, at=[1:4])
from: i32[3] = slice(base, at=[0:3])
to := from
r: i32[1, 4, 1] = reshape(base)
expect r = [1, 1, 2, 3]
)"},
    {"B043_equal_values_are_two", R"(
a: f32[2, 2] = full(value=0)
b: f32[2, 2] = full(value=0)
v: f32[1, 1] = slice(a, at=[0:1, 0:1])
force a, b
v := 7
expect a = [7, 0, 0, 0]
expect b = 0
)"},
    {"B046_zeros_of_both_signs", R"(
x: f32[1] = input(data=1)
n: f32[1] = full(value=-0.0)
p: f32[1] = full(value=0)
y: f32[1] = copysign(x, n)
z: f32[1] = copysign(x, p)
a: f32[1] = div(1, n)
b: f32[1] = div(1, p)
expect y = [-1]
expect z = [1]
expect a = [-inf]
expect b = [inf]
)"},
    {"B049_two_paths_to_one_pad", R"(
b: f32[4, 3] = input(start=0, step=1)
p: f32[6, 3] = pad(b, low=[1, 0], high=[1, 0])
q: f32[7, 3] = pad(b, low=[1, 0], high=[2, 0])
v: f32[6, 3] = slice(q, at=[0:6])
s: f32[6] = sum(p, axes=[1])
t: f32[6] = sum(v, axes=[1])
o: f32[6] = add(s, t)
expect o = [0, 6, 24, 42, 60, 0]
)"},
    {"B051_largest_of_a_stack", R"(
a: i32[1] = input(data=1)
b: i32[1] = input(data=2)
s: i32[2, 1] = stack(a, b)
m: i32[1] = max(s, axes=[0])
expect m = [2]
)"},
    {"B053_copy_of_a_padded_constant", R"(
o: f32[4] = full(value=1)
p: f32[6] = pad(o, low=[1], high=[1])
c: f32[6] = copy(p) to sim:1
expect c = [0, 1, 1, 1, 1, 0]
)"},
    {"B054_pad_below_what_keeps_no_zero", R"(
x: f32[2, 2] = full(value=1)
s: f32[2, 1] = sum(x, axes=[1], keep=true)
r: f32[2, 1] = recip(s)
y: f32[2, 2] = mul(x, r)
p: f32[3, 2] = pad(y, low=[0, 0], high=[1, 0])
expect p = [0.5, 0.5, 0.5, 0.5, 0, 0]
)"},
    {"B055_pad_of_a_count", R"(
m: bool[1, 16384] = full(value=true)
n: i32[1] = sum(m, axes=[-1])
p: i32[2] = pad(n, low=[1], high=[0])
expect p = [0, 16384]
)"},
    {"B058_one_undefined_slice", R"(
x: f32[4] = input(data=[10, 20, 30, 40])
v: f32[2] = slice(x, at=[0:2])
u: f32[2] = undefined()
v := u
expect x = [_, _, 30, 40]
)"},
    {"B059_sum_over_what_is_repeated", R"(
o: f32[] = full(value=1)
a: f32[2, 4, 3] = expand(o)
b: f32[2, 4, 3] = mul(a, a)
s: f32[2, 4] = sum(b, axes=[-1])
expect s = 3
)"},
    {"B067_windows_of_a_symbolic_axis", R"(
var n in 11..100 = 79
x: i32[1, 8, n] = full(value=1)
w: i32[1, 8, 12] = full(value=1)
y: i32[1, 1, 13] = conv(x, w, stride=[6], padding=[3, 3])
expect y = [72, 96, 96, 96, 96, 96, 96, 96, 96, 96, 96, 96, 80]
)"},
    {"B070_one_variable_two_values", R"(
var i in 0..3 = 0
b: f32[4, 4] = input(data=0)
v: f32[1, 4] = slice(b, at=[i:i + 1])
v := 1
bind i = 1
w: f32[1, 4] = slice(b, at=[i:i + 1])
w := 2
s: f32[4] = sum(b, axes=[1])
expect s = [4, 8, 0, 0]
)"},
    {"B129_product", R"(
x: f32[3] = input(data=[1, 2, 3])
p: f32[] = prod(x)
expect p = 6
)"},
    {"B130_reduce_of_a_constant", R"(
x: f32[3, 3] = full(value=2)
s: f32[] = sum(x)
p: f32[] = prod(x)
m: f32[] = max(x)
expect s = 18
expect p = 512
expect m = 2
)"},
    {"B131_sums_of_squares", R"(
x: bf16[2, 3, 64] = full(value=1)
h: bf16[2, 3, 64] = mul(x, 0.5)
f: f32[2, 3, 64] = cast(h)
q: f32[2, 3, 64] = square(f)
r: f32[3] = sum(q, axes=[0, 2])
expect r = [32, 32, 32]
)"},
    {"B133_largest_below_zero", R"(
x: f32[1, 2, 3, 4] = full(value=-1)
m: f32[1, 2, 3] = max(x, axes=[-1])
expect m = -1
y: f32[2] = input(data=[-inf, -inf])
n: f32[] = max(y)
expect n = -inf
)"},
    {"B135_pool_of_negative_integers", R"(
x: i32[1, 3, 3] = input(data=[-9, -8, -7, -6, -5, -4, -3, -2, -1])
p: i32[1, 2, 2] = max_pool(x, size=[2, 2], padding=[1, 0, 1, 0])
expect p = [-9, -7, -3, -1]
)"},
    {"B162_sort_of_none_or_one", R"(
a: i32[0, 5] = full(value=1)
b: i32[0, 5] = argsort(a, axis=0)
expect b = 0
c: i32[1, 5] = input(start=0, step=1)
d: i32[1, 5] = argsort(c, axis=0)
expect d = 0
e: i32[1, 5] = sort(c, axis=0)
expect e = [0, 1, 2, 3, 4]
)"},
    {"B163_positions_in_a_transposed_sum", R"(
x: f32[2, 3] = input(data=[1, 5, 2, 7, 0, 3])
t: f32[3, 2] = permute(x)
y: f32[3, 2] = input(data=[0, 0, 0, 9, 0, 0])
s: f32[3, 2] = add(t, y)
m: i32[3] = argmax(s, axis=1)
expect m = [1, 1, 1]
)"},
    {"B165_weighted_sampling", R"(
w: f32[1, 27] = input(data=1)
s: f32[1, 1] = sum(w, axes=[1], keep=true)
n: f32[1, 27] = div(w, s)
c: f32[1, 27] = cumsum(n, axis=1)
b: bool[1, 27] = lt(c, 0.5)
k: i32[1] = sum(b, axes=[1])
expect k = [13]
)"},
    {"B166_roll_of_nothing", R"(
x: f32[2, 0, 3] = full(value=1)
a: f32[2, 0, 3] = roll(x, shifts=[1], axes=[0])
b: f32[2, 0, 3] = roll(x, shifts=[1], axes=[1])
expect a = 0
expect b = 0
)"},
    {"B167_types_of_sums_of_nothing", R"(
x: bool[0] = full(value=true)
a: i32[0] = cumsum(x)
expect a = 0
y: i8[0] = full(value=1)
b: i32[0] = cumsum(y)
expect b = 0
)"},
    {"B169_shapes_with_a_zero", R"(
a: f32[1] = full(value=1)
b: f32[0] = full(value=1)
c: f32[0] = add(a, b)
expect c = 0
d: f32[3, 1] = full(value=1)
e: f32[3, 0] = full(value=1)
f: f32[3, 0] = add(d, e)
expect f = 0
g: f32[4, 4, 4] = full(value=0)
h: f32[4, 0, 4] = slice(g, at=[0:4, 0:0])
i: f32[4, 1, 4] = full(value=0)
j: f32[4, 1, 4] = cat(h, i, axis=1)
expect j = 0
k: f32[2] = pad(b, low=[1], high=[1])
expect k = 0
)"},
    {"B173_cat_of_one", R"(
x: i64[2, 1] = input(data=[6, 5])
y: i64[2, 1] = cat(x, axis=1)
expect y = [6, 5]
)"},
};

class Bugs : public testing::TestWithParam<Bug> {};

TEST_P(Bugs, HasItsRightValue) { EXPECT_EQ(judged(GetParam().program), ""); }

INSTANTIATE_TEST_SUITE_P(Public, Bugs, testing::ValuesIn(kBugs),
                         [](const auto& bug) { return std::string(bug.param.name); });

// Ten steps of an optimizer whose scalar is rescaled after it is read, against the sums of
// another implementation in doubles.
TEST(Bugs, B003ScalarIsReadBeforeItIsRescaled) {
  std::string program =
      "b: f32[] = input(data=0.5)\nm: f32[] = input(data=0)\np: f32[] = input(data=1)\n";
  for (int i = 0; i < 10; ++i) {
    program += fmt::format(
        "a{0}: f32[] = mul(m, 0.9)\nm{0}: f32[] = add(a{0}, 0.1)\nm := m{0}\n"
        "c{0}: f32[] = sub(1, b)\nd{0}: f32[] = div(m, c{0})\np{0}: f32[] = sub(p, d{0})\n"
        "p := p{0}\nb{0}: f32[] = mul(b, 0.9)\nb := b{0}\nforce p, m, b\n",
        i);
  }
  EXPECT_EQ(judged(program + "expect p = -4.863786770\n"), "");
}

TEST(Bugs, B170AxisOfAValueWithoutAxes) {
  EXPECT_EQ(error_of("x: f32[] = full(value=1)\ny: f32[] = sum(x, axes=[1])"),
            "3: axis 1 is not one of the 0 axes");
}

}  // namespace
}  // namespace assay::reference
