#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "engine/tensor/program/text_sample.h"

namespace assay::tensor {
namespace {

struct ErrorCase {
  std::string_view line;
  std::string_view error;  // the line of what follows kFour is 7
};

class EachError : public testing::TestWithParam<ErrorCase> {};

TEST_P(EachError, NamesItsPlace) {
  EXPECT_EQ(read_and_print(fmt::format("{}{}", kFour, GetParam().line)), GetParam().error);
}

constexpr ErrorCase kErrors[] = {
    {"x: f32[4] = sum(a, axs=[1])", "7:20: sum has no attribute 'axs'; it has axes, keep, acc"},
    {"x: f32[4] = neg(a, axes=[1])", "7:20: neg has no attribute 'axes'; it has none"},
    {"x: f32[4] = summ(a)", "7:13: there is no op 'summ'"},
    {"x: f32[4] = sum(e)", "7:17: there is no value 'e'"},
    {"x: f32[4] = add(x, a)", "7:17: there is no value 'x'"},
    {"x: f32[4] = sum(n)", "7:17: 'n' is a variable, which only sizes hold"},
    {"x: f32[m] = sum(a)", "7:8: there is no variable 'm'"},
    {"x: f32[a] = sum(a)", "7:8: 'a' is a value, and sizes are made of variables"},
    {"a: f32[4] = sum(a)", "7:1: 'a' is already defined on line 3"},
    {"n: f32[4] = sum(a)", "7:1: 'n' is already defined on line 2"},
    {"nan: f32[4] = sum(a)", "7:1: 'nan' is a keyword"},
    {"var: f32[4] = sum(a)", "7:1: 'var' is a keyword"},
    {"force := a", "7:1: expected a value, found 'force'"},
    {"x: f33[4] = sum(a)", "7:4: expected a type, found 'f33'"},
    {"x: index[4] = sum(a)", "7:4: expected a type, found 'index'"},
    {"x: void[4] = sum(a)", "7:4: expected a type, found 'void'"},
    {"x: f32 = sum(a)", "7:8: expected '[', found '='"},
    {"x: f32[4 = sum(a)", "7:10: expected ',' or ']', found '='"},
    {"x: f32[4,] = sum(a)", "7:10: expected a size, found ']'"},
    {"x: f32[1.5] = sum(a)", "7:8: expected a size, found '1.5'"},
    {"x: f32[4x] = sum(a)", "7:8: expected a size, found '4x'"},
    {"x: f32[99999999999999999999] = sum(a)", "7:8: '99999999999999999999' is past 64 bits"},
    {"x: f32[(n + 1] = sum(a)", "7:14: expected an operator or ')', found ']'"},
    {"x: f32[-n] = sum(a)", "7:9: expected a size, found 'n'"},
    {"x: f32[4] sum(a)", "7:11: expected '=', found 'sum'"},
    {"x: f32[4] = sum a", "7:17: expected '(', found 'a'"},
    {"x: f32[4] = sum(a b)", "7:19: expected ',' or ')', found 'b'"},
    {"x: f32[4] = sum(a", "7:18: expected ',' or ')', found the end of the text"},
    {"x: f32[4] = sum(a)\n)", "8:1: expected a statement, found ')'"},
    {"x: f32[4] = sum(a) a", "7:20: expected the end of the line, found 'a'"},
    {"x: f32[4] = sum()", "7:17: sum takes x"},
    {"x: f32[4] = sum(a, b)", "7:20: sum takes x"},
    {"x: f32[4] = clip()", "7:18: clip takes x, lo?, hi?"},
    {"x: f32[4] = stack()", "7:19: stack takes x..."},
    {"x: f32[4] = full(a)", "7:18: full takes no operands"},
    {"x: f32[4] = add(a, none)", "7:20: y of add cannot be left out"},
    {"x: f32[4] = sum(axes=[1], a)", "7:27: expected an attribute, found 'a'"},
    {"x: f32[4] = sum(a, keep=true, keep=true)", "7:31: 'keep' is given twice"},
    {"x: f32[4] = sum(a, keep=1)", "7:25: expected true or false, found '1'"},
    {"x: f32[4] = sum(a, axes=1)", "7:25: expected '[', found '1'"},
    {"x: f32[4] = sum(a, axes=[n])", "7:26: expected an axis, found 'n'"},
    {"x: f32[4] = sum(a, acc=4)", "7:24: expected a type, found '4'"},
    {"x: f32[4] = gelu(a, approximate=fast)",
     "7:33: approximate of gelu is none or tanh, found 'fast'"},
    {"x: f32[4] = einsum(a, equation=ij)", "7:32: expected a text in quotes, found 'ij'"},
    {"x: f32[4] = einsum(a, equation=\"ij", "7:32: expected a text in quotes, found '\"ij'"},
    {"x: f32[4] = einsum(a, equation=\"i\\q\")",
     "7:34: unknown escape; there are \\\" \\\\ \\n \\t \\xHH"},
    {"x: f32[4] = flip(a)", "7:19: flip needs axes"},
    {"x: f32[4] = slice(a, at=[1])", "7:27: expected ':', found ']'"},
    {"x: i32[4] = full(value=2.5)", "7:24: i32 cannot hold 2.5"},
    {"x: u8[4] = full(value=-1)", "7:23: u8 cannot hold -1"},
    {"x: bool[4] = full(value=2)", "7:25: bool cannot hold 2"},
    {"x: i32[4] = full(value=nan)", "7:24: i32 cannot hold nan"},
    {"x: i32[2] = input(data=[1, 1e20])", "7:28: i32 cannot hold 1e+20"},
    {"x: i32[2] = input(data=[1, _])", "7:28: expected a number, found '_'"},
    {"x: i32[2] = input(data=[1, 2, 3])", "7:24: x has 2 elements, 3 are given"},
    {"x: i32[2] = input(data=[])", "7:24: x has 2 elements, 0 are given"},
    {"x: i32[n, 2] = input(data=[1, 2, 3])", "7:27: x has 10 elements, 3 are given"},
    {"x: i32[0 - n] = input(data=[1, 2, 3])", "7:28: the shape of x has no size"},
    {"x: f32[4] = input()", "7:13: an input has either data, or start and step, or random"},
    {"x: f32[4] = input(data=1, step=1)",
     "7:13: an input has either data, or start and step, or random"},
    {"x: f32[4] = input(data=1, seed=1)", "7:13: seed, low and high belong to random"},
    {"x: i32[4] = input(random=normal)", "7:13: random=normal gives no i32"},
    {"x: f32[4] = input(random=nasty, low=1)", "7:13: random=nasty has no low and high"},
    {"x: f32[4] = input(random=uniform, low=1)", "7:13: low must be below high"},
    {"x: f32[4] = input(random=uniform, high=inf)", "7:13: low and high must be finite"},
    {"x: f32[4] = input(random=integers, high=1.5)", "7:13: low and high must be whole"},
    {"x: f32[4] = sum(a) on sim:0", "7:20: sum is where its operands are"},
    {"x: f32[4] = copy(a)", "7:20: expected 'to' and a device, found the end of the text"},
    {"x: f32[4] = copy(a) to 3", "7:24: expected a device, found '3'"},
    {"x: f32[4] = copy(a) to sim:x", "7:28: expected the number of a device, found 'x'"},
    {"x: f32[4] = shard(a)", "7:13: 'shard' is not in this engine yet"},
    {"capture a", "7:1: 'capture' is not in this engine yet"},
    {"replay a", "7:1: 'replay' is not in this engine yet"},
    {"image: f32[4] = neg(a)", "7:1: 'image' is not in this engine yet"},
    {"x := a", "7:1: there is no value 'x'"},
    {"n := a", "7:1: 'n' is a variable, which only sizes hold"},
    {"a := e", "7:6: there is no value 'e'"},
    {"a := ", "7:6: expected a value or a number, found the end of the text"},
    {"a", "7:2: expected ':' or ':=' after 'a', found the end of the text"},
    {"5", "7:1: expected a statement, found '5'"},
    {"$", "7:1: expected a statement, found '$'"},
    {"force", "7:6: expected a value, found the end of the text"},
    {"force a,", "7:9: expected a value, found the end of the text"},
    {"bind a = 3", "7:6: expected a variable, found 'a'"},
    {"bind n = 17", "7:10: n is in 1..16, not 17"},
    {"bind n = n", "7:10: expected a value, found 'n'"},
    {"var m in 0..1 = 0", "7:1: variables stand before all other statements"},
    {"kernel 0: NONE", "7:1: opts of kernels stand before all other statements"},
    {"expect a", "7:9: expected '=', found the end of the text"},
    {"expect e = 3", "7:8: there is no value 'e'"},
    {"expect a = [1, 2]", "7:12: a has 20 elements, 2 are given"},
    {"expect a = 1 or fail", "7:17: expected 'error', found 'fail'"},
    {"expect error fail", "7:14: expected a text in quotes, found 'fail'"},
};

INSTANTIATE_TEST_SUITE_P(Text, EachError, testing::ValuesIn(kErrors));

TEST(Text, KnowsItsVersions) {
  EXPECT_EQ(read_and_print(""),
            "1:1: expected 'tp 1', the version of the language, found the end of the text");
  EXPECT_EQ(read_and_print("a"), "1:1: expected 'tp 1', the version of the language, found 'a'");
  EXPECT_EQ(read_and_print("tp"),
            "1:3: expected the number of a version, found the end of the text");
  EXPECT_EQ(read_and_print("# old\ntp 2"), "2:4: version 2 is not known");
  EXPECT_EQ(read_and_print("tp 1 2"), "1:6: expected the end of the line, found '2'");
}

TEST(Text, RefusesVariablesOutOfTheirRange) {
  EXPECT_EQ(read_and_print("tp 1\nvar n in 1..4 = 5"), "2:17: 5 is not in 1..4");
  EXPECT_EQ(read_and_print("tp 1\nvar n in 1 = 5"), "2:12: expected '..', found '='");
  EXPECT_EQ(read_and_print("tp 1\nvar n = 5"), "2:7: expected 'in', found '='");
  EXPECT_EQ(read_and_print("tp 1\nvar n in 0..1 = 0\nvar n in 0..1 = 0"),
            "3:5: 'n' is already defined on line 2");
}

TEST(Text, RefusesOptsThatAreNone) {
  const auto error = [](std::string_view line) {
    return read_and_print(fmt::format("tp 1\nkernel 3: SWAP(0,1)\n{}", line));
  };
  EXPECT_EQ(error("kernel"), "3:7: expected the number of a kernel, found the end of the text");
  EXPECT_EQ(error("kernel x: NONE"), "3:8: expected the number of a kernel, found 'x'");
  EXPECT_EQ(error("kernel -1: NONE"), "3:8: kernels are counted from 0");
  EXPECT_EQ(error("kernel 3: NONE"), "3:8: kernel 3 has its opts on line 2");
  EXPECT_EQ(error("kernel 2 NONE"), "3:10: expected ':', found 'NONE'");
  EXPECT_EQ(error("kernel 2:"), "3:10: expected an opt, found the end of the text");
  EXPECT_EQ(error("kernel 2: NONE LOCAL(0,8)"),
            "3:16: expected the end of the line, found 'LOCAL'");
  EXPECT_EQ(error("kernel 2: LOCAL(0,8) TILE(0,8)"), "3:22: there is no opt 'TILE'");
  EXPECT_EQ(error("kernel 2: TC(0,0)"), "3:11: 'TC' is not in this engine yet");
  EXPECT_EQ(error("kernel 2: local(0,8)"), "3:11: there is no opt 'local'");
  EXPECT_EQ(error("kernel 2: LOCAL"), "3:16: expected '(', found the end of the text");
  EXPECT_EQ(error("kernel 2: LOCAL(0)"), "3:18: expected ',', found ')'");
  EXPECT_EQ(error("kernel 2: LOCAL(0,8"), "3:20: expected ')', found the end of the text");
  EXPECT_EQ(error("kernel 2: LOCAL(0,-8)"), "3:19: -8 is negative");
  EXPECT_EQ(error("kernel 2: LOCAL(0,x)"), "3:19: expected a number, found 'x'");
  EXPECT_EQ(error("kernel 2: NOLOCALS(0,8)"), "3:19: expected an opt, found '('");
}

TEST(Text, RefusesMoreAxesThanAnyoneHas) {
  std::string axes = "1";
  for (int i = 0; i < 32; i++) axes += ", 1";
  EXPECT_EQ(read_and_print(fmt::format("tp 1\nx: f32[{}] = undefined()", axes)),
            "2:7: x has 33 axes, more than 32");
}

TEST(Text, ReadsDeepTermsWithoutRecursion) {
  const std::string open(100000, '(');
  const std::string text = fmt::format("tp 1\nx: f32[{}1", open);
  EXPECT_EQ(read_and_print(text), "2:8: a size has more than 1000 parts");
}

}  // namespace
}  // namespace assay::tensor
