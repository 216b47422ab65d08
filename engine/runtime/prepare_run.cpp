#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "engine/codegen/pipeline.h"
#include "engine/runtime/overwrite.h"
#include "engine/runtime/running.h"
#include "engine/runtime/work.h"

// What comes before anything of a run is submitted.
namespace assay::runtime {

using uop::Op;

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

Result<bool> Running::open_devices(std::span<const std::string_view> names) {
  for (const std::string_view name : names) {
    ASSAY_TRY(device, executor_.devices_.open(name));
    devices_.push_back(device);
  }
  return true;
}

// The first launch of each kernel that the device lacks.
std::vector<const Step*> Running::missing_on(const Device& on) {
  std::vector<const Step*> missing;
  std::set<Executor::Key> asked;
  for (const Step& step : steps_) {
    if (step.kind != Step::Kind::Launch || &device(step) != &on) continue;
    const Executor::Key key = key_of(step);
    if (!executor_.kernels_.contains(key) && asked.insert(key).second) missing.push_back(&step);
  }
  return missing;
}

// In the graph of the run.
Result<Ref> Running::lower(uop::Run& run, const Step& step) {
  const Ref kernel = uop::copy_to(run.graph(), g_, call(step)->src[0]);
  // A body that is a list already, edited by hand, is taken as it is.
  return kernel->op == Op::Linear ? kernel : codegen::lower(run, kernel);
}

Result<bool> Running::build_kernels() {
  for (Device* on : devices_) {
    const std::vector<const Step*> missing = missing_on(*on);
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
    const Result<Ref> linear = lower(run, *step);
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
    const Result<Launch> sizes = device(step).signature(kernels_[i]->id).sizes(schedule_.variables);
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

}  // namespace assay::runtime
