#pragma once

#include "oracles/reference/bounded.h"
#include "oracles/reference/rounding.h"

// Sums and products that are taken in any order, as they grow.
namespace assay::reference {

// What folds keep of elements that have no finite value.
struct Strange {
  bool unspecified = false;
  bool ambiguous = false;
  bool nan = false;
  bool infinite[2] = {};  // by sign
  bool loose_infinity = false;

  // Whether x is one of them.
  bool take(const Bounded& x);
  bool any() const { return unspecified || ambiguous || nan || infinite[0] || infinite[1]; }
};

// A sum of floats at the type of f, and the largest error of any tree of additions. It is exact if
// all partial sums are: the elements are multiples of one unit and few enough.
class Sum {
 public:
  explicit Sum(const Format& f) : f_(f) {}
  void take(const Bounded& x);
  // a * b, which a device may contract with the addition.
  void take_product(const Bounded& a, const Bounded& b);
  Bounded result() const;

 private:
  void add_finite(const Bounded& x);
  bool may_flush() const;
  Bounded strange_result() const;
  Bounded only_zeros() const;

  const Format& f_;
  Strange strange_;
  int64_t zeros_ = 0;
  bool positive_zero_ = false;
  int64_t count_ = 0;  // of what is no exact zero
  Bounded last_;       // of these
  Pair total_;
  double positive_ = 0;  // what all positive ones may come to, and all negative ones
  double negative_ = 0;
  double spread_ = 0;
  bool exact_ = true;
  int lowest_bit_ = 4000;  // the exponent of a unit that all are multiples of
  bool nonnegative_ = true;
};

// The same for products.
class Product {
 public:
  explicit Product(const Format& f) : f_(f) {}
  void take(const Bounded& x);
  Bounded result() const;

 private:
  // A positive number whose exponent has no end.
  struct Scaled {
    double mantissa = 1;
    int64_t exponent = 0;
    void multiply(double x);
    double value() const;
    double log2() const;
  };
  Bounded special_result() const;

  const Format& f_;
  Strange strange_;
  bool zero_ = false;
  bool negative_ = false;
  bool has_sign_ = true;
  int64_t count_ = 0;  // of what is not 1 or -1
  Bounded last_;       // of these
  Pair mantissa_ = {1, 0};
  int64_t exponent_ = 0;
  Scaled most_;     // of the magnitude
  Scaled largest_;  // of any partial product
  Scaled smallest_;
  bool bounded_ = false;  // whether some factor is not exact
  bool exact_ = true;     // whether none is, and odd_ is exact
  double odd_ = 1;        // the product of the odd factors, while it is small
  int64_t lowest_bit_ = 0;
  bool nonnegative_ = true;
};

}  // namespace assay::reference
