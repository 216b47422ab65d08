#pragma once

#include <cstdint>
#include <string_view>

// What running kernels shows to a watch (uop/watch.h).
namespace assay::runtime {

class Device;
struct Command;
struct Done;
struct Signature;

// A kernel was launched, and has ended.
struct LaunchSeen {
  const Device& device;
  const Signature& kernel;
  const Command& command;
  const Done& done;
  int32_t call;          // its place in the LINEAR
  std::string_view why;  // what went wrong, if anything did
};

}  // namespace assay::runtime
