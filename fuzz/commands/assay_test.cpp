// The command as a user runs it: what it prints, where errors point, and its exit status.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include "fuzz/commands/assay_command.h"

namespace assay::fuzz {
namespace {

TEST(Simplify, PrintsTheSimplifiedTerm) {
  expect("simplify '(+ (* (// r0 4) 4) (% r0 4))' --range r0=0..31", 0, "r0\n");
  expect("simplify '(% (+ x 5) 3)' --range x=-2..-2", 0, "0\n");
  expect("simplify '(and (< x 4) (>= x 2))' --range x=0..3", 0, "(< 1 x)\n");
}

TEST(Simplify, TracesEachRule) {
  expect("simplify '(+ (* (// r0 4) 4) (% r0 4))' --range r0=0..31 --trace", 0,
         "# 1 combine.recombine: (+ (* (// r0 4) 4) (% r0 4)) => r0\nr0\n");
}

TEST(Simplify, LeavesOutRulesAndStopsAtTheLimit) {
  expect("simplify '(+ x 0)' --range x=0..3 --limit 0", 0, "(+ x 0)\n");
  expect("simplify '(* x 1)' --range x=0..3 --off identity.mul_one", 0, "(* x 1)\n");
  expect("simplify '(* x 1)' --range x=0..3 --off mul_one", 2,
         "assay simplify: no rule is named 'mul_one'; see assay rules\n");
}

TEST(Simplify, NamesLineAndColumnOfAnError) {
  expect("simplify '(// r0 0)' --range r0=0..7", 2, "assay simplify: 1:8: division by zero\n");
  expect("simplify '(+ r0 r1)' --range r0=0..7", 2, "assay simplify: 1:7: unknown name 'r1'\n");
  expect("simplify r0 --range r0=7..0", 2, "assay simplify: 'r0=7..0' is an empty range\n");
  expect("simplify r0 --range r0", 2, "assay simplify: 'r0' is not NAME=LO..HI\n");
  expect("simplify r0 --range r0=0..1 --range r0=0..2", 2, "assay simplify: r0 has two ranges\n");
  expect("simplify", 2, "assay simplify: give an expression or --jsonl FILE, and not both\n");
}

TEST(Simplify, ReadsAFileOfIndexExpressions) {
  const std::string path =
      file_of("lines.jsonl", R"json({"max": [6, 1, 0], "index": "(% (+ (* r0 2) (+ r1 r2)) 14)"}
{"max": [9], "index": "(+ r0 -2)", "valid": ["(>= r0 2)", "(< r0 20)"]}
{"max": [9], "index": "r0", "valid": ["(< r0 0)"]}
)json");
  expect(fmt::format("simplify --jsonl {}", path), 0, R"json({"index":"(+ (* r0 2) r1)","ops":2}
{"index":"(+ r0 -2)","ops":1,"valid":["(< 1 r0)"],"valid_ops":1}
{"index":"0","ops":0,"valid":["false"],"valid_ops":0}
)json");
}

TEST(Simplify, NamesFileLineAndColumnOfABadLine) {
  const std::string good = R"json({"max": [3], "index": "r0"})json";
  const auto rejects = [&](const std::string& line, const std::string& message) {
    const std::string path = file_of("bad.jsonl", fmt::format("{}\n{}\n", good, line));
    expect(fmt::format("simplify --jsonl {}", path), 2,
           fmt::format("{{\"index\":\"r0\",\"ops\":0}}\nassay simplify: {}:2:{}\n", path, message));
  };
  rejects("{", "2: the line is no JSON");
  rejects("[]", "1: the line is no JSON object");
  rejects(R"json({"index": "r0"})json", "1: \"max\" is not a list of numbers");
  rejects(R"json({"max": [-1], "index": "r0"})json",
          "1: \"max\" holds -1, which is no largest value");
  rejects(R"json({"max": [1]})json", "1: \"index\" is missing");
  rejects(R"json({"max": [1], "index": "(+ r0 r1)"})json",
          "1: in index, column 7: unknown name 'r1'");
  rejects(R"json({"max": [1], "index": "(< r0 1)"})json",
          "1: in index: the term has type bool, not index");
  rejects(R"json({"max": [1], "index": "r0", "valid": ["r0"]})json",
          "1: in valid: the term has type index, not bool");
  expect("simplify --jsonl /nonexistent", 3, "assay simplify: /nonexistent cannot be read\n");
}

TEST(Rules, AreListedWithTheirContracts) {
  const Outcome all = assay("rules");
  EXPECT_EQ(all.status, 0);
  EXPECT_NE(all.output.find("div_mod.mod_below\n"
                            "  over ints, exact\n"
                            "  (% x #c) => x\n"
                            "  when (and (not (< (lo x) 0)) (< (hi x) #c))\n"),
            std::string::npos)
      << all.output;
  const Outcome one = assay("rules --set movement");
  EXPECT_EQ(one.status, 0);
  EXPECT_EQ(one.output.find("div_mod"), std::string::npos);
  EXPECT_NE(one.output.find("7 rules in 1 sets\n"), std::string::npos);
  EXPECT_EQ(assay("rules --set none").status, 2);
}

TEST(Command, SaysWhenItCannotWrite) {
  EXPECT_EQ(assay("rules > /dev/full").status, 3);
  EXPECT_EQ(assay("simplify r0 --range r0=0..3 > /dev/full").status, 3);
}

TEST(Command, HelpsWithEverySubcommand) {
  for (const char* command : {"", "import", "rules", "simplify"}) {
    const Outcome help = assay(fmt::format("{} --help", command));
    EXPECT_EQ(help.status, 0) << command;
    EXPECT_NE(help.output.find("exit status: 0 clean"), std::string::npos) << command;
  }
  expect("foo", 2, "assay: no command is named 'foo'; see assay --help\n");
  EXPECT_EQ(assay("").status, 2);
}

constexpr std::string_view kAbs =
    R"({"name": "abs", "op": "Abs", "opset": 13, "attrs": {}, "inputs": [)"
    R"({"dtype": "int8", "shape": [2], "data": [-1, 2]}], "outputs": [)"
    R"({"dtype": "int8", "shape": [2], "data": [1, 2]}]})";
constexpr std::string_view kLoop =
    R"({"name": "loop", "op": "Loop", "opset": 13, "attrs": {}, "inputs": [], "outputs": [)"
    R"({"dtype": "int8", "shape": [], "data": [1]}]})";

TEST(Import, WritesAProgramForEachCaseAndListsTheOthers) {
  const std::string cases = file_of("import.jsonl", fmt::format("{}\n\n{}\n", kAbs, kLoop));
  const std::string folder = own_path("import/of/cases");
  expect(fmt::format("import '{}' --out '{}'", cases, folder), 0,
         fmt::format("1 of 2 cases imported to {}\n    1 left out, Loop is not imported: loop\n",
                     folder));
  std::ifstream file(fmt::format("{}/abs.tp", folder));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}),
            "tp 1\n# abs: Abs of opset 13\nx0: i8[2] = input(data=[-1, 2])\nt0: i8[2] = abs(x0)\n"
            "expect t0 = [1, 2]\n");
}

TEST(Import, NamesTheLineOfWhatIsNoCase) {
  const std::string folder = own_path("import");
  const std::string bad = file_of("import_bad.jsonl", fmt::format("{}\n{{}}\n", kAbs));
  expect(fmt::format("import '{}' --out '{}'", bad, folder), 2,
         fmt::format("assay import: {}:2: \"name\" is no text\n", bad));
  const std::string twice = file_of("import_twice.jsonl", fmt::format("{}\n{}\n", kAbs, kAbs));
  expect(fmt::format("import '{}' --out '{}'", twice, folder), 2,
         fmt::format("assay import: {}:2: abs is also the name of line 1\n", twice));
}

TEST(Import, SaysWhichFileIsNotThere) {
  const std::string folder = own_path("import");
  expect(fmt::format("import /nowhere.jsonl --out '{}'", folder), 3,
         "assay import: /nowhere.jsonl cannot be read\n");
  const std::string cases = file_of("import_one.jsonl", fmt::format("{}\n", kAbs));
  expect(fmt::format("import '{}' --out '{}/inside'", cases, cases), 3,
         fmt::format("assay import: {}/inside: Not a directory\n", cases));
}

constexpr std::string_view kSmall = "tp 1\na: i32[2] = input(data=[1, 2])\nb: i32[2] = neg(a)\n";

TEST(Check, ExitsByTheWorstVerdict) {
  const std::string right = file_of("right.tp", fmt::format("{}expect b = [-1, -2]\n", kSmall));
  const std::string wrong = file_of("wrong.tp", fmt::format("{}expect b = [-1, 2]\n", kSmall));
  const std::string broken = file_of("broken.tp", fmt::format("{}expect c = [1]\n", kSmall));
  const std::string misfit = file_of("misfit.tp", fmt::format("{}c: i32[3] = neg(a)\n", kSmall));
  const std::string huge =
      file_of("huge.tp", "tp 1\na: f32[90000, 90000] = full(value=1)\nb: f32[] = sum(a)\n");
  EXPECT_EQ(assay(fmt::format("check {}", right)).status, 0);
  EXPECT_EQ(assay(fmt::format("check {} {}", right, wrong)).status, 1);
  EXPECT_EQ(assay(fmt::format("check {} {}", broken, wrong)).status, 1);
  EXPECT_EQ(assay(fmt::format("check {} {}", right, broken)).status, 2);
  EXPECT_EQ(assay(fmt::format("check {}", misfit)).status, 2);
  EXPECT_EQ(assay(fmt::format("check {} {}", right, huge)).status, 4);
}

TEST(Check, NamesFileAndLineOfWhatIsWrong) {
  const std::string wrong = file_of("wrong.tp", fmt::format("{}expect b = [-1, 2]\n", kSmall));
  const Outcome failed = assay(fmt::format("check --quiet {}", wrong));
  EXPECT_NE(failed.output.find(fmt::format("FAIL {}: line 4: b at stage expect", wrong)),
            std::string::npos)
      << failed.output;
  const std::string broken = file_of("broken.tp", fmt::format("{}expect c = [1]\n", kSmall));
  const Outcome malformed = assay(fmt::format("check {}", broken));
  EXPECT_NE(malformed.output.find(fmt::format("malformed {}:4:8: ", broken)), std::string::npos)
      << malformed.output;
  expect("check /no/such/file.tp", 3, "assay check: /no/such/file.tp does not exist\n");
  expect(fmt::format("check --off no.rule {}", wrong), 2,
         "assay check: no rule is named 'no.rule'; see assay rules\n");
}

TEST(Run, PrintsValuesAndWhatItTook) {
  const std::string path = file_of("small.tp", std::string(kSmall));
  expect(fmt::format("run {}", path), 0,
         "b = i32[2] [-1, -2]\n1 schedules, 1 kernels, 0 copies, 0 bytes planned\n"
         "pass: 3 values compared\n");
  expect("run /no/such/file.tp", 3, "assay run: /no/such/file.tp cannot be read\n");
}

TEST(Run, PrintsEachStageTheSameEachTime) {
  const std::string path = file_of("small.tp", std::string(kSmall));
  for (const std::string_view stage : {"tensor", "kernels", "schedule", "plan", "linear"}) {
    for (const std::string_view format : {"text", "dot"}) {
      const std::string arguments =
          fmt::format("run {} --emit {} --format {}", path, stage, format);
      const Outcome outcome = assay(arguments);
      EXPECT_EQ(outcome.status, 0) << arguments;
      EXPECT_FALSE(outcome.output.empty()) << arguments;
      EXPECT_EQ(outcome.output.find("digraph") != std::string::npos, format == "dot") << arguments;
      expect(arguments, 0, outcome.output);
    }
  }
}

TEST(Devices, AreListedWithWhatTheyCanDo) {
  const Outcome outcome = assay("devices");
  EXPECT_EQ(outcome.status, 0);
  for (const std::string_view said :
       {"devices\n", "\nprofiles\n", "  disk:PATH: storage that is a file\n",
        "  worker:COMMAND: the device of a child process",
        "  adreno-660: Snapdragon 888; profile only, no hardware\n"
        "    groups of 1024 work-items (1024 x 1024 x 1024), 32 KiB of LOCAL\n"}) {
    EXPECT_NE(outcome.output.find(said), std::string::npos) << said << "in\n" << outcome.output;
  }
}

TEST(Devices, WithoutAnyDriverThereAreTheOthers) {
  setenv("OCL_ICD_VENDORS", "/nowhere", 1);
  const Outcome outcome = assay("devices");
  unsetenv("OCL_ICD_VENDORS");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.output.find("  cl: none: no OpenCL platform is installed"), std::string::npos)
      << outcome.output;
}

TEST(Devices, RemoveWhatKilledProcessesLeftBehind) {
  namespace fs = std::filesystem;
  const fs::path temporary = fs::path(testing::TempDir()) / "left_behind";
  for (const std::string_view name : {"assay-killed", "assay-alive", "assay-of-others"}) {
    fs::create_directories(temporary / name);
  }
  std::ofstream(temporary / "assay-killed/lock") << "";
  std::ofstream(temporary / "assay-alive/lock") << "";
  const int alive = open((temporary / "assay-alive/lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(alive, LOCK_EX | LOCK_NB), 0);
  const std::string command =
      fmt::format("TMPDIR='{}' '{}' devices >/dev/null", temporary.string(), ASSAY_COMMAND);
  EXPECT_EQ(std::system(command.c_str()), 0);
  std::set<std::string> left;
  for (const auto& entry : fs::directory_iterator(temporary)) {
    left.insert(entry.path().filename().string());
  }
  EXPECT_EQ(left, (std::set<std::string>{"assay-alive", "assay-of-others"}));
  close(alive);
  fs::remove_all(temporary);
}

TEST(Devices, AProfileThatThereIsNoneOfIsNamed) {
  expect("devices --profile adreno", 2,
         "assay devices: no profile is named 'adreno'; there are generic, adreno-630, adreno-660, "
         "adreno-740\n");
}

TEST(Worker, EndsWithItsInput) {
  expect("worker </dev/null", 0, "");
  expect("worker --profile none </dev/null", 2,
         "assay worker: no profile is named 'none'; there are generic, adreno-630, adreno-660, "
         "adreno-740\n");
  const std::string path = file_of("garbage", "What is this?");
  expect(fmt::format("worker <{}", path), 3, "assay worker: 'What is this?' is no frame\n");
}

}  // namespace
}  // namespace assay::fuzz
