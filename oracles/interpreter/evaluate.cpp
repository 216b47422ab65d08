#include <algorithm>

#include "oracles/interpreter/arguments.h"
#include "oracles/interpreter/call.h"
#include "oracles/interpreter/demand.h"
#include "oracles/interpreter/interpreter.h"
#include "oracles/interpreter/sizes.h"
#include "oracles/interpreter/state.h"
#include "oracles/interpreter/tensor_ops.h"

namespace assay::interpreter {
namespace {

using uop::Op;
using uop::Ref;

class Evaluation {
 public:
  Evaluation(uop::Graph& g, Demand demand, const Variables& variables, Memory& memory,
             std::span<const Ref> arguments)
      : graph_(g),
        demand_(std::move(demand)),
        variables_(variables),
        memory_(memory),
        arguments_(arguments),
        kernels_(g, variables),
        cells_(demand_.nodes.size()),
        dying_(demand_.nodes.size() + 1, -1),
        next_dying_(demand_.nodes.size(), -1) {}

  Result<bool> run();
  Elements elements(Ref root);

 private:
  struct Cell {
    Tensor value;
    std::span<std::byte> state;
    std::vector<std::byte> own;  // the bytes of a state that is not in memory
    int64_t buffer = -1;
    std::vector<int64_t> shape;  // of the state
  };
  // Tensors of a STAGE's term over its ranges, by place.
  using Term = std::unordered_map<size_t, Tensor>;

  Cell& cell(Ref u) { return cells_[demand_.place(u)]; }
  bool wants(Ref u, uint8_t what) const { return (demand_.wants[demand_.place(u)] & what) != 0; }
  Result<bool> compute(Ref u);
  Result<Tensor> value(Ref u, const Term& term);
  Result<std::vector<int64_t>> sizes(Ref u, size_t first);
  Tensor source(Ref u, const Term& term);
  Tensor single(DType t, Slot s);
  Result<Tensor> stage(Ref u);
  std::vector<size_t> inside(Ref term) const;
  Result<Tensor> range(Ref r, std::span<const Ref> ranges, int64_t count);
  Result<Tensor> part(Ref t, const Term& term);

  Result<bool> storage(Ref u);
  Result<bool> version(Ref u);
  Result<bool> store(Ref after, Ref effect);
  Result<bool> call(Ref after, Ref effect);
  void bury(size_t place);

  uop::Graph& graph_;
  Demand demand_;
  const Variables& variables_;
  Memory& memory_;
  std::span<const Ref> arguments_;
  Kernels kernels_;
  Blocks blocks_;
  std::vector<Cell> cells_;  // by place
  std::vector<int> dying_;   // by place of the last user: the first of a list
  std::vector<int> next_dying_;
};

Result<bool> Evaluation::run() {
  for (size_t i = 0; i < demand_.nodes.size(); i++) {
    const Ref u = demand_.nodes[i];
    const bool wanted = (demand_.wants[i] & (Demand::kValue | Demand::kState)) != 0;
    if (wanted) {
      if (const auto computed = compute(u); !computed.ok()) return computed.error();
      const auto user = static_cast<size_t>(demand_.last_user[i]);
      next_dying_[i] = dying_[user];
      dying_[user] = static_cast<int>(i);
    }
    bury(i);
  }
  return true;
}

// Frees what nobody asks for after a place.
void Evaluation::bury(size_t place) {
  for (int i = dying_[place]; i >= 0; i = next_dying_[static_cast<size_t>(i)]) {
    Cell& dead = cells_[static_cast<size_t>(i)];
    if (dead.value.block >= 0) blocks_.drop(dead.value.block);
    dead = {};
  }
}

Result<bool> Evaluation::compute(Ref u) {
  const size_t before = blocks_.count();
  const bool is_state = u->op == Op::Buffer || u->op == Op::Param || u->op == Op::After;
  if (wants(u, Demand::kState) && !is_state)
    return Error{fmt::format("{} is no state", uop::to_text(u->op))};
  if (is_state) {
    if (const auto made = u->op == Op::After ? version(u) : storage(u); !made.ok()) return made;
  }
  if (!wants(u, Demand::kValue)) {
    blocks_.sweep(before);
    return true;
  }
  Cell& c = cell(u);
  if (is_state) {
    c.value = fresh(blocks_, u->dtype, c.shape);
    decode(u->dtype, c.state.data(), blocks_.at(c.value.block), c.value.size());
  } else {
    ASSAY_TRY(made, u->op == Op::Stage ? stage(u) : value(u, {}));
    c.value = std::move(made);
  }
  blocks_.keep(c.value.block);
  blocks_.sweep(before);
  return true;
}

Tensor Evaluation::single(DType t, Slot s) {
  Tensor made = fresh(blocks_, t, {});
  *blocks_.at(made.block) = s;
  return made;
}

Tensor Evaluation::source(Ref u, const Term& term) {
  const size_t place = demand_.place(u);
  const auto found = term.find(place);
  return found != term.end() ? found->second : cells_[place].value;
}

Result<std::vector<int64_t>> Evaluation::sizes(Ref u, size_t first) {
  std::vector<int64_t> list;
  for (const Ref s : u->src.subspan(std::min(first, u->src.size()))) {
    if (s->op == Op::Device) continue;
    if (uop::is_const(s)) {
      list.push_back(static_cast<int64_t>(s->arg.bits));
      continue;
    }
    const Tensor& value = cell(s).value;
    if (value.block < 0 || value.size() != 1)
      return Error{fmt::format("{} as a size", uop::to_text(s->op))};
    list.push_back(static_cast<int64_t>(*value.from(blocks_)));
  }
  return list;
}

Result<Tensor> Evaluation::value(Ref u, const Term& term) {
  switch (u->op) {
    case Op::Const: return single(u->dtype, constant_slot(u));
    case Op::Invalid: return single(u->dtype, poison(u->dtype));
    case Op::Variable:
    case Op::Bind: {
      ASSAY_TRY(slot, variable_value(u, variables_));
      return single(u->dtype, slot);
    }
    case Op::Copy:
    case Op::Contiguous: return source(u->src[0], term);
    case Op::Bitcast: return apply_bitcast(blocks_, u, source(u->src[0], term));
    case Op::Reduce: return apply_reduce(blocks_, u, source(u->src[0], term));
    default: break;
  }
  if (uop::is_movement(u->op)) {
    ASSAY_TRY(list, sizes(u, 1));
    return apply_movement(blocks_, u, source(u->src[0], term), std::move(list));
  }
  if (!uop::is_scalar(u->op) && u->op != Op::Stack) {
    return Error{fmt::format("{} is no value of a tensor graph", uop::to_text(u->op))};
  }
  std::vector<Tensor> sources;
  for (const Ref s : u->src) sources.push_back(source(s, term));
  if (u->op == Op::Stack) return apply_stack(blocks_, u, sources);
  return apply_scalar(blocks_, u, sources);
}

// The places of the nodes of a term that depend on its ranges, sources before users.
std::vector<size_t> Evaluation::inside(Ref term) const {
  std::vector<size_t> places;
  std::vector<Ref> todo = {term};
  std::vector<bool> seen(demand_.nodes.size(), false);
  while (!todo.empty()) {
    const Ref t = todo.back();
    todo.pop_back();
    const size_t place = demand_.place(t);
    if (seen[place] || !demand_.open[place]) continue;
    seen[place] = true;
    places.push_back(place);
    todo.insert(todo.end(), t->src.begin(), t->src.end());
  }
  std::sort(places.begin(), places.end());
  return places;
}

// A range varies along its own axis of its stage alone.
Result<Tensor> Evaluation::range(Ref r, std::span<const Ref> ranges, int64_t count) {
  const auto found = std::find(ranges.begin(), ranges.end(), r);
  if (found == ranges.end()) {
    return Error{fmt::format("range {} is not its stage's", r->arg.number())};
  }
  std::vector<int64_t> shape(ranges.size(), 1);
  shape[static_cast<size_t>(found - ranges.begin())] = count;
  Tensor made = fresh(blocks_, r->dtype, std::move(shape));
  Slot* out = blocks_.at(made.block);
  for (int64_t i = 0; i < count; i++) out[i] = wrapped(static_cast<Slot>(i), r->dtype);
  return made;
}

Result<Tensor> Evaluation::part(Ref t, const Term& term) {
  if (!uop::is_scalar(t->op)) {
    return Error{fmt::format("{} over the ranges of a stage", uop::to_text(t->op))};
  }
  for (const Ref s : t->src) {
    const bool outside = !demand_.open[demand_.place(s)];
    if (outside && !cell(s).value.shape.empty()) return Error{"a tensor in the term of a stage"};
  }
  return value(t, term);
}

// The term's nodes are tensors with an axis for each range; the rest follows by broadcasting.
Result<Tensor> Evaluation::stage(Ref u) {
  const auto ranges = u->src.subspan(1);
  std::vector<int64_t> counts;
  Term term;
  for (const Ref r : ranges) {
    ASSAY_TRY(count, sizes(r, 0));
    counts.push_back(count[0]);
  }
  for (const size_t place : inside(u->src[0])) {
    const Ref t = demand_.nodes[place];
    if (t->op == Op::Range) {
      ASSAY_TRY(count, sizes(t, 0));
      ASSAY_TRY(made, range(t, ranges, count[0]));
      term.emplace(place, std::move(made));
    } else {
      ASSAY_TRY(made, part(t, term));
      term.emplace(place, std::move(made));
    }
  }
  Tensor x = source(u->src[0], term);
  // What depends on no range has an axis for each all the same, before its own.
  if (!demand_.open[demand_.place(u->src[0])]) {
    counts.insert(counts.end(), x.shape.begin(), x.shape.end());
  }
  if (!can_expand(x, counts)) {
    return Error{fmt::format("stage of {} over {}", shape_text(x.shape), shape_text(counts))};
  }
  return expanded(x, std::move(counts));
}

Result<bool> Evaluation::storage(Ref u) {
  Cell& c = cell(u);
  ASSAY_TRY(shape, sizes(u, 0));
  ASSAY_TRY(argument, argument_of(graph_, u, arguments_, variables_, memory_));
  c.shape = std::move(shape);
  int64_t count = 1;
  for (const int64_t s : c.shape) count *= s;
  if (argument.dtype != u->dtype || count > argument.size) {
    return Error{fmt::format("buffer {} holds {} {}, not {} {}", argument.buffer, argument.size,
                             uop::to_text(argument.dtype), shape_text(c.shape),
                             uop::to_text(u->dtype))};
  }
  c.state = argument.bytes;
  c.buffer = argument.buffer;
  return true;
}

Result<bool> Evaluation::version(Ref u) {
  Cell& c = cell(u);
  const Cell& before = cell(u->src[0]);
  c.own.assign(before.state.begin(), before.state.end());
  c.state = c.own;
  c.buffer = before.buffer;
  c.shape = before.shape;
  for (const Ref effect : u->src.subspan(1)) {
    const auto done = effect->op == Op::Call ? call(u, effect) : store(u, effect);
    if (!done.ok()) return done;
  }
  return true;
}

Result<bool> Evaluation::store(Ref after, Ref effect) {
  Cell& c = cell(after);
  std::vector<Ref> chain;
  bool bytes = false;
  for (Ref v = effect->src[0]; v != after->src[0]; v = v->src[0]) {
    chain.push_back(v);
    bytes = bytes || uop::bytes_of(v->dtype) != uop::bytes_of(after->dtype);
  }
  const Tensor& x = cell(effect->src[1]).value;
  if (x.dtype != effect->src[0]->dtype) return Error{"a store of another type than its view"};
  View view(blocks_, after->dtype, c.shape, bytes);
  for (size_t i = chain.size(); i-- > 0;) {
    ASSAY_TRY(list, sizes(chain[i], 1));
    if (const auto seen = view.through(chain[i], std::move(list)); !seen.ok()) return seen;
  }
  if (x.shape != view.shape()) {
    return Error{fmt::format("a store of {} through a view of {}", shape_text(x.shape),
                             shape_text(view.shape()))};
  }
  view.store(x, c.state);
  return true;
}

// A kernel that makes a version: its first argument is the new one, the others are as they were.
Result<bool> Evaluation::call(Ref after, Ref effect) {
  std::vector<Argument> arguments;
  for (const Ref a : effect->src.subspan(1)) {
    if (a->op == Op::Bind || a->op == Op::Variable) continue;
    const bool written = arguments.empty();
    if (written && a != after->src[0])
      return Error{"a call that writes to another state than its version is made from"};
    const Cell& c = cell(written ? after : a);
    const int64_t size = static_cast<int64_t>(c.state.size()) / uop::bytes_of(a->dtype);
    arguments.push_back({c.state, a->dtype, size, false, c.buffer});
  }
  return run_body(graph_, effect->src[0], arguments, variables_, kernels_);
}

Elements Evaluation::elements(Ref root) {
  const Tensor x = dense(blocks_, cell(root).value);
  Elements made = {x.dtype, x.shape, {}};
  made.bytes.resize(static_cast<size_t>(x.size() * uop::bytes_of(x.dtype)));
  encode(x.dtype, x.from(blocks_), made.bytes.data(), x.size());
  return made;
}

}  // namespace

Result<std::vector<Elements>> evaluate(uop::Graph& g, std::span<const Ref> nodes,
                                       const Variables& variables, Memory& memory,
                                       std::span<const Ref> arguments) {
  ASSAY_TRY(demand, demand_of(nodes));
  Evaluation evaluation(g, std::move(demand), variables, memory, arguments);
  if (const auto done = evaluation.run(); !done.ok()) return done.error();
  std::vector<Elements> list;
  for (const Ref u : nodes) list.push_back(evaluation.elements(u));
  return list;
}

}  // namespace assay::interpreter
