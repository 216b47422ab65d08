#pragma once

#include <span>
#include <string>

#include "engine/result.h"
#include "engine/runtime/devices.h"

namespace CLI {
class App;
}

namespace assay::fuzz {

// Every kind of device that this program knows.
std::span<const runtime::DeviceKind* const> device_kinds();

// --device, --profile, --cache and --time-limit.
struct DeviceOptions {
  std::string device;
  std::string profile;
  std::string cache;
  int64_t limit_ms = 60'000;

  // An error names the profile that there is none of, and lists those that there are.
  Result<runtime::OpenOptions> open_options() const;
};
void add_device_options(CLI::App& app, DeviceOptions& options);

}  // namespace assay::fuzz
