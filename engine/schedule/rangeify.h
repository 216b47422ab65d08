#pragma once

#include "engine/result.h"
#include "engine/uop/pass.h"

namespace assay::schedule {

using uop::Ref;
using uop::Run;

// Movement becomes index arithmetic. Ranges flow from what is stored to what it is computed from:
//
//   a store, CONTIGUOUS, COPY          new ranges over its shape
//   one reader, or readers that agree  the reader's ranges; where the readers' gates differ, either
//   readers that disagree              new ranges: the value is materialized
//   a value under a broadcast          new ranges at the first scalar function or reduce below it
//                                      that is no operand of the broadcasting function itself; a
//                                      reduce is materialized even there
//
// What is materialized is STAGE{0 global}(value, range…), read by INDEX(stage, i…); an axis of size
// 1 has the range 0. Storage, constants, iota and movement over them are never materialized: each
// reader has its own index. A read that is needed only under a gate says so in its first index:
// where(gate, i, invalid). PAD becomes where(inside, value, 0), STACK a choice by its first index,
// REDUCE{op n} gets n ranges and becomes REDUCE{op 0}. A store of a tensor becomes
// END(STORE(INDEX(state, i…), value), range…).
const uop::Pass& rangeify_pass();
Result<Ref> run_rangeify(Run& run, Ref sink);

}  // namespace assay::schedule
