#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/runtime/devices.h"
#include "engine/runtime/opencl/platform.h"
#include "engine/runtime/opencl/program.h"
#include "engine/runtime/source.h"

namespace assay::runtime::opencl {

// Devices of OpenCL drivers, by the names of find(): `cl:pocl`.
const DeviceKind& opencl_kind();

// A device behind the ICD loader. It calls nothing younger than OpenCL 1.2: Oclgrind hangs in what
// is. Each command is enqueued, in the order of its batch, on the queue of its lane with events for
// the commands that it waits for; queues are out of order where the device has such.
class OpenclDevice : public Device {
 public:
  static Result<std::unique_ptr<OpenclDevice>> open(std::string_view rest,
                                                    const OpenOptions& options,
                                                    Render render = render_kernel);
  ~OpenclDevice() override;

  std::string driver() const override { return found_.platform_name + " " + found_.driver; }
  // A kernel from a text of someone else's, with what its launches need: its arguments are the
  // slots of the signature, then the variables.
  Result<KernelId> build_text(Signature signature, const KernelText& text);
  const Compiler& compiler() const { return *open_->compiler; }
  void foresee(Graph& g, std::span<const Ref> linears) override;
  void make_foreseen() override;

 protected:
  Result<bool> make_storage(uint32_t number, int64_t bytes) override;
  Result<bool> adopt_storage(uint32_t number, std::span<std::byte> memory) override;
  void drop_storage(uint32_t number) override;
  std::vector<Result<bool>> make_kernels(Graph& g, std::span<const Ref> linears,
                                         std::span<const uint32_t> numbers,
                                         uop::Watch* watch) override;
  void drop_kernel(uint32_t number) override;
  Result<bool> start(const Batch& batch) override;
  Outcome complete(const Batch& batch) override;
  Result<bool> restart() override;

 private:
  struct Storage {
    Memory whole;
    std::map<std::pair<int64_t, int64_t>, Memory> parts;  // by offset and bytes
  };
  // What a batch holds until it is done.
  struct Flight {
    std::vector<Event> events;  // by command; none from the one on that could not be enqueued
    std::vector<std::vector<std::byte>> staging;  // by command, where the host's bytes may be gone
    int32_t failed = -1;
    Status status = Status::Ok;
    std::string why;
    int64_t queue_waits = 0;
  };
  // All objects of a generation, in the order in which they are released last.
  struct Objects {
    Context context;
    std::vector<Queue> queues;  // compute, then copy where there is one
    std::unique_ptr<Compiler> compiler;
    std::vector<Storage> storages;  // by number
    std::vector<Kernel> kernels;
    std::unique_ptr<Flight> flight;
  };

  OpenclDevice(std::string name, Target target, Found found, const OpenOptions& options,
               Render render);
  void keep_kernel(uint32_t number, Kernel kernel);
  Result<bool> make_memory(uint32_t number, cl_mem_flags flags, size_t bytes, void* memory);
  Result<cl_mem> part(const View& view);
  cl_command_queue queue(Lane lane) const;
  std::string set_arguments(const Batch& batch, const Command& command);
  cl_int launch(const Batch& batch, const Command& command, std::span<const cl_event> waits,
                cl_event* event);
  cl_int transfer(const Batch& batch, size_t place, std::span<const cl_event> waits,
                  cl_event* event);
  std::string enqueue(const Batch& batch, size_t place);
  bool wait_all(const Batch& batch);
  Done done_of(size_t place) const;

  Found found_;
  std::string binaries_;
  bool optimizes_;
  Render render_;
  bool is_oclgrind_ = false;
  std::unique_ptr<Objects> open_;  // null where what hangs holds on to all of it
};

}  // namespace assay::runtime::opencl
