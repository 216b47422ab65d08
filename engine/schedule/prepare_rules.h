#pragma once

#include "engine/uop/rewrite.h"
#include "engine/uop/uop.h"

namespace assay::schedule {

using uop::Ref;
using uop::Run;

// The rules of prepare_rangeify; a user may switch them off by name.
const uop::RuleSet& store_rules();
const uop::RuleSet& prepare_rules();

// Those that take more than a few lines, each stated in its row.
Ref store_through_bitcast(Run& run, Ref u);
Ref bitcast_by_shifts(Run& run, Ref u);
Ref split_reduce(Run& run, Ref u);
Ref copy_in_place(Run& run, Ref u);
Ref copy_of_list(Run& run, Ref u);
Ref copy_of_run(Run& run, Ref u);
Ref store_of_copy(Run& run, Ref u);

}  // namespace assay::schedule
