#include "oracles/reference/fold.h"
#include "oracles/reference/integers.h"
#include "oracles/reference/kernels.h"
#include "oracles/reference/licence.h"
#include "oracles/reference/settle.h"

namespace assay::reference {
namespace {

// A fold of integers or bool by a function of two.
class IntegerFold {
 public:
  IntegerFold(DType t, Fn fn, uop::Int128 unit) : t_(t), kernel_(integer_kernel(fn)) {
    total_ = integer_result(t, unit);
  }
  void take(const Bounded& x) {
    unspecified_ |= x.certainty == Certainty::Unspecified;
    ambiguous_ |= x.certainty == Certainty::Ambiguous;
    if (x.is_known() && total_.is_known()) total_ = kernel_(t_, total_, x, x);
  }
  Bounded result() const {
    if (unspecified_) return unspecified();
    return ambiguous_ ? ambiguous() : total_;
  }

 private:
  DType t_;
  IntegerKernel kernel_;
  bool unspecified_ = false;
  bool ambiguous_ = false;
  Bounded total_;
};

// The largest or the least of floats.
class Extreme {
 public:
  Extreme(const Format& f, bool larger) : f_(f), larger_(larger) {
    const double end = f.has_infinity ? kInfinity : f.largest;
    best_ = exact(larger ? -end : end);
  }
  void take(const Bounded& x) {
    unspecified_ |= x.certainty == Certainty::Unspecified;
    ambiguous_ |= x.certainty == Certainty::Ambiguous;
    if (!x.is_known()) return;
    const Bounded seen = opened(f_, x);
    best_ = larger_ ? max_floats(best_, seen) : min_floats(best_, seen);
  }
  Bounded result() const {
    if (unspecified_) return unspecified();
    return ambiguous_ ? ambiguous() : best_;
  }

 private:
  const Format& f_;
  bool larger_;
  bool unspecified_ = false;
  bool ambiguous_ = false;
  Bounded best_;
};

template <typename Fold>
Bounded run(Fold fold, std::span<Bounded> out, std::span<const Bounded> x) {
  for (size_t i = 0; i < x.size(); i++) {
    fold.take(x[i]);
    if (!out.empty()) out[i] = fold.result();
  }
  return fold.result();
}

// Each fills out, where it is not empty, with the folds up to each element.
Bounded fold_sum(Type t, std::span<Bounded> out, std::span<const Bounded> x) {
  if (uop::is_float(t)) return run(Sum(t.licence->format(t)), out, x);
  return run(IntegerFold(t, Fn::Add, 0), out, x);
}
Bounded fold_product(Type t, std::span<Bounded> out, std::span<const Bounded> x) {
  if (uop::is_float(t)) return run(Product(t.licence->format(t)), out, x);
  return run(IntegerFold(t, Fn::Mul, 1), out, x);
}
Bounded fold_maximum(Type t, std::span<Bounded> out, std::span<const Bounded> x) {
  if (uop::is_float(t)) return run(Extreme(t.licence->format(t), true), out, x);
  return run(IntegerFold(t, Fn::Max, uop::min_int(t)), out, x);
}
Bounded fold_minimum(Type t, std::span<Bounded> out, std::span<const Bounded> x) {
  if (uop::is_float(t)) return run(Extreme(t.licence->format(t), false), out, x);
  return run(IntegerFold(t, Fn::Min, uop::max_int(t)), out, x);
}

}  // namespace

Bounded sum(Type t, std::span<const Bounded> x) { return fold_sum(t, {}, x); }
Bounded product(Type t, std::span<const Bounded> x) { return fold_product(t, {}, x); }
Bounded maximum(Type t, std::span<const Bounded> x) { return fold_maximum(t, {}, x); }
Bounded minimum(Type t, std::span<const Bounded> x) { return fold_minimum(t, {}, x); }

void scan_sum(Type t, std::span<Bounded> out, std::span<const Bounded> x) { fold_sum(t, out, x); }
void scan_product(Type t, std::span<Bounded> out, std::span<const Bounded> x) {
  fold_product(t, out, x);
}
void scan_maximum(Type t, std::span<Bounded> out, std::span<const Bounded> x) {
  fold_maximum(t, out, x);
}
void scan_minimum(Type t, std::span<Bounded> out, std::span<const Bounded> x) {
  fold_minimum(t, out, x);
}

Bounded dot(Type t, std::span<const Bounded> a, std::span<const Bounded> b) {
  return dot(t, a.data(), 1, b.data(), 1, static_cast<int64_t>(a.size()));
}

Bounded dot(Type t, const Bounded* a, int64_t a_step, const Bounded* b, int64_t b_step, int64_t n) {
  if (uop::is_float(t)) {
    Sum fold(t.licence->format(t));
    for (int64_t i = 0; i < n; i++) fold.take_product(a[i * a_step], b[i * b_step]);
    return fold.result();
  }
  IntegerFold fold(t, Fn::Add, 0);
  for (int64_t i = 0; i < n; i++) fold.take(apply(Fn::Mul, t, a[i * a_step], b[i * b_step]));
  return fold.result();
}

}  // namespace assay::reference
