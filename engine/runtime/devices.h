#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"
#include "engine/runtime/device.h"

namespace assay::runtime {

struct DeviceKind;

// How devices are opened.
struct OpenOptions {
  // What kernels are made for is what both it and the device can do; null where the device alone
  // decides.
  const Target* profile = nullptr;
  std::string
      cache;  // folder for compiled kernels; "" is one of the process's own, removed at exit
  bool optimize = true;       // kernels, in a driver's compiler: without, it is done much sooner
  int64_t limit_ms = 60'000;  // for an answer of a worker
  // Kernels are made as suits the device itself; else as suits a GPU, whatever the device is, so
  // that work-items share and wait for each other.
  bool tuned = false;
  uint64_t seed = 1;  // of devices that choose among orders
};

// A device that is there.
struct Listed {
  std::string name;  // "cl:pocl"
  std::string says;  // what it is: vendor, version
  std::optional<Target> target;
};

// Devices of one kind: those whose names begin with `kind` and a colon. The kinds that a program
// knows are a list which it hands in.
struct DeviceKind {
  std::string_view kind;
  std::string_view says;
  // `rest` is the name after the colon. An error names what there is.
  Result<std::unique_ptr<Device>> (*open)(std::string_view rest, const OpenOptions& options);
  // Those that can be found; an error says why none can.
  Result<std::vector<Listed>> (*list)(const OpenOptions& options);
};

// The device of a name such as `cl:pocl`; a kind alone is its device 0.
Result<std::unique_ptr<Device>> open_device(std::span<const DeviceKind* const> kinds,
                                            std::string_view name, const OpenOptions& options = {});

// Open devices by name. Not for use by several threads at once.
class Devices {
 public:
  explicit Devices(std::span<const DeviceKind* const> kinds, OpenOptions options = {})
      : kinds_(kinds.begin(), kinds.end()), options_(std::move(options)) {}

  // The device, opened where it is not yet.
  Result<Device*> open(std::string_view name);
  // Takes a device in, under its own name.
  Device& add(std::unique_ptr<Device> device);
  std::span<const std::unique_ptr<Device>> all() const { return devices_; }

 private:
  std::vector<const DeviceKind*> kinds_;
  OpenOptions options_;
  std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace assay::runtime
