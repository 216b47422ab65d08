#include <cmath>

#include "oracles/reference/kernels.h"
#include "oracles/reference/settle.h"

// Functions that jump: they are ambiguous where a bound reaches over a jump.
namespace assay::reference {
namespace {

template <auto step>
Bounded whole(const Format&, const Bounded& a, const Bounded&, const Bounded&) {
  if (is_nan(a)) return nan();
  if (a.is_exact()) {
    Bounded r = a;
    r.value = step(a.value);
    return r;
  }
  const double low = lowest_of(a);
  const double high = highest_of(a);
  const double result = step(low);
  if (result != step(high)) return ambiguous();
  if (result != 0) return exact(result);
  return low <= 0 && 0 <= high ? loose_zero() : exact(result);
}

double nearest_even(double x) { return std::nearbyint(x); }
double downwards(double x) { return std::floor(x); }
double upwards(double x) { return std::ceil(x); }
double towards_zero(double x) { return std::trunc(x); }

enum class Order : uint8_t { Less, Equal, Greater, Unordered, Unknown };

// How the numbers stand to each other. Numbers within a bound are never equal for sure.
Order compare(const Bounded& a, const Bounded& b) {
  if (is_nan(a) || is_nan(b)) return Order::Unordered;
  if (a.is_exact() && b.is_exact()) {
    if (a.value == b.value) return Order::Equal;
    return a.value < b.value ? Order::Less : Order::Greater;
  }
  if (highest_of(a) < lowest_of(b)) return Order::Less;
  if (highest_of(b) < lowest_of(a)) return Order::Greater;
  return Order::Unknown;
}

Bounded lt(const Format&, const Bounded& a, const Bounded& b, const Bounded&) {
  const Order order = compare(a, b);
  if (order != Order::Unknown) return of_bool(order == Order::Less);
  return lowest_of(a) >= highest_of(b) ? of_bool(false) : ambiguous();
}
Bounded eq(const Format&, const Bounded& a, const Bounded& b, const Bounded&) {
  const Order order = compare(a, b);
  return order == Order::Unknown ? ambiguous() : of_bool(order == Order::Equal);
}
Bounded ne(const Format&, const Bounded& a, const Bounded& b, const Bounded&) {
  const Order order = compare(a, b);
  return order == Order::Unknown ? ambiguous() : of_bool(order != Order::Equal);
}

}  // namespace

FloatKernel step_kernel(Fn fn) {
  switch (fn) {
    case Fn::Trunc: return whole<towards_zero>;
    case Fn::Floor: return whole<downwards>;
    case Fn::Ceil: return whole<upwards>;
    case Fn::Round: return whole<nearest_even>;
    case Fn::Lt: return lt;
    case Fn::Eq: return eq;
    case Fn::Ne: return ne;
    default: return nullptr;
  }
}

}  // namespace assay::reference
