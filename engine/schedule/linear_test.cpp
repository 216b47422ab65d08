#include "engine/schedule/linear.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/schedule/sample_graph.h"
#include "engine/uop/verify.h"

namespace assay::schedule {
namespace {

class Linear : public testing::Test, public SampleGraph {
 protected:
  Ref variable(std::string_view name, int64_t hi = 16) {
    return g.variable(name, uop::of_int(uop::Index, 1), uop::of_int(uop::Index, hi));
  }
  Ref bind(Ref variable, Ref value) {
    return g.make(uop::Op::Bind, variable->dtype, {variable, value});
  }
  Ref bind(Ref variable, int64_t value) { return bind(variable, uop::dim(g, value)); }
  // A kernel that stores a variable at element 0.
  Ref stores(std::string_view name, Ref variable) {
    const Ref value = g.make(uop::Op::Cast, uop::F32, {variable});
    return kernel(name, index(flat(0, 4), uop::dim(g, 0)), value, {});
  }
  Ref linear(std::initializer_list<Ref> calls, std::vector<Edge> edges = {}) {
    return make_linear(g, std::span(calls.begin(), calls.size()), std::move(edges));
  }
  std::string resolved(Ref call) {
    const auto result = resolve_linear_call(g, call, next_);
    if (!result.ok()) return result.error().message;
    linear_ = result.value();
    EXPECT_EQ(uop::verify(g, linear_).value_or(""), "");
    return brief(linear_);
  }
  std::string with_vars(Ref call) {
    const auto result = create_linear_with_vars(g, call, next_);
    if (!result.ok()) return result.error().message;
    std::string out;
    for (const auto& [name, value] : result.value().variables) {
      out += fmt::format("{}={};", name, value);
    }
    return out;
  }
  Ref argument(size_t k, size_t i) const { return linear_->src[k]->src[i + 1]; }

  int32_t next_ = 100;
  Ref linear_ = nullptr;
};

TEST_F(Linear, ParametersBecomeArgumentsAndStorageBecomesNew) {
  const Ref a = buffer(4);
  const Ref inner = buffer(4);
  const Ref list =
      linear({writes("one", {inner, param(0, 4)}), writes("two", {param(1, 4), inner})},
             {{0, 1, EdgeKind::Raw}});
  const Ref out = buffer(4);
  EXPECT_EQ(resolved(call(list, {a, out})), "one two; 0 RAW 1");
  EXPECT_EQ(argument(0, 1), a);
  EXPECT_EQ(argument(1, 0), out);
  EXPECT_EQ(argument(0, 0), argument(1, 1));
  EXPECT_EQ(argument(0, 0)->arg.number(), 100);
  EXPECT_EQ(next_, 101);
}

TEST_F(Linear, TheSameListTwiceSharesNoStorage) {
  const Ref inner = buffer(4);
  const Ref list = linear({writes("one", {inner}), writes("two", {param(0, 4), inner})});
  const Ref a = buffer(4);
  resolved(call(list, {a}));
  const Ref first = argument(0, 0);
  resolved(call(list, {a}));
  EXPECT_NE(argument(0, 0), first);
}

TEST_F(Linear, ANestedListIsAScopeOfItsOwn) {
  const Ref inner = linear({writes("inner", {param(0, 4), param(1, 4)})});
  const Ref a = buffer(4);
  const Ref b = buffer(4);
  const Ref outer =
      linear({call(inner, {param(1, 4), param(0, 4)}), writes("outer", {param(0, 4), param(1, 4)})},
             {{0, 1, EdgeKind::War}});
  EXPECT_EQ(resolved(call(outer, {a, b})), "inner outer; 0 WAR 1");
  EXPECT_EQ(argument(0, 0), b);
  EXPECT_EQ(argument(0, 1), a);
  EXPECT_EQ(argument(1, 0), a);
}

TEST_F(Linear, EdgesToANestedListReachItsFirstCallsAndLeaveItsLast) {
  const Ref x = param(0, 4);
  const Ref inner = linear({writes("a", {x}), writes("b", {x}), writes("c", {x}), writes("d", {x})},
                           {{0, 2, EdgeKind::Raw}, {1, 2, EdgeKind::Raw}});
  const Ref outer =
      linear({writes("before", {x}), call(inner, {x}), call(inner, {x}), writes("after", {x})},
             {{0, 1, EdgeKind::War}, {1, 2, EdgeKind::Waw}, {2, 3, EdgeKind::Raw}});
  EXPECT_EQ(resolved(call(outer, {buffer(4)})),
            "before a b c d a b c d after; 0 WAR 1, 0 WAR 2, 0 WAR 4, 1 RAW 3, 2 RAW 3, 3 WAW 5, "
            "3 WAW 6, 3 WAW 8, 4 WAW 5, 4 WAW 6, 4 WAW 8, 5 RAW 7, 6 RAW 7, 7 RAW 9, 8 RAW 9");
}

TEST_F(Linear, AnEmptyNestedListKeepsTheOrderAroundIt) {
  const Ref x = param(0, 4);
  const Ref none = linear({});
  const Ref outer = linear({writes("a", {x}), call(none, {}), call(none, {}), writes("b", {x})},
                           {{0, 1, EdgeKind::War}, {1, 2, EdgeKind::Raw}, {2, 3, EdgeKind::Raw}});
  EXPECT_EQ(resolved(call(outer, {buffer(4)})), "a b; 0 RAW 1");
}

TEST_F(Linear, VariablesThatANestedCallBindsHaveThatValueWithin) {
  const Ref n = variable("n");
  const Ref m = variable("m");
  const Ref x = param(0, 4);
  const Ref inner = linear({call(stores("uses_n", n), {x}), call(stores("uses_m", m), {x})});
  const Ref outer = linear({call(inner, {x, bind(n, m)}), call(inner, {x}),
                            call(inner, {x, bind(n, 3)}), call(stores("outer", n), {x})});
  resolved(call(outer, {buffer(4), bind(n, 5), bind(m, 7)}));
  const auto stored = [&](size_t k) {
    return linear_->src[k]->src[0]->src[0]->src[0]->src[1]->src[0];
  };
  EXPECT_EQ(stored(0), m);
  EXPECT_EQ(stored(1), m);
  EXPECT_EQ(stored(2), n);
  EXPECT_EQ(stored(4), uop::dim(g, 3));
  EXPECT_EQ(stored(6), n);
  EXPECT_EQ(with_vars(call(outer, {buffer(4), bind(n, 5), bind(m, 7)})), "m=7;n=5;");
}

TEST_F(Linear, ErrorsNameTheSlot) {
  const Ref list = linear({writes("one", {param(0, 4), param(1, 4)})});
  EXPECT_EQ(resolved(call(list, {buffer(4)})), "slot 1 has no argument among 1");
  EXPECT_EQ(resolved(call(list, {buffer(4), buffer(4, uop::I32)})),
            "slot 1 is f32[4] on sim:0, and its argument is i32[4] on sim:0");
  EXPECT_EQ(resolved(call(list, {buffer(5), buffer(4)})),
            "slot 0 is f32[4] on sim:0, and its argument is f32[5] on sim:0");
  EXPECT_EQ(resolved(call(list, {buffer(4), buffer(4, uop::F32, "sim:1")})),
            "slot 1 is f32[4] on sim:0, and its argument is f32[4] on sim:1");
}

TEST_F(Linear, OnlyVariablesThatAreUsedNeedOneValue) {  // B070
  const Ref n = variable("n");
  const Ref list = linear({call(stores("uses", n), {param(0, 4)})});
  const Ref a = buffer(4);
  EXPECT_EQ(with_vars(call(list, {a, bind(n, 5)})), "n=5;");
  EXPECT_EQ(with_vars(call(list, {a, bind(n, 5), bind(n, 5)})), "n=5;");
  EXPECT_EQ(with_vars(call(list, {a, bind(n, 5), bind(variable("n", 8), 3)})),
            "variable 'n' is bound to 5 and to 3");
  EXPECT_EQ(with_vars(call(list, {a, bind(n, 5), bind(variable("m"), 1), bind(variable("m"), 2)})),
            "n=5;");
  EXPECT_EQ(with_vars(call(list, {a})), "variable 'n' has no value");
  EXPECT_EQ(with_vars(call(list, {a, bind(n, n)})),
            "variable 'n' is bound to var, which is no constant");
}

}  // namespace
}  // namespace assay::schedule
