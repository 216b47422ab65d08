#include "engine/runtime/device.h"

#include <gtest/gtest.h>

#include "engine/runtime/fake_device.h"
#include "engine/runtime/sample_linear.h"

namespace assay::runtime {
namespace {

struct DeviceTest : ::testing::Test, SampleLinear {
  FakeDevice d{"a:0"};
  StorageId x;
  KernelId one;
  KernelId inc;

  void SetUp() override {
    d.add_functions();
    x = d.allocate(1024, "x").value();
    one = kernel(linear("one", 1, 4));
    inc = kernel(linear("inc", 2, 4));
  }
  KernelId kernel(Ref linear) { return d.build(g, {&linear, 1})[0].value(); }
  std::string refusal(Command c) {
    Batch batch;
    batch.commands = {std::move(c)};
    const Result<bool> submitted = d.submit(std::move(batch));
    if (submitted.ok()) d.finish();
    const std::string prefix = "a:0: command 0, a ";
    if (submitted.ok()) return "ran";
    const std::string& said = submitted.error().message;
    return said.starts_with(prefix) ? said.substr(prefix.size()) : said;
  }
  static Command launch(KernelId k, std::vector<View> views) {
    Command c;
    c.kernel = k;
    c.views = std::move(views);
    return c;
  }
  static Command copy(View to, View from) {
    Command c;
    c.kind = Command::Kind::Copy;
    c.views = {to, from};
    return c;
  }
};

TEST_F(DeviceTest, RefusesALaunchThatDoesNotFit) {
  EXPECT_EQ(refusal(launch(one, {{x, 0, 16}})), "ran");
  EXPECT_EQ(refusal(launch(one, {})), "launch: one has no argument for slot 0");
  EXPECT_EQ(refusal(launch(one, {{x, 0, 12}})),
            "launch: slot 0 of one is given 12 bytes when it takes 16");
  EXPECT_EQ(refusal(launch(one, {{x, 1016, 16}})),
            "launch: 16 bytes from 1016 on of x, which has 1024");
  EXPECT_EQ(refusal(launch(one, {{x, -16, 16}})),
            "launch: 16 bytes from -16 on of x, which has 1024");
  EXPECT_EQ(refusal(launch(one, {{x, INT64_MAX, 16}})),
            "launch: 16 bytes from 9223372036854775807 on of x, which has 1024");
  EXPECT_EQ(refusal(launch(inc, {{x, 0, 16}})), "launch: inc has no argument for slot 1");
}

TEST_F(DeviceTest, PartsBeginWhereItsTargetSays) {
  EXPECT_EQ(refusal(launch(one, {{x, 128, 16}})), "ran");
  EXPECT_EQ(refusal(launch(one, {{x, 64, 16}})),
            "launch: slot 0 of one begins at 64, which is no multiple of 128");
  Target whole = uop::generic_target();
  whole.views = false;
  whole.view_alignment = 0;
  FakeDevice other("b:0", whole);
  other.add_functions();
  const StorageId y = other.allocate(1024, "y").value();
  const Ref list = linear("one", 1, 4);
  Batch batch;
  batch.commands = {launch(other.build(g, {&list, 1})[0].value(), {{y, 128, 16}})};
  EXPECT_EQ(other.submit(std::move(batch)).error().message,
            "b:0: command 0, a launch: slot 0 of one is part of a buffer, which the device cannot "
            "bind");
}

TEST_F(DeviceTest, RefusesCopiesThatOverlap) {
  EXPECT_EQ(refusal(copy({x, 0, 64}, {x, 64, 64})), "ran");
  EXPECT_EQ(refusal(copy({x, 0, 64}, {x, 60, 64})), "copy: source and destination overlap");
  EXPECT_EQ(refusal(copy({x, 0, 64}, {x, 64, 60})), "copy: 64 bytes become 60");
}

TEST_F(DeviceTest, RefusesWaitsForWhatComesLater) {
  Command c = launch(one, {{x, 0, 16}});
  c.waits = {0};
  EXPECT_EQ(refusal(c), "launch: waits for command 0");
  c.waits = {-1};
  EXPECT_EQ(refusal(c), "launch: waits for command -1");
}

TEST_F(DeviceTest, VariablesHaveValuesWithinTheirBounds) {
  const Ref n = g.variable("n", uop::of_int(uop::I32, 1), uop::of_int(uop::I32, 16));
  const Ref gidx = special("gidx0", n);
  const Ref p = param(0, 16);
  const Ref to = g.make(uop::Op::Index, uop::F32, {p, gidx});
  const Ref one_f = g.constant(uop::of_double(uop::F32, 1));
  const Ref store = g.make(uop::Op::Store, uop::Void, {to, one_f});
  const Ref list = g.make(uop::Op::Linear, uop::Void, {p, n, gidx, to, one_f, store},
                          g.info("one LOCAL(0,8)", {}));
  const KernelId k = kernel(list);
  const Signature& s = d.signature(k);
  EXPECT_EQ(s.name, "one");
  EXPECT_EQ(s.opts, "LOCAL(0,8)");
  ASSERT_EQ(s.slots.size(), 1U);
  EXPECT_EQ(s.slots[0].bytes, 64);
  EXPECT_TRUE(s.slots[0].is_written);
  const auto with = [&](std::vector<std::pair<std::string, int64_t>> variables) {
    Batch batch;
    batch.commands = {launch(k, {{x, 0, 64}})};
    batch.variables = std::move(variables);
    const Result<Outcome> outcome = d.run(std::move(batch));
    return outcome.ok() ? "ran" : outcome.error().message;
  };
  EXPECT_EQ(with({{"m", 2}, {"n", 16}}), "ran");
  EXPECT_EQ(with({}), "a:0: command 0, a launch: variable n of one has no value");
  EXPECT_EQ(with({{"n", 17}}),
            "a:0: command 0, a launch: variable n is 17 when it lies from 1 to 16");
  const std::vector<std::pair<std::string, int64_t>> five = {{"n", 5}};
  EXPECT_EQ(s.sizes(five).value().groups[0], 5);
  EXPECT_EQ(s.sizes(five).value().work_items(), 5);
}

TEST_F(DeviceTest, WhatWasReleasedIsRefusedByName) {
  d.release(x);
  EXPECT_EQ(refusal(launch(one, {{x, 0, 16}})), "launch: storage that was released");
  const StorageId y = d.allocate(64, "y").value();
  EXPECT_EQ(y.number, x.number);
  EXPECT_EQ(refusal(launch(one, {{x, 0, 16}})), "launch: storage that was released");
  d.release(one);
  kernel(linear("twice", 2, 4));
  EXPECT_EQ(refusal(launch(one, {{y, 0, 16}})), "launch: a kernel that was released");
}

TEST_F(DeviceTest, ANewGenerationKnowsNothingOfTheOld) {
  EXPECT_EQ(d.storages(), 1);
  EXPECT_EQ(d.kernels(), 2);
  ASSERT_TRUE(d.reopen().ok());
  EXPECT_EQ(d.storages(), 0);
  EXPECT_EQ(d.kernels(), 0);
  EXPECT_TRUE(d.memory.empty());
  EXPECT_EQ(refusal(launch(one, {{x, 0, 16}})), "launch: storage of generation 1 when a:0 is at 2");
  const StorageId y = d.allocate(64, "y").value();
  EXPECT_EQ(refusal(launch(one, {{y, 0, 16}})),
            "launch: a kernel of generation 1 when a:0 is at 2");
  d.release(x);  // is gone already
  EXPECT_EQ(d.storages(), 1);
}

TEST_F(DeviceTest, CountsBytesNowAndAtMost) {
  EXPECT_EQ(d.live_bytes(), 1024);
  const StorageId y = d.allocate(100, "y").value();
  d.release(x);
  EXPECT_EQ(d.live_bytes(), 100);
  EXPECT_EQ(d.peak_bytes(), 1124);
  d.reset_peak();
  EXPECT_EQ(d.peak_bytes(), 100);
  d.release(y);
  EXPECT_EQ(d.live_bytes(), 0);
}

TEST_F(DeviceTest, RefusesStorageThatItsTargetDoesNotAllow) {
  EXPECT_EQ(d.allocate(int64_t{1} << 40, "z").error().message,
            "a:0: z is of 1099511627776 bytes when the device allows 134217728");
  EXPECT_EQ(d.allocate(-1, "z").error().message,
            "a:0: z is of -1 bytes when the device allows 134217728");
  EXPECT_EQ(d.allocate(2 << 20, "z").error().message, "a:0: z of 2097152 bytes: no room");
  std::vector<std::byte> memory(64);
  EXPECT_FALSE(d.adopt(memory, "camera").ok());
}

TEST_F(DeviceTest, NamesOfSignaturesAreChecked) {
  const Ref n = i32(4);
  const Ref wrong = special("gidx7", n);
  const Ref list = g.make(uop::Op::Linear, uop::Void, {n, wrong}, g.info("one", {}));
  EXPECT_EQ(d.build(g, {&list, 1})[0].error().message, "'gidx7' is no axis of a launch");
  const Ref sink = g.make(uop::Op::Sink, uop::Void, {}, g.info("one", {}));
  EXPECT_EQ(d.build(g, {&sink, 1})[0].error().message, "sink is no linear");
}

}  // namespace
}  // namespace assay::runtime
