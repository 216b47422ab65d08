#include "oracles/kernels/check_kernel.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "engine/uop/text.h"
#include "engine/uop/walk.h"
#include "oracles/kernels/error_bound.h"
#include "oracles/node_spoiler.h"
#include "oracles/workgroup/sim.h"

namespace assay::oracles {
namespace {

using uop::Graph;
using uop::Op;
using uop::Ref;

// x[i] = f(a[i]) + Σ b[i, j], with i of 8 and j of 64; the last line names the kernel.
std::string kernel_text(std::string_view type, std::string_view function, std::string_view name) {
  return fmt::format(R"(uop 1 kernel
%n = const index 8
%m = const index 64
%all = const index 512
%i = range index %n {{0 weak}}
%j = range index %m {{1 reduce}}
%x = param {0} %n {{0}}
%a = param {0} %n {{1}}
%b = param {0} %all {{2}}
%ai = index {0} %a %i
%row = mul index %i %m
%at = add index %row %j
%bij = index {0} %b %at
%s = reduce {0} %bij %j {{add 0}}
{1}
%v = add {0} %f %s
%xi = index {0} %x %i
%st = store void %xi %v
%e = end void %st %i
%k = sink void %e {{"{2}"}}
)",
                     type, function, name);
}
const std::string kRowSum = kernel_text("f32", "%f = neg f32 %ai", "sum");

struct CheckKernel : ::testing::Test {
  const std::array<const runtime::DeviceKind*, 1> kinds = {&workgroup::sim_kind()};
  runtime::Devices devices{kinds};
  runtime::Executor executor{devices};
  KernelOptions options;
  Graph g;

  CheckKernel() {
    options.executor = &executor;
    options.device = "sim:random";
  }
  Ref read(std::string_view text) {
    const auto parsed = uop::from_text(g, text);
    EXPECT_TRUE(parsed.ok()) << to_string(parsed.error());
    return parsed.ok() ? parsed.value().root : nullptr;
  }
  Result<KernelChecked> check(std::string_view text) {
    return check_kernel(g, read(text), options);
  }
  Verdict verdict(std::string_view text) {
    const Result<KernelChecked> checked = check(text);
    EXPECT_TRUE(checked.ok()) << to_string(checked.error());
    return checked.ok() ? checked.value().verdict : Verdict{};
  }
  std::string refusal(std::string_view text) {
    const Result<KernelChecked> checked = check(text);
    return checked.ok() ? checked.value().verdict.evidence : checked.error().message;
  }
};

TEST_F(CheckKernel, PassesWhatIsRightWhateverTheOpts) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    options.seed = seed;
    const auto lists = runtime::lists_from_text(std::vector{fmt::format("random:{}", seed)});
    options.lists = lists.value();
    const Verdict v = verdict(kRowSum);
    EXPECT_EQ(v.answer, Answer::Pass) << v.evidence;
  }
}

TEST_F(CheckKernel, TakesTheListThatStandsInTheKernel) {
  const auto checked = check(kernel_text("f32", "%f = neg f32 %ai", "sum LOCAL(0,4) GROUP(0,8)"));
  ASSERT_TRUE(checked.ok()) << checked.error().message;
  EXPECT_EQ(checked.value().verdict.answer, Answer::Pass) << checked.value().verdict.evidence;
  const runtime::CallRun& call = checked.value().runs.at(0).calls.at(0);
  EXPECT_EQ(call.name, "sum LOCAL(0,4) GROUP(0,8)");
  EXPECT_EQ(call.sizes, (codegen::Launch{{2, 1, 1}, {8, 4, 1}}));
  EXPECT_NE(refusal(kernel_text("f32", "%f = neg f32 %ai", "sum LOCAL(0,5)"))
                .find("opt LOCAL(0,5): 5 does not divide the 8 that are left of store axis 0"),
            std::string::npos);
}

TEST_F(CheckKernel, FindsWhatAPassBroke) {
  NodeSpoiler no_sums("devectorize", Op::Add, last_source);
  options.watch = &no_sums;
  const Verdict wrong = verdict(kRowSum);
  EXPECT_EQ(wrong.answer, Answer::Fail);
  EXPECT_NE(wrong.evidence.find("of argument 0 is"), std::string::npos) << wrong.evidence;
  options.lists = runtime::lists_from_text(std::vector<std::string>{"GROUP(0,8)"}).value();
  NodeSpoiler no_barriers("pm_implicit_barriers", Op::Barrier, last_source);
  options.watch = &no_barriers;
  const Verdict racy = verdict(kRowSum);
  EXPECT_EQ(racy.answer, Answer::Fail);
  EXPECT_NE(racy.evidence.find("race"), std::string::npos) << racy.evidence;
}

// x[i] += Σ a[i, j], with i of 7 and j of 12; `of` is what is summed.
std::string in_place(std::string_view of, std::string_view opts) {
  return fmt::format(R"(uop 1 kernel
%n = const index 7
%m = const index 12
%all = const index 84
%i = range index %n {{0 weak}}
%j = range index %m {{1 reduce}}
%x = param f32 %n {{0}}
%a = param f32 %all {{1}}
%row = mul index %i %m
%at = add index %row %j
%old = index f32 %x %i
%aij = index f32 %a %at
%p = mul f32 %aij %old
%s = reduce f32 {} %j {{add 0}}
%v = add f32 %old %s
%st = store void %old %v
%e = end void %st %i
%k = sink void %e {{"in_place {}"}}
)",
                     of, opts);
}

// Who does not store an element does not read it either: another work-item may be writing it.
TEST_F(CheckKernel, InPlaceReadsOnlyWhatItStores) {
  for (const std::string_view opts :
       {"GROUP(0,4)", "GROUPTOP(0,12)", "GROUP(0,4) UNROLL(0,3)",
        "PADTO(0,8) LOCAL(0,4) GROUP(0,4)", "GROUP(0,2) UPCAST(0,7)",
        "PADTO(0,8) UPCAST(0,4) GROUP(0,6)", "LOCAL(0,7) UNROLL(0,4)"}) {
    const Verdict v = verdict(in_place("%aij", opts));
    EXPECT_EQ(v.answer, Answer::Pass) << opts << ": " << v.evidence;
  }
  EXPECT_EQ(verdict(in_place("%p", "LOCAL(0,7) UNROLL(0,4)")).answer, Answer::Pass);
  EXPECT_NE(
      refusal(in_place("%p", "GROUP(0,4)")).find("the fold reads storage that the kernel writes"),
      std::string::npos);
}

// Positions to spare compute an iteration that is another's to store.
TEST_F(CheckKernel, InPlaceReadsNothingAtPositionsToSpare) {
  workgroup::SimOptions small;
  small.name = options.device = "sim:small";
  small.is_random = true;
  for (int64_t& size : small.target.limits.global_sizes) size = 4;
  devices.add(workgroup::make_sim(small));
  for (const std::string_view opts : {"NONE", "UNROLL(0,4)", "UPCAST(0,1)"}) {
    const Verdict v = verdict(in_place("%p", opts));
    EXPECT_EQ(v.answer, Answer::Pass) << opts << ": " << v.evidence;
  }
}

TEST_F(CheckKernel, IsUnknownWhereResultsMayDiffer) {
  NodeSpoiler no_sums("devectorize", Op::Add, last_source);
  const std::string inexact = kernel_text("f32", "%f = exp f32 %ai", "exp");
  EXPECT_EQ(verdict(inexact).answer, Answer::Pass);
  options.watch = &no_sums;
  EXPECT_EQ(verdict(inexact).answer, Answer::Fail);
  const std::string jumps =
      kernel_text("f32", "%q = exp f32 %ai\n%f = floor f32 %q", "floor_of_exp");
  const Verdict v = verdict(jumps);
  EXPECT_EQ(v.answer, Answer::Unknown);
  EXPECT_NE(v.evidence.find("it rounds to integers what is rounded"), std::string::npos);
}

TEST_F(CheckKernel, RefusesGraphsOfOtherForms) {
  const std::string neither = "it is neither a kernel of the schedule nor a list of instructions: ";
  EXPECT_EQ(refusal("uop 1 rule\n%0 = var bool {\"x\" false true}\n"), neither + "its root is var");
  EXPECT_EQ(refusal("uop 1 kernel\n%s = barrier void\n%k = sink void %s {\"k\"}\n"),
            neither + "scheduled: %0 = barrier does not belong here");
  std::string tiled = kRowSum;
  tiled.replace(tiled.find("{0 weak}"), 8, "{0 local}");
  EXPECT_EQ(refusal(tiled), neither + "a range is local: opts were applied to it");
  std::string gap = kRowSum;
  gap.replace(gap.find("%n {1}"), 6, "%n {7}");
  EXPECT_EQ(refusal(gap), "there is no param 1, and there are later ones");
}

TEST_F(CheckKernel, HoldsListsAgainstTheirFiles) {
  constexpr std::string_view kList = R"(uop 1 linear
%0 = const i32 8
%1 = param i32 %0 {0}
%2 = special i32 %0 {"lidx0"}
%3 = index i32 %1 %2
%4 = store void %3 %2
%5 = linear void %0 %1 %2 %3 %4 {"iota"}
)";
  const auto judged = [&](std::string_view says) {
    workgroup::KernelFile file;
    EXPECT_TRUE(workgroup::read_kernel(fmt::format("# Iota.\n{}{}", says, kList), file).ok());
    const Result<KernelChecked> checked = check_list(file, options);
    EXPECT_TRUE(checked.ok()) << checked.error().message;
    return checked.value().verdict.answer;
  };
  EXPECT_EQ(judged("# out 0: 0 1 2 3 4 5 6 7\n"), Answer::Pass);
  EXPECT_EQ(judged("# out 0: 0 1 2 3 4 5 6 8\n"), Answer::Fail);
  EXPECT_EQ(judged("# expect race %4\n"), Answer::Fail);
}

double most(Graph& g, Ref kernel) { return error_bound(g, kernel, 4).most; }

TEST_F(CheckKernel, KnowsWhichResultsAreExact) {
  EXPECT_EQ(most(g, read(kRowSum)), 0);
  EXPECT_EQ(most(g, read(kernel_text("f16", "%f = neg f16 %ai", "sum"))), 0);
  // Up to 260, where bf16 holds integers up to 256 alone.
  const double rounded = most(g, read(kernel_text("bf16", "%f = neg bf16 %ai", "sum")));
  EXPECT_GT(rounded, 0);
  EXPECT_LT(rounded, 8);
  EXPECT_GT(most(g, read(kernel_text("f32", "%f = exp f32 %ai", "sum"))), 0);
  const std::string divides = kernel_text("i32", "%f = div i32 %ai %ai", "div");
  EXPECT_EQ(error_bound(g, read(divides), 4).undecided, "it may divide by zero");
  const std::string quotient = kernel_text("i32", "%f = pow i32 %ai %ai", "pow");
  EXPECT_EQ(error_bound(g, read(quotient), 4).undecided, "it may divide by zero");
}

}  // namespace
}  // namespace assay::oracles
