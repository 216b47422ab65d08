#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/result.h"
#include "oracles/interpreter/memory.h"

namespace assay::interpreter {

// The values of variables, by name.
using Variables = std::map<std::string, int64_t, std::less<>>;

// What a node of a tensor graph denotes (engine/schedule/README.md, Forms): its elements in
// row-major order, at its type. Versions are values: nothing is written to memory.
struct Elements {
  uop::DType dtype;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;
};
Result<std::vector<Elements>> evaluate(uop::Graph& g, std::span<const uop::Ref> nodes,
                                       const Variables& variables, Memory& memory);

// Runs the calls of a LINEAR over BUFFERs, in the order given (places in its list, all of them),
// or as they stand. Every index is checked against its buffer; an error names call, buffer, index.
Result<bool> run(uop::Graph& g, uop::Ref linear, const Variables& variables, Memory& memory,
                 std::span<const int> order = {});

}  // namespace assay::interpreter
