#include "engine/uop/bug_check.h"

#include <gtest/gtest.h>

#include <string>

#include "engine/check.h"
#include "engine/uop/eval.h"
#include "engine/uop/prefix.h"
#include "engine/uop/simplify.h"

namespace assay::uop {
namespace {

Ref graph_of(Graph& g, const Leaf& leaf) {
  if (leaf.is_loop) {
    return g.make(Op::Range, leaf.type, {g.constant(leaf.type, leaf.hi + 1)},
                  Arg::axis(0, AxisType::Loop));
  }
  if (is_float(leaf.type)) return g.variable(leaf.name, leaf.type);
  return g.variable(leaf.name, of_int(leaf.type, leaf.lo), of_int(leaf.type, leaf.hi));
}

std::vector<Value> values_of(const Leaf& leaf) {
  if (!leaf.at.empty()) return leaf.at;
  std::vector<Value> all;
  for (int64_t x = leaf.lo; x <= leaf.hi; x++) all.push_back(of_int(leaf.type, x));
  return all;
}

bool is_right(Graph& g, Ref root, const Trigger& trigger, const Right& right) {
  Evaluator evaluator(g, root);
  // Where the evaluator's leaves stand among the trigger's.
  std::vector<size_t> places;
  for (const Ref leaf : evaluator.leaves()) {
    for (size_t i = 0; i < trigger.leaves.size(); i++) {
      if (graph_of(g, trigger.leaves[i]) == leaf) places.push_back(i);
    }
  }
  std::vector<Value> values(places.size());
  for (const std::vector<Value>& point : points_of(trigger)) {
    for (size_t i = 0; i < places.size(); i++) values[i] = point[places[i]];
    const Cell cell = evaluator.run(values);
    const std::optional<Value> expected = right(point);
    const bool same =
        expected ? cell.defined() && cell.value == *expected : cell.state == Cell::State::Invalid;
    if (!same) return false;
  }
  return true;
}

}  // namespace

std::vector<std::vector<Value>> points_of(const Trigger& trigger) {
  std::vector<std::vector<Value>> points = {{}};
  for (const Leaf& leaf : trigger.leaves) {
    std::vector<std::vector<Value>> longer;
    for (const std::vector<Value>& point : points) {
      for (const Value& v : values_of(leaf)) {
        longer.push_back(point);
        longer.back().push_back(v);
      }
    }
    points = std::move(longer);
  }
  return points;
}

Ref trigger_graph(Graph& g, const Trigger& trigger) {
  Leaves leaves;
  for (const Leaf& leaf : trigger.leaves) {
    leaves.emplace(std::string(leaf.name), graph_of(g, leaf));
  }
  const Result<Ref> root = from_prefix(g, trigger.text, leaves, trigger.literals);
  ASSAY_CHECK(root.ok(), "{}: {}", trigger.text, to_string(root.error()));
  return root.value();
}

Ref simplified(Graph& g, Ref root, const Switches& switches) {
  Run run(g, switches);
  const Result<Ref> result = simplify(run, root);
  return result.ok() ? result.value() : nullptr;
}

bool simplifies_right(const Switches& switches, const Trigger& trigger, const Right& right) {
  Graph g;
  const Ref root = trigger_graph(g, trigger);
  EXPECT_TRUE(is_right(g, root, trigger, right)) << trigger.text;
  const Ref simple = simplified(g, root, switches);
  return simple != nullptr && is_right(g, simple, trigger, right);
}

Switches with(const RuleSet& mutant) {
  Switches switches;
  switches.substitutes = {&mutant};
  return switches;
}

std::vector<Value> values_of(DType t, std::initializer_list<int64_t> ints) {
  std::vector<Value> values;
  for (const int64_t n : ints) values.push_back(of_int(t, n));
  return values;
}

}  // namespace assay::uop
