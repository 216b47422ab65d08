#include "props/rules/meaning.h"

#include <algorithm>

namespace assay::props {
namespace {

using uop::DType;
using uop::FloatFormat;
using uop::Value;

uint64_t sign_bit(DType t) { return uint64_t{1} << (uop::bits_of(t) - 1); }

std::vector<Value> minus_zero(DType t) {
  if (!uop::is_float(t)) return {};
  return {{t, sign_bit(t)}};
}

// 2^k, which t has: a normal number, or a subnormal one.
Value float_power_of_two(DType t, int k) {
  const FloatFormat f = uop::format_of(t);
  const int least_normal = 1 - f.bias();
  if (k >= least_normal) return {t, static_cast<uint64_t>(k + f.bias()) << f.mantissa_bits};
  return {t, uint64_t{1} << (k - f.min_exponent())};
}

// A power of two whose inverse is one too: both exponents lie within the type.
std::vector<Value> power_of_two(DType t) {
  if (!uop::is_float(t)) return {};
  const FloatFormat f = uop::format_of(t);
  std::vector<Value> all;
  for (int k = f.min_exponent(); k <= f.max_exponent(); k++) {
    if (-k < f.min_exponent() || -k > f.max_exponent()) continue;
    const Value v = float_power_of_two(t, k);
    all.push_back(v);
    all.push_back({t, v.bits | sign_bit(t)});
  }
  std::sort(all.begin(), all.end(), [](Value a, Value b) { return a.bits < b.bits; });
  return all;
}

// The largest number of a float type: infinity, or 448 in e4m3.
Value largest(DType t) {
  if (t == DType::E4M3) return {t, 0x7E};
  const FloatFormat f = uop::format_of(t);
  return {t, ((uint64_t{1} << f.exponent_bits) - 1) << f.mantissa_bits};
}

std::vector<Value> lowest(DType t) {
  if (t == DType::Bool) return {uop::of_bool(false)};
  if (uop::is_float(t)) return {{t, largest(t).bits | sign_bit(t)}};
  return {uop::of_int(t, uop::min_int(t))};
}

std::vector<Value> highest(DType t) {
  if (t == DType::Bool) return {uop::of_bool(true)};
  if (uop::is_float(t)) return {largest(t)};
  return {uop::of_int(t, uop::max_int(t))};
}

}  // namespace

std::span<const Meaning> all_meanings() {
  using Says = Meaning::Says;
  static constexpr Meaning kMeanings[] = {
      // predicate, says, values
      {"minus_zero", Says::IsOneOf, minus_zero},
      {"power_of_two", Says::IsOneOf, power_of_two},
      {"lowest", Says::IsOneOf, lowest},
      {"highest", Says::IsOneOf, highest},
      {"never_invalid", Says::NotInvalid},
      {"never_unspecified", Says::NotUnspecified},
      {"no_constant", Says::Nothing},
      {"not_invalid", Says::Nothing},
  };
  return kMeanings;
}

const Meaning* meaning_of(std::string_view predicate) {
  const auto all = all_meanings();
  const auto at = std::find_if(all.begin(), all.end(),
                               [&](const Meaning& m) { return m.predicate == predicate; });
  return at == all.end() ? nullptr : &*at;
}

}  // namespace assay::props
