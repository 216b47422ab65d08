#pragma once

#include <cstdint>
#include <vector>

#include "engine/result.h"
#include "engine/uop/node_map.h"
#include "oracles/interpreter/interpreter.h"
#include "oracles/interpreter/scalar.h"

namespace assay::interpreter {

// A kernel as loops over arrays. Each effect (a STORE under its ENDs) runs for all values of its
// ranges before the next. A *scope* is a nest of loops, that of the effect or that of a REDUCE; its
// loops run in blocks, and within a block each node is one array over those of the enclosing loops
// that it depends on.

struct Loop {
  int64_t count;
  int64_t block = 1;  // how many of its values a block has
};

struct Step {
  enum class Kind : uint8_t {
    Value,   // one value
    Range,   // the values of a loop
    Scalar,  // a scalar function of the sources
    Load,    // elements of a parameter; sources: index, gate, alternative (the latter two may lack)
    Check,   // that no other iteration writes what is loaded; sources: index, gate, iteration
    Reduce,  // folds the result of an inner scope
  };
  Kind kind = Kind::Value;
  DType dtype = DType::Void;
  uint64_t loops = 0;  // a bit for each that it has an axis for, outermost first
  int64_t place = 0;   // of its array
  int64_t room = 1;    // elements in a full block
  int sources[3] = {-1, -1, -1};
  int at = 0;          // the loop of a Range, parameter of a Load or Check, scope of a Reduce
  Slot value = 0;      // a Value, or what a Reduce begins with
  Scalar scalar = {};  // a Scalar, or what a Reduce does
  decltype(Fold::over_rows) over_rows = nullptr;
};

struct Scope {
  int parent = -1;
  int reduce = -1;  // the step that it is part of; none for an effect's
  int result = -1;  // the step that is folded
  int first_loop = 0;
  int loop_count = 0;
  uint64_t ranges = 0;  // the RANGEs that it closes, by their places in the kernel
  std::vector<int> steps;

  uint64_t loops() const { return ((uint64_t{1} << loop_count) - 1) << first_loop; }
};

// One STORE.
struct Effect {
  int parameter = 0;
  int index = -1;
  int gate = -1;  // nothing is stored where it is false; -1 if there is none
  int value = -1;
  int iteration = -1;    // the number of an iteration, where loads have to be checked
  size_t addresses = 0;  // the first steps of the outer scope, which say what is stored where
  std::vector<Step> steps;
  std::vector<Loop> loops;
  std::vector<Scope> scopes;  // parents before children; the first is the effect's own
};

struct Parameter {
  bool used = false;
  bool exact = false;  // its size is a constant
  DType dtype = DType::Void;
  int64_t size = 0;
};

struct Plan {
  std::vector<Effect> effects;
  std::vector<Parameter> parameters;  // by slot
  int64_t room = 0;                   // for the arrays of any one effect
  uint64_t loaded = 0;                // a bit for each parameter that is read
};

struct KernelShape;

// `shape` is room to work in. `aliases` has a bit for each parameter whose bytes a store of this
// kernel may write.
Result<Plan> plan_kernel(uop::Graph& g, uop::Ref kernel, const Variables& variables,
                         uint64_t aliases, KernelShape& shape);

}  // namespace assay::interpreter
