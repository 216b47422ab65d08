#include "fuzz/targets/mutator.h"

namespace assay::fuzz {

const TextMutator& target_mutator() { return term_mutator(); }

}  // namespace assay::fuzz
