#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/uop/target.h"
#include "engine/uop/uop.h"
#include "oracles/interpreter/scalar.h"
#include "oracles/workgroup/adversary.h"

namespace assay::workgroup {

using interpreter::Slot;

// Where a value is held: constants are shared by all, what is the same for all work-items of a
// strand (machine.h) is held once a strand, all else once a work-item.
enum class File : uint8_t { Constant, Uniform, Lane };
struct Register {
  File file = File::Constant;
  uint32_t number = 0;
  bool operator==(const Register&) const = default;
};

// A PARAM or BUFFER.
struct Storage {
  uop::AddrSpace space;
  uop::DType type;
  int64_t number;  // the slot of a PARAM, the number of a BUFFER
  int64_t size;    // in elements
  bool is_read = false;
  bool is_written = false;
};

// What a LOAD or STORE touches: `width` elements of a storage from `index` on.
struct Access {
  int storage;
  Register index;
  int width;
  bool is_aligned;  // `index` has to be a multiple of `width`
  bool is_gated;
  bool has_other;                // a LOAD with an alternative
  Register gate;                 // where is_gated
  std::vector<Register> values;  // where a LOAD leaves its elements, what a STORE takes
  std::vector<Register> other;   // of a gated LOAD whose gate is false; one for all, or one a lane
};

enum class Code : uint8_t { Compute, Load, Store, Loop, EndLoop, If, EndIf, Barrier };

struct Instruction {
  Code code;
  uint8_t loops = 0;     // how many it stands in, itself included where it is a Loop or an EndLoop
  uint8_t branches = 0;  // loops and IFs, likewise
  bool is_uniform = false;     // computed once a strand
  int32_t node = 0;            // its line in the LINEAR
  interpreter::Scalar scalar;  // of Compute
  Register out;                // of Compute; the counter of Loop
  Register src[3];             // of Compute; the count of Loop, the gate of If
  int32_t access = -1;         // of Load and Store
  int32_t partner = -1;        // Loop and EndLoop, If and EndIf name each other
  uop::Op op = uop::Op::Noop;  // of Compute
  Freedom freedom;             // of Compute, where an adversary runs it
};

// A register that holds a number of the work-item or its group along an axis.
struct Position {
  Register out;
  bool is_group;
  int axis;
};

// A LINEAR, ready to run (README.md).
struct Program {
  std::vector<Instruction> code;
  std::vector<Access> accesses;
  std::vector<Storage> storages;
  std::vector<Slot> constants;
  std::vector<Position> positions;
  uint32_t uniforms = 0;  // registers of the files
  uint32_t lanes = 0;
  int loops = 0;     // the deepest nest of loops
  int branches = 0;  // of loops and IFs
  int barriers = 0;
  std::vector<std::string> texts;  // of each node, as in "%12 = load"
};

}  // namespace assay::workgroup
