#include "engine/schedule/copy.h"

#include <gtest/gtest.h>

#include <string>

#include "engine/schedule/sample_graph.h"
#include "engine/uop/shape.h"
#include "engine/uop/verify.h"

namespace assay::schedule {
namespace {

using Compilation = uop::Run;  // within a TEST, Run is a function of GoogleTest

class Copy : public testing::Test, public SampleGraph {
 protected:
  Ref n(int64_t i) { return uop::dim(g, i); }
  Ref plus(Ref a, Ref b) { return uop::dim_add(g, a, b); }
  Ref times(Ref a, int64_t k) { return uop::dim_mul(g, a, n(k)); }
  // dst[to] := src[from], from one device to the other.
  Ref moves(Ref to, Ref from, std::initializer_list<Ref> ranges) {
    return kernel("move", index(flat(0, 100), to), index(flat(1, 50), from), ranges);
  }
  // The body of the copy without its first line, or the error.
  std::string copied(Ref body) { return copied(body, buffer(50, uop::F32, "sim:1")); }
  std::string copied(Ref body, Ref source) {
    Compilation run(g);
    const Ref calls[] = {call(body, {buffer(100, uop::F32, "sim:0"), source})};
    const auto linear = pm_copy_from_store(run, make_linear(g, calls, {}));
    if (!linear.ok()) return linear.error().message;
    EXPECT_EQ(uop::verify(g, linear.value()).value_or(""), "");
    const Ref made = linear.value()->src[0];
    if (!is_copy(made)) return "kernel";
    EXPECT_EQ(made->src.subspan(1).size(), 2U);
    const Ref store = made->src[0]->src[0];
    const Ref into = store->src[0];
    const Ref out_of = store->src[1]->src[0];
    EXPECT_EQ(store->src[1]->src[1]->arg.name(), "sim:0");
    EXPECT_EQ(into->src[2], out_of->src[2]);
    return fmt::format("{} <- {}, {}", dim_text(into->src[1]), dim_text(out_of->src[1]),
                       dim_text(into->src[2]));
  }
  static std::string dim_text(Ref u) {
    const Ref one[] = {u};
    const std::string text = uop::shape_text(one);
    return text.substr(1, text.size() - 2);
  }

  static constexpr std::string_view kRefused =
      "kernel 0 (move) has buffers on sim:0 and sim:1: only a copy of a contiguous range goes "
      "between devices";
};

TEST_F(Copy, AWholeBufferIsCopied) {
  const Ref r = range(0, 50);
  EXPECT_EQ(copied(moves(r, r, {r})), "0 <- 0, 50");
}

TEST_F(Copy, ARangeIsCopiedFromAnyPlaceToAnyPlace) {
  const Ref r = range(0, 10);
  EXPECT_EQ(copied(moves(plus(r, n(7)), plus(r, n(3)), {r})), "7 <- 3, 10");
  EXPECT_EQ(copied(moves(n(7), n(3), {})), "7 <- 3, 1");
}

TEST_F(Copy, RangesThatCountThroughOneAreCopiedAsOne) {
  const Ref a = range(0, 5);
  const Ref b = range(1, 4);
  const Ref c = range(2, 1);
  const Ref i = plus(times(a, 4), b);
  EXPECT_EQ(copied(moves(plus(i, n(20)), i, {a, b})), "20 <- 0, 20");
  EXPECT_EQ(copied(moves(plus(i, n(20)), i, {b, a})), "20 <- 0, 20");
  EXPECT_EQ(copied(moves(plus(i, times(c, 9)), i, {a, b, c})), "0 <- 0, 20");
}

TEST_F(Copy, PlacesAndCountsMayBeSymbolic) {
  const Ref v = g.variable("v", uop::of_int(uop::Index, 1), uop::of_int(uop::Index, 16));
  const Ref r = g.make(uop::Op::Range, uop::Index, {v}, uop::Arg::axis(0, uop::AxisType::Weak));
  const Ref a = range(1, 3);
  EXPECT_EQ(copied(moves(plus(r, v), r, {r})), "v <- 0, v");
  EXPECT_EQ(copied(moves(plus(times(r, 3), a), plus(times(r, 3), a), {r, a})), "0 <- 0, (* v 3)");
}

TEST_F(Copy, AnIndexIsSimplifiedFirst) {
  const Ref a = range(0, 20);
  const Ref four = n(4);
  const Ref i = plus(times(g.alu(uop::Op::Div, {a, four}), 4), g.alu(uop::Op::Mod, {a, four}));
  EXPECT_EQ(copied(moves(a, i, {a})), "0 <- 0, 20");
}

TEST_F(Copy, WhatReordersSkipsOrComputesIsRefused) {
  const Ref a = range(0, 5);
  const Ref b = range(1, 4);
  const Ref i = plus(times(a, 4), b);
  EXPECT_EQ(copied(moves(i, plus(times(b, 5), a), {a, b})), kRefused);  // transposed
  EXPECT_EQ(copied(moves(times(a, 2), a, {a})), kRefused);              // a step
  EXPECT_EQ(copied(moves(a, times(a, 2), {a})), kRefused);              // a step
  EXPECT_EQ(copied(moves(plus(times(a, 5), b), plus(times(a, 5), b), {a, b})), kRefused);  // gaps
  EXPECT_EQ(copied(moves(i, b, {a, b})), kRefused);                      // repeated
  EXPECT_EQ(copied(moves(a, uop::dim_sub(g, n(4), a), {a})), kRefused);  // flipped
  EXPECT_EQ(copied(kernel("move", index(flat(0, 100), a),
                          g.alu(uop::Op::Neg, {index(flat(1, 50), a)}), {a})),
            kRefused);
  const Ref gate = g.alu(uop::Op::Lt, {a, n(3)});
  const Ref nothing = g.make(uop::Op::Invalid, uop::Index, {});
  EXPECT_EQ(copied(moves(a, g.make(uop::Op::Where, uop::Index, {gate, a, nothing}), {a})),
            kRefused);
}

TEST_F(Copy, WithinADeviceNothingIsACopy) {
  const Ref r = range(0, 50);
  EXPECT_EQ(copied(moves(r, r, {r}), buffer(50, uop::F32, "sim:0")), "kernel");
}

TEST_F(Copy, EdgesAndCopiesStay) {
  Compilation run(g);
  const Ref r = range(0, 50);
  const Ref a = buffer(100, uop::F32, "sim:0");
  const Ref b = buffer(50, uop::F32, "sim:1");
  const Ref calls[] = {call(sum_kernel("fill", 0), {b}), call(moves(r, r, {r}), {a, b})};
  const Ref linear = make_linear(g, calls, {{0, 1, EdgeKind::Raw}});
  const auto once = pm_copy_from_store(run, linear);
  ASSERT_TRUE(once.ok());
  EXPECT_EQ(brief(once.value()), "fill copy; 0 RAW 1");
  const auto twice = pm_copy_from_store(run, once.value());
  ASSERT_TRUE(twice.ok());
  EXPECT_EQ(twice.value(), once.value());
  EXPECT_EQ(assert_all_same_devices(g, linear).error().message,
            "kernel 1 (move) has buffers on sim:0 and sim:1: only a copy of a contiguous range "
            "goes between devices");
}

}  // namespace
}  // namespace assay::schedule
