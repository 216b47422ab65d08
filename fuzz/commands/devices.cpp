#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "engine/runtime/profiles.h"
#include "fuzz/commands/command.h"
#include "fuzz/commands/device_options.h"

namespace assay::fuzz {
namespace {

struct Options {
  DeviceOptions devices;
  bool all = false;
};

std::string megabytes(int64_t bytes) {
  const int64_t mega = int64_t{1} << 20;
  return bytes < mega ? fmt::format("{} KiB", bytes >> 10) : fmt::format("{} MiB", bytes / mega);
}

// What most want to know of a target, in a few lines.
void print_target(const uop::Target& t) {
  const uop::Limits& l = t.limits;
  fmt::print("    groups of {} work-items ({} x {} x {}), {} of LOCAL\n", l.group_size,
             l.item_sizes[0], l.item_sizes[1], l.item_sizes[2], megabytes(l.local_bytes));
  fmt::print("    buffers of {}, {} a kernel, parts of them {}\n", megabytes(l.allocation_bytes),
             l.buffers,
             t.views ? fmt::format("at multiples of {} bytes", t.view_alignment) : "not at all");
  fmt::print("    computes in {}\n", to_text(t.arithmetic));
  if (!t.storage.empty()) fmt::print("    stores {}\n", to_text(t.storage));
  static constexpr std::string_view kSubnormals[] = {"kept", "flushed", "kept or flushed"};
  fmt::print("    subnormals are {}, {} compute and {} copy queues\n",
             kSubnormals[static_cast<int>(t.math.subnormals)], t.compute_queues, t.copy_queues);
}

void print_one(std::string_view name, std::string_view says, const uop::Target* target, bool all) {
  fmt::print("  {}: {}\n", name, says);
  if (target == nullptr) return;
  if (!all) return print_target(*target);
  std::string text = to_text(*target);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    fmt::print("    {}\n", text.substr(begin, end - begin));
    begin = end + 1;
  }
}

ExitCode list(const Options& options) {
  const Result<runtime::OpenOptions> how = options.devices.open_options();
  if (!how.ok()) {
    fmt::print(stderr, "assay devices: {}\n", how.error().message);
    return kUsage;
  }
  fmt::print("devices\n");
  for (const runtime::DeviceKind* kind : device_kinds()) {
    const Result<std::vector<runtime::Listed>> listed = kind->list(how.value());
    if (!listed.ok()) {
      fmt::print("  {}: none: {}\n", kind->kind, listed.error().message);
      continue;
    }
    for (const runtime::Listed& l : listed.value()) {
      print_one(l.name, l.says, l.target ? &*l.target : nullptr, options.all);
    }
  }
  fmt::print("profiles\n");
  for (const runtime::Profile& p : runtime::all_profiles()) {
    print_one(p.name, p.says, &p.target, options.all);
  }
  return kClean;
}

std::function<ExitCode()> declare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  add_device_options(app, options->devices);
  app.remove_option(app.get_option("--device"));
  app.add_flag("--all", options->all, "print all that a device declares");
  return [options] { return list(*options); };
}

}  // namespace

const Command& devices_command() {
  static constexpr Command kCommand = {"devices", "list devices and profiles, and what they can do",
                                       declare};
  return kCommand;
}

}  // namespace assay::fuzz
