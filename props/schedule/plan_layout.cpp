#include "props/schedule/plan_layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/uop/scope.h"
#include "engine/uop/walk.h"
#include "props/schedule/call_access.h"

namespace assay::props {
namespace {

using uop::Op;
using uop::Ref;

// Whether a call's body stores a COPY.
bool is_copy_body(Ref body) {
  if (body->op != Op::Sink || body->src.size() != 1) return false;
  const Ref store = body->src[0];
  return store->op == Op::Store && store->src[1]->op == Op::Copy;
}

}  // namespace

PlanLayout::PlanLayout(const schedule::PlanSeen& seen) : seen_(seen) {
  if (seen.linear->src.size() != seen.planned->src.size()) {
    fail(fmt::format("{} calls are {} once planned", seen.linear->src.size(),
                     seen.planned->src.size()));
    return;
  }
  for (size_t k = 0; k < seen.linear->src.size(); k++) match(static_cast<int32_t>(k));
  for (const Placed& p : placed_) {
    const bool is_new =
        p.is_moved() && std::find(arenas_.begin(), arenas_.end(), p.arena) == arenas_.end();
    if (is_new) arenas_.push_back(p.arena);
  }
  std::sort(arenas_.begin(), arenas_.end(),
            [](Ref a, Ref b) { return a->arg.number() < b->arg.number(); });
}

void PlanLayout::fail(std::string what) {
  if (mismatch_.empty()) mismatch_ = std::move(what);
}

std::string_view PlanLayout::device(Ref u) const {
  const Ref on = uop::device(seen_.graph, u);
  return on == nullptr ? std::string_view() : on->arg.name();
}

int64_t PlanLayout::arena_bytes(Ref arena) const { return storage_bytes(seen_.graph, arena); }

void PlanLayout::match(int32_t call) {
  const Ref before = seen_.linear->src[static_cast<size_t>(call)];
  const Ref after = seen_.planned->src[static_cast<size_t>(call)];
  const bool is_same = before->op == after->op && before->arg == after->arg &&
                       before->src.size() == after->src.size() && before->src[0] == after->src[0];
  if (!is_same) return fail(fmt::format("call {} is another once planned", call));
  for (size_t i = 1; i < before->src.size(); i++) {
    match_argument(call, before->src[i], after->src[i], is_copy_body(before->src[0]));
  }
}

// Both arguments are the same view, down to a BUFFER and what stands in its place.
void PlanLayout::match_argument(int32_t call, Ref before, Ref after, bool is_copy) {
  std::vector<std::pair<Ref, Ref>> stack = {{before, after}};
  while (!stack.empty()) {
    const auto [a, b] = stack.back();
    stack.pop_back();
    if (a->op == Op::Buffer) {
      place(call, a, b, is_copy);
      continue;
    }
    if (a == b && a->src.empty()) continue;
    const bool is_same = a->op == b->op && a->dtype == b->dtype && a->arg == b->arg &&
                         a->src.size() == b->src.size();
    if (!is_same) return fail(fmt::format("an argument of call {} is another view", call));
    for (size_t i = a->src.size(); i-- > 0;) stack.emplace_back(a->src[i], b->src[i]);
  }
}

std::string_view PlanLayout::reason_to_keep(Ref buffer, int64_t bytes) const {
  const auto& held = seen_.options.held;
  if (std::find(held.begin(), held.end(), buffer) != held.end()) return "held";
  const std::string_view name = device(buffer);
  const std::string_view kind = name.substr(0, name.find(':'));
  const auto& in = seen_.options.opted_in;
  for (const schedule::Exclusion& row : schedule::all_exclusions()) {
    const bool is_in = row.may_opt_in && std::find(in.begin(), in.end(), name) != in.end();
    if (row.kind == kind && !is_in) return row.kind;
  }
  return bytes == 0 ? "empty" : std::string_view();
}

void PlanLayout::place(int32_t call, Ref buffer, Ref part, bool is_copy) {
  while (part != buffer && part->op == Op::Reshape) part = part->src[0];
  if (const int32_t* known = numbers_.find(buffer)) {
    Placed& p = placed_[static_cast<size_t>(*known)];
    p.last = call;
    p.is_copied |= is_copy;
    if (parts_.at(buffer) != part) {
      fail(fmt::format("buffer {} is elsewhere at call {}", buffer->arg.number(), call));
    }
    return;
  }
  Placed p;
  p.buffer = buffer;
  p.bytes = storage_bytes(seen_.graph, buffer);
  p.kept = reason_to_keep(buffer, p.bytes);
  p.first = p.last = call;
  p.is_copied = is_copy;
  const std::vector<ArgumentBytes> at = argument_bytes(seen_.graph, part);
  const bool is_type =
      part->dtype == buffer->dtype || (buffer->dtype == uop::Bool && part->dtype == uop::U8);
  if (at.size() != 1 || !at[0].is_whole || at[0].storage->op != Op::Buffer || !is_type) {
    return fail(fmt::format("buffer {} becomes no run of bytes of its type", buffer->arg.number()));
  }
  p.arena = at[0].storage;
  p.begin = at[0].begin;
  p.end = at[0].end;
  numbers_.set(buffer, static_cast<int32_t>(placed_.size()));
  parts_.set(buffer, part);
  placed_.push_back(p);
}

}  // namespace assay::props
