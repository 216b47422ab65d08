#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "engine/runtime/executor.h"
#include "engine/uop/key.h"

namespace assay::runtime {

// One run of a schedule.
class Running {
 public:
  Running(Executor& executor, Graph& g, const schedule::Schedule& s, Buffers& buffers,
          const RunOptions& options)
      : executor_(executor), g_(g), schedule_(s), buffers_(buffers), options_(options) {}

  Result<Ran> run();
  void foresee();

 private:
  struct Flight {
    std::vector<int32_t> steps;
    uint64_t number = 0;  // batches are numbered as they are submitted
    bool is_busy = false;
  };

  Ref call(const Step& step) const { return linear_->src[static_cast<size_t>(step.call)]; }
  Device& device(const Step& step) { return *devices_[static_cast<size_t>(step.device)]; }
  Executor::Key key_of(const Step& step) {
    Device& d = device(step);
    return {&d, d.generation(), uop::key(g_, call(step)->src[0]), options_.switches.digest()};
  }

  Result<bool> check_inputs();
  Result<bool> open_devices(std::span<const std::string_view> names);
  std::vector<const Step*> missing_on(const Device& on);
  Result<Ref> lower(uop::Run& run, const Step& step);
  Result<bool> build_kernels();
  Result<bool> build_on(Device& on, std::span<const Step* const> missing);
  Result<bool> make_storage();
  Result<bool> poison(std::span<Buffers::Entry* const> fresh);
  void describe_calls();
  void order_aliases();
  void predict();

  void execute();
  bool submit_ready(size_t d);
  Command command_of(const Step& step);
  void succeed(size_t i, const Done& done);
  void finish(size_t d);
  void fail(const Step& step, Status status, std::string_view why);
  void settle();
  void drop_temporaries();

  Executor& executor_;
  Graph& g_;
  const schedule::Schedule& schedule_;
  Buffers& buffers_;
  const RunOptions& options_;
  Ref linear_ = nullptr;
  std::vector<Step> steps_;
  std::vector<Device*> devices_;
  std::vector<const Executor::Kernel*> kernels_;  // by step; null for those that copy
  std::vector<Ref> temporaries_;
  std::vector<Flight> flights_;                       // by device
  std::vector<uint8_t> done_;                         // by step
  std::map<int32_t, std::vector<std::byte>> copied_;  // by call, from its read to its write
  std::vector<int64_t> live_before_;                  // by device
  std::set<int64_t> here_before_;                     // numbers of buffers
  uint64_t batches_ = 0;
  Ran ran_;
};

}  // namespace assay::runtime
