#include "engine/uop/key.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "engine/uop/walk.h"

namespace assay::uop {
namespace {

// How to make a node out of those made before it.
struct Step {
  int kind;
  int number;
  size_t a;
  size_t b;
};

// A recipe is made into a graph, or spelled out as a tree: equal texts are equal structures.
using Recipe = std::vector<Step>;

Recipe any_recipe(size_t most) {
  Recipe recipe;
  const size_t size = *rc::gen::inRange<size_t>(1, most);
  recipe.reserve(size);
  for (size_t i = 0; i < size; i++) {
    recipe.push_back({*rc::gen::inRange(0, 8), *rc::gen::inRange(0, 3),
                      *rc::gen::inRange<size_t>(0, 100), *rc::gen::inRange<size_t>(0, 100)});
  }
  return recipe;
}

constexpr std::string_view kNames[] = {"r2", "r10", "s"};

Ref make(Graph& g, const Step& s, const std::vector<Ref>& made) {
  if (made.empty() || s.kind == 0) return g.constant(Index, s.number);
  const Ref a = made[s.a % made.size()];
  const Ref b = made[s.b % made.size()];
  switch (s.kind) {
    case 1: return g.constant(I32, s.number);
    case 2: return g.variable(kNames[s.number], Index);
    case 3: return g.variable(kNames[s.number], of_int(Index, 0), of_int(Index, s.number));
    case 4: return g.make(Op::Add, Index, {a, b});
    case 5: return g.make(Op::Mul, Index, {a, b});
    case 6: return g.make(Op::Range, Index, {a}, Arg::axis(s.number, AxisType::Loop));
    default: return g.make(Op::Sink, Void, {a}, g.info(kNames[s.number], {}));
  }
}

std::string spell(const Step& s, const std::vector<std::string>& made) {
  std::string n = std::to_string(s.number);
  if (made.empty() || s.kind == 0) return n;
  const std::string& a = made[s.a % made.size()];
  const std::string& b = made[s.b % made.size()];
  std::string name(kNames[s.number]);
  switch (s.kind) {
    case 1: return n + ":i32";
    case 2: return name;
    case 3: return name + "<=" + n;
    case 4: return "(" + a + " + " + b + ")";
    case 5: return "(" + a + " * " + b + ")";
    case 6: return "loop" + n + "(" + a + ")";
    default: return name + "{" + a + "}";
  }
}

std::vector<Ref> make_all(Graph& g, const Recipe& recipe) {
  std::vector<Ref> made;
  made.reserve(recipe.size());
  for (const Step& s : recipe) made.push_back(make(g, s, made));
  return made;
}

std::vector<std::string> spell_all(const Recipe& recipe) {
  std::vector<std::string> made;
  made.reserve(recipe.size());
  for (const Step& s : recipe) made.push_back(spell(s, made));
  return made;
}

// x = x + x, `depth` times.
Ref doubled(Graph& g, Ref x, int depth) {
  for (int i = 0; i < depth; i++) x = g.make(Op::Add, x->dtype, {x, x});
  return x;
}

Ref sample(Graph& g) {
  const Ref x = g.variable("x", of_int(Index, 0), of_int(Index, 31));
  const Ref four = g.constant(Index, 4);
  const Ref quotient = g.make(Op::Div, Index, {x, four});
  const Ref rest = g.make(Op::Mod, Index, {x, four});
  const Ref product = g.make(Op::Mul, Index, {quotient, four});
  return g.make(Op::Add, Index, {product, rest});
}

TEST(Key, IsEqualExactlyWhereStructuresAre) {
  EXPECT_TRUE(rc::check([] {
    const Recipe recipe = any_recipe(12);
    const Recipe other_recipe = any_recipe(12);
    Graph g;
    Graph h;
    const std::vector<Ref> ours = make_all(g, recipe);
    const std::vector<Ref> theirs = make_all(h, other_recipe);
    const std::vector<std::string> our_texts = spell_all(recipe);
    const std::vector<std::string> their_texts = spell_all(other_recipe);
    for (size_t i = 0; i < ours.size(); i++) {
      for (size_t k = 0; k < theirs.size(); k++) {
        RC_ASSERT((key(g, ours[i]) == key(h, theirs[k])) == (our_texts[i] == their_texts[k]));
      }
    }
  }));
}

TEST(Key, IsTheSameAmongJunk) {
  Graph g;
  Graph h;
  for (int i = 0; i < 1000; i++) h.constant(Index, 1000 - i);
  h.variable("junk", I32);
  EXPECT_EQ(key(g, sample(g)), key(h, sample(h)));
}

TEST(Key, DoesNotDependOnWhenItIsAsked) {
  Graph early;
  Graph late;
  const Ref a = early.variable("a", I32);
  const Key of_leaf = key(early, a);
  const Key in_steps = key(early, early.alu(Op::Neg, {a}));
  const Key at_once = key(late, late.alu(Op::Neg, {late.variable("a", I32)}));
  EXPECT_EQ(in_steps, at_once);
  EXPECT_NE(of_leaf, in_steps);
}

// Written down once: a key is the same in every build, by every compiler, so it may be stored.
TEST(Key, IsTheSameInEveryBuild) {
  Graph g;
  EXPECT_EQ(to_text(key(g, sample(g))), "1591631bb8cbae4ca5a1e003d93f188d");
}

TEST(Key, IsWrittenAsThirtyTwoDigits) {
  EXPECT_EQ(to_text(Key{0x0123456789ABCDEF, 0x1}), "0123456789abcdef0000000000000001");
}

// B042: what a kernel carries belongs to its key, whether name or number.
TEST(Key, HoldsEveryPayload) {
  Graph g;
  const Ref x = g.variable("x", I32);
  const int64_t zero[] = {0};
  const int64_t one[] = {1};
  const int64_t both[] = {0, 1};
  const std::vector<Arg> args = {
      {},
      g.info("a", zero),
      g.info("a", one),
      g.info("a", both),
      g.info("a", {}),
      g.info("b", zero),
      g.info("", zero),
      g.name("a"),
      g.numbers(zero),
      g.symbol("a", zero),
      Arg::number(0),
      Arg::number(1),
      Arg::axis(0, AxisType::Loop),
      Arg::axis(0, AxisType::Reduce),
      Arg::axis(1, AxisType::Loop),
      Arg::place(0, AddrSpace::Global),
      Arg::place(0, AddrSpace::Local),
      Arg::fold(Op::Add, 1),
      Arg::fold(Op::Max, 1),
      Arg::fold(Op::Add, 2),
      Arg::value(of_int(I32, 1)),
  };
  std::set<Key> keys;
  for (const Arg& arg : args) keys.insert(key(g, g.make(Op::Sink, Void, {x}, arg)));
  EXPECT_EQ(keys.size(), args.size());
}

TEST(Key, TellsWhereOneNameEndsAndTheNextBegins) {
  Graph g;
  const Ref ab_c = g.make(Op::Sink, Void, {g.variable("ab", I32), g.variable("c", I32)});
  const Ref a_bc = g.make(Op::Sink, Void, {g.variable("a", I32), g.variable("bc", I32)});
  EXPECT_NE(key(g, ab_c), key(g, a_bc));
}

TEST(Key, WalksAMillionDeep) {
  Graph g;
  Graph h;
  Ref u = g.variable("x", I64);
  Ref v = h.variable("x", I64);
  for (int i = 0; i < 1'000'000; i++) {
    u = g.alu(Op::Neg, {u});
    v = h.alu(Op::Neg, {v});
  }
  EXPECT_EQ(key(g, u), key(h, v));
  EXPECT_NE(key(g, u), key(h, v->src[0]));
}

TEST(Key, WalksAHundredThousandSources) {
  Graph g;
  std::vector<Ref> sources;
  sources.reserve(100'000);
  for (int i = 0; i < 100'000; i++) sources.push_back(g.constant(I32, i));
  const Ref ascending = g.make(Op::Sink, Void, sources);
  std::swap(sources.front(), sources.back());
  const Ref swapped = g.make(Op::Sink, Void, sources);
  EXPECT_NE(key(g, ascending), key(g, swapped));
}

// B201: without sharing either comparison takes 2^40 steps.
TEST(Key, ComparesDeepSharedGraphsByTheirNodes) {
  Graph g;
  Graph h;
  const Ref x = doubled(g, g.variable("x", I32), 40);
  const Ref y = doubled(g, g.variable("y", I32), 40);
  EXPECT_EQ(key(g, x), key(h, doubled(h, h.variable("x", I32), 40)));
  EXPECT_NE(key(g, x), key(g, y));
  EXPECT_NE(comes_before(g, x, y), comes_before(g, y, x));
}

TEST(ComesBefore, IsAStrictTotalOrder) {
  EXPECT_TRUE(rc::check([] {
    Graph g;
    std::vector<Ref> nodes = make_all(g, any_recipe(30));
    std::sort(nodes.begin(), nodes.end(), [&](Ref a, Ref b) { return comes_before(g, a, b); });
    for (size_t i = 0; i < nodes.size(); i++) {
      for (size_t k = i; k < nodes.size(); k++) {
        RC_ASSERT(comes_before(g, nodes[i], nodes[k]) == (nodes[i] != nodes[k]));
        RC_ASSERT(!comes_before(g, nodes[k], nodes[i]));
      }
    }
  }));
}

TEST(ComesBefore, DoesNotSeeTheOrderOfCreation) {
  EXPECT_TRUE(rc::check([] {
    const Recipe recipe = any_recipe(30);
    Graph g;
    Graph h;
    const std::vector<Ref> made = make_all(g, recipe);
    for (int i = 0; i < 10; i++) h.constant(Index, 20 - i);
    // Each node with all below it, last ones first.
    std::vector<Ref> copies(made.size());
    for (size_t i = made.size(); i-- > 0;) copies[i] = copy_to(h, g, made[i]);
    for (size_t i = 0; i < made.size(); i++) {
      for (size_t k = 0; k < made.size(); k++) {
        RC_ASSERT(comes_before(g, made[i], made[k]) == comes_before(h, copies[i], copies[k]));
      }
    }
  }));
}

TEST(ComesBefore, ReadsNamesAndNumbersAsAPersonWould) {
  Graph g;
  const auto before = [&](Ref a, Ref b) { return comes_before(g, a, b) && !comes_before(g, b, a); };
  const Ref r2 = g.variable("r2", Index);
  const Ref r10 = g.variable("r10", Index);
  EXPECT_TRUE(before(r2, r10));
  const Ref size = g.constant(Index, 8);
  const Ref loop2 = g.make(Op::Range, Index, {size}, Arg::axis(2, AxisType::Loop));
  const Ref loop10 = g.make(Op::Range, Index, {size}, Arg::axis(10, AxisType::Loop));
  EXPECT_TRUE(before(loop2, loop10));
}

TEST(ComesBefore, PutsTermsBeforeConstants) {
  Graph g;
  const Ref one = g.constant(Index, 1);
  const Ref x = g.variable("x", Index);
  const Ref sum = g.alu(Op::Add, {x, one});
  EXPECT_TRUE(comes_before(g, x, one));
  EXPECT_TRUE(comes_before(g, sum, one));
  EXPECT_FALSE(comes_before(g, one, sum));
}

}  // namespace
}  // namespace assay::uop
