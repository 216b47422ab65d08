#include "engine/render/places.h"

namespace assay::render {

using uop::AddrSpace;
using uop::Op;
using uop::Ref;

namespace {

bool is_storage(Ref u) { return u->op == Op::Param || u->op == Op::Buffer; }

// A register may be a variable where there are few of them.
constexpr int64_t kMostScalars = 1024;

}  // namespace

Ref without_order(Ref u) {
  while (u->op == Op::After) u = u->src[0];
  return u;
}

std::optional<Place> place_of(Ref u) {
  const Ref view = without_order(u);
  if (view->op != Op::Index && view->op != Op::Shrink) return std::nullopt;
  const Ref storage = without_order(view->src[0]);
  if (!is_storage(storage)) return std::nullopt;
  Place place = {storage, view->src[1], 1, view->op == Op::Shrink};
  if (!place.is_run) return view->src.size() == 2 ? std::optional(place) : std::nullopt;
  if (view->src.size() != 3 || !is_const(view->src[2])) return std::nullopt;
  place.count = static_cast<int64_t>(uop::as_int(view->src[2]->value()));
  return place;
}

int64_t lanes_of(Ref u) {
  while (u->op == Op::Cast || u->op == Op::Bitcast || u->op == Op::After) u = u->src[0];
  if (u->op == Op::Stack) return static_cast<int64_t>(u->src.size());
  if (u->op != Op::Load) return 0;
  const std::optional<Place> place = place_of(u->src[0]);
  return place && place->is_run ? place->count : 0;
}

Storages::Storages(std::span<const Ref> lines) {
  for (uint32_t i = 0; i < lines.size(); i++) {
    const Ref u = lines[i];
    if (is_storage(u)) {
      numbers_.set(u, static_cast<uint32_t>(all_.size()));
      const bool is_few = u->src.size() == 1 && is_const(u->src[0]) &&
                          uop::as_int(u->src[0]->value()) <= kMostScalars;
      const bool is_reg = u->op == Op::Buffer && u->arg.addr_space() == AddrSpace::Reg;
      all_.push_back({false, is_reg && is_few, {}});
    }
    if (u->op == Op::Load || u->op == Op::Store) use(u, i);
  }
}

void Storages::use(Ref access, uint32_t line) {
  const std::optional<Place> place = place_of(access->src[0]);
  if (!place || !numbers_.has(place->storage)) return;
  Storage& storage = all_[numbers_.at(place->storage)];
  if (place->is_run || !is_const(place->begin)) storage.is_scalars = false;
  if (access->op != Op::Store) return;
  storage.is_stored = true;
  storage.stores.push_back(line);
}

}  // namespace assay::render
