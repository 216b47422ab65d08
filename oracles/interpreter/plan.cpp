#include "oracles/interpreter/plan.h"

#include <algorithm>

#include "oracles/interpreter/kernel_shape.h"
#include "oracles/interpreter/sizes.h"

namespace assay::interpreter {
namespace {

using uop::Op;
using uop::Ref;

// A block of the outer loops, and one of those with that of inner ones, has about this many
// elements: few enough that arrays stay in the cache, many enough to pay for starting a loop.
constexpr int64_t kLanes = 4096;
constexpr int kMostLoops = 62;

// Plans one effect. Nodes become steps from the sources up, each in the scope of the innermost loop
// that it depends on.
class Planner {
 public:
  Planner(uop::Graph& g, const KernelShape& shape, const Variables& variables, Plan& plan,
          uint64_t aliases)
      : graph_(g), shape_(shape), variables_(variables), plan_(plan), aliases_(aliases) {}

  Result<bool> effect(const KernelShape::Stored& stored);

 private:
  // What is asked for: the step of a node, or (`validity`) of whether it is not Invalid.
  struct Want {
    int node;
    int scope;
    bool validity;
  };
  struct Opened {
    std::pair<int, int> reduce;  // its place, and the scope that it is in
    int scope;
  };
  static constexpr int kUnknown = -1;
  static constexpr int kAlways = -2;  // no step: it is valid wherever it is
  static constexpr int kMissing = -3;

  Result<int> compile(Ref u, bool validity);
  int& known(Want w) {
    return memo_[static_cast<size_t>(w.scope)]
                [static_cast<size_t>(w.node * 2 + (w.validity ? 1 : 0))];
  }
  int home(int node, int scope) const;
  // The step of a source, or kMissing; then it is on the stack.
  int need(Ref u, int scope, bool validity = false);

  Result<int> emit(Want w);
  Result<int> emit_validity(Ref u, int scope);
  Result<int> emit_scalar(Ref u, int scope);
  Result<int> emit_load(Ref u, int scope);
  Result<int> emit_reduce(Ref u, int scope);
  Result<int> inner_scope(Ref u, int scope);
  Result<int> parameter(Ref address);

  int add(Step step, int scope);
  int add_value(DType t, Slot value) { return add({.dtype = t, .value = value}, 0); }
  int add_scalar(Op op, Types types, std::initializer_list<int> sources, int scope);
  Result<int> open(std::span<const Ref> ranges, int parent);
  Result<int> iterations();
  void lay_out();

  uop::Graph& graph_;
  const KernelShape& shape_;
  const Variables& variables_;
  Plan& plan_;
  const uint64_t aliases_;
  Effect effect_;
  std::vector<std::vector<int>> memo_;  // by scope, then node and what is asked for
  std::vector<Opened> opened_;
  std::vector<Want> stack_;
  bool missing_ = false;
};

int Planner::home(int node, int scope) const {
  const uint64_t free = shape_.free[static_cast<size_t>(node)];
  const auto& scopes = effect_.scopes;
  while (scope > 0 && (free & scopes[static_cast<size_t>(scope)].ranges) == 0) {
    scope = scopes[static_cast<size_t>(scope)].parent;
  }
  return scope;
}

int Planner::need(Ref u, int scope, bool validity) {
  const int node = shape_.place(u);
  const Want w = {node, home(node, scope), validity};
  const int step = known(w);
  if (step != kUnknown) return step;
  stack_.push_back(w);
  missing_ = true;
  return kMissing;
}

Result<int> Planner::compile(Ref u, bool validity) {
  const int node = shape_.place(u);
  const Want first = {node, home(node, 0), validity};
  stack_.assign(1, first);
  while (!stack_.empty()) {
    const Want w = stack_.back();
    if (known(w) != kUnknown) {
      stack_.pop_back();
      continue;
    }
    missing_ = false;
    ASSAY_TRY(step, emit(w));
    if (missing_) continue;
    known(w) = step;
    stack_.pop_back();
  }
  return known(first);
}

int Planner::add(Step step, int scope) {
  const auto number = static_cast<int>(effect_.steps.size());
  for (const int s : step.sources) {
    if (s >= 0) step.loops |= effect_.steps[static_cast<size_t>(s)].loops;
  }
  effect_.steps.push_back(step);
  effect_.scopes[static_cast<size_t>(scope)].steps.push_back(number);
  return number;
}

int Planner::add_scalar(Op op, Types types, std::initializer_list<int> sources, int scope) {
  Step step = {.kind = Step::Kind::Scalar, .dtype = types.result};
  std::copy(sources.begin(), sources.end(), step.sources);
  step.scalar = *scalar_of(op, types);
  return add(step, scope);
}

Result<int> Planner::emit(Want w) {
  const Ref u = shape_.nodes[static_cast<size_t>(w.node)];
  if (w.validity) return emit_validity(u, w.scope);
  switch (u->op) {
    case Op::Const:
    case Op::Variable:
    case Op::Bind: {
      if (u->op == Op::Const) return add_value(u->dtype, constant_slot(u));
      ASSAY_TRY(value, variable_value(u, variables_));
      return add_value(u->dtype, value);
    }
    case Op::Invalid: return add_value(u->dtype, poison(u->dtype));
    case Op::Range: return Error{fmt::format("range {} has no END", u->arg.number())};
    case Op::Index:
    case Op::Load: return emit_load(u, w.scope);
    case Op::Reduce: return emit_reduce(u, w.scope);
    default: return emit_scalar(u, w.scope);
  }
}

// A scalar function is valid where all its sources are, a select where its condition is and the
// source that it picks. What a load finds is a value, though poison where it reads nothing.
Result<int> Planner::emit_validity(Ref u, int scope) {
  if (u->op == Op::Invalid) return add_value(uop::Bool, 0);
  if (!uop::is_scalar(u->op)) return kAlways;
  int valid = kAlways;
  const auto join = [&](int more) {
    if (more == kAlways) return;
    valid =
        valid == kAlways ? more : add_scalar(Op::And, {uop::Bool, uop::Bool}, {valid, more}, scope);
  };
  int of[3] = {};
  for (size_t i = 0; i < u->src.size(); i++) of[i] = need(u->src[i], scope, true);
  if (missing_) return kMissing;
  if (u->op != Op::Where) {
    for (size_t i = 0; i < u->src.size(); i++) join(of[i]);
    return valid;
  }
  if (of[1] != kAlways || of[2] != kAlways) {
    const int condition = need(u->src[0], scope);
    if (missing_) return kMissing;
    const auto or_true = [&](int step) { return step == kAlways ? add_value(uop::Bool, 1) : step; };
    valid = add_scalar(Op::Where, {uop::Bool, uop::Bool},
                       {condition, or_true(of[1]), or_true(of[2])}, scope);
  }
  join(of[0]);
  return valid;
}

Result<int> Planner::emit_scalar(Ref u, int scope) {
  if (!uop::is_scalar(u->op))
    return Error{fmt::format("{} is no value in a kernel", uop::to_text(u->op))};
  Step step = {.kind = Step::Kind::Scalar, .dtype = u->dtype};
  for (size_t i = 0; i < u->src.size(); i++) step.sources[i] = need(u->src[i], scope);
  if (missing_) return kMissing;
  const std::optional<Scalar> scalar = scalar_of(u->op, {u->dtype, u->src[0]->dtype});
  if (!scalar) {
    return Error{fmt::format("{} of {} as {}", uop::to_text(u->op), uop::to_text(u->src[0]->dtype),
                             uop::to_text(u->dtype))};
  }
  step.scalar = *scalar;
  return add(step, scope);
}

Result<int> Planner::parameter(Ref address) {
  const Ref param = parameter_of(address);
  if (param == nullptr) return Error{"an address that is not one index into a parameter"};
  const int64_t slot = param->arg.number();
  if (slot < 0 || slot >= 64 || param->src.empty())
    return Error{fmt::format("parameter {} of a kernel", slot)};
  if (plan_.parameters.size() <= static_cast<size_t>(slot))
    plan_.parameters.resize(static_cast<size_t>(slot) + 1);
  Parameter& p = plan_.parameters[static_cast<size_t>(slot)];
  ASSAY_TRY(size, size_value(graph_, param->src[0], variables_));
  if (p.used && (p.dtype != param->dtype || p.size != size))
    return Error{fmt::format("parameter {} has two types", slot)};
  p = {true, uop::is_const(param->src[0]), param->dtype, size};
  return static_cast<int>(slot);
}

Result<int> Planner::emit_load(Ref u, int scope) {
  const Ref address = u->op == Op::Load ? u->src[0] : u;
  ASSAY_TRY(slot, parameter(address));
  const bool gated = u->op == Op::Load && u->src.size() == 3;
  const bool has_other = u->op == Op::Load && u->src.size() >= 2;
  const int index = need(address->src[1], scope);
  const int valid = need(address->src[1], scope, true);
  const int gate = gated ? need(u->src[2], scope) : kAlways;
  const int other = has_other ? need(u->src[1], scope) : -1;
  if (missing_) return kMissing;
  int held = gate == kAlways ? valid : gate;
  if (gate != kAlways && valid != kAlways)
    held = add_scalar(Op::And, {uop::Bool, uop::Bool}, {gate, valid}, scope);
  plan_.loaded |= uint64_t{1} << slot;
  Step step = {.kind = Step::Kind::Load,
               .dtype = u->dtype,
               .sources = {index, held < 0 ? -1 : held, other},
               .at = slot};
  if ((aliases_ >> slot & 1) != 0) {
    Step check = step;
    check.kind = Step::Kind::Check;
    check.sources[2] = effect_.iteration;
    add(check, scope);
  }
  return add(step, scope);
}

Result<int> Planner::open(std::span<const Ref> ranges, int parent) {
  Scope scope;
  scope.parent = parent;
  scope.first_loop = static_cast<int>(effect_.loops.size());
  scope.loop_count = static_cast<int>(ranges.size());
  if (scope.first_loop + scope.loop_count > kMostLoops)
    return Error{fmt::format("more than {} loops", kMostLoops)};
  const auto number = static_cast<int>(effect_.scopes.size());
  memo_.emplace_back(shape_.nodes.size() * 2, kUnknown);
  effect_.scopes.push_back(scope);
  for (const Ref r : ranges) {
    const int node = shape_.place(r);
    ASSAY_TRY(count, size_value(graph_, r->src[0], variables_));
    const auto loop = static_cast<int>(effect_.loops.size());
    effect_.loops.push_back({std::max<int64_t>(count, 0)});
    Scope& s = effect_.scopes.back();
    s.ranges |= shape_.free[static_cast<size_t>(node)];
    const int step = add(
        {.kind = Step::Kind::Range, .dtype = r->dtype, .loops = uint64_t{1} << loop, .at = loop},
        number);
    known({node, number, false}) = step;
  }
  return number;
}

// The scope of a reduce, opened when it is first asked for.
Result<int> Planner::inner_scope(Ref u, int scope) {
  const std::pair key = {shape_.place(u), scope};
  for (const Opened& o : opened_) {
    if (o.reduce == key) return o.scope;
  }
  ASSAY_TRY(opened, open(u->src.subspan(1), scope));
  opened_.push_back({key, opened});
  return opened;
}

Result<int> Planner::emit_reduce(Ref u, int scope) {
  if (u->arg.number() != 0) return Error{"a reduce over axes in a kernel"};
  ASSAY_TRY(inner, inner_scope(u, scope));
  int body = need(u->src[0], inner);
  if (missing_) return kMissing;
  const std::optional<Fold> fold = fold_of(u->arg.fold_op(), u->dtype);
  if (!fold) return Error{fmt::format("reduce by {}", uop::to_text(u->arg.fold_op()))};
  const uint64_t own = effect_.scopes[static_cast<size_t>(inner)].loops();
  const uint64_t all = effect_.steps[static_cast<size_t>(body)].loops | own;
  if (effect_.steps[static_cast<size_t>(body)].loops != all) {
    // What does not depend on a loop is folded as often as the loop runs.
    Step spread = {.kind = Step::Kind::Scalar,
                   .dtype = u->dtype,
                   .loops = all,
                   .sources = {body, -1, -1},
                   .scalar = moved(u->dtype)};
    body = add(spread, inner);
  }
  Step step = {.kind = Step::Kind::Reduce,
               .dtype = u->dtype,
               .loops = all & ~own,
               .at = inner,
               .value = fold->unit,
               .scalar = fold->step,
               .over_rows = fold->over_rows};
  const int number = add(step, scope);
  effect_.scopes[static_cast<size_t>(inner)].result = body;
  effect_.scopes[static_cast<size_t>(inner)].reduce = number;
  return number;
}

// The number of an iteration of the effect's loops, as a step.
Result<int> Planner::iterations() {
  const Types types = {uop::Index, uop::Index};
  int number = add_value(uop::Index, 0);
  for (int loop = 0; loop < effect_.scopes[0].loop_count; loop++) {
    const int count =
        add_value(uop::Index, static_cast<Slot>(effect_.loops[static_cast<size_t>(loop)].count));
    const int more = add_scalar(Op::Mul, types, {number, count}, 0);
    number = add_scalar(Op::Add, types, {more, loop}, 0);  // the ranges are the first steps
  }
  return number;
}

// Chooses blocks, inner loops first, and gives each step its place.
void Planner::lay_out() {
  std::vector<int64_t> room(effect_.scopes.size(), 1);  // of a block with those about it
  for (size_t i = 0; i < effect_.scopes.size(); i++) {
    const Scope& scope = effect_.scopes[i];
    const int64_t outer = scope.parent < 0 ? 1 : room[static_cast<size_t>(scope.parent)];
    int64_t left = std::max<int64_t>(kLanes / outer, 1);
    room[i] = outer;
    for (int k = scope.loop_count; k-- > 0;) {
      Loop& loop = effect_.loops[static_cast<size_t>(scope.first_loop + k)];
      loop.block = std::max<int64_t>(std::min(loop.count, left), 1);
      left = loop.block == loop.count ? left / loop.block : 1;
      room[i] *= loop.block;
    }
  }
  int64_t place = 0;
  for (Step& step : effect_.steps) {
    step.place = place;
    for (uint64_t loops = step.loops; loops != 0; loops &= loops - 1) {
      step.room *= effect_.loops[static_cast<size_t>(std::countr_zero(loops))].block;
    }
    if (step.kind != Step::Kind::Check) place += step.room;
  }
  plan_.room = std::max(plan_.room, place);
}

Result<bool> Planner::effect(const KernelShape::Stored& stored) {
  const Ref store = stored.store;
  const Ref address = store->src[0];
  const int node = shape_.place(store);
  ASSAY_TRY(slot, parameter(address));
  effect_.parameter = slot;
  ASSAY_TRY(outer, open(stored.ranges, -1));
  const uint64_t left =
      shape_.free[static_cast<size_t>(node)] & ~effect_.scopes[static_cast<size_t>(outer)].ranges;
  if (left != 0) {
    const Ref range = shape_.ranges[static_cast<size_t>(std::countr_zero(left))];
    return Error{fmt::format("range {} has no END", range->arg.number())};
  }
  if (aliases_ != 0) {
    ASSAY_TRY(iteration, iterations());
    effect_.iteration = iteration;
  }
  ASSAY_TRY(index, compile(address->src[1], false));
  ASSAY_TRY(valid, compile(address->src[1], true));
  effect_.index = index;
  effect_.gate = valid < 0 ? -1 : valid;
  if (store->src.size() == 3) {
    ASSAY_TRY(gate, compile(store->src[2], false));
    effect_.gate = valid < 0 ? gate : add_scalar(Op::And, {uop::Bool, uop::Bool}, {gate, valid}, 0);
  }
  effect_.addresses = effect_.scopes[0].steps.size();
  ASSAY_TRY(value, compile(store->src[1], false));
  effect_.value = value;
  if (store->src[1]->dtype != address->dtype)
    return Error{"a store of another type than its address"};
  lay_out();
  plan_.effects.push_back(std::move(effect_));
  return true;
}

}  // namespace

Result<Plan> plan_kernel(uop::Graph& g, Ref kernel, const Variables& variables, uint64_t aliases,
                         KernelShape& shape) {
  if (const auto apart = take_apart(g, kernel, shape); !apart.ok()) return apart.error();
  Plan plan;
  for (const KernelShape::Stored& stored : shape.stores) {
    if (const auto planned = Planner(g, shape, variables, plan, aliases).effect(stored);
        !planned.ok())
      return planned.error();
  }
  return plan;
}

}  // namespace assay::interpreter
