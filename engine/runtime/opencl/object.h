#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

namespace assay::runtime::opencl {

// How many objects of OpenCL there are that this process has made and not released.
int64_t live_objects();
namespace detail {
void count_object(int64_t change);
}  // namespace detail

// "CL_OUT_OF_RESOURCES (-5)".
std::string_view error_name(cl_int code);

// Owns one reference to an object.
template <typename T, cl_int (*kRelease)(T)>
class Object {
 public:
  Object() = default;
  // Takes over the reference that a call of clCreate… returned; null where it failed.
  explicit Object(T handle) : handle_(handle) {
    if (handle_ != nullptr) detail::count_object(1);
  }
  Object(Object&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Object& operator=(Object&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  ~Object() {
    if (handle_ == nullptr) return;
    kRelease(handle_);
    detail::count_object(-1);
  }

  T get() const { return handle_; }
  const T* address() const { return &handle_; }
  explicit operator bool() const { return handle_ != nullptr; }

 private:
  T handle_ = nullptr;
};

using Context = Object<cl_context, clReleaseContext>;
using Queue = Object<cl_command_queue, clReleaseCommandQueue>;
using Memory = Object<cl_mem, clReleaseMemObject>;
using Program = Object<cl_program, clReleaseProgram>;
using Kernel = Object<cl_kernel, clReleaseKernel>;
using Event = Object<cl_event, clReleaseEvent>;

}  // namespace assay::runtime::opencl
