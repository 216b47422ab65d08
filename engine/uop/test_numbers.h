#pragma once

#include <cfloat>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/check.h"
#include "engine/uop/sample.h"
#include "engine/uop/value.h"

// Arithmetic for tests that shares no code with dtype, value, eval and functions: what they are
// judged by. It rests on the compiler's _Float16, float, double and 64-bit-mantissa long double,
// and on a search in the sorted list of all numbers of a type.
namespace assay::uop {

static_assert(LDBL_MANT_DIG == 64, "long double must hold any 64-bit integer");

inline constexpr DType kSmallFloats[] = {E4M3, E5M2, F16, BF16};
inline constexpr DType kAllFloats[] = {E4M3, E5M2, F16, BF16, F32, F64};
inline constexpr DType kAllScalars[] = {Bool, Index, I8,   U8,   I16, U16,  I32, U32,
                                        I64,  U64,   E4M3, E5M2, F16, BF16, F32, F64};

// Exhaustive loops of 2^24 steps take every step in an optimized build, and every `slow`th in one
// that is not.
#ifdef __OPTIMIZE__
constexpr int stride(int /*slow*/) { return 1; }
#else
constexpr int stride(int slow) { return slow; }
#endif

// Calls f.operator()<T>(t) for each integer type and the C++ type T that is it.
template <typename F>
void for_each_int(F f) {
  f.template operator()<int8_t>(I8);
  f.template operator()<uint8_t>(U8);
  f.template operator()<int16_t>(I16);
  f.template operator()<uint16_t>(U16);
  f.template operator()<int32_t>(I32);
  f.template operator()<uint32_t>(U32);
  f.template operator()<int64_t>(I64);
  f.template operator()<uint64_t>(U64);
}

// What x holds, where there must be something.
template <typename T>
T sure(const std::optional<T>& x) {
  ASSAY_CHECK(x.has_value(), "nothing where a value must be");
  return *x;
}

// The integer x as Value holds it: sign- or zero-extended.
template <typename T>
Value held(DType t, T x) {
  return {t, static_cast<uint64_t>(x)};
}
Value f32(float x);
Value f64(double x);

// Every value of a type of at most 16 bits, in the order of its bits.
std::vector<Value> all_values(DType t);
// Every value of such a type; of a wider one the special values and many random ones.
std::vector<Value> some_values(DType t);

// The number that v holds, exactly: an integer, a float, or false and true as 0 and 1.
long double decode(Value v);
// The quiet NaN that operations at t yield.
Value default_nan(DType t);
// x at float type t: the nearest number, of two the even one.
Value nearest(DType t, long double x);
// The neighbour of v away from zero in a type of at most 16 bits; past the largest number the one
// that a wider exponent would give. v is finite and not negative.
long double next_magnitude(Value v);

// Any bits of t; for floats half of them near one, so that sums and products stay finite.
Value any_bits(Random& random, DType t);

std::string show(const std::optional<Value>& v);  // "e4m3:0x7f (nan)"

// What went wrong first in a long loop, and how often.
class Ledger {
 public:
  void same(std::string_view what, std::span<const Value> in, const std::optional<Value>& got,
            const std::optional<Value>& want);
  // Empty if all was the same, and something was compared.
  std::string trouble() const;

 private:
  uint64_t compared_ = 0;
  uint64_t differ_ = 0;
  std::string first_;
};

}  // namespace assay::uop
