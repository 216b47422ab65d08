#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/uop/dtype.h"

namespace assay::uop {

// One scalar of any type, held as bits so that -0.0 and 0.0, and every NaN, are told apart. Signed
// integers and `index` are held sign-extended to 64 bits, all else zero-extended: equal values of
// one type have equal bits.
struct Value {
  DType dtype = DType::Void;
  uint64_t bits = 0;

  bool operator==(const Value&) const = default;
};

// An integer at type t by the numeric contract: integers wrap, bool is "not zero", floats round to
// nearest even (overflow as in round_to). For `index` the value must fit 64 bits.
Value of_int(DType t, Int128 value);
// A number at float type t, rounded to nearest even.
Value of_double(DType t, double value);
inline Value of_bool(bool value) { return {DType::Bool, value ? uint64_t{1} : uint64_t{0}}; }

// The exact integer that a bool, an `index` or an integer holds.
inline Int128 as_int(Value v) {
  const bool is_signed = kind_of(v.dtype) == Kind::Signed || v.dtype == DType::Index;
  return is_signed ? Int128{static_cast<int64_t>(v.bits)} : Int128{v.bits};
}
// The number that a float holds; exact, since every float type is part of f64.
double as_double(Value v);

bool is_nan(Value v);
// The quiet NaN that arithmetic at t yields: positive, no payload.
Value nan_of(DType t);

// A magnitude mantissa * 2^exponent, rounded to nearest even into float type t. A value that lies
// beyond the largest finite one after rounding becomes infinity, or NaN where t has none (e4m3).
Value round_to(DType t, bool negative, UInt128 mantissa, int exponent);

// The value at another type: integers wrap, to bool is "not zero" (NaN is not zero), floats round
// to nearest even, float to integer cuts towards zero. Nothing where the contract leaves the
// result unspecified: a float that the integer type cannot hold, an integer past what `index` can.
std::optional<Value> cast(Value v, DType to);
// The same bits read as another type; nothing unless both have the same width in bits (so bool and
// `index`, which have no fixed layout, have no bitcast but to themselves).
std::optional<Value> bitcast(Value v, DType to);

// Extremes and units of t. lowest() and highest() are the identities of max and min: the ends of
// an integer's range, infinities, or the largest finite numbers where there is no infinity.
Value lowest(DType t);
Value highest(DType t);
inline Value zero_of(DType t) { return of_int(t, 0); }
inline Value one_of(DType t) { return of_int(t, 1); }

// "7", "true", "-0.0", "inf", "nan" or, for a NaN that is not nan_of(), "nan:0x7fc00001". Reading
// gives back the same bits. Nothing is read from a text that is no number of type t or that its
// range (for integers) does not hold.
std::string to_text(Value v);
std::optional<Value> value_from_text(DType t, std::string_view text);

}  // namespace assay::uop
