#include "engine/schedule/copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "engine/uop/dim.h"
#include "engine/uop/scope.h"
#include "engine/uop/shape.h"
#include "engine/uop/simplify.h"
#include "engine/uop/sum.h"
#include "engine/uop/walk.h"

namespace assay::schedule {
namespace {

using uop::Op;

// The devices of a call's buffers, each once, by first occurrence.
std::vector<Ref> devices_of(Graph& g, Ref call) {
  std::vector<Ref> devices;
  for (const Ref arg : call->src.subspan(1)) {
    const Ref on = arg->op == Op::Bind ? nullptr : uop::device(g, arg);
    if (on == nullptr) continue;
    if (std::find(devices.begin(), devices.end(), on) == devices.end()) devices.push_back(on);
  }
  return devices;
}

Error several_devices(Ref call, size_t number, std::span<const Ref> devices) {
  std::string names;
  for (const Ref d : devices) {
    names += fmt::format("{}{}", names.empty() ? "" : " and ", d->arg.name());
  }
  return Error{
      fmt::format("kernel {} ({}) has buffers on {}: only a copy of a contiguous range goes "
                  "between devices",
                  number, kernel_name(call), names)};
}

// What a kernel stores: PARAM{0} at `to` becomes PARAM{1} at `from`, for all values of its ranges.
struct Move {
  Ref target = nullptr;
  Ref to = nullptr;
  Ref source = nullptr;
  Ref from = nullptr;
  std::vector<Ref> ranges;
};

bool is_element(Ref u, int64_t slot) {
  return u->op == Op::Index && u->src.size() == 2 && u->src[0]->op == Op::Param &&
         u->src[0]->arg.number() == slot;
}

std::optional<Move> move_of(Ref body) {
  if (body->op != Op::Sink || body->src.size() != 1) return std::nullopt;
  Ref store = body->src[0];
  Move m;
  if (store->op == Op::End) {
    m.ranges.assign(store->src.begin() + 1, store->src.end());
    store = store->src[0];
  }
  if (store->op != Op::Store || store->src.size() != 2) return std::nullopt;
  const Ref target = store->src[0];
  Ref value = store->src[1];
  while (value->op == Op::Copy || value->op == Op::Contiguous) value = value->src[0];
  const bool is_move =
      is_element(target, 0) && is_element(value, 1) && target->dtype == value->dtype &&
      std::all_of(m.ranges.begin(), m.ranges.end(), [](Ref r) { return r->op == Op::Range; });
  if (!is_move) return std::nullopt;
  m.target = target->src[0];
  m.to = target->src[1];
  m.source = value->src[0];
  m.from = value->src[1];
  return m;
}

// An index as a sum over ranges and a rest in which no range occurs.
struct Walk {
  std::vector<int64_t> steps;  // by range
  Ref begin = nullptr;
};

std::optional<Walk> walk_of(Graph& g, Ref index, std::span<const Ref> ranges) {
  const auto sum = uop::sum_of(g, index);
  if (!sum) return std::nullopt;
  Walk walk;
  walk.steps.resize(ranges.size());
  uop::Sum rest;
  rest.dtype = index->dtype;
  if (!rest.add_constant(sum->constant)) return std::nullopt;
  for (const uop::Multiple& term : sum->terms()) {
    const auto found = std::find(ranges.begin(), ranges.end(), term.atom);
    if (found != ranges.end()) {
      walk.steps[static_cast<size_t>(found - ranges.begin())] = term.factor;
      continue;
    }
    if (!uop::ranges(g, term.atom).empty() || !rest.add(g, term.atom, term.factor)) {
      return std::nullopt;
    }
  }
  walk.begin = uop::build(g, rest);
  return walk;
}

// The number of elements where the ranges, in some order, count through all of them one by one.
Ref counted(Graph& g, std::span<const Ref> ranges, std::span<const int64_t> steps) {
  std::vector<size_t> order;
  for (size_t i = 0; i < ranges.size(); i++) {
    if (!uop::is_dim(ranges[i]->src[0], 1)) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return steps[a] < steps[b]; });
  Ref count = uop::dim(g, 1);
  for (const size_t i : order) {
    if (!uop::is_dim(count, steps[i])) return nullptr;
    count = uop::dim_mul(g, count, uop::as_dim(g, ranges[i]->src[0]));
  }
  return count;
}

// The body of a COPY for the kernel, or nullptr where it is none.
Ref copy_body(Graph& g, const Move& m, Ref device) {
  const auto to = walk_of(g, m.to, m.ranges);
  const auto from = walk_of(g, m.from, m.ranges);
  if (!to || !from) return nullptr;
  const Ref count = counted(g, m.ranges, to->steps);
  for (size_t i = 0; i < m.ranges.size(); i++) {
    const bool counts = !uop::is_dim(m.ranges[i]->src[0], 1);
    if (counts && to->steps[i] != from->steps[i]) return nullptr;
  }
  if (count == nullptr) return nullptr;
  const Ref into[] = {to->begin, count};
  const Ref out_of[] = {from->begin, count};
  const Ref value = g.make(Op::Copy, m.source->dtype, {uop::shrink(g, m.source, out_of), device});
  const Ref store = g.make(Op::Store, uop::Void, {uop::shrink(g, m.target, into), value});
  return g.make(Op::Sink, uop::Void, {store}, g.info("copy", {}));
}

// The call as a COPY, or nullptr.
Result<Ref> as_copy(uop::Run& run, Ref call) {
  Graph& g = run.graph();
  if (call->src.size() != 3) return nullptr;
  const Ref device = uop::device(g, call->src[1]);
  Ref body = nullptr;
  if (const auto m = move_of(call->src[0])) body = copy_body(g, *m, device);
  if (body == nullptr) {
    ASSAY_TRY(simple, uop::simplify(run, call->src[0]));
    if (const auto m = move_of(simple)) body = copy_body(g, *m, device);
  }
  if (body == nullptr) return nullptr;
  return g.make(Op::Call, call->dtype, {body, call->src[1], call->src[2]}, call->arg);
}

}  // namespace

Result<bool> assert_all_same_devices(Graph& g, Ref linear) {
  for (size_t k = 0; k < linear->src.size(); k++) {
    if (is_copy(linear->src[k])) continue;
    const std::vector<Ref> devices = devices_of(g, linear->src[k]);
    if (devices.size() > 1) return several_devices(linear->src[k], k, devices);
  }
  return true;
}

Result<Ref> pm_copy_from_store(uop::Run& run, Ref linear) {
  Graph& g = run.graph();
  std::vector<Ref> calls;
  for (const Ref call : linear->src) {
    if (is_copy(call) || devices_of(g, call).size() < 2) {
      calls.push_back(call);
      continue;
    }
    ASSAY_TRY(copy, as_copy(run, call));
    calls.push_back(copy == nullptr ? call : copy);
  }
  const Ref result = g.with_sources(linear, calls);
  const auto checked = assert_all_same_devices(g, result);
  if (!checked.ok()) return checked.error();
  return result;
}

}  // namespace assay::schedule
