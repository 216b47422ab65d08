#include "engine/codegen/linearize.h"

#include <gtest/gtest.h>

#include <ctime>
#include <random>

#include "engine/codegen/barriers.h"
#include "engine/codegen/control_flow.h"
#include "engine/codegen/forms.h"
#include "engine/codegen/listing.h"
#include "engine/codegen/sample_kernel.h"

namespace assay::codegen {
namespace {

using uop::AxisType;
using uop::Op;
using uop::Ref;

struct Linearize : ::testing::Test, SampleKernel {
  Ref lower(Ref sink) {
    uop::Run run(g);
    const Result<Ref> looped = run_pass(add_control_flow(), run, sink);
    EXPECT_TRUE(looped.ok()) << looped.error().message;
    EXPECT_EQ(uop::breach(looped_form(), g, looped.value()), std::nullopt);
    const Result<Ref> linear = run_pass(linearize(), run, looped.value());
    EXPECT_TRUE(linear.ok()) << linear.error().message;
    EXPECT_EQ(uop::breach(linear_form(), g, linear.value()), std::nullopt);
    return linear.value();
  }
  std::string lines(Ref sink) { return "\n" + lines_text(lower(sink)); }
};

TEST_F(Linearize, PutsALoopBetweenItsRangeAndItsEnd) {
  const Ref gidx = special("gidx0", 8);
  const Ref r = range(0, 16);
  const Ref in = param(1, 128);
  const Ref x = load(index(in, add(mul(gidx, i32(16)), r)));
  const Ref out = store(index(param(0, 8), gidx), load(sum(0, x, {r}), 0));
  EXPECT_EQ(lines(sink({out}, "r_8_16 NONE")), R"(
%0 = param f32 8 {0}
%1 = param f32 128 {1}
%2 = special i32 8 {"gidx0"}
%3 = buffer f32 1 {0 reg}
%4 = index f32 %0 %2
%5 = index f32 %3 0
%6 = store %5 0.0
%7 = mul i32 %2 16
%8 = range i32 16 {0 reduce}
  %9 = add i32 %7 %8
  %10 = index f32 %1 %9
  %11 = load f32 %10
  %12 = after f32 %3 %6 %8
  %13 = index f32 %12 0
  %14 = load f32 %13
  %15 = add f32 %14 %11
  %16 = store %13 %15
%17 = end %16 %8
%18 = after f32 %3 %17
%19 = index f32 %18 0
%20 = load f32 %19
%21 = store %4 %20
)");
}

TEST_F(Linearize, PutsArgumentsFirst) {
  const Ref i = add(add(variable("b", 0, 9), variable("a", 0, 9)),
                    add(special("lidx1", 4), special("gidx0", 4)));
  const Ref x = load(index(param(2, 64), i));
  const Ref y = load(index(param(1, 64), i));
  EXPECT_EQ(lines(sink({store(index(param(0, 64), i), mul(x, y))})), R"(
%0 = param f32 64 {0}
%1 = param f32 64 {1}
%2 = param f32 64 {2}
%3 = var i32 {"a" 0 9}
%4 = var i32 {"b" 0 9}
%5 = special i32 4 {"gidx0"}
%6 = special i32 4 {"lidx1"}
%7 = add i32 %4 %3
%8 = add i32 %6 %5
%9 = add i32 %7 %8
%10 = index f32 %2 %9
%11 = load f32 %10
%12 = index f32 %1 %9
%13 = load f32 %12
%14 = index f32 %0 %9
%15 = mul f32 %11 %13
%16 = store %14 %15
)");
}

// What does not depend on the range is computed once, before the loop.
TEST_F(Linearize, KeepsOutOfALoopWhatDoesNotDependOnIt) {
  const Ref r = range(0, 16);
  const Ref scale = mul(load(param(1, 1), 0), f32(2));
  const Ref x = mul(load(index(param(2, 16), r)), scale);
  EXPECT_EQ(lines(sink({end(store(index(param(0, 16), r), x), {r})})), R"(
%0 = param f32 16 {0}
%1 = param f32 1 {1}
%2 = param f32 16 {2}
%3 = index f32 %1 0
%4 = load f32 %3
%5 = mul f32 %4 2.0
%6 = range i32 16 {0 reduce}
  %7 = index f32 %2 %6
  %8 = load f32 %7
  %9 = index f32 %0 %6
  %10 = mul f32 %8 %5
  %11 = store %9 %10
%12 = end %11 %6
)");
}

TEST_F(Linearize, PutsALoopAfterThoseWhoseResultsItTakes) {
  const Ref r = range(0, 8);
  const Ref s = range(1, 8);
  const Ref x = param(1, 8);
  const Ref first = load(sum(0, load(index(x, r)), {r}), 0);
  const Ref second = load(sum(1, mul(load(index(x, s)), first), {s}), 0);
  EXPECT_EQ(lines(sink({store(index(param(0, 1), i32(0)), add(second, first))})), R"(
%0 = param f32 1 {0}
%1 = param f32 8 {1}
%2 = buffer f32 1 {0 reg}
%3 = buffer f32 1 {1 reg}
%4 = index f32 %0 0
%5 = index f32 %3 0
%6 = store %5 0.0
%7 = index f32 %2 0
%8 = store %7 0.0
%9 = range i32 8 {0 reduce}
  %10 = index f32 %1 %9
  %11 = load f32 %10
  %12 = after f32 %2 %8 %9
  %13 = index f32 %12 0
  %14 = load f32 %13
  %15 = add f32 %14 %11
  %16 = store %13 %15
%17 = end %16 %9
%18 = after f32 %2 %17
%19 = index f32 %18 0
%20 = load f32 %19
%21 = range i32 8 {1 reduce}
  %22 = index f32 %1 %21
  %23 = load f32 %22
  %24 = after f32 %3 %6 %21
  %25 = index f32 %24 0
  %26 = load f32 %25
  %27 = mul f32 %23 %20
  %28 = add f32 %26 %27
  %29 = store %25 %28
%30 = end %29 %21
%31 = after f32 %3 %30
%32 = index f32 %31 0
%33 = load f32 %32
%34 = add f32 %33 %20
%35 = store %4 %34
)");
}

TEST_F(Linearize, NestsLoopsByWhatTheyStandIn) {
  const Ref i = range(0, 4, AxisType::Loop);
  const Ref r = range(1, 8);
  const Ref x = load(index(param(1, 32), add(mul(i, i32(8)), r)));
  const Ref total = load(sum(0, x, {r}, {i}), 0);
  EXPECT_EQ(lines(sink({end(store(index(param(0, 4), i), total), {i})})), R"(
%0 = param f32 4 {0}
%1 = param f32 32 {1}
%2 = buffer f32 1 {0 reg}
%3 = range i32 4 {0 loop}
  %4 = index f32 %0 %3
  %5 = after f32 %2 %3
  %6 = index f32 %5 0
  %7 = store %6 0.0
  %8 = mul i32 %3 8
  %9 = range i32 8 {1 reduce}
    %10 = add i32 %8 %9
    %11 = index f32 %1 %10
    %12 = load f32 %11
    %13 = after f32 %2 %7 %9
    %14 = index f32 %13 0
    %15 = load f32 %14
    %16 = add f32 %15 %12
    %17 = store %14 %16
  %18 = end %17 %9
  %19 = after f32 %2 %18
  %20 = index f32 %19 0
  %21 = load f32 %20
  %22 = store %4 %21
%23 = end %22 %3
)");
}

// The loop over s depends on the second of two ranges that end together: it runs inside of both.
TEST_F(Linearize, RunsAgainWhatDependsOnAnInnerLoopAlone) {
  const Ref a = range(0, 2, AxisType::Loop);
  const Ref b = range(1, 3, AxisType::Loop);
  const Ref s = range(2, 4);
  const Ref x = load(index(param(1, 12), add(mul(b, i32(4)), s)));
  const Ref total = load(sum(0, x, {s}, {b}), 0);
  const Ref out = store(index(param(0, 6), add(mul(a, i32(3)), b)), total);
  EXPECT_EQ(lines(sink({end(out, {a, b})})), R"(
%0 = param f32 6 {0}
%1 = param f32 12 {1}
%2 = buffer f32 1 {0 reg}
%3 = range i32 2 {0 loop}
  %4 = mul i32 %3 3
  %5 = range i32 3 {1 loop}
    %6 = add i32 %4 %5
    %7 = index f32 %0 %6
    %8 = after f32 %2 %5
    %9 = index f32 %8 0
    %10 = store %9 0.0
    %11 = mul i32 %5 4
    %12 = range i32 4 {2 reduce}
      %13 = add i32 %11 %12
      %14 = index f32 %1 %13
      %15 = load f32 %14
      %16 = after f32 %2 %10 %12
      %17 = index f32 %16 0
      %18 = load f32 %17
      %19 = add f32 %18 %15
      %20 = store %17 %19
    %21 = end %20 %12
    %22 = after f32 %2 %21
    %23 = index f32 %22 0
    %24 = load f32 %23
    %25 = store %7 %24
  %26 = end %25 %5
%27 = end %26 %3
)");
}

TEST_F(Linearize, StoresOfOneGateShareAnIf) {
  const Ref item = special("lidx0", 8);
  const Ref first = is_zero(item);
  const Ref other = lt(item, i32(3));
  const Ref out = param(0, 64);
  std::vector<Ref> stores;
  for (int64_t k = 0; k < 4; k++) {
    const Ref x = load(index(param(1, 64), add(item, i32(k))));
    stores.push_back(store(index(out, i32(k)), x, k == 2 ? other : first));
  }
  EXPECT_EQ(lines(sink({group(stores)})), R"(
%0 = param f32 64 {0}
%1 = param f32 64 {1}
%2 = special i32 8 {"lidx0"}
%3 = add i32 %2 0
%4 = index f32 %1 %3
%5 = load f32 %4
%6 = add i32 %2 1
%7 = index f32 %1 %6
%8 = load f32 %7
%9 = index f32 %0 0
%10 = add i32 %2 2
%11 = index f32 %1 %10
%12 = load f32 %11
%13 = eq bool %2 0
%14 = index f32 %0 1
%15 = add i32 %2 3
%16 = index f32 %1 %15
%17 = load f32 %16
%18 = index f32 %0 2
%19 = lt bool %2 3
%20 = index f32 %0 3
%21 = if %13
  %22 = store %9 %5
  %23 = store %14 %8
  %24 = store %20 %17
%25 = endif %21
%26 = if %19
  %27 = store %18 %12
%28 = endif %26
)");
}

// The second store waits for the first: they cannot share one, and are told apart.
TEST_F(Linearize, StoresThatWaitForOneAnotherHaveAnIfEach) {
  const Ref item = special("lidx0", 8);
  const Ref gate = is_zero(item);
  const Ref out = param(0, 64);
  const Ref first = store(index(out, i32(0)), f32(1), gate);
  const Ref again = load(after(out, {first}), 0);
  const Ref second = store(index(after(out, {first}), i32(1)), add(again, f32(1)), gate);
  EXPECT_EQ(lines(sink({second})), R"(
%0 = param f32 64 {0}
%1 = special i32 8 {"lidx0"}
%2 = index f32 %0 0
%3 = eq bool %1 0
%4 = if %3
  %5 = store %2 1.0
%6 = endif %4
%7 = after f32 %0 %5
%8 = index f32 %7 0
%9 = load f32 %8
%10 = index f32 %7 1
%11 = add f32 %9 1.0
%12 = if %3 %11
  %13 = store %10 %11
%14 = endif %12
)");
}

TEST_F(Linearize, StoresThatDifferByTheirGatesAreTwo) {
  const Ref item = special("lidx0", 8);
  const Ref place = index(param(0, 64), i32(0));
  const Ref first = store(place, f32(1), is_zero(item));
  const Ref second = store(place, f32(1), lt(item, i32(3)));
  const Ref third = store(place, f32(1));
  EXPECT_EQ(lines(sink({first, second, third})), R"(
%0 = param f32 64 {0}
%1 = special i32 8 {"lidx0"}
%2 = index f32 %0 0
%3 = eq bool %1 0
%4 = lt bool %1 3
%5 = store %2 1.0
%6 = if %3
  %7 = after f32 %2 %6
  %8 = store %7 1.0
%9 = endif %6
%10 = if %4
  %11 = after f32 %2 %10
  %12 = store %11 1.0
%13 = endif %10
)");
}

TEST_F(Linearize, StoresInALoopAreGatedThere) {
  const Ref item = special("lidx0", 8);
  const Ref r = range(0, 4, AxisType::Loop);
  const Ref out = param(0, 64);
  const Ref inside = end(store(index(out, r), f32(1), is_zero(item)), {r});
  const Ref behind = store(index(after(out, {inside}), i32(9)), f32(2), is_zero(item));
  EXPECT_EQ(lines(sink({behind})), R"(
%0 = param f32 64 {0}
%1 = special i32 8 {"lidx0"}
%2 = eq bool %1 0
%3 = range i32 4 {0 loop}
  %4 = index f32 %0 %3
  %5 = if %2
    %6 = store %4 1.0
  %7 = endif %5
%8 = end %6 %3
%9 = after f32 %0 %8
%10 = index f32 %9 9
%11 = if %2 2.0
  %12 = store %10 2.0
%13 = endif %11
)");
}

// A group is no line: who names it names what is in it, and a loop ends after all of it.
TEST_F(Linearize, NamesWhatIsInAGroup) {
  const Ref r = range(0, 4, AxisType::Loop);
  const Ref out = param(0, 64);
  const Ref inner = group({store(index(out, r), f32(1)), group({})});
  const Ref both = group({inner, store(index(out, add(r, i32(8))), f32(2))});
  const Ref next = after(out, {end(both, {r})});
  const Ref last = store(index(after(next, {group({})}), i32(0)), f32(3));
  const Ref empty = range(1, 2, AxisType::Loop);
  EXPECT_EQ(lines(sink({group({last}), end(group({}), {empty})})), R"(
%0 = param f32 64 {0}
%1 = range i32 4 {0 loop}
  %2 = index f32 %0 %1
  %3 = store %2 1.0
  %4 = add i32 %1 8
  %5 = index f32 %0 %4
  %6 = store %5 2.0
%7 = end %6 %1
%8 = after f32 %0 %7
%9 = after f32 %8
%10 = index f32 %9 0
%11 = store %10 3.0
)");
}

TEST_F(Linearize, ReadsMemoryAheadOfItsUse) {
  const Ref in = param(1, 64);
  Ref total = load(in, 0);
  for (int64_t k = 1; k < 4; k++) {
    total = add(mul(total, f32(2)), load(in, k));
  }
  EXPECT_EQ(lines(sink({store(index(param(0, 1), i32(0)), total)})), R"(
%0 = param f32 1 {0}
%1 = param f32 64 {1}
%2 = index f32 %1 0
%3 = load f32 %2
%4 = index f32 %1 1
%5 = load f32 %4
%6 = index f32 %1 2
%7 = load f32 %6
%8 = index f32 %0 0
%9 = index f32 %1 3
%10 = load f32 %9
%11 = mul f32 %3 2.0
%12 = add f32 %11 %5
%13 = mul f32 %12 2.0
%14 = add f32 %13 %7
%15 = mul f32 %14 2.0
%16 = add f32 %15 %10
%17 = store %8 %16
)");
}

// A network of loops that share their sources: every one reads what all those before it made.
TEST_F(Linearize, OrdersManySiblingLoops) {
  constexpr int kLoops = 60;
  std::vector<Ref> results = {load(param(1, 64), 0)};
  for (int i = 0; i < kLoops; i++) {
    const Ref r = range(i, 4, AxisType::Loop);
    Ref x = load(index(param(1, 64), r));
    for (size_t k = 0; k < results.size(); k += 1 + static_cast<size_t>(i) % 3) {
      x = add(x, mul(results[results.size() - 1 - k], f32(static_cast<double>(k))));
    }
    results.push_back(load(sum(i, x, {r}), 0));
  }
  const std::string all = lines(sink({store(index(param(0, 1), i32(0)), results.back())}));
  EXPECT_NE(all.find("range i32 4 {59 loop}"), std::string::npos);
}

TEST_F(Linearize, IsTheSameForKernelsMadeInAnotherOrder) {
  const auto kernel = [](SampleKernel& k, bool backwards) {
    if (backwards) k.load(k.param(2, 8), 5);  // takes the ids of later nodes
    const Ref r = k.range(0, 8);
    const Ref x = k.load(k.index(k.param(1, 8), r));
    const Ref y = k.load(k.param(2, 8), 5);
    return k.sink(
        {k.store(k.index(k.param(0, 1), k.i32(0)), k.load(k.sum(0, k.mul(x, y), {r}), 0))});
  };
  SampleKernel other;
  const Ref copy = kernel(other, true);
  uop::Run run(other.g);
  const Ref looped = run_pass(add_control_flow(), run, copy).value();
  EXPECT_EQ(lines(kernel(*this, false)),
            "\n" + lines_text(run_pass(linearize(), run, looped).value()));
}

TEST_F(Linearize, RefusesWhatIsNoLoop) {
  uop::Run run(g);
  const Ref r = range(4, 8);
  const Ref x = store(index(param(0, 8), r), f32(1));
  EXPECT_EQ(run_pass(linearize(), run, sink({x})).error().message, "range 4 has no end");
  const Ref y = store(index(param(0, 8), r), f32(2));
  EXPECT_EQ(run_pass(linearize(), run, sink({end(x, {r}), end(y, {r})})).error().message,
            "range 4 has two ends");
}

// A thousand values in turn, each the last one times b plus 1, and a graph that a walk of all paths
// would never see the end of.
TEST_F(Linearize, TakesTimeInProportionToTheKernel) {
  const auto time = [&](int n) {
    SampleKernel k;
    Ref x = k.load(k.param(1, 1), 0);
    for (int i = 0; i < n; i++) x = k.add(k.mul(x, k.load(k.param(2, n), i)), x);
    const Ref kernel = k.sink({k.store(k.index(k.param(0, 1), k.i32(0)), x)});
    uop::Run run(k.g);
    const std::clock_t start = std::clock();
    EXPECT_TRUE(run_pass(linearize(), run, kernel).ok());
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  time(1000);
  const double small = time(2000);
  const double large = time(20000);
  EXPECT_LT(large, 100 * small + 0.1);
  EXPECT_LT(large, 1.0);
}

// Kernels of nested and sibling loops, folds, groups and gated stores.
class RandomLines : public SampleKernel {
 public:
  explicit RandomLines(uint64_t seed) : random_(seed) {
    for (const char* name : {"lidx0", "gidx0"}) indices_.push_back(special(name, 4));
    values_ = {f32(1), load(param(1, 64), 3)};
  }

  Ref make() {
    std::vector<Ref> effects;
    for (size_t n = 1 + below(4); n > 0; n--) effects.push_back(effect(0));
    return sink(effects);
  }

 private:
  size_t below(size_t n) { return static_cast<size_t>(random_() % n); }
  template <typename T>
  T any(const std::vector<T>& list) {
    return list[below(list.size())];
  }

  Ref value() {
    const Ref a = any(values_);
    const Ref b = any(values_);
    const Ref i = any(indices_);
    Ref x = add(a, b);
    if (below(3) == 0) x = load(index(param(static_cast<int>(1 + below(3)), 64), i));
    if (below(5) == 0) x = alu(Op::Where, {lt(i, i32(3)), a, b});
    values_.push_back(x);
    return x;
  }

  Ref put() {
    const Ref i = any(indices_);
    const Ref place = index(any(states_.empty() ? std::vector{param(0, 64)} : states_), i);
    const Ref x = value();
    if (below(2) == 0) return store(place, x);
    return store(place, x, lt(any(indices_), i32(2)));
  }

  Ref effect(int depth) {
    if (depth > 3 || below(3) == 0) return put();
    if (below(4) == 0) return group({effect(depth + 1), put()});
    return below(2) == 0 ? loop(depth) : fold(depth);
  }

  // One or two ranges over an effect; what was made in them stays there.
  Ref loop(int depth) {
    const auto outer_values = values_;
    const auto outer_indices = indices_;
    std::vector<Ref> ranges;
    for (size_t n = 1 + below(2); n > 0; n--) {
      ranges.push_back(range(next_++, 4, AxisType::Loop));
      indices_.push_back(ranges.back());
      scope_.push_back(ranges.back());
    }
    std::vector<Ref> body;
    for (size_t n = 1 + below(3); n > 0; n--) body.push_back(effect(depth + 1));
    const Ref end_of_all = end(body.size() == 1 ? body[0] : group(body), ranges);
    scope_.resize(scope_.size() - ranges.size());
    values_ = outer_values;
    indices_ = outer_indices;
    states_.push_back(after(param(0, 64), {end_of_all}));
    const Ref last = put();
    states_.pop_back();
    return last;
  }

  Ref fold(int depth) {
    const auto outer_values = values_;
    const auto outer_indices = indices_;
    const Ref r = range(next_++, 8);
    indices_.push_back(r);
    Ref x = value();
    const Ref i = any(indices_);
    x = mul(x, load(index(param(2, 64), add(i, r))));
    values_ = outer_values;
    indices_ = outer_indices;
    const Ref total = load(sum(next_++, x, {r}, scope_), 0);
    values_.push_back(total);
    return effect(depth + 1);
  }

  std::mt19937_64 random_;
  std::vector<Ref> values_, indices_, states_, scope_;
  int next_ = 0;
};

TEST(LinearizeLaw, AnyKernelBecomesAProgram) {
  size_t loops = 0;
  size_t branches = 0;
  for (uint64_t seed = 0; seed < 500; seed++) {
    RandomLines k(seed);
    const Ref kernel = k.make();
    ASSERT_EQ(uop::breach(gated_form(), k.g, kernel), std::nullopt);
    uop::Run run(k.g);
    const Result<Ref> looped = run_pass(add_control_flow(), run, kernel);
    ASSERT_EQ(uop::breach(looped_form(), k.g, looped.value()), std::nullopt) << seed;
    const Result<Ref> linear = run_pass(linearize(), run, looped.value());
    ASSERT_TRUE(linear.ok()) << linear.error().message;
    ASSERT_EQ(uop::breach(linear_form(), k.g, linear.value()), std::nullopt)
        << seed << "\n"
        << lines_text(linear.value());
    for (const Ref u : linear.value()->src) {
      loops += u->op == Op::Range ? 1 : 0;
      branches += u->op == Op::If ? 1 : 0;
    }
  }
  EXPECT_GT(loops, 1000);
  EXPECT_GT(branches, 500);
}

}  // namespace
}  // namespace assay::codegen
