// Terms as solvers see them, against the engine's evaluator, at every type and in every view.
#include "oracles/smt/encode.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "engine/uop/eval.h"
#include "engine/uop/prefix.h"
#include "engine/uop/sample.h"
#include "oracles/smt/evaluate.h"

namespace assay::smt {
namespace {

using uop::Cell;
using uop::DType;
using uop::Graph;
using uop::Op;
using uop::OpSet;
using uop::Random;
using uop::Ref;
using uop::TypeSet;
using uop::Value;

// A random term of few operations, of type t.
class RandomTerm {
 public:
  RandomTerm(Graph& g, Random& random, OpSet ops) : g_(g), random_(random), ops_(ops) {}

  Ref make(DType t, int depth) {
    if (depth == 0 || random_.once_in(5)) return leaf(t);
    if (random_.once_in(6)) {
      const Ref c = make(uop::Bool, depth - 1);
      const Ref a = make(t, depth - 1);
      const Ref b = make(t, depth - 1);
      return g_.alu(Op::Where, {c, a, b});
    }
    for (int tries = 0; tries < 40; tries++) {
      const Op op = static_cast<Op>(random_.below(uop::kOpCount));
      if (!ops_.has(op) || op == Op::Where) continue;
      if (const Ref u = apply(op, t, depth)) return u;
    }
    return leaf(t);
  }

 private:
  Ref apply(Op op, DType t, int depth) {
    const uop::OpInfo& o = uop::info(op);
    DType operand = t;
    if (o.typing == uop::Typing::Compare) {
      if (t != uop::Bool) return nullptr;
      operand = any_type(o.over);
    } else if (o.typing == uop::Typing::Convert) {
      operand = any_type(uop::kScalars);
    } else if (!o.over.has(t)) {
      return nullptr;
    }
    std::vector<Ref> sources;
    for (int i = 0; i < o.min_sources; i++) sources.push_back(make(operand, depth - 1));
    return g_.make(op, t, sources);
  }

  DType any_type(TypeSet types) {
    DType t = DType::Void;
    while (!types.has(t)) t = DType(random_.below(uop::kDTypeCount));
    return t;
  }

  Ref leaf(DType t) {
    if (random_.once_in(3)) return g_.constant(uop::any_value(random_, t));
    if (random_.once_in(12)) return g_.make(Op::Invalid, t, {});
    const std::string name = fmt::format("{}{}", uop::to_text(t), random_.below(3));
    if (!uop::is_int(t) || random_.once_in(2)) return g_.variable(name, t);
    return g_.variable(name + "b", uop::of_int(t, 0), uop::of_int(t, 100));
  }

  Graph& g_;
  Random& random_;
  OpSet ops_;
};

OpSet all_scalar_ops() {
  OpSet set;
  for (int i = 0; i < uop::kOpCount; i++) {
    if (uop::is_scalar(static_cast<Op>(i))) set.insert(static_cast<Op>(i));
  }
  return set;
}

Value leaf_value(Ref u, Random& random) {
  const auto ends = u->arg.numbers();
  if (ends.empty()) return uop::any_value(random, u->dtype);
  return uop::of_int(u->dtype, uop::Int128{random.below(101)});
}

Number as_number(Value v, Sort sort) {
  if (sort.kind == Sort::Kind::Int) return {uop::as_int(v)};
  if (sort.kind != Sort::Kind::Bits) return {Int128{v.bits}};
  const uint64_t mask = sort.bits == 64 ? ~uint64_t{0} : (uint64_t{1} << sort.bits) - 1;
  return {Int128{v.bits & mask}};
}

// How often an encoding could be compared, and whether it was always what the evaluator says.
struct Compared {
  int points = 0;
  int fitting = 0;
  std::string wrong;
};

void compare(Graph& g, Ref u, View view, Random& random, Compared& result) {
  Formula f;
  Encoder encoder(g, f, view);
  const std::optional<Encoded> is = encoder.encode(u);
  if (!is) return;
  uop::Evaluator evaluator(g, u);
  for (int n = 0; n < 8; n++) {
    std::vector<Value> values;
    std::vector<Number> numbers(f.variables().size());
    for (const Ref leaf : evaluator.leaves()) {
      values.push_back(leaf_value(leaf, random));
      for (const Encoder::Leaf& l : encoder.leaves()) {
        if (l.u != leaf) continue;
        const auto place = static_cast<size_t>(f.node(l.is.value).payload);
        numbers[place] = as_number(values.back(), f.sort(l.is.value));
      }
    }
    const Cell cell = evaluator.run(values);
    Term same = cell.defined() ? is->is_defined : f.no(is->is_defined);
    if (cell.defined()) same = f.both(same, f.equal(is->value, encoder.number(cell.value)));
    const bool is_invalid = cell.state == Cell::State::Invalid;
    same = f.both(same, is_invalid ? is->is_invalid : f.no(is->is_invalid));
    f.keep(0);
    f.require(is->fits);
    const auto fits = Evaluation(f).holds(numbers);
    f.require(same);
    const auto holds = Evaluation(f).holds(numbers);
    if (!fits || !holds) continue;
    result.points++;
    result.fitting += *fits ? 1 : 0;
    if (*holds || !*fits) continue;
    result.wrong = fmt::format("{}", uop::to_prefix(g, u).value());
    for (size_t i = 0; i < values.size(); i++) {
      result.wrong += fmt::format(" {}={}", evaluator.leaves()[i]->arg.name(), to_text(values[i]));
    }
    result.wrong += cell.defined() ? fmt::format(" is {}", to_text(cell.value)) : " has no value";
    return;
  }
}

class EveryType : public testing::TestWithParam<std::tuple<DType, View>> {};

TEST_P(EveryType, IsEncodedAsItIsEvaluated) {
  const auto [t, view] = GetParam();
  Random random(17 + static_cast<uint64_t>(t));
  Compared compared;
  for (int n = 0; n < 1500 && compared.wrong.empty(); n++) {
    Graph g;
    const Ref u = RandomTerm(g, random, all_scalar_ops()).make(t, 1 + int(random.below(3)));
    compare(g, u, view, random, compared);
  }
  EXPECT_EQ(compared.wrong, "");
  EXPECT_GT(compared.points, 500);
  EXPECT_GT(compared.fitting, 300);
}

std::string type_and_view(const testing::TestParamInfo<std::tuple<DType, View>>& c) {
  const char* view = std::get<1>(c.param) == View::AtWidth ? "AtWidth" : "Integers";
  return fmt::format("{}_{}", uop::to_text(std::get<0>(c.param)), view);
}

std::vector<DType> all_types() {
  std::vector<DType> all;
  for (int i = 0; i < uop::kDTypeCount; i++) {
    if (uop::kScalars.has(DType(i))) all.push_back(DType(i));
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Encode, EveryType,
                         testing::Combine(testing::ValuesIn(all_types()),
                                          testing::Values(View::AtWidth, View::Integers)),
                         type_and_view);

TEST(Encode, TakesALeafForWhatItMayBe) {
  Graph g;
  Formula f;
  Encoder encoder(g, f, View::Integers);
  const Ref n = g.variable("n", uop::of_int(uop::Index, 1), uop::of_int(uop::Index, 9));
  const Ref r = g.make(Op::Range, uop::Index, {n}, uop::Arg::axis(0, uop::AxisType::Loop));
  const std::optional<Encoded> is = encoder.encode(r);
  ASSERT_TRUE(is.has_value());
  EXPECT_EQ(encoder.leaves().size(), 2U);
  EXPECT_FALSE(encoder.facts().empty());
  EXPECT_TRUE(f.is_true(is->is_defined));
  EXPECT_TRUE(f.is_false(is->is_invalid));
}

TEST(Encode, NamesWhatItHasNoMeaningFor) {
  Graph g;
  Formula f;
  Encoder encoder(g, f, View::Integers);
  const Ref x = g.variable("x", uop::Index);
  const Ref y = g.variable("y", uop::Index);
  EXPECT_FALSE(encoder.encode(g.alu(Op::Xor, {x, y})).has_value());
  EXPECT_EQ(encoder.why(), "xor at index");
}

TEST(Encode, DoesNotRecurse) {
  Graph g;
  Formula f;
  Encoder encoder(g, f, View::AtWidth);
  Ref u = g.variable("x", uop::I32);
  const Ref one = g.constant(uop::I32, 3);
  for (int i = 0; i < 200'000; i++) u = g.alu(i % 2 == 0 ? Op::Mul : Op::Xor, {u, one});
  EXPECT_TRUE(encoder.encode(u).has_value());
}

}  // namespace
}  // namespace assay::smt
