#pragma once

#include "oracles/smt/formula.h"

namespace assay::smt {

// Whether a term multiplies integers that are no numbers, or divides by one.
bool is_nonlinear(const Formula& f, Term t);

// What is added of the products and quotients of integers that a formula speaks of.
enum class Lemmas : uint8_t {
  // a = b*q + r for each quotient; a quotient by c*k, or by what c divides without a rest, is one
  // by k of one by c; what is added to a dividend in multiples of its divisor leaves the rest as it
  // is; equals by equals are equal.
  Equations,
  // Besides, of each b and any two of the numbers that it is or might be multiplied by: that their
  // products by b are ordered as they are, b apart. There are many of those.
  Order,
};

// Requires it of a formula, so that a solver of linear arithmetic, to which each product is a
// number of its own, can do without more. Only what always holds is added. False if no product or
// divisor in it has two factors that are no numbers.
bool add_products(Formula& f, Lemmas lemmas);

}  // namespace assay::smt
