// Each property has been seen to fail: faults that code generation could make, and of the
// catalogue, each refuted with a witness that was run, and by no other property.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/uop/text.h"
#include "oracles/workgroup/corpus_kernel.h"
#include "props/kernel/kernel_props.h"
#include "props/kernel/list_edits.h"

namespace assay::props {
namespace {

using uop::Op;
using uop::Ref;

struct NamedProperty {
  std::string_view name;
  Check<codegen::KernelSeen> check;
};
constexpr NamedProperty kAll[] = {{"races", kernel_races},   {"barriers", kernel_barriers},
                                  {"bounds", kernel_bounds}, {"alignment", kernel_alignment},
                                  {"stores", kernel_stores}, {"reads", kernel_reads}};

// What fails of a kernel that was read, and what is unknown of it, with a "?".
std::string failures(uop::Graph& g, Ref kernel, Ref linear, const uop::Target& target,
                     std::vector<Checked>* all = nullptr) {
  smt::Prover prover;
  Context context = {prover, target};
  std::string names;
  for (const NamedProperty& p : kAll) {
    const Checked checked = p.check({g, kernel, linear}, context);
    if (checked.verdict.answer == Answer::Fail) names += fmt::format("{} ", p.name);
    if (checked.verdict.answer == Answer::Unknown) names += fmt::format("{}? ", p.name);
    if (all != nullptr) all->push_back(checked);
  }
  return names;
}

struct Planted {
  const char* kernel;  // of corpus/kernels
  const char* fails;
};
constexpr Planted kPlanted[] = {
    // B137: the fold of a group is stored by more than one of them.
    {"group_reduce_gate_of_one_axis", "races "},
    {"group_reduce_gates_of_two_axes_safe", ""},
    // B139: no barrier between write and read of the scratch, and before it is written again.
    {"group_reduce_no_barrier", "races "},
    {"group_reduce_loop_no_leading_barrier", "races "},
    {"group_reduce_loop_no_trailing_barrier", "races "},
    {"group_reduce_loop_safe", ""},
    // B141: a barrier that not all of a group come to.
    {"barrier_in_divergent_if", "barriers "},
    {"tree_barrier_in_if", "barriers "},
    {"barrier_in_uniform_if_safe", ""},
    // B142: a load that moved out of its guard, and one that did not.
    {"guarded_load_hoisted", "races "},
    {"guarded_load_safe", ""},
    {"guarded_load_in_loop_safe", ""},
    // What the rules of barriers do not reach: reuse outside of one loop, groups, double buffers.
    {"sibling_loops_no_barrier", "races "},
    {"double_buffer_same_half", "races "},
    {"double_buffer_safe", ""},
    {"global_across_barrier", "races "},
    {"global_next_group_reads", "races "},
    {"nested_loops_outer_barrier_only", "races "},
    // For other values of its variable its argument is too small as well.
    {"loop_symbolic_no_second_barrier", "races bounds "},
    {"index_wraps_past_32_bits", "bounds "},
    {"tail_gate_off_by_one", "bounds "},
    {"vectors_misaligned_load", "alignment "},
    {"vectors_misaligned_store", "alignment "},
    {"barrier_in_divergent_loop", "barriers "},
    {"register_written_by_some", "reads "},
    {"local_gap", "reads "},
};

class PlantedKernels : public testing::TestWithParam<Planted> {};

TEST_P(PlantedKernels, FailWhereTheFaultIsAndNowhereElse) {
  workgroup::KernelFile k;
  workgroup::read_named(GetParam().kernel, k);
  EXPECT_EQ(failures(k.graph, k.linear, k.linear, k.target), GetParam().fails);
}

INSTANTIATE_TEST_SUITE_P(Catalogue, PlantedKernels, testing::ValuesIn(kPlanted),
                         [](const auto& test) { return test.param.kernel; });

// The evidence of a failure says what the machine finds when it is run, in every interleaving.
class EvidenceFiles : public testing::TestWithParam<std::string> {};

TEST_P(EvidenceFiles, AreAsTheySay) {
  workgroup::KernelFile k;
  workgroup::read_named(GetParam(), k);
  std::vector<Checked> all;
  failures(k.graph, k.linear, k.linear, k.target, &all);
  for (const Checked& checked : all) {
    EXPECT_EQ(checked.verdict.answer == Answer::Fail, !checked.evidence.empty());
    EXPECT_EQ(checked.verdict.answer == Answer::Fail, !checked.shape.empty());
    for (const Evidence& evidence : checked.evidence) {
      workgroup::KernelFile again;
      const Result<bool> read = workgroup::read_kernel(evidence.text, again);
      ASSERT_TRUE(read.ok()) << to_string(read.error()) << "\n" << evidence.text;
      EXPECT_FALSE(again.expected.empty() && again.allowed.empty());
      const Result<std::string> difference = workgroup::difference(again);
      ASSERT_TRUE(difference.ok()) << to_string(difference.error());
      EXPECT_EQ(difference.value(), "") << evidence.text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, EvidenceFiles, testing::ValuesIn(workgroup::kernel_names()),
                         [](const auto& name) { return name.param; });

// out[lidx0] is stored in each iteration of a loop, or of each a place of its own.
std::string stores_in_a_loop(std::string_view index) {
  return fmt::format(R"(uop 1 linear
%n = const i32 8
%four = const i32 4
%size = const i32 32
%x = const f32 1.0
%p = param f32 %size {{0}}
%l = special i32 %n {{"lidx0"}}
%lr = mul i32 %l %four
%r = range i32 %four {{0 loop}}
%own = add i32 %lr %r
%at = index f32 %p {}
%s = store void %at %x
%e = end void %s %r
%list = linear void %n %four %size %x %p %l %lr %r %own %at %s %e {{"loop"}}
)",
                     index);
}
constexpr std::string_view kScheduled = R"(uop 1 kernel
%n = const index 8
%four = const index 4
%size = const index 32
%x = const f32 1.0
%p = param f32 %size {0}
%a = range index %n {0 weak}
%b = range index %four {1 weak}
%row = mul index %a %four
%i = add index %row %b
%at = index f32 %p %i
%s = store void %at %x
%e = end void %s %a %b
%k = sink void %e {"stores"}
)";

std::string failures_of_stores(std::string_view index) {
  workgroup::KernelFile k;
  const Result<bool> read = workgroup::read_kernel("# Stores.\n" + stores_in_a_loop(index), k);
  EXPECT_TRUE(read.ok()) << to_string(read.error());
  const auto kernel = uop::from_text(k.graph, kScheduled);
  EXPECT_TRUE(kernel.ok()) << to_string(kernel.error());
  return failures(k.graph, kernel.value().root, k.linear, k.target);
}

TEST(KernelStores, FailWhereAnElementIsStoredInEachIteration) {
  EXPECT_EQ(failures_of_stores("%lr"), "stores ");
  EXPECT_EQ(failures_of_stores("%own"), "");
}

// Each group stores a row of n elements, for every n at once.
std::string rows(std::string_view stride) {
  return fmt::format(R"(# Rows.
uop 1 linear
%groups = const i32 8
%one = const i32 1
%size = const i32 8000
%x = const f32 1.0
%p = param f32 %size {{0}}
%n = var i32 {{"n" 1 1000}}
%g = special i32 %groups {{"gidx0"}}
%less = sub i32 %n %one
%more = add i32 %n %one
%row = mul i32 %g {0}
%r = range i32 %n {{0 loop}}
%i = add i32 %row %r
%at = index f32 %p %i
%s = store void %at %x
%e = end void %s %r
%list = linear void %groups %one %size %x %p %n %g %less %more %row %r %i %at %s %e {{"rows"}}
)",
                     stride);
}

std::string failures_of_rows(std::string_view stride) {
  const std::string text = rows(stride);
  uop::Graph g;
  const auto read = uop::from_text(g, text.substr(text.find('\n') + 1));
  EXPECT_TRUE(read.ok()) << to_string(read.error());
  return failures(g, read.value().root, read.value().root, workgroup::KernelFile().target);
}

TEST(KernelOfVariables, IsJudgedForAllOfTheirValues) {
  EXPECT_EQ(failures_of_rows("%n"), "");
  EXPECT_EQ(failures_of_rows("%less"), "races ");
  // The last row of 1000 ends after 8006 elements.
  EXPECT_EQ(failures_of_rows("%more"), "bounds ");
}

// out[l] = x[i[l]], with a gate or without: what i may hold is no part of a kernel.
std::string taken(std::string_view load) {
  return fmt::format(R"(uop 1 linear
%n = const i32 8
%four = const i32 4
%minus = const i32 -1
%zero = const f32 0.0
%out = param f32 %n {{0}}
%i = param i32 %n {{1}}
%x = param f32 %four {{2}}
%l = special i32 %n {{"lidx0"}}
%ati = index i32 %i %l
%k = load i32 %ati
%above = lt bool %minus %k
%below = lt bool %k %four
%inside = and bool %above %below
%atx = index f32 %x %k
%v = load f32 {}
%ato = index f32 %out %l
%s = store void %ato %v
%list = linear void %n %four %minus %zero %out %i %x %l %ati %k %above %below %inside %atx %v %ato %s {{"taken"}}
)",
                     load);
}

TEST(KernelOfData, IsRefutedWithTheDataThatShowsIt) {
  uop::Graph g;
  const auto gated = uop::from_text(g, taken("%atx %zero %inside"));
  ASSERT_TRUE(gated.ok()) << to_string(gated.error());
  const uop::Target target = workgroup::KernelFile().target;
  EXPECT_EQ(failures(g, gated.value().root, gated.value().root, target), "");
  const auto open = uop::from_text(g, taken("%atx"));
  ASSERT_TRUE(open.ok()) << to_string(open.error());
  std::vector<Checked> all;
  EXPECT_EQ(failures(g, open.value().root, open.value().root, target, &all), "bounds ");
  const std::string& file = all[2].evidence.at(0).text;
  EXPECT_NE(file.find("# in 1:"), std::string::npos) << file;
  workgroup::KernelFile again;
  ASSERT_TRUE(workgroup::read_kernel(file, again).ok());
  const Result<std::string> difference = workgroup::difference(again);
  ASSERT_TRUE(difference.ok());
  EXPECT_EQ(difference.value(), "") << file;
}

TEST(KernelRaces, SayWhichContractTheyAssume) {
  workgroup::KernelFile k;
  workgroup::read_named("reverse_safe", k);
  smt::Prover prover;
  Context context = {prover, k.target};
  const codegen::KernelSeen seen = {k.graph, k.linear, k.linear};
  EXPECT_EQ(kernel_races(seen, context).verdict.evidence,
            "the memory contract has LOCAL stores seen after a barrier, barriers reached by the "
            "group, in loops where all take the same way, in branches where all take the same way");
  uop::Target none = k.target;
  none.memory.reset();
  Context without = {prover, none};
  const Checked checked = kernel_races(seen, without);
  EXPECT_EQ(checked.verdict.answer, Answer::Unknown);
  EXPECT_EQ(checked.verdict.evidence, "file has no memory contract");
}

TEST(KernelSpareBarriers, AreThoseThatNothingNeeds) {
  for (const char* name : {"loop_two_barriers_safe", "tree_safe", "reverse_safe"}) {
    workgroup::KernelFile k;
    workgroup::read_named(name, k);
    smt::Prover prover;
    Context context = {prover, k.target};
    EXPECT_EQ(kernel_spare_barriers({k.graph, k.linear, k.linear}, context).listed.size(), 0U)
        << name;
    // One more before each line: a barrier beside one that is there makes either spare, and one
    // where nothing has to be ordered is so itself.
    ListEdit before(k.graph, k.linear);
    const Ref barrier = before.all(Op::Barrier).front();
    before.add_barrier(barrier);
    const Ref twice = before.run();
    const Checked checked = kernel_spare_barriers({k.graph, twice, twice}, context);
    EXPECT_EQ(checked.verdict.answer, Answer::Pass);
    EXPECT_EQ(checked.listed.size(), 2U) << name;
  }
}

// Every question put to Z3 as well.
TEST(KernelProofs, AreThoseOfASolver) {
  smt::ProverOptions options;
  options.is_doubled = true;
  options.asks_z3 = true;
  smt::Prover prover(options);
  int64_t decided = 0;
  for (const std::string& name : workgroup::kernel_names()) {
    workgroup::KernelFile k;
    workgroup::read_named(name, k);
    Context context = {prover, k.target};
    const Result<KernelFileChecked> checked = check_kernel_file(k, context);
    ASSERT_TRUE(checked.ok());
    EXPECT_EQ(checked.value().difference, "") << name;
    for (const FileChecked& p : checked.value().properties) {
      for (const auto& [method, times] : p.checked.by_method) decided += method == "z3" ? times : 0;
    }
  }
  EXPECT_GT(decided, 50);
  EXPECT_TRUE(prover.disagreements().empty());
}

}  // namespace
}  // namespace assay::props
