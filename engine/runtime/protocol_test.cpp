#include "engine/runtime/protocol.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engine/runtime/profiles.h"

namespace assay::runtime {
namespace {

Frame frame(std::string payload) { return {Say::Run, 7, std::move(payload)}; }

// The payload of the one frame that these bytes are; what is wrong with them.
std::string read_whole(std::string_view bytes) {
  FrameReader reader;
  reader.feed(bytes);
  const Result<std::optional<Frame>> next = reader.next();
  if (!next.ok()) return next.error().message;
  return next.value() ? next.value()->payload : "more is to come";
}

TEST(Frames, ArriveInAnyPieces) {
  const std::string bytes = encode(frame("one")) + encode(frame("")) + encode(frame("three"));
  for (size_t piece = 1; piece < bytes.size(); piece++) {
    FrameReader reader;
    std::vector<std::string> got;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      reader.feed(std::string_view(bytes).substr(at, piece));
      for (;;) {
        const Result<std::optional<Frame>> next = reader.next();
        ASSERT_TRUE(next.ok()) << next.error().message;
        if (!next.value()) break;
        EXPECT_EQ(next.value()->type, Say::Run);
        EXPECT_EQ(next.value()->serial, 7U);
        got.push_back(next.value()->payload);
      }
    }
    EXPECT_EQ(got, (std::vector<std::string>{"one", "", "three"}));
    EXPECT_FALSE(reader.is_within());
  }
}

TEST(Frames, EveryBitOfThemCounts) {
  const std::string bytes = encode(frame("payload"));
  for (size_t bit = 0; bit < 8 * bytes.size(); bit++) {
    std::string wrong = bytes;
    wrong[bit / 8] = static_cast<char>(wrong[bit / 8] ^ 1 << bit % 8);
    EXPECT_NE(read_whole(wrong), "payload") << "bit " << bit;
  }
}

TEST(Frames, SayWhatIsWrongWithThem) {
  std::string bytes = encode(frame("payload"));
  EXPECT_EQ(read_whole("Hello, world"), "'Hello, world' is no frame");
  EXPECT_EQ(read_whole(std::string_view(bytes).substr(0, 20)), "more is to come");
  bytes[4] = 2;
  EXPECT_EQ(read_whole(bytes), "the protocol is of version 2 when 1 is spoken here");
}

TEST(Payloads, TargetsComeBackAsTheyWere) {
  for (const Profile& p : all_profiles()) {
    Packer packer;
    pack(packer, p.target);
    const std::string bytes = packer.take();
    Unpacker u(bytes);
    const std::optional<Target> target = unpack_target(u);
    ASSERT_TRUE(target) << p.name;
    EXPECT_TRUE(u.is_done());
    EXPECT_EQ(to_text(*target), to_text(p.target));
  }
}

Batch sample_batch(std::span<const std::byte> from, std::span<std::byte> into) {
  Batch batch;
  batch.variables = {{"n", -3}, {"m", int64_t{1} << 40}};
  batch.commands.resize(3);
  Command& launch = batch.commands[0];
  launch.kernel = {5, 1, 0};
  launch.views = {{{1, 1, 0}, 256, 64}, {{2, 1, 0}, 0, 8}};
  Command& write = batch.commands[1];
  write.kind = Command::Kind::Write;
  write.lane = Lane::Copy;
  write.views = {{{3, 1, 0}, 0, 4}};
  write.from = from;
  write.waits = {0};
  Command& read = batch.commands[2];
  read.kind = Command::Kind::Read;
  read.views = {{{4, 1, 0}, 0, 2}};
  read.into = into;
  read.waits = {0, 1};
  return batch;
}

TEST(Payloads, BatchesComeBackAsTheyWere) {
  const std::vector<std::byte> from = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  std::vector<std::byte> into(2);
  Packer packer;
  pack(packer, sample_batch(from, into));
  const std::string bytes = packer.take();
  Unpacker u(bytes);
  const std::optional<Batch> batch = unpack_batch(u);
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->variables[1].second, int64_t{1} << 40);
  EXPECT_EQ(batch->commands[0].kernel.number, 5U);
  EXPECT_EQ(batch->commands[0].views[0].offset, 256);
  EXPECT_EQ(batch->commands[1].lane, Lane::Copy);
  EXPECT_TRUE(std::ranges::equal(batch->commands[1].from, from));
  EXPECT_EQ(batch->commands[2].waits, (std::vector<int32_t>{0, 1}));
}

TEST(Payloads, OutcomesComeBackAsTheyWere) {
  Outcome o;
  o.status = Status::Timeout;
  o.command = 1;
  o.why = "why";
  o.queue_waits = 4;
  o.done = {{Status::Ok, 10, 20}, {Status::Timeout, 0, 0}};
  Packer packer;
  pack(packer, o);
  const std::string bytes = packer.take();
  Unpacker u(bytes);
  const std::optional<Outcome> back = unpack_outcome(u);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->status, o.status);
  EXPECT_EQ(back->why, "why");
  EXPECT_EQ(back->done[0].end_ns, 20);
}

// No bytes whatever lead astray: they are refused or mean something.
RC_GTEST_PROP(Payloads, OfAnyBytesAreReadOrRefused, (const std::string& noise, size_t at)) {
  std::vector<std::byte> from(4);
  std::vector<std::byte> into(2);
  Packer packer;
  pack(packer, sample_batch(from, into));
  std::string bytes = packer.take();
  bytes.replace(at % bytes.size(), noise.size(), noise);
  Unpacker batch(bytes);
  unpack_batch(batch);
  Unpacker target(bytes);
  unpack_target(target);
  Unpacker outcome(bytes);
  unpack_outcome(outcome);
}

}  // namespace
}  // namespace assay::runtime
