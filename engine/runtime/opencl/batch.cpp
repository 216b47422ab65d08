#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "engine/check.h"
#include "engine/runtime/opencl/device.h"
#include "engine/runtime/opencl/environment.h"

// How OpenclDevice runs a batch.
namespace assay::runtime::opencl {
namespace {

Status status_of(cl_int code) {
  const bool is_lost = code == CL_DEVICE_NOT_AVAILABLE || code == CL_INVALID_CONTEXT ||
                       code == CL_INVALID_COMMAND_QUEUE || code == CL_INVALID_DEVICE;
  return is_lost ? Status::Lost : Status::Fault;
}

cl_int execution_status(const Event& event) {
  cl_int status = CL_COMPLETE;
  clGetEventInfo(event.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
  return status;
}

}  // namespace

cl_command_queue OpenclDevice::queue(Lane lane) const {
  return (lane == Lane::Copy ? open_->queues.back() : open_->queues.front()).get();
}

std::string OpenclDevice::set_arguments(const Batch& batch, const Command& command) {
  const Signature& s = signature_at(command.kernel.number);
  const cl_kernel kernel = open_->kernels[command.kernel.number].get();
  cl_uint at = 0;
  for (const Signature::Slot& slot : s.slots) {
    const Result<cl_mem> memory = part(command.views[static_cast<size_t>(slot.slot)]);
    if (!memory.ok()) return memory.error().message;
    const cl_mem argument = memory.value();
    const cl_int code = clSetKernelArg(kernel, at++, sizeof argument, &argument);
    if (code != CL_SUCCESS) {
      return fmt::format("argument of slot {}: {}", slot.slot, error_name(code));
    }
  }
  for (const Signature::Variable& v : s.variables) {
    // Little-endian: the low bytes of the value are the value at its type.
    const int64_t value = *find_variable(batch.variables, v.name);
    const auto width = static_cast<size_t>(uop::bytes_of(v.dtype));
    const cl_int code = clSetKernelArg(kernel, at++, width, &value);
    if (code != CL_SUCCESS) return fmt::format("argument {}: {}", v.name, error_name(code));
  }
  return "";
}

cl_int OpenclDevice::launch(const Batch& batch, const Command& command,
                            std::span<const cl_event> waits, cl_event* event) {
  const Launch sizes = signature_at(command.kernel.number).sizes(batch.variables).value();
  const auto count = static_cast<cl_uint>(waits.size());
  const cl_event* list = waits.empty() ? nullptr : waits.data();
  if (sizes.work_items() == 0) {
    return clEnqueueMarkerWithWaitList(queue(command.lane), count, list, event);
  }
  size_t global[3];
  size_t local[3];
  for (size_t i = 0; i < 3; i++) {
    local[i] = static_cast<size_t>(sizes.items[i]);
    global[i] = static_cast<size_t>(sizes.groups[i]) * local[i];
  }
  return clEnqueueNDRangeKernel(queue(command.lane), open_->kernels[command.kernel.number].get(), 3,
                                nullptr, global, local, count, list, event);
}

// All but launches. With a limit of time the host's bytes may be gone when a command gets to them,
// so it is given bytes that stay.
cl_int OpenclDevice::transfer(const Batch& batch, size_t place, std::span<const cl_event> waits,
                              cl_event* event) {
  const Command& c = batch.commands[place];
  const View& v = c.views[0];
  const auto offset = static_cast<size_t>(v.offset);
  const auto bytes = static_cast<size_t>(v.bytes);
  const cl_mem memory = open_->storages[v.storage.number].whole.get();
  const cl_command_queue q = queue(c.lane);
  const auto count = static_cast<cl_uint>(waits.size());
  const cl_event* list = waits.empty() ? nullptr : waits.data();
  if (bytes == 0) return clEnqueueMarkerWithWaitList(q, count, list, event);
  std::vector<std::byte>& staging = open_->flight->staging[place];
  switch (c.kind) {
    case Command::Kind::Copy:
      return clEnqueueCopyBuffer(q, open_->storages[c.views[1].storage.number].whole.get(), memory,
                                 static_cast<size_t>(c.views[1].offset), offset, bytes, count, list,
                                 event);
    case Command::Kind::Fill:
      return clEnqueueFillBuffer(q, memory, &c.byte, 1, offset, bytes, count, list, event);
    case Command::Kind::Read:
      if (batch.limit_ms > 0) staging.resize(bytes);
      return clEnqueueReadBuffer(q, memory, CL_FALSE, offset, bytes,
                                 staging.empty() ? c.into.data() : staging.data(), count, list,
                                 event);
    case Command::Kind::Write:
      if (batch.limit_ms > 0) staging.assign(c.from.begin(), c.from.end());
      return clEnqueueWriteBuffer(q, memory, CL_FALSE, offset, bytes,
                                  staging.empty() ? c.from.data() : staging.data(), count, list,
                                  event);
    case Command::Kind::Launch: break;
  }
  ASSAY_CHECK(false, "a launch is no transfer");
}

// Puts a command on its queue; what went wrong, or "".
std::string OpenclDevice::enqueue(const Batch& batch, size_t place) {
  const Command& c = batch.commands[place];
  Flight& flight = *open_->flight;
  std::vector<cl_event> waits;
  for (const int32_t wait : c.waits) {
    waits.push_back(flight.events[static_cast<size_t>(wait)].get());
    const Command& before = batch.commands[static_cast<size_t>(wait)];
    if (queue(before.lane) != queue(c.lane)) flight.queue_waits++;
  }
  const bool is_launch = c.kind == Command::Kind::Launch;
  flight.status = Status::Fault;
  if (is_launch) {
    if (std::string error = set_arguments(batch, c); !error.empty()) return error;
  }
  cl_event made = nullptr;
  const cl_int code =
      is_launch ? launch(batch, c, waits, &made) : transfer(batch, place, waits, &made);
  flight.events[place] = Event(made);
  flight.status = status_of(code);
  if (code != CL_SUCCESS) return fmt::format("{} ({})", error_name(code), code);
  flight.status = Status::Fault;
  if (!is_oclgrind_) return "";
  // What it finds is found when a command has run, and is that command's.
  clFinish(queue(c.lane));
  return oclgrind_findings();
}

Result<bool> OpenclDevice::start(const Batch& batch) {
  open_->flight = std::make_unique<Flight>();
  Flight& flight = *open_->flight;
  flight.events.resize(batch.commands.size());
  flight.staging.resize(batch.commands.size());
  for (size_t i = 0; i < batch.commands.size() && flight.failed < 0; i++) {
    flight.why = enqueue(batch, i);
    if (!flight.why.empty()) flight.failed = static_cast<int32_t>(i);
  }
  for (const Queue& q : open_->queues) clFlush(q.get());
  return true;
}

// Whether all that was enqueued has ended within the limit.
bool OpenclDevice::wait_all(const Batch& batch) {
  using Clock = std::chrono::steady_clock;
  if (batch.limit_ms <= 0) {
    for (const Queue& q : open_->queues) clFinish(q.get());
    return true;
  }
  const auto limit = Clock::now() + std::chrono::milliseconds(batch.limit_ms);
  auto pause = std::chrono::microseconds(20);
  for (const Event& event : open_->flight->events) {
    while (event && execution_status(event) > CL_COMPLETE) {
      if (Clock::now() > limit) return false;
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, std::chrono::microseconds(1000));
    }
  }
  return true;
}

Done OpenclDevice::done_of(size_t place) const {
  const Flight& flight = *open_->flight;
  const Event& event = flight.events[place];
  if (!event || flight.failed == static_cast<int32_t>(place)) return {flight.status, 0, 0};
  const cl_int status = execution_status(event);
  if (status > CL_COMPLETE) return {Status::Timeout, 0, 0};
  if (status < 0) return {status_of(status), 0, 0};
  cl_ulong begin = 0;
  cl_ulong end = 0;
  clGetEventProfilingInfo(event.get(), CL_PROFILING_COMMAND_START, sizeof begin, &begin, nullptr);
  clGetEventProfilingInfo(event.get(), CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr);
  return {Status::Ok, static_cast<int64_t>(begin), static_cast<int64_t>(end)};
}

Outcome OpenclDevice::complete(const Batch& batch) {
  const bool ended = wait_all(batch);
  Flight& flight = *open_->flight;
  Outcome outcome;
  outcome.queue_waits = flight.queue_waits;
  for (size_t i = 0; i < batch.commands.size(); i++) {
    const Command& c = batch.commands[i];
    outcome.done.push_back(done_of(i));
    const Status status = outcome.done.back().status;
    if (status == Status::Ok && c.kind == Command::Kind::Read) {
      std::ranges::copy(flight.staging[i], c.into.begin());
    }
    if (status == Status::Ok || outcome.status != Status::Ok) continue;
    outcome.status = status;
    outcome.command = static_cast<int32_t>(i);
    outcome.why = flight.failed == static_cast<int32_t>(i) ? flight.why
                  : ended ? std::string(error_name(execution_status(flight.events[i])))
                          : fmt::format("not done within {} ms", batch.limit_ms);
  }
  if (ended) {
    open_->flight.reset();
    return outcome;
  }
  // What still runs holds on to all objects and to the bytes, so they are kept until the process
  // ends, and not destroyed then.
  static auto* const hanging = new std::vector<std::unique_ptr<Objects>>;
  hanging->push_back(std::move(open_));
  lose(fmt::format("it was {}", outcome.why));
  return outcome;
}

}  // namespace assay::runtime::opencl
