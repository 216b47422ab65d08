#include "engine/runtime/disk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <map>

namespace assay::runtime {
namespace {

constexpr size_t kPiece = 1 << 16;  // bytes moved at once

std::string system_error() { return std::strerror(errno); }

// Moves all bytes by pread or pwrite, which may do it in parts; what went wrong, or "".
template <typename Move, typename T>
std::string move_all(Move move, int file, T* bytes, size_t size, int64_t offset) {
  for (size_t done = 0; done < size;) {
    const ssize_t n = move(file, bytes + done, size - done, offset + static_cast<int64_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error();
    if (n == 0) return "the file ends too early";
    done += static_cast<size_t>(n);
  }
  return "";
}

class DiskDevice : public Device {
 public:
  DiskDevice(std::string name, Target target, std::string path)
      : Device(std::move(name), std::move(target)), path_(std::move(path)) {}
  ~DiskDevice() override {
    for (const auto& [number, file] : files_) close(file);
  }

 protected:
  Result<bool> make_storage(uint32_t number, int64_t bytes) override {
    const std::string path = number == 0 ? path_ : fmt::format("{}.{}", path_, number);
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0) return Error{fmt::format("{}: {}", path, system_error()), 0, 0};
    struct stat status = {};
    if (fstat(file, &status) != 0 || (status.st_size < bytes && ftruncate(file, bytes) != 0)) {
      const std::string why = system_error();
      close(file);
      return Error{fmt::format("{}: {}", path, why), 0, 0};
    }
    files_[number] = file;
    return true;
  }
  void drop_storage(uint32_t number) override {
    close(files_.at(number));
    files_.erase(number);
  }
  std::vector<Result<bool>> make_kernels(Graph&, std::span<const Ref> linears,
                                         std::span<const uint32_t>, uop::Watch*) override {
    return std::vector<Result<bool>>(linears.size(), Error{"a disk runs no kernels", 0, 0});
  }
  void drop_kernel(uint32_t) override {}
  Result<bool> start(const Batch&) override { return true; }

  Outcome complete(const Batch& batch) override {
    Outcome outcome;
    for (size_t i = 0; i < batch.commands.size(); i++) {
      if (outcome.status == Status::Ok) {
        outcome.why = run_one(batch.commands[i]);
        if (!outcome.why.empty()) {
          outcome.status = Status::Fault;
          outcome.command = static_cast<int32_t>(i);
        }
      }
      outcome.done.push_back({outcome.status, 0, 0});
    }
    return outcome;
  }

 private:
  std::string run_one(const Command& c) {
    const View& v = c.views[0];
    const int file = files_.at(v.storage.number);
    if (c.kind == Command::Kind::Read) {
      return move_all(pread, file, c.into.data(), c.into.size(), v.offset);
    }
    if (c.kind == Command::Kind::Write) {
      return move_all(pwrite, file, c.from.data(), c.from.size(), v.offset);
    }
    std::array<std::byte, kPiece> piece;
    piece.fill(std::byte{c.byte});
    for (int64_t at = 0; at < v.bytes;) {
      const auto n = static_cast<size_t>(std::min<int64_t>(kPiece, v.bytes - at));
      std::string error;
      if (c.kind == Command::Kind::Copy) {
        const View& from = c.views[1];
        error = move_all(pread, files_.at(from.storage.number), piece.data(), n, from.offset + at);
      }
      if (error.empty()) error = move_all(pwrite, file, piece.data(), n, v.offset + at);
      if (!error.empty()) return error;
      at += static_cast<int64_t>(n);
    }
    return "";
  }

  std::string path_;
  std::map<uint32_t, int> files_;  // by number of storage
};

Result<std::unique_ptr<Device>> open_disk(std::string_view rest, const OpenOptions&) {
  if (rest.empty()) return Error{"disk: names no file", 0, 0};
  Target target = uop::generic_target();
  target.name = "disk";
  target.limits.allocation_bytes = INT64_MAX;
  target.limits.alignment = 1;
  target.view_alignment = 1;
  return std::unique_ptr<Device>(
      new DiskDevice(fmt::format("disk:{}", rest), std::move(target), std::string(rest)));
}

Result<std::vector<Listed>> list_disks(const OpenOptions&) {
  return std::vector<Listed>{{"disk:PATH", "storage that is a file", std::nullopt}};
}

}  // namespace

const DeviceKind& disk_kind() {
  static constexpr DeviceKind kKind = {"disk", "storage that is a file", open_disk, list_disks};
  return kKind;
}

}  // namespace assay::runtime
