#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"
#include "engine/runtime/opencl/object.h"
#include "engine/uop/target.h"

namespace assay::runtime::opencl {

// A device of a platform that the loader found.
struct Found {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  std::string platform_name;  // "Portable Computing Language"
  std::string device_name;    // "pthread-skylake-avx512-AMD EPYC"
  std::string version;        // of the platform: "OpenCL 3.0 PoCL 3.1+debian …"
  std::string driver;         // "3.1+debian"
  std::string name;           // what find() takes for it: "pocl:1"
};

// All devices, in the loader's order, but Oclgrind last. An error where there is no platform at
// all.
Result<std::vector<Found>> find_all();

// The one that a name means:
//   3              the fourth of all
//   pocl  pocl-basic  oclgrind
//                  the first `pthread` device of PoCL, its first `basic` one, Oclgrind's
//   WORDS          the first whose platform's or own name holds WORDS, in any case of letters
//   NAME:1         the second of those that NAME means
// An error lists what is there.
Result<Found> find(std::string_view name);

// What the device says it can do, in the terms of a target of that name.
uop::Target target_of(const Found& found, std::string_view name);
// Makes the target aim at what suits the device, as far as it says what that is.
void tune(uop::Target& target, const Found& found);

}  // namespace assay::runtime::opencl
