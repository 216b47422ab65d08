#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "oracles/interpreter/lowered_plan.h"

namespace assay::interpreter {

// Makes a plan: from the sources up, each node once in the scope of the innermost loop that it
// stands in.
class LoweredPlanner {
 public:
  LoweredPlanner(uop::Graph& g, const LoweredAxes& axes, const Variables& variables,
                 StepOrder order)
      : graph_(g), axes_(axes), variables_(variables), order_(order) {}

  Result<LoweredPlan> plan();

 private:
  using Ref = uop::Ref;
  using Kind = LoweredStep::Kind;
  using Sizes = std::vector<int64_t>;
  // What is asked of a node: the step of its value, of whether that is not Invalid, its place in
  // storage, or that it has happened.
  enum class Aspect : uint8_t { Value, Validity, Place, Effect };
  struct Want {
    int node;
    int scope;
    Aspect aspect;
  };
  struct Place {
    int storage;
    int offsets;   // kWhole: all elements, in order
    int validity;  // a step, or kAlways
    Sizes shape;
  };
  struct Opened {
    Ref node;
    int parent;
    int scope;
  };
  static constexpr int kUnknown = -1;
  static constexpr int kAlways = -2;
  static constexpr int kMissing = -3;
  static constexpr int kDone = 0;
  static constexpr int kWhole = -1;

  int& known(Want w) {
    return memo_[static_cast<size_t>(w.scope)]
                [static_cast<size_t>(w.node) * 4 + static_cast<size_t>(w.aspect)];
  }
  int home(int node, int scope) const;
  // What is known of a source, or kMissing; then it is on the list.
  int need(Ref u, int scope, Aspect aspect);
  int value(Ref u, int scope) { return need(u, scope, Aspect::Value); }
  int validity(Ref u, int scope) { return need(u, scope, Aspect::Validity); }
  // That u has happened.
  void happened(Ref u, int scope);
  void happened_after(Ref after, int scope);
  Result<int> emit(Want w);

  // lowered_values.cpp
  Result<int> emit_value(Ref u, int scope);
  Result<int> emit_validity(Ref u, int scope);
  Result<int> where_validity(Ref u, int scope);
  Result<int> emit_range(Ref u, int scope);
  Result<int> emit_scalar(Ref u, int scope);
  Result<int> emit_bits(Ref u, int scope);
  Result<int> emit_pick(Ref u, int scope, Aspect aspect);
  Result<int> emit_move(Ref u, int scope, Aspect aspect);
  Result<std::vector<int>> moved_sources(Ref u, int scope, Aspect aspect);
  Result<int> emit_reduce(Ref u, int scope);
  Result<Sizes> sizes(std::span<const Ref> terms);
  Result<std::vector<LoweredStep::Taken>> moves(Ref u, const std::vector<Sizes>& from, Sizes& to);

  // lowered_effects.cpp
  Result<int> emit_place(Ref u, int scope);
  Result<int> emit_storage(Ref u);
  Result<int> emit_part(Ref u, int scope);
  Result<int> emit_stage(Ref u, int scope);
  Result<int> emit_effect(Ref u, int scope);
  Result<int> emit_end(Ref u, int scope);
  Result<int> emit_store(Ref u, int scope);
  Result<int> emit_read(Ref u, int scope);
  Result<bool> write(uint64_t free, Place to, int gate, int value, int scope);
  Result<int> part(const Place& base, std::span<const int> indices, int validity, uint64_t axes,
                   int scope);
  int add_place(Place p);
  // The flat place of indices into leading axes of `shape`; -1 where one is outside.
  Result<int> flat(std::span<const int> indices, std::span<const int64_t> shape, int scope);
  int offsets_of(const Place& p, int scope);
  // The scope of the loops that END or STAGE u stands about: `scope` where there are none.
  Result<int> open_serial(Ref u, int scope);
  Result<int> open(Ref node, std::span<const Ref> ranges, int parent);

  int add(LoweredStep step, int scope);
  int constant(DType t, Slot value, int scope);
  Result<int> scalar(Op op, DType t, std::initializer_list<int> sources, int scope);
  // A step whose elements are those of `step`, broadcast; those of one element stay as they are.
  Result<int> fitted(int step, const Sizes& shape, int scope);
  int spread(int step, const Sizes& shape, int scope);  // the same, of any number of elements
  int same(int step, Sizes shape, int scope);
  Result<int> both(int a, int b, int scope);  // of two validities
  const LoweredStep& step(int i) const { return plan_.steps[static_cast<size_t>(i)]; }
  const Place& place(int i) const { return places_[static_cast<size_t>(i)]; }

  uop::Graph& graph_;
  const LoweredAxes& axes_;
  const Variables& variables_;
  const StepOrder order_;
  LoweredPlan plan_;
  std::vector<std::vector<int>> memo_;  // by scope, then node and aspect
  std::vector<Place> places_;
  std::vector<Opened> opened_;
  std::vector<std::pair<Ref, int>> stores_;  // and the scope of each
  std::vector<Want> missing_;
};

}  // namespace assay::interpreter
