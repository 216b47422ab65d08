#include "engine/runtime/steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/runtime/buffers.h"
#include "engine/uop/scope.h"

namespace assay::runtime {
namespace {

using schedule::Edge;
using uop::Graph;
using uop::Op;
using uop::Ref;

// The part of `whole` that a SHRINK over one axis takes.
Result<Part> shrunk(Graph& g, const Part& whole, Ref shrink, Variables variables) {
  if (shrink->src.size() != 3) return Error{"a part of more than one axis", 0, 0};
  ASSAY_TRY(begin, size_value(g, shrink->src[1], variables));
  ASSAY_TRY(count, size_value(g, shrink->src[2], variables));
  const int64_t width = uop::bytes_of(shrink->dtype);
  if (begin < 0 || count < 0 || begin > whole.bytes / width - count) {
    return Error{fmt::format("{} elements from {} on of b{}, which has {}", count, begin,
                             whole.buffer->arg.number(), whole.bytes / width),
                 0, 0};
  }
  return Part{whole.buffer, whole.offset + begin * width, count * width};
}

// What a copy moves of an argument: SHRINK(PARAM, begin, count), in elements.
Result<Part> moved(Graph& g, const Part& argument, Ref place, Variables variables) {
  if (place->op == Op::Param) return argument;
  if (place->op != Op::Shrink || place->src[0]->op != Op::Param) {
    return Error{fmt::format("{} in a copy", to_text(place->op)), 0, 0};
  }
  return shrunk(g, argument, place, variables);
}

class Maker {
 public:
  Maker(Graph& g, Ref linear, Variables variables)
      : g_(g), linear_(linear), variables_(variables), last_(linear->src.size(), -1) {}

  Result<Steps> make(std::span<const int> order) {
    ASSAY_TRY(edges, schedule::edges_of(linear_));
    into_.resize(linear_->src.size());
    for (const Edge& e : edges) into_[static_cast<size_t>(e.to)].push_back(e.from);
    const size_t n = linear_->src.size();
    if (!order.empty() && order.size() != n) {
      return Error{fmt::format("an order of {} calls for {}", order.size(), n), 0, 0};
    }
    for (size_t i = 0; i < n; i++) {
      const int32_t call = order.empty() ? static_cast<int32_t>(i) : order[i];
      ASSAY_TRY(added, add(call));
      if (!added) return Error{fmt::format("call {} has no steps", call), 0, 0};
    }
    return std::move(made_);
  }

 private:
  Result<bool> add(int32_t place) {
    if (place < 0 || static_cast<size_t>(place) >= last_.size() ||
        last_[static_cast<size_t>(place)] >= 0) {
      return Error{fmt::format("the order does not name call {} once", place), 0, 0};
    }
    std::vector<int32_t> after;
    for (const int32_t before : into_[static_cast<size_t>(place)]) {
      const int32_t step = last_[static_cast<size_t>(before)];
      if (step < 0) {
        return Error{fmt::format("call {} comes before call {}, for which it waits", place, before),
                     0, 0};
      }
      after.push_back(step);
    }
    const Ref call = linear_->src[static_cast<size_t>(place)];
    std::vector<Part> parts;
    for (const Ref argument : call->src.subspan(1)) {
      if (argument->op == Op::Bind || argument->op == Op::Variable) continue;
      ASSAY_TRY(part, part_of(g_, argument, variables_));
      parts.push_back(part);
    }
    if (parts.empty()) return Error{fmt::format("call {} has no buffer", place), 0, 0};
    if (schedule::is_copy(call)) return add_copy(place, call, parts, std::move(after));
    made_.kernels++;
    const int32_t on = device(parts[0].buffer);
    push({Step::Kind::Launch, place, on, Lane::Compute, std::move(parts), std::move(after)});
    return true;
  }

  Result<bool> add_copy(int32_t place, Ref call, std::span<const Part> parts,
                        std::vector<int32_t> after) {
    const Ref store = call->src[0]->src[0];
    if (parts.size() != 2 || store->op != Op::Store || store->src[1]->op != Op::Copy) {
      return Error{fmt::format("call {} is no copy of one buffer to another", place), 0, 0};
    }
    ASSAY_TRY(to, moved(g_, parts[0], store->src[0], variables_));
    ASSAY_TRY(from, moved(g_, parts[1], store->src[1]->src[0], variables_));
    if (to.bytes != from.bytes) {
      return Error{fmt::format("call {} copies {} bytes to {}", place, from.bytes, to.bytes), 0, 0};
    }
    made_.copies++;
    const int32_t source = device(from.buffer);
    push({Step::Kind::Read, place, source, Lane::Copy, {from}, std::move(after)});
    const int32_t read = last_[static_cast<size_t>(place)];
    const int32_t target = device(to.buffer);
    push({Step::Kind::Write, place, target, Lane::Copy, {to}, {read}});
    return true;
  }

  void push(Step step) {
    last_[static_cast<size_t>(step.call)] = static_cast<int32_t>(made_.steps.size());
    made_.steps.push_back(std::move(step));
  }

  int32_t device(Ref buffer) {
    const Ref node = uop::device(g_, buffer);
    const std::string_view name = node == nullptr ? "" : node->arg.name();
    const auto at = std::ranges::find(made_.devices, name);
    if (at == made_.devices.end()) made_.devices.push_back(name);
    return static_cast<int32_t>(std::ranges::find(made_.devices, name) - made_.devices.begin());
  }

  Graph& g_;
  Ref linear_;
  Variables variables_;
  std::vector<int32_t> last_;  // the last step of each call; -1 before it is added
  std::vector<std::vector<int32_t>> into_;
  Steps made_;
};

}  // namespace

Result<Part> part_of(Graph& g, Ref argument, Variables variables) {
  std::vector<Ref> views;
  Ref u = argument;
  while (u->op == Op::Bitcast || u->op == Op::Shrink || u->op == Op::Reshape) {
    views.push_back(u);
    u = u->src[0];
  }
  if (u->op != Op::Buffer) {
    return Error{fmt::format("{} as the argument of a call", to_text(u->op)), 0, 0};
  }
  ASSAY_TRY(bytes, buffer_bytes(g, u));
  Part part = {u, 0, bytes};
  for (size_t i = views.size(); i-- > 0;) {
    if (views[i]->op != Op::Shrink) continue;
    ASSAY_TRY(next, shrunk(g, part, views[i], variables));
    part = next;
  }
  return part;
}

Result<Steps> steps_of(Graph& g, Ref linear, Variables variables, std::span<const int> order) {
  if (linear->op != Op::Linear) {
    return Error{fmt::format("{} is no linear", to_text(linear->op)), 0, 0};
  }
  return Maker(g, linear, variables).make(order);
}

}  // namespace assay::runtime
