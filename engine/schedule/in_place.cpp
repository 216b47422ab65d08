#include "engine/schedule/in_place.h"

namespace assay::schedule {

using uop::Op;
using uop::Ref;

bool InPlace::operator()(Ref body) {
  if (const char* known = known_.find(body)) return *known != 0;
  const bool is = body->op != Op::Sink || reads_first(body);
  known_.set(body, static_cast<char>(is));
  return is;
}

bool InPlace::reads_first(Ref body) {
  visited_.clear();
  stack_ = {body};
  while (!stack_.empty()) {
    const Ref u = stack_.back();
    stack_.pop_back();
    if (u->op == Op::Param && u->arg.number() == 0) return true;
    std::span<const Ref> below = u->src;
    if (u->op == Op::Store && !u->src[0]->src.empty() && u->src[0]->src[0]->op == Op::Param) {
      push(u->src[0]->src.subspan(1));
      below = below.subspan(1);
    }
    push(below);
  }
  return false;
}

void InPlace::push(std::span<const Ref> nodes) {
  for (const Ref u : nodes) {
    if (visited_.has(u)) continue;
    visited_.set(u, 1);
    stack_.push_back(u);
  }
}

}  // namespace assay::schedule
