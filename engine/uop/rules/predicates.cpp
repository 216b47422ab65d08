#include "engine/uop/rules/predicates.h"

#include <array>
#include <cmath>

#include "engine/uop/bounds.h"
#include "engine/uop/eval.h"
#include "engine/uop/unspecified.h"

namespace assay::uop {
namespace {

bool is_power_of_two(Graph&, std::span<const Ref> x) {
  const Value v = x[0]->value();
  const std::array operands = {v};
  const std::optional<Value> inverse = eval(Op::Recip, v.dtype, operands);
  int exponent = 0;
  const double mantissa = std::frexp(std::fabs(as_double(v)), &exponent);
  // The reciprocal of a power of two is one too, unless it leaves the type.
  return mantissa == 0.5 && inverse && as_double(*inverse) != 0 &&
         std::isfinite(as_double(*inverse));
}

}  // namespace

constexpr Predicate kIsMinusZero = {"minus_zero", [](Graph&, std::span<const Ref> x) {
                                      return x[0]->value() == of_double(x[0]->dtype, -0.0);
                                    }};
constexpr Predicate kIsPowerOfTwo = {"power_of_two", is_power_of_two};
constexpr Predicate kIsLowest = {
    "lowest", [](Graph&, std::span<const Ref> x) { return x[0]->value() == lowest(x[0]->dtype); }};
constexpr Predicate kIsHighest = {"highest", [](Graph&, std::span<const Ref> x) {
                                    return x[0]->value() == highest(x[0]->dtype);
                                  }};
constexpr Predicate kNeverInvalid = {
    "never_invalid", [](Graph& g, std::span<const Ref> x) { return !may_be_invalid(g, x[0]); }};
constexpr Predicate kNeverUnspecified = {"never_unspecified", [](Graph& g, std::span<const Ref> x) {
                                           return !may_be_unspecified(g, x[0]);
                                         }};
constexpr Predicate kIsNoConstant = {
    "no_constant", [](Graph&, std::span<const Ref> x) { return !is_const(x[0]); }};
constexpr Predicate kIsNotInvalid = {
    "not_invalid", [](Graph&, std::span<const Ref> x) { return x[0]->op != Op::Invalid; }};

}  // namespace assay::uop
