#include "engine/runtime/worker_device.h"

#include <gtest/gtest.h>

#include "engine/runtime/child.h"
#include "engine/runtime/executor.h"
#include "engine/runtime/profiles.h"
#include "engine/runtime/sample_linear.h"

namespace assay::runtime {
namespace {

using schedule::EdgeKind;

struct WorkerDeviceTest : ::testing::Test, SampleLinear {
  static Result<std::unique_ptr<Device>> open(std::string_view how, int64_t limit_ms = 10'000) {
    OpenOptions options;
    options.limit_ms = limit_ms;
    const std::vector<const DeviceKind*> kinds = {&worker_kind()};
    return open_device(kinds, "worker:" ASSAY_TEST_WORKER " " + std::string(how), options);
  }
  // Runs `one` on 4 floats and reads them.
  Result<Outcome> run_one(Device& d, std::vector<std::byte>& got) {
    const Result<StorageId> x = d.allocate(16, "x");
    if (!x.ok()) return x.error();
    const Ref one = linear("one", 1, 4);
    const Result<KernelId> k = d.build(g, {&one, 1})[0];
    if (!k.ok()) return k.error();
    Batch batch;
    batch.commands.resize(2);
    batch.commands[0].kernel = k.value();
    batch.commands[0].views = {{x.value(), 0, 16}};
    got.resize(16);
    batch.commands[1].kind = Command::Kind::Read;
    batch.commands[1].views = {{x.value(), 0, 16}};
    batch.commands[1].into = got;
    batch.commands[1].waits = {0};
    return d.run(std::move(batch));
  }
};

TEST_F(WorkerDeviceTest, RunsAsTheDeviceItself) {
  Result<std::unique_ptr<Device>> opened = open("");
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  Device& d = *opened.value();
  std::vector<std::byte> got;
  const Result<Outcome> outcome = run_one(d, got);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome.value().status, Status::Ok) << outcome.value().why;
  EXPECT_EQ(floats_of(got), std::vector<float>(4, 1));
  EXPECT_EQ(d.target().name, "test:0");
}

TEST_F(WorkerDeviceTest, ExecutesASchedule) {
  Result<std::unique_ptr<Device>> opened = open("");
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  Devices devices{{}};
  Device& d = devices.add(std::move(opened).value());
  Executor executor(devices);
  Buffers buffers(devices);
  const Ref x = buffer(0, 64, d.name());
  const Ref y = buffer(1, 64, d.name());
  const Ref one = call(linear("one", 1, 64), {x});
  const Ref inc = call(linear("inc", 2, 64), {y, x});
  const Result<Ran> ran =
      executor.run(g, scheduled({one, inc}, {{0, 1, EdgeKind::Raw}}, {y}), buffers);
  ASSERT_TRUE(ran.ok()) << ran.error().message;
  EXPECT_EQ(ran.value().status, Status::Ok) << ran.value().why;
  EXPECT_EQ(floats_of(buffers.read(y).value()), std::vector<float>(64, 2));
}

// The child renders and compiles what it is sent as text: p0[i] = p1[i].
TEST_F(WorkerDeviceTest, AChildRunsKernelsOnItsOpenclDevice) {
  OpenOptions options;
  options.profile = profile("adreno-660");
  const std::vector<const DeviceKind*> kinds = {&worker_kind()};
  auto opened = open_device(kinds, "worker:" ASSAY_TEST_WORKER " cl pocl-basic", options);
  if (!opened.ok() && opened.error().message.find("no OpenCL") != std::string::npos) {
    GTEST_SKIP() << opened.error().message;
  }
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  Devices devices{{}};
  Device& d = devices.add(std::move(opened).value());
  EXPECT_EQ(d.target().limits.group_size, 1024);
  EXPECT_NE(d.driver().find("Portable Computing Language"), std::string::npos);
  Executor executor(devices);
  Buffers buffers(devices);
  const Ref x = buffer(0, 4, d.name());
  const Ref y = buffer(1, 4, d.name());
  const std::vector<float> values = {1, -2, 3.5, 0};
  ASSERT_TRUE(buffers.write(g, x, bytes_of(values)).ok());
  const Ref moved = call(linear("moved", 2, 4, 2), {y, x});
  const Result<Ran> ran = executor.run(g, scheduled({moved}, {}, {x, y}), buffers);
  ASSERT_TRUE(ran.ok()) << ran.error().message;
  EXPECT_EQ(ran.value().status, Status::Ok) << ran.value().why;
  EXPECT_EQ(floats_of(buffers.read(y).value()), values);
  EXPECT_GT(ran.value().calls[0].end_ns, ran.value().calls[0].begin_ns);
}

TEST_F(WorkerDeviceTest, TheChildMakesKernelsForTheProfile) {
  OpenOptions options;
  options.profile = profile("adreno-660");
  const std::vector<const DeviceKind*> kinds = {&worker_kind()};
  const auto opened = open_device(kinds, "worker:" ASSAY_TEST_WORKER, options);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  EXPECT_EQ(to_text(opened.value()->target()), to_text(*options.profile));
}

TEST_F(WorkerDeviceTest, WhatIsLargerThanAPipeGoesThrough) {
  Result<std::unique_ptr<Device>> opened = open("");
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  Device& d = *opened.value();
  const size_t size = 16 << 20;
  const StorageId x = d.allocate(size, "x").value();
  const std::vector<std::byte> sent(size, std::byte{0x5A});
  std::vector<std::byte> got(size);
  Batch batch;
  batch.commands.resize(2);
  batch.commands[0].kind = Command::Kind::Write;
  batch.commands[0].views = {{x, 0, size}};
  batch.commands[0].from = sent;
  batch.commands[1].kind = Command::Kind::Read;
  batch.commands[1].views = {{x, 0, size}};
  batch.commands[1].into = got;
  batch.commands[1].waits = {0};
  EXPECT_EQ(d.run(std::move(batch)).value().status, Status::Ok);
  EXPECT_EQ(got, sent);
}

TEST_F(WorkerDeviceTest, AnErrorOfItsDeviceCostsNothingElse) {
  Result<std::unique_ptr<Device>> opened = open("");
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  Device& d = *opened.value();
  const Ref unknown = linear("unknown", 1, 4);
  const Result<KernelId> built = d.build(g, {&unknown, 1})[0];
  ASSERT_FALSE(built.ok());
  EXPECT_NE(built.error().message.find("kernel unknown: no such function"), std::string::npos);
  std::vector<std::byte> got;
  EXPECT_EQ(run_one(d, got).value().status, Status::Ok);
}

// Each way of misbehaving costs one batch, and the next generation works.
struct Misbehaviour {
  std::string_view what;
  Status status;
  std::string_view why;
};
void PrintTo(const Misbehaviour& m, std::ostream* out) { *out << m.what; }

struct MisbehavingWorker : WorkerDeviceTest, ::testing::WithParamInterface<Misbehaviour> {};

TEST_P(MisbehavingWorker, CostsOneBatch) {
  const Misbehaviour& m = GetParam();
  Result<std::unique_ptr<Device>> opened = open(std::string(m.what) + " run", 500);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  Device& d = *opened.value();
  std::vector<std::byte> got(16, std::byte{0x77});
  const Result<Outcome> outcome = run_one(d, got);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome.value().status, m.status);
  EXPECT_NE(outcome.value().why.find(m.why), std::string::npos) << outcome.value().why;
  EXPECT_EQ(outcome.value().done[0].status, m.status);
  EXPECT_EQ(got, std::vector<std::byte>(16, std::byte{0x77}));
  EXPECT_FALSE(d.lost().empty());
  EXPECT_FALSE(run_one(d, got).ok());
  ASSERT_TRUE(d.reopen().ok());
  EXPECT_EQ(d.generation(), 2U);
  EXPECT_TRUE(d.allocate(16, "x").ok());
}

TEST_P(MisbehavingWorker, IsSeenWhenItBuilds) {
  const Misbehaviour& m = GetParam();
  Result<std::unique_ptr<Device>> opened = open(std::string(m.what) + " build", 500);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  std::vector<std::byte> got;
  const Result<Outcome> outcome = run_one(*opened.value(), got);
  ASSERT_FALSE(outcome.ok());
  EXPECT_NE(outcome.error().message.find(m.why), std::string::npos) << outcome.error().message;
  EXPECT_FALSE(opened.value()->lost().empty());
}

TEST_P(MisbehavingWorker, IsNotOpenedAtAll) {
  const Misbehaviour& m = GetParam();
  const Result<std::unique_ptr<Device>> opened = open(std::string(m.what) + " hello", 500);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message.find(m.why), std::string::npos) << opened.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Each, MisbehavingWorker,
    ::testing::Values(
        Misbehaviour{"crash", Status::Lost,
                     "it gave no answer; the worker was killed by signal 11"},
        Misbehaviour{"exit", Status::Lost, "it gave no answer; the worker ended with 7"},
        Misbehaviour{"hang", Status::Timeout, "no answer within 500 ms; the worker did not end"},
        Misbehaviour{"late", Status::Timeout, "no answer within 500 ms"},
        Misbehaviour{"truncate", Status::Lost, "its answer is cut short; the worker ended with 0"},
        Misbehaviour{"checksum", Status::Lost, "a frame has a wrong checksum"},
        Misbehaviour{"version", Status::Lost, "the protocol is of version 99 when 1 is spoken"},
        Misbehaviour{"garbage", Status::Lost, "'Segmentation fau' is no frame"},
        Misbehaviour{"serial", Status::Lost, "an answer to request"},
        Misbehaviour{"malformed", Status::Lost, "malformed"},
        Misbehaviour{"flood", Status::Lost, "'xxxxxxxxxxxxxxxx' is no frame"}),
    [](const auto& instance) { return std::string(instance.param.what); });

TEST(WorkerName, WhatIsNoCommandIsAnError) {
  const std::vector<const DeviceKind*> kinds = {&worker_kind()};
  const auto absent = open_device(kinds, "worker:/nowhere/at all", {});
  ASSERT_FALSE(absent.ok());
  EXPECT_NE(absent.error().message.find("/nowhere/at"), std::string::npos);
  EXPECT_FALSE(open_device(kinds, "worker:", {}).ok());
}

TEST(SplitWords, KeepsWhatQuotesHoldAndExpandsNothing) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(split_words("ssh phone assay worker").value(),
            (Words{"ssh", "phone", "assay", "worker"}));
  EXPECT_EQ(split_words("  a 'b c'd \"$HOME; rm *\" ''").value(),
            (Words{"a", "b cd", "$HOME; rm *", ""}));
  EXPECT_EQ(split_words("a 'b").error().message, "a quote in 'a 'b' is left open");
  EXPECT_EQ(split_words(" ").error().message, "a command of no words");
}

}  // namespace
}  // namespace assay::runtime
