#include "oracles/workgroup/adversary.h"

#include <cmath>

#include "oracles/workgroup/chance.h"

namespace assay::workgroup {

using interpreter::number;
using interpreter::Operand;
using interpreter::Scalar;
using interpreter::Slot;
using interpreter::slot;
using uop::DType;
using uop::Op;

namespace {

uint64_t joined(uint64_t a, uint64_t b) { return mixed(a * 0x9E37'79B9'7F4A'7C15 + b + 1); }

double least_normal(DType t) {
  const uop::FloatFormat f = uop::format_of(t);
  return std::ldexp(1.0, f.min_exponent() + f.mantissa_bits);
}

// One unit in the last place of x at t.
double unit_of(DType t, double x) {
  const uop::FloatFormat f = uop::format_of(t);
  const int exponent = x == 0 ? f.min_exponent() : std::ilogb(x) - f.mantissa_bits;
  return std::ldexp(1.0, std::max(exponent, f.min_exponent()));
}

double rounded(const Scalar& scalar, double x) {
  Slot s = slot(x);
  scalar.finish(&s, 1);
  return number(s);
}

// What C99 and IEEE 754 fix, no device may have otherwise.
bool is_fixed(Op op, double result, double x, double y) {
  if (!std::isfinite(result) || result == 0 || !std::isfinite(x)) return true;
  const bool has_two = op == Op::FDiv || op == Op::Pow;
  if (has_two && !std::isfinite(y)) return true;
  if (op == Op::Pow) return y == 0 || x == 1;
  return x == 0;
}

// The result of a function, which is off by -1 to 1 times the limit, mostly by nearly all of it.
double bent(const Scalar& scalar, Freedom freedom, double exact, uint64_t chance) {
  const DType t = scalar.types.result;
  const double unit = unit_of(t, exact);
  const double sign = (chance & 1) != 0 ? 1 : -1;
  if (freedom.exceeds) return exact + sign * std::ceil(freedom.ulps) * unit;
  const double part = (chance & 6) == 0 ? static_cast<double>(chance >> 11) * 0x1p-53 : 1;
  // Rounding may add half a unit of a larger number, and the result may leave the range.
  const double reach = t == DType::F64 ? std::floor(freedom.ulps - 0.5) : freedom.ulps - 0.5;
  for (double off = sign * part * reach; std::fabs(off) > 0x1p-8; off /= 2) {
    const double away = t == DType::F64 ? std::trunc(off) * unit : off * unit;
    const double after = rounded(scalar, exact + away);
    const bool is_near = std::fabs(after - exact) <= freedom.ulps * unit;
    if (is_near && std::isfinite(after) && std::signbit(after) == std::signbit(exact)) return after;
  }
  return exact;
}

// Zeros of either sign in the place of what is less than that.
void flush(Slot* x, int64_t n, double least, uint64_t seed) {
  for (int64_t i = 0; i < n; i++) {
    const double magnitude = std::fabs(number(x[i]));
    if (magnitude == 0 || !(magnitude < least)) continue;
    x[i] = (joined(seed, x[i]) & 1) != 0 ? interpreter::kSign : 0;
  }
}

// Whether an operation is arithmetic, which flushes (OpenCL 1.2, 7.5.3): what is moved, compared,
// converted or has its sign changed is not.
bool is_arithmetic(Op op) {
  switch (op) {
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::FDiv:
    case Op::Recip:
    case Op::Fma:
    case Op::Sqrt:
    case Op::Exp:
    case Op::Exp2:
    case Op::Log:
    case Op::Log2:
    case Op::Sin:
    case Op::Cos:
    case Op::Tan:
    case Op::Trunc:
    case Op::Floor:
    case Op::Ceil:
    case Op::Round:
    case Op::Max:
    case Op::Min:
    case Op::Pow: return true;
    default: return false;
  }
}

}  // namespace

Freedom freedom_of(const Adversary& adversary, const uop::Target& target, Op op, DType t,
                   int32_t node) {
  Freedom freedom;
  if (!uop::is_float(t) || !is_arithmetic(op)) return freedom;
  freedom.ulps = uop::ulp_limit(target, op, t).value_or(0);
  if (adversary.breaks == op) {
    freedom.exceeds = true;
    freedom.ulps = adversary.factor * std::max(freedom.ulps, 0.5);
  }
  // Doubles keep their subnormals everywhere.
  const uop::Subnormals rule = t == DType::F64 ? uop::Subnormals::Kept : target.math.subnormals;
  freedom.flushes = rule == uop::Subnormals::Flushed ||
                    (rule == uop::Subnormals::Either &&
                     (joined(adversary.seed, static_cast<uint64_t>(node)) & 2) != 0);
  return freedom;
}

bool contracts(const Adversary& adversary, const uop::Target& target, int32_t node) {
  return target.math.contracts && (joined(adversary.seed, static_cast<uint64_t>(node)) & 1) != 0;
}

void compute_freely(const Scalar& scalar, Op op, Freedom freedom, uint64_t seed, Slot* out,
                    const Operand* src, int64_t n) {
  const double least = least_normal(scalar.types.result);
  const int count = uop::info(op).min_sources;
  constexpr int64_t kPiece = 128;
  Slot in[3][kPiece];
  for (int64_t done = 0; done < n; done += kPiece) {
    const int64_t size = std::min(kPiece, n - done);
    Operand operands[3] = {};
    for (int k = 0; k < count; k++) {
      for (int64_t i = 0; i < size; i++) in[k][i] = src[k].data[(done + i) * src[k].stride];
      if (freedom.flushes) flush(in[k], size, least, seed);
      operands[k] = {in[k], 1};
    }
    scalar.run(out + done, operands, size);
    for (int64_t i = 0; i < size && freedom.ulps > 0.5; i++) {
      const Slot y = count > 1 ? in[1][i] : 0;
      const double exact = number(out[done + i]);
      if (is_fixed(op, exact, number(in[0][i]), number(y))) continue;
      const uint64_t chance = joined(joined(seed + static_cast<uint64_t>(op), in[0][i]), y);
      out[done + i] = slot(bent(scalar, freedom, exact, chance));
    }
    scalar.finish(out + done, size);
    if (freedom.flushes) flush(out + done, size, least, seed);
  }
}

}  // namespace assay::workgroup
