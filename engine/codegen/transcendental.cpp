#include "engine/codegen/transcendental.h"

#include "engine/codegen/transcendental_parts.h"
#include "engine/uop/rewrite.h"

namespace assay::codegen {
namespace {

using uop::F32;
using uop::F64;
using uop::Op;
using uop::Ref;
using uop::Run;

bool is_native(const uop::Target& target, Ref u) {
  const auto limit = uop::ulp_limit(target, u->op, u->dtype);
  const auto promised = promised_ulps(u->op);
  return target.math.native.has(u->op) && limit && promised && *limit <= *promised;
}

template <Term (*function)(Term)>
Ref of_one(Run& run, Ref u) {
  if (is_native(run.target(), u)) return nullptr;
  return function({&run.graph(), u->src[0]}).u;
}

Ref of_pow(Run& run, Ref u) {
  if (is_native(run.target(), u)) return nullptr;
  uop::Graph& g = run.graph();
  return pow({&g, u->src[0]}, {&g, u->src[1]}).u;
}

}  // namespace

std::optional<double> promised_ulps(Op op) {
  switch (op) {
    case Op::Exp:
    case Op::Exp2:
    case Op::Log:
    case Op::Log2:
    case Op::Sin:
    case Op::Cos:
    case Op::Tan: return 4;
    case Op::Pow: return 16;
    default: return std::nullopt;
  }
}

const uop::RuleSet& transcendental_rules() {
  using uop::by;
  static constexpr uop::TypeSet kOwn = {F32, F64};
  static const uop::RuleSet rules(
      "transcendental",
      {
          by("exp", kOwn, {Op::Exp}, of_one<exp>,
             "2^k e^r, where x = k log(2) + r and |r| <= log(2) / 2"),
          by("exp2", kOwn, {Op::Exp2}, of_one<exp2>, "2^k 2^f, where x = k + f and |f| <= 1/2"),
          by("log", kOwn, {Op::Log}, of_one<log>,
             "k log(2) + log(m), where x = m 2^k and m is near 1"),
          by("log2", kOwn, {Op::Log2}, of_one<log2>,
             "k + log(m) / log(2), where x = m 2^k and m is near 1"),
          by("sin", kOwn, {Op::Sin}, of_one<sin>,
             "sin or cos of r or of -r, where x = k pi/2 + r and |r| <= pi/4"),
          by("cos", kOwn, {Op::Cos}, of_one<cos>, "the sine of one more quadrant"),
          by("tan", kOwn, {Op::Tan}, of_one<tan>, "the quotient of sine and cosine"),
          by("pow", kOwn, {Op::Pow}, of_pow,
             "2^(y log2(x)), the logarithm held in two numbers; C99's special values"),
      });
  return rules;
}

}  // namespace assay::codegen
