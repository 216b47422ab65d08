#include "oracles/reference/bounded.h"

#include "engine/check.h"
#include "oracles/reference/kernels.h"
#include "oracles/reference/licence.h"
#include "oracles/reference/settle.h"

namespace assay::reference {
namespace {

using enum uop::DType;
using uop::kFloats;
using uop::kInts;
using uop::kLogic;
using uop::kNumbers;
using uop::kScalars;
using uop::TypeSet;

struct FnRow {
  std::string_view name;
  int operands;
  TypeSet over;
};

constexpr FnRow kBoundedRows[] = {
#define FN(name, operands, over) {#name, operands, over},
#include "oracles/reference/fn.def"
#undef FN
};

const FnRow& row(Fn fn) { return kBoundedRows[static_cast<int>(fn)]; }

constexpr bool gives_bool(Fn fn) {
  return fn == Fn::Lt || fn == Fn::Eq || fn == Fn::Ne || fn == Fn::IsNan || fn == Fn::IsInf;
}

// What a result is of operands that are not all known.
Bounded unknown_of(const Bounded& a, const Bounded& b, const Bounded& c) {
  for (const Bounded* x : {&a, &b, &c}) {
    if (x->certainty == Certainty::Unspecified) return unspecified();
  }
  return ambiguous();
}

// Where the condition may be either, the result lies within both operands, if these overlap: what
// is continuous is bounded. Else it is one of two things.
Bounded either(DType t, const Bounded& a, const Bounded& b) {
  if (!a.is_known() || !b.is_known()) return unknown_of(a, b, {});
  if (!uop::is_float(t)) return a.integer == b.integer ? a : ambiguous();
  if (is_nan(a) && is_nan(b)) return nan();
  if (!is_finite(a) || !is_finite(b)) return a.value == b.value ? a : ambiguous();
  if (a.is_exact() && b.is_exact()) {
    if (a.value != b.value) return ambiguous();
    return is_negative(a) == is_negative(b) && !a.loose_zero ? b : loose_zero();
  }
  const double low = std::min(lowest_of(a), lowest_of(b));
  const double high = std::max(highest_of(a), highest_of(b));
  if (std::max(lowest_of(a), lowest_of(b)) > std::min(highest_of(a), highest_of(b))) {
    return ambiguous();
  }
  Bounded r = a;
  r.certainty = Certainty::Bounded;
  r.bound = std::max(high - a.value, a.value - low) * kSlack + std::fabs(a.low);
  r.loose_zero = false;
  r.nonnegative = !may_be_negative(a) && !may_be_negative(b);
  return r;
}

Bounded where(DType t, const Bounded& condition, const Bounded& a, const Bounded& b) {
  if (condition.is_exact()) return condition.integer != 0 ? a : b;
  if (condition.certainty == Certainty::Unspecified) return unspecified();
  return either(t, a, b);
}

// The place of element i among operands of that many elements.
size_t place(size_t i, size_t size) { return size == 1 ? 0 : i; }

template <typename F>
void for_each(std::span<Bounded> out, std::span<const Bounded> a, std::span<const Bounded> b,
              std::span<const Bounded> c, F f) {
  static constexpr Bounded kNone;
  for (size_t i = 0; i < out.size(); i++) {
    const Bounded& y = b.empty() ? kNone : b[place(i, b.size())];
    const Bounded& z = c.empty() ? kNone : c[place(i, c.size())];
    out[i] = f(a[place(i, a.size())], y, z);
  }
}

}  // namespace

std::string_view name_of(Fn fn) { return row(fn).name; }
int operands_of(Fn fn) { return row(fn).operands; }
double ulp_limit(Fn fn, Type t) { return t.licence->format(t).limit(fn); }
TypeSet types_of(Fn fn) { return row(fn).over; }
DType result_type(Fn fn, DType t) { return gives_bool(fn) ? Bool : t; }

Bounded unspecified() {
  Bounded r;
  r.certainty = Certainty::Unspecified;
  return r;
}
Bounded ambiguous() {
  Bounded r;
  r.certainty = Certainty::Ambiguous;
  return r;
}

// One double further out is further than the rounding of the difference.
double lowest_of(const Bounded& x) {
  if (x.bound == 0) return x.value;
  const double low = std::nextafter(x.value + (x.low - x.bound), -kInfinity);
  return x.nonnegative ? std::max(low, 0.0) : low;
}
double highest_of(const Bounded& x) {
  if (x.bound == 0) return x.value;
  return std::nextafter(x.value + (x.low + x.bound), kInfinity);
}

Bounded apply(Fn fn, Type t, const Bounded& a, const Bounded& b, const Bounded& c) {
  Bounded result;
  apply(fn, t, {&result, 1}, {&a, 1}, {&b, 1}, {&c, 1});
  return result;
}

void apply(Fn fn, Type t, std::span<Bounded> out, std::span<const Bounded> a,
           std::span<const Bounded> b, std::span<const Bounded> c) {
  ASSAY_CHECK(row(fn).over.has(t), "{} has no meaning at {}", name_of(fn), uop::to_text(t));
  if (fn == Fn::Where) {
    for_each(out, a, b, c, [&](const Bounded& x, const Bounded& y, const Bounded& z) {
      return where(t, x, y, z);
    });
    return;
  }
  // Operands that fn has not count as known.
  if (row(fn).operands < 3) c = {};
  if (row(fn).operands < 2) b = {};
  if (uop::is_float(t)) {
    const FloatKernel kernel = float_kernel(fn);
    const Format& f = t.licence->format(t);
    const bool may_flush = f.flush > 0 && is_arithmetic(fn);
    for_each(out, a, b, c, [&](const Bounded& x, const Bounded& y, const Bounded& z) {
      if (!x.is_known() || !y.is_known() || !z.is_known()) return unknown_of(x, y, z);
      const Bounded r =
          may_flush ? kernel(f, opened(f, x), opened(f, y), opened(f, z)) : kernel(f, x, y, z);
      return is_inf(r) && !f.has_infinity ? nan() : r;
    });
    return;
  }
  const IntegerKernel kernel = integer_kernel(fn);
  for_each(out, a, b, c, [&](const Bounded& x, const Bounded& y, const Bounded& z) {
    if (!x.is_known() || !y.is_known() || !z.is_known()) return unknown_of(x, y, z);
    return kernel(t, x, y, z);
  });
}

}  // namespace assay::reference
