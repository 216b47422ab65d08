#include "engine/runtime/disk.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "engine/runtime/executor.h"
#include "engine/runtime/fake_device.h"
#include "engine/runtime/sample_linear.h"

namespace assay::runtime {
namespace {

namespace fs = std::filesystem;
using schedule::EdgeKind;

struct DiskTest : ::testing::Test, SampleLinear {
  fs::path folder = fs::temp_directory_path() / ("assay-disk-" + std::to_string(getpid()));
  std::vector<const DeviceKind*> kinds = {&disk_kind()};
  Devices devices{kinds};

  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }

  std::string name(std::string_view file) const { return "disk:" + (folder / file).string(); }
  std::string contents(std::string_view file) const {
    std::ifstream in(folder / file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(std::string_view file, std::span<const std::byte> bytes) const {
    std::ofstream(folder / file, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<int64_t>(bytes.size()));
  }
};

TEST_F(DiskTest, CopiesGoFromFilesAndToThem) {
  write("in", bytes_of({1, 2, 3, 4}));
  auto made = std::make_unique<FakeDevice>("a:0");
  made->add_functions();
  devices.add(std::move(made));
  Executor executor(devices);
  Buffers buffers(devices);
  const Ref in = buffer(0, 4, name("in"));
  const Ref x = buffer(1, 4, "a:0");
  const Ref y = buffer(2, 4, "a:0");
  const Ref out = buffer(3, 6, name("out"));
  const Ref load = copy(x, 0, in, 0, 4);
  const Ref inc = call(linear("inc", 2, 4), {y, x});
  const Ref save = copy(out, 2, y, 0, 4);
  const schedule::Schedule s =
      scheduled({load, inc, save}, {{0, 1, EdgeKind::Raw}, {1, 2, EdgeKind::Raw}}, {in, x, y, out});
  const Result<Ran> ran = executor.run(g, s, buffers);
  ASSERT_TRUE(ran.ok()) << ran.error().message;
  EXPECT_EQ(ran.value().status, Status::Ok) << ran.value().why;
  EXPECT_EQ(ran.value().actual.copies, 2);
  EXPECT_EQ(floats_of(std::as_bytes(std::span<const char>(contents("out")))),
            (std::vector<float>{0, 0, 2, 3, 4, 5}));
}

TEST_F(DiskTest, MoreStorageIsMoreFiles) {
  Device& d = *devices.open(name("many")).value();
  const StorageId x = d.allocate(3, "x").value();
  const StorageId y = d.allocate(200'000, "y").value();
  const StorageId z = d.allocate(200'000, "z").value();
  Batch batch;
  batch.commands.resize(2);
  batch.commands[0].kind = Command::Kind::Fill;
  batch.commands[0].views = {{y, 0, 200'000}};
  batch.commands[0].byte = 'y';
  batch.commands[1].kind = Command::Kind::Copy;
  batch.commands[1].views = {{z, 5, 150'000}, {y, 1, 150'000}};
  batch.commands[1].waits = {0};
  ASSERT_EQ(d.run(std::move(batch)).value().status, Status::Ok);
  d.release(x);
  EXPECT_EQ(contents("many").size(), 3U);
  EXPECT_EQ(contents("many.1"), std::string(200'000, 'y'));
  EXPECT_EQ(contents("many.2").substr(0, 7), std::string(5, '\0') + "yy");
}

TEST_F(DiskTest, RunsNoKernelAndSaysWhatCannotBeOpened) {
  Device& d = *devices.open(name("file")).value();
  const Ref one = linear("one", 1, 4);
  EXPECT_EQ(d.build(g, {&one, 1})[0].error().message,
            d.name() + ": kernel one: a disk runs no kernels");
  Device& absent = *devices.open(name("no/such/file")).value();
  const Result<StorageId> storage = absent.allocate(4, "b0");
  ASSERT_FALSE(storage.ok());
  EXPECT_NE(storage.error().message.find("No such file or directory"), std::string::npos);
}

}  // namespace
}  // namespace assay::runtime
