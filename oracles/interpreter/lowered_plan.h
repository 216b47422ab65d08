#pragma once

#include <cstdint>
#include <vector>

#include "engine/result.h"
#include "oracles/interpreter/lowered_axes.h"
#include "oracles/interpreter/scalar.h"

namespace assay::interpreter {

// A lowered kernel as steps over arrays. A step makes `size` elements, once or (`laned`) for each
// lane; all lanes take a step before any takes the next, so barriers have nothing to do. Steps
// stand in scopes: that of the kernel, and one for each nest of loops that run one after the other.

struct LoweredStep {
  enum class Kind : uint8_t {
    Value,    // one value
    Axis,     // where the lane is along axis `at`
    Counter,  // the iteration of loop `at`
    Iota,     // 0, 1, …
    Same,     // what the source has, in another shape
    Scalar,   // a scalar function of the sources, each of `size` elements or one
    Move,     // elements of the sources, as `moves` says
    Pick,     // rows of the first source: those that the second names where the third holds
    Bits,     // the bytes of the source as another type, of another width
    Read,     // of storage `at`; sources: offsets, where they hold, what stands elsewhere
    Write,    // to storage `at`; sources: offsets, where they hold, value
    Nest,     // runs scope `at`
    Fold,     // the same, and folds the source at each iteration; once if there is no scope
  };
  struct Taken {
    int source;
    int64_t element;
  };
  Kind kind = Kind::Value;
  DType dtype = DType::Void;
  bool laned = false;
  std::vector<int64_t> shape = {};
  int64_t size = 1;
  std::vector<int> sources = {};  // steps; -1 where there is none
  int at = -1;
  Slot value = 0;  // of Value; what a Fold begins with
  Scalar scalar = {};
  std::vector<Taken> moves = {};
  uint64_t axes = 0;  // of a Read, Pick or Write: those whose values it runs for
};

struct LoweredScope {
  int parent = -1;
  uint64_t ranges = 0;  // that it binds
  std::vector<int> loops;
  std::vector<int> steps;
};

struct LoweredStorage {
  uop::AddrSpace space;
  DType dtype;
  int64_t size;
  int64_t number;      // of its BUFFER or STAGE; the slot of a PARAM
  bool exact = false;  // its size is a constant
  bool written = false;
  uint64_t axes = 0;  // those that stores to it run for
};

struct LoweredPlan {
  std::vector<LoweredStep> steps;
  std::vector<LoweredScope> scopes;  // the first is the kernel's
  std::vector<int64_t> loops;        // how often each runs
  std::vector<LoweredStorage> storage;
};

// Which of two steps without an order between them comes first is open: that of the earlier source,
// or that of the later.
enum class StepOrder : uint8_t { FirstSourceFirst, LastSourceFirst };

Result<LoweredPlan> plan_lowered(uop::Graph& g, const LoweredAxes& axes, const Variables& variables,
                                 StepOrder order);

}  // namespace assay::interpreter
