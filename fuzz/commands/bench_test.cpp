// `assay bench` over small programs and a folder of kernels made up here.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "fuzz/commands/assay_command.h"

namespace assay::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAdd = R"tp(tp 1
a: f32[64] = input(random=normal, seed=1)
b: f32[64] = input(random=normal, seed=2)
y: f32[64] = add(a, b)
force y
)tp";
constexpr std::string_view kMeans = R"tp(tp 1
x: f32[8, 32] = input(random=normal, seed=1)
y: f32[8] = mean(x, axes=[1])
force y
)tp";

constexpr std::string_view kAddText = R"cl(
__kernel void sums(__global float* y, __global const float* a, __global const float* b) {
  const int i = get_group_id(0) * 16 + get_local_id(0);
  y[i] = a[i] + b[i];
}
)cl";
constexpr std::string_view kSumText = R"cl(
__kernel void row_sums(__global float* y, __global const float* x) {
  float sum = 0.0f;
  for (int k = 0; k < 32; k++) sum += x[get_group_id(0) * 32 + k];
  y[get_group_id(0)] = sum;
}
)cl";
constexpr std::string_view kScaleText = R"cl(
__kernel void scale(__global float* y, __global const float* x) {
  y[get_local_id(0)] = x[get_local_id(0)] / 32;
}
)cl";
// Buffers are numbered as the kernels come: 0 and 2 are written, 1 is the input.
constexpr std::string_view kIndexText = R"json([
 {"program": "add_64", "kernels": [
   {"file": "add.cl", "name": "sums", "global": [4, 1, 1], "local": [16, 1, 1], "args": [
     {"buffer": 0, "elements": 64, "dtype": "float"},
     {"buffer": 1, "elements": 64, "dtype": "float"},
     {"buffer": 2, "elements": 64, "dtype": "float"}]}]},
 {"program": "means_8x32", "kernels": [
   {"file": "sum.cl", "name": "row_sums", "global": [8], "local": [1], "args": [
     {"buffer": 0, "elements": 8, "dtype": "float"},
     {"buffer": 1, "elements": 256, "dtype": "float"}]},
   {"file": "scale.cl", "name": "scale", "global": [1], "local": [8], "args": [
     {"buffer": 2, "elements": 8, "dtype": "float"},
     {"buffer": 0, "elements": 8, "dtype": "float"}]}]}
])json";

class Bench : public testing::Test {
 protected:
  Bench() {
    fs::remove_all(folder);
    fs::create_directory(folder);
    write("add_64.tp", kAdd);
    write("means_8x32.tp", kMeans);
    write("add.cl", kAddText);
    write("sum.cl", kSumText);
    write("scale.cl", kScaleText);
    write("index.json", kIndexText);
  }
  ~Bench() override { fs::remove_all(folder); }

  void write(const std::string& name, std::string_view text) const {
    std::ofstream(fs::path(folder) / name) << text;
  }
  // The index with one piece of it, which it has once, in place of another.
  void edit_index(std::string_view piece, std::string_view other) const {
    std::string index(kIndexText);
    const size_t at = index.find(piece);
    ASSERT_NE(at, std::string::npos) << piece;
    write("index.json", index.replace(at, piece.size(), other));
  }
  // On the device that builds kernels soonest.
  static Outcome bench(const std::string& arguments) {
    return assay(fmt::format("bench --device cl:oclgrind --repeat 1 {}", arguments));
  }
  void expect_trouble(const std::string& program, int status, const std::string& message) const {
    const Outcome outcome =
        assay(fmt::format("bench --device cl:oclgrind --against {0} {0}/{1}.tp", folder, program));
    EXPECT_EQ(outcome.status, status) << outcome.output;
    EXPECT_NE(outcome.output.find(message), std::string::npos) << message << "\nis not in\n"
                                                               << outcome.output;
  }

  const std::string folder = own_path("bench");
};

TEST_F(Bench, TimesOursAndTheirsInTurn) {
  const Outcome outcome = assay(
      fmt::format("bench --device cl:pocl-basic --repeat 1 --kernels --against {0} {0}", folder));
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  for (const std::string_view said : {"theirs us", "\nadd_64 ", "\nmeans_8x32 ", "  row_sums\n",
                                      "  scale\n", "\n2 programs: ratios at most "}) {
    EXPECT_NE(outcome.output.find(said), std::string::npos) << said << "\n" << outcome.output;
  }
}

TEST_F(Bench, TimesOursAlone) {
  const Outcome outcome = bench(fmt::format("{}/add_64.tp", folder));
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("\nadd_64 "), std::string::npos) << outcome.output;
  EXPECT_EQ(outcome.output.find("theirs"), std::string::npos) << outcome.output;
}

TEST_F(Bench, TimesKernelsAsTheyAreAskedFor) {
  const Outcome outcome = bench(fmt::format("--kernels --opts 'LOCAL(0,8)' {}/add_64.tp", folder));
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("  E_64 LOCAL(0,8)\n"), std::string::npos) << outcome.output;
  write("hinted.tp", std::string(kAdd).replace(5, 0, "kernel 0: LOCAL(0,16)\n"));
  const Outcome hinted = bench(fmt::format("--kernels {}/hinted.tp", folder));
  EXPECT_NE(hinted.output.find("  E_64 LOCAL(0,16)\n"), std::string::npos) << hinted.output;
  const Outcome illegal = bench(fmt::format("--opts 'LOCAL(0,7)' {}/add_64.tp", folder));
  EXPECT_EQ(illegal.status, 2) << illegal.output;
}

TEST_F(Bench, PrintsLinesOfJson) {
  const Outcome outcome = bench(fmt::format("--json --against {0} {0}/add_64.tp", folder));
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_TRUE(outcome.output.starts_with("{\"program\":\"add_64\",\"ns\":")) << outcome.output;
  // 64 additions; three arrays of 64 floats.
  EXPECT_NE(outcome.output.find("\"operations\":64,\"bytes\":768,\"theirs_ns\":"),
            std::string::npos)
      << outcome.output;
}

TEST_F(Bench, AWrongResultIsAFinding) {
  std::string text(kAddText);
  write("add.cl", text.replace(text.find("a[i] + b[i]"), 11, "a[i] - b[i]"));
  expect_trouble("add_64", 1, "assay bench: add_64: FAIL: theirs: ");
}

TEST_F(Bench, WhatNoKernelWritesIsAFinding) {
  edit_index("\"global\": [4, 1, 1]", "\"global\": [3]");
  expect_trouble("add_64", 1, "assay bench: add_64: FAIL: theirs: ");
}

TEST_F(Bench, OneThatFailsKeepsNoOtherFromBeingTimed) {
  write("add.cl", "?");
  const Outcome outcome =
      assay(fmt::format("bench --device cl:pocl-basic --repeat 1 --against {0} {0}", folder));
  EXPECT_EQ(outcome.status, 2) << outcome.output;
  EXPECT_NE(outcome.output.find("\n1 programs: ratios at most "), std::string::npos)
      << outcome.output;
}

TEST_F(Bench, ATextThatDoesNotBuildIsShown) {
  std::string text(kAddText);
  write("add.cl", text.replace(text.find("a[i] + b[i]"), 11, "a[i] + c[i]"));
  expect_trouble("add_64", 2, "assay bench: add_64: theirs: add.cl: does not build; ");
}

TEST_F(Bench, AFunctionThatIsNotThereIsNamed) {
  edit_index("\"sums\"", "\"sum\"");
  expect_trouble("add_64", 2, "assay bench: add_64: theirs: add.cl: sum: CL_INVALID_KERNEL_NAME");
}

TEST_F(Bench, AFolderWithoutAnIndexIsNamed) {
  expect("bench --against /no/such", 3, "assay bench: /no/such/index.json cannot be read\n");
}

TEST_F(Bench, AKernelThatIsNotThereIsNamed) {
  fs::remove(fs::path(folder) / "scale.cl");
  expect_trouble("add_64", 3, fmt::format("assay bench: {}/scale.cl cannot be read\n", folder));
}

TEST_F(Bench, AProgramThatTheIndexLacksIsNamed) {
  write("other.tp", kAdd);
  expect_trouble("other", 2,
                 fmt::format("assay bench: {}/index.json has no program 'other'; it has add_64, "
                             "means_8x32\n",
                             folder));
}

TEST_F(Bench, AnIndexThatIsMalformedSaysWhere) {
  struct Wrong {
    std::string_view piece, other, message;
  };
  constexpr Wrong kWrong[] = {
      {"[\n {\"program\"", "{", "it is no JSON list of programs"},
      {"\"sum.cl\"", "\"../sum.cl\"", "means_8x32, kernel 0: '../sum.cl' is not in the folder"},
      {"[1], \"local\": [8]", "[1, 1, 1, 1], \"local\": [8]",
       "means_8x32, kernel 1: \"global\" is no list of up to three sizes"},
      {"[16, 1, 1]", "[]", "add_64, kernel 0: \"local\" is no list, or an empty one"},
      {"[16, 1, 1]", "[0]", "add_64, kernel 0: \"local\" is no list of up to three sizes"},
      {"256, \"dtype\": \"float\"", "256, \"dtype\": \"real\"",
       "means_8x32, kernel 0: no type is named 'real'"},
      {"\"buffer\": 0, \"elements\": 8, \"dtype\": \"float\"}]}]}",
       "\"buffer\": 0, \"elements\": 9, \"dtype\": \"float\"}]}]}",
       "means_8x32, kernel 1: buffer 0 has 32 bytes and 36"},
      {"\"buffer\": 2, \"elements\": 64", "\"buffer\": -2, \"elements\": 64",
       "add_64, kernel 0: \"buffer\" is no number from 0 on"},
  };
  for (const Wrong& c : kWrong) {
    edit_index(c.piece, c.other);
    expect_trouble("add_64", 2, fmt::format("assay bench: {}/index.json: {}\n", folder, c.message));
  }
}

TEST_F(Bench, InputsThatDoNotFitAreNamed) {
  edit_index("\"buffer\": 1, \"elements\": 64", "\"buffer\": 1, \"elements\": 65");
  expect_trouble("add_64", 2,
                 "assay bench: add_64: theirs: buffer 1 has 260 bytes where input 0 of the program "
                 "has 256\n");
  edit_index("\"buffer\": 2, \"elements\": 64", "\"buffer\": 1, \"elements\": 64");
  expect_trouble("add_64", 2,
                 "assay bench: add_64: theirs: it has 1 inputs where the program has 2\n");
}

TEST_F(Bench, OnlyOneValueIsTimed) {
  write("writes.tp", "tp 1\nx: f32[4] = input(data=1)\nx := 2\nforce x\n");
  expect(
      fmt::format("bench {}/writes.tp", folder), 2,
      fmt::format("assay bench: {}/writes.tp:3: only definitions and a force are timed\n", folder));
  write("two.tp", "tp 1\nx: f32[4] = input(data=1)\ny: f32[4] = neg(x)\nforce x, y\n");
  expect(fmt::format("bench {}/two.tp", folder), 2,
         fmt::format("assay bench: {}/two.tp: 2 values are computed where one is timed\n", folder));
}

TEST_F(Bench, OnlyDevicesOfOpenclTakeTheirText) {
  expect(fmt::format("bench --device sim:0 --against {0} {0}/add_64.tp", folder), 2,
         "assay bench: sim:0 takes no OpenCL text; --against wants a cl device\n");
}

TEST_F(Bench, ADeviceWithoutAClockTimesNothing) {
  const Outcome outcome = assay(fmt::format("bench --device sim:0 {}/add_64.tp", folder));
  EXPECT_EQ(outcome.status, 3) << outcome.output;
  EXPECT_NE(outcome.output.find("assay bench: add_64: the device has no clock\n"),
            std::string::npos)
      << outcome.output;
}

}  // namespace
}  // namespace assay::fuzz
