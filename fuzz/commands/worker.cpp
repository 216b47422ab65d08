#include "engine/runtime/worker.h"

#include <fmt/format.h>

#include <memory>

#include <CLI/CLI.hpp>

#include "engine/runtime/profiles.h"
#include "fuzz/commands/command.h"
#include "fuzz/commands/device_options.h"

namespace assay::fuzz {
namespace {

ExitCode work(const DeviceOptions& options) {
  const Result<runtime::OpenOptions> how = options.open_options();
  if (!how.ok()) {
    fmt::print(stderr, "assay worker: {}\n", how.error().message);
    return kUsage;
  }
  runtime::Server server([&](const runtime::Target* profile) {
    runtime::OpenOptions open = how.value();
    uop::Target both;
    if (profile != nullptr && open.profile != nullptr) {
      both = runtime::meet(*profile, *open.profile);
      open.profile = &both;
    } else if (profile != nullptr) {
      open.profile = profile;
    }
    return runtime::open_device(device_kinds(), options.device, open);
  });
  const Result<bool> served = runtime::serve_standard(server);
  if (served.ok()) return kClean;
  fmt::print(stderr, "assay worker: {}\n", served.error().message);
  return kEnvironment;
}

std::function<ExitCode()> declare(CLI::App& app) {
  auto options = std::make_shared<DeviceOptions>();
  options->device = "cl:0";
  add_device_options(app, *options);
  return [options] { return work(*options); };
}

}  // namespace

const Command& worker_command() {
  static constexpr Command kCommand = {
      "worker", "serve a device to another process over standard input and output", declare};
  return kCommand;
}

}  // namespace assay::fuzz
