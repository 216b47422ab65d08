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
    for (const Ref u : uop::toposort(g_, side, uop::Bodies::Outside)) {
      if (u->op == Op::Buffer) next_ = std::max(next_, static_cast<int32_t>(u->arg.number()) + 1);
      if (u->op == Op::Param) params.push_back(u);
    }
  }
  for (const Ref u : params) {
    if (!map.contains(u)) map[u] = storage(u->dtype, u->src);
  }
  for (Ref& side : sides_) side = uop::substitute(g_, side, map, uop::Bodies::Outside);
}

bool TensorPair::generalize() {
  const std::vector<Ref> left = uop::toposort(g_, sides_[0], uop::Bodies::Outside);
  const std::unordered_set<Ref> mine(left.begin(), left.end());
  std::vector<Ref> shared;
  bool is_more = false;
  // A term over the ranges of a STAGE is no tensor, and neither is what stands in a CALL.
  std::unordered_set<Ref> open;
  for (const Ref u : uop::toposort(g_, sides_[1], uop::Bodies::Outside)) {
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
    for (const Ref u : uop::toposort(g, side, uop::Bodies::Outside)) {
      r.undefined = r.undefined || u->op == Op::Invalid;
      const bool folds = u->op == Op::Reduce && uop::is_float(u->dtype);
      if (folds && u->arg.fold_op() != Op::Max && u->arg.fold_op() != Op::Min) {
        r.units = std::max(r.units, 64.0);
      }
    }
  }
  return r;
}

struct Ran {
  std::string trouble;     // why it could not be run
  std::string difference;  // "" where there is none
};

// Evaluates both sides on one input.
Ran run_once(TensorPair& pair, uint64_t seed) {
  Graph& g = pair.graph();
  uop::Random random(seed);
  Variables variables;
  interpreter::Memory memory;
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
      if (!count || *count > kMostElements) return {"too large to interpret", ""};
      fill(u->dtype, memory.of(g, u), random);
    }
  }
  const Result<std::vector<Elements>> first =
      interpreter::evaluate(g, pair.sides().subspan(0, 1), variables, memory);
  if (!first.ok()) return {to_string(first.error()), ""};
  const Result<std::vector<Elements>> second =
      interpreter::evaluate(g, pair.sides().subspan(1, 1), variables, memory);
  if (!second.ok()) return {"", "the second cannot be run: " + to_string(second.error())};
  const Rounding rounding = rounding_of(g, pair.sides());
  return {"", difference_of(first.value()[0], second.value()[0], rounding)};
}

Ran run_all(TensorPair& pair, uint64_t seed) {
  for (uint64_t i = 0; i < kInputs; i++) {
    Ran ran = run_once(pair, seed + i);
    if (!ran.trouble.empty() || !ran.difference.empty()) return ran;
  }
  return {};
}

}  // namespace

Outcome judge_tensors(Graph& g, Ref before, Ref after, Context& context) {
  const Verdict pass = {Answer::Pass, Strength::Sampled, fmt::format("{} inputs", kInputs)};
  TensorPair general(g, before, after);
  if (general.generalize()) {
    const Ran ran = run_all(general, context.seed);
    if (ran.trouble.empty() && ran.difference.empty()) return {pass, "execution"};
  }
  TensorPair pair(g, before, after);
  const Ran ran = run_all(pair, context.seed);
  if (!ran.trouble.empty()) return {{Answer::Unknown, Strength::Sampled, ran.trouble}, "not run"};
  if (ran.difference.empty()) return {pass, "execution"};
  return {{Answer::Fail, Strength::Sampled, ran.difference}, "execution"};
}

}  // namespace assay::props
