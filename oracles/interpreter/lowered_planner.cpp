#include "oracles/interpreter/lowered_planner.h"

#include <fmt/format.h>

#include <algorithm>

#include "oracles/interpreter/sizes.h"
#include "oracles/interpreter/strides.h"

namespace assay::interpreter {

using uop::Op;
using uop::Ref;

int LoweredPlanner::home(int node, int scope) const {
  const uint64_t free = axes_.free[static_cast<size_t>(node)];
  while (scope > 0 && (free & plan_.scopes[static_cast<size_t>(scope)].ranges) == 0) {
    scope = plan_.scopes[static_cast<size_t>(scope)].parent;
  }
  return scope;
}

int LoweredPlanner::need(Ref u, int scope, Aspect aspect) {
  const int node = axes_.place(u);
  const Want w = {node, home(node, scope), aspect};
  const int found = known(w);
  if (found != kUnknown) return found;
  missing_.push_back(w);
  return kMissing;
}

void LoweredPlanner::happened(Ref u, int scope) {
  if (u->op == Op::Range) return;
  if (u->dtype == uop::Void) {
    need(u, scope, Aspect::Effect);
    return;
  }
  need(u, scope, axes_.is_view(u) ? Aspect::Place : Aspect::Value);
}

void LoweredPlanner::happened_after(Ref after, int scope) {
  for (const Ref d : after->src.subspan(1)) happened(d, scope);
}

Result<int> LoweredPlanner::emit(Want w) {
  const Ref u = axes_.nodes[static_cast<size_t>(w.node)];
  switch (w.aspect) {
    case Aspect::Value: return emit_value(u, w.scope);
    case Aspect::Validity: return emit_validity(u, w.scope);
    case Aspect::Place: return emit_place(u, w.scope);
    case Aspect::Effect: return emit_effect(u, w.scope);
  }
  return kDone;
}

Result<LoweredPlan> LoweredPlanner::plan() {
  plan_.scopes.emplace_back();
  memo_.emplace_back(axes_.nodes.size() * 4, kUnknown);
  std::vector<Want> stack = {{static_cast<int>(axes_.nodes.size()) - 1, 0, Aspect::Effect}};
  while (!stack.empty()) {
    const Want w = stack.back();
    if (known(w) != kUnknown) {
      stack.pop_back();
      continue;
    }
    missing_.clear();
    const Result<int> made = emit(w);
    if (!made.ok()) return made.error();
    if (missing_.empty()) {
      known(w) = made.value();
      stack.pop_back();
      continue;
    }
    if (order_ == StepOrder::FirstSourceFirst) std::reverse(missing_.begin(), missing_.end());
    stack.insert(stack.end(), missing_.begin(), missing_.end());
  }
  return std::move(plan_);
}

int LoweredPlanner::add(LoweredStep step, int scope) {
  const auto number = static_cast<int>(plan_.steps.size());
  for (const int s : step.sources) {
    if (s >= 0) step.laned = step.laned || this->step(s).laned;
  }
  step.size = product_of(step.shape);
  plan_.steps.push_back(std::move(step));
  plan_.scopes[static_cast<size_t>(scope)].steps.push_back(number);
  return number;
}

int LoweredPlanner::constant(DType t, Slot value, int scope) {
  return add({.kind = Kind::Value, .dtype = t, .value = value}, scope);
}

int LoweredPlanner::same(int step, Sizes shape, int scope) {
  if (this->step(step).shape == shape) return step;
  const DType t = this->step(step).dtype;
  return add({.kind = Kind::Same, .dtype = t, .shape = std::move(shape), .sources = {step}}, scope);
}

int LoweredPlanner::spread(int step, const Sizes& shape, int scope) {
  const Sizes& from = this->step(step).shape;
  if (from == shape) return step;
  LoweredStep moved = {
      .kind = Kind::Move, .dtype = this->step(step).dtype, .shape = shape, .sources = {step}};
  const std::vector<int64_t> elements = elements_of(shape, broadcast_strides(from, shape), 0);
  moved.moves.reserve(elements.size());
  for (const int64_t e : elements) moved.moves.push_back({0, e});
  return add(std::move(moved), scope);
}

Result<int> LoweredPlanner::fitted(int step, const Sizes& shape, int scope) {
  if (step < 0) return step;
  const std::vector<Sizes> shapes = {this->step(step).shape, shape};
  ASSAY_TRY(joined, broadcast_sizes(shapes));
  if (this->step(step).size == 1) return step;
  // What has more axes than its place has sizes of 1 there.
  const bool longer = joined.size() > shape.size();
  if (longer) joined.erase(joined.begin(), joined.end() - std::ssize(shape));
  if (joined != shape || (longer && product_of(shape) != this->step(step).size))
    return Error{"a value that does not fit its place"};
  return longer ? same(step, shape, scope) : spread(step, shape, scope);
}

Result<int> LoweredPlanner::scalar(Op op, DType t, std::initializer_list<int> sources, int scope) {
  const DType operand = step(*sources.begin()).dtype;
  const std::optional<Scalar> scalar = scalar_of(op, {t, operand});
  if (!scalar)
    return Error{
        fmt::format("{} of {} as {}", uop::to_text(op), uop::to_text(operand), uop::to_text(t))};
  std::vector<Sizes> shapes;
  for (const int s : sources) shapes.push_back(step(s).shape);
  ASSAY_TRY(shape, broadcast_sizes(shapes));
  LoweredStep now = {.kind = Kind::Scalar, .dtype = t, .shape = shape, .scalar = *scalar};
  for (const int s : sources) {
    ASSAY_TRY(fit, fitted(s, shape, scope));
    now.sources.push_back(fit);
  }
  return add(std::move(now), scope);
}

Result<int> LoweredPlanner::both(int a, int b, int scope) {
  if (a < 0) return b;
  if (b < 0) return a;
  return scalar(Op::And, uop::Bool, {a, b}, scope);
}

Result<int> LoweredPlanner::open(Ref node, std::span<const Ref> ranges, int parent) {
  for (const Opened& o : opened_) {
    if (o.node == node && o.parent == parent) return o.scope;
  }
  const auto number = static_cast<int>(plan_.scopes.size());
  LoweredScope scope;
  scope.parent = parent;
  for (const Ref r : ranges) {
    ASSAY_TRY(count, size_value(graph_, r->src[0], variables_));
    scope.ranges |= axes_.free_of(r);
    scope.loops.push_back(static_cast<int>(plan_.loops.size()));
    plan_.loops.push_back(std::max<int64_t>(count, 0));
  }
  plan_.scopes.push_back(scope);
  memo_.emplace_back(axes_.nodes.size() * 4, kUnknown);
  for (size_t i = 0; i < ranges.size(); i++) {
    const int counter =
        add({.kind = Kind::Counter, .dtype = ranges[i]->dtype, .at = scope.loops[i]}, number);
    known({axes_.place(ranges[i]), number, Aspect::Value}) = counter;
  }
  opened_.push_back({node, parent, number});
  return number;
}

Result<int> LoweredPlanner::open_serial(Ref u, int scope) {
  std::vector<Ref> serial = axes_.closed(u);
  std::erase_if(serial, [](Ref r) { return !is_serial(r->arg.axis_type()); });
  if (serial.empty()) return scope;
  return open(u, serial, scope);
}

Result<LoweredPlan> plan_lowered(uop::Graph& g, const LoweredAxes& axes, const Variables& variables,
                                 StepOrder order) {
  return LoweredPlanner(g, axes, variables, order).plan();
}

}  // namespace assay::interpreter
