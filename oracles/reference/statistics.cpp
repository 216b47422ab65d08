#include "oracles/reference/statistics.h"

#include <algorithm>
#include <bit>

#include "oracles/reference/elements.h"

namespace assay::reference {
namespace {

Bounded decided_by(std::span<const Bounded> x, bool decisive) {
  Bounded result = of_integer(uop::Bool, decisive ? 0 : 1);
  for (const Bounded& v : x) {
    if (v.is_exact() && (v.integer != 0) == decisive) return v;
    if (!v.is_exact() && result.certainty != Certainty::Unspecified) result = v;
  }
  return result;
}

}  // namespace

Bounded mean(const At& at, std::span<const Bounded> x, bool is_fixed) {
  const Bounded n = of_integer(at.t, static_cast<int64_t>(x.size()));
  // One over a power of two is a number, which a device has exactly if it is told beforehand.
  const bool is_exact = is_fixed && std::has_single_bit(x.size());
  const Bounded share = is_exact ? at.number(1 / n.value) : at.recip(n);
  return at.mul(sum(at.t, x), share);
}

Bounded variance(const At& at, std::span<const Bounded> x, const Bounded& mean,
                 int64_t correction) {
  const Elements squares =
      mapped(x).unaryExpr([&](const Bounded& v) { return at.square(at.sub(v, mean)); });
  const uop::Int128 n = uop::Int128{static_cast<int64_t>(x.size())} - correction;
  return at.div(sum(at.t, span_of(squares)), of_integer(at.t, std::max<uop::Int128>(0, n)));
}

void softmax(const At& at, std::span<const Bounded> x, std::span<Bounded> out) {
  const Bounded largest = maximum(at.t, x);
  for (size_t i = 0; i < x.size(); ++i) out[i] = at.exp(at.sub(x[i], largest));
  const Bounded total = sum(at.t, out);
  for (Bounded& e : out) e = at.div(e, total);
}

Bounded any(std::span<const Bounded> x) { return decided_by(x, true); }
Bounded all(std::span<const Bounded> x) { return decided_by(x, false); }

}  // namespace assay::reference
