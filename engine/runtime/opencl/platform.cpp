#include "engine/runtime/opencl/platform.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>
#include <iterator>
#include <optional>

namespace assay::runtime::opencl {
namespace {

// Short names for what is common.
struct Alias {
  std::string_view name;
  std::string_view platform;  // what the platform's name holds
  std::string_view device;    // what the device's name begins with
};
constexpr Alias kAliases[] = {
    {"pocl", "Portable Computing Language", "pthread"},
    {"pocl-basic", "Portable Computing Language", "basic"},
    {"oclgrind", "Oclgrind", ""},
};

std::string text_of(cl_platform_id platform, cl_platform_info what) {
  size_t size = 0;
  if (clGetPlatformInfo(platform, what, 0, nullptr, &size) != CL_SUCCESS || size == 0) return "";
  std::string text(size, '\0');
  clGetPlatformInfo(platform, what, size, text.data(), nullptr);
  return text.c_str();
}

std::string text_of(cl_device_id device, cl_device_info what) {
  size_t size = 0;
  if (clGetDeviceInfo(device, what, 0, nullptr, &size) != CL_SUCCESS || size == 0) return "";
  std::string text(size, '\0');
  clGetDeviceInfo(device, what, size, text.data(), nullptr);
  return text.c_str();
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

bool matches(const Alias& alias, const Found& found) {
  return found.platform_name.find(alias.platform) != std::string::npos &&
         found.device_name.starts_with(alias.device);
}

// Gives each device the shortest name that means it.
void name_all(std::vector<Found>& all) {
  for (size_t i = 0; i < all.size(); i++) {
    all[i].name = fmt::format("{}", i);
    for (const Alias& alias : kAliases) {
      if (!matches(alias, all[i])) continue;
      const auto before = std::count_if(all.begin(), all.begin() + static_cast<ptrdiff_t>(i),
                                        [&](const Found& f) { return matches(alias, f); });
      all[i].name =
          before == 0 ? std::string(alias.name) : fmt::format("{}:{}", alias.name, before);
    }
  }
}

std::optional<size_t> number(std::string_view text) {
  size_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return n;
}

// Those that a name without an index means.
std::vector<Found> all_of(const std::vector<Found>& all, std::string_view name) {
  std::vector<Found> meant;
  for (const Alias& alias : kAliases) {
    if (alias.name != name) continue;
    for (const Found& f : all) {
      if (matches(alias, f)) meant.push_back(f);
    }
    return meant;
  }
  const std::string words = lower_case(name);
  for (const Found& f : all) {
    if (lower_case(f.platform_name + "\n" + f.device_name).find(words) != std::string::npos) {
      meant.push_back(f);
    }
  }
  return meant;
}

}  // namespace

Result<std::vector<Found>> find_all() {
  cl_uint count = 0;
  const cl_int code = clGetPlatformIDs(0, nullptr, &count);
  if (code != CL_SUCCESS || count == 0) {
    return Error{"no OpenCL platform is installed (no driver is listed in /etc/OpenCL/vendors)", 0,
                 0};
  }
  std::vector<cl_platform_id> platforms(count);
  clGetPlatformIDs(count, platforms.data(), nullptr);
  std::vector<Found> all;
  for (const cl_platform_id platform : platforms) {
    cl_uint there = 0;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &there) != CL_SUCCESS) continue;
    std::vector<cl_device_id> devices(there);
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, there, devices.data(), nullptr);
    for (const cl_device_id device : devices) {
      all.push_back({platform, device, text_of(platform, CL_PLATFORM_NAME),
                     text_of(device, CL_DEVICE_NAME), text_of(platform, CL_PLATFORM_VERSION),
                     text_of(device, CL_DRIVER_VERSION), ""});
    }
  }
  // What checks kernels rather than runs them comes last.
  const auto checks = [](const Found& f) { return f.platform_name == "Oclgrind"; };
  std::vector<Found> ordered;
  std::ranges::copy_if(all, std::back_inserter(ordered), std::not_fn(checks));
  std::ranges::copy_if(all, std::back_inserter(ordered), checks);
  name_all(ordered);
  return ordered;
}

Result<Found> find(std::string_view name) {
  ASSAY_TRY(all, find_all());
  if (const std::optional<size_t> n = number(name); n && *n < all.size()) return all[*n];
  const size_t colon = name.rfind(':');
  std::string_view base = name;
  size_t index = 0;
  if (colon != std::string_view::npos) {
    if (const std::optional<size_t> n = number(name.substr(colon + 1))) {
      base = name.substr(0, colon);
      index = *n;
    }
  }
  const std::vector<Found> meant = number(name) ? std::vector<Found>() : all_of(all, base);
  if (index < meant.size()) return meant[index];
  std::string there;
  for (const Found& f : all) {
    there += fmt::format("{}cl:{} ({}, {})", there.empty() ? "" : "; ", f.name, f.platform_name,
                         f.device_name);
  }
  return Error{fmt::format("no OpenCL device is named {}; there are {}", quoted(name),
                           there.empty() ? "none" : there),
               0, 0};
}

}  // namespace assay::runtime::opencl
