#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oracles/reference/bounded.h"

// A device for tests: it computes by MPFR, with numbers of 400 bits, rounds at the type, and its
// functions are off by as much as their limits allow. It shares no arithmetic with the reference.
namespace assay::reference {

inline constexpr DType kAllFloats[] = {DType::E4M3, DType::E5M2, DType::F16,
                                       DType::BF16, DType::F32,  DType::F64};

// SplitMix64: the same numbers everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next();
  // Below n.
  int64_t below(int64_t n) { return static_cast<int64_t>(next() % static_cast<uint64_t>(n)); }
  // In [-1, 1].
  double signed_unit() { return static_cast<double>(static_cast<int64_t>(next())) * 0x1p-63; }
  bool chance(int64_t of) { return below(of) == 0; }

 private:
  uint64_t state_;
};

// The number of t nearest to x, ties to even; past the range an infinity, or NaN.
double nearest(DType t, double x);
// A number of t: any bits, or near one, or a small whole number, or a nasty one.
double number(Random& random, DType t);
// One unit in the last place of x, which is finite.
double unit_of(DType t, double x);

// fn of numbers of t. Within its limit it is off by `skew` (-1 to 1) times what remains of the
// limit after rounding. Claims are 0 and 1.
double device(Fn fn, DType t, double x, double y, double z, double skew);
// The same before it is rounded, of functions that are rounded once.
double unrounded(Fn fn, double x, double y, double z);

// Whether the reference admits this result of a device: a number of t, or 0 and 1 where t is bool.
bool admits(const Bounded& expected, DType t, double actual);
// |actual - value|, of finite numbers.
double error_of(const Bounded& expected, double actual);
std::string show(const Bounded& x);

// An operand: what is known of it, and what the device has.
struct Operand {
  Bounded known;
  double actual;
};
Operand exact_operand(Random& random, DType t);
// Within some units of a finite number.
Operand bounded_operand(Random& random, DType t);

// What a long test found first, and how much of all it masked.
class Tally {
 public:
  void judge(const Bounded& expected, DType t, double actual, const std::string& what);
  std::string trouble() const;
  double masked() const;
  // The median of bound / max(error, half a unit) where there is a bound; 0 where there is none.
  double looseness();
  int64_t seen() const { return seen_; }

 private:
  int64_t seen_ = 0;
  int64_t masked_ = 0;
  int64_t outside_ = 0;
  std::string first_;
  std::vector<double> ratios_;
};

}  // namespace assay::reference
