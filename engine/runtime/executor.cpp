#include "engine/runtime/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "engine/check.h"
#include "engine/codegen/pipeline.h"
#include "engine/runtime/overwrite.h"
#include "engine/runtime/seen.h"
#include "engine/runtime/work.h"
#include "engine/uop/key.h"

namespace assay::runtime {

using schedule::Schedule;
using uop::Op;

// One run of a schedule.
class Running {
 public:
  Running(Executor& executor, Graph& g, const Schedule& s, Buffers& buffers,
          const RunOptions& options)
      : executor_(executor), g_(g), schedule_(s), buffers_(buffers), options_(options) {}

  Result<Ran> run() {
    linear_ = options_.planned ? schedule_.planned : schedule_.linear;
    if (linear_ == nullptr) return Ran{};
    ASSAY_TRY(steps, steps_of(g_, linear_, schedule_.variables, options_.order));
    steps_ = std::move(steps.steps);
    ran_.predicted.kernels = steps.kernels;
    ran_.predicted.copies = steps.copies;
    for (const std::string_view name : steps.devices) {
      ASSAY_TRY(device, executor_.devices_.open(name));
      devices_.push_back(device);
    }
    ASSAY_TRY(valid, check_inputs());
    ASSAY_TRY(built, build_kernels());
    const Result<bool> stored = make_storage();
    if (!valid || !built || !stored.ok()) {
      drop_temporaries();
      return stored.error();
    }
    describe_calls();
    order_aliases();
    predict();
    execute();
    settle();
    drop_temporaries();
    return std::move(ran_);
  }

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
  void finish(size_t d);
  void fail(const Step& step, Status status, std::string_view why);
  void settle();
  void drop_temporaries();

  Executor& executor_;
  Graph& g_;
  const Schedule& schedule_;
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

// A run is refused where a call would read what an earlier one left invalid.
Result<bool> Running::check_inputs() {
  std::map<int64_t, std::string> invalid;
  for (const auto& [number, entry] : buffers_.entries()) {
    if (!entry.invalid.empty()) invalid[number] = entry.invalid;
  }
  for (const Step& step : steps_) {
    if (invalid.empty()) return true;
    const Overwrite o = overwrite_of(g_, call(step)->src[0]);
    for (size_t slot = 0; slot < step.parts.size(); slot++) {
      const Part& part = step.parts[slot];
      const auto at = invalid.find(part.buffer->arg.number());
      if (at == invalid.end()) continue;
      const bool is_read = step.kind == Step::Kind::Read ||
                           (step.kind == Step::Kind::Launch && o.reads(static_cast<int32_t>(slot)));
      const Buffers::Entry* entry = buffers_.find(part.buffer);
      const bool is_whole = part.bytes == entry->view.bytes &&
                            (step.kind == Step::Kind::Write || (slot == 0 && o.is_whole));
      if (is_read || !is_whole) {
        return Error{
            fmt::format("call {}, {}, {} {}, which is invalid: {}", step.call,
                        schedule::kernel_name(call(step)),
                        is_read ? "reads" : "writes only part of", entry->label, at->second),
            0, 0};
      }
      invalid.erase(at);
    }
  }
  return true;
}

// Kernels

Result<bool> Running::build_kernels() {
  for (Device* on : devices_) {
    std::vector<const Step*> missing;
    std::set<Executor::Key> asked;
    for (const Step& step : steps_) {
      if (step.kind != Step::Kind::Launch || &device(step) != on) continue;
      const Executor::Key key = key_of(step);
      if (!executor_.kernels_.contains(key) && asked.insert(key).second) missing.push_back(&step);
    }
    if (missing.empty()) continue;
    ASSAY_TRY(built, build_on(*on, missing));
    if (!built) return false;
  }
  kernels_.resize(steps_.size());
  for (size_t i = 0; i < steps_.size(); i++) {
    if (steps_[i].kind == Step::Kind::Launch) {
      kernels_[i] = &executor_.kernels_.at(key_of(steps_[i]));
    }
  }
  return true;
}

// Lowers in a graph that is dropped afterwards: the session's is not to hold what nobody needs.
Result<bool> Running::build_on(Device& on, std::span<const Step* const> missing) {
  std::erase_if(executor_.kernels_, [&](const auto& entry) {
    return std::get<0>(entry.first) == &on && std::get<1>(entry.first) != on.generation();
  });
  Graph scratch;
  uop::Run run(scratch, options_.switches, options_.watch, on.target());
  std::vector<Ref> linears;
  for (const Step* step : missing) {
    const Ref kernel = uop::copy_to(scratch, g_, call(*step)->src[0]);
    // A body that is a list already, edited by hand, is taken as it is.
    Result<Ref> linear = kernel->op == Op::Linear ? kernel : codegen::lower(run, kernel);
    if (!linear.ok()) {
      return Error{fmt::format("call {}, {}: {}", step->call, schedule::kernel_name(call(*step)),
                               linear.error().message),
                   0, 0};
    }
    linears.push_back(linear.value());
  }
  const std::vector<Result<KernelId>> built = on.build(scratch, linears, options_.watch);
  std::optional<Error> first;
  for (size_t i = 0; i < built.size(); i++) {
    if (!built[i].ok()) {
      if (!first) first = built[i].error();
      continue;
    }
    const Signature& s = on.signature(built[i].value());
    executor_.kernels_[key_of(*missing[i])] = {built[i].value(),
                                               s.opts.empty() ? s.name : s.name + " " + s.opts,
                                               float_operations(scratch, linears[i])};
    ran_.built++;
  }
  if (first) return *first;
  return true;
}

// Storage

Result<bool> Running::make_storage() {
  std::set<int64_t> held;
  for (const Ref argument : schedule_.call->src.subspan(1)) {
    if (argument->op == Op::Buffer) held.insert(argument->arg.number());
  }
  for (Device* d : devices_) {
    live_before_.push_back(d->live_bytes());
    d->reset_peak();
  }
  std::vector<Buffers::Entry*> fresh;
  for (const Step& step : steps_) {
    for (const Part& part : step.parts) {
      if (buffers_.find(part.buffer) != nullptr) {
        if (std::ranges::find(temporaries_, part.buffer) == temporaries_.end() &&
            !buffers_.find(part.buffer)->is_external) {
          here_before_.insert(part.buffer->arg.number());
        }
        continue;
      }
      ASSAY_TRY(entry, buffers_.make(g_, part.buffer));
      fresh.push_back(entry);
      if (!held.contains(part.buffer->arg.number())) temporaries_.push_back(part.buffer);
    }
  }
  return options_.poison ? poison(fresh) : true;
}

Result<bool> Running::poison(std::span<Buffers::Entry* const> fresh) {
  for (Device* on : devices_) {
    Batch batch;
    for (const Buffers::Entry* entry : fresh) {
      if (entry->device != on) continue;
      Command& command = batch.commands.emplace_back();
      command.kind = Command::Kind::Fill;
      command.views = {entry->view};
      command.byte = 0xFF;
    }
    if (batch.commands.empty()) continue;
    ASSAY_TRY(outcome, on->run(std::move(batch)));
    if (outcome.status != Status::Ok) {
      return Error{fmt::format("{}: {}: {}", on->name(), to_text(outcome.status), outcome.why), 0,
                   0};
    }
  }
  return true;
}

void Running::drop_temporaries() {
  for (const Ref buffer : temporaries_) buffers_.drop(buffer);
  temporaries_.clear();
}

// What is known before anything runs

void Running::describe_calls() {
  std::vector<CallRun> calls(linear_->src.size());
  for (size_t i = 0; i < steps_.size(); i++) {
    const Step& step = steps_[i];
    CallRun& run = calls[static_cast<size_t>(step.call)];
    run.call = step.call;
    run.is_copy = step.kind != Step::Kind::Launch;
    run.device = device(step).name();
    run.bytes = 0;
    for (const Part& part : step.parts) run.bytes += part.bytes;
    run.name = run.is_copy ? std::string(schedule::kernel_name(call(step))) : kernels_[i]->name;
    if (run.is_copy) continue;
    run.operations = kernels_[i]->operations;
    const Result<LaunchSizes> sizes =
        device(step).signature(kernels_[i]->id).sizes(schedule_.variables);
    if (sizes.ok()) run.sizes = sizes.value();
  }
  ran_.calls = std::move(calls);
}

// Bound buffers may share bytes where both say so, which the schedule does not know: there, calls
// keep the order in which they stand.
void Running::order_aliases() {
  std::vector<int32_t> touching;
  for (size_t i = 0; i < steps_.size(); i++) {
    bool may_alias = false;
    for (const Part& part : steps_[i].parts) {
      may_alias = may_alias || buffers_.find(part.buffer)->may_alias;
    }
    if (!may_alias) continue;
    std::vector<int32_t>& after = steps_[i].after;
    for (const int32_t before : touching) {
      if (std::ranges::find(after, before) == after.end()) after.push_back(before);
    }
    touching.push_back(static_cast<int32_t>(i));
  }
}

void Running::predict() {
  Counts& p = ran_.predicted;
  for (const Step& step : steps_) {
    for (const int32_t before : step.after) {
      const Step& other = steps_[static_cast<size_t>(before)];
      if (other.device != step.device) {
        p.host_waits++;
      } else if (other.lane != step.lane && device(step).target().copy_queues > 0) {
        p.queue_waits++;
      }
    }
  }
  std::set<int64_t> counted;
  for (const Step& step : steps_) {
    for (const Part& part : step.parts) {
      const Buffers::Entry* entry = buffers_.find(part.buffer);
      if (entry->is_external || !counted.insert(part.buffer->arg.number()).second) continue;
      p.peak_bytes += entry->view.bytes;
    }
  }
}

// Running

Command Running::command_of(const Step& step) {
  Command c;
  c.lane = step.lane;
  for (const Part& part : step.parts) {
    View view = buffers_.find(part.buffer)->view;
    view.offset += part.offset;
    view.bytes = part.bytes;
    c.views.push_back(view);
  }
  if (step.kind == Step::Kind::Launch) {
    c.kernel = kernels_[static_cast<size_t>(&step - steps_.data())]->id;
    return c;
  }
  std::vector<std::byte>& bytes = copied_[step.call];
  c.kind = step.kind == Step::Kind::Read ? Command::Kind::Read : Command::Kind::Write;
  if (step.kind == Step::Kind::Read) {
    bytes.resize(static_cast<size_t>(c.views[0].bytes));
    c.into = bytes;
  } else {
    c.from = bytes;
  }
  return c;
}

// Gives a device all that waits for nothing but what is done and what it is given along with it.
// Whether that was anything.
bool Running::submit_ready(size_t d) {
  Flight flight;
  Batch batch;
  batch.variables = schedule_.variables;
  batch.limit_ms = options_.limit_ms;
  std::map<int32_t, int32_t> places;  // in the batch, by step
  for (size_t i = 0; i < steps_.size(); i++) {
    const Step& step = steps_[i];
    if (done_[i] != 0 || static_cast<size_t>(step.device) != d) continue;
    const bool is_ready = std::ranges::all_of(step.after, [&](int32_t before) {
      return done_[static_cast<size_t>(before)] != 0 || places.contains(before);
    });
    if (!is_ready) continue;
    Command c = command_of(step);
    for (const int32_t before : step.after) {
      const Step& other = steps_[static_cast<size_t>(before)];
      const auto at = places.find(before);
      if (at != places.end()) {
        c.waits.push_back(at->second);
      } else if (other.device != step.device) {
        ran_.actual.host_waits++;
      } else if (other.lane != step.lane && device(step).target().copy_queues > 0) {
        ran_.actual.queue_waits++;  // the end of an earlier batch was waited for
      }
    }
    places[static_cast<int32_t>(i)] = static_cast<int32_t>(batch.commands.size());
    flight.steps.push_back(static_cast<int32_t>(i));
    batch.commands.push_back(std::move(c));
  }
  if (batch.commands.empty()) return false;
  const Step& first = steps_[static_cast<size_t>(flight.steps[0])];
  const Result<bool> submitted = devices_[d]->submit(std::move(batch));
  if (!submitted.ok()) {
    const Status status = devices_[d]->lost().empty() ? Status::Fault : Status::Lost;
    fail(first, status, submitted.error().message);
    return false;
  }
  ran_.batches++;
  flight.number = batches_++;
  flight.is_busy = true;
  flights_[d] = std::move(flight);
  return true;
}

void Running::fail(const Step& step, Status status, std::string_view why) {
  ran_.calls[static_cast<size_t>(step.call)].status = status;
  if (ran_.status != Status::Ok) return;
  ran_.status = status;
  ran_.call = step.call;
  ran_.why = fmt::format("call {}, {}, on {}: {}: {}", step.call,
                         ran_.calls[static_cast<size_t>(step.call)].name, device(step).name(),
                         to_text(status), why);
}

void Running::finish(size_t d) {
  const Outcome outcome = devices_[d]->finish();
  Flight& flight = flights_[d];
  flight.is_busy = false;
  ran_.actual.queue_waits += outcome.queue_waits;
  for (size_t k = 0; k < flight.steps.size(); k++) {
    const auto i = static_cast<size_t>(flight.steps[k]);
    const Step& step = steps_[i];
    const Done& done = outcome.done[k];
    CallRun& run = ran_.calls[static_cast<size_t>(step.call)];
    const bool is_first = outcome.command == static_cast<int32_t>(k);
    if (done.status == Status::Ok) {
      done_[i] = 1;
      if (step.kind == Step::Kind::Launch) ran_.actual.kernels++;
      if (step.kind == Step::Kind::Write) {
        ran_.actual.copies++;
        copied_.erase(step.call);
      } else {
        run.begin_ns = done.begin_ns;
        run.end_ns = done.end_ns;
      }
    } else {
      run.status = done.status;
      if (is_first) fail(step, done.status, outcome.why);
    }
    if (options_.watch != nullptr && step.kind == Step::Kind::Launch) {
      const Command seen = command_of(step);
      if (!devices_[d]->lost().empty()) continue;
      options_.watch->seen(LaunchSeen{*devices_[d], devices_[d]->signature(seen.kernel), seen, done,
                                      step.call, is_first ? outcome.why : ""});
    }
  }
  if (outcome.status == Status::Ok || ran_.status != Status::Ok) return;
  if (flight.steps.size() == 1) {
    fail(steps_[static_cast<size_t>(flight.steps[0])], outcome.status, outcome.why);
    return;
  }
  ran_.status = outcome.status;
  ran_.why = fmt::format("one of {} calls on {}: {}: {}", flight.steps.size(), devices_[d]->name(),
                         to_text(outcome.status), outcome.why);
}

void Running::execute() {
  done_.assign(steps_.size(), 0);
  flights_.resize(devices_.size());
  for (;;) {
    for (size_t d = 0; d < devices_.size() && ran_.status == Status::Ok; d++) {
      if (!flights_[d].is_busy) submit_ready(d);
    }
    size_t oldest = devices_.size();
    for (size_t d = 0; d < devices_.size(); d++) {
      if (!flights_[d].is_busy) continue;
      if (oldest == devices_.size() || flights_[d].number < flights_[oldest].number) oldest = d;
    }
    if (oldest == devices_.size()) break;
    finish(oldest);
  }
  const bool all = std::ranges::all_of(done_, [](uint8_t done) { return done != 0; });
  ASSAY_CHECK(all || ran_.status != Status::Ok, "steps wait for each other");
}

// What was written means something again; what was to be written and was not, does not.
void Running::settle() {
  for (size_t i = 0; i < steps_.size(); i++) {
    if (steps_[i].kind == Step::Kind::Read || done_[i] == 0) continue;
    buffers_.find(steps_[i].parts[0].buffer)->invalid.clear();
  }
  for (size_t i = 0; i < steps_.size(); i++) {
    if (steps_[i].kind == Step::Kind::Read || done_[i] != 0) continue;
    buffers_.find(steps_[i].parts[0].buffer)->invalid = ran_.why;
    CallRun& run = ran_.calls[static_cast<size_t>(steps_[i].call)];
    if (run.status == Status::Ok) run.status = ran_.status;
  }
  for (size_t d = 0; d < devices_.size(); d++) {
    ran_.actual.peak_bytes += devices_[d]->peak_bytes() - live_before_[d];
  }
  for (const int64_t number : here_before_) {
    ran_.actual.peak_bytes += buffers_.entries().at(number).view.bytes;
  }
}

Executor::~Executor() { forget_kernels(); }

void Executor::forget_kernels() {
  for (const auto& [key, kernel] : kernels_) {
    for (const std::unique_ptr<Device>& device : devices_.all()) {
      if (device.get() == std::get<0>(key)) device->release(kernel.id);
    }
  }
  kernels_.clear();
}

Result<Ran> Executor::run(Graph& g, const Schedule& schedule, Buffers& buffers,
                          const RunOptions& options) {
  // Where firings are counted or graphs are edited, what was made before is of no use, nor is this.
  const bool is_special = options.switches.limit != uop::kNoLimit ||
                          (options.watch != nullptr && options.watch->edits());
  if (is_special) forget_kernels();
  Result<Ran> ran = Running(*this, g, schedule, buffers, options).run();
  if (is_special) forget_kernels();
  return ran;
}

Result<Realized> realize(tensor::Session& session, std::span<const tensor::Tensor* const> tensors,
                         Executor& executor, Buffers& buffers, const schedule::Options& how,
                         const RunOptions& options) {
  ASSAY_TRY(made, schedule::linear_with_vars(session, tensors, how));
  ASSAY_TRY(ran, executor.run(session.graph(), made, buffers, options));
  Realized realized;
  realized.ran = std::move(ran);
  buffers.drop_dead(session);
  if (realized.ran.status != Status::Ok) return realized;
  for (const tensor::Tensor* t : tensors) {
    ASSAY_TRY(bytes, read_value(session.graph(), t->read(), made.variables, buffers));
    realized.values.push_back(std::move(bytes));
  }
  return realized;
}

}  // namespace assay::runtime
