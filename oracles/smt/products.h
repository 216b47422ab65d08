#pragma once

#include "oracles/smt/formula.h"

namespace assay::smt {

// Requires what holds of the products and quotients of integers that a formula speaks of, so that a
// solver of linear arithmetic, to which each product is a number of its own, can do without more:
// a = b*q + r for each quotient; a quotient by c*k, or by what c divides without a rest, is one by
// k of one by c; and for each b and any two of the numbers that it is or might be multiplied by,
// that their products by b are ordered as they are, b apart. Only what always holds is added. False
// if no product or divisor in it has two factors that are no numbers.
bool add_products(Formula& f);

}  // namespace assay::smt
