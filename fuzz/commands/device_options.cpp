#include "fuzz/commands/device_options.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <system_error>

#include <CLI/CLI.hpp>

#include "engine/runtime/disk.h"
#include "engine/runtime/opencl/device.h"
#include "engine/runtime/profiles.h"
#include "engine/runtime/worker_device.h"
#include "oracles/workgroup/sim.h"

namespace assay::fuzz {

std::span<const runtime::DeviceKind* const> device_kinds() {
  static const std::array<const runtime::DeviceKind*, 4> kinds = {
      &workgroup::sim_kind(), &runtime::opencl::opencl_kind(), &runtime::disk_kind(),
      &runtime::worker_kind()};
  return kinds;
}

Result<runtime::OpenOptions> DeviceOptions::open_options() const {
  runtime::OpenOptions options;
  options.cache = cache;
  options.optimize = !no_optimize;
  options.limit_ms = limit_ms;
  if (profile.empty()) return options;
  options.profile = runtime::profile(profile, native);
  if (options.profile != nullptr) return options;
  std::string there;
  for (const runtime::Profile& p : runtime::all_profiles()) {
    there += fmt::format("{}{}", there.empty() ? "" : ", ", p.name);
  }
  return Error{fmt::format("no profile is named {}; there are {}", assay::quoted(profile), there),
               0, 0};
}

std::vector<std::string> DeviceOptions::opted_in(const std::string& name) const {
  return plan == "on" ? std::vector{name} : std::vector<std::string>();
}

void add_device_options(CLI::App& app, DeviceOptions& options) {
  app.add_option("--device", options.device, "the device to run on; see assay devices")
      ->type_name("NAME");
  app.add_option("--profile", options.profile,
                 "keep within what this device can do as well; see assay devices")
      ->type_name("NAME");
  app.add_flag("--native", options.native,
               "with the profile: the device's own exp, sin, pow, ... in place of polynomials")
      ->needs("--profile");
  app.add_option("--cache", options.cache, "keep compiled kernels in this folder")
      ->type_name("DIR");
  app.add_option(
         "--plan", options.plan,
         "lay buffers into arenas: off, on, or as the kind of device has it (OpenCL in this "
         "process not)")
      ->check(CLI::IsMember({"off", "on"}));
  app.add_flag("--no-optimize", options.no_optimize,
               "have OpenCL compilers take kernels as they stand, which takes them less time");
  app.add_option("--time-limit", options.limit_ms, "for an answer of a worker, in milliseconds")
      ->type_name("MS")
      ->check(CLI::PositiveNumber);
}

std::string isolated(const DeviceOptions& options) {
  if (!options.device.starts_with("cl")) return options.device;
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return options.device;
  return fmt::format("worker:'{}' worker --device '{}'{}{}", self.string(), options.device,
                     options.cache.empty() ? "" : fmt::format(" --cache '{}'", options.cache),
                     options.no_optimize ? " --no-optimize" : "");
}

}  // namespace assay::fuzz
