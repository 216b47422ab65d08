#pragma once

#include "props/firings/checker.h"

namespace assay::props {

// Whether what a pass left has the meaning of what entered it.
//
//   kernels    proved where nodes are paired one to one and all their terms are equal (align.h);
//              else each index, gate and value that is equal by proof is counted, and both kernels
//              are run by the interpreter on several inputs; a LINEAR on the work-group machine
//   tensors    evaluated by the interpreter. What run_rangeify and remove_stages leave is made a
//              kernel graph by split_store first, so that what this pass always does wrong is found
//              with run_rangeify; of itself it is found where it does not do it again
//   terms      as firings are
Checked pass_keeps_meaning(const uop::PassSeen& seen, Context& context);

}  // namespace assay::props
