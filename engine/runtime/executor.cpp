#include "engine/runtime/executor.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/check.h"
#include "engine/runtime/running.h"
#include "engine/runtime/seen.h"

namespace assay::runtime {

using schedule::Schedule;

Result<Ran> Running::run() {
  linear_ = options_.planned ? schedule_.planned : schedule_.linear;
  if (linear_ == nullptr) return Ran{};
  ASSAY_TRY(steps, steps_of(g_, linear_, schedule_.variables, options_.order));
  steps_ = std::move(steps.steps);
  ran_.predicted.kernels = steps.kernels;
  ran_.predicted.copies = steps.copies;
  ASSAY_TRY(opened, open_devices(steps.devices));
  (void)opened;
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

void Running::foresee() {
  linear_ = options_.planned ? schedule_.planned : schedule_.linear;
  if (linear_ == nullptr) return;
  Result<Steps> steps = steps_of(g_, linear_, schedule_.variables, options_.order);
  if (!steps.ok() || !open_devices(steps.value().devices).ok()) return;
  steps_ = steps.value().steps;
  for (Device* on : devices_) {
    Graph scratch;
    uop::Run run(scratch, options_.switches, options_.watch, on->target());
    std::vector<Ref> linears;
    for (const Step* step : missing_on(*on)) {
      if (const Result<Ref> linear = lower(run, *step); linear.ok()) {
        linears.push_back(linear.value());
      }
    }
    on->foresee(scratch, linears);
  }
}

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
  if (options_.watch != nullptr) options_.watch->edit_batch(batch);
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

void Running::succeed(size_t i, const Done& done) {
  const Step& step = steps_[i];
  done_[i] = 1;
  if (step.kind == Step::Kind::Launch) ran_.actual.kernels++;
  if (step.kind == Step::Kind::Write) {
    ran_.actual.copies++;
    copied_.erase(step.call);
    return;
  }
  CallRun& run = ran_.calls[static_cast<size_t>(step.call)];
  run.begin_ns = done.begin_ns;
  run.end_ns = done.end_ns;
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
    const bool is_first = outcome.command == static_cast<int32_t>(k);
    if (done.status == Status::Ok) {
      succeed(i, done);
    } else {
      ran_.calls[static_cast<size_t>(step.call)].status = done.status;
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

void Executor::foresee(Graph& g, const Schedule& schedule, const RunOptions& options) {
  Buffers none(devices_);
  Running(*this, g, schedule, none, options).foresee();
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
