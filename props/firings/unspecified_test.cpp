// What the numeric contract leaves open before a pass may be anything after it, and nothing else
// may; what cannot be run is unknown.
#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "engine/uop/pass.h"
#include "props/firings/passes.h"
#include "props/firings/tensor_run.h"
#include "props/firings/test_context.h"

namespace assay::props {
namespace {

using uop::Arg;
using uop::DType;
using uop::Graph;
using uop::Op;
using uop::Ref;

constexpr int64_t kCount = 64;

// Terms over elements of two arguments, of which some are zero.
struct Quotients {
  Graph& g;
  Ref top;
  Ref bottom;

  Ref number(int64_t n) const { return g.constant(top->dtype, n); }
  Ref quotient() const { return g.alu(Op::Div, {top, bottom}); }
  Ref is_defined() const { return g.alu(Op::Ne, {bottom, number(0)}); }
  Ref picked(Ref otherwise) const {
    const Ref condition = is_defined();
    const Ref value = quotient();
    return g.alu(Op::Where, {condition, value, otherwise});
  }
  Ref less(Ref a, int64_t n) const { return g.alu(Op::Lt, {a, number(n)}); }
};
using QuotientTerm = std::function<Ref(const Quotients&)>;

// A kernel that stores the term of each element.
Ref kernel_of(Graph& g, const QuotientTerm& term) {
  const Ref n = g.constant(DType::Index, kCount);
  const Ref r = g.make(Op::Range, DType::Index, {n}, Arg::axis(0, uop::AxisType::Weak));
  const auto element = [&](int64_t slot, DType t) {
    const Ref param = g.make(Op::Param, t, {n}, Arg::number(slot));
    return g.make(Op::Index, t, {param, r});
  };
  const Ref top = element(1, DType::I32);
  const Ref bottom = element(2, DType::I32);
  const Ref value = term({g, top, bottom});
  const Ref to = element(0, value->dtype);
  const Ref store = g.make(Op::Store, DType::Void, {to, value});
  const Ref end = g.make(Op::End, DType::Void, {store, r});
  return g.make(Op::Sink, DType::Void, {end}, g.info("k", {}));
}

Checked kernel_change(const QuotientTerm& before, const QuotientTerm& after) {
  static const uop::Pass pass = {
      .name = "changes", .accepts = uop::graph_spec(), .yields = uop::graph_spec(), .rules = {}};
  Graph g;
  TestContext with;
  const Ref first = kernel_of(g, before);
  const Ref second = kernel_of(g, after);
  const std::optional<std::string> breach;
  return pass_keeps_meaning({pass, g, first, second, 0, breach}, with.context);
}

Outcome tensor_change(const QuotientTerm& before, const QuotientTerm& after) {
  Graph g;
  TestContext with;
  const Ref n = g.constant(DType::Index, kCount);
  const Ref top = g.make(Op::Param, DType::I32, {n}, Arg::number(0));
  const Ref bottom = g.make(Op::Param, DType::I32, {n}, Arg::number(1));
  const Quotients terms = {g, top, bottom};
  const Ref first = before(terms);
  return judge_tensors(g, first, after(terms), with.context);
}

struct OpenChange {
  const char* name;
  QuotientTerm before;
  QuotientTerm after;
  Answer answer;
};

Ref open_quotient(const Quotients& t) { return t.quotient(); }

const OpenChange kChanges[] = {
    {"an_open_element_becomes_a_number", open_quotient,
     [](const Quotients& t) { return t.picked(t.number(7)); }, Answer::Pass},
    {"what_is_computed_from_it_is_open_too",
     [](const Quotients& t) {
       const Ref sum = t.g.alu(Op::Add, {t.quotient(), t.top});
       return t.less(sum, 3);
     },
     [](const Quotients& t) {
       const Ref sum = t.g.alu(Op::Add, {t.picked(t.number(-9)), t.top});
       return t.less(sum, 3);
     },
     Answer::Pass},
    {"all_others_are_compared", open_quotient,
     [](const Quotients& t) { return t.g.alu(Op::Add, {t.quotient(), t.number(1)}); },
     Answer::Fail},
    {"all_others_are_compared_where_it_is_picked", open_quotient,
     [](const Quotients& t) {
       const Ref small = t.less(t.bottom, -2);
       return t.g.alu(Op::Where, {small, t.number(0), t.picked(t.number(7))});
     },
     Answer::Fail},
    {"a_number_becomes_open", [](const Quotients& t) { return t.top; },
     [](const Quotients& t) {
       const Ref back = t.g.alu(Op::Mul, {t.quotient(), t.bottom});
       const Ref rest = t.g.alu(Op::Mod, {t.top, t.bottom});
       return t.g.alu(Op::Add, {back, rest});
     },
     Answer::Fail},
    // With the usual poison the comparison is what was there.
    {"a_number_becomes_open_unseen",
     [](const Quotients& t) { return t.g.alu(Op::Lt, {t.picked(t.number(-100)), t.number(5)}); },
     [](const Quotients& t) { return t.g.alu(Op::Lt, {t.quotient(), t.number(5)}); }, Answer::Fail},
    {"a_shift_past_the_width",
     [](const Quotients& t) { return t.g.alu(Op::Shl, {t.top, t.bottom}); },
     [](const Quotients& t) {
       const Ref is_below = t.less(t.bottom, 32);
       const Ref is_not_negative = t.g.alu(Op::Lt, {t.number(-1), t.bottom});
       const Ref is_within = t.g.alu(Op::And, {is_below, is_not_negative});
       const Ref shifted = t.g.alu(Op::Shl, {t.top, t.bottom});
       return t.g.alu(Op::Where, {is_within, shifted, t.number(0)});
     },
     Answer::Pass},
};

class Unspecified : public testing::TestWithParam<OpenChange> {};

TEST_P(Unspecified, IsToldApartInKernels) {
  const OpenChange& change = GetParam();
  const Checked checked = kernel_change(change.before, change.after);
  EXPECT_EQ(checked.verdict.answer, change.answer) << checked.verdict.evidence;
}

TEST_P(Unspecified, IsToldApartInTensors) {
  const OpenChange& change = GetParam();
  const Outcome outcome = tensor_change(change.before, change.after);
  EXPECT_EQ(outcome.verdict.answer, change.answer) << outcome.verdict.evidence;
}

INSTANTIATE_TEST_SUITE_P(Changes, Unspecified, testing::ValuesIn(kChanges),
                         [](const auto& test) { return std::string(test.param.name); });

// A form that the interpreter has no meaning for shows nothing; a fault of what it runs does.
TEST(TensorsThatCannotBeRun, AreUnknown) {
  const Outcome outcome =
      tensor_change([](const Quotients& t) { return t.top; },
                    [](const Quotients& t) { return t.g.make(Op::Load, DType::I32, {t.top}); });
  EXPECT_EQ(outcome.verdict.answer, Answer::Unknown);
  EXPECT_EQ(outcome.method, "not run");
  EXPECT_NE(outcome.verdict.evidence.find("the second cannot be run: "), std::string::npos)
      << outcome.verdict.evidence;
}

TEST(TensorsThatCannotBeRun, FailWhereTheyReadOutside) {
  Graph g;
  TestContext with;
  const Ref n = g.constant(DType::Index, kCount);
  const auto version = [&](int64_t first) {
    const Ref r = g.make(Op::Range, DType::Index, {n}, Arg::axis(0, uop::AxisType::Weak));
    const Ref out = g.make(Op::Param, DType::I32, {n}, Arg::number(0));
    const Ref in = g.make(Op::Param, DType::I32, {n}, Arg::number(1));
    const Ref place = g.alu(Op::Add, {r, g.constant(DType::Index, first)});
    const Ref to = g.make(Op::Index, DType::I32, {out, r});
    const Ref from = g.make(Op::Index, DType::I32, {in, place});
    const Ref store = g.make(Op::Store, DType::Void, {to, from});
    const Ref end = g.make(Op::End, DType::Void, {store, r});
    const Ref kernel = g.make(Op::Sink, DType::Void, {end}, g.info("k", {}));
    const Ref call = g.make(Op::Call, DType::Void, {kernel, out, in}, g.info("", {}));
    return g.make(Op::After, DType::I32, {out, call});
  };
  const Ref right = version(0);
  const Outcome outcome = judge_tensors(g, right, version(1), with.context);
  EXPECT_EQ(outcome.verdict.answer, Answer::Fail);
  EXPECT_NE(outcome.verdict.evidence.find("reads element 64"), std::string::npos)
      << outcome.verdict.evidence;
}

}  // namespace
}  // namespace assay::props
