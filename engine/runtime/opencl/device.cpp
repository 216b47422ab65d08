#include "engine/runtime/opencl/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/runtime/opencl/environment.h"
#include "engine/runtime/profiles.h"

namespace assay::runtime::opencl {
namespace {

std::string said(std::string_view call, cl_int code) {
  return fmt::format("{}: {} ({})", call, error_name(code), code);
}

}  // namespace

OpenclDevice::OpenclDevice(std::string name, Target target, Found found, const OpenOptions& options,
                           Render render)
    : Device(std::move(name), std::move(target)),
      found_(std::move(found)),
      binaries_(options.cache.empty() ? "" : options.cache + "/binaries"),
      optimizes_(options.optimize),
      render_(render),
      is_oclgrind_(found_.platform_name == "Oclgrind") {}

OpenclDevice::~OpenclDevice() {
  if (open_ == nullptr) return;
  for (const Queue& q : open_->queues) clFinish(q.get());
}

Result<std::unique_ptr<OpenclDevice>> OpenclDevice::open(std::string_view rest,
                                                         const OpenOptions& options,
                                                         Render render) {
  const Result<bool> prepared = prepare_environment(options.cache);
  if (!prepared.ok()) return prepared.error();
  ASSAY_TRY(found, find(rest));
  const std::string name = fmt::format("cl:{}", rest);
  Target target = target_of(found, name);
  if (options.tuned) tune(target, found);
  if (options.profile != nullptr) target = meet(*options.profile, target);
  std::unique_ptr<OpenclDevice> device(
      new OpenclDevice(name, std::move(target), std::move(found), options, render));
  const Result<bool> created = device->restart();
  if (!created.ok()) return Error{fmt::format("{}: {}", name, created.error().message), 0, 0};
  return device;
}

Result<bool> OpenclDevice::restart() {
  open_ = std::make_unique<Objects>();
  if (is_oclgrind_) oclgrind_begins_anew();
  const cl_context_properties properties[] = {
      CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(found_.platform), 0};
  cl_int code = CL_SUCCESS;
  open_->context = Context(clCreateContext(properties, 1, &found_.device, nullptr, nullptr, &code));
  if (code != CL_SUCCESS) return Error{said("clCreateContext", code), 0, 0};
  cl_command_queue_properties can = 0;
  clGetDeviceInfo(found_.device, CL_DEVICE_QUEUE_PROPERTIES, sizeof can, &can, nullptr);
  can &= CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
  for (int i = 0; i < 1 + std::min(target().copy_queues, 1); i++) {
    Queue made(clCreateCommandQueue(open_->context.get(), found_.device, can, &code));
    if (code != CL_SUCCESS) return Error{said("clCreateCommandQueue", code), 0, 0};
    open_->queues.push_back(std::move(made));
  }
  open_->compiler = std::make_unique<Compiler>(open_->context.get(), found_, binaries_, optimizes_);
  return true;
}

// Storage

Result<bool> OpenclDevice::make_memory(uint32_t number, cl_mem_flags flags, size_t bytes,
                                       void* memory) {
  if (open_->storages.size() <= number) open_->storages.resize(number + 1);
  cl_int code = CL_SUCCESS;
  Memory made(
      clCreateBuffer(open_->context.get(), CL_MEM_READ_WRITE | flags, bytes, memory, &code));
  if (code != CL_SUCCESS) return Error{said("clCreateBuffer", code), 0, 0};
  open_->storages[number].whole = std::move(made);
  return true;
}

Result<bool> OpenclDevice::make_storage(uint32_t number, int64_t bytes) {
  // There are no buffers of no bytes.
  return make_memory(number, 0, static_cast<size_t>(std::max<int64_t>(bytes, 1)), nullptr);
}

Result<bool> OpenclDevice::adopt_storage(uint32_t number, std::span<std::byte> memory) {
  return make_memory(number, CL_MEM_USE_HOST_PTR, memory.size(), memory.data());
}

void OpenclDevice::drop_storage(uint32_t number) { open_->storages[number] = {}; }

Result<cl_mem> OpenclDevice::part(const View& view) {
  Storage& s = open_->storages[view.storage.number];
  if (view.offset == 0) return s.whole.get();
  Memory& part = s.parts[{view.offset, view.bytes}];
  if (part) return part.get();
  const cl_buffer_region region = {static_cast<size_t>(view.offset),
                                   static_cast<size_t>(std::max<int64_t>(view.bytes, 1))};
  cl_int code = CL_SUCCESS;
  part = Memory(clCreateSubBuffer(s.whole.get(), CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
                                  &region, &code));
  if (code == CL_SUCCESS) return part.get();
  return Error{fmt::format("{} for {} bytes at {}", said("clCreateSubBuffer", code), view.bytes,
                           view.offset),
               0, 0};
}

// Kernels

void OpenclDevice::keep_kernel(uint32_t number, Kernel kernel) {
  if (open_->kernels.size() <= number) open_->kernels.resize(number + 1);
  open_->kernels[number] = std::move(kernel);
}

std::vector<Result<bool>> OpenclDevice::make_kernels(Graph& g, std::span<const Ref> linears,
                                                     std::span<const uint32_t> numbers,
                                                     uop::Watch* watch) {
  std::vector<Result<bool>> made(linears.size(), true);
  std::vector<KernelText> texts;
  std::vector<size_t> places;
  texts.reserve(linears.size());
  places.reserve(linears.size());
  for (size_t i = 0; i < linears.size(); i++) {
    Result<KernelText> text = render_(g, linears[i], target(), "", watch);
    if (!text.ok()) {
      made[i] = text.error();
      continue;
    }
    texts.push_back(std::move(text).value());
    places.push_back(i);
  }
  std::vector<Result<Kernel>> kernels = open_->compiler->kernels(texts);
  for (size_t k = 0; k < kernels.size(); k++) {
    if (!kernels[k].ok()) {
      made[places[k]] = kernels[k].error();
    } else {
      keep_kernel(numbers[places[k]], std::move(kernels[k]).value());
    }
  }
  return made;
}

void OpenclDevice::foresee(Graph& g, std::span<const Ref> linears) {
  if (!lost().empty()) return;
  for (const Ref linear : linears) {
    Result<KernelText> text = render_(g, linear, target(), "", nullptr);
    if (text.ok()) open_->compiler->foresee(std::move(text).value());
  }
}

void OpenclDevice::make_foreseen() {
  if (lost().empty()) open_->compiler->compile_foreseen();
}

Result<KernelId> OpenclDevice::build_text(Signature signature, const KernelText& text) {
  std::vector<Result<Kernel>> kernels = open_->compiler->kernels({&text, 1});
  if (!kernels[0].ok()) return kernels[0].error();
  const KernelId id = take_kernel(std::move(signature));
  keep_kernel(id.number, std::move(kernels[0]).value());
  return id;
}

void OpenclDevice::drop_kernel(uint32_t number) { open_->kernels[number] = {}; }

// The kind

namespace {

Result<std::unique_ptr<Device>> open_any(std::string_view rest, const OpenOptions& options) {
  ASSAY_TRY(device, OpenclDevice::open(rest, options));
  return std::unique_ptr<Device>(std::move(device));
}

Result<std::vector<Listed>> list_all(const OpenOptions& options) {
  const Result<bool> prepared = prepare_environment(options.cache);
  if (!prepared.ok()) return prepared.error();
  ASSAY_TRY(all, find_all());
  std::vector<Listed> listed;
  listed.reserve(all.size());
  for (const Found& f : all) {
    const std::string name = fmt::format("cl:{}", f.name);
    Target target = target_of(f, name);
    if (options.profile != nullptr) target = meet(*options.profile, target);
    listed.push_back({name,
                      fmt::format("{}, {}, driver {}", f.platform_name, f.device_name, f.driver),
                      std::move(target)});
  }
  return listed;
}

}  // namespace

const DeviceKind& opencl_kind() {
  static constexpr DeviceKind kKind = {"cl", "devices of OpenCL drivers", open_any, list_all};
  return kKind;
}

}  // namespace assay::runtime::opencl
