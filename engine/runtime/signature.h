#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/codegen/launch.h"
#include "engine/result.h"
#include "engine/runtime/variables.h"
#include "engine/uop/uop.h"

namespace assay::runtime {

using codegen::Launch;

// What a kernel asks of those who launch it, read from its LINEAR. It needs no graph but its own.
struct Signature {
  struct Slot {
    int32_t slot = 0;
    uop::DType dtype = uop::DType::Void;
    int64_t bytes = 0;  // at most, where its size is symbolic
    bool is_written = false;
  };
  struct Variable {
    std::string name;
    uop::DType dtype = uop::DType::Void;
    int64_t lo = 0;
    int64_t hi = 0;
  };

  std::string name;                 // without opts
  std::string opts;                 // "LOCAL(0,8) UPCAST(0,4)"
  std::vector<Slot> slots;          // by rising slot, which need not be dense
  std::vector<Variable> variables;  // by name, as bytes compare
  int64_t local_bytes = 0;          // of LOCAL buffers

  // The sizes of a launch. An error where a variable has no value or a size is none.
  Result<Launch> sizes(Variables values) const;

  // Groups, then items: terms over the variables in a graph of their own; null where they are 1.
  std::unique_ptr<uop::Graph> graph;
  std::array<uop::Ref, 6> terms = {};
};

// Of a kernel that comes as text: buffers of these sizes, by slot, and one size of a launch.
Signature fixed_signature(std::string name, std::span<const int64_t> slot_bytes,
                          const Launch& sizes);

// An error where `linear` is no LINEAR of this form (codegen/README.md, Forms).
Result<Signature> signature_of(uop::Graph& g, uop::Ref linear);

}  // namespace assay::runtime
