#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"
#include "engine/runtime/signature.h"
#include "engine/schedule/plan.h"
#include "engine/uop/target.h"
#include "engine/uop/uop.h"
#include "engine/uop/watch.h"

namespace assay::runtime {

using schedule::Lane;
using uop::Graph;
using uop::Ref;
using uop::Target;

// How a command ended.
enum class Status : uint8_t {
  Ok,
  Fault,    // the device refused it or found it wrong; the device goes on
  Timeout,  // it took longer than it may; what cannot be interrupted costs the device as well
  Lost,     // the device is gone
};
std::string_view to_text(Status status);

// Storage and kernels of a device. A lost device leaves its generation behind, and whatever is of
// an older one is refused.
struct StorageId {
  uint32_t number = 0;
  uint32_t generation = 0;  // the first is 1, so that none is of generation 0
  uint32_t use = 0;         // how often the number was given out before
  bool operator==(const StorageId&) const = default;
};
struct KernelId {
  uint32_t number = 0;
  uint32_t generation = 0;
  uint32_t use = 0;
  bool operator==(const KernelId&) const = default;
};

// `bytes` bytes of a storage, from `offset` on.
struct View {
  StorageId storage;
  int64_t offset = 0;
  int64_t bytes = 0;
};

// One thing for a device to do.
struct Command {
  enum class Kind : uint8_t {
    Launch,  // the kernel on `views`, by slot
    Copy,    // views[0] becomes what views[1] is: as many bytes, which do not overlap
    Read,    // `into` becomes what views[0] is
    Write,   // views[0] becomes `from`
    Fill,    // each byte of views[0] becomes `byte`
  };
  Kind kind = Kind::Launch;
  Lane lane = Lane::Compute;  // the queue it belongs to
  KernelId kernel;
  std::vector<View> views;
  std::span<std::byte> into;  // alive until finish(), as is `from`
  std::span<const std::byte> from;
  uint8_t byte = 0;
  std::vector<int32_t> waits;  // the earlier commands of its batch that must be done before
};

// Commands for one device. They may run in any order, and side by side, that `waits` allow.
struct Batch {
  std::vector<Command> commands;
  // Values of variables by name: at least of those that its kernels have.
  std::vector<std::pair<std::string, int64_t>> variables;
  int64_t limit_ms = 0;  // for all of it; 0 where it may take for ever
};

// What became of a command. One that was not run because of another has that one's status.
struct Done {
  Status status = Status::Ok;
  int64_t begin_ns = 0;  // by the device's clock; 0 where it has none
  int64_t end_ns = 0;
};
struct Outcome {
  Status status = Status::Ok;  // of the first command that failed
  int32_t command = -1;        // which; -1 where it was none of them
  std::string why;
  std::vector<Done> done;   // by command; what is not Ok left bytes that mean nothing
  int64_t queue_waits = 0;  // waits for a command of another queue
};

// A device: storage, kernels and what runs them. This class holds what is the same for all of them:
// numbers, generations and sizes, and it refuses what does not fit before a device sees it. A kind
// of device overrides the functions below `protected`, which are given what has been checked.
//
// Not for use by several threads at once.
class Device {
 public:
  Device(std::string name, Target target);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  const std::string& name() const { return name_; }
  // What kernels for it are to be made for: the device as its profile lets it be.
  const Target& target() const { return target_; }
  // Who made it, and in which version: part of what caches of binaries key on.
  virtual std::string driver() const { return ""; }
  uint32_t generation() const { return generation_; }
  // Why it is lost; "" while it is not.
  const std::string& lost() const { return lost_; }

  // Storage of so many bytes, whose contents are anything. `label` names it in messages. An error
  // where the device has no room or the target allows no such size.
  Result<StorageId> allocate(int64_t bytes, std::string_view label);
  // The same over memory of the host that someone else owns, and that outlives it. An error where
  // the device knows no such thing or the address is not aligned as the target says.
  Result<StorageId> adopt(std::span<std::byte> memory, std::string_view label);
  // What is of an older generation is gone already.
  void release(StorageId storage);
  // What keeps the view from being used; "" where nothing does.
  std::string view_error(const View& view) const;
  // Bytes of all storage that is not adopted, now and at most since `reset_peak`.
  int64_t live_bytes() const { return live_bytes_; }
  int64_t peak_bytes() const { return peak_bytes_; }
  void reset_peak() { peak_bytes_ = live_bytes_; }
  int64_t storages() const { return live_storages_; }
  int64_t kernels() const { return live_kernels_; }

  // Kernels from LINEARs made for target(), in the same order; several at once are cheaper than one
  // by one. The graph is not needed afterwards. An error is that kernel's alone.
  std::vector<Result<KernelId>> build(Graph& g, std::span<const Ref> linears,
                                      uop::Watch* watch = nullptr);
  const Signature& signature(KernelId kernel) const;
  void release(KernelId kernel);
  // LINEARs that build() will be given later, of one program or of several: make_foreseen() does at
  // once what is cheaper done for many. Neither has an error: whoever builds a kernel has its
  // error, and what nobody foresaw is built as well.
  virtual void foresee(Graph& /*g*/, std::span<const Ref> /*linears*/) {}
  virtual void make_foreseen() {}

  // Starts a batch. An error names the command and what is wrong with it; nothing has run then.
  Result<bool> submit(Batch batch);
  bool is_busy() const { return is_busy_; }
  // Waits for the batch that was submitted, of which there is one.
  Outcome finish();
  // Both.
  Result<Outcome> run(Batch batch);

  // Begins a new generation, with no storage and no kernel. Only where nothing runs.
  Result<bool> reopen();

 protected:
  // Numbers are free again once dropped. Errors need not name the device.
  virtual Result<bool> make_storage(uint32_t number, int64_t bytes) = 0;
  virtual Result<bool> adopt_storage(uint32_t number, std::span<std::byte> memory);
  virtual void drop_storage(uint32_t number) = 0;
  // One result a linear; true is a kernel of that number.
  virtual std::vector<Result<bool>> make_kernels(Graph& g, std::span<const Ref> linears,
                                                 std::span<const uint32_t> numbers,
                                                 uop::Watch* watch) = 0;
  virtual void drop_kernel(uint32_t number) = 0;
  // Views lie within their storage and fit what the kernel's signature asks for, waits go backward,
  // and variables have values within their bounds. The batch lives until it is finished.
  virtual Result<bool> start(const Batch& batch) = 0;
  virtual Outcome complete(const Batch& batch) = 0;
  // All numbers are dropped before.
  virtual Result<bool> restart() { return true; }

  // From now on nothing runs until reopen(). Storage and kernels are not dropped one by one.
  void lose(std::string why);
  // Takes in a kernel that was made otherwise than by build().
  KernelId take_kernel(Signature signature);
  const Signature& signature_at(uint32_t number) const { return kernels_[number].signature; }
  const std::string& label_at(uint32_t number) const { return storages_[number].label; }

 private:
  struct StorageRow {
    int64_t bytes = 0;
    bool is_live = false;
    bool is_adopted = false;
    uint32_t use = 0;
    std::string label;
  };
  struct KernelRow {
    Signature signature;
    bool is_live = false;
    uint32_t use = 0;
  };

  Result<StorageId> keep_storage(int64_t bytes, std::string_view label,
                                 std::span<std::byte> memory);
  bool is_live(KernelId kernel) const;
  std::string launch_error(const Batch& batch, const Command& command) const;
  std::string command_error(const Batch& batch, size_t place) const;

  std::string name_;
  Target target_;
  uint32_t generation_ = 1;
  std::string lost_;
  std::vector<StorageRow> storages_;
  std::vector<KernelRow> kernels_;
  std::vector<uint32_t> free_storages_;
  std::vector<uint32_t> free_kernels_;
  int64_t live_bytes_ = 0;
  int64_t peak_bytes_ = 0;
  int64_t live_storages_ = 0;
  int64_t live_kernels_ = 0;
  Batch batch_;
  bool is_busy_ = false;
};

}  // namespace assay::runtime
