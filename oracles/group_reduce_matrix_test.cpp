// Folds that work-items share: each operation at each type, in groups of each size, over one axis
// or two, with and without lanes, unrolling and padding.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "engine/codegen/launch.h"
#include "engine/codegen/opt.h"
#include "engine/codegen/pipeline.h"
#include "engine/runtime/opencl/device.h"
#include "engine/schedule/schedule.h"
#include "engine/tensor/builder.h"
#include "engine/tensor/program/text.h"
#include "engine/uop/value.h"
#include "engine/uop/walk.h"
#include "oracles/check.h"
#include "oracles/node_spoiler.h"
#include "oracles/workgroup/sim.h"

namespace assay::oracles {
namespace {

using uop::DType;
using uop::Ref;

// An operation, and contents under which what is lost, folded twice or starts from a wrong unit
// shows. Where they are sparse, one element of a row decides; it is a zero where `sparse` is '0'.
struct Fold {
  std::string_view op;
  std::string_view signed_contents;
  std::string_view unsigned_contents;
  std::string_view float_contents;
  char sparse;  // of bools, and where there are no contents of a kind
};
constexpr Fold kFolds[] = {
    {"sum", "random=integers, low=-100, high=100", "random=integers, low=0, high=100",
     "random=uniform, low=-1, high=1", '1'},
    {"prod", "start=1, step=2", "start=1, step=2", "random=uniform, low=0.9, high=1.1", '0'},
    {"max", "random=integers, low=-120, high=-1", "random=integers, low=1, high=120",
     "random=uniform, low=-2, high=-1", '1'},
    {"min", "random=integers, low=1, high=120", "random=integers, low=1, high=120",
     "random=uniform, low=1, high=2", '0'},
    {"any", "", "", "", '1'},
};
constexpr DType kFoldTypes[] = {uop::Bool, uop::I8,  uop::U8,  uop::I16, uop::U16,
                                uop::I32,  uop::U32, uop::I64, uop::U64, uop::F16,
                                uop::BF16, uop::F32, uop::F64};
constexpr int kGroups[] = {2, 3, 4, 8, 16, 64, 256};
constexpr int kSecond = 3;        // work-items along the second axis
constexpr int kMostItems = 256;   // of a group
constexpr int kUnpaddedRows = 2;  // lanes divide them,
constexpr int kPaddedRows = 3;    // or do not

void PrintTo(const Fold& fold, std::ostream* out) { *out << fold.op; }

struct FoldCase {
  const Fold* fold;
  DType type;
  int group;
  bool two_axes;
  bool pads;
  bool upcasts;
  bool unrolls;

  int items() const { return group * (two_axes ? kSecond : 1); }
  bool is_legal() const { return items() <= kMostItems; }
  int rows() const { return pads ? kPaddedRows : kUnpaddedRows; }
  // Two iterations are left of the first axis, the last of which is short by one where it is
  // padded.
  int length() const { return 2 * group - (pads ? 1 : 0); }
  int folded() const { return length() * (two_axes ? kSecond : 1); }

  std::string opts() const {
    std::string text;
    if (pads) text += fmt::format("PADTO(0,2) PADTO(1,{}) ", group);
    text += fmt::format("GROUP(0,{})", group);
    if (two_axes) text += fmt::format(" GROUPTOP(1,{})", kSecond);
    if (upcasts) text += " UPCAST(0,2)";
    if (unrolls) text += " UNROLL(0,0)";
    return text;
  }
};

// All cases of a fold; those of one program, which differ in lanes alone, side by side.
std::vector<FoldCase> cases_of(const Fold& fold) {
  std::vector<FoldCase> all;
  for (const DType t : kFoldTypes) {
    for (const int group : kGroups) {
      for (int bits = 0; bits < 16; ++bits) {
        all.push_back(
            {&fold, t, group, (bits & 8) != 0, (bits & 4) != 0, (bits & 2) != 0, (bits & 1) != 0});
      }
    }
  }
  return all;
}
constexpr size_t kFoldCases = std::size(kFoldTypes) * std::size(kGroups) * 16;
constexpr size_t kIllegalFolds =
    std::size(kFoldTypes) * 8;  // two axes, one of which is all of a group

// Rows of which the first has no element that decides, the next its last, the others any.
std::string sparse(const FoldCase& c) {
  const bool is_bool = c.type == uop::Bool;
  const std::string_view zero = is_bool ? "false" : "0";
  const std::string_view one = is_bool ? "true" : "1";
  const std::string_view deciding = c.fold->sparse == '1' ? one : zero;
  const std::string_view other = c.fold->sparse == '1' ? zero : one;
  std::string text = "data=[";
  for (int row = 0; row < c.rows(); ++row) {
    const int at = row == 0 ? -1 : row == 1 ? c.folded() - 1 : 7 * row % c.folded();
    for (int i = 0; i < c.folded(); ++i) {
      text += fmt::format("{}{}", text.back() == '[' ? "" : ", ", i == at ? deciding : other);
    }
  }
  return text + "]";
}

std::string contents(const FoldCase& c) {
  std::string_view text;
  switch (uop::kind_of(c.type)) {
    case uop::Kind::Signed: text = c.fold->signed_contents; break;
    case uop::Kind::Unsigned: text = c.fold->unsigned_contents; break;
    case uop::Kind::Float: text = c.fold->float_contents; break;
    default: break;
  }
  return text.empty() ? sparse(c) : std::string(text);
}

// Integers are accumulated at their own type; floats below f32, and bools, at the default one.
std::string statements(const FoldCase& c, std::string_view name) {
  const bool adds = c.fold->op == "sum" || c.fold->op == "prod";
  const auto t = uop::to_text(c.type);
  const std::string result(c.fold->op == "any" ? "bool" : adds && c.type == uop::Bool ? "i32" : t);
  const std::string acc = adds && uop::is_fixed_int(c.type) ? fmt::format(", acc={}", t) : "";
  const std::string second = c.two_axes ? fmt::format(", {}", kSecond) : "";
  return fmt::format("x{0}: {1}[{2}, {3}{4}] = input({5})\n", name, t, c.rows(), c.length(), second,
                     contents(c)) +
         fmt::format("y{0}: {1}[{2}] = {3}(x{0}, axes=[{4}]{5})\n", name, result, c.rows(),
                     c.fold->op, c.two_axes ? "1, 2" : "1", acc);
}

tensor::Program parsed(const std::string& text) {
  Result<tensor::Program> program = tensor::from_text("tp 1\n" + text);
  EXPECT_TRUE(program.ok()) << to_string(program.error()) << "\n" << text;
  return program.ok() ? std::move(program).value() : tensor::Program();
}

// The one kernel of a program, its arguments before it runs, and what it is to leave in the first.
class OneKernel {
 public:
  explicit OneKernel(const tensor::Program& program) : builder_(session_, program) {
    for (size_t k = 0; k < program.statements.size(); ++k) {
      const Result<bool> done = builder_.step(k);
      EXPECT_TRUE(done.ok()) << to_string(done.error());
    }
    const tensor::Tensor* result = &builder_.tensor(tensor::outputs(program)[0].value);
    const auto made = schedule::linear_with_vars(session_, {&result, 1});
    EXPECT_TRUE(made.ok() && made.value().linear->src.size() == 1);
    const Ref call = made.value().linear->src[0];
    kernel = call->src[0];
    const auto inputs = builder_.take_contents();
    EXPECT_TRUE(inputs.size() == 1 && call->src.size() == 3 && call->src[2] == inputs[0].buffer);
    input_ = inputs[0].bytes;
    const auto known = reference::evaluate(program);
    EXPECT_TRUE(known.ok()) << to_string(known.error());
    expected_ = known.value()[0];
  }

  uop::Graph& graph() { return session_.graph(); }

  // What is wrong with a run of the kernel's LINEAR, if anything is.
  std::string trouble(Ref linear, const workgroup::Schedule& schedule, const uop::Target& target) {
    const auto size = static_cast<size_t>(uop::bytes_of(expected_.dtype));
    std::vector<std::byte> output(static_cast<size_t>(expected_.elements.size()) * size,
                                  std::byte{0xA5});
    const std::array<workgroup::Argument, 2> arguments = {{{output}, {input_}}};
    workgroup::Options options;
    options.schedule = schedule;
    const auto launch = codegen::launch_sizes(graph(), linear);
    if (!launch.ok()) return launch.error().message;
    const auto report =
        workgroup::execute(graph(), linear, arguments, {}, launch.value(), target, options);
    if (!report.ok()) return report.error().message;
    if (!report.value().findings.empty()) return report.value().findings[0].text;
    const Comparison c = compare(expected_, output);
    return c.agrees() && !c.is_masked() ? "" : to_text(c);
  }

  Ref kernel = nullptr;

 private:
  tensor::Session session_;
  tensor::Builder builder_;
  std::vector<std::byte> input_;
  reference::Array expected_;
};

uop::Target target_of_groups() {
  uop::Target t = workgroup::sim_target();
  t.limits.group_size = kMostItems;
  return t;
}

Result<Ref> lowered(uop::Graph& g, Ref kernel, const FoldCase& c, const uop::Target& target,
                    uop::Watch* watch = nullptr) {
  ASSAY_TRY(opts, codegen::opts_from_text(c.opts()));
  uop::Run run(g, {}, watch, target);
  return codegen::lower(run, codegen::with_opts(g, kernel, opts));
}

// Small groups run in all interleavings. In large ones each item reads what all have stored, so
// they run in one that takes many items at a time, or now and then in one that takes them one by
// one. What is drawn at random differs from case to case.
std::vector<workgroup::Schedule> schedules_of(const FoldCase& c, size_t number) {
  std::vector<workgroup::Schedule> all(workgroup::interleavings().begin(),
                                       workgroup::interleavings().end());
  if (c.items() > 16) {
    const bool is_one_by_one = number % 16 == 0;
    std::erase_if(all, [&](const auto& s) { return (s.width == 1) != is_one_by_one; });
    all = {all[number / 16 % all.size()]};
  }
  for (workgroup::Schedule& schedule : all) schedule.seed += number;
  return all;
}

class GroupReduceMatrix : public testing::TestWithParam<Fold> {};

TEST_P(GroupReduceMatrix, IsRightInAnyInterleaving) {
  const uop::Target target = target_of_groups();
  size_t ran = 0;
  size_t refused = 0;
  std::optional<OneKernel> one;
  tensor::Program program;
  for (const FoldCase& c : cases_of(GetParam())) {
    const std::string text = statements(c, "");
    SCOPED_TRACE(text.substr(0, 400) + c.opts());
    if (!c.upcasts && !c.unrolls) {
      one.reset();
      program = parsed(text);
      one.emplace(program);
    }
    const Result<Ref> linear = lowered(one->graph(), one->kernel, c, target);
    if (!c.is_legal()) {
      ASSERT_FALSE(linear.ok());
      const std::string items =
          fmt::format("{} work-items when a group has {} at most", c.group * kSecond, kMostItems);
      ASSERT_NE(linear.error().message.find(items), std::string::npos) << linear.error().message;
      ++refused;
      continue;
    }
    ASSERT_TRUE(linear.ok()) << linear.error().message;
    const auto barriers =
        std::ranges::count_if(linear.value()->src, [](Ref u) { return u->op == uop::Op::Barrier; });
    ASSERT_EQ(barriers, 1);
    for (const workgroup::Schedule& schedule : schedules_of(c, ran)) {
      ASSERT_EQ(one->trouble(linear.value(), schedule, target), "") << schedule.name;
    }
    ++ran;
  }
  EXPECT_EQ(ran, kFoldCases - kIllegalFolds);
  EXPECT_EQ(refused, kIllegalFolds);
}

INSTANTIATE_TEST_SUITE_P(Folds, GroupReduceMatrix, testing::ValuesIn(kFolds),
                         [](const auto& fold) { return std::string(fold.param.op); });

// What stands in for padding is something else than the unit.
Ref with_wrong_unit(uop::Graph& g, Ref where) {
  if (where->src[2]->op != uop::Op::Const) return where;
  const bool is_highest = where->src[2]->value() == uop::highest(where->dtype);
  const Ref wrong = g.constant(where->dtype, is_highest ? 0 : where->dtype == uop::Bool ? 1 : 2);
  const Ref src[] = {where->src[0], where->src[1], wrong};
  return g.make(where->op, where->dtype, src);
}

TEST_P(GroupReduceMatrix, ShowsWhatIsSpoilt) {
  const uop::Target target = target_of_groups();
  NodeSpoiler no_barrier("pm_implicit_barriers", uop::Op::Barrier, first_source);
  NodeSpoiler wrong_unit("pm_reduce_local", uop::Op::Where, with_wrong_unit);
  for (const FoldCase& c : cases_of(GetParam())) {
    if (c.type != uop::I32 || c.group != 4 || !c.pads) continue;
    const tensor::Program program = parsed(statements(c, ""));
    SCOPED_TRACE(c.opts());
    OneKernel one(program);
    const auto trouble = [&](uop::Watch& watch) {
      const Result<Ref> linear = lowered(one.graph(), one.kernel, c, target, &watch);
      return linear.ok() ? one.trouble(linear.value(), {}, target) : linear.error().message;
    };
    EXPECT_NE(trouble(no_barrier).find("race"), std::string::npos) << trouble(no_barrier);
    EXPECT_NE(trouble(wrong_unit).find("worst"), std::string::npos) << trouble(wrong_unit);
  }
}

// Gives kernels their lists, one after the other.
class Lists : public uop::Watch {
 public:
  explicit Lists(std::span<const FoldCase> cases) : cases_(cases) {}
  bool edits() const override { return true; }
  Ref edit(std::string_view stage, uop::Graph& g, Ref u) override {
    if (stage != "load_collapse" || next_ == cases_.size()) return u;
    const auto opts = codegen::opts_from_text(cases_[next_++].opts());
    return codegen::with_opts(g, u, opts.value());
  }
  bool are_all_used() const { return next_ == cases_.size(); }

 private:
  std::span<const FoldCase> cases_;
  size_t next_ = 0;
};

// One in so many of the legal cases, or all of them where ASSAY_WHOLE is set: minutes.
TEST(GroupReduceSample, IsRightOnPocl) {
  constexpr size_t kOneIn = 293;
  constexpr size_t kAtOnce = 48;  // kernels of a program
  const size_t step = std::getenv("ASSAY_WHOLE") == nullptr ? kOneIn : 1;
  std::vector<FoldCase> sample;
  size_t number = 0;
  for (const Fold& fold : kFolds) {
    for (const FoldCase& c : cases_of(fold)) {
      if (c.is_legal() && number++ % step == 0) sample.push_back(c);
    }
  }
  EXPECT_EQ(number, std::size(kFolds) * (kFoldCases - kIllegalFolds));
  const std::array<const runtime::DeviceKind*, 1> kinds = {&runtime::opencl::opencl_kind()};
  runtime::Devices devices(kinds);
  const auto device = devices.open("cl:pocl-basic");
  if (!device.ok()) GTEST_SKIP() << device.error().message;
  runtime::Executor executor(devices);
  for (size_t first = 0; first < sample.size(); first += kAtOnce) {
    const auto part = std::span(sample).subspan(first, std::min(kAtOnce, sample.size() - first));
    std::string text;
    for (size_t i = 0; i < part.size(); ++i) text += statements(part[i], std::to_string(i));
    Lists lists(part);
    CheckOptions how;
    how.tensor_graph = how.kernels = how.planned = false;
    how.executor = &executor;
    how.device = "cl:pocl-basic";
    how.schedule.watch = &lists;
    const Checked checked = check(parsed(text), how);
    EXPECT_EQ(checked.verdict.answer, Answer::Pass) << checked.verdict.evidence;
    EXPECT_EQ(checked.kernels, static_cast<int>(part.size()));
    EXPECT_TRUE(lists.are_all_used());
  }
}

}  // namespace
}  // namespace assay::oracles
