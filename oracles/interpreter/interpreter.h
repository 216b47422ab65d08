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
// A node of a kernel graph denotes what its kernels compute of the versions they take. A PARAM
// stands for one of `arguments`, which are BUFFERs.
Result<std::vector<Elements>> evaluate(uop::Graph& g, std::span<const uop::Ref> nodes,
                                       const Variables& variables, Memory& memory,
                                       std::span<const uop::Ref> arguments = {});

// Runs the calls of a LINEAR over BUFFERs, in the order given (places in its list, all of them),
// or as they stand. `linear` is a LINEAR, or a CALL of one whose arguments its PARAMs stand for.
// Every index is checked against its buffer, and so is that no kernel reads what another of its
// iterations writes; an error names call, kernel, argument, buffer and index.
Result<bool> run(uop::Graph& g, uop::Ref linear, const Variables& variables, Memory& memory,
                 std::span<const int> order = {});

// Whether an error is a fault of what is run: it reads or writes where it must not. All else is
// what the interpreter has no meaning for.
bool is_fault(const Error& error);

}  // namespace assay::interpreter
