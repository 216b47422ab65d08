#include "props/schedule/param_use.h"

#include "engine/uop/op.h"

namespace assay::props {

using uop::Op;
using uop::Ref;

std::vector<Ref> storage_arguments(Ref call) {
  std::vector<Ref> all;
  for (const Ref a : call->src.subspan(1)) {
    if (a->op != Op::Bind && a->op != Op::Variable) all.push_back(a);
  }
  return all;
}

Ref viewed_storage(Ref u) {
  while (uop::is_movement(u->op) || u->op == Op::Bitcast || u->op == Op::Index) u = u->src[0];
  return u;
}

namespace {

ParamUse& use_of(std::vector<ParamUse>& uses, Ref param) {
  const auto slot = static_cast<size_t>(param->arg.number());
  if (slot >= uses.size()) uses.resize(slot + 1);
  return uses[slot];
}

}  // namespace

const std::vector<ParamUse>& BodyUses::of(Ref body) {
  if (const int32_t* known = places_.find(body)) return known_[static_cast<size_t>(*known)];
  std::vector<ParamUse> uses;
  if (body->op == Op::Linear) {
    read_calls(body, uses);
  } else if (body->op == Op::Sink) {
    read_kernel(body, uses);
  }
  places_.set(body, static_cast<int32_t>(known_.size()));
  known_.push_back(std::move(uses));
  return known_.back();
}

ParamUse BodyUses::of(Ref body, size_t slot) {
  if (body->op != Op::Linear && body->op != Op::Sink) return {true, true};
  const std::vector<ParamUse>& uses = of(body);
  return slot < uses.size() ? uses[slot] : ParamUse{};
}

void BodyUses::read_kernel(Ref body, std::vector<ParamUse>& uses) {
  met_.clear();
  stack_ = {body};
  while (!stack_.empty()) {
    const Ref u = stack_.back();
    stack_.pop_back();
    if (met_.has(u)) continue;
    met_.set(u, 1);
    if (u->op == Op::Param) use_of(uses, u).reads = true;
    std::span<const Ref> below = u->src;
    const Ref target = u->op == Op::Store ? viewed_storage(u->src[0]) : nullptr;
    if (target != nullptr && target->op == Op::Param) {
      use_of(uses, target).writes = true;
      // Where it is written is read from what the views on the way hold beside their base.
      for (Ref view = u->src[0]; view != target; view = view->src[0]) {
        stack_.insert(stack_.end(), view->src.begin() + 1, view->src.end());
      }
      below = below.subspan(1);
    }
    stack_.insert(stack_.end(), below.begin(), below.end());
  }
}

void BodyUses::read_calls(Ref linear, std::vector<ParamUse>& uses) {
  for (const Ref call : linear->src) {
    const std::vector<Ref> arguments = storage_arguments(call);
    for (size_t i = 0; i < arguments.size(); i++) {
      const ParamUse inner = of(call->src[0], i);
      std::vector<Ref> stack = {arguments[i]};
      while (!stack.empty()) {
        const Ref u = viewed_storage(stack.back());
        stack.pop_back();
        if (u->op == Op::MStack || u->op == Op::MSelect) {
          stack.insert(stack.end(), u->src.begin(), u->src.end());
        }
        if (u->op != Op::Param) continue;
        ParamUse& use = use_of(uses, u);
        use.reads |= inner.reads;
        use.writes |= inner.writes;
      }
    }
  }
}

}  // namespace assay::props
