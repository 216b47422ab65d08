#include "fuzz/bench/ours.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/runtime/seen.h"
#include "engine/uop/bounds.h"
#include "engine/uop/scope.h"
#include "engine/uop/walk.h"

namespace assay::fuzz::bench {
namespace {

using uop::Op;
using uop::Ref;

// Writes down what is launched.
class LaunchLog : public uop::Watch {
 public:
  struct Entry {
    int32_t call;
    std::string name;
    runtime::Command command;
  };
  using Watch::seen;
  void seen(const runtime::LaunchSeen& seen) override {
    const runtime::Signature& k = seen.kernel;
    entries.push_back(
        {seen.call, k.opts.empty() ? k.name : fmt::format("{} {}", k.name, k.opts), seen.command});
    entries.back().command.waits.clear();
  }

  std::vector<Entry> entries;
};

double iterations(uop::Graph& g, std::span<const Ref> ranges) {
  double times = 1;
  for (const Ref r : ranges) times *= static_cast<double>(uop::bounds(g, r).hi + 1);
  return times;
}

// Operations of floats of a kernel of the schedule: each node once for each iteration of its loops,
// each fold once for each element.
double operations_of(uop::Graph& g, Ref kernel) {
  double total = 0;
  for (const Ref u : uop::toposort(g, kernel)) {
    const bool moves = u->op == Op::Where || u->op == Op::Cast || u->op == Op::Bitcast;
    const bool folds = u->op == Op::Reduce;
    if (!is_float(u->dtype) || moves || !(folds || is_scalar(u->op))) continue;
    total += iterations(g, uop::ranges(g, u)) * (folds ? iterations(g, u->src.subspan(1)) : 1);
  }
  return total;
}

}  // namespace

std::optional<Error> timing_error(const tensor::Program& program) {
  if (!program.variables.empty()) {
    return Error{"a program with variables is not timed", program.variables[0].line, 0};
  }
  for (const tensor::Statement& s : program.statements) {
    if (std::holds_alternative<tensor::Define>(s.what)) continue;
    if (std::holds_alternative<tensor::Force>(s.what)) continue;
    return Error{"only definitions and a force are timed", s.line, 0};
  }
  const size_t values = tensor::outputs(program).size();
  if (values == 1) return std::nullopt;
  return Error{fmt::format("{} values are computed where one is timed", values), 0, 0};
}

Result<std::unique_ptr<Ours>> Ours::make(const tensor::Program& program,
                                         const runtime::KernelLists& lists,
                                         runtime::Devices& devices, std::string_view device) {
  std::unique_ptr<Ours> made(new Ours(program, devices, device));
  if (std::optional<Error> error = made->build(lists)) return *error;
  return made;
}

std::optional<Error> Ours::build(const runtime::KernelLists& lists) {
  for (size_t k = 0; k < program_.statements.size(); ++k) {
    const Result<bool> stepped = builder_.step(k);
    if (!stepped.ok()) return stepped.error();
    for (const tensor::InitialContents& input : builder_.take_contents()) {
      const Result<bool> written = buffers_.write(session_.graph(), input.buffer, input.bytes);
      if (!written.ok()) return written.error();
      inputs_.push_back(buffers_.find(input.buffer)->view);
      bytes_ += inputs_.back().bytes;
    }
  }
  const tensor::Tensor& value = builder_.tensor(tensor::outputs(program_)[0].value);
  const tensor::Tensor* const wanted[] = {&value};
  ASSAY_TRY(schedule, schedule::linear_with_vars(session_, wanted));
  if (schedule.linear == nullptr) return Error{"there is nothing to compute", 0, 0};
  ASSAY_TRY(listed, runtime::with_lists(session_.graph(), schedule, lists, 0,
                                        runtime::targets_of(devices_), {}));
  if (std::optional<Error> error = run(listed)) return error;
  contender_.output = [this, &value] {
    return runtime::read_value(session_.graph(), value.read(), {}, buffers_);
  };
  ASSAY_TRY(bytes, contender_.output());
  bytes_ += static_cast<int64_t>(bytes.size());
  return std::nullopt;
}

// Runs it once over storage that stays, and keeps the launches.
std::optional<Error> Ours::run(const schedule::Schedule& schedule) {
  uop::Graph& g = session_.graph();
  std::vector<Ref> seen;
  for (const Ref call : schedule.linear->src) {
    operations_ += static_cast<int64_t>(operations_of(g, call->src[0]));
    for (const Ref argument : call->src.subspan(1)) {
      const Ref buffer = uop::buffer(g, argument);
      if (buffer == nullptr || std::ranges::find(seen, buffer) != seen.end()) continue;
      seen.push_back(buffer);
      if (buffers_.find(buffer) != nullptr) continue;
      ASSAY_TRY(entry, buffers_.make(g, buffer));
      contender_.written.push_back(entry->view);
    }
  }
  LaunchLog log;
  runtime::RunOptions how;
  how.planned = false;
  how.watch = &log;
  ASSAY_TRY(ran, executor_.run(g, schedule, buffers_, how));
  if (ran.status != runtime::Status::Ok) return Error{ran.why, 0, 0};
  if (ran.actual.copies > 0) return Error{"copies between devices are not timed", 0, 0};
  std::ranges::sort(log.entries, {}, &LaunchLog::Entry::call);
  for (LaunchLog::Entry& entry : log.entries) {
    contender_.names.push_back(std::move(entry.name));
    contender_.launches.push_back(std::move(entry.command));
  }
  return std::nullopt;
}

}  // namespace assay::fuzz::bench
