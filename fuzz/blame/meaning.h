#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/result.h"
#include "engine/uop/uop.h"
#include "oracles/interpreter/interpreter.h"

// What the stages of a schedule mean, so that one can be held against the next.
namespace assay::fuzz {

// What storage holds, by the place of its BUFFER among a call's arguments.
struct Stored {
  uop::DType dtype = uop::DType::Void;
  std::vector<std::byte> bytes;
  std::vector<bool> open = {};  // of each byte, whether it may be anything; empty: none may
};
using Contents = std::map<size_t, Stored>;

// A schedule's call, taken apart: CALL(SINK, BUFFER…, BIND…), and what its storage holds before.
struct Called {
  uop::Graph& g;
  std::vector<uop::Ref> arguments;
  interpreter::Variables variables;
  interpreter::Memory memory;
};
Called called(uop::Graph& g, uop::Ref call, const interpreter::Memory& memory);

// What a SINK(state…) over PARAMs leaves in storage; what a LINEAR does, over PARAMs or BUFFERs, in
// the order given or as it stands. An error is what the interpreter refuses. Of stores that are not
// yet kernels, split_store makes some first, so that what that pass always does wrong shows there.
Result<Contents> meaning_of_sink(const Called& call, uop::Ref sink);
Result<Contents> meaning_of_linear(const Called& call, uop::Ref linear,
                                   std::span<const int> order = {});

// Marks what the numeric contract leaves open, a quotient by zero and what is computed of it: bytes
// that are others where other numbers stand for no value. `again` computes the same contents anew.
void mark_open(Contents& wanted, const std::function<Result<Contents>()>& again);

// The first element in which storage that both name differs by more than so many units in the last
// place of the largest number beside it; "" where none does. What is no value in `wanted`, or
// is marked there, may be anything.
std::string difference(const Contents& wanted, const Contents& got, double ulps);

}  // namespace assay::fuzz
