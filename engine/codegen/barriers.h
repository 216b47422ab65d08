#pragma once

#include "engine/uop/pass.h"

namespace assay::codegen {

// Where work-items share LOCAL storage, BARRIERs by two rules and nothing else:
//
//   add_raw_barrier  AFTER(b, d…), b LOCAL, where the d reach a STORE to LOCAL storage (any)
//   without
//                    passing a BARRIER, becomes AFTER(b, BARRIER(d…))
//   add_war_barrier  END(x, r…) that closes a REDUCE, WEAK or LOOP range of more than one
//   iteration,
//                    x no BARRIER, where x stores to LOCAL storage within such a range and what the
//                    END depends on loads that storage, becomes END(BARRIER(x, those loads), r…)
//
// Of the loads, those within loops that x closes are behind their ENDs already and are not named.
const uop::RuleSet& implicit_barriers();

// The rules, once; a BARRIER within a loop whose count may differ between the work-items of a group
// is an error.
const uop::Pass& pm_implicit_barriers();

}  // namespace assay::codegen
