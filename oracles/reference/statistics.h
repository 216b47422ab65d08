#pragma once

#include <span>
#include <vector>

#include "oracles/reference/scalar.h"

namespace assay::reference {

// The sum times one over the count, which is `is_fixed` or known to a device only when it runs.
Bounded mean(const At& at, std::span<const Bounded> x, bool is_fixed);
// The second of the two passes: the sum of squares about the mean, over max(0, count - correction).
Bounded variance(const At& at, std::span<const Bounded> x, const Bounded& mean, int64_t correction);
// e / sum(e), e = exp(x - max(x)).
void softmax(const At& at, std::span<const Bounded> x, std::span<Bounded> out);
// Whether some element, or each, is true. What is not known counts only where the rest leaves it
// open.
Bounded any(std::span<const Bounded> x);
Bounded all(std::span<const Bounded> x);

}  // namespace assay::reference
