#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "engine/result.h"
#include "engine/runtime/buffers.h"
#include "engine/runtime/devices.h"
#include "engine/runtime/steps.h"
#include "engine/schedule/schedule.h"
#include "engine/uop/rewrite.h"

namespace assay::runtime {

struct RunOptions {
  uop::Switches switches = {};
  uop::Watch* watch = nullptr;
  bool planned = true;  // over arenas; else with storage of its own for each buffer
  // Of the calls, as their edges allow; as they stand where empty.
  std::span<const int> order = {};  // NOLINT(readability-redundant-member-init): may be left out
  int64_t limit_ms = 0;  // for what a device is given at once; 0 where it may take for ever
  // Storage made for the run is filled with bytes that are NaN, so that what no kernel wrote shows.
  bool poison = false;
};

// What was foreseen of a run, and what came of it.
struct Counts {
  int kernels = 0;
  int copies = 0;
  int64_t peak_bytes = 0;   // of storage that the run uses, on all devices
  int64_t queue_waits = 0;  // waits of one queue of a device for another
  int64_t host_waits = 0;   // waits of one device for another
  bool operator==(const Counts&) const = default;
};

// One call of a run.
struct CallRun {
  int32_t call = 0;  // its place in the LINEAR
  std::string name;  // with opts
  std::string device;
  bool is_copy = false;
  Status status = Status::Ok;
  int64_t begin_ns = 0;  // by the clock of the device; of a copy's reading half
  int64_t end_ns = 0;
  int64_t bytes = 0;       // of its buffers, or moved
  int64_t operations = 0;  // of floats, at most, over all work-items
  Launch sizes;
};

struct Ran {
  Status status = Status::Ok;
  std::string why;    // names the call that failed and its device
  int32_t call = -1;  // which
  Counts predicted;   // from the LINEAR and its plan
  Counts actual;      // as the devices counted
  std::vector<CallRun> calls;
  int batches = 0;
  int built = 0;  // kernels compiled for this run; the others were there
};

// Runs schedules on devices. Kernels stay compiled from run to run.
class Executor {
 public:
  explicit Executor(Devices& devices) : devices_(devices) {}
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  ~Executor();

  Devices& devices() { return devices_; }

  // Runs what was scheduled: makes the storage that is not there, lowers and builds the kernels of
  // each device together, and gives each device what is ready for it until all is done. Storage
  // that only the schedule knows is given back at the end. An error means that nothing has run;
  // what went wrong in a run is its status, and then what it should have written is invalid.
  Result<Ran> run(Graph& g, const schedule::Schedule& schedule, Buffers& buffers,
                  const RunOptions& options = {});
  // Has devices know of the kernels that run() of the schedule will have them build, so that those
  // of several schedules are built at once (Device::foresee). What is wrong with one, run() says.
  void foresee(Graph& g, const schedule::Schedule& schedule, const RunOptions& options = {});

 private:
  friend class Running;
  struct Kernel {
    KernelId id;
    std::string name;
    int64_t operations = 0;
  };
  void forget_kernels();

  // Device, its generation, what it is made from, and the switches it is made with.
  using Key = std::tuple<const Device*, uint32_t, uop::Key, std::string>;

  Devices& devices_;
  std::map<Key, Kernel> kernels_;
};

// The bytes of tensors, whose storage a run has filled: views of storage, or constants.
Result<std::vector<std::byte>> read_value(Graph& g, Ref value, Variables variables,
                                          Buffers& buffers);

// What became of tensors.
struct Realized {
  Ran ran;
  std::vector<std::vector<std::byte>> values;  // by tensor; none where the run failed
};
// Schedules what the tensors need, runs it and reads them. Storage that no live value names is
// given back. An error means that nothing has run, or that a value cannot be read.
Result<Realized> realize(tensor::Session& session, std::span<const tensor::Tensor* const> tensors,
                         Executor& executor, Buffers& buffers, const schedule::Options& how = {},
                         const RunOptions& options = {});

}  // namespace assay::runtime
