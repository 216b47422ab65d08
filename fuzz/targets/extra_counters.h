#pragma once

#include <span>

#include "fuzz/coverage/coverage.h"

namespace assay::fuzz {

// Shows features to libFuzzer as counters beside those of edges (-use_counters), so that an input
// that makes new rules fire is kept as one that runs new code is. Without libFuzzer nothing looks.
void count_features(std::span<const Feature> features);

}  // namespace assay::fuzz
