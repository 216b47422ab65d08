#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/uop/rewrite.h"

// What the tests of public bugs share. Each such test holds a trigger, its right value worked out
// by other means than the engine's, and a mutant: a rule or function that brings the bug back. The
// same check accepts the engine and rejects the mutant.
namespace assay::uop {

// A leaf of a trigger: a variable between lo and hi, or a loop of hi + 1 iterations. Floats have no
// bounds. It is looked at everywhere, or where `at` says.
struct Leaf {
  std::string_view name;
  DType type = Index;
  int64_t lo = 0;
  int64_t hi = 0;
  // A compiler warns of a leaf that leaves out what has no initializer.
  std::vector<Value> at = {};  // NOLINT(readability-redundant-member-init)
  bool is_loop = false;
};

// Prefix text over leaves, and the type of its literals.
struct Trigger {
  std::string_view text;
  std::vector<Leaf> leaves;
  DType literals = Index;
};

// The value at a point, nothing where it is Invalid.
using Right = std::function<std::optional<Value>(std::span<const Value>)>;

// A right value that is an integer (or truth) worked out from integers.
template <typename F>
Right of_ints(DType t, F f) {
  return [t, f](std::span<const Value> values) -> std::optional<Value> {
    std::vector<int64_t> v;
    for (const Value& value : values) v.push_back(static_cast<int64_t>(as_int(value)));
    return of_int(t, f(v));
  };
}

// The graph of a trigger.
Ref trigger_graph(Graph& g, const Trigger& trigger);

// Every point at which a trigger is looked at: a value for each leaf.
std::vector<std::vector<Value>> points_of(const Trigger& trigger);

// Whether simplify comes to an end under these switches with a term that has the right value at
// every point. The trigger itself has it, or the test fails.
bool simplifies_right(const Switches& switches, const Trigger& trigger, const Right& right);

// What simplify makes of a graph, or null where it comes to no end.
Ref simplified(Graph& g, Ref root, const Switches& switches = {});

// The rules of a mutant in the place of the engine's of the same names.
Switches with(const RuleSet& mutant);

// Holes for the rules of mutants: terms x and y, constants c, d and m.
struct Holes {
  Pat x = any("x");
  Pat y = any("y");
  Pat c = constant("c");
  Pat d = constant("d");
  Pat m = constant("m");
};

// Integers as values, and lists of them.
std::vector<Value> values_of(DType t, std::initializer_list<int64_t> ints);

// C++ rounds towards zero; this rounds down.
constexpr int64_t floor_quotient(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}
constexpr int64_t floor_remainder(int64_t a, int64_t b) { return a - floor_quotient(a, b) * b; }

}  // namespace assay::uop
