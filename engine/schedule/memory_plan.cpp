#include "engine/schedule/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/schedule/at.h"
#include "engine/uop/dim.h"
#include "engine/uop/node_map.h"
#include "engine/uop/scope.h"
#include "engine/uop/shape.h"
#include "engine/uop/walk.h"

namespace assay::schedule {
namespace {

using uop::NodeMap;
using uop::Op;
using uop::UInt128;

constexpr std::array<Exclusion, 4> kExclusions = {{
    {"disk", "a file is storage of its own", false},
    {"tinyfs", "a remote file is storage of its own", false},
    {"cl", "part of a buffer can be bound only where the device says so", true},
    {"webgpu", "part of a buffer cannot be bound", false},
}};

bool is_storage(Ref u) {
  return u->op == Op::Buffer && u->arg.addr_space() == uop::AddrSpace::Global;
}

// Why storage on this device is left alone; "" where it is not.
std::string_view excluded(std::string_view device, const PlanOptions& options) {
  const std::string_view kind = device.substr(0, device.find(':'));
  for (const Exclusion& row : kExclusions) {
    if (row.kind != kind) continue;
    const bool is_in = row.may_opt_in && std::find(options.opted_in.begin(), options.opted_in.end(),
                                                   device) != options.opted_in.end();
    return is_in ? std::string_view() : row.kind;
  }
  return {};
}

Result<UInt128> bytes_of(Graph& g, Ref buffer) {
  UInt128 bytes = static_cast<UInt128>(uop::bytes_of(buffer->dtype));
  const auto shape = uop::max_shape(g, uop::shape(g, buffer));
  if (!shape) {
    return Error{fmt::format("buffer {} of {} has no largest size", buffer->arg.number(),
                             uop::shape_text(uop::shape(g, buffer)))};
  }
  for (const Ref d : *shape) {
    const auto size = static_cast<UInt128>(d->arg.bits);
    if (!uop::is_const(d) || (size != 0 && bytes > ~UInt128{0} / size)) {
      return Error{fmt::format("buffer {} of {} is more than can be planned", buffer->arg.number(),
                               uop::shape_text(*shape))};
    }
    bytes *= size;
  }
  return bytes;
}

// No more than 63 bits can say.
int64_t bytes_in(int64_t blocks) { return std::min(blocks, INT64_MAX / kBlock) * kBlock; }

class Planner {
 public:
  Planner(Graph& g, int32_t& next_buffer, const PlanOptions& options)
      : g_(g), next_buffer_(next_buffer), options_(options) {
    for (const Ref u : options.held) held_.set(u, 1);
  }

  Result<Planned> plan(Ref linear) {
    ASSAY_TRY(edges, edges_of(linear));
    for (const Ref call : linear->src) {
      if (const auto done = add(call); !done.ok()) return done.error();
    }
    ASSAY_TRY(plan, plan_memory(sizes_, calls_, edges));
    report_.calls = static_cast<int32_t>(linear->src.size());
    if (const auto done = report(plan); !done.ok()) return done.error();
    edges.insert(edges.end(), plan.reuse.begin(), plan.reuse.end());
    return Planned{rewritten(linear, std::move(edges)), std::move(report_)};
  }

 private:
  Result<bool> add(Ref call) {
    PlanCall plan_call;
    plan_call.is_copy = is_copy(call);
    for (const Ref arg : call->src.subspan(1)) {
      for (const Ref u : storage_below(arg)) {
        if (const auto done = add_buffer(u); !done.ok()) return done;
        plan_call.buffers.push_back(numbers_.at(u));
      }
    }
    calls_.push_back(std::move(plan_call));
    return true;
  }

  std::vector<Ref> storage_below(Ref arg) {
    if (is_storage(arg)) return {arg};
    std::vector<Ref> found;
    for (const Ref u : uop::toposort(g_, arg, uop::Extent::OutsideBodies)) {
      if (is_storage(u)) found.push_back(u);
    }
    return found;
  }

  Result<bool> add_buffer(Ref u) {
    if (numbers_.has(u)) return true;
    ASSAY_TRY(bytes, bytes_of(g_, u));
    const Ref on = uop::device(g_, u);
    MemoryPlan::Buffer b;
    b.number = static_cast<int32_t>(u->arg.number());
    b.type = fmt::format("{}{}", to_text(u->dtype), uop::shape_text(uop::shape(g_, u)));
    b.device = on == nullptr ? "" : on->arg.name();
    b.kept = held_.has(u) ? "held" : excluded(b.device, options_);
    if (b.kept.empty() && bytes == 0) b.kept = "empty";
    b.bytes = static_cast<int64_t>(std::min(bytes, UInt128{INT64_MAX}));
    numbers_.set(u, static_cast<int32_t>(buffers_.size()));
    buffers_.push_back(u);
    sizes_.push_back({device_number(on), bytes, !b.kept.empty()});
    report_.buffers.push_back(std::move(b));
    return true;
  }

  int32_t device_number(Ref device) {
    const auto found = std::find(devices_.begin(), devices_.end(), device);
    if (found == devices_.end()) devices_.push_back(device);
    return static_cast<int32_t>(std::find(devices_.begin(), devices_.end(), device) -
                                devices_.begin());
  }

  // Turns blocks into bytes, and makes the arenas.
  Result<bool> report(const Plan& plan) {
    int64_t all = 0;
    int64_t wanted = 0;
    for (const PlannedArena& a : plan.arenas) {
      const Ref on = devices_[at(a.device)];
      const std::string_view name = on == nullptr ? std::string_view() : on->arg.name();
      all += a.size;
      if (all > INT64_MAX / kBlock) {
        return Error{
            fmt::format("the arena of {} takes {} blocks of {} bytes, which leaves 63 bits", name,
                        a.size, kBlock)};
      }
      report_.arenas.push_back({next_buffer_, std::string(name), a.lane, a.size * kBlock,
                                a.lower_bound * kBlock, bytes_in(a.wanted), a.by});
      wanted += a.wanted;
      arenas_.push_back(arena_buffer(on, a.size * kBlock));
      report_.planned_bytes += a.size * kBlock;
      report_.lower_bound_bytes += a.lower_bound * kBlock;
    }
    for (size_t i = 0; i < buffers_.size(); i++) {
      const PlannedBuffer& p = plan.buffers[i];
      MemoryPlan::Buffer& b = report_.buffers[i];
      b.first = p.first;
      b.last = p.last;
      b.end = p.end;
      b.arena = p.arena;
      if (p.arena < 0) continue;
      b.offset = p.offset * kBlock;
    }
    report_.wanted_bytes = bytes_in(wanted);
    report_.reuse = plan.reuse;
    return true;
  }

  Ref arena_buffer(Ref device, int64_t bytes) {
    std::vector<Ref> sources = {uop::dim(g_, bytes)};
    if (device != nullptr) sources.push_back(device);
    return g_.make(Op::Buffer, uop::U8, sources,
                   uop::Arg::place(next_buffer_++, uop::AddrSpace::Global));
  }

  // The part of its arena that a buffer has, flat, at the buffer's type.
  Ref view(size_t i) {
    const MemoryPlan::Buffer& b = report_.buffers[i];
    const Ref bounds[] = {uop::dim(g_, b.offset), uop::dim(g_, b.bytes)};
    const Ref bytes = uop::shrink(g_, arenas_[at(b.arena)], bounds);
    if (buffers_[i]->dtype == uop::U8 || buffers_[i]->dtype == uop::Bool) return bytes;
    return g_.make(Op::Bitcast, buffers_[i]->dtype, {bytes});
  }

  Ref rewritten(Ref linear, std::vector<Edge> edges) {
    NodeMap<Ref> done;
    uop::Substitution shaped;  // for views of the buffer, which ask for its shape
    for (size_t i = 0; i < buffers_.size(); i++) {
      if (report_.buffers[i].arena < 0) continue;
      const Ref flat = view(i);
      done.set(buffers_[i], flat);
      shaped.emplace(buffers_[i], uop::reshape(g_, flat, uop::shape(g_, buffers_[i])));
    }
    std::vector<Ref> calls;
    for (const Ref call : linear->src) {
      std::vector<Ref> sources = {call->src[0]};
      for (const Ref arg : call->src.subspan(1)) {
        if (!done.has(arg)) {
          done.set(arg, is_storage(arg)
                            ? arg
                            : uop::substitute(g_, arg, shaped, uop::Extent::OutsideBodies));
        }
        sources.push_back(done.at(arg));
      }
      calls.push_back(g_.with_sources(call, sources));
    }
    return make_linear(g_, calls, std::move(edges));
  }

  Graph& g_;
  int32_t& next_buffer_;
  const PlanOptions& options_;
  NodeMap<char> held_;
  NodeMap<int32_t> numbers_;
  std::vector<Ref> buffers_;
  std::vector<Ref> devices_;
  std::vector<Ref> arenas_;
  std::vector<PlanBuffer> sizes_;
  std::vector<PlanCall> calls_;
  MemoryPlan report_;
};

}  // namespace

std::span<const Exclusion> all_exclusions() { return kExclusions; }

Result<Planned> memory_plan_rewrite(Graph& g, Ref linear, int32_t& next_buffer,
                                    const PlanOptions& options) {
  return Planner(g, next_buffer, options).plan(linear);
}

}  // namespace assay::schedule
