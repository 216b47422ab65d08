#include "oracles/kernels/error_bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/uop/bounds.h"
#include "engine/uop/node_map.h"
#include "engine/uop/value.h"
#include "engine/uop/walk.h"

namespace assay::oracles {
namespace {

using uop::DType;
using uop::Op;
using uop::Ref;

// Units in the last place that a function may be off by, of two devices each.
constexpr double kFunctionUnits = 16;

// A float: its largest magnitude, the distance of two devices, and whether it is an integer.
struct Extent {
  double most = 0;
  double error = 0;
  bool is_integer = true;
};

double epsilon(DType t) {
  const uop::Value one = uop::one_of(t);
  return uop::as_double(uop::Value{t, one.bits + 1}) - uop::as_double(one);
}
// No number below this is too large for the type.
double largest_of(DType t) { return std::ldexp(1, uop::format_of(t).max_exponent()); }

class Bounding {
 public:
  Bounding(uop::Graph& g, double largest) : g_(g), largest_(largest) {}

  ErrorBound of(Ref kernel) {
    ErrorBound bound;
    for (const Ref u : uop::toposort(g_, kernel)) {
      check(u);
      if (u->op == Op::Store && uop::is_float(u->src[1]->dtype)) {
        bound.most = std::max(bound.most, at(u->src[1]).error);
      }
      if (uop::is_float(u->dtype)) extents_.set(u, extent(u));
    }
    bound.undecided = undecided_;
    return bound;
  }

 private:
  Extent at(Ref u) const {
    const Extent* e = extents_.find(u);
    return e != nullptr ? *e : Extent{};
  }
  void undecided(std::string why) {
    if (undecided_.empty()) undecided_ = std::move(why);
  }

  // What is of another type than float, and decides by floats or is unspecified.
  void check(Ref u) {
    switch (u->op) {
      case Op::Lt:
      case Op::Eq:
      case Op::Ne:
        if (at(u->src[0]).error + at(u->src[1]).error > 0) undecided("it compares what is rounded");
        return;
      case Op::Div:
      case Op::Mod:
      case Op::TDiv:
      case Op::TMod: {
        const uop::Bounds b = uop::bounds(g_, u->src[1]);
        if (b.lo <= 0 && b.hi >= 0) undecided("it may divide by zero");
        return;
      }
      case Op::Pow: {
        const uop::Bounds x = uop::bounds(g_, u->src[0]);
        const bool is_quotient = uop::is_int(u->dtype) && uop::bounds(g_, u->src[1]).lo < 0;
        if (is_quotient && x.lo <= 0 && x.hi >= 0) undecided("it may divide by zero");
        return;
      }
      case Op::Shl:
      case Op::Shr: {
        const uop::Bounds b = uop::bounds(g_, u->src[1]);
        if (b.lo < 0 || b.hi >= uop::bits_of(u->dtype)) undecided("it may shift too far");
        return;
      }
      case Op::Cast: {
        if (!uop::is_float(u->src[0]->dtype) || uop::is_float(u->dtype)) return;
        const Extent x = at(u->src[0]);
        if (x.error > 0 && u->dtype != DType::Bool)
          undecided("it makes an integer of what is rounded");
        const uop::Bounds b = {uop::min_int(u->dtype), uop::max_int(u->dtype)};
        if (u->dtype != DType::Bool &&
            (x.most > static_cast<double>(b.hi) || -x.most < static_cast<double>(b.lo))) {
          undecided("a float may not fit the integer it becomes");
        }
        return;
      }
      case Op::Bitcast:
        if (at(u->src[0]).error > 0) undecided("it takes the bits of what is rounded");
        return;
      default: return;
    }
  }

  // The same once it is rounded to its type, by `units` in the last place.
  Extent rounded(Extent x, DType t, double units = 1) {
    const double eps = epsilon(t);
    const bool is_exact = x.is_integer && x.error == 0 && x.most * eps <= 2;
    if (!is_exact) x.error += units * eps * x.most;
    if (x.most > largest_of(t)) undecided(fmt::format("it may leave {}", uop::to_text(t)));
    return x;
  }
  Extent function(Extent x, DType t) {
    x.is_integer = false;
    return rounded(x, t, kFunctionUnits);
  }
  Extent unknown(std::string_view why) {
    undecided(std::string(why));
    return {1, 0, false};
  }

  Extent extent(Ref u) {
    const auto x = [&](size_t k) { return at(u->src[k]); };
    const DType t = u->dtype;
    switch (u->op) {
      case Op::Const: {
        const double c = uop::as_double(uop::Value{t, u->arg.bits});
        return {std::isfinite(c) ? std::abs(c) : 0, 0, std::isfinite(c) && c == std::trunc(c)};
      }
      case Op::Param:
      case Op::Index: return {largest_, 0, true};
      case Op::Add:
      case Op::Sub:
        return rounded(
            {x(0).most + x(1).most, x(0).error + x(1).error, x(0).is_integer && x(1).is_integer},
            t);
      case Op::Mul: return rounded(product(x(0), x(1)), t);
      case Op::Fma: {
        const Extent p = product(x(0), x(1));
        return rounded({p.most + x(2).most, p.error + x(2).error, p.is_integer && x(2).is_integer},
                       t);
      }
      case Op::FDiv: return quotient(x(0), x(1), t);
      case Op::Recip: return quotient({1, 0, true}, x(0), t);
      case Op::Neg:
      case Op::After:
      case Op::End: return x(0);
      case Op::Max:
      case Op::Min: return either(x(0), x(1));
      case Op::Where: return either(x(1), x(2));
      case Op::Trunc:
      case Op::Floor:
      case Op::Ceil:
      case Op::Round:
        if (x(0).error > 0) return unknown("it rounds to integers what is rounded");
        return {x(0).most, 0, true};
      case Op::Sqrt: return function({std::sqrt(x(0).most), std::sqrt(x(0).error), false}, t);
      case Op::Exp:
      case Op::Exp2: {
        const double most = std::exp(x(0).most);
        return function({most, most * std::expm1(x(0).error), false}, t);
      }
      case Op::Sin:
      case Op::Cos: return function({1, x(0).error, false}, t);
      case Op::Log:
      case Op::Log2:
        if (x(0).error > 0 || !x(0).is_integer) return unknown("it takes a logarithm near zero");
        return function({std::max(1.0, std::log2(x(0).most)), 0, false}, t);
      case Op::Cast: return converted(u);
      case Op::Reduce: return folded(u);
      case Op::Invalid: return {};
      default: return unknown(fmt::format("it has {}", uop::to_text(u->op)));
    }
  }

  static Extent product(Extent a, Extent b) {
    return {a.most * b.most, a.error * b.most + b.error * a.most + a.error * b.error,
            a.is_integer && b.is_integer};
  }
  static Extent either(Extent a, Extent b) {
    return {std::max(a.most, b.most), std::max(a.error, b.error), a.is_integer && b.is_integer};
  }
  // An integer that divides is 1 at least, or zero for all devices.
  Extent quotient(Extent a, Extent b, DType t) {
    if (b.error > 0 || !b.is_integer) return unknown("it divides by what may be near zero");
    return function({a.most, a.error, false}, t);
  }
  Extent converted(Ref u) {
    const Ref from = u->src[0];
    if (uop::is_float(from->dtype)) return rounded(at(from), u->dtype);
    const uop::Bounds b = uop::bounds(g_, from);
    const double most =
        std::max(std::abs(static_cast<double>(b.lo)), std::abs(static_cast<double>(b.hi)));
    if (most > largest_of(u->dtype))
      undecided(fmt::format("it may leave {}", uop::to_text(u->dtype)));
    return {most, 0, true};  // rounded once, and so the same everywhere
  }
  Extent folded(Ref u) {
    double times = 1;
    for (const Ref r : u->src.subspan(1)) {
      times *= static_cast<double>(uop::bounds(g_, r).hi) + 1;
    }
    const Extent x = at(u->src[0]);
    switch (u->arg.fold_op()) {
      case Op::Add:
        return rounded({x.most * times, x.error * times, x.is_integer}, u->dtype, times);
      case Op::Mul: {
        const double most = std::pow(std::max(x.most, 1.0), times);
        return rounded({most, x.error * times * most, x.is_integer}, u->dtype, times);
      }
      default: return x;
    }
  }

  uop::Graph& g_;
  double largest_;
  uop::NodeMap<Extent> extents_;
  std::string undecided_;
};

}  // namespace

ErrorBound error_bound(uop::Graph& g, Ref kernel, double largest) {
  return Bounding(g, largest).of(kernel);
}

}  // namespace assay::oracles
