#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/check.h"
#include "engine/codegen/lane_order.h"
#include "engine/codegen/place.h"
#include "engine/uop/eval.h"
#include "engine/uop/scope.h"
#include "engine/uop/shape.h"

// A plain machine for kernels between `placed` and `gated`: one work-item after the other, by
// recursion, for small kernels of tests. LOCAL storage is each work-item's own.
namespace assay::codegen {

class SmallMachine {
 public:
  using Cells = std::vector<uop::Cell>;

  explicit SmallMachine(uop::Graph& g) : g_(g) {}

  // Elements by slot of PARAM; what is stored by INVALID stays.
  std::map<int64_t, std::vector<uop::Value>> memory;
  // Elements of PARAMs that were read: slot and place.
  std::set<std::pair<int64_t, int64_t>> read_elements;
  // What went wrong first.
  std::string trouble;

  void run(uop::Ref sink) {
    std::vector<uop::Ref> items;
    for (const uop::Ref u : toposort(g_, sink)) {
      if (u->op == uop::Op::Special) items.push_back(u);
    }
    run_items(sink, items, 0);
  }

 private:
  struct Known {
    std::vector<int64_t> scope;
    Cells cells;
  };
  using Places = std::vector<std::optional<int64_t>>;  // elements of storage; nothing where gated

  void run_items(uop::Ref sink, const std::vector<uop::Ref>& items, size_t at) {
    if (at == items.size()) {
      own_.clear();
      values_.clear();
      return effect(sink);
    }
    const int64_t count = number(items[at]->src[0]);
    for (int64_t i = 0; i < count; ++i) {
      terms_[items[at]] = i;
      run_items(sink, items, at + 1);
    }
  }

  void fail(std::string what) {
    if (trouble.empty()) trouble = std::move(what);
  }

  // The loops that u runs in, at their iterations.
  std::vector<int64_t> scope_of(uop::Ref u) {
    std::vector<int64_t> scope;
    for (const uop::Ref r : uop::ranges(g_, u)) {
      const auto known = terms_.find(r);
      scope.push_back(known == terms_.end() ? -1 : known->second);
    }
    return scope;
  }

  // True the first time in this scope.
  bool is_due(uop::Ref u) {
    const std::vector<int64_t> scope = scope_of(u);
    const auto known = values_.find(u);
    if (known != values_.end() && known->second.scope == scope) return false;
    values_[u] = {scope, {}};
    return true;
  }

  void effect(uop::Ref u) {
    if (u->op == uop::Op::Range || u->dtype != uop::DType::Void) {
      if (u->op == uop::Op::After) order(u);
      return;
    }
    if (!is_due(u)) return;
    if (u->op == uop::Op::Store) return store(u);
    if (u->op == uop::Op::End) return loop(u, 1);
    for (const uop::Ref s : u->src) effect(s);
  }

  void order(uop::Ref state) {
    for (; state->op == uop::Op::After; state = state->src[0]) {
      for (const uop::Ref s : state->src.subspan(1)) effect(s);
    }
  }

  void loop(uop::Ref end, size_t at) {
    if (at == end->src.size()) return effect(end->src[0]);
    const uop::Ref range = end->src[at];
    const int64_t count = number(range->src[0]);
    for (int64_t i = 0; i < count; ++i) {
      terms_[range] = i;
      loop(end, at + 1);
    }
    terms_.erase(range);
  }

  int64_t number(uop::Ref u) { return static_cast<int64_t>(value(u)[0].value.bits); }

  std::vector<uop::Value>& storage(uop::Ref state) {
    while (state->op == uop::Op::After) state = state->src[0];
    if (state->op == uop::Op::Param) return memory[state->arg.number()];
    std::vector<uop::Value>& own = own_[state->arg.number()];
    const auto size = static_cast<size_t>(*uop::constant_size(uop::shape(g_, state)));
    if (own.empty()) own.assign(size, uop::one_of(state->dtype));
    return own;
  }

  Places places(uop::Ref place) {
    const uop::Ref state = state_of(place);
    order(state);
    const Sizes axes = *sizes_of(uop::shape(g_, state));
    const Sizes strides = strides_of(axes);
    const size_t given = is_state(place)                ? 0
                         : place->op == uop::Op::Shrink ? 1
                                                        : place->src.size() - 1;
    std::vector<Cells> indices;
    for (size_t k = 0; k < given; ++k) indices.push_back(value(place->src[k + 1]));
    const Sizes whole = *sizes_of(uop::shape(g_, place));
    if (place->op == uop::Op::Shrink) return run_of(indices[0][0], whole[0], axes[0]);
    const Sizes left(axes.begin() + static_cast<std::ptrdiff_t>(given), axes.end());
    const Sizes outer(whole.begin(), whole.end() - static_cast<std::ptrdiff_t>(left.size()));
    for (size_t k = 0; k < given; ++k) indices[k] = spread(indices[k], place->src[k + 1], outer);
    Places out;
    for (int64_t i = 0; i < count_of(outer); ++i) {
      std::optional<int64_t> first = 0;
      for (size_t k = 0; k < given && first; ++k) {
        first = step(first, indices[k][static_cast<size_t>(i)], strides[k], axes[k]);
      }
      for (int64_t j = 0; j < count_of(left); ++j) {
        out.push_back(first ? std::optional(*first + j) : std::nullopt);
      }
    }
    return out;
  }

  Places run_of(const uop::Cell& begin, int64_t count, int64_t size) {
    Places out;
    for (int64_t j = 0; j < count; ++j) {
      const std::optional<int64_t> first = step(0, begin, 1, size - count + 1);
      out.push_back(first ? std::optional(*first + j) : std::nullopt);
    }
    return out;
  }

  std::optional<int64_t> step(std::optional<int64_t> first, const uop::Cell& at, int64_t stride,
                              int64_t size) {
    if (at.state == uop::Cell::State::Invalid) return std::nullopt;
    const auto i = static_cast<int64_t>(at.value.bits);
    if (at.defined() && 0 <= i && i < size) return *first + i * stride;
    fail(fmt::format("index {} of {}", at.defined() ? i : -1, size));
    return std::nullopt;
  }

  static uop::Ref state_of(uop::Ref place) { return is_state(place) ? place : place->src[0]; }

  void note(uop::Ref state, int64_t element) {
    while (state->op == uop::Op::After) state = state->src[0];
    if (state->op == uop::Op::Param) read_elements.emplace(state->arg.number(), element);
  }

  void store(uop::Ref u) {
    const Sizes whole = *sizes_of(uop::shape(g_, u->src[0]));
    const Places at = gated_places(u, 2, whole);
    const Cells cells = spread(value(u->src[1]), u->src[1], whole);
    for (size_t i = 0; i < at.size(); ++i) {
      if (!at[i] || !cells[i].defined()) continue;
      storage(state_of(u->src[0]))[static_cast<size_t>(*at[i])] = cells[i].value;
    }
  }

  // The places of a LOAD or STORE whose gate, if it has one, is source `gate`.
  Places gated_places(uop::Ref u, size_t gate, const Sizes& whole) {
    const bool has_gate = u->src.size() > gate;
    const Cells open = has_gate ? spread(value(u->src[gate]), u->src[gate], whole) : Cells();
    const bool is_closed = has_gate && std::ranges::none_of(open, [](const uop::Cell& c) {
                             return c.value.bits != 0;
                           });
    if (is_closed) return Places(static_cast<size_t>(count_of(whole)));
    return places(u->src[0]);
  }

  Cells load(uop::Ref u) {
    const Sizes whole = *sizes_of(uop::shape(g_, u));
    const Places at = gated_places(u, 2, whole);
    const Cells other =
        u->src.size() > 1 ? spread(value(u->src[1]), u->src[1], whole) : Cells(at.size());
    std::vector<uop::Value>& from = storage(state_of(u->src[0]));
    uop::Cell nothing;
    nothing.state = uop::Cell::State::Invalid;
    Cells out;
    for (size_t i = 0; i < at.size(); ++i) {
      const uop::Cell closed = u->src.size() > 1 ? other[i] : nothing;
      out.push_back(at[i] ? uop::Cell::of(from[static_cast<size_t>(*at[i])]) : closed);
      if (at[i]) note(state_of(u->src[0]), *at[i]);
    }
    return out;
  }

  Cells spread(const Cells& cells, uop::Ref u, const Sizes& whole) {
    const std::optional<Sizes> strides = broadcast_strides(*sizes_of(uop::shape(g_, u)), whole);
    ASSAY_CHECK(strides.has_value(), "a source does not broadcast");
    std::vector<uint32_t> order;
    order_by(whole, *strides, order);
    Cells out;
    for (const uint32_t i : order) out.push_back(cells[i]);
    return out;
  }

  Cells value(uop::Ref u) {
    const auto known = values_.find(u);
    const std::vector<int64_t> scope = scope_of(u);
    if (known != values_.end() && known->second.scope == scope) return known->second.cells;
    Cells cells = computed(u);
    values_[u] = {scope, cells};
    return cells;
  }

  Cells computed(uop::Ref u) {
    if (is_const(u)) return {uop::Cell::of(u->value())};
    if (u->op == uop::Op::Invalid) {
      Cells nothing(1);
      nothing[0].state = uop::Cell::State::Invalid;
      return nothing;
    }
    if (u->op == uop::Op::Range || u->op == uop::Op::Special) {
      return {uop::Cell::of(uop::of_int(u->dtype, terms_.at(u)))};
    }
    if (u->op == uop::Op::Load) return load(u);
    const bool is_other_width =
        u->op == uop::Op::Bitcast && uop::bits_of(u->dtype) != uop::bits_of(u->src[0]->dtype);
    if (is_other_width) return cut(value(u->src[0]), u->src[0]->dtype, u->dtype);
    if (is_place(u)) return read(u);
    return uop::is_scalar(u->op) ? elementwise(u) : moved(u);
  }

  // The bytes of elements, from the lowest up, as elements of another width.
  static Cells cut(const Cells& from, uop::DType t, uop::DType to) {
    std::vector<uint64_t> bytes;
    for (const uop::Cell& c : from) {
      for (int i = 0; i < uop::bytes_of(t); ++i) bytes.push_back(c.value.bits >> (8 * i) & 0xFF);
    }
    Cells out;
    const auto step = static_cast<size_t>(uop::bytes_of(to));
    for (size_t at = 0; at + step <= bytes.size(); at += step) {
      uint64_t bits = 0;
      for (size_t i = 0; i < step; ++i) bits |= bytes[at + i] << (8 * i);
      out.push_back(uop::Cell::of({to, bits}));
    }
    return out;
  }

  // A place that is used as a value.
  Cells read(uop::Ref place) {
    const uop::Ref load = g_.make(uop::Op::Load, place->dtype, {place});
    return this->load(load);
  }

  Cells elementwise(uop::Ref u) {
    const Sizes whole = *sizes_of(uop::shape(g_, u));
    std::vector<Cells> operands;
    for (const uop::Ref s : u->src) operands.push_back(spread(value(s), s, whole));
    Cells out;
    for (size_t i = 0; i < static_cast<size_t>(count_of(whole)); ++i) {
      Cells lane;
      for (const Cells& o : operands) lane.push_back(o[i]);
      out.push_back(scalar(u, lane));
    }
    return out;
  }

  static uop::Cell scalar(uop::Ref u, const Cells& src) {
    if (u->op == uop::Op::Where) {
      return src[0].defined() ? src[src[0].value.bits != 0 ? 1 : 2] : src[0];
    }
    std::vector<uop::Value> values;
    for (const uop::Cell& c : src) {
      if (!c.defined()) return c;
      values.push_back(c.value);
    }
    const std::optional<uop::Value> v = eval(u->op, u->dtype, values);
    return v ? uop::Cell::of(*v) : uop::Cell();
  }

  Cells moved(uop::Ref u) {
    const Sizes whole = *sizes_of(uop::shape(g_, u));
    if (u->op == uop::Op::Reshape || u->op == uop::Op::After) {
      if (u->op == uop::Op::After) order(u);
      return value(u->src[0]);
    }
    if (u->op == uop::Op::Expand) return spread(value(u->src[0]), u->src[0], whole);
    if (u->op == uop::Op::Stack) {
      Cells out;
      for (const uop::Ref s : u->src) {
        const Cells part = spread(value(s), s, Sizes(whole.begin() + 1, whole.end()));
        out.insert(out.end(), part.begin(), part.end());
      }
      return out;
    }
    const Cells from = value(u->src[0]);
    const Sizes steps = strides_of(*sizes_of(uop::shape(g_, u->src[0])));
    Cells out;
    if (u->op == uop::Op::Permute) {
      Sizes strides;
      for (const int64_t axis : u->arg.numbers())
        strides.push_back(steps[static_cast<size_t>(axis)]);
      std::vector<uint32_t> order;
      order_by(whole, strides, order);
      for (const uint32_t i : order) out.push_back(from[i]);
      return out;
    }
    ASSAY_CHECK(u->op == uop::Op::Index, "{} is not for this machine", to_text(u->op));
    size_t first = 0;
    for (size_t k = 1; k < u->src.size(); ++k) {
      first += static_cast<size_t>(number(u->src[k]) * steps[k - 1]);
    }
    for (size_t j = 0; j < static_cast<size_t>(count_of(whole)); ++j)
      out.push_back(from[first + j]);
    return out;
  }

  uop::Graph& g_;
  std::unordered_map<uop::Ref, int64_t> terms_;     // of ranges and work-items
  std::unordered_map<uop::Ref, Known> values_;      // of nodes, and which effects have run
  std::map<int64_t, std::vector<uop::Value>> own_;  // LOCAL and REG
};

}  // namespace assay::codegen
