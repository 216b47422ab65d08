#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/codegen/launch.h"
#include "engine/uop/eval.h"
#include "engine/uop/scope.h"
#include "engine/uop/shape.h"

namespace assay::codegen {

// Runs a kernel of any form from tiled to placed by what README.md says it denotes, for tests of
// the passes between them. Values are computed where they are asked for; an effect runs when an
// AFTER that names it is read, once for each value of the ranges that it stands in. What an AFTER
// of LOCAL storage names runs for all work-items of the group. Kernels are small, so it recurses.
//
// Fails the test on an access out of bounds, a read of what nobody stored, and an element of GLOBAL
// or LOCAL storage that is stored twice.
class KernelRun {
 public:
  using Cell = uop::Cell;
  using Cells = std::vector<Cell>;
  using Variables = std::vector<std::pair<std::string, int64_t>>;

  KernelRun(uop::Graph& g, std::map<int64_t, std::vector<uop::Value>> params,
            Variables variables = {})
      : g_(g), variables_(std::move(variables)) {
    for (const auto& [slot, values] : params) {
      for (const uop::Value v : values) params_[slot].push_back(Cell::of(v));
    }
  }

  // What PARAM{0} holds afterwards; what was not stored is as it was.
  std::vector<uop::Value> run(uop::Ref sink) {
    const Result<Launch> sizes = launch_sizes(g_, sink, variables_);
    if (!sizes.ok()) {
      ADD_FAILURE() << sizes.error().message;
      return {};
    }
    launch_ = sizes.value();
    each(launch_.groups, [&](const Position& group) {
      group_ = group;
      memory_.clear();
      last_.clear();
      each(launch_.items, [&](const Position& item) {
        set_item(item);
        perform(sink, true);
      });
    });
    std::vector<uop::Value> out;
    for (const Cell& cell : params_[0]) {
      EXPECT_TRUE(cell.defined()) << "PARAM 0 holds what is no value";
      out.push_back(cell.value);
    }
    return out;
  }

 private:
  using Ref = uop::Ref;
  using Op = uop::Op;
  using Position = std::array<int64_t, 3>;

  struct Tensor {
    std::vector<int64_t> sizes;
    Cells cells;
  };
  // A place: the elements of storage, each by its offset or -1 where its index is INVALID.
  struct Place {
    Cells* storage;
    std::vector<int64_t> sizes;
    std::vector<int64_t> offsets;
  };

  template <typename Body>
  static void each(const Position& sizes, Body body) {
    Position at;
    for (at[2] = 0; at[2] < sizes[2]; ++at[2])
      for (at[1] = 0; at[1] < sizes[1]; ++at[1])
        for (at[0] = 0; at[0] < sizes[0]; ++at[0]) body(at);
  }

  void set_item(const Position& item) {
    item_ = item;
    item_id_ = (item[2] * launch_.items[1] + item[1]) * launch_.items[0] + item[0];
    ++epoch_;
  }

  static int64_t count(std::span<const int64_t> sizes) {
    int64_t n = 1;
    for (const int64_t size : sizes) n *= size;
    return n;
  }

  int64_t integer(Ref u) {
    const Tensor t = value(u);
    if (t.cells.size() == 1 && t.cells[0].defined()) {
      return static_cast<int64_t>(as_int(t.cells[0].value));
    }
    ADD_FAILURE() << to_text(u->op) << " is no number";
    return 0;
  }

  std::vector<int64_t> sizes_of(Ref u) {
    std::vector<int64_t> sizes;
    for (const Ref size : shape(g_, u)) sizes.push_back(integer(size));
    return sizes;
  }

  // For each value of the ranges; they keep the values that they have around it.
  void loop(std::span<const Ref> ranges, const std::function<void()>& body) {
    if (ranges.empty()) return body();
    const Ref r = ranges[0];
    const bool held = env_.contains(r);
    const int64_t before = held ? env_[r] : 0;
    const int64_t n = integer(r->src[0]);
    for (int64_t i = 0; i < n; ++i) {
      env_[r] = i;
      ++epoch_;
      loop(ranges.subspan(1), body);
    }
    env_.erase(r);
    if (held) env_[r] = before;
    ++epoch_;
  }

  // Effects. One that is not asked for by its loop runs where it did not just run for these values
  // of its ranges.
  void perform(Ref u, bool asked) {
    if (u->op == Op::Range) return;
    if (!asked && !is_new(u, item_id_)) return;
    switch (u->op) {
      case Op::Sink:
      case Op::Group:
        for (const Ref s : u->src) perform(s, asked);
        return;
      case Op::End: start(u); return loop(u->src.subspan(1), [&] { perform(u->src[0], true); });
      case Op::Store: return store(u);
      default: ADD_FAILURE() << to_text(u->op) << " is no effect";
    }
  }

  // What a loop is given before it runs, be it not once: stores to registers outside of it.
  void start(Ref end) {
    for (const Ref u : toposort(g_, end->src[0])) {
      if (u->op != Op::Store || !is_own(uop::buffer(g_, u->src[0]))) continue;
      const std::span<const Ref> in = uop::ranges(g_, u);
      if (std::ranges::all_of(in, [&](Ref r) { return env_.contains(r); })) perform(u, false);
    }
  }

  static bool is_own(Ref storage) {
    return storage->op == Op::Buffer && storage->arg.addr_space() == uop::AddrSpace::Reg;
  }

  bool is_new(Ref u, int64_t item) {
    std::vector<int64_t> now;
    for (const Ref r : uop::ranges(g_, u)) now.push_back(env_.contains(r) ? env_[r] : -1);
    const auto [at, is_first] = last_.try_emplace({u, item}, now);
    if (!is_first && at->second == now) return false;
    at->second = now;
    return true;
  }

  // What an AFTER waits for. Of LOCAL storage it is what all items of the group do.
  void wait(Ref after) {
    const Ref storage = uop::buffer(g_, after);
    const bool shared = storage != nullptr && storage->op == Op::Buffer &&
                        storage->arg.addr_space() == uop::AddrSpace::Local;
    for (const Ref effect : after->src.subspan(1)) {
      if (!shared) {
        perform(effect, false);
      } else if (effect->op != Op::Range && is_new(effect, -1)) {
        stored_[storage].clear();
        const Position mine = item_;
        each(launch_.items, [&](const Position& item) {
          set_item(item);
          perform(effect, true);
        });
        set_item(mine);
      }
    }
  }

  void store(Ref u) {
    const Tensor x = value(u->src[1]);
    const Place to = place(u->src[0]);
    const Ref storage = uop::buffer(g_, u->src[0]);
    for (int64_t i = 0; i < count(to.sizes); ++i) {
      const int64_t offset = to.offsets[static_cast<size_t>(i)];
      if (offset < 0) continue;
      const Cell& cell = x.cells[broadcast_from(x.sizes, to.sizes, i)];
      EXPECT_NE(cell.state, Cell::State::Invalid) << "INVALID is stored";
      (*to.storage)[static_cast<size_t>(offset)] = cell;
      const int times = is_own(storage) ? 1 : ++stored_[storage][offset];
      EXPECT_EQ(times, 1) << "element " << offset << " is stored again";
    }
    ++epoch_;
  }

  Cells& storage_of(Ref buffer) {
    if (buffer->op == Op::Param) return params_[buffer->arg.number()];
    Cells& cells = memory_[{buffer, is_own(buffer) ? item_id_ : -1}];
    if (cells.empty()) cells.resize(static_cast<size_t>(count(sizes_of(buffer))));
    return cells;
  }

  static bool is_state(Ref u) {
    while (u->op == Op::After) u = u->src[0];
    return u->op == Op::Buffer || u->op == Op::Param;
  }

  Place place(Ref u) {
    const Ref state = u->op == Op::Index ? u->src[0] : u;
    for (Ref s = state; s->op == Op::After; s = s->src[0]) wait(s);
    std::vector<Tensor> indices;
    std::vector<int64_t> common;
    if (u->op == Op::Index) {
      for (const Ref i : u->src.subspan(1)) indices.push_back(value(i));
      for (const Tensor& t : indices) common = joined(common, t.sizes);
    }
    const std::vector<int64_t> whole = sizes_of(state);
    EXPECT_LE(indices.size(), whole.size());
    const std::vector<int64_t> inner(whole.begin() + std::ssize(indices), whole.end());
    Place p = {&storage_of(uop::buffer(g_, state)), common, {}};
    p.sizes.insert(p.sizes.end(), inner.begin(), inner.end());
    for (int64_t i = 0; i < count(common); ++i) {
      int64_t base = 0;
      for (size_t a = 0; a < indices.size() && base >= 0; ++a) {
        const Cell& c = indices[a].cells[broadcast_from(indices[a].sizes, common, i)];
        base = element(base, c, whole[a]);
      }
      for (int64_t k = 0; k < count(inner); ++k) {
        p.offsets.push_back(base < 0 ? -1 : base * count(inner) + k);
      }
    }
    return p;
  }

  static int64_t element(int64_t base, const Cell& index, int64_t size) {
    if (index.state == Cell::State::Invalid) return -1;
    const auto i = index.defined() ? static_cast<int64_t>(as_int(index.value)) : int64_t{-1};
    if (0 <= i && i < size) return base * size + i;
    ADD_FAILURE() << "index " << i << " of an axis of " << size;
    return -1;
  }

  // Values
  Tensor value(Ref u) {
    const auto known = values_.find(u);
    if (known != values_.end() && known->second.first == epoch_) return known->second.second;
    Tensor t = computed(u);
    values_[u] = {epoch_, t};
    return t;
  }

  Tensor computed(Ref u) {
    if (is_scalar(u->op)) return scalar(u);
    switch (u->op) {
      case Op::Const: return {{}, {Cell::of(u->value())}};
      case Op::Invalid: return {{}, {Cell{Cell::State::Invalid, {}}}};
      case Op::Variable:
      case Op::Range:
      case Op::Special: return {{}, {Cell::of(uop::of_int(u->dtype, leaf(u)))}};
      case Op::Stack: return stack(u);
      case Op::Reshape: return {sizes_of(u), value(u->src[0]).cells};
      case Op::Expand:
      case Op::Permute: return moved(u);
      case Op::Reduce: return reduce(u);
      case Op::Stage: return stage(u);
      case Op::Index:
        if (!is_state(u->src[0])) return indexed(u);
        [[fallthrough]];
      case Op::After:
      case Op::Buffer:
      case Op::Param: return read(u);
      default: ADD_FAILURE() << to_text(u->op) << " is no value"; return {{}, {Cell{}}};
    }
  }

  int64_t leaf(Ref u) {
    if (u->op == Op::Range) {
      EXPECT_TRUE(env_.contains(u)) << "range " << u->arg.number() << " outside of its loop";
      return env_[u];
    }
    const std::string name(u->arg.name());
    if (u->op == Op::Special) {
      return (name[0] == 'g' ? group_ : item_)[static_cast<size_t>(name[4] - '0')];
    }
    const auto found = std::ranges::find(variables_, name, &std::pair<std::string, int64_t>::first);
    EXPECT_NE(found, variables_.end()) << name;
    return found->second;
  }

  static std::vector<int64_t> joined(std::span<const int64_t> a, std::span<const int64_t> b) {
    if (a.size() < b.size()) std::swap(a, b);
    std::vector<int64_t> sizes(a.begin(), a.end());
    for (size_t i = 1; i <= b.size(); ++i) {
      int64_t& size = sizes[sizes.size() - i];
      if (size == 1) size = b[b.size() - i];
      EXPECT_TRUE(b[b.size() - i] == size || b[b.size() - i] == 1) << "shapes do not broadcast";
    }
    return sizes;
  }

  // Which element of a tensor of sizes `from` stands at element i of `to`.
  static size_t broadcast_from(std::span<const int64_t> from, std::span<const int64_t> to,
                               int64_t i) {
    int64_t at = 0;
    int64_t stride = 1;
    for (size_t k = 1; k <= to.size(); ++k) {
      const int64_t size = to[to.size() - k];
      if (k <= from.size()) {
        const int64_t own = from[from.size() - k];
        if (own != 1) at += i % size * stride;
        stride *= own;
      }
      i /= size;
    }
    return static_cast<size_t>(at);
  }

  Tensor scalar(Ref u) {
    std::vector<Tensor> sources;
    Tensor t;
    for (const Ref s : u->src) sources.push_back(value(s));
    for (const Tensor& s : sources) t.sizes = joined(t.sizes, s.sizes);
    for (int64_t i = 0; i < count(t.sizes); ++i) {
      Cells operands;
      for (const Tensor& s : sources)
        operands.push_back(s.cells[broadcast_from(s.sizes, t.sizes, i)]);
      t.cells.push_back(applied(u, operands));
    }
    return t;
  }

  static Cell applied(Ref u, const Cells& operands) {
    if (u->op == Op::Where && operands[0].defined()) {
      return operands[operands[0].value.bits != 0 ? 1 : 2];
    }
    std::vector<uop::Value> values;
    Cell bad = Cell::of({});
    for (const Cell& c : operands) {
      if (c.state == Cell::State::Invalid) return c;
      if (!c.defined()) bad = c;
      values.push_back(c.value);
    }
    if (!bad.defined()) return bad;
    const std::optional<uop::Value> v = uop::eval(u->op, u->dtype, values);
    return v ? Cell::of(*v) : Cell{};
  }

  Tensor stack(Ref u) {
    Tensor t = {sizes_of(u), {}};
    const std::vector<int64_t> inner(t.sizes.begin() + 1, t.sizes.end());
    for (const Ref s : u->src) {
      const Tensor part = value(s);
      for (int64_t i = 0; i < count(inner); ++i) {
        t.cells.push_back(part.cells[broadcast_from(part.sizes, inner, i)]);
      }
    }
    return t;
  }

  Tensor moved(Ref u) {
    const Tensor x = value(u->src[0]);
    Tensor t = {sizes_of(u), {}};
    for (int64_t i = 0; i < count(t.sizes); ++i) {
      t.cells.push_back(x.cells[u->op == Op::Expand ? broadcast_from(x.sizes, t.sizes, i)
                                                    : permuted_from(u, x.sizes, t.sizes, i)]);
    }
    return t;
  }

  static size_t permuted_from(Ref u, std::span<const int64_t> from, std::span<const int64_t> to,
                              int64_t i) {
    std::vector<int64_t> at(from.size());
    for (size_t k = to.size(); k-- > 0; i /= to[k]) {
      at[static_cast<size_t>(u->arg.numbers()[k])] = i % to[k];
    }
    int64_t flat = 0;
    for (size_t k = 0; k < from.size(); ++k) flat = flat * from[k] + at[k];
    return static_cast<size_t>(flat);
  }

  // INVALID is the unit.
  Tensor reduce(Ref u) {
    const Cell unit = Cell::of(uop::unit_of(u->arg.fold_op(), u->dtype));
    Tensor t = {sizes_of(u), {}};
    t.cells.assign(static_cast<size_t>(count(t.sizes)), unit);
    loop(u->src.subspan(1), [&] {
      const Tensor x = value(u->src[0]);
      for (size_t i = 0; i < x.cells.size(); ++i) {
        Cell& to = t.cells[i % t.cells.size()];
        const bool is_invalid = x.cells[i].state == Cell::State::Invalid;
        const Cells pair = {to, is_invalid ? unit : x.cells[i]};
        to = folded(u, pair);
      }
    });
    return t;
  }

  static Cell folded(Ref u, const Cells& pair) {
    for (const Cell& c : pair) {
      if (!c.defined()) return c;
    }
    const uop::Value values[] = {pair[0].value, pair[1].value};
    return Cell::of(uop::eval(u->arg.fold_op(), u->dtype, values).value());
  }

  Tensor stage(Ref u) {
    Tensor t = {sizes_of(u), {}};
    loop(u->src.subspan(1), [&] {
      const Tensor part = value(u->src[0]);
      t.cells.insert(t.cells.end(), part.cells.begin(), part.cells.end());
    });
    return t;
  }

  // INDEX of a value by constants.
  Tensor indexed(Ref u) {
    const Tensor x = value(u->src[0]);
    const size_t taken = u->src.size() - 1;
    Tensor t = {{x.sizes.begin() + static_cast<std::ptrdiff_t>(taken), x.sizes.end()}, {}};
    std::vector<Tensor> indices;
    for (const Ref i : u->src.subspan(1)) indices.push_back(value(i));
    std::vector<int64_t> common;
    for (const Tensor& i : indices) common = joined(common, i.sizes);
    const std::vector<int64_t> inner = t.sizes;
    t.sizes = common;
    t.sizes.insert(t.sizes.end(), inner.begin(), inner.end());
    for (int64_t i = 0; i < count(common); ++i) {
      int64_t base = 0;
      for (size_t a = 0; a < taken && base >= 0; ++a) {
        base = element(base, indices[a].cells[broadcast_from(indices[a].sizes, common, i)],
                       x.sizes[a]);
      }
      for (int64_t k = 0; k < count(inner); ++k) {
        const bool is_there = base >= 0;
        t.cells.push_back(is_there ? x.cells[static_cast<size_t>(base * count(inner) + k)]
                                   : Cell{Cell::State::Invalid, {}});
      }
    }
    return t;
  }

  Tensor read(Ref u) {
    const Place from = place(u);
    Tensor t = {from.sizes, {}};
    for (const int64_t offset : from.offsets) {
      const bool is_read = offset >= 0;
      t.cells.push_back(is_read ? (*from.storage)[static_cast<size_t>(offset)]
                                : Cell{Cell::State::Invalid, {}});
      EXPECT_NE(t.cells.back().state, Cell::State::Unspecified) << "read before it is stored";
    }
    return t;
  }

  uop::Graph& g_;
  Variables variables_;
  std::map<int64_t, Cells> params_;
  Launch launch_;
  Position group_ = {};
  Position item_ = {};
  int64_t item_id_ = 0;
  uint64_t epoch_ = 0;  // grows with all that values depend on
  std::map<Ref, int64_t> env_;
  std::map<std::pair<Ref, int64_t>, Cells> memory_;  // LOCAL of the group (-1), REG of an item
  std::map<Ref, std::map<int64_t, int>> stored_;     // how often each element was
  std::map<std::pair<Ref, int64_t>, std::vector<int64_t>> last_;
  std::map<Ref, std::pair<uint64_t, Tensor>> values_;
};

}  // namespace assay::codegen
