#include <gtest/gtest.h>

#include "engine/runtime/executor.h"
#include "engine/runtime/fake_device.h"
#include "engine/runtime/overwrite.h"
#include "engine/runtime/sample_linear.h"
#include "engine/runtime/work.h"
#include "engine/uop/shape.h"

namespace assay::runtime {
namespace {

struct ReadValue : ::testing::Test, SampleLinear {
  Devices devices{{}};
  Buffers buffers{devices};
  Ref x = nullptr;

  void SetUp() override {
    devices.add(std::make_unique<FakeDevice>("a:0"));
    x = buffer(0, 6, "a:0");
    ASSERT_TRUE(buffers.write(g, x, bytes_of({0, 1, 2, 3, 4, 5})).ok());
  }
  std::vector<Ref> sizes(std::initializer_list<int64_t> n) {
    std::vector<Ref> dims;
    for (const int64_t size : n) dims.push_back(index(size));
    return dims;
  }
  std::vector<float> read(Ref value, Variables variables = {}) {
    const Result<std::vector<std::byte>> bytes = read_value(g, value, variables, buffers);
    EXPECT_TRUE(bytes.ok()) << bytes.error().message;
    return bytes.ok() ? floats_of(bytes.value()) : std::vector<float>();
  }
};

TEST_F(ReadValue, SeesMovementAsItIs) {
  const Ref two_by_three = uop::reshape(g, x, sizes({2, 3}));
  const std::vector<int64_t> swap = {1, 0};
  const Ref turned = uop::permute(g, two_by_three, swap);
  EXPECT_EQ(read(turned), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  const std::vector<int64_t> first = {0};
  EXPECT_EQ(read(uop::flip(g, turned, first)), (std::vector<float>{2, 5, 1, 4, 0, 3}));
  EXPECT_EQ(read(uop::shrink(g, two_by_three, sizes({0, 2, 1, 2}))),
            (std::vector<float>{1, 2, 4, 5}));
  EXPECT_EQ(read(uop::pad(g, two_by_three, sizes({0, 1, 1, 0}))),
            (std::vector<float>{0, 0, 1, 2, 0, 3, 4, 5, 0, 0, 0, 0}));
  const Ref column = uop::shrink(g, two_by_three, sizes({0, 2, 2, 1}));
  EXPECT_EQ(read(uop::expand(g, column, sizes({2, 2, 2}))),
            (std::vector<float>{2, 2, 5, 5, 2, 2, 5, 5}));
}

TEST_F(ReadValue, ConstantsHaveBytesWithoutStorage) {
  const Ref c = g.constant(uop::of_double(uop::F32, 2.5));
  EXPECT_EQ(read(uop::expand(g, c, sizes({3}))), (std::vector<float>{2.5, 2.5, 2.5}));
}

TEST_F(ReadValue, SymbolicSizesAreWhatTheVariablesSay) {
  const Ref n = g.variable("n", uop::of_int(uop::Index, 1), uop::of_int(uop::Index, 6));
  const Ref zero = index(0);
  const std::vector<Ref> bounds = {zero, n};
  const std::vector<std::pair<std::string, int64_t>> variables = {{"n", 2}};
  EXPECT_EQ(read(uop::shrink(g, x, bounds), variables), (std::vector<float>{0, 1}));
}

TEST_F(ReadValue, BoundSizesHaveTheirValueWithThem) {
  const Ref n = g.variable("n", uop::of_int(uop::Index, 1), uop::of_int(uop::Index, 6));
  const Ref zero = index(0);
  const Ref two = index(2);
  const Ref bound = g.make(uop::Op::Bind, uop::Index, {n, two});
  const Ref more = g.alu(uop::Op::Add, {bound, index(1)});
  EXPECT_EQ(read(uop::shrink(g, x, std::vector{zero, bound})), (std::vector<float>{0, 1}));
  const std::vector<std::pair<std::string, int64_t>> others = {{"n", 5}};
  EXPECT_EQ(read(uop::shrink(g, x, std::vector{zero, more}), others),
            (std::vector<float>{0, 1, 2}));
  const Result<int64_t> no_size = size_value(g, g.make(uop::Op::Bind, uop::Index, {n, n}), {});
  ASSERT_FALSE(no_size.ok());
  EXPECT_EQ(no_size.error().message, "bind in a size");
}

TEST_F(ReadValue, WhatNoRunMadeIsAnError) {
  const Result<std::vector<std::byte>> bytes = read_value(g, buffer(5, 4, "a:0"), {}, buffers);
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.error().message, "b5 has no storage");
}

struct OverwriteTest : ::testing::Test, SampleLinear {
  // p0[r] = x for r in 0 … n.
  Overwrite of(int64_t n, const std::function<Ref(Ref p0, Ref r)>& value, Ref gate = nullptr) {
    const Ref count = index(n);
    const Ref r =
        g.make(uop::Op::Range, uop::Index, {count}, uop::Arg::axis(0, uop::AxisType::Weak));
    const Ref size = index(8);
    const Ref p0 = g.make(uop::Op::Param, uop::F32, {size}, uop::Arg::number(0));
    Ref i = r;
    if (gate != nullptr) {
      const Ref none = g.make(uop::Op::Invalid, uop::Index, {});
      i = g.alu(uop::Op::Where, {gate, r, none});
    }
    const Ref to = g.make(uop::Op::Index, uop::F32, {p0, i});
    const Ref x = value(p0, r);
    const Ref store = g.make(uop::Op::Store, uop::Void, {to, x});
    const Ref end = g.make(uop::Op::End, uop::Void, {store, r});
    return overwrite_of(g, g.make(uop::Op::Sink, uop::Void, {end}, g.info("k", {})));
  }
  Ref one() { return g.constant(uop::of_double(uop::F32, 1)); }
};

TEST_F(OverwriteTest, IsOfTheWholeWhereEachElementIsStored) {
  const auto constant = [&](Ref, Ref) { return one(); };
  EXPECT_TRUE(of(8, constant).is_whole);
  EXPECT_FALSE(of(7, constant).is_whole);
  const Ref gate = g.variable("b", uop::Bool);
  EXPECT_FALSE(of(8, constant, gate).is_whole);
  EXPECT_TRUE(of(8, constant).read.empty());
}

TEST_F(OverwriteTest, ReadsWhatItsValueReads) {
  const Overwrite same = of(8, [&](Ref p0, Ref r) {
    const Ref there = g.make(uop::Op::Index, uop::F32, {p0, r});
    const Ref c = one();
    return g.alu(uop::Op::Add, {there, c});
  });
  EXPECT_TRUE(same.reads(0));
  const Overwrite other = of(8, [&](Ref, Ref r) {
    const Ref p3 = param(3, 8);
    return g.make(uop::Op::Index, uop::F32, {p3, r});
  });
  EXPECT_EQ(other.read, std::vector<int32_t>{3});
}

TEST(FloatOperations, CountLoopsLanesAndWorkItems) {
  SampleLinear s;
  uop::Graph& g = s.g;
  const Ref groups = s.i32(4);
  const Ref gidx = s.special("gidx0", groups);
  const Ref count = s.i32(10);
  const Ref r = g.make(uop::Op::Range, uop::I32, {count}, uop::Arg::axis(0, uop::AxisType::Reduce));
  const Ref x = g.variable("x", uop::F32);
  const Ref sum = g.alu(uop::Op::Add, {x, x});
  const Ref fused = g.alu(uop::Op::Fma, {x, x, sum});
  const Ref end = g.make(uop::Op::End, uop::Void, {fused, r});
  const Ref after = g.alu(uop::Op::Mul, {x, x});
  const Ref whole = g.alu(uop::Op::Add, {gidx, gidx});
  const std::vector<Ref> list = {groups, gidx, count, x, r, sum, fused, end, after, whole};
  const Ref linear = g.make(uop::Op::Linear, uop::Void, list, g.info("k", {}));
  EXPECT_EQ(float_operations(g, linear), 4 * (10 * 3 + 1));
}

}  // namespace
}  // namespace assay::runtime
