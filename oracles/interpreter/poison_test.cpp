#include "oracles/interpreter/poison.h"

#include <gtest/gtest.h>

#include <array>

#include "oracles/interpreter/interpreter.h"

namespace assay::interpreter {
namespace {

using uop::Op;
using uop::Ref;

// What a term of these two numbers is, as bytes.
struct OpenTerm {
  uop::Graph g;
  Ref term = nullptr;

  OpenTerm(Op op, int64_t a, int64_t b) {
    const Ref left = g.constant(uop::I32, a);
    const Ref right = g.constant(uop::I32, b);
    const Ref three = g.constant(uop::I32, 3);
    const Ref open = g.make(op, uop::I32, {left, right});
    term = g.make(Op::Min, uop::I32, {open, three});
  }
  Storages run() {
    Memory memory;
    return {evaluate(g, std::span(&term, 1), {}, memory).value()[0].bytes};
  }
  bool is_open() {
    const auto marks = unspecified_bytes(run(), [&]() -> Result<Storages> { return run(); });
    return marks.value()[0][0];
  }
};

TEST(Poison, TellsWhatDependsOnIt) {
  EXPECT_TRUE(OpenTerm(Op::Div, 7, 0).is_open());
  EXPECT_TRUE(OpenTerm(Op::Mod, 7, 0).is_open());
  EXPECT_TRUE(OpenTerm(Op::Shl, 7, 32).is_open());
  EXPECT_TRUE(OpenTerm(Op::Shr, 7, -1).is_open());
  EXPECT_TRUE(OpenTerm(Op::Pow, 0, -1).is_open());
  EXPECT_FALSE(OpenTerm(Op::Div, 7, 2).is_open());
  EXPECT_FALSE(OpenTerm(Op::Shl, 7, 31).is_open());
}

TEST(Poison, IsTheUsualOneAgainAfterwards) {
  OpenTerm quotient(Op::Div, 7, 0);
  const Storages usual = quotient.run();
  {
    const PoisonScope other(1);
    EXPECT_NE(quotient.run(), usual);
  }
  EXPECT_EQ(quotient.run(), usual);
}

TEST(Faults, AreWhatIsReadOrWrittenWhereItMustNotBe) {
  EXPECT_TRUE(is_fault({"kernel 'k': reads element 9 of argument 1 (buffer 3), which holds 8"}));
  EXPECT_TRUE(is_fault({"call 2: kernel 'k: l': writes element 9 of argument 0"}));
  EXPECT_FALSE(is_fault({"end is no value of a tensor graph"}));
  EXPECT_FALSE(is_fault({"kernel 'reads all': range 3 has no END"}));
}

}  // namespace
}  // namespace assay::interpreter
