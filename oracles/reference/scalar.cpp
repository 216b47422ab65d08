#include "oracles/reference/scalar.h"

#include <algorithm>
#include <cmath>

namespace assay::reference {

Bounded between(DType t, double lo, double hi) {
  Bounded x = of_double(t, lo / 2 + hi / 2);
  x.bound = std::nextafter(std::max(hi - x.value, x.value - lo), HUGE_VAL);
  x.certainty = Certainty::Bounded;
  return x;
}

Bounded At::pick(const Bounded& c, const Bounded& x, const Bounded& y) const {
  const bool is_open = c.certainty == Certainty::Ambiguous && x.is_known() && y.is_known();
  if (!is_open || !std::isfinite(x.value) || !std::isfinite(y.value)) {
    return apply(Fn::Where, t, c, x, y);
  }
  return between(t, std::min(lowest_of(x), lowest_of(y)), std::max(highest_of(x), highest_of(y)));
}

}  // namespace assay::reference
