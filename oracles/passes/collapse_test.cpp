// A fold of which one iteration counts is that iteration, bit by bit.
#include <gtest/gtest.h>

#include <cstring>

#include "engine/codegen/load_collapse.h"
#include "engine/uop/dim.h"
#include "engine/uop/eval.h"
#include "engine/uop/sample.h"
#include "engine/uop/text.h"
#include "engine/uop/walk.h"
#include "oracles/interpreter/lowered.h"
#include "oracles/passes/judge.h"

namespace assay::oracles {
namespace {

using uop::DType;
using uop::Graph;
using uop::Op;
using uop::Ref;

constexpr int64_t kRows = 7;
constexpr int64_t kCount = 12;

// p0[r0] = fold over r1 of where(r1 names what p1[r0] says, p2[r1, r0], unit), with one more
// condition now and then.
Ref random_pick(Graph& g, uop::Random& random) {
  const auto range = [&](int64_t n, int number, uop::AxisType type) {
    return g.make(Op::Range, uop::Index, {uop::dim(g, n)}, uop::Arg::axis(number, type));
  };
  const auto param = [&](int slot, DType t, int64_t n, Ref at) {
    const Ref p = g.make(Op::Param, t, {uop::dim(g, n)}, uop::Arg::number(slot));
    return g.make(Op::Index, t, {p, at});
  };
  const Ref i = range(kRows, 0, uop::AxisType::Weak);
  const Ref r = range(kCount, 1, uop::AxisType::Reduce);
  constexpr DType kNames[] = {uop::I8, uop::U8, uop::I32, uop::U32, uop::I64, uop::Index};
  constexpr DType kValues[] = {uop::F32, uop::F16,  uop::I32, uop::U8,
                               uop::I64, uop::BF16, uop::F64, uop::Bool};
  constexpr Op kFolds[] = {Op::Add, Op::Mul, Op::Max, Op::Min, Op::Or, Op::And, Op::Xor};
  const DType name = kNames[random.below(std::size(kNames))];
  const DType t = kValues[random.below(std::size(kValues))];
  Op fold = Op::Max;
  do fold = kFolds[random.below(std::size(kFolds))];
  while (!uop::info(fold).over.has(t));

  const Ref step = uop::dim(g, random.once_in(2) ? 1 : -1);
  const Ref shift = uop::dim(g, static_cast<int64_t>(random.below(9)) - 4);
  const Ref scaled = g.alu(Op::Mul, {r, step});
  const Ref shifted = g.alu(Op::Add, {scaled, shift});
  const Ref base = random.once_in(3) ? r : shifted;
  const Ref left = name == uop::Index ? base : g.make(Op::Cast, name, {base});
  const Ref right = name == uop::Index ? i : param(1, name, kRows, i);
  Ref condition = random.once_in(2) ? g.alu(Op::Eq, {left, right}) : g.alu(Op::Eq, {right, left});
  if (random.once_in(3)) {
    const Ref end = uop::dim(g, static_cast<int64_t>(random.below(kCount)));
    const Ref below = g.alu(Op::Lt, {r, end});
    condition = g.alu(Op::And, {below, condition});
  }
  const Ref row = g.alu(Op::Mul, {r, uop::dim(g, kRows)});
  const Ref at = g.alu(Op::Add, {row, i});
  const Ref x = param(2, t, kRows * kCount, at);
  const Ref unit = g.constant(uop::unit_of(fold, t));
  const Ref one = g.make(Op::Where, t, {condition, x, unit});
  const Ref all = g.make(Op::Reduce, t, {one, r}, uop::Arg::fold(fold, 0));
  const Ref store = g.make(Op::Store, uop::Void, {param(0, t, kRows, i), all});
  const Ref end = g.make(Op::End, uop::Void, {store, i});
  return g.make(Op::Sink, uop::Void, {end}, g.info("r", {}));
}

// Positions about the range's ends, and values of all kinds.
KernelInputs nasty_inputs(Graph& g, Ref kernel, uop::Random& random) {
  KernelInputs inputs;
  inputs.arguments.resize(3);
  for (const Ref u : uop::toposort(g, kernel)) {
    if (u->op != Op::Param) continue;
    const auto width = static_cast<size_t>(uop::bytes_of(u->dtype));
    const auto count = static_cast<size_t>(u->src[0]->arg.bits);
    std::vector<std::byte>& bytes = inputs.arguments[static_cast<size_t>(u->arg.number())];
    bytes.resize(width * count);
    for (size_t k = 0; k < count; ++k) {
      const bool is_position = u->arg.number() == 1 && !random.once_in(4);
      const uop::Value v = is_position ? uop::of_int(u->dtype, random.between(-2, kCount + 1))
                                       : uop::any_value(random, u->dtype);
      std::memcpy(&bytes[k * width], &v.bits, width);
    }
  }
  return inputs;
}

Result<std::vector<std::byte>> stored(Graph& g, Ref kernel, KernelInputs inputs) {
  std::vector<interpreter::Argument> arguments(inputs.arguments.size());
  for (size_t k = 0; k < arguments.size(); ++k) {
    arguments[k] = {inputs.arguments[k], uop::U8, 0, true, static_cast<int64_t>(k)};
  }
  for (const Ref u : uop::toposort(g, kernel)) {
    if (u->op != Op::Param) continue;
    interpreter::Argument& a = arguments[static_cast<size_t>(u->arg.number())];
    a.dtype = u->dtype;
    a.size = static_cast<int64_t>(a.bytes.size()) / uop::bytes_of(u->dtype);
  }
  const auto ran = interpreter::run_kernel(g, kernel, arguments, {});
  if (!ran.ok()) return ran.error();
  return inputs.arguments[0];
}

TEST(LoadCollapse, GivesTheSameBits) {
  int collapsed = 0;
  for (uint64_t seed = 0; seed < 3'000; ++seed) {
    Graph g;
    uop::Random random(seed);
    const Ref kernel = random_pick(g, random);
    const KernelInputs inputs = nasty_inputs(g, kernel, random);
    uop::Run run(g);
    const Result<Ref> after = uop::run_pass(codegen::load_collapse(), run, kernel);
    ASSERT_TRUE(after.ok()) << to_string(after.error());
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + uop::to_text(g, kernel, "before") +
                 uop::to_text(g, after.value(), "after"));
    const auto want = stored(g, kernel, inputs);
    const auto got = stored(g, after.value(), inputs);
    ASSERT_TRUE(want.ok()) << to_string(want.error());
    ASSERT_TRUE(got.ok()) << to_string(got.error());
    ASSERT_EQ(got.value(), want.value());
    collapsed += after.value() != kernel ? 1 : 0;
  }
  EXPECT_GT(collapsed, 2'000);
}

}  // namespace
}  // namespace assay::oracles
