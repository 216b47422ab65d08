#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/result.h"
#include "engine/runtime/devices.h"

namespace CLI {
class App;
}

namespace assay::fuzz {

// Every kind of device that this program knows.
std::span<const runtime::DeviceKind* const> device_kinds();

// --device, --profile, --native, --cache, --plan, --no-optimize and --time-limit.
struct DeviceOptions {
  std::string device;
  std::string profile;
  bool native = false;
  std::string cache;
  std::string plan;  // "off", "on", or "" where the kind of device decides
  bool no_optimize = false;
  int64_t limit_ms = 60'000;

  // An error names the profile that there is none of, and lists those that there are.
  Result<runtime::OpenOptions> open_options() const;
  // The devices whose storage is laid into arenas although their kind is not planned (--plan on).
  std::vector<std::string> opted_in(const std::string& name) const;
};
void add_device_options(CLI::App& app, DeviceOptions& options);

// The name of the device as one of a child process of this program, where a driver may crash: of
// OpenCL devices, opened with the same options; others are named as they are.
std::string isolated(const DeviceOptions& options);

}  // namespace assay::fuzz
