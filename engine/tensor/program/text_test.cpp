#include "engine/tensor/program/text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <string>

#include "engine/tensor/program/text_sample.h"

namespace assay::tensor {
namespace {

std::string_view sample_value(const AttrRow& attr) {
  switch (attr.kind) {
    case AttrKind::Axis: return "-2";
    case AttrKind::Axes: return "[0, -1]";
    case AttrKind::Int: return "7";
    case AttrKind::Size: return "n + 2";
    case AttrKind::Sizes: return "[3, n * (n - 1), -2]";
    case AttrKind::Bool: return attr.fallback == "true" ? "false" : "true";
    case AttrKind::Number: return "2.5";
    case AttrKind::Type: return "f64";
    case AttrKind::Word: return attr.words.back();
    case AttrKind::Text: return R"("ij,jk->\"ik\"\\\x07")";
    case AttrKind::Slices: return "[0:4:2, :, n:, 1::2, 0:-1]";
    case AttrKind::Data: return "[0.5]";
  }
  return "";
}

// A statement of an op with all its operands, or the least of them; with each attribute, or those
// that it must have.
std::string sample_statement(const OpRow& row, bool all) {
  constexpr std::array<std::string_view, 5> kOperands = {"a", "b", "1.5", "d", "c"};
  std::string arguments;
  const size_t operands = all ? row.operands.size() : row.min_operands();
  for (size_t i = 0; i < operands; i++) {
    arguments += fmt::format("{}{}", arguments.empty() ? "" : ", ", kOperands.at(i));
  }
  for (const AttrRow& attr : row.attrs) {
    if (!all && (attr.optional || !attr.fallback.empty())) continue;
    if (row.op == Op::Input && attr.name != "data") continue;
    arguments +=
        fmt::format("{}{}={}", arguments.empty() ? "" : ", ", attr.name, sample_value(attr));
  }
  if (row.op == Op::Input && !all) arguments = "start=1";
  const std::string_view device = row.op == Op::Copy ? " to sim:1" : "";
  return fmt::format("x: f32[n, 4] = {}({}){}", row.text, arguments, device);
}

TEST(Text, KeepsTheOptsOfKernels) {
  const std::string_view text =
      "tp 1\n"
      "var n in 1..16 = 5\n"
      "kernel 1: NONE\n"
      "kernel 10: NOLOCALS UPCAST(0,0) PADTO(2,32)\n"
      "a: f32[4, n] = input(random=normal)\n"
      "kernel: f32[4, n] = neg(a)\n";
  EXPECT_EQ(read_and_print(text), text);
  EXPECT_EQ(
      read_and_print("tp 1\nkernel 10: LOCAL( 0 , 8 )UPCAST(1,4) # comment\nkernel 2: SWAP(0,1)"),
      "tp 1\nkernel 2: SWAP(0,1)\nkernel 10: LOCAL(0,8) UPCAST(1,4)\n");
  const Program program = from_text(text).value();
  ASSERT_EQ(program.hints.size(), 2U);
  EXPECT_EQ(program.hints[1].kernel, 10);
  EXPECT_EQ(program.hints[1].opts, "NOLOCALS UPCAST(0,0) PADTO(2,32)");
  EXPECT_EQ(program.hints[1].line, 4);
}

class EveryOp : public testing::TestWithParam<Op> {};

TEST_P(EveryOp, ReadsFromItsTextAsItself) {
  for (const bool all : {false, true}) {
    const std::string text = fmt::format("{}{}\n", kFour, sample_statement(row(GetParam()), all));
    EXPECT_EQ(read_and_print(text), text);
  }
}

TEST_P(EveryOp, HasEachAttributeAndOperandItIsGiven) {
  const OpRow& r = row(GetParam());
  const auto program = from_text(fmt::format("{}{}", kFour, sample_statement(r, true)));
  ASSERT_TRUE(program.ok()) << to_string(program.error());
  const Define& define = program.value().define(4);
  EXPECT_EQ(define.op, r.op);
  EXPECT_EQ(define.operands.size(), r.operands.size());
  ASSERT_EQ(define.attrs.size(), r.attrs.size());
  for (size_t i = 0; i < r.attrs.size(); i++) {
    const bool is_given = r.op != Op::Input || r.attrs[i].name == "data";
    const bool is_there = is_given || !r.attrs[i].fallback.empty();
    EXPECT_EQ(std::holds_alternative<std::monostate>(define.attrs[i]), !is_there);
  }
}

TEST_P(EveryOp, RefusesOneOperandMoreAndOneLess) {
  const OpRow& r = row(GetParam());
  const std::string most = sample_statement(r, true);
  const size_t open = most.find('(') + 1;
  if (r.max_operands() == r.operands.size()) {
    std::string more = most;
    more.insert(open, r.operands.empty() && r.attrs.empty() ? "a" : "a, ");
    EXPECT_FALSE(from_text(fmt::format("{}{}", kFour, more)).ok()) << more;
  }
  if (r.min_operands() > 0) {
    const std::string none = fmt::format("x: f32[n, 4] = {}()", r.text);
    EXPECT_FALSE(from_text(fmt::format("{}{}", kFour, none)).ok());
  }
}

TEST_P(EveryOp, RefusesToBeWithoutAnAttributeItNeeds) {
  const OpRow& r = row(GetParam());
  const std::string least = sample_statement(r, false);
  for (const AttrRow& attr : r.attrs) {
    if (attr.optional || !attr.fallback.empty()) continue;
    const size_t at = least.find(fmt::format("{}=", attr.name));
    ASSERT_NE(at, std::string::npos);
    const std::string without = fmt::format("{}{})", kFour, least.substr(0, at));
    EXPECT_FALSE(from_text(without).ok()) << without;
  }
}

std::string op_name(const testing::TestParamInfo<Op>& info) {
  return std::string(row(info.param).text);
}

std::vector<Op> every_op() {
  std::vector<Op> result;
  for (const OpRow& r : all_ops()) result.push_back(r.op);
  return result;
}

INSTANTIATE_TEST_SUITE_P(Text, EveryOp, testing::ValuesIn(every_op()), op_name);

TEST(Text, KeepsWhatAProgramCanSay) {
  constexpr std::string_view kText = R"(tp 1
# A program of each statement.
#   kernels: 3
var n in 1..16 = 5
var m in -2..3 = 0
a: f32[4, n] = input(random=normal, seed=7) on sim:1
b: f32[4] = sum(a, axes=[1])
v: f32[2] = slice(b, at=[0:4:2])
v := 0
v := b
bind n = 3
c: f32[4, n] = copy(a) to sim:0
d: bool[] = full(value=true) on cl
e: i8[4] = iota(start=-3)
f: f32[4] = clip(b, none, 1.5)
g: f32[2 * n, m + 2 - (n - 1), (n + 1) * -3 // (n % 4)] = stack(a, a, 1, -inf, nan)
force c, a
expect b = [0.0, 1.5, -0.0, _]
expect d = [true] or error "no \"room\""
expect error "cycle\n"
)";
  EXPECT_EQ(read_and_print(kText), kText);
}

TEST(Text, PrintsOneWayOfWritingThings) {
  const auto printed = [](std::string_view line) {
    const std::string text = read_and_print(fmt::format("{}{}", kFour, line));
    return text.starts_with(kFour) ? text.substr(kFour.size()) : text;
  };
  EXPECT_EQ(printed("x : f32 [ 4,n ]=add( a,b )  # why"), "x: f32[4, n] = add(a, b)\n");
  EXPECT_EQ(printed("\r\n\n  x: f32[4] = sum(a, keep=false)\r\n"), "x: f32[4] = sum(a)\n");
  EXPECT_EQ(printed("x: f32[4] = sum(a, acc=f64, axes=[])"),
            "x: f32[4] = sum(a, axes=[], acc=f64)\n");
  EXPECT_EQ(printed("x: f32[] = clip(a, none, none)"), "x: f32[] = clip(a)\n");
  EXPECT_EQ(printed("x: f32[] = full(value=1e3)"), "x: f32[] = full(value=1000.0)\n");
  EXPECT_EQ(printed("x: f32[] = full(value=-0)"), "x: f32[] = full(value=-0.0)\n");
  EXPECT_EQ(printed("x: f32[] = full(value=1e999)"), "x: f32[] = full(value=inf)\n");
  EXPECT_EQ(printed("x: f32[] = full(value=-nan)"), "x: f32[] = full(value=nan)\n");
  EXPECT_EQ(printed("x: f32[] = full(value=1e-999)"), "x: f32[] = full(value=0.0)\n");
  EXPECT_EQ(printed("x: u64[] = full(value=18446744073709551615)"),
            "x: u64[] = full(value=18446744073709551615)\n");
  EXPECT_EQ(printed("x: f32[((n)), (3), (n + 1) + 2, n + (1 + 2), (2 * n) + 1] = full(value=0)"),
            "x: f32[n, 3, n + 1 + 2, n + (1 + 2), 2 * n + 1] = full(value=0)\n");
  EXPECT_EQ(printed("x: f32[] = slice(a, at=[0:, ::, :4, 0:n:1])"),
            "x: f32[] = slice(a, at=[:, :, 0:4, 0:n])\n");
  EXPECT_EQ(printed("x: i32[2] = input(data=7)"), "x: i32[2] = input(data=[7])\n");
  EXPECT_EQ(printed("expect a = 0"), "expect a = [0]\n");
}

TEST(Text, MovesCommentsBeforeTheVersionBehindIt) {
  EXPECT_EQ(
      read_and_print("# one\n\ntp 1 # gone\n  \n# two  \r\n#three\nvar n in 0..1 = 0\n# gone"),
      "tp 1\n# one\n# two\n#three\nvar n in 0..1 = 0\n");
  EXPECT_EQ(read_and_print("tp 1"), "tp 1\n");
  EXPECT_EQ(read_and_print("tp 1\n# only"), "tp 1\n# only\n");
}

TEST(Text, KnowsTheLineOfEachStatement) {
  const auto program =
      from_text("# a\ntp 1\n\n# b\nvar n in 0..1 = 0\n\nx: i8[] = full(value=1)\n");
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program.value().variables[0].line, 5);
  EXPECT_EQ(program.value().statements[0].line, 7);
}

// Any size term whose steps are in postfix order.
rc::Gen<Size> size_gen() {
  return rc::gen::exec([] {
    Size size;
    size_t depth = 0;
    const int steps = *rc::gen::inRange(1, 20);
    for (int i = 0; i < steps || depth != 1; i++) {
      const bool joins = depth >= 2 && (i >= steps || *rc::gen::inRange(0, 2) == 0);
      if (joins) {
        const int sign = *rc::gen::inRange(2, 7);
        size.steps.push_back({static_cast<SizeStep::Kind>(sign), 0});
        depth--;
      } else if (*rc::gen::inRange(0, 2) == 0) {
        size.steps.push_back({SizeStep::Kind::Variable, *rc::gen::inRange<int64_t>(0, 2)});
        depth++;
      } else {
        size.steps.push_back({SizeStep::Kind::Number, *rc::gen::arbitrary<int64_t>()});
        depth++;
      }
    }
    return size;
  });
}

RC_GTEST_PROP(Text, KeepsEverySizeAsItIs, ()) {
  const Size size = *size_gen();
  const std::vector<Variable> variables = {{"n", 1, 16, 5, 0}, {"m", 1, 16, 5, 0}};
  const std::string written = to_text(size, variables);
  const auto program = from_text(fmt::format(
      "tp 1\nvar n in 1..16 = 5\nvar m in 1..16 = 5\nx: f32[{}] = undefined()", written));
  RC_ASSERT(program.ok());
  const Size& read = program.value().define(0).shape[0];
  const bool is_alone = size.steps.size() == 1 && size.steps[0].kind == SizeStep::Kind::Number;
  const bool is_same = is_alone ? read.number == size.steps[0].number : read == size;
  RC_ASSERT(is_same);
}

// A text with pieces of it cut, doubled, or put in the place of others.
std::string mutated(std::string text) {
  constexpr std::string_view kPieces[] = {
      "(",      ")",    "[",   "]",  ",",      "\n",      "=",
      ":=",     "-",    "..",  "n",  "a",      "1",       "/",
      "#",      "none", "nan", "\"", "force ", "expect ", "9999999999999999999",
      " on x:1"};
  const int edits = *rc::gen::inRange(1, 6);
  for (int i = 0; i < edits; i++) {
    const size_t at = *rc::gen::inRange<size_t>(0, text.size() + 1);
    const size_t length = *rc::gen::inRange<size_t>(0, 8);
    const int edit = *rc::gen::inRange(0, 4);
    if (edit == 0) text.erase(at, length);
    if (edit == 1) text.insert(at, std::string(text.substr(at, length)));
    if (edit == 2)
      text.insert(at, *rc::gen::elementOf(
                          std::vector<std::string_view>(std::begin(kPieces), std::end(kPieces))));
    if (edit == 3 && at < text.size()) text[at] = *rc::gen::arbitrary<char>();
  }
  return text;
}

RC_GTEST_PROP(Text, ReadsAnyTextOrNamesAPlace, ()) {
  const OpRow& op = all_ops()[*rc::gen::inRange<size_t>(0, all_ops().size())];
  const std::string text = mutated(
      fmt::format("{}{}\nb := x\nbind n = 3\nforce x, a\nexpect x = [1, 2]\nexpect error \"e\"\n",
                  kFour, sample_statement(op, true)));
  const auto program = from_text(text);
  if (!program.ok()) {
    RC_ASSERT(program.error().line > 0);
    RC_ASSERT(program.error().column > 0);
    return;
  }
  const std::string printed = to_text(program.value());
  RC_ASSERT(read_and_print(printed) == printed);
}

}  // namespace
}  // namespace assay::tensor
