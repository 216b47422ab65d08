// Rules of movement, judged by where every element comes from: an evaluation of shapes that shares
// nothing with the rules.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "engine/uop/dim.h"
#include "engine/uop/rewrite.h"
#include "engine/uop/rules/rules.h"
#include "engine/uop/shape.h"
#include "engine/uop/walk.h"

namespace assay::uop {
namespace {

using Sizes = std::vector<int64_t>;

// A tensor: its sizes, and its elements in row-major order. Element i of the source is i + 1; what
// a pad adds is 0.
struct Tensor {
  Sizes sizes;
  std::vector<int64_t> elements;
  bool operator==(const Tensor&) const = default;
};

int64_t count(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

int64_t number(Ref u) { return static_cast<int64_t>(as_int(u->value())); }

// The coordinates of an element.
Sizes coordinates(const Sizes& sizes, int64_t flat) {
  Sizes at(sizes.size());
  for (size_t i = sizes.size(); i-- > 0; flat /= sizes[i]) at[i] = flat % sizes[i];
  return at;
}

// The element at these coordinates, 0 outside.
int64_t element(const Tensor& x, const Sizes& at) {
  int64_t flat = 0;
  for (size_t i = 0; i < at.size(); i++) {
    if (at[i] < 0 || at[i] >= x.sizes[i]) return 0;
    flat = flat * x.sizes[i] + at[i];
  }
  return x.elements[static_cast<size_t>(flat)];
}

Sizes sizes_after(Ref u, const Sizes& in) {
  Sizes out = in;
  if (u->op == Op::Reshape || u->op == Op::Expand) {
    out.clear();
    for (const Ref size : u->src.subspan(1)) out.push_back(number(size));
  }
  for (size_t i = 0; i < out.size(); i++) {
    if (u->op == Op::Permute) out[i] = in[static_cast<size_t>(u->arg.numbers()[i])];
    if (u->op == Op::Pad) out[i] += number(u->src[2 * i + 1]) + number(u->src[2 * i + 2]);
    if (u->op == Op::Shrink) out[i] = number(u->src[2 * i + 2]);
  }
  return out;
}

// Where in the source the element at `at` comes from; reshapes go by the flat position instead.
Sizes source_of(Ref u, const Sizes& in, const Sizes& at) {
  Sizes from = at;
  if (u->op == Op::Expand)
    from.erase(from.begin(), from.begin() + static_cast<int64_t>(at.size() - in.size()));
  for (size_t i = 0; i < from.size(); i++) {
    if (u->op == Op::Expand && in[i] == 1) from[i] = 0;
    if (u->op == Op::Permute) from[static_cast<size_t>(u->arg.numbers()[i])] = at[i];
    if (u->op == Op::Pad) from[i] -= number(u->src[2 * i + 1]);
    if (u->op == Op::Shrink) from[i] += number(u->src[2 * i + 1]);
  }
  if (u->op == Op::Flip) {
    for (const int64_t axis : u->arg.numbers()) {
      from[static_cast<size_t>(axis)] =
          in[static_cast<size_t>(axis)] - 1 - at[static_cast<size_t>(axis)];
    }
  }
  return from;
}

Tensor moved(Ref u, const Tensor& x) {
  Tensor result = {sizes_after(u, x.sizes), {}};
  if (u->op == Op::Reshape) return {result.sizes, x.elements};
  for (int64_t i = 0; i < count(result.sizes); i++) {
    const Sizes at = coordinates(result.sizes, i);
    result.elements.push_back(element(x, source_of(u, x.sizes, at)));
  }
  return result;
}

Tensor evaluated(Graph& g, Ref root) {
  Tensor x;
  for (const Ref u : toposort(g, root)) {
    if (u->op == Op::Param) {
      for (const Ref size : u->src) x.sizes.push_back(number(size));
      x.elements.resize(static_cast<size_t>(count(x.sizes)));
      std::iota(x.elements.begin(), x.elements.end(), 1);
    } else if (is_movement(u->op)) {
      x = moved(u, x);
    }
  }
  return x;
}

class Draws {
 public:
  explicit Draws(uint64_t seed) : state_(seed * 2 + 1) {}
  int64_t below(int64_t end) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<int64_t>((state_ >> 33) % static_cast<uint64_t>(end));
  }

 private:
  uint64_t state_;
};

std::vector<int64_t> shuffled_axes(Draws& draws, size_t axes) {
  std::vector<int64_t> order(axes);
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = axes; i > 1; i--)
    std::swap(order[i - 1], order[static_cast<size_t>(draws.below(static_cast<int64_t>(i)))]);
  return order;
}

// Some shape of as many elements.
std::vector<Ref> other_shape(Graph& g, Draws& draws, int64_t elements) {
  std::vector<Ref> sizes;
  for (int64_t factor = 2; elements > 1 && sizes.size() < 3; factor++) {
    if (elements % factor != 0 || draws.below(2) == 0) continue;
    sizes.push_back(dim(g, factor));
    elements /= factor;
    if (factor > 6) break;
  }
  sizes.push_back(dim(g, elements));
  return sizes;
}

Ref random_movement(Graph& g, Draws& draws, Ref x, Op op) {
  const Shape sizes = shape(g, x);
  std::vector<Ref> out;
  switch (op) {
    case Op::Reshape:
      if (draws.below(4) == 0) return reshape(g, x, sizes);
      return reshape(g, x, other_shape(g, draws, *constant_size(sizes)));
    case Op::Expand:
      for (const Ref size : sizes)
        out.push_back(is_dim(size, 1) ? dim(g, 1 + draws.below(3)) : size);
      return expand(g, x, out);
    case Op::Permute: return permute(g, x, shuffled_axes(draws, sizes.size()));
    case Op::Flip: {
      std::vector<int64_t> axes = shuffled_axes(draws, sizes.size());
      axes.resize(static_cast<size_t>(draws.below(static_cast<int64_t>(axes.size()) + 1)));
      return flip(g, x, axes);
    }
    case Op::Pad:
      for (size_t i = 0; i < 2 * sizes.size(); i++)
        out.push_back(dim(g, draws.below(3) / 2 * draws.below(3)));
      return pad(g, x, out);
    default:
      for (const Ref size : sizes) {
        const int64_t kept = draws.below(3) == 0 ? number(size) : draws.below(number(size) + 1);
        const int64_t begin = draws.below(number(size) - kept + 1);
        out.push_back(dim(g, begin));
        out.push_back(dim(g, kept));
      }
      return shrink(g, x, out);
  }
}

// A shrink that takes a pad away again.
Ref undo_pad(Graph& g, Ref padded) {
  std::vector<Ref> out;
  const Shape sizes = shape(g, padded->src[0]);
  for (size_t i = 0; i < sizes.size(); i++) {
    out.push_back(padded->src[2 * i + 1]);
    out.push_back(sizes[i]);
  }
  return shrink(g, padded, out);
}

Ref random_chain(Graph& g, Draws& draws) {
  constexpr Op kOps[] = {Op::Reshape, Op::Expand, Op::Permute, Op::Flip, Op::Pad, Op::Shrink};
  std::vector<Ref> sizes;
  for (int64_t i = draws.below(3); i >= 0; i--) sizes.push_back(dim(g, 1 + draws.below(3)));
  Ref x = g.make(Op::Param, F32, sizes, Arg::number(0));
  Op op = kOps[draws.below(6)];
  for (int64_t i = 1 + draws.below(5); i > 0; i--) {
    if (*constant_size(shape(g, x)) > 200) break;
    if (draws.below(2) == 0) op = kOps[draws.below(6)];
    x = random_movement(g, draws, x, op);
    if (op == Op::Pad && draws.below(3) == 0) x = undo_pad(g, x);
  }
  return x;
}

class Counter : public Watch {
 public:
  using Watch::seen;
  void seen(const RuleSeen& seen) override { firings[std::string(seen.rule.name)]++; }
  std::map<std::string, int> firings;
};

// Whether every chain of `chains` has the same elements after the rules of movement.
bool keep_elements(const Switches& switches, Watch* watch, int chains) {
  const RuleSet* set = &movement_rules();
  for (int seed = 0; seed < chains; seed++) {
    Graph g;
    Draws draws(static_cast<uint64_t>(seed));
    const Ref before = random_chain(g, draws);
    Run run(g, switches, watch);
    const Ref after = run.rewrite({&set, 1}, before).value();
    if (evaluated(g, before) != evaluated(g, after)) return false;
    if (shape(g, before).data() != shape(g, after).data()) return false;
  }
  return true;
}

TEST(Movement, KeepsEveryElementWhereItWas) {
  Counter counter;
  EXPECT_TRUE(keep_elements({}, &counter, 4000));
  for (const Rule& rule : movement_rules().rules()) {
    EXPECT_GE(counter.firings[std::string(rule.name)], 50) << rule.name;
  }
}

TEST(Movement, LeavesIllFormedMovementsAlone) {
  Graph g;
  const Ref x = g.make(Op::Param, F32, dims(g, {2, 3}), Arg::number(0));
  const Ref wrong = reshape(g, x, dims(g, {7}));
  const Ref again = reshape(g, wrong, dims(g, {2, 3}));
  const RuleSet* set = &movement_rules();
  uop::Run run(g);
  EXPECT_EQ(run.rewrite({&set, 1}, again).value(), again);
}

TEST(Movement, ComparesSymbolicSizes) {
  Graph g;
  const Ref n = g.variable("n", of_int(Index, 1), of_int(Index, 16));
  const Ref three = dim(g, 3);
  const Ref x = g.make(Op::Param, F32, {n, three}, Arg::number(0));
  const std::vector<Ref> flat = {dim_mul(g, n, three)};
  const Ref back = reshape(g, reshape(g, x, flat), shape(g, x));
  const RuleSet* set = &movement_rules();
  uop::Run run(g);
  EXPECT_EQ(run.rewrite({&set, 1}, back).value(), x);
}

// Faults planted in each rule, in the place of the rule they are named for.
Ref to_source(Run&, Ref u) { return u->src[0]; }
Ref skip_inner(Run& run, Ref u) {
  if (u->src[0]->op != u->op) return nullptr;
  std::vector<Ref> sources(u->src.begin(), u->src.end());
  sources[0] = u->src[0]->src[0];
  return run.graph().with_sources(u, sources);
}
Ref source_of_pad(Run&, Ref u) { return u->src[0]->op == Op::Pad ? u->src[0]->src[0] : nullptr; }

TEST(Movement, IsSeenToFailOnPlantedFaults) {
  const OpSet permutations = {Op::Permute};
  const RuleSet faults[] = {
      {"movement", {by("no_movement", kScalars, {Op::Flip, Op::Pad}, to_source, "a fault")}},
      {"movement", {by("permute_of_permute", kScalars, permutations, skip_inner, "a fault")}},
      {"movement", {by("flip_of_flip", kScalars, {Op::Flip}, skip_inner, "a fault")}},
      {"movement", {by("pad_of_pad", kScalars, {Op::Pad}, skip_inner, "a fault")}},
      {"movement", {by("shrink_of_shrink", kScalars, {Op::Shrink}, skip_inner, "a fault")}},
      {"movement", {by("shrink_of_pad", kScalars, {Op::Shrink}, source_of_pad, "a fault")}},
  };
  for (const RuleSet& fault : faults) {
    Switches switches;
    switches.substitutes = {&fault};
    EXPECT_FALSE(keep_elements(switches, nullptr, 4000)) << fault.rules()[0].name;
  }
}

}  // namespace
}  // namespace assay::uop
