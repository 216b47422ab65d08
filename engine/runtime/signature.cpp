#include "engine/runtime/signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "engine/uop/bounds.h"
#include "engine/uop/walk.h"

namespace assay::runtime {
namespace {

using uop::Graph;
using uop::Op;
using uop::Ref;

// Bytes of a buffer at most. Its sizes are of type `index`, or of those that took its place.
Result<int64_t> bytes_of(Graph& g, Ref buffer) {
  uop::Int128 bytes = uop::bytes_of(buffer->dtype);
  for (const Ref size : buffer->src) {
    if (!is_int(size->dtype)) continue;
    const uop::Int128 most = uop::bounds(g, size).hi;
    if (most < 0 || most > INT64_MAX || bytes * most > INT64_MAX) {
      return Error{
          fmt::format("{} {} has no size in 63 bits", to_text(buffer->op), buffer->arg.number()), 0,
          0};
    }
    bytes *= most;
  }
  return static_cast<int64_t>(bytes);
}

// What an access is to: through INDEX, SHRINK, AFTER and BITCAST.
Ref storage_of(Ref place) {
  while (place->op == Op::Index || place->op == Op::Shrink || place->op == Op::After ||
         place->op == Op::Bitcast || place->op == Op::Cast) {
    place = place->src[0];
  }
  return place;
}

class Reader {
 public:
  Reader(Graph& g, Ref linear) : g_(g), linear_(linear) {}

  Result<Signature> read() {
    const std::string_view info =
        linear_->arg.kind == uop::ArgKind::Info ? linear_->arg.name() : std::string_view();
    const size_t space = info.find(' ');
    s_.name = info.substr(0, space);
    if (space != std::string_view::npos) s_.opts = info.substr(space + 1);
    for (const Ref u : linear_->src) {
      if (std::optional<Error> error = take(u)) return *error;
    }
    for (const Ref u : linear_->src) {
      if (u->op == Op::Store) written(storage_of(u->src[0]));
    }
    std::ranges::sort(s_.slots, {}, &Signature::Slot::slot);
    const auto twice = std::ranges::adjacent_find(s_.slots, {}, &Signature::Slot::slot);
    if (twice != s_.slots.end()) {
      return Error{fmt::format("slot {} has two parameters", twice->slot), 0, 0};
    }
    std::ranges::sort(s_.variables, {}, &Signature::Variable::name);
    if (std::optional<Error> error = launch_terms()) return *error;
    return std::move(s_);
  }

 private:
  std::optional<Error> take(Ref u) {
    if (u->op == Op::Param) return param(u);
    if (u->op == Op::Variable) return variable(u);
    if (u->op == Op::Special) return special(u);
    if (u->op != Op::Buffer || u->arg.addr_space() != uop::AddrSpace::Local) return std::nullopt;
    const Result<int64_t> bytes = bytes_of(g_, u);
    if (!bytes.ok()) return bytes.error();
    s_.local_bytes += bytes.value();
    return std::nullopt;
  }

  std::optional<Error> param(Ref u) {
    const Result<int64_t> bytes = bytes_of(g_, u);
    if (!bytes.ok()) return bytes.error();
    const auto slot = static_cast<int32_t>(u->arg.number());
    s_.slots.push_back({slot, u->dtype, bytes.value(), false});
    return std::nullopt;
  }

  std::optional<Error> variable(Ref u) {
    const uop::Bounds b = uop::bounds(g_, u);
    const auto end = [](uop::Int128 n) {
      return static_cast<int64_t>(std::clamp<uop::Int128>(n, INT64_MIN, INT64_MAX));
    };
    const std::string name(u->arg.name());
    const auto same = std::ranges::find(s_.variables, name, &Signature::Variable::name);
    if (same == s_.variables.end()) {
      s_.variables.push_back({name, u->dtype, end(b.lo), end(b.hi)});
    } else if (same->dtype != u->dtype) {
      return Error{fmt::format("variable {} is of {} and of {}", name, to_text(same->dtype),
                               to_text(u->dtype)),
                   0, 0};
    }
    return std::nullopt;
  }

  std::optional<Error> special(Ref u) {
    const std::optional<codegen::LaunchAxis> axis = codegen::launch_axis(u->arg.name());
    if (!axis) {
      return Error{fmt::format("{} is no axis of a launch", quoted(u->arg.name())), 0, 0};
    }
    const Ref size = u->src[0];
    Ref& kept = s_.terms[(axis->of_groups ? 0 : 3) + axis->axis];
    if (kept != nullptr && kept != size) {
      return Error{fmt::format("{} has two sizes", u->arg.name()), 0, 0};
    }
    kept = size;
    return std::nullopt;
  }

  void written(Ref storage) {
    if (storage->op != Op::Param) return;
    const auto slot = static_cast<int32_t>(storage->arg.number());
    const auto at = std::ranges::find(s_.slots, slot, &Signature::Slot::slot);
    if (at != s_.slots.end()) at->is_written = true;
  }

  // Copies the terms into a graph of the signature's own.
  std::optional<Error> launch_terms() {
    for (Ref& term : s_.terms) {
      if (term == nullptr) continue;
      for (const Ref u : uop::toposort(g_, term)) {
        if (!is_const(u) && u->op != Op::Variable && !is_scalar(u->op)) {
          return Error{fmt::format("{} in the size of a launch", to_text(u->op)), 0, 0};
        }
      }
      if (!s_.graph) s_.graph = std::make_unique<Graph>();
      term = uop::copy_to(*s_.graph, g_, term);
    }
    return std::nullopt;
  }

  Graph& g_;
  Ref linear_;
  Signature s_;
};

}  // namespace

Result<Launch> Signature::sizes(Variables values) const {
  Launch sizes;
  for (size_t i = 0; i < terms.size(); i++) {
    if (terms[i] == nullptr) continue;
    ASSAY_TRY(size, size_value(*graph, terms[i], values));
    if (size < 0) return Error{fmt::format("a launch of {} along an axis", size), 0, 0};
    (i < 3 ? sizes.groups[i] : sizes.items[i - 3]) = size;
  }
  return sizes;
}

Signature fixed_signature(std::string name, std::span<const int64_t> slot_bytes,
                          const Launch& sizes) {
  Signature s;
  s.name = std::move(name);
  for (size_t i = 0; i < slot_bytes.size(); i++) {
    s.slots.push_back({static_cast<int32_t>(i), uop::U8, slot_bytes[i], true});
  }
  s.graph = std::make_unique<Graph>();
  for (size_t i = 0; i < 3; i++) {
    s.terms[i] = s.graph->constant(uop::Index, sizes.groups[i]);
    s.terms[i + 3] = s.graph->constant(uop::Index, sizes.items[i]);
  }
  return s;
}

Result<Signature> signature_of(Graph& g, Ref linear) {
  if (linear->op != Op::Linear) {
    return Error{fmt::format("{} is no linear", to_text(linear->op)), 0, 0};
  }
  return Reader(g, linear).read();
}

}  // namespace assay::runtime
