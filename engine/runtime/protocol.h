#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"
#include "engine/runtime/device.h"

namespace assay::runtime {

// What a worker and the device that is one say to each other: frames over a pipe, a request and its
// answer in turn. All numbers are little-endian. A frame is
//
//   4 magic "asay"  2 version  2 type  4 serial  4 length  8 checksum  then `length` bytes
//
// where the checksum is XXH3 of those bytes, seeded by type and serial. An answer has the serial of
// its request. Requests without an answer are Release and Drop.
inline constexpr uint16_t kProtocolVersion = 1;
inline constexpr uint32_t kMostPayload = uint32_t{1} << 31;

enum class Say : uint8_t {
  Hello,     // a profile or nothing              answered by name, driver, target
  Allocate,  // number, bytes, label              answered by nothing
  Release,   // number
  Build,     // numbers and .uop texts            answered by an error or "" for each
  Drop,      // number
  Run,       // a batch, with what it writes      answered by its outcome, with what it reads
  Answer,
  Failed,  // a message, in the place of an answer
};

struct Frame {
  Say type = Say::Answer;
  uint32_t serial = 0;
  std::string payload;
};
std::string encode(const Frame& frame);

// Takes frames out of a stream of bytes.
class FrameReader {
 public:
  void feed(std::string_view bytes) { bytes_.append(bytes); }
  // The next frame, nothing where it has not all arrived, an error where these bytes are no frame.
  Result<std::optional<Frame>> next();
  // Whether a frame has begun to arrive.
  bool is_within() const { return !bytes_.empty(); }

 private:
  std::string bytes_;
};

// A payload is written and read piece by piece.
class Packer {
 public:
  Packer& number(int64_t n);
  Packer& text(std::string_view text);  // its length, then its bytes
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}
  // 0 and "" from where the payload is too short; then it is not sound.
  int64_t number();
  std::string_view text();
  // How many things follow, each of at least one byte.
  size_t count();
  bool is_sound() const { return is_sound_; }
  // Sound, and all of it was read.
  bool is_done() const { return is_sound_ && at_ == bytes_.size(); }

 private:
  std::string_view bytes_;
  size_t at_ = 0;
  bool is_sound_ = true;
};

void pack(Packer& p, const Target& target);
std::optional<Target> unpack_target(Unpacker& u);

// A batch as its worker sees it: storage and kernels by number alone.
void pack(Packer& p, const Batch& batch);
// What comes back writes from the payload, and reads into nothing yet.
std::optional<Batch> unpack_batch(Unpacker& u);

void pack(Packer& p, const Outcome& outcome);
std::optional<Outcome> unpack_outcome(Unpacker& u);

}  // namespace assay::runtime
