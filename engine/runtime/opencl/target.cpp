#include <algorithm>
#include <array>
#include <bit>

#include "engine/runtime/opencl/platform.h"
#include "engine/runtime/profiles.h"

namespace assay::runtime::opencl {
namespace {

template <typename T>
T info(cl_device_id device, cl_device_info what, T otherwise) {
  T value = otherwise;
  return clGetDeviceInfo(device, what, sizeof value, &value, nullptr) == CL_SUCCESS ? value
                                                                                    : otherwise;
}

bool has_extension(cl_device_id device, std::string_view name) {
  size_t size = 0;
  if (clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, 0, nullptr, &size) != CL_SUCCESS) return false;
  std::string all(size, '\0');
  clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, size, all.data(), nullptr);
  return (" " + std::string(all.c_str()) + " ").find(" " + std::string(name) + " ") !=
         std::string::npos;
}

int64_t at_most(cl_ulong value) {
  return static_cast<int64_t>(std::min<cl_ulong>(value, INT64_MAX));
}

uop::Limits limits_of(cl_device_id d) {
  uop::Limits limits = uop::generic_target().limits;
  limits.group_size = static_cast<int64_t>(info<size_t>(d, CL_DEVICE_MAX_WORK_GROUP_SIZE, 1));
  std::array<size_t, 3> items = {1, 1, 1};
  clGetDeviceInfo(d, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof items, items.data(), nullptr);
  for (size_t i = 0; i < 3; i++) limits.item_sizes[i] = at_most(std::max<size_t>(items[i], 1));
  limits.local_bytes = at_most(info<cl_ulong>(d, CL_DEVICE_LOCAL_MEM_SIZE, 0));
  limits.allocation_bytes = at_most(info<cl_ulong>(d, CL_DEVICE_MAX_MEM_ALLOC_SIZE, 1));
  // Arguments are addresses of 8 bytes, as CL_DEVICE_MAX_PARAMETER_SIZE counts them. As many again
  // are left to variables.
  const auto parameters = static_cast<int64_t>(info<size_t>(d, CL_DEVICE_MAX_PARAMETER_SIZE, 1024));
  limits.buffers = std::max<int64_t>(parameters / 16, 1);
  // In bits.
  const cl_uint bits = info<cl_uint>(d, CL_DEVICE_MEM_BASE_ADDR_ALIGN, 1024);
  limits.alignment = static_cast<int64_t>(std::bit_ceil(std::max<uint32_t>(bits / 8, 1)));
  return limits;
}

}  // namespace

uop::Target target_of(const Found& found, std::string_view name) {
  const cl_device_id d = found.device;
  uop::Target t = uop::generic_target();
  t.name = name;
  t.limits = limits_of(d);
  const auto single = info<cl_device_fp_config>(d, CL_DEVICE_SINGLE_FP_CONFIG, 0);
  t.math.subnormals =
      (single & CL_FP_DENORM) != 0 ? uop::Subnormals::Kept : uop::Subnormals::Either;
  t.view_alignment = t.limits.alignment;
  if (has_extension(d, "cl_khr_fp16")) add_half(t);
  if (info<cl_device_fp_config>(d, CL_DEVICE_DOUBLE_FP_CONFIG, 0) != 0) add_double(t);
  const bool has_queue = (info<cl_command_queue_properties>(d, CL_DEVICE_QUEUE_PROPERTIES, 0) &
                          CL_QUEUE_PROFILING_ENABLE) != 0;
  t.copy_queues = has_queue ? 1 : 0;
  return t;
}

void tune(uop::Target& target, const Found& found) {
  const cl_device_id d = found.device;
  if ((info<cl_device_type>(d, CL_DEVICE_TYPE, 0) & CL_DEVICE_TYPE_CPU) == 0) return;
  target.math.contracts = true;
  target.aligned_vectors = false;
  uop::Tuning& tuning = target.tuning;
  const int64_t width = info<cl_uint>(d, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, 4);
  tuning.lanes = std::max<int64_t>(width, 4);
  tuning.tile = 8 * tuning.lanes;
  tuning.items = std::min<int64_t>(target.limits.group_size, 4096);
  tuning.items_are_lanes = true;
}

}  // namespace assay::runtime::opencl
