// How kernels are made, told to the command; and kernels as its input.
#include <string_view>

#include "fuzz/commands/assay_command.h"

namespace assay::fuzz {
namespace {

constexpr std::string_view kTwo =
    "x: f32[8, 64] = input(random=uniform, seed=1)\ns: f32[8] = sum(x, axes=[1])\nforce s\n"
    "y: f32[8] = mul(s, 2)\nforce y\n";

std::string program(std::string_view hints) {
  return file_of("hinted.tp", fmt::format("tp 1\n{}{}", hints, kTwo));
}
bool says(const Outcome& outcome, std::string_view text) {
  return outcome.output.find(text) != std::string::npos;
}

TEST(Opts, OfHintsAreThoseThatRun) {
  const std::string path = program("kernel 0: LOCAL(0,4) GROUP(0,8)\nkernel 1: UPCAST(0,2)\n");
  const Outcome run = assay(fmt::format("run {} --device sim:0", path));
  EXPECT_EQ(run.status, 0) << run.output;
  EXPECT_TRUE(says(run, " LOCAL(0,4) GROUP(0,8) on sim:0\n")) << run.output;
  EXPECT_TRUE(says(run, "     1 ok ")) << run.output;
  EXPECT_TRUE(says(run, " UPCAST(0,2) on sim:0\n")) << run.output;
  const Outcome emitted = assay(fmt::format("run {} --emit lines", path));
  EXPECT_TRUE(says(emitted, "# kernel 1: ")) << emitted.output;
  EXPECT_TRUE(says(emitted, " UPCAST(0,2)\"}")) << emitted.output;
  const Outcome mine =
      assay(fmt::format("run {} --device sim:0 --opts none --opts '1:LOCAL(0,8)'", path));
  EXPECT_TRUE(says(mine, " NONE on sim:0\n")) << mine.output;
  EXPECT_TRUE(says(mine, " LOCAL(0,8) on sim:0\n")) << mine.output;
}

TEST(Opts, ThatCannotBeNameFileLineAndKernel) {
  const std::string missing = program("kernel 2: NOLOCALS\n");
  const Outcome none = assay(fmt::format("check {}", missing));
  EXPECT_EQ(none.status, 2);
  EXPECT_TRUE(says(
      none, fmt::format("malformed {}:2: there is no kernel 2: the program runs 2\n", missing)))
      << none.output;
  const std::string illegal = program("kernel 1: LOCAL(0,3)\n");
  for (const std::string_view how :
       {"check {} --device sim:0", "run {} --device sim:0", "run {} --emit opencl"}) {
    const Outcome outcome = assay(fmt::format(fmt::runtime(how), illegal));
    EXPECT_EQ(outcome.status, 2) << outcome.output;
    EXPECT_TRUE(says(outcome, fmt::format("{}:2: kernel 1, ", illegal))) << outcome.output;
    EXPECT_TRUE(says(outcome,
                     "opt LOCAL(0,3): 3 does not divide the 8 that are left of store axis "
                     "0"))
        << outcome.output;
  }
  const std::string plain = program("");
  EXPECT_EQ(assay(fmt::format("check {} --device sim:0 --opts random:3", plain)).status, 0);
  EXPECT_EQ(assay(fmt::format("check {} --opts none", plain)).status, 2);
  expect(fmt::format("run {} --device sim:0 --opts 'LOCAL(0,'", plain), 2,
         "assay run: --opts: 'LOCAL(0,' is no list of opts: expected a number that is not "
         "negative\n");
}

constexpr std::string_view kKernel = R"uop(uop 1 kernel
%n = const index 8
%i = range index %n {0 weak}
%x = param i32 %n {0}
%a = param i32 %n {1}
%ai = index i32 %a %i
%v = add i32 %ai %ai
%xi = index i32 %x %i
%st = store void %xi %v
%e = end void %st %i
%k = sink void %e {"double LOCAL(0,4)"}
)uop";

TEST(Kernels, AreRunAndPrinted) {
  const std::string path = file_of("double.uop", std::string(kKernel));
  const Outcome run = assay(fmt::format("run {}", path));
  EXPECT_EQ(run.status, 0) << run.output;
  EXPECT_TRUE(says(run, "argument 0 = i32[8] [")) << run.output;
  EXPECT_TRUE(says(run, "double LOCAL(0,4) on sim:0\n")) << run.output;
  EXPECT_TRUE(says(run, "pass: 2 arguments as in the interpreter\n")) << run.output;
  EXPECT_TRUE(says(assay(fmt::format("run {} --emit opencl", path)), "double LOCAL(0,4)"));
  EXPECT_TRUE(
      says(assay(fmt::format("run {} --emit passes --opts 'UPCAST(0,4)'", path)), "coalesce"));
  expect(fmt::format("run {} --emit plan", path), 2,
         fmt::format("assay run: {}:a kernel has no stage plan\n", path));
  EXPECT_EQ(assay(fmt::format("check {} --device cl:pocl-basic", path)).status, 0);
}

TEST(Kernels, OfTheCorpusAreFoundAndHoldWhatTheirFilesSay) {
  const Outcome all = assay("check --quiet " ASSAY_CORPUS "/kernels");
  EXPECT_EQ(all.status, 0) << all.output;
  EXPECT_TRUE(says(all, " 0 failed, 0 unknown, 0 malformed\n")) << all.output;
  const std::string safe = ASSAY_CORPUS "/kernels/reverse_safe.uop";
  const Outcome there = assay(fmt::format("check {} --device cl:pocl-basic", safe));
  EXPECT_TRUE(says(there, ", and on the device\n")) << there.output;
  const Outcome racy = assay("run " ASSAY_CORPUS "/kernels/reverse_no_barrier.uop");
  EXPECT_TRUE(says(racy, "pass: found as expected in ")) << racy.output;
  expect(fmt::format("check {} --device sim:0 --opts none", safe), 2,
         fmt::format("malformed {}:it is a list of instructions, for which opts come too late\n"
                     "1 files: 0 passed, 0 failed, 0 unknown, 1 malformed\n"
                     "0 elements compared: 0.00 % unspecified, 0.00 % ambiguous\n",
                     safe));
}

TEST(Kernels, OfOtherFormsAreRefused) {
  const std::string path = file_of("rule.uop", "uop 1 rule\n%0 = var bool {\"x\" false true}\n");
  expect(fmt::format("run {}", path), 2,
         fmt::format("assay run: {}:it is neither a kernel of the schedule nor a list of "
                     "instructions: its root is var\n",
                     path));
  const std::string bad = file_of("bad.uop", "uop 1 kernel\n%0 = frob bool\n");
  const Outcome outcome = assay(fmt::format("check {}", bad));
  EXPECT_EQ(outcome.status, 2);
  EXPECT_TRUE(says(outcome, fmt::format("malformed {}:2:", bad))) << outcome.output;
}

}  // namespace
}  // namespace assay::fuzz
