#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/uop/facts.h"
#include "engine/uop/op.h"

namespace assay::uop {

// What a launch, a kernel and a buffer may be at most.
struct Limits {
  int64_t group_size = 1;               // work-items of a group
  int64_t item_sizes[3] = {1, 1, 1};    // work-items of a group along each axis
  int64_t global_sizes[3] = {1, 1, 1};  // work-items of a launch along each axis
  int64_t local_bytes = 0;              // LOCAL storage of a group
  int64_t buffers = 1;                  // buffers that one kernel may take
  int64_t allocation_bytes = 1;         // of one buffer
  int64_t alignment = 1;                // of a buffer's first byte, a power of two
};

// Vectors of these types may have these numbers of lanes, in rising order.
struct Widths {
  TypeSet over;
  std::vector<int> lanes;
};

// The result of op is at most this many units in the last place from the exact one; 0 means the
// exact result rounded to nearest even.
struct UlpLimit {
  Op op;
  TypeSet over;
  double ulps;
};

enum class Subnormals : uint8_t { Kept, Flushed, Either };

// How floats are computed. A function that has no limit at a type is not there at that type: it is
// decomposed into what is.
struct MathRules {
  std::vector<UlpLimit> limits;
  bool contracts = false;  // a * b + c may be rounded once
  Subnormals subnormals = Subnormals::Kept;
  OpSet native;  // functions that the target wants in their fast form, whose limit is then stated
};

// When what one work-item stores to LOCAL storage can be read by another.
enum class Visibility : uint8_t { AtOnce, AfterBarrier };
// Who must reach a barrier before anyone passes it.
enum class Reach : uint8_t { Subgroup, Group };
// Where a barrier may stand in a loop or a branch: nowhere, where all work-items that it waits for
// take the same way, or anywhere.
enum class Standing : uint8_t { Nowhere, Uniform, Anywhere };

// What a device promises of LOCAL storage and barriers. Checks of races and of uniformity take it
// as input and print which one they assumed.
struct MemoryContract {
  Visibility local = Visibility::AfterBarrier;
  Reach barrier = Reach::Group;
  Standing in_branch = Standing::Uniform;
  Standing in_loop = Standing::Uniform;
};

// What suits a device: numbers that choices aim at, none of which bears on results.
struct Tuning {
  int64_t items = 128;           // work-items of a group
  int64_t busy = 2048;           // work-items of a launch that leave no part of the device idle
  int64_t share = 16;            // work-items that share a fold where there are few of them
  int64_t lanes = 4;             // elements side by side that one work-item reads or writes at once
  int64_t tile = 16;             // elements of a result that one work-item keeps in registers
  bool items_are_lanes = false;  // a core runs the work-items of a group as lanes of its vectors
};

// What a device can do. What a target does not claim is never scheduled for it.
struct Target {
  std::string name;
  Limits limits;
  TypeSet arithmetic;  // types that are loaded, stored and computed in
  TypeSet storage;     // types that are only loaded and stored, converted on the way
  std::vector<Widths> widths;
  // A vector of n lanes starts at a multiple of n elements of its buffer, and n is a power of two;
  // otherwise it starts at any element.
  bool aligned_vectors = true;
  MathRules math;
  int compute_queues = 1;
  int copy_queues = 0;
  bool images = false;
  bool views = false;          // part of a buffer may be bound as a buffer of its own
  int64_t view_alignment = 0;  // of the first byte of such a part within its buffer
  bool sharding = false;
  Tuning tuning;
  std::optional<MemoryContract> memory;  // without one, no kernel with LOCAL storage runs
};

// What every OpenCL 1.2 device of the full profile can do, and no more.
const Target& generic_target();

// The limit of op at t; nothing where the target has no such function.
std::optional<double> ulp_limit(const Target& target, Op op, DType t);
// The numbers of lanes that vectors of t may have.
std::span<const int> widths_of(const Target& target, DType t);

// What the target says that contradicts itself, or that no device can mean.
std::optional<std::string> target_error(const Target& target);

// All that the target says, a line for each thing, the same wherever it is printed.
std::string to_text(const Target& target);
// Equal for targets that say the same.
Key digest(const Target& target);

}  // namespace assay::uop
