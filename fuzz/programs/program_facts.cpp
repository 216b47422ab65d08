#include <cmath>

#include "engine/uop/value.h"
#include "fuzz/programs/program_maker.h"

namespace assay::fuzz {

using tensor::Size;
using tensor::SizeStep;

Size size_of(int64_t n) { return {n, {}}; }

Size size_of(Dim d) {
  if (d.variable < 0) return size_of(int64_t{d.now});
  return {0, {{SizeStep::Kind::Variable, d.variable}}};
}

std::vector<Size> sizes_of(const std::vector<int64_t>& sizes) {
  std::vector<Size> result;
  result.reserve(sizes.size());
  for (const int64_t n : sizes) result.push_back(size_of(n));
  return result;
}

std::vector<Size> sizes_of(std::initializer_list<int64_t> sizes) {
  return sizes_of(std::vector<int64_t>(sizes));
}

namespace {

struct Ends {
  double least, most, exponent;
};

std::vector<Ends> all_ends() {
  std::vector<Ends> result;
  for (int i = 0; i < uop::kDTypeCount; i++) {
    const auto t = static_cast<DType>(i);
    if (t == DType::Void) {
      result.push_back({0, 0, 0});
    } else if (!uop::is_float(t)) {
      result.push_back(
          {static_cast<double>(uop::min_int(t)), static_cast<double>(uop::max_int(t)), 0});
    } else {
      const uop::FloatFormat f = uop::format_of(t);
      const double top = std::ldexp(1.0, f.max_exponent());
      const double most = f.has_infinity ? top + (top - std::ldexp(top, -f.mantissa_bits))
                                         : top * (2 - std::ldexp(1.0, 1 - f.mantissa_bits));
      result.push_back({-most, most, 0.8 * std::log(most)});
    }
  }
  return result;
}

const Ends& ends_of(DType t) {
  static const std::vector<Ends> ends = all_ends();
  return ends[static_cast<size_t>(t)];
}

}  // namespace

double most_of(DType t) { return ends_of(t).most; }
double least_of(DType t) { return ends_of(t).least; }
double exponent_of(DType t) { return ends_of(t).exponent; }

bool broadcast(const Dims& a, const Dims& b, Dims& result) {
  const Dims& longer = a.rank() >= b.rank() ? a : b;
  const Dims& shorter = a.rank() >= b.rank() ? b : a;
  result = longer;
  const size_t offset = longer.rank() - shorter.rank();
  for (size_t i = 0; i < shorter.rank(); i++) {
    Dim& d = result[offset + i];
    const Dim o = shorter[i];
    if (d == o || o == Dim{1, -1}) continue;
    if (d != Dim{1, -1}) return false;
    d = o;
  }
  return true;
}

void settle(Known& k, double lo, double hi) {
  const Ends& ends = ends_of(k.dtype);
  const bool is_inside = ends.least <= lo && hi <= ends.most;
  if (is_inside) {
    k.lo = lo;
    k.hi = hi;
    return;
  }
  if (k.is_float()) {
    k.lo = std::isnan(lo) ? ends.least : std::clamp(lo, ends.least, ends.most);
    k.hi = std::isnan(hi) ? ends.most : std::clamp(hi, ends.least, ends.most);
    k.is_special = true;
    return;
  }
  k.lo = ends.least;
  k.hi = ends.most;
}

}  // namespace assay::fuzz
