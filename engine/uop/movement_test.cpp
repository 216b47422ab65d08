// Rules of movement on random chains of movements, judged by where every element comes from.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "engine/uop/dim.h"
#include "engine/uop/elements.h"
#include "engine/uop/rewrite.h"
#include "engine/uop/rules/rules.h"
#include "engine/uop/shape.h"

namespace assay::uop {
namespace {

int64_t number(Ref u) { return static_cast<int64_t>(as_int(u->value())); }

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
  for (int64_t factor = 2; factor < 7 && sizes.size() < 3; factor++) {
    if (elements % factor != 0 || draws.below(2) == 0) continue;
    sizes.push_back(dim(g, factor));
    elements /= factor;
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
      return reshape(g, x, other_shape(g, draws, constant_size(sizes).value_or(0)));
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
    if (constant_size(shape(g, x)).value_or(0) > 200) break;
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
    if (elements_of(g, before) != elements_of(g, after)) return false;
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
