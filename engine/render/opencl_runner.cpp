#include "engine/render/opencl_runner.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <type_traits>

#include "engine/uop/value.h"

namespace assay::render {
namespace {

template <typename T, auto release>
using Owned = std::unique_ptr<std::remove_pointer_t<T>, decltype([](T t) { release(t); })>;
using Context = Owned<cl_context, clReleaseContext>;
using Queue = Owned<cl_command_queue, clReleaseCommandQueue>;
using Program = Owned<cl_program, clReleaseProgram>;
using Kernel = Owned<cl_kernel, clReleaseKernel>;
using Memory = Owned<cl_mem, clReleaseMemObject>;

// Both platforms and no other, and a place for PoCL's files that goes with the process.
struct Environment {
  std::filesystem::path folder;

  Environment() {
    std::string name = (std::filesystem::temp_directory_path() / "assay_render_XXXXXX").string();
    folder = mkdtemp(name.data());
    std::filesystem::create_directories(folder / "vendors");
    std::ofstream(folder / "vendors" / "pocl.icd")
        << std::ifstream("/etc/OpenCL/vendors/pocl.icd").rdbuf();
    std::ofstream(folder / "vendors" / "oclgrind.icd")
        << "/usr/lib/oclgrind/liboclgrind-rt-icd.so\n";
    setenv("OCL_ICD_VENDORS", (folder / "vendors").c_str(), 1);
    setenv("POCL_CACHE_DIR", (folder / "pocl").c_str(), 1);
    setenv("POCL_DEVICES", "basic", 1);
    setenv("OCLGRIND_DATA_RACES", "1", 1);
    setenv("OCLGRIND_LOG", oclgrind_log().c_str(), 1);
  }
  ~Environment() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  std::filesystem::path oclgrind_log() const { return folder / "oclgrind.log"; }
};

const Environment& environment() {
  static const Environment environment;
  return environment;
}

cl_device_id find_device(std::string_view platform) {
  cl_platform_id ids[8] = {};
  cl_uint count = 0;
  clGetPlatformIDs(8, ids, &count);
  for (cl_uint i = 0; i < count; i++) {
    char name[256] = {};
    clGetPlatformInfo(ids[i], CL_PLATFORM_NAME, sizeof name - 1, name, nullptr);
    if (std::string_view(name).find(platform) == std::string_view::npos) continue;
    cl_device_id device = nullptr;
    clGetDeviceIDs(ids[i], CL_DEVICE_TYPE_ALL, 1, &device, nullptr);
    return device;
  }
  return nullptr;
}

size_t count_of(uop::Ref term) {
  return term == nullptr ? 1 : static_cast<size_t>(uop::as_int(term->value()));
}

class Runner {
 public:
  explicit Runner(cl_device_id device) : device_(device) {
    context_.reset(clCreateContext(nullptr, 1, &device_, nullptr, nullptr, nullptr));
    queue_.reset(clCreateCommandQueue(context_.get(), device_, 0, nullptr));
  }

  std::string build(const std::vector<Launch>& launches, Build how) {
    std::string text;
    for (const Launch& launch : launches) text += launch.source.text;
    const char* source = text.c_str();
    program_.reset(clCreateProgramWithSource(context_.get(), 1, &source, nullptr, nullptr));
    const char* options = how == Build::Quick ? "-cl-std=CL1.2 -cl-opt-disable" : "-cl-std=CL1.2";
    const cl_int status = clBuildProgram(program_.get(), 1, &device_, options, nullptr, nullptr);
    if (status == CL_SUCCESS) return {};
    std::string log(1 << 14, '\0');
    clGetProgramBuildInfo(program_.get(), device_, CL_PROGRAM_BUILD_LOG, log.size(), log.data(),
                          nullptr);
    return fmt::format("build failed ({}): {}\n{}", status, log.c_str(), text);
  }

  std::string launch(Launch& launch) {
    cl_int status = 0;
    const Kernel kernel(clCreateKernel(program_.get(), launch.source.name.c_str(), &status));
    if (status != CL_SUCCESS) return fmt::format("no kernel {} ({})", launch.source.name, status);
    std::vector<Memory> memory;
    cl_uint slot = 0;
    for (Bytes& bytes : launch.buffers) {
      memory.emplace_back(clCreateBuffer(context_.get(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                         bytes.size(), bytes.data(), &status));
    }
    for (const Launch::Alias& alias : launch.aliases) {
      const cl_buffer_region part = {alias.offset, launch.buffers[alias.buffer].size()};
      memory[alias.buffer].reset(clCreateSubBuffer(memory[alias.of].get(), CL_MEM_READ_WRITE,
                                                   CL_BUFFER_CREATE_TYPE_REGION, &part, &status));
      if (status != CL_SUCCESS) return fmt::format("no part of a buffer ({})", status);
    }
    for (const Memory& buffer : memory) {
      cl_mem argument = buffer.get();
      status |= clSetKernelArg(kernel.get(), slot++, sizeof argument, &argument);
    }
    for (const Bytes& value : launch.variables) {
      status |= clSetKernelArg(kernel.get(), slot++, value.size(), value.data());
    }
    size_t global[3];
    size_t local[3];
    for (size_t axis = 0; axis < 3; axis++) {
      local[axis] = count_of(launch.source.items[axis]);
      global[axis] = local[axis] * count_of(launch.source.groups[axis]);
    }
    status |= clEnqueueNDRangeKernel(queue_.get(), kernel.get(), 3, nullptr, global, local, 0,
                                     nullptr, nullptr);
    status |= clFinish(queue_.get());
    for (size_t i = 0; i < memory.size(); i++) {
      status |=
          clEnqueueReadBuffer(queue_.get(), memory[i].get(), CL_TRUE, 0, launch.buffers[i].size(),
                              launch.buffers[i].data(), 0, nullptr, nullptr);
    }
    if (status == CL_SUCCESS) return {};
    return fmt::format("launch of {} failed ({})", launch.source.name, status);
  }

 private:
  cl_device_id device_;
  Context context_;
  Queue queue_;
  Program program_;
};

}  // namespace

std::string run_all(std::string_view platform, std::vector<Launch>& launches, Build how) {
  const Environment& place = environment();
  const cl_device_id device = find_device(platform);
  if (device == nullptr) return fmt::format("there is no platform {}", platform);
  Runner runner(device);
  if (std::string trouble = runner.build(launches, how); !trouble.empty()) return trouble;
  for (Launch& launch : launches) {
    if (std::string trouble = runner.launch(launch); !trouble.empty()) return trouble;
  }
  if (platform != "Oclgrind") return {};
  // Races, accesses out of bounds and divergence stand in its log.
  std::ifstream log(place.oclgrind_log());
  return {std::istreambuf_iterator<char>(log), {}};
}

}  // namespace assay::render
