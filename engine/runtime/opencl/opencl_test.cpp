#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "engine/runtime/executor.h"
#include "engine/runtime/opencl/device.h"
#include "engine/runtime/opencl/environment.h"
#include "engine/runtime/profiles.h"
#include "engine/runtime/sample_linear.h"

namespace assay::runtime::opencl {
namespace {

using schedule::EdgeKind;

constexpr std::string_view kInc =
    "int i = get_group_id(0) * get_local_size(0) + get_local_id(0);\n  p0[i] = p1[i] + 1.0f;";

// The text of a kernel, by its name.
Result<KernelText> text_of(Graph&, Ref linear, const Target&, std::string_view name, uop::Watch*) {
  const std::string own(linear->arg.name());
  const std::string called = name.empty() ? own : std::string(name);
  const auto kernel = [&](std::string_view arguments, std::string_view body) {
    return KernelText{called, "#pragma OPENCL FP_CONTRACT OFF\nkernel void " + called + "(" +
                                  std::string(arguments) + ") {\n  " + std::string(body) + "\n}\n"};
  };
  const std::string_view two = "global float* p0, global const float* p1";
  if (own == "one") return kernel("global float* p0", "p0[get_global_id(0)] = 1.0f;");
  if (own == "inc") return kernel(two, kInc);
  if (own == "twice") return kernel(two, "p0[get_global_id(0)] = 2.0f * p1[get_global_id(0)];");
  if (own == "slow") {
    return kernel(two,
                  "float x = 0;\n  for (int k = 0; k < 3000000; k++) x = x * 0.5f + p1[0];\n"
                  "  p0[get_global_id(0)] = x < 0 ? 0 : 1;");
  }
  if (own == "beyond") return kernel("global float* p0", "p0[get_global_id(0) + 4] = 1.0f;");
  if (own == "sized") {
    const auto param = std::ranges::find(linear->src, uop::Op::Param, &uop::UOp::op);
    const auto size = static_cast<int64_t>(as_int((*param)->src[0]->value()));
    return kernel("global float* p0", "p0[get_global_id(0)] = " + std::to_string(size) + ";");
  }
  if (own == "race") return kernel("global float* p0", "p0[0] = (float)get_global_id(0);");
  return kernel("global float* p0", "p0[0] = nonsense;");
}

struct OpenclTest : ::testing::Test, SampleLinear {
  std::unique_ptr<OpenclDevice> open(std::string_view name = "pocl-basic") {
    Result<std::unique_ptr<OpenclDevice>> opened = OpenclDevice::open(name, {}, text_of);
    if (!opened.ok()) {
      ADD_FAILURE() << opened.error().message;
      return nullptr;
    }
    return std::move(opened).value();
  }
  void SetUp() override {
    ASSERT_TRUE(prepare_environment("").ok());
    if (!find_all().ok()) GTEST_SKIP() << "no OpenCL platform is installed";
  }
  static KernelId kernel(OpenclDevice& d, SampleLinear& sample, Ref linear) {
    const Result<KernelId> built = d.build(sample.g, {&linear, 1})[0];
    EXPECT_TRUE(built.ok()) << built.error().message;
    return built.ok() ? built.value() : KernelId{};
  }
};

Command launch(KernelId kernel, std::vector<View> views, std::vector<int32_t> waits = {}) {
  Command c;
  c.kernel = kernel;
  c.views = std::move(views);
  c.waits = std::move(waits);
  return c;
}
Command read(View view, std::span<std::byte> into, std::vector<int32_t> waits = {}) {
  Command c;
  c.kind = Command::Kind::Read;
  c.lane = Lane::Copy;
  c.views = {view};
  c.into = into;
  c.waits = std::move(waits);
  return c;
}
Command write(View view, std::span<const std::byte> from) {
  Command c;
  c.kind = Command::Kind::Write;
  c.lane = Lane::Copy;
  c.views = {view};
  c.from = from;
  return c;
}

TEST_F(OpenclTest, ReleasesEachObjectThatItMakes) {
  const int64_t before = live_objects();
  {
    const auto d = open();
    ASSERT_NE(d, nullptr);
    const StorageId x = d->allocate(1024, "x").value();
    const KernelId one = kernel(*d, *this, linear("one", 1, 4));
    std::vector<std::byte> got(16);
    Batch batch;
    batch.commands = {launch(one, {{x, 256, 16}}), read({x, 256, 16}, got, {0})};
    const Result<Outcome> outcome = d->run(std::move(batch));
    ASSERT_TRUE(outcome.ok()) << outcome.error().message;
    EXPECT_EQ(outcome.value().status, Status::Ok) << outcome.value().why;
    EXPECT_EQ(outcome.value().queue_waits, 1);
    EXPECT_EQ(floats_of(got), std::vector<float>(4, 1));
    EXPECT_GT(live_objects(), before);
  }
  EXPECT_EQ(live_objects(), before);
}

// A CPU says how wide its vectors are. What runs on it is still made as for a GPU, unless asked.
TEST_F(OpenclTest, IsTunedWhereAskedAndNotByAProfile) {
  const auto tuning = [](const OpenOptions& how) {
    const Result<std::unique_ptr<OpenclDevice>> opened = OpenclDevice::open("pocl-basic", how);
    EXPECT_TRUE(opened.ok());
    return opened.ok() ? opened.value()->target().tuning : uop::Tuning{};
  };
  OpenOptions how;
  EXPECT_FALSE(tuning(how).items_are_lanes);
  how.tuned = true;
  EXPECT_TRUE(tuning(how).items_are_lanes);
  EXPECT_EQ(tuning(how).tile, 8 * tuning(how).lanes);
  how.profile = profile("adreno-660");
  EXPECT_FALSE(tuning(how).items_are_lanes);
}

TEST_F(OpenclTest, ReleasesAllOnErrorPathsToo) {
  const int64_t before = live_objects();
  {
    const auto d = open();
    ASSERT_NE(d, nullptr);
    const std::vector<Ref> linears = {linear("one", 1, 4), linear("broken", 1, 4)};
    const std::vector<Result<KernelId>> built = d->build(g, linears);
    ASSERT_TRUE(built[0].ok());
    ASSERT_FALSE(built[1].ok());
    const StorageId x = d->allocate(16, "x").value();
    const Ref wide = linear("one", 1, 8192, 8192);  // more work-items than a group may have
    const KernelId too_wide = kernel(*d, *this, wide);
    const StorageId large = d->allocate(4 * 8192, "large").value();
    Batch batch;
    batch.commands = {launch(built[0].value(), {{x, 0, 16}}), launch(too_wide, {{large, 0, 32768}}),
                      launch(built[0].value(), {{x, 0, 16}}, {1})};
    const Outcome outcome = d->run(std::move(batch)).value();
    EXPECT_EQ(outcome.status, Status::Fault);
    EXPECT_EQ(outcome.command, 1);
    EXPECT_EQ(outcome.why, "CL_INVALID_WORK_GROUP_SIZE (-54)");
    EXPECT_EQ(outcome.done[0].status, Status::Ok);
    EXPECT_EQ(outcome.done[2].status, Status::Fault);
  }
  EXPECT_EQ(live_objects(), before);
}

TEST_F(OpenclTest, ABuildFailureMarksTheLineAndKeepsTheText) {
  const auto d = open();
  ASSERT_NE(d, nullptr);
  const std::vector<Ref> linears = {linear("broken", 1, 4)};
  const Result<KernelId> built = d->build(g, linears)[0];
  ASSERT_FALSE(built.ok());
  const std::string& said = built.error().message;
  EXPECT_NE(said.find("cl:pocl-basic: kernel broken: does not build; its text is in "),
            std::string::npos)
      << said;
  EXPECT_NE(said.find(">    3   p0[0] = nonsense;\n"), std::string::npos) << said;
  EXPECT_NE(said.find("undeclared"), std::string::npos) << said;
  const size_t begin = said.find("is in ") + 6;
  const std::string path = said.substr(begin, said.find('\n') - begin);
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("nonsense"), std::string::npos) << path;
  std::filesystem::remove(path);
}

TEST_F(OpenclTest, CompilesManyKernelsAsOneProgramAndEachOnce) {
  const auto d = open();
  ASSERT_NE(d, nullptr);
  const std::vector<Ref> linears = {linear("one", 1, 4), linear("inc", 2, 4), linear("inc", 2, 8),
                                    linear("twice", 2, 4)};
  for (const Result<KernelId>& built : d->build(g, linears)) EXPECT_TRUE(built.ok());
  EXPECT_EQ(d->compiler().compiled(), 1);
  for (const Result<KernelId>& built : d->build(g, linears)) EXPECT_TRUE(built.ok());
  EXPECT_EQ(d->compiler().compiled(), 1);
}

TEST_F(OpenclTest, KernelsOfOneNameAreOneProgram) {
  const auto d = open();
  ASSERT_NE(d, nullptr);
  const std::vector<Ref> linears = {linear("sized", 1, 4), linear("sized", 1, 8)};
  const std::vector<Result<KernelId>> built = d->build(g, linears);
  ASSERT_TRUE(built[0].ok() && built[1].ok());
  EXPECT_EQ(d->compiler().compiled(), 1);
  const StorageId x = d->allocate(1024, "x").value();
  std::vector<std::byte> four(16);
  std::vector<std::byte> eight(32);
  Batch batch;
  batch.commands = {launch(built[0].value(), {{x, 0, 16}}),
                    launch(built[1].value(), {{x, 512, 32}}), read({x, 0, 16}, four, {0}),
                    read({x, 512, 32}, eight, {1})};
  ASSERT_EQ(d->run(std::move(batch)).value().status, Status::Ok);
  EXPECT_EQ(floats_of(four), std::vector<float>(4, 4));
  EXPECT_EQ(floats_of(eight), std::vector<float>(8, 8));
}

TEST_F(OpenclTest, CompilesWhatIsForeseenAsOneProgram) {
  const auto d = open();
  ASSERT_NE(d, nullptr);
  d->foresee(g, std::vector<Ref>{linear("one", 1, 4), linear("sized", 1, 4)});
  d->foresee(g, std::vector<Ref>{linear("sized", 1, 8), linear("one", 1, 4)});
  EXPECT_EQ(d->compiler().compiled(), 0);
  d->make_foreseen();
  EXPECT_EQ(d->compiler().compiled(), 1);
  for (Ref u : {linear("sized", 1, 8), linear("one", 1, 4), linear("sized", 1, 4)}) {
    EXPECT_TRUE(d->build(g, {&u, 1})[0].ok());
  }
  EXPECT_EQ(d->compiler().compiled(), 1);
  Ref other = linear("inc", 2, 4);
  EXPECT_TRUE(d->build(g, {&other, 1})[0].ok());
  EXPECT_EQ(d->compiler().compiled(), 2);
}

TEST_F(OpenclTest, WhatDoesNotCompileCostsOthersNothing) {
  const auto d = open();
  ASSERT_NE(d, nullptr);
  const std::vector<Ref> linears = {linear("one", 1, 4), linear("inc", 2, 4), linear("wrong", 1, 4),
                                    linear("sized", 1, 4), linear("sized", 1, 8)};
  d->foresee(g, linears);
  d->make_foreseen();
  const std::vector<Result<KernelId>> built = d->build(g, linears);
  for (size_t i = 0; i < linears.size(); i++) {
    EXPECT_EQ(built[i].ok(), i != 2);
    if (i == 2 && !built[i].ok()) {
      EXPECT_NE(built[i].error().message.find("nonsense"), std::string::npos);
    }
  }
}

// The study of released objects: the kernel sees what it was given.
TEST_F(OpenclTest, ABufferReleasedAfterABatchIsNotReusedWithinIt) {
  const auto d = open("pocl");
  ASSERT_NE(d, nullptr);
  const KernelId inc = kernel(*d, *this, linear("inc", 2, 4));
  const std::vector<std::byte> ones = bytes_of({1, 1, 1, 1});
  const std::vector<std::byte> nines = bytes_of({9, 9, 9, 9});
  const StorageId out = d->allocate(16, "out").value();
  for (int k = 0; k < 20; k++) {
    const StorageId x = d->allocate(16, "x").value();
    std::vector<std::byte> got(16);
    {
      const std::vector<std::byte> gone = ones;
      Batch batch;
      batch.commands = {write({x, 0, 16}, gone), launch(inc, {{out, 0, 16}, {x, 0, 16}}, {0}),
                        read({out, 0, 16}, got, {1})};
      ASSERT_EQ(d->run(std::move(batch)).value().status, Status::Ok);
    }
    d->release(x);
    const StorageId y = d->allocate(16, "y").value();
    Batch after;
    after.commands = {write({y, 0, 16}, nines)};
    ASSERT_EQ(d->run(std::move(after)).value().status, Status::Ok);
    EXPECT_EQ(floats_of(got), std::vector<float>(4, 2));
    d->release(y);
  }
}

// Parts of a buffer begin where the device says, in bytes.
TEST_F(OpenclTest, PartsOfABufferAreAlignedAndOverlappingOnesKeepTheirOrder) {
  const auto d = open();
  ASSERT_NE(d, nullptr);
  const int64_t align = d->target().view_alignment;
  EXPECT_EQ(align, 128);
  const StorageId x = d->allocate(400000, "x").value();
  const KernelId one = kernel(*d, *this, linear("one", 1, 64));
  const KernelId twice = kernel(*d, *this, linear("twice", 2, 64));
  Batch misaligned;
  misaligned.commands = {launch(one, {{x, 64, 256}})};
  const Result<Outcome> refused = d->run(std::move(misaligned));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "cl:pocl-basic: command 0, a launch: slot 0 of one begins at 64, which is no multiple "
            "of 128");
  const int64_t far = 321984;  // 128 * 2515.5
  EXPECT_NE(far % align, 0);
  std::vector<std::byte> got(384);
  Batch batch;
  batch.commands = {launch(one, {{x, 1024, 256}}), launch(one, {{x, 2048, 256}}),
                    launch(twice, {{x, 1152, 256}, {x, 2048, 256}}, {0, 1}),
                    read({x, 1024, 384}, got, {2})};
  ASSERT_EQ(d->run(std::move(batch)).value().status, Status::Ok);
  const std::vector<float> values = floats_of(got);
  EXPECT_EQ(values[31], 1);
  EXPECT_EQ(values[32], 2);
  EXPECT_EQ(values[95], 2);
}

TEST_F(OpenclTest, AMissingWaitIsARealRace) {
  const auto d = open("pocl");
  ASSERT_NE(d, nullptr);
  const KernelId slow = kernel(*d, *this, linear("slow", 2, 1));
  const KernelId inc = kernel(*d, *this, linear("inc", 2, 1));
  const StorageId x = d->allocate(4, "x").value();
  const StorageId y = d->allocate(4, "y").value();
  const StorageId z = d->allocate(4, "z").value();
  const auto result = [&](std::vector<int32_t> waits) {
    const std::vector<std::byte> zero = bytes_of({0});
    std::vector<std::byte> got(4);
    Batch start;
    start.commands = {write({x, 0, 4}, zero), write({y, 0, 4}, zero)};
    EXPECT_EQ(d->run(std::move(start)).value().status, Status::Ok);
    Batch batch;
    batch.commands = {launch(slow, {{y, 0, 4}, {x, 0, 4}}),
                      launch(inc, {{z, 0, 4}, {y, 0, 4}}, std::move(waits)),
                      read({z, 0, 4}, got, {1})};
    EXPECT_EQ(d->run(std::move(batch)).value().status, Status::Ok);
    return floats_of(got)[0];
  };
  int wrong = 0;
  for (int k = 0; k < 5; k++) {
    EXPECT_EQ(result({0}), 2);
    wrong += result({}) != 2 ? 1 : 0;
  }
  RecordProperty("wrong_of_5_without_the_wait", wrong);
}

TEST_F(OpenclTest, WhatTakesTooLongCostsTheDeviceAndNoMore) {
  const auto d = open("pocl");
  ASSERT_NE(d, nullptr);
  const KernelId slow = kernel(*d, *this, linear("slow", 2, 1));
  const StorageId x = d->allocate(4, "x").value();
  const StorageId y = d->allocate(4, "y").value();
  Batch batch;
  batch.limit_ms = 1;
  std::vector<std::byte> got(4, std::byte{0x55});
  batch.commands = {launch(slow, {{y, 0, 4}, {x, 0, 4}}), launch(slow, {{y, 0, 4}, {x, 0, 4}}, {0}),
                    launch(slow, {{y, 0, 4}, {x, 0, 4}}, {1}), read({y, 0, 4}, got, {2})};
  const Result<Outcome> outcome = d->run(std::move(batch));
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome.value().status, Status::Timeout);
  EXPECT_EQ(got, std::vector<std::byte>(4, std::byte{0x55}));
  EXPECT_FALSE(d->lost().empty());
  EXPECT_FALSE(d->allocate(4, "z").ok());
  ASSERT_TRUE(d->reopen().ok());
  EXPECT_EQ(d->generation(), 2U);
  const StorageId z = d->allocate(16, "z").value();
  const KernelId one = kernel(*d, *this, linear("one", 1, 4));
  Batch again;
  std::vector<std::byte> ones(16);
  again.commands = {launch(one, {{z, 0, 16}}), read({z, 0, 16}, ones, {0})};
  ASSERT_EQ(d->run(std::move(again)).value().status, Status::Ok);
  EXPECT_EQ(floats_of(ones), std::vector<float>(4, 1));
}

TEST_F(OpenclTest, MemoryOfOthersIsStorageWhereItIsAligned) {
  const auto d = open();
  ASSERT_NE(d, nullptr);
  alignas(128) std::array<std::byte, 256> frame = {};
  EXPECT_FALSE(d->adopt(std::span(frame).subspan(4, 128), "camera").ok());
  const StorageId x = d->adopt(frame, "camera").value();
  EXPECT_EQ(d->live_bytes(), 0);
  const KernelId one = kernel(*d, *this, linear("one", 1, 64));
  std::vector<std::byte> got(256);
  Batch batch;
  batch.commands = {launch(one, {{x, 0, 256}}), read({x, 0, 256}, got, {0})};
  ASSERT_EQ(d->run(std::move(batch)).value().status, Status::Ok);
  EXPECT_EQ(floats_of(got), std::vector<float>(64, 1));
}

TEST_F(OpenclTest, RunsTextsOfOthers) {
  const auto d = open();
  ASSERT_NE(d, nullptr);
  const std::vector<int64_t> sizes = {16};
  Launch launched;
  launched.groups[0] = 2;
  launched.items[0] = 2;
  const KernelText text = {
      "mine", "kernel void mine(global int* p) { p[get_global_id(0)] = get_local_id(0); }"};
  const Result<KernelId> mine = d->build_text(fixed_signature("mine", sizes, launched), text);
  ASSERT_TRUE(mine.ok()) << mine.error().message;
  const StorageId x = d->allocate(16, "x").value();
  std::vector<std::byte> got(16);
  Batch batch;
  batch.commands = {launch(mine.value(), {{x, 0, 16}}), read({x, 0, 16}, got, {0})};
  ASSERT_EQ(d->run(std::move(batch)).value().status, Status::Ok);
  EXPECT_EQ(got[4], std::byte{1});
  EXPECT_EQ(got[8], std::byte{0});
}

TEST_F(OpenclTest, BinariesAreFoundByANewCompiler) {
  const std::filesystem::path folder = cache_folder() + "/test-binaries";
  OpenOptions options;
  options.cache = folder.string();
  int64_t compiled = 0;
  for (int k = 0; k < 2; k++) {
    auto opened = OpenclDevice::open("pocl-basic", options, text_of);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    OpenclDevice& d = *opened.value();
    const KernelId inc = kernel(d, *this, linear("inc", 2, 4));
    compiled += d.compiler().compiled();
    EXPECT_EQ(d.compiler().loaded(), k);
    const StorageId x = d.allocate(16, "x").value();
    const std::vector<std::byte> ones = bytes_of({1, 1, 1, 1});
    std::vector<std::byte> got(16);
    Batch batch;
    batch.commands = {write({x, 0, 16}, ones), launch(inc, {{x, 0, 16}, {x, 0, 16}}, {0}),
                      read({x, 0, 16}, got, {1})};
    ASSERT_EQ(d.run(std::move(batch)).value().status, Status::Ok);
    EXPECT_EQ(floats_of(got), std::vector<float>(4, 2));
  }
  EXPECT_EQ(compiled, 1);
  options.optimize = false;
  auto opened = OpenclDevice::open("pocl-basic", options, text_of);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  kernel(*opened.value(), *this, linear("inc", 2, 4));
  EXPECT_EQ(opened.value()->compiler().compiled(), 1) << "another's binary was taken";
}

TEST_F(OpenclTest, KernelsAreTimed) {
  const auto d = open();
  ASSERT_NE(d, nullptr);
  const KernelId slow = kernel(*d, *this, linear("slow", 2, 1));
  const StorageId x = d->allocate(4, "x").value();
  const StorageId y = d->allocate(4, "y").value();
  Batch batch;
  batch.commands = {launch(slow, {{y, 0, 4}, {x, 0, 4}})};
  const Outcome outcome = d->run(std::move(batch)).value();
  EXPECT_GT(outcome.done[0].end_ns - outcome.done[0].begin_ns, 100'000);
}

TEST_F(OpenclTest, TheSecondDeviceOfANameIsAnother) {
  const auto first = open("pocl-basic");
  const auto second = open("pocl-basic:1");
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->name(), "cl:pocl-basic:1");
}

TEST_F(OpenclTest, AnUnknownNameListsWhatThereIs) {
  const auto opened = OpenclDevice::open("nosuch", {}, text_of);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().message.find("no OpenCL device is named 'nosuch'; there are "),
            std::string::npos)
      << opened.error().message;
  EXPECT_NE(opened.error().message.find("cl:pocl-basic (Portable Computing Language"),
            std::string::npos);
}

TEST_F(OpenclTest, LeavesNothingInTheCachesOfTheUser) {
  const char* folder = std::getenv("POCL_CACHE_DIR");
  ASSERT_NE(folder, nullptr);
  EXPECT_TRUE(std::string_view(folder).starts_with(cache_folder()));
}

TEST_F(OpenclTest, ExecutesAChainAcrossTwoDevices) {
  Devices devices{{}};
  auto made = open("pocl-basic");
  auto other = open("pocl");
  ASSERT_NE(made, nullptr);
  ASSERT_NE(other, nullptr);
  devices.add(std::move(made));
  devices.add(std::move(other));
  Executor executor(devices);
  Buffers buffers(devices);
  const Ref x = buffer(0, 64, "cl:pocl-basic");
  const Ref y = buffer(1, 64, "cl:pocl");
  const Ref z = buffer(2, 64, "cl:pocl");
  const Ref one = call(linear("one", 1, 64, 16), {x});
  const Ref moved = copy(y, 0, x, 0, 64);
  const Ref inc = call(linear("inc", 2, 64, 16), {z, y});
  const schedule::Schedule s =
      scheduled({one, moved, inc}, {{0, 1, EdgeKind::Raw}, {1, 2, EdgeKind::Raw}}, {z});
  const Result<Ran> ran = executor.run(g, s, buffers);
  ASSERT_TRUE(ran.ok()) << ran.error().message;
  EXPECT_EQ(ran.value().status, Status::Ok) << ran.value().why;
  EXPECT_EQ(ran.value().actual, ran.value().predicted);
  EXPECT_EQ(floats_of(buffers.read(z).value()), std::vector<float>(64, 2));
}

TEST_F(OpenclTest, KernelsOfSeveralSchedulesAreCompiledTogether) {
  Devices devices({});
  auto made = open("pocl-basic");
  ASSERT_NE(made, nullptr);
  OpenclDevice& d = *made;
  devices.add(std::move(made));
  Executor executor(devices);
  Buffers buffers(devices);
  const Ref x = buffer(0, 64, "cl:pocl-basic");
  const Ref y = buffer(1, 64, "cl:pocl-basic");
  const schedule::Schedule one = scheduled({call(linear("one", 1, 64, 16), {x})}, {}, {x});
  const schedule::Schedule inc = scheduled({call(linear("inc", 2, 64, 16), {y, x})}, {}, {y});
  executor.foresee(g, one);
  executor.foresee(g, inc);
  EXPECT_EQ(d.compiler().compiled(), 0);
  d.make_foreseen();
  EXPECT_EQ(d.compiler().compiled(), 1);
  for (const schedule::Schedule& s : {one, inc}) {
    const Result<Ran> ran = executor.run(g, s, buffers);
    ASSERT_TRUE(ran.ok()) << ran.error().message;
    EXPECT_EQ(ran.value().status, Status::Ok) << ran.value().why;
    EXPECT_EQ(ran.value().built, 1);
  }
  EXPECT_EQ(d.compiler().compiled(), 1);
  EXPECT_EQ(floats_of(buffers.read(y).value()), std::vector<float>(64, 2));
}

struct OclgrindTest : OpenclTest {
  Outcome run(std::string_view name, int64_t size) {
    const auto d = open("oclgrind");
    if (d == nullptr) return {};
    const KernelId k = kernel(*d, *this, linear(name, 1, size));
    const StorageId x = d->allocate(4 * size, "x").value();
    Batch batch;
    batch.commands = {launch(k, {{x, 0, 4 * size}})};
    return d->run(std::move(batch)).value();
  }
};

TEST_F(OclgrindTest, FindsNothingInASoundKernel) {
  const Outcome outcome = run("one", 4);
  EXPECT_EQ(outcome.status, Status::Ok) << outcome.why;
}

TEST_F(OclgrindTest, WhatItFindsIsAFault) {
  const Outcome beyond = run("beyond", 4);
  EXPECT_EQ(beyond.status, Status::Fault);
  EXPECT_NE(beyond.why.find("Invalid write of size 4"), std::string::npos) << beyond.why;
  const Outcome race = run("race", 4);
  EXPECT_EQ(race.status, Status::Fault);
  EXPECT_NE(race.why.find("data race"), std::string::npos) << race.why;
}

}  // namespace
}  // namespace assay::runtime::opencl
