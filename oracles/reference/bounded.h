#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "engine/uop/dtype.h"

namespace assay::reference {

using uop::DType;

// What is known of one element of a correct result.
enum class Certainty : uint8_t {
  Exact,        // bits, which every correct result has (integers, bool, moved floats)
  Bounded,      // a float within `bound` of `value`
  Unspecified,  // may be anything
  Ambiguous,    // depends on which value within its bound an operand has (a comparison, a floor)
};

// One element. Integers and bool are exact: `integer`, sign-extended (u64 as its bits). A float is
// value + low (double-double) and a correct result lies within `bound` of that; low is 0 at every
// type but f64. An exact float is a number of its type, an infinity or a NaN, and has bound 0. Of a
// NaN whose bits are known (not loose_nan) `integer` holds the bits.
struct Bounded {
  double value = 0;
  double low = 0;
  double bound = 0;
  int64_t integer = 0;
  Certainty certainty = Certainty::Exact;
  bool loose_zero = false;      // an exact zero of either sign
  bool loose_nan = true;        // if it is a NaN: one of any bits
  bool loose_infinity = false;  // a product past the range, which a contraction may still add to
  bool nonnegative = false;     // no correct result is below zero, wherever the bound reaches

  bool is_known() const { return certainty <= Certainty::Bounded; }
  bool is_exact() const { return certainty == Certainty::Exact; }
};

enum class Fn : uint8_t {
#define FN(name, operands, over) name,
#include "oracles/reference/fn.def"
#undef FN
};

#define FN(name, operands, over) +1
inline constexpr int kFnCount = 0
#include "oracles/reference/fn.def"
    ;
#undef FN

std::string_view name_of(Fn fn);
int operands_of(Fn fn);
uop::TypeSet types_of(Fn fn);
// Lt, Eq, Ne, IsNan and IsInf give bool at every type.
DType result_type(Fn fn, DType t);

// A type that is computed at, and what devices may do to floats there (licence.h). A type by itself
// stands for the full profile.
class Licence;
const Licence& full_profile();
struct Type {
  DType dtype;
  const Licence* licence = &full_profile();

  Type(DType t) : dtype(t) {}  // NOLINT(google-explicit-constructor): as said above
  Type(DType t, const Licence& what) : dtype(t), licence(&what) {}
  operator DType() const { return dtype; }  // NOLINT(google-explicit-constructor): most ask no more
};

// A device's fn at float type t is at most this many units in the last place from the exact result;
// 0.5 where it rounds once to nearest even.
double ulp_limit(Fn fn, Type t);

// fn of operands of type t (the first of Where is bool). Where looks only at what it picks; else
// what is unspecified or ambiguous of an operand is so of the result.
//
// Floats. An exact result that is a number of its type is exact, and so is the one rounding of Add,
// Sub and Fma of exact operands. What has a limit is not, but where IEEE 754 or C99 fix the result
// (exp(0), x / inf, pow(x, 0)). A product is left unrounded, within half a unit, since a device may
// contract it with a sum. A result that may or may not overflow is ambiguous. What may be subnormal
// lies between that and zero where it may be flushed.
Bounded apply(Fn fn, Type t, const Bounded& a, const Bounded& b = {}, const Bounded& c = {});

// The same, element by element. Operands are as long as out or have one element, which stands for
// all; those that fn has not are empty.
void apply(Fn fn, Type t, std::span<Bounded> out, std::span<const Bounded> a,
           std::span<const Bounded> b = {}, std::span<const Bounded> c = {});

// The value at another type (engine/uop/README.md, Conversions). Of an exact operand the result is
// exact: no device may leave out this rounding.
Bounded cast(const Bounded& x, DType from, DType to);
void cast(std::span<Bounded> out, std::span<const Bounded> x, DType from, DType to);

// Numbers at a type. An integer wraps (bool: is not zero), a float rounds to nearest even.
Bounded of_integer(DType t, uop::Int128 value);
Bounded of_double(DType t, double value);
Bounded unspecified();
Bounded ambiguous();

// Bits at a type, zero-extended. There are none where not every correct result has the same.
Bounded from_bits(DType t, uint64_t bits);
std::optional<uint64_t> to_bits(const Bounded& x, DType t);
// The same bits at another type of that width. Unspecified of a NaN of any bits, ambiguous of a
// value within a bound.
Bounded bitcast(const Bounded& x, DType from, DType to);

// The least and largest number that a known, finite float may be.
double lowest_of(const Bounded& x);
double highest_of(const Bounded& x);

// Folds of elements of type t, computed at t (cast to the type to accumulate in first). The bound
// holds for any order and any tree of additions, from zero (one) or from the first element, with
// products contracted or not. Of nothing they are 0, 1, and the ends of the type.
Bounded sum(Type t, std::span<const Bounded> x);
Bounded product(Type t, std::span<const Bounded> x);
Bounded maximum(Type t, std::span<const Bounded> x);
Bounded minimum(Type t, std::span<const Bounded> x);
// The sum of a[i] * b[i]; with a step, of a[i * a_step] * b[i * b_step], n of them.
Bounded dot(Type t, std::span<const Bounded> a, std::span<const Bounded> b);
Bounded dot(Type t, const Bounded* a, int64_t a_step, const Bounded* b, int64_t b_step, int64_t n);

// The fold of x up to and with each element.
void scan_sum(Type t, std::span<Bounded> out, std::span<const Bounded> x);
void scan_product(Type t, std::span<Bounded> out, std::span<const Bounded> x);
void scan_maximum(Type t, std::span<Bounded> out, std::span<const Bounded> x);
void scan_minimum(Type t, std::span<Bounded> out, std::span<const Bounded> x);

}  // namespace assay::reference
