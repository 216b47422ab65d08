#include "engine/runtime/executor.h"

#include <gtest/gtest.h>

#include "engine/runtime/fake_device.h"
#include "engine/runtime/sample_linear.h"
#include "engine/runtime/seen.h"

namespace assay::runtime {
namespace {

using schedule::Edge;
using schedule::EdgeKind;
using schedule::Schedule;

// Devices "a:0" and "b:0" with functions one (p0 = 1), inc (p0 = p1 + 1) and twice (p0 = 2 p1).
struct ExecutorTest : ::testing::Test, SampleLinear {
  Devices devices{{}};
  FakeDevice* a = add("a:0");
  FakeDevice* b = add("b:0");
  Executor executor{devices};
  Buffers buffers{devices};

  FakeDevice* add(std::string name) {
    auto made = std::make_unique<FakeDevice>(std::move(name));
    FakeDevice* device = made.get();
    made->add_functions();
    devices.add(std::move(made));
    return device;
  }

  Ran run(const Schedule& s, const RunOptions& options = {}) {
    Result<Ran> ran = executor.run(g, s, buffers, options);
    EXPECT_TRUE(ran.ok()) << ran.error().message;
    return ran.ok() ? std::move(ran).value() : Ran{};
  }
  std::string refusal(const Schedule& s) {
    const Result<Ran> ran = executor.run(g, s, buffers);
    return ran.ok() ? "ran" : ran.error().message;
  }
  std::vector<float> read(Ref buffer) {
    const Result<std::vector<std::byte>> bytes = buffers.read(buffer);
    EXPECT_TRUE(bytes.ok()) << bytes.error().message;
    return bytes.ok() ? floats_of(bytes.value()) : std::vector<float>();
  }
  std::string reading_error(Ref buffer) {
    const Result<std::vector<std::byte>> bytes = buffers.read(buffer);
    return bytes.ok() ? "read" : bytes.error().message;
  }
  // x = 1; y = x + 1; z = 2 y, all on a:0, with these edges.
  Schedule chain(std::vector<Edge> edges) {
    const Ref x = buffer(0, 4, "a:0");
    const Ref y = buffer(1, 4, "a:0");
    const Ref z = buffer(2, 4, "a:0");
    const Ref one = call(linear("one", 1, 4), {x});
    const Ref inc = call(linear("inc", 2, 4), {y, x});
    const Ref twice = call(linear("twice", 2, 4), {z, y});
    return scheduled({one, inc, twice}, std::move(edges), {z});
  }
};

TEST_F(ExecutorTest, RunsAChainInOneBatch) {
  const Ran ran = run(chain({{0, 1, EdgeKind::Raw}, {1, 2, EdgeKind::Raw}}));
  EXPECT_EQ(ran.status, Status::Ok) << ran.why;
  EXPECT_EQ(read(buffer(2, 4, "a:0")), std::vector<float>(4, 4));
  EXPECT_EQ(ran.batches, 1);
  EXPECT_EQ(ran.built, 3);
  EXPECT_EQ(ran.actual, ran.predicted);
  EXPECT_EQ(ran.actual.kernels, 3);
  EXPECT_EQ(ran.actual.peak_bytes, 48);
}

TEST_F(ExecutorTest, OnlyEdgesKeepAnOrder) {
  const Ran ran = run(chain({{0, 1, EdgeKind::Raw}}));
  EXPECT_EQ(ran.status, Status::Ok);
  EXPECT_NE(read(buffer(2, 4, "a:0")), std::vector<float>(4, 4));
  EXPECT_EQ(a->log, (std::vector<std::string>{"twice", "one", "inc", "read"}));
}

TEST_F(ExecutorTest, EveryOrderThatTheEdgesAllowGivesTheSame) {
  const Schedule s = chain({{0, 1, EdgeKind::Raw}, {1, 2, EdgeKind::Raw}});
  for (uint64_t seed = 1; seed < 20; seed++) {
    a->seed = seed;
    run(s);
    EXPECT_EQ(read(buffer(2, 4, "a:0")), std::vector<float>(4, 4));
  }
}

TEST_F(ExecutorTest, GivesBackWhatOnlyTheScheduleKnows) {
  run(chain({{0, 1, EdgeKind::Raw}, {1, 2, EdgeKind::Raw}}));
  EXPECT_EQ(a->storages(), 1);
  EXPECT_EQ(buffers.find(buffer(0, 4, "a:0")), nullptr);
}

TEST_F(ExecutorTest, BuildsAKernelOnce) {
  const Schedule s = chain({{0, 1, EdgeKind::Raw}, {1, 2, EdgeKind::Raw}});
  EXPECT_EQ(run(s).built, 3);
  EXPECT_EQ(run(s).built, 0);
  EXPECT_EQ(a->kernels(), 3);
}

TEST_F(ExecutorTest, ADifferentOrderMustKeepTheEdges) {
  const Schedule s = chain({{0, 1, EdgeKind::Raw}, {1, 2, EdgeKind::Raw}});
  const std::vector<int> order = {1, 0, 2};
  const Result<Ran> ran = executor.run(g, s, buffers, {.order = order});
  ASSERT_FALSE(ran.ok());
  EXPECT_EQ(ran.error().message, "call 1 comes before call 0, for which it waits");
}

TEST_F(ExecutorTest, CopiesBetweenDevicesAndCountsTheWaits) {
  const Ref x = buffer(0, 4, "a:0");
  const Ref y = buffer(1, 4, "b:0");
  const Ref z = buffer(2, 4, "b:0");
  const Ref one = call(linear("one", 1, 4), {x});
  const Ref moved = copy(y, 1, x, 0, 3);
  const Ref inc = call(linear("inc", 2, 4), {z, y});
  const std::vector<float> before = {7, 7, 7, 7};
  ASSERT_TRUE(buffers.write(g, y, bytes_of(before)).ok());
  const Ran ran =
      run(scheduled({one, moved, inc}, {{0, 1, EdgeKind::Raw}, {1, 2, EdgeKind::Raw}}, {y, z}));
  EXPECT_EQ(ran.status, Status::Ok) << ran.why;
  EXPECT_EQ(read(z), (std::vector<float>{8, 2, 2, 2}));
  EXPECT_EQ(ran.actual, ran.predicted);
  EXPECT_EQ(ran.actual.kernels, 2);
  EXPECT_EQ(ran.actual.copies, 1);
  EXPECT_EQ(ran.actual.queue_waits, 2);
  EXPECT_EQ(ran.actual.host_waits, 1);
}

TEST_F(ExecutorTest, DevicesWorkAtTheSameTime) {
  const Ref x = buffer(0, 4, "a:0");
  const Ref y = buffer(1, 4, "b:0");
  const Ref one = linear("one", 1, 4);
  const Ran ran = run(scheduled({call(one, {x}), call(one, {y})}, {}, {x, y}));
  EXPECT_EQ(ran.batches, 2);
  EXPECT_EQ(b->in_flight, 1U);
}

TEST_F(ExecutorTest, AFailedLaunchLeavesItsOutputAndAllAfterItInvalid) {
  a->fails = "inc";
  const Ref y = buffer(1, 4, "a:0");
  const Ref z = buffer(2, 4, "a:0");
  Schedule s = chain({{0, 1, EdgeKind::Raw}, {1, 2, EdgeKind::Raw}});
  s.call = g.make(uop::Op::Call, uop::Void, {s.linear, y, z}, g.info("", {}));
  const Ran ran = run(s);
  EXPECT_EQ(ran.status, Status::Fault);
  EXPECT_EQ(ran.call, 1);
  EXPECT_EQ(ran.why, "call 1, inc, on a:0: fault: as it was told");
  EXPECT_EQ(reading_error(y), "b1 is invalid: " + ran.why);
  EXPECT_EQ(reading_error(z), "b2 is invalid: " + ran.why);
  EXPECT_EQ(ran.calls[0].status, Status::Ok);
  EXPECT_EQ(ran.calls[2].status, Status::Fault);
}

TEST_F(ExecutorTest, WhatIsInvalidIsNotReadByALaterRun) {
  const Ref y = buffer(1, 4, "a:0");
  const Ref z = buffer(2, 4, "a:0");
  a->fails = "one";
  run(scheduled({call(linear("one", 1, 4), {y})}, {}, {y}));
  const Schedule reader = scheduled({call(linear("inc", 2, 4), {z, y})}, {}, {y, z});
  EXPECT_EQ(refusal(reader),
            "call 0, inc, reads b1, which is invalid: call 0, one, on a:0: fault: as it was told");
  ASSERT_TRUE(buffers.write(g, y, bytes_of({1, 2, 3, 4})).ok());
  EXPECT_EQ(run(reader).status, Status::Ok);
  EXPECT_EQ(read(z), (std::vector<float>{2, 3, 4, 5}));
}

TEST_F(ExecutorTest, ALostDeviceIsLeftBehindWithAllItHeld) {
  a->fails = "inc";
  a->how = Status::Lost;
  const Ref x = buffer(0, 4, "a:0");
  const Ref z = buffer(2, 4, "a:0");
  const Schedule s = chain({{0, 1, EdgeKind::Raw}, {1, 2, EdgeKind::Raw}});
  ASSERT_TRUE(buffers.write(g, x, bytes_of({1, 2, 3, 4})).ok());
  EXPECT_EQ(run(s).status, Status::Lost);
  EXPECT_EQ(refusal(s),
            "call 2, twice, writes only part of b2, which is invalid: call 1, inc, on a:0: lost: "
            "as it was told");
  EXPECT_EQ(reading_error(x), "a:0 is lost: as it was told");
  ASSERT_TRUE(a->reopen().ok());
  EXPECT_EQ(reading_error(x), "a:0: command 0, a read: storage of generation 1 when a:0 is at 2");
  buffers.drop(x);
  buffers.drop(z);
  a->fails.clear();
  EXPECT_EQ(run(s).status, Status::Ok);
  EXPECT_EQ(read(z), std::vector<float>(4, 4));
}

TEST_F(ExecutorTest, AKernelThatDoesNotBuildRunsNothing) {
  const Ref x = buffer(0, 4, "a:0");
  const Ref one = call(linear("one", 1, 4), {x});
  const Ref unknown = call(linear("unknown", 1, 4), {x});
  EXPECT_EQ(refusal(scheduled({one, unknown}, {{0, 1, EdgeKind::Waw}}, {x})),
            "a:0: kernel unknown: no such function");
  EXPECT_TRUE(a->log.empty());
  EXPECT_EQ(a->storages(), 0);
}

TEST_F(ExecutorTest, NoRoomRunsNothingAndLeavesNothing) {
  a->room = 40;
  EXPECT_EQ(refusal(chain({{0, 1, EdgeKind::Raw}, {1, 2, EdgeKind::Raw}})),
            "a:0: b2 of 16 bytes: no room");
  EXPECT_TRUE(a->log.empty());
  EXPECT_EQ(a->storages(), 0);
}

TEST_F(ExecutorTest, PoisonShowsWhatNoKernelWrote) {
  a->functions["half"] = [](std::span<const FakeDevice::Bytes> x) {
    std::memset(x[0].data(), 0, x[0].size() / 2);
  };
  const Ref x = buffer(0, 4, "a:0");
  run(scheduled({call(linear("half", 1, 4), {x})}, {}, {x}), {.poison = true});
  const std::vector<float> values = read(x);
  EXPECT_EQ(values[1], 0);
  EXPECT_NE(values[2], values[2]);
}

TEST_F(ExecutorTest, ShowsEachLaunch) {
  struct Looker : uop::Watch {
    std::vector<std::string> launches;
    void seen(const LaunchSeen& s) override { launches.push_back(s.kernel.name); }
  } looker;
  run(chain({{0, 1, EdgeKind::Raw}, {1, 2, EdgeKind::Raw}}), {.watch = &looker});
  EXPECT_EQ(looker.launches, (std::vector<std::string>{"one", "inc", "twice"}));
}

// External buffers

struct ExternalTest : ExecutorTest {
  StorageId ring(int64_t bytes) { return a->allocate(bytes, "ring").value(); }
  std::string bind_error(Ref to, const External& e) {
    const Result<bool> bound = buffers.bind(g, to, e);
    return bound.ok() ? "bound" : bound.error().message;
  }
};

TEST_F(ExternalTest, AreBoundAnewForEachRun) {
  const Ref x = buffer(0, 4, "a:0");
  const Ref y = buffer(1, 4, "a:0");
  const Schedule s = scheduled({call(linear("inc", 2, 4), {y, x})}, {}, {x, y});
  for (const float frame : {10.0F, 20.0F}) {
    const StorageId storage = ring(16);
    std::vector<float> pixels(4, frame);
    std::memcpy(a->memory.at(storage.number).data(), pixels.data(), 16);
    ASSERT_EQ(bind_error(x, {a, {storage, 0, 16}, uop::F32, "camera", false}), "bound");
    EXPECT_EQ(run(s).status, Status::Ok);
    EXPECT_EQ(read(y), std::vector<float>(4, frame + 1));
  }
  EXPECT_EQ(a->storages(), 3);
}

TEST_F(ExternalTest, AreCheckedWhenTheyAreBound) {
  const Ref x = buffer(0, 4, "a:0");
  const Ref y = buffer(1, 4, "a:0");
  const StorageId s = ring(512);
  EXPECT_EQ(bind_error(buffer(2, 4, "b:0"), {a, {s, 0, 16}, uop::F32, "camera", false}),
            "b2 cannot be camera's storage: it is on b:0, the other on a:0");
  EXPECT_EQ(bind_error(x, {a, {s, 0, 16}, uop::I32, "camera", false}),
            "b0 cannot be camera's storage: it is of f32, the other of i32");
  EXPECT_EQ(bind_error(x, {a, {s, 0, 20}, uop::F32, "camera", false}),
            "b0 cannot be camera's storage: it has 16 bytes, the other 20");
  EXPECT_EQ(bind_error(x, {a, {s, 8, 16}, uop::F32, "camera", false}),
            "b0 cannot be camera's storage: it would begin at 8, which is no multiple of 128");
  EXPECT_EQ(bind_error(x, {a, {s, 512, 16}, uop::F32, "camera", false}),
            "b0 cannot be camera's storage: 16 bytes from 512 on of ring, which has 512");
  EXPECT_EQ(bind_error(x, {a, {s, 128, 16}, uop::F32, "camera", false}), "bound");
  EXPECT_EQ(bind_error(y, {a, {s, 128, 16}, uop::F32, "camera", true}),
            "b1 cannot be camera's storage: b0 is bound to the same bytes");
  EXPECT_EQ(bind_error(y, {a, {s, 256, 16}, uop::F32, "camera", false}), "bound");
}

TEST_F(ExternalTest, AreNotUsedAfterTheirOwnerGaveThemBack) {
  const Ref x = buffer(0, 4, "a:0");
  const StorageId s = ring(16);
  ASSERT_EQ(bind_error(x, {a, {s, 0, 16}, uop::F32, "camera", false}), "bound");
  a->release(s);
  ring(16);  // gets the same number
  const Ran ran = run(scheduled({call(linear("one", 1, 4), {x})}, {}, {x}));
  EXPECT_EQ(ran.status, Status::Fault);
  EXPECT_EQ(ran.why,
            "call 0, one, on a:0: fault: a:0: command 0, a launch: storage that was "
            "released");
}

TEST_F(ExternalTest, ThatShareBytesKeepTheOrderOfTheCalls) {
  const Ref x = buffer(0, 4, "a:0");
  const Ref y = buffer(1, 4, "a:0");
  const StorageId s = ring(16);
  ASSERT_EQ(bind_error(x, {a, {s, 0, 16}, uop::F32, "camera", true}), "bound");
  ASSERT_EQ(bind_error(y, {a, {s, 0, 16}, uop::F32, "camera", true}), "bound");
  const Ref one = call(linear("one", 1, 4), {x});
  const Ref inc = call(linear("inc", 2, 4), {y, y});
  run(scheduled({one, inc}, {}, {x, y}));
  EXPECT_EQ(read(x), std::vector<float>(4, 2));
}

}  // namespace
}  // namespace assay::runtime
