// Public bugs of arithmetic, casts and folding of values.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/uop/bounds.h"
#include "engine/uop/bug_check.h"

namespace assay::uop {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

std::vector<Value> floats(std::initializer_list<float> values) {
  std::vector<Value> all;
  for (const float x : values) all.push_back(std::isnan(x) ? nan_of(F32) : of_double(F32, x));
  return all;
}

// A right value worked out by the machine's own f32.
template <typename F>
Right of_floats(F f) {
  return [f](std::span<const Value> values) -> std::optional<Value> {
    std::vector<float> v;
    for (const Value& value : values) v.push_back(static_cast<float>(as_double(value)));
    return floats({f(v)})[0];
  };
}

// Folds a comparison of a cast with a constant by bounds that were not rounded.
Ref fold_unrounded(Run& run, Ref u) {
  Graph& g = run.graph();
  const Ref a = u->src[0];
  if (a->op != Op::Cast || !is_const(u->src[1]) || !is_float(a->dtype)) return nullptr;
  const auto most = static_cast<double>(bounds(g, a->src[0]).hi);
  return most < as_double(u->src[1]->value()) ? g.constant(Bool, 1) : nullptr;
}

TEST(ValueBugs, B081BoundsOfACastToFloatAreRounded) {
  constexpr int64_t kLast = 16777219;
  const Trigger trigger = {
      "(< (cast f32 x) 16777220.0)",
      {{"x", I32, 0, kLast, values_of(I32, {0, kLast - 3, kLast - 2, kLast - 1, kLast})}},
      F32};
  const Right right =
      of_ints(Bool, [](const auto& v) { return static_cast<float>(v[0]) < 16777220.0F; });
  EXPECT_TRUE(simplifies_right({}, trigger, right));
  const RuleSet mutant("fold", {by("single_value", kScalars, {Op::Lt}, fold_unrounded,
                                   "a cast to float has the bounds of the integer")});
  EXPECT_FALSE(simplifies_right(with(mutant), trigger, right));
}

TEST(ValueBugs, B083BelowAndAtMostOneLessAreTwoThingsForFloats) {
  const Trigger trigger = {
      "(and (< 1.0 x) (< x 2.0))", {{"x", F32, 0, 0, floats({1.2F, 3.2F, 1.0F, 2.0F, kNan})}}, F32};
  const Right right = [](std::span<const Value> v) -> std::optional<Value> {
    const double x = as_double(v[0]);
    return of_bool(1 < x && x < 2);
  };
  EXPECT_TRUE(simplifies_right({}, trigger, right));
  const auto [x, y, c, d, m] = Holes();
  const RuleSet mutant("compare", {{"lt_to_at_most", kFloats, x < c, !(c - 1 < x)}});
  EXPECT_FALSE(simplifies_right(with(mutant), trigger, right));
}

TEST(ValueBugs, B097IdentitiesOfNumbersAreNoIdentitiesOfFloats) {
  const std::vector<Leaf> leaves = {{"x", F32, 0, 0, floats({0, 1, -3, kInf, kNan})},
                                    {"y", F32, 0, 0, floats({0, 2, kInf})}};
  const Trigger self = {"(/ x x)", leaves, F32};
  const Trigger zero = {"(* x 0.0)", leaves, F32};
  const Trigger product = {"(/ (* x y) y)", leaves, F32};
  const Right self_right = of_floats([](const auto& v) { return v[0] / v[0]; });
  const Right zero_right = of_floats([](const auto& v) { return v[0] * 0; });
  const Right product_right = of_floats([](const auto& v) { return v[0] * v[1] / v[1]; });
  EXPECT_TRUE(simplifies_right({}, self, self_right));
  EXPECT_TRUE(simplifies_right({}, zero, zero_right));
  EXPECT_TRUE(simplifies_right({}, product, product_right));

  const auto [x, y, c, d, m] = Holes();
  const RuleSet mutant("identity", {{"fdiv_self", kFloats, Pat(Op::FDiv, {x, x}), 1},
                                    {"mul_zero", kNumbers, x * 0, 0},
                                    {"fdiv_of_product", kFloats, Pat(Op::FDiv, {x * y, y}), x}});
  EXPECT_FALSE(simplifies_right(with(mutant), self, self_right));
  EXPECT_FALSE(simplifies_right(with(mutant), zero, zero_right));
  EXPECT_FALSE(simplifies_right(with(mutant), product, product_right));
}

// By zero they may be anything.
TEST(ValueBugs, B097IntegersOverThemselvesAreOne) {
  const std::vector<Leaf> leaves = {{"x", I32, -3, 3, values_of(I32, {-3, -1, 1, 3})}};
  const auto is_right = [&](const Switches& switches) {
    return simplifies_right(switches, {"(// x x)", leaves, I32},
                            of_ints(I32, [](const auto&) { return 1; })) &&
           simplifies_right(switches, {"(% x x)", leaves, I32},
                            of_ints(I32, [](const auto&) { return 0; }));
  };
  EXPECT_TRUE(is_right({}));
  const auto [x, y, c, d, m] = Holes();
  const RuleSet mutant("identity", {{"mod_self", kInts, x % x, x}});
  EXPECT_FALSE(is_right(with(mutant)));
}

// A narrowing cast wraps, so that its bounds are not those of its source cut to the type's range.
Ref fold_clipped(Run& run, Ref u) {
  Graph& g = run.graph();
  const Ref a = u->src[0];
  if (a->op != Op::Cast || !is_const(u->src[1])) return nullptr;
  const Bounds b = bounds(g, a->src[0]);
  const Int128 end = as_int(u->src[1]->value());
  if (std::min(b.hi, max_int(a->dtype)) < end) return g.constant(Bool, 1);
  return std::max(b.lo, min_int(a->dtype)) >= end ? g.constant(Bool, 0) : nullptr;
}

TEST(ValueBugs, B195BoundsOfANarrowingCastAreThoseOfTheType) {
  const std::pair<Trigger, Right> cases[] = {
      {{"(< (cast u32 x) 11)", {{"x", I32, -10, 10}}, U32},
       of_ints(Bool, [](const auto& v) { return v[0] >= 0; })},
      {{"(< (cast i8 i) 0)", {{"i", I32, 0, 255}}, I8},
       of_ints(Bool, [](const auto& v) { return v[0] >= 128; })},
      {{"(< (cast i16 (* i 300)) (cast i16 0))", {{"i", I32, 0, 255}}, I32},
       of_ints(Bool, [](const auto& v) { return v[0] * 300 % 65536 >= 32768; })},
      {{"(< (cast i32 (* i 268435456)) (cast i32 0))", {{"i", I64, 0, 255}}, I64},
       of_ints(Bool, [](const auto& v) { return v[0] % 16 >= 8; })},
  };
  const RuleSet mutant("fold", {by("single_value", kScalars, {Op::Lt}, fold_clipped,
                                   "a cast cuts bounds to the range of its type")});
  for (const auto& [trigger, right] : cases) {
    EXPECT_TRUE(simplifies_right({}, trigger, right)) << trigger.text;
    EXPECT_FALSE(simplifies_right(with(mutant), trigger, right)) << trigger.text;
  }
}

// Any two casts as one.
Ref merge_casts(Run& run, Ref u) {
  const Ref inner = u->src[0];
  if (inner->op != Op::Cast) return nullptr;
  return run.graph().make(Op::Cast, u->dtype, {inner->src[0]});
}

TEST(ValueBugs, B109ACastThatLosesSomethingIsNotSkipped) {
  const RuleSet mutant("cast", {by("cast_of_cast", kScalars, {Op::Cast}, merge_casts,
                                   "a cast of a cast is one cast")});
  const Trigger by_bool = {"(cast i32 (cast bool x))", {{"x", I64, -3, 3}}, I64};
  const Right truth = of_ints(I32, [](const auto& v) { return v[0] != 0; });
  EXPECT_TRUE(simplifies_right({}, by_bool, truth));
  // A cast to bool becomes a comparison before another cast meets it, unless that rule is off.
  Switches switches;
  switches.off = {"cast.to_bool"};
  EXPECT_TRUE(simplifies_right(switches, by_bool, truth));
  switches.substitutes = {&mutant};
  EXPECT_FALSE(simplifies_right(switches, by_bool, truth));
  const Trigger by_byte = {"(cast i64 (cast i8 x))", {{"x", I64, -300, 300}}, I64};
  const Right low_byte =
      of_ints(I64, [](const auto& v) { return floor_remainder(v[0] + 128, 256) - 128; });
  EXPECT_TRUE(simplifies_right({}, by_byte, low_byte));
  EXPECT_FALSE(simplifies_right(with(mutant), by_byte, low_byte));
}

// A cast of a product as a product of casts, as if the narrow type were computed in a wide one.
Ref cast_before_product(Run& run, Ref u) {
  Graph& g = run.graph();
  const Ref product = u->src[0];
  if (product->op != Op::Mul || bits_of(product->dtype) >= bits_of(u->dtype)) return nullptr;
  const Ref a = g.make(Op::Cast, u->dtype, {product->src[0]});
  const Ref b = g.make(Op::Cast, u->dtype, {product->src[1]});
  return g.alu(Op::Mul, {a, b});
}

TEST(ValueBugs, B110NarrowIntegersWrapBeforeTheyAreUsed) {
  const std::vector<Leaf> leaves = {{"a", U8, 0, 255}};
  const Trigger compared = {"(< (neg a) 4)", leaves, U8};
  const Right compared_right = of_ints(Bool, [](const auto& v) { return (256 - v[0]) % 256 < 4; });
  const Trigger widened = {"(cast i64 (neg a))", leaves, U8};
  const Right widened_right = of_ints(I64, [](const auto& v) { return (256 - v[0]) % 256; });
  const Trigger added = {"(+ (cast f32 (cast u8 (neg a))) 1.5)", leaves, F32};
  const Right added_right = of_floats([](const auto& v) {
    return static_cast<float>((256 - static_cast<int>(v[0])) % 256) + 1.5F;
  });
  EXPECT_TRUE(simplifies_right({}, compared, compared_right));
  EXPECT_TRUE(simplifies_right({}, widened, widened_right));
  EXPECT_TRUE(simplifies_right({}, added, [&](std::span<const Value> v) {
    return added_right(floats({static_cast<float>(as_int(v[0]))}));
  }));

  const auto [x, y, c, d, m] = Holes();
  const RuleSet wide_compare("compare",
                             {{"lt_of_product", kInts, x * c < d, x < (d + (c - 1)) / c, c > 0}});
  EXPECT_FALSE(simplifies_right(with(wide_compare), compared, compared_right));
  const RuleSet wide_product("cast", {by("of_product", kInts, {Op::Cast}, cast_before_product,
                                         "a product is cast by its operands")});
  EXPECT_FALSE(simplifies_right(with(wide_product), widened, widened_right));
}

// The float constant that a cast integer is compared with, as an integer.
Ref compare_cut(Run& run, Ref u) {
  Graph& g = run.graph();
  const Ref a = u->src[0];
  if (a->op != Op::Cast || !is_int(a->src[0]->dtype) || !is_const(u->src[1])) return nullptr;
  const std::optional<Value> cut = cast(u->src[1]->value(), a->src[0]->dtype);
  return cut ? g.alu(Op::Lt, {a->src[0], g.constant(*cut)}) : nullptr;
}

TEST(ValueBugs, B111AFractionIsNotCutToCompareIt) {
  const Trigger trigger = {"(>= (cast f64 x) 3.5)", {{"x", I64, -5, 5}}, F64};
  const Right right = of_ints(Bool, [](const auto& v) { return v[0] >= 4; });
  EXPECT_TRUE(simplifies_right({}, trigger, right));
  const RuleSet mutant("cast", {by("compare_of_casts", kFloats, {Op::Lt}, compare_cut,
                                   "a constant is compared at the type before the cast")});
  EXPECT_FALSE(simplifies_right(with(mutant), trigger, right));
}

// max as a select, which drops a NaN on one side.
Ref fold_select_max(Run& run, Ref u) {
  if (!is_const(u->src[0]) || !is_const(u->src[1])) return nullptr;
  const Value a = u->src[0]->value();
  const Value b = u->src[1]->value();
  return run.graph().constant(as_double(a) < as_double(b) ? b : a);
}

TEST(ValueBugs, B123MaxAndMinOfNanAreNanOnEitherSide) {
  const std::vector<Leaf> leaves = {{"x", F32, 0, 0, floats({kNan, 0, 2})}};
  const auto is_right = [&](const Switches& switches, std::string_view text) {
    return simplifies_right(switches, {text, {}, F32}, [](auto) { return nan_of(F32); });
  };
  const std::string_view texts[] = {"(max nan 1.0)", "(max 1.0 nan)", "(min nan 1.0)",
                                    "(min 1.0 nan)"};
  for (const std::string_view text : texts) EXPECT_TRUE(is_right({}, text)) << text;
  const Right larger =
      of_floats([](const auto& v) { return std::isnan(v[0]) ? kNan : std::max(v[0], 1.0F); });
  EXPECT_TRUE(simplifies_right({}, {"(max x 1.0)", leaves, F32}, larger));
  EXPECT_TRUE(simplifies_right({}, {"(max 1.0 x)", leaves, F32}, larger));

  const RuleSet mutant("fold", {by("constants", kFloats, {Op::Max, Op::Min}, fold_select_max,
                                   "max(a, b) is a < b ? b : a")});
  EXPECT_FALSE(is_right(with(mutant), "(max 1.0 nan)"));
}

TEST(ValueBugs, B126OverflowOnTheWayIsSeen) {
  const auto leaf = [](float x) { return std::vector<Leaf>{{"x", F32, 0, 0, floats({x})}}; };
  const Trigger log = {"(log (exp x))", leaf(89), F32};
  const Trigger root = {"(sqrt (* x x))", leaf(std::numeric_limits<float>::max()), F32};
  const Trigger product = {"(* (exp x) (exp (neg x)))", leaf(200), F32};
  const auto always = [](float x) {
    return [x](std::span<const Value>) -> std::optional<Value> { return floats({x})[0]; };
  };
  EXPECT_TRUE(simplifies_right({}, log, always(kInf)));
  EXPECT_TRUE(simplifies_right({}, root, always(kInf)));
  EXPECT_TRUE(simplifies_right({}, product, always(kNan)));

  const auto [x, y, c, d, m] = Holes();
  const auto exp = [](const Pat& a) { return Pat(Op::Exp, {a}); };
  const RuleSet mutant("identity", {{"log_exp", kFloats, Pat(Op::Log, {exp(x)}), x},
                                    {"sqrt_square", kFloats, Pat(Op::Sqrt, {x * x}), x},
                                    {"exp_product", kFloats, exp(x) * exp(y), exp(x + y)}});
  EXPECT_FALSE(simplifies_right(with(mutant), log, always(kInf)));
  EXPECT_FALSE(simplifies_right(with(mutant), root, always(kInf)));
  EXPECT_FALSE(simplifies_right(with(mutant), product, always(kNan)));
}

// Reads the low bytes of any constant.
Ref fold_low_bytes(Run& run, Ref u) {
  if (!is_const(u->src[0])) return nullptr;
  return run.graph().constant(Value{u->dtype, u->src[0]->value().bits});
}

TEST(ValueBugs, B127ABitcastBetweenSizesIsNotFolded) {
  const auto is_right = [](const Switches& switches) {
    Graph g;
    const Ref byte = g.constant(U8, 0x3f);
    const Ref half = g.make(Op::Bitcast, F16, {byte});
    const Ref one = g.make(Op::Bitcast, U32, {g.constant(of_double(F32, 1.0))});
    return simplified(g, half, switches) == half &&
           simplified(g, one, switches) == g.constant(U32, 0x3f800000);
  };
  EXPECT_TRUE(is_right({}));
  const RuleSet mutant("fold", {by("constants", kScalars, {Op::Bitcast}, fold_low_bytes,
                                   "a bitcast of a constant is its low bytes")});
  EXPECT_FALSE(is_right(with(mutant)));
}

}  // namespace
}  // namespace assay::uop
