#include "engine/runtime/devices.h"

#include <fmt/format.h>

namespace assay::runtime {

Result<std::unique_ptr<Device>> open_device(std::span<const DeviceKind* const> kinds,
                                            std::string_view name, const OpenOptions& options) {
  const size_t colon = name.find(':');
  const std::string_view kind = name.substr(0, colon);
  const std::string_view rest = colon == std::string_view::npos ? "0" : name.substr(colon + 1);
  std::string known;
  for (const DeviceKind* k : kinds) {
    if (k->kind == kind) return k->open(rest, options);
    known += fmt::format("{}{}", known.empty() ? "" : ", ", k->kind);
  }
  return Error{fmt::format("no kind of device is named {}; there are {}", quoted(kind), known), 0,
               0};
}

Result<Device*> Devices::open(std::string_view name) {
  const std::string whole =
      name.find(':') == std::string_view::npos ? fmt::format("{}:0", name) : std::string(name);
  for (const std::unique_ptr<Device>& device : devices_) {
    if (device->name() == whole) return device.get();
  }
  ASSAY_TRY(device, open_device(kinds_, whole, options_));
  return &add(std::move(device));
}

Device& Devices::add(std::unique_ptr<Device> device) {
  devices_.push_back(std::move(device));
  return *devices_.back();
}

}  // namespace assay::runtime
