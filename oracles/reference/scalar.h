#pragma once

#include <span>

#include "oracles/reference/bounded.h"

namespace assay::reference {

// Scalar arithmetic at one type, in which composites are written as the table of ops says them.
struct At {
  Type t;

  Bounded number(double v) const { return of_double(t, v); }
  Bounded from(const Bounded& x, DType type) const { return cast(x, type, t); }

  Bounded neg(const Bounded& x) const { return apply(Fn::Neg, t, x); }
  Bounded abs(const Bounded& x) const { return apply(Fn::Abs, t, x); }
  Bounded square(const Bounded& x) const { return apply(Fn::Square, t, x); }
  Bounded recip(const Bounded& x) const { return apply(Fn::Recip, t, x); }
  Bounded sqrt(const Bounded& x) const { return apply(Fn::Sqrt, t, x); }
  Bounded exp(const Bounded& x) const { return apply(Fn::Exp, t, x); }
  Bounded log(const Bounded& x) const { return apply(Fn::Log, t, x); }
  Bounded log2(const Bounded& x) const { return apply(Fn::Log2, t, x); }
  Bounded trunc(const Bounded& x) const { return apply(Fn::Trunc, t, x); }

  Bounded add(const Bounded& x, const Bounded& y) const { return apply(Fn::Add, t, x, y); }
  Bounded sub(const Bounded& x, const Bounded& y) const { return apply(Fn::Sub, t, x, y); }
  Bounded mul(const Bounded& x, const Bounded& y) const { return apply(Fn::Mul, t, x, y); }
  Bounded div(const Bounded& x, const Bounded& y) const { return apply(Fn::Div, t, x, y); }
  Bounded max(const Bounded& x, const Bounded& y) const { return apply(Fn::Max, t, x, y); }
  Bounded min(const Bounded& x, const Bounded& y) const { return apply(Fn::Min, t, x, y); }
  // A NaN is one with whatever sign.
  Bounded copysign(const Bounded& x, const Bounded& y) const {
    return x.is_known() && x.value != x.value ? x : apply(Fn::CopySign, t, x, y);
  }
  // These two give bool.
  Bounded lt(const Bounded& x, const Bounded& y) const { return apply(Fn::Lt, t, x, y); }
  Bounded eq(const Bounded& x, const Bounded& y) const { return apply(Fn::Eq, t, x, y); }
  // x where c (bool), else y. Where it is open which, the result lies between both: what is
  // composed of branches that meet loses nothing where they do.
  Bounded pick(const Bounded& c, const Bounded& x, const Bounded& y) const;
};

// A float at least lo and at most hi, which are finite.
Bounded between(DType t, double lo, double hi);

// What composites give bool by.
inline Bounded negation(const Bounded& x) { return apply(Fn::Not, uop::Bool, x); }
inline Bounded either(const Bounded& x, const Bounded& y) { return apply(Fn::Or, uop::Bool, x, y); }
inline Bounded both(const Bounded& x, const Bounded& y) { return apply(Fn::And, uop::Bool, x, y); }

}  // namespace assay::reference
