#include "props/firings/tensor_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "engine/uop/bounds.h"
#include "engine/uop/refines.h"
#include "engine/uop/sample.h"
#include "engine/uop/shape.h"
#include "engine/uop/walk.h"
#include "oracles/interpreter/interpreter.h"
#include "oracles/interpreter/poison.h"
#include "props/firings/elements.h"

namespace assay::props {
namespace {

using interpreter::Elements;
using interpreter::Variables;
using uop::Arg;
using uop::DType;
using uop::Graph;
using uop::Op;
using uop::OpSet;
using uop::Ref;
using uop::Value;

constexpr int kInputs = 3;
constexpr uint64_t kDraws = 64;  // of values for which the first side has a meaning
constexpr int64_t kMostElements = int64_t{1} << 22;  // of one buffer
// Sizes, devices and loops, which are no tensors.
constexpr OpSet kNoTensor = {Op::Const, Op::Device, Op::Variable, Op::Range, Op::Bind, Op::Invalid};

// The state that a STORE writes to.
Ref stored_state(Ref store) {
  Ref state = store->src[0];
  while (uop::is_movement(state->op) || state->op == Op::Bitcast) state = state->src[0];
  return state;
}

bool stores_nothing(Graph& g, Ref u) {
  return u->op == Op::Store && uop::constant_size(uop::shape(g, u->src[0])) == 0;
}

// The same without STOREs of no elements: what they name need be no view of the state any more.
Ref without_empty_stores(Graph& g, Ref root) {
  std::unordered_map<Ref, Ref> done;
  for (const Ref u : uop::toposort(g, root)) {
    std::vector<Ref> sources;
    for (const Ref s : u->src) {
      if (u->op != Op::After || !stores_nothing(g, s)) sources.push_back(done.at(s));
    }
    const bool is_itself = u->op == Op::After && sources.size() == 1;
    done[u] = is_itself ? sources[0] : g.with_sources(u, sources);
  }
  return done.at(root);
}

// Both sides in a graph of their own, over BUFFERs.
class TensorPair {
 public:
  TensorPair(Graph& from, Ref before, Ref after) {
    sides_ = {uop::copy_to(g_, from, before), uop::copy_to(g_, from, after)};
    for (Ref& side : sides_) {
      if (side->op != Op::Store) continue;
      const Ref state = stored_state(side);
      side = g_.make(Op::After, state->dtype, {state, side});
    }
    for (Ref& side : sides_) side = without_empty_stores(g_, side);
    all_over_buffers();
  }

  Graph& graph() { return g_; }
  std::span<const Ref> sides() const { return sides_; }
  bool has_variables() {
    const std::vector<Ref> nodes = uop::toposort(g_, sides_[0]);
    return std::any_of(nodes.begin(), nodes.end(), [](Ref u) { return u->op == Op::Variable; });
  }
  // What both sides share becomes storage; whether there is any.
  bool generalize();

 private:
  static bool is_tensor(Ref u) {
    return u->dtype != DType::Void && u->dtype != DType::Index && !kNoTensor.has(u->op);
  }
  Ref storage(DType t, std::span<const Ref> sizes) {
    return g_.make(Op::Buffer, t, sizes, Arg::place(next_++, uop::AddrSpace::Global));
  }
  void all_over_buffers();
  void tell_apart();
  void replace(const uop::Substitution& map) {
    for (Ref& side : sides_) side = uop::substitute(g_, side, map);
  }

  Graph g_;
  std::vector<Ref> sides_;
  int32_t next_ = 0;
};

void TensorPair::all_over_buffers() {
  uop::Substitution map;
  std::vector<Ref> params;
  for (const Ref side : sides_) {
    for (const Ref u : uop::toposort(g_, side, uop::Extent::OutsideBodies)) {
      if (u->op == Op::Buffer) next_ = std::max(next_, static_cast<int32_t>(u->arg.number()) + 1);
      if (u->op == Op::Param) params.push_back(u);
    }
  }
  for (const Ref u : params) {
    if (!map.contains(u)) map[u] = storage(u->dtype, u->src);
  }
  for (Ref& side : sides_) side = uop::substitute(g_, side, map, uop::Extent::OutsideBodies);
  tell_apart();
}

// Storage of one side's own may have the number that other storage of the other side has.
void TensorPair::tell_apart() {
  std::unordered_map<int64_t, Ref> by_number;
  for (Ref& side : sides_) {
    uop::Substitution map;
    for (const Ref u : uop::toposort(g_, side, uop::Extent::OutsideBodies)) {
      if (u->op != Op::Buffer) continue;
      const auto [known, is_new] = by_number.try_emplace(u->arg.number(), u);
      if (known->second != u) map[u] = storage(u->dtype, u->src);
    }
    side = uop::substitute(g_, side, map, uop::Extent::OutsideBodies);
  }
}

bool TensorPair::generalize() {
  const std::vector<Ref> left = uop::toposort(g_, sides_[0], uop::Extent::OutsideBodies);
  const std::unordered_set<Ref> mine(left.begin(), left.end());
  std::vector<Ref> shared;
  bool is_more = false;
  // A term over the ranges of a STAGE is no tensor, and neither is what stands in a CALL.
  std::unordered_set<Ref> open;
  for (const Ref u : uop::toposort(g_, sides_[1], uop::Extent::OutsideBodies)) {
    bool is_open = u->op == Op::Range;
    if (u->op != Op::Stage) {
      for (const Ref s : u->src) is_open = is_open || open.contains(s);
    }
    if (is_open) open.insert(u);
    if (is_open || !is_tensor(u) || !mine.contains(u)) continue;
    shared.push_back(u);
    is_more = is_more || u->op != Op::Buffer;
  }
  if (!is_more) return false;
  uop::Substitution map;
  for (const Ref u : shared) {
    if (u->op == Op::Buffer) continue;
    const uop::Shape shape = uop::shape(g_, u);
    map[u] = storage(u->dtype, shape);
  }
  replace(map);
  return true;
}

// Small whole numbers, rarer in larger buffers of narrow floats, so that sums stay exact.
void fill(DType t, std::span<std::byte> bytes, uop::Random& random) {
  const auto width = static_cast<size_t>(uop::bytes_of(t));
  const size_t count = bytes.size() / width;
  const bool is_narrow = uop::is_float(t) && uop::bits_of(t) < 32;
  const uint64_t rarity = is_narrow ? 1 + count / 64 : 1;
  const bool is_signed = uop::is_float(t) || uop::kind_of(t) == uop::Kind::Signed;
  for (size_t i = 0; i < count; i++) {
    const bool is_zero = !random.once_in(rarity);
    Value v = uop::of_int(t, is_zero ? 0 : random.between(is_signed ? -4 : 0, 4));
    if (!uop::is_float(t) && t != DType::Bool && random.once_in(8)) v = uop::any_value(random, t);
    std::memcpy(&bytes[i * width], &v.bits, width);
  }
}

Rounding rounding_of(Graph& g, std::span<const Ref> sides) {
  Rounding r;
  for (const Ref side : sides) {
    for (const Ref u : uop::toposort(g, side, uop::Extent::OutsideBodies)) {
      const bool folds = u->op == Op::Reduce && uop::is_float(u->dtype);
      if (folds && u->arg.fold_op() != Op::Max && u->arg.fold_op() != Op::Min) {
        r.units = std::max(r.units, 64.0);
      }
    }
  }
  return r;
}

// Fills what both sides read; why that cannot be.
std::string give_inputs(TensorPair& pair, uop::Random& random, Variables& variables,
                        interpreter::Memory& memory) {
  Graph& g = pair.graph();
  for (const Ref side : pair.sides()) {
    for (const Ref u : uop::toposort(g, side)) {
      if (u->op == Op::Variable && !variables.contains(u->arg.name())) {
        const uop::Bounds b = uop::bounds(g, u);
        const uop::Int128 hi = std::min(b.hi, b.lo + 7);
        variables[std::string(u->arg.name())] =
            static_cast<int64_t>(random.between(b.lo, std::max(b.lo, hi)));
      }
      if (u->op != Op::Buffer || memory.has(u->arg.number())) continue;
      const auto largest = uop::max_shape(g, uop::shape(g, u));
      const auto count = largest ? uop::constant_size(*largest) : std::nullopt;
      if (!count || *count > kMostElements) return "too large to interpret";
      fill(u->dtype, memory.of(g, u), random);
    }
  }
  return "";
}

Outcome not_run(std::string why) {
  return {{Answer::Unknown, Strength::Sampled, std::move(why)}, "not run"};
}

bool is_not_run(const Outcome& outcome) { return outcome.method == "not run"; }

// Evaluates both sides on one input. Not all values that variables may have make sense together, so
// the first side says which are an input.
Outcome run_once(TensorPair& pair, uint64_t seed) {
  Graph& g = pair.graph();
  uop::Random random(seed);
  Variables variables;
  interpreter::Memory memory;
  std::string trouble = give_inputs(pair, random, variables, memory);
  if (!trouble.empty()) return not_run(std::move(trouble));
  const auto elements_of = [&](size_t side) -> Result<Elements> {
    ASSAY_TRY(all, interpreter::evaluate(g, pair.sides().subspan(side, 1), variables, memory));
    return std::move(all[0]);
  };
  const Result<Elements> first = elements_of(0);
  if (!first.ok()) return not_run(to_string(first.error()));
  const Rounding rounding = rounding_of(g, pair.sides());
  const bool is_open = interpreter::may_lack_value(g, pair.sides()[1]);
  // What the second side leaves open and the first does not is seen with other poison.
  for (int poison = 0; poison < (is_open ? 2 : 1); poison++) {
    Result<Elements> second = Error{"not run"};
    {
      const interpreter::PoisonScope scope(poison);
      second = elements_of(1);
    }
    if (!second.ok()) {
      const std::string why = "the second cannot be run: " + to_string(second.error());
      if (!interpreter::is_fault(second.error())) return not_run(why);
      return {{Answer::Fail, Strength::Sampled, why}, "execution"};
    }
    const Difference d =
        difference_of(first.value(), second.value(), rounding, [&] { return elements_of(0); });
    if (d.answer == Answer::Unknown) return not_run(d.text);
    if (d.answer == Answer::Fail) return {{d.answer, Strength::Sampled, d.text}, "execution"};
  }
  return {{Answer::Pass, Strength::Sampled, ""}, "execution"};
}

Outcome run_all(TensorPair& pair, uint64_t seed) {
  for (uint64_t i = 0; i < kInputs; i++) {
    Outcome ran = run_once(pair, seed + i);
    for (uint64_t draw = 1; draw < kDraws && pair.has_variables() && is_not_run(ran); draw++) {
      ran = run_once(pair, seed + i + draw * kInputs);
    }
    if (ran.verdict.answer != Answer::Pass) return ran;
  }
  return {{Answer::Pass, Strength::Sampled, fmt::format("{} inputs", kInputs)}, "execution"};
}

}  // namespace

Outcome judge_tensors(Graph& g, Ref before, Ref after, Context& context) {
  TensorPair general(g, before, after);
  if (general.generalize()) {
    Outcome ran = run_all(general, context.seed);
    if (ran.verdict.answer == Answer::Pass) return ran;
  }
  TensorPair pair(g, before, after);
  return run_all(pair, context.seed);
}

}  // namespace assay::props
