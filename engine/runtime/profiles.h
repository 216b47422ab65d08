#pragma once

#include <span>
#include <string_view>

#include "engine/uop/target.h"

namespace assay::runtime {

// A device that kernels can be made for on any other, within the limits of both.
struct Profile {
  std::string_view name;
  std::string_view says;
  const uop::Target& target;
};

// `generic`, `adreno-630`, `adreno-660`, `adreno-740`. What no public document says of a GPU is
// what OpenCL 1.2 promises of every device.
std::span<const Profile> all_profiles();
// nullptr where there is none. A native one has its functions computed by the device's own, where
// it promises a limit for them, and not by polynomials.
const uop::Target* profile(std::string_view name, bool native = false);

// What both can do, under the first one's name if it says the same, else "first on second": the
// lesser of limits, the types of both, the looser of rules.
uop::Target meet(const uop::Target& a, const uop::Target& b);

// Adds arithmetic in f16 (cl_khr_fp16) or f64 with what OpenCL promises of it.
void add_half(uop::Target& target);
void add_double(uop::Target& target);

}  // namespace assay::runtime
