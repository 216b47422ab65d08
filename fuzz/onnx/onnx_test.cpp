#include "fuzz/onnx/onnx.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace assay::fuzz::onnx {
namespace {

// The text of the program, or why there is none.
std::string outcome(std::string_view line) {
  const auto imported = import_line(line);
  if (!imported.ok()) return fmt::format("error: {}", to_string(imported.error()));
  return imported.value().reason.value_or(imported.value().text);
}

std::string outcome_of(std::string_view op, std::string_view attrs, std::string_view inputs,
                       std::string_view outputs) {
  return outcome(fmt::format(
      R"({{"name": "t", "op": "{}", "opset": 13, "attrs": {{{}}}, "inputs": [{}], "outputs": [{}]}})",
      op, attrs, inputs, outputs));
}

std::string tensor(std::string_view dtype, std::string_view shape, std::string_view data) {
  return fmt::format(R"({{"dtype": "{}", "shape": [{}], "data": [{}]}})", dtype, shape, data);
}

std::string path_of(std::string_view name) {
  return fmt::format("{}/corpus/onnx/{}", ASSAY_SOURCE_DIR, name);
}

TEST(Onnx, CasesBecomeTheProgramsOfTheCorpus) {
  std::ifstream cases(path_of("cases.jsonl"));
  std::string line;
  int imported = 0;
  std::vector<std::string> reasons;
  while (std::getline(cases, line)) {
    const auto result = import_line(line);
    ASSERT_TRUE(result.ok()) << to_string(result.error());
    const auto& [name, text, reason] = result.value();
    if (reason) {
      reasons.push_back(*reason);
      continue;
    }
    imported++;
    std::ifstream file(path_of(name + ".tp"), std::ios::binary);
    EXPECT_EQ(text, std::string(std::istreambuf_iterator<char>(file), {})) << name;
  }
  EXPECT_GE(imported, 40);
  EXPECT_EQ(reasons, (std::vector<std::string>{"MaxPool: where in the operand the largest stands",
                                               "Shape: sizes are no values of the language"}));
}

TEST(Onnx, ASliceBackwardsIsAFlipAndASlice) {
  const std::string x = tensor("float32", "5", "0, 1, 2, 3, 4");
  const std::string inputs =
      fmt::format("{}, {}, {}, {}, {}", x, tensor("int64", "1", "3"), tensor("int64", "1", "-100"),
                  tensor("int64", "1", "0"), tensor("int64", "1", "-2"));
  EXPECT_EQ(outcome_of("Slice", "", inputs, tensor("float32", "2", "3, 1")),
            "tp 1\n# t: Slice of opset 13\n"
            "x0: f32[5] = input(data=[0.0, 1.0, 2.0, 3.0, 4.0])\n"
            "t0: f32[5] = flip(x0, axes=[0])\n"
            "t1: f32[2] = slice(t0, at=[1:5:2])\n"
            "expect t1 = [3.0, 1.0]\n");
}

TEST(Onnx, ANumberThatIsNoNumberIsText) {
  EXPECT_EQ(outcome_of("Neg", "", tensor("float32", "3", R"("nan", "inf", "-inf")"),
                       tensor("float32", "3", R"("nan", "-inf", "inf")")),
            "tp 1\n# t: Neg of opset 13\nx0: f32[3] = input(data=[nan, inf, -inf])\n"
            "t0: f32[3] = neg(x0)\nexpect t0 = [nan, -inf, inf]\n");
}

TEST(Onnx, SaysWhatTheLanguageCannotSay) {
  const std::string x = tensor("float32", "2", "1, 2");
  EXPECT_EQ(outcome_of("Loop", "", x, x), "Loop is not imported");
  EXPECT_EQ(outcome_of("Shape", "", x, tensor("int64", "1", "2")),
            "Shape: sizes are no values of the language");
  EXPECT_EQ(
      outcome_of("Pow", "",
                 fmt::format("{}, {}", tensor("int32", "1", "8"), tensor("float32", "1", "0.5")),
                 tensor("int32", "1", "2")),
      "Pow: roots of integers");
}

struct ErrorCase {
  std::string_view line;
  std::string_view error;
};

TEST(Onnx, ALineThatIsNoCaseIsAnError) {
  constexpr ErrorCase kCases[] = {
      {"", "the line is no JSON object"},
      {"[1]", "the line is no JSON object"},
      {"{\"name\": ", "the line is no JSON object"},
      {"{}", "\"name\" is no text"},
      {R"({"name": "../t"})", "\"name\" is '../t'"},
      {R"({"name": "t", "op": 3})", "\"op\" is no text"},
      {R"({"name": "t", "op": "Abs"})", "\"opset\" is no number"},
      {R"({"name": "t", "op": "Abs", "opset": 1, "attrs": []})", "\"attrs\" is no object"},
      {R"({"name": "t", "op": "Abs", "opset": 1, "attrs": {}})", "\"inputs\" is no list"},
      {R"({"name": "t", "op": "Abs", "opset": 1, "attrs": {}, "inputs": [], "outputs": []})",
       "\"outputs\" is empty"},
      {R"({"name": "t", "op": "Abs", "opset": 1, "attrs": {}, "inputs": [1], "outputs": []})",
       "\"inputs\" 0: it is no object"},
  };
  for (const ErrorCase& c : kCases) {
    EXPECT_EQ(outcome(c.line), fmt::format("error: {}", c.error)) << c.line;
  }
}

TEST(Onnx, ATensorThatIsNoneIsAnError) {
  const auto with_input = [](std::string_view input) {
    return outcome_of("Abs", "", input, tensor("float32", "", "1"));
  };
  EXPECT_EQ(with_input(R"({"dtype": "float32"})"), "error: \"inputs\" 0: it has no \"shape\"");
  EXPECT_EQ(with_input(tensor("complex64", "", "1")),
            "error: \"inputs\" 0: its dtype is \"complex64\"");
  EXPECT_EQ(with_input(tensor("float32", "-1", "1")), "error: \"inputs\" 0: its shape holds -1");
  EXPECT_EQ(with_input(tensor("float32", "2", "1")),
            "error: \"inputs\" 0: its data are no list of 2 elements");
  EXPECT_EQ(with_input(tensor("uint8", "", "256")), "error: \"inputs\" 0: 256 is no uint8");
  EXPECT_EQ(with_input(tensor("float32", "", "\"infinite\"")),
            "error: \"inputs\" 0: \"infinite\" is no float32");
  EXPECT_EQ(with_input(tensor("float32", "4611686018427387904, 4", "1")),
            "error: \"inputs\" 0: its data are no list of 16777217 elements");
}

TEST(Onnx, ACaseThatItsOperatorCannotHaveIsAnError) {
  const std::string x = tensor("float32", "2", "1, 2");
  EXPECT_EQ(outcome_of("Abs", "", "", x), "error: Abs has no input 0");
  EXPECT_EQ(outcome_of("Add", "", x, x), "error: Add has no input 1");
  EXPECT_EQ(outcome_of("Abs", "", x, tensor("float32", "1", "1")),
            "error: \"outputs\" 0 has shape [1], Abs gives [2]");
  EXPECT_EQ(outcome_of("Abs", "", x, fmt::format("{}, {}", x, x)), "error: Abs has no output 1");
  EXPECT_EQ(outcome_of("Add", "", fmt::format("{}, {}", x, tensor("float32", "3", "1, 2, 3")), x),
            "error: [2] and [3]");
  EXPECT_EQ(outcome_of("Softmax", R"("axis": "last")", x, x),
            "error: axis is no whole number of 31 bits");
  EXPECT_EQ(outcome_of("ArgMax", R"("axis": 2)", x, x), "error: axis 2 of rank 1");
  EXPECT_EQ(outcome_of("Transpose", R"("perm": [7])", x, x), "error: axis 7 of rank 1");
  EXPECT_EQ(outcome_of("Transpose", R"("perm": 7)", x, x),
            "error: perm is no list of whole numbers of 31 bits");
  EXPECT_EQ(outcome_of("MaxPool", R"("kernel_shape": [2])", x, x),
            "error: a window slides over 3 axes or more");
  const std::string image = tensor("float32", "1, 1, 2", "1, 2");
  EXPECT_EQ(outcome_of("MaxPool", R"("kernel_shape": [2, 2])", image, x),
            "error: the lists of MaxPool do not fit its operand");
  EXPECT_EQ(outcome_of("MaxPool", R"("kernel_shape": [2], "strides": [0])", image, x),
            "error: the lists of MaxPool do not fit its operand");
}

// Every operator, shown inputs of a rank that it may not expect.
TEST(Onnx, NoOperatorFailsOnShapesOfAnyRank) {
  for (const auto rows :
       {elementwise_ops(), reduce_ops(), shape_ops(), index_ops(), window_ops(), norm_ops()}) {
    for (const OpRow& row : rows) {
      const std::vector<std::string> tensors = {"null",
                                                tensor("float32", "", "1"),
                                                tensor("int64", "0", ""),
                                                tensor("float32", "1", "2"),
                                                tensor("int64", "2", "-1, 0"),
                                                tensor("float32", "1, 2, 1, 1", "1, 2")};
      for (const std::string& x : tensors) {
        for (const std::string& y : tensors) {
          const std::string inputs = fmt::format("{}, {}, {}, {}, {}", x, y, x, y, x);
          const std::string attrs = R"("axis": 1, "blocksize": 2, "kernel_shape": [1, 1])";
          EXPECT_FALSE(outcome_of(row.op, attrs, inputs, tensor("float32", "", "1")).empty());
          EXPECT_FALSE(outcome_of(row.op, "", x, tensor("float32", "2", "1, 2")).empty());
        }
      }
    }
  }
}

}  // namespace
}  // namespace assay::fuzz::onnx
