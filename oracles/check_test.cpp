// The judge is seen to fail: faults planted where a watch may edit, each found by the stage that
// first computes with it.
#include "oracles/check.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "engine/schedule/calls.h"
#include "engine/tensor/program/text.h"
#include "engine/uop/walk.h"
#include "engine/uop/watch.h"

namespace assay::oracles {
namespace {

using uop::Graph;
using uop::Op;
using uop::Ref;

// Puts `fault(g, u)` in the place of what one stage makes.
class Fault : public uop::Watch {
 public:
  using Edit = Ref (*)(Graph& g, Ref u);
  Fault(std::string_view stage, Edit fault) : stage_(stage), fault_(fault) {}

  Ref edit(std::string_view stage, Graph& g, Ref u) override {
    return stage == stage_ ? fault_(g, u) : u;
  }
  bool edits() const override { return true; }

 private:
  std::string_view stage_;
  Edit fault_;
};

Checked checked(std::string_view text, uop::Watch* watch = nullptr) {
  const Result<tensor::Program> program = tensor::from_text(text);
  EXPECT_TRUE(program.ok()) << to_string(program.error());
  CheckOptions options;
  options.schedule.watch = watch;
  return check(program.value(), options);
}

std::string verdict(std::string_view text, uop::Watch* watch = nullptr) {
  const Checked c = checked(text, watch);
  return c.verdict.answer == Answer::Pass ? "pass" : c.verdict.evidence;
}

bool fails_at(std::string_view stage, std::string_view text, Fault fault) {
  const std::string found = verdict(text, &fault);
  return found.find(fmt::format("at stage {}:", stage)) != std::string::npos;
}

// Every node of this operation replaced.
Ref replaced(Graph& g, Ref root, Op op, Ref (*by)(Graph& g, Ref u)) {
  uop::Substitution map;
  for (const Ref u : uop::toposort(g, root)) {
    if (u->op == op) map[u] = by(g, u);
  }
  return uop::substitute(g, root, map);
}

// The calls in an order without this kind of edge, the last call first where that was all that
// held it.
Ref without_edges(Graph& g, Ref linear, schedule::EdgeKind kind) {
  std::vector<schedule::Edge> edges = schedule::edges_of(linear).value();
  std::erase_if(edges, [&](const schedule::Edge& e) { return e.kind == kind; });
  return schedule::make_linear(g, linear->src, edges);
}

constexpr std::string_view kSumText =
    "tp 1\na: f32[64] = input(random=uniform, seed=1, low=0.5, high=1)\ns: f32[] = sum(a)\n"
    "e: f32[64] = exp2(a)\nforce s, e\n";

TEST(Check, PassesWhatIsRight) {
  EXPECT_EQ(verdict(kSumText), "pass");
  EXPECT_EQ(checked(kSumText).judged.size(), 6U);
}

TEST(Check, FindsOneSumDoneInHalfPrecision) {
  const auto in_half = [](Graph& g, Ref root) {
    return replaced(g, root, Op::Reduce, [](Graph& h, Ref u) {
      const Ref half = h.make(Op::Cast, uop::F16, {u});
      return h.make(Op::Cast, u->dtype, {half});
    });
  };
  EXPECT_TRUE(fails_at("kernels", kSumText, Fault("linear", in_half)));
}

TEST(Check, FindsASumThatLosesATerm) {
  const auto loses_one = [](Graph& g, Ref root) {
    return replaced(g, root, Op::Reduce, [](Graph& h, Ref u) {
      const Ref last = h.constant(uop::Index, 63);
      const Ref before = h.alu(Op::Lt, {u->src[1], last});
      const Ref term = h.alu(Op::Where, {before, u->src[0], h.constant(u->dtype, 0)});
      return h.make(Op::Reduce, u->dtype, {term, u->src[1]}, u->arg);
    });
  };
  EXPECT_TRUE(fails_at("kernels", kSumText, Fault("linear", loses_one)));
}

TEST(Check, FindsAFunctionOffByThreeTimesItsLimit) {
  const auto off = [](Graph& g, Ref root) {
    return replaced(g, root, Op::Exp2, [](Graph& h, Ref u) {
      const Ref factor = h.constant(uop::of_double(uop::F32, 1 + 16 * 0x1p-23));
      return h.alu(Op::Mul, {u, factor});
    });
  };
  EXPECT_TRUE(fails_at("kernels", kSumText, Fault("linear", off)));
}

TEST(Check, FindsAReaderThatNoEdgeHoldsBack) {
  // In the list's own order all is well; in another one that the edges allow, it is not.
  constexpr std::string_view kText =
      "tp 1\nx: f32[4] = input(data=[1])\ny: f32[4] = add(x, 10)\nt: f32[4] = mul(x, 2)\n"
      "z: f32[4] = contiguous(t)\nx := z\nforce y, x\n";
  Fault fault("planned", [](Graph& g, Ref linear) {
    return without_edges(g, linear, schedule::EdgeKind::War);
  });
  const Result<tensor::Program> program = tensor::from_text(kText);
  CheckOptions options;
  EXPECT_EQ(check(program.value(), options).verdict.answer, Answer::Pass);
  options.schedule.watch = &fault;
  int found = 0;
  for (options.seed = 1; options.seed <= 20; ++options.seed) {
    found += check(program.value(), options).verdict.answer == Answer::Fail ? 1 : 0;
  }
  EXPECT_GT(found, 0);
}

TEST(Check, FindsAFaultOfTheTensorGraph) {
  const auto wrong = [](Graph& g, Ref root) {
    return replaced(g, root, Op::Exp2, [](Graph& h, Ref u) { return h.alu(Op::Neg, {u}); });
  };
  EXPECT_TRUE(fails_at("kernels", kSumText, Fault("tensor", wrong)));
}

TEST(Check, HoldsAProgramToWhatItExpects) {
  constexpr std::string_view kText = "tp 1\na: i32[2] = input(data=[1, 2])\nb: i32[2] = neg(a)\n";
  EXPECT_EQ(verdict(fmt::format("{}expect b = [-1, -2]\n", kText)), "pass");
  EXPECT_NE(verdict(fmt::format("{}expect b = [-1, 2]\n", kText)).find("at stage expect"),
            std::string::npos);
  EXPECT_EQ(verdict(fmt::format("{}expect b = [-1, _]\n", kText)), "pass");
}

TEST(Check, ARefusalPassesOnlyWhereItIsExpected) {
  constexpr std::string_view kText = "tp 1\na: i32[2] = input(data=[1, 2])\nb: i32[3] = neg(a)\n";
  EXPECT_NE(verdict(kText).find("malformed: 3:"), std::string::npos);
  EXPECT_EQ(verdict(fmt::format("{}expect error \"the written shape is [3]\"\n", kText)), "pass");
  EXPECT_NE(verdict(fmt::format("{}expect error \"cycle\"\n", kText)).find("another error"),
            std::string::npos);
  EXPECT_NE(verdict("tp 1\na: i32[1] = input(data=[1])\nexpect error \"x\"\n").find("found none"),
            std::string::npos);
}

TEST(Check, ProgramsWithNothingToForcePass) {
  EXPECT_EQ(verdict("tp 1\n"), "pass");
  EXPECT_EQ(verdict("tp 1\na: f32[0, 3] = full(value=1)\nb: f32[0] = sum(a, axes=[1])\n"), "pass");
}

}  // namespace
}  // namespace assay::oracles
