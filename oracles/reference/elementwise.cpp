#include "oracles/reference/elementwise.h"

#include <utility>

#include "oracles/reference/composites.h"
#include "oracles/reference/scalar.h"

namespace assay::reference {
namespace {

using enum tensor::Op;
using Operands = std::span<const std::span<const Bounded>>;
using Out = std::span<Bounded>;

// Element i of an operand that may stand for all.
const Bounded& nth(std::span<const Bounded> x, size_t i) { return x.size() == 1 ? x[0] : x[i]; }

// A function of the table of scalars, at the type of the operands.
template <Fn fn>
Result<Array> direct(const Evaluating& e) {
  const Type t = e.type();
  return with_broadcast(e, result_type(fn, t), [&](Out out, Operands x) {
    apply(fn, t, out, x[0], x.size() > 1 ? x[1] : std::span<const Bounded>());
  });
}

// A function of one element.
template <typename F>
Result<Array> each(const Evaluating& e, DType out, F f) {
  const Array& x = e.x();
  ASSAY_TRY(spent, e.spend(x.elements.size()));
  (void)spent;
  return Array{out, x.shape, x.elements.unaryExpr(f)};
}

template <Composite f>
Result<Array> composed(const Evaluating& e) {
  const At at{e.type()};
  return each(e, at.t, [&](const Bounded& x) { return f(at, x); });
}

// A function with the number `alpha`.
template <Bounded (*f)(const At&, const Bounded&, const Bounded&)>
Result<Array> with_alpha(const Evaluating& e) {
  const At at{e.type()};
  ASSAY_TRY(alpha, e.number("alpha", at.t));
  return each(e, at.t, [&](const Bounded& x) { return f(at, x, alpha); });
}

Result<Array> selu(const Evaluating& e) {
  const At at{e.type()};
  ASSAY_TRY(alpha, e.number("alpha", at.t));
  ASSAY_TRY(gamma, e.number("gamma", at.t));
  return each(e, at.t, [&](const Bounded& x) { return at.mul(gamma, elu(at, x, alpha)); });
}

Result<Array> gelu_of(const Evaluating& e) {
  return e.word("approximate") == "tanh" ? composed<gelu_by_tanh>(e) : composed<gelu>(e);
}

Result<Array> hard_sigmoid_of(const Evaluating& e) {
  const At at{e.type()};
  ASSAY_TRY(alpha, e.number("alpha", at.t));
  ASSAY_TRY(beta, e.number("beta", at.t));
  return each(e, at.t, [&](const Bounded& x) { return hard_sigmoid(at, x, alpha, beta); });
}

Result<Array> is_inf(const Evaluating& e) {
  const At at{e.type()};
  const bool positive = e.flag("positive");
  const bool negative = e.flag("negative");
  return each(e, uop::Bool,
              [&](const Bounded& x) { return is_infinite(at, x, positive, negative); });
}

Result<Array> cast_of(const Evaluating& e) {
  const Array& x = e.x();
  ASSAY_TRY(spent, e.spend(x.elements.size()));
  (void)spent;
  return Array{e.define.dtype, x.shape, cast(x.elements, x.dtype, e.define.dtype)};
}

// A function of two elements.
template <typename F>
Result<Array> pairs(const Evaluating& e, DType result, F f) {
  return with_broadcast(e, result, [&](Out out, Operands x) {
    for (size_t i = 0; i < out.size(); ++i) out[i] = f(nth(x[0], i), nth(x[1], i));
  });
}

Result<Array> fmod_of(const Evaluating& e) {
  const At at{e.type()};
  return pairs(e, at.t, [&](const Bounded& x, const Bounded& y) { return fmod(at, x, y); });
}

Result<Array> le_of(const Evaluating& e) {
  const At at{e.type()};
  return pairs(e, uop::Bool, [&](const Bounded& x, const Bounded& y) { return le(at, x, y); });
}

Result<Array> gt_of(const Evaluating& e) {
  const At at{e.type()};
  return pairs(e, uop::Bool, [&](const Bounded& x, const Bounded& y) { return at.lt(y, x); });
}

Result<Array> ge_of(const Evaluating& e) {
  const At at{e.type()};
  return pairs(e, uop::Bool, [&](const Bounded& x, const Bounded& y) { return le(at, y, x); });
}

Result<Array> where(const Evaluating& e) {
  const DType t = e.y().dtype;
  return with_broadcast(e, t,
                        [&](Out out, Operands x) { apply(Fn::Where, t, out, x[0], x[1], x[2]); });
}

Result<Array> clip(const Evaluating& e) {
  const At at{e.type()};
  return with_broadcast(e, at.t, [&](Out out, Operands x) {
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = nth(x[0], i);
      if (!x[1].empty()) out[i] = at.max(out[i], nth(x[1], i));
      if (!x[2].empty()) out[i] = at.min(out[i], nth(x[2], i));
    }
  });
}

Result<Array> lerp_of(const Evaluating& e) {
  const At at{e.type()};
  return with_broadcast(e, at.t, [&](Out out, Operands x) {
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = lerp(at, nth(x[0], i), nth(x[1], i), nth(x[2], i));
    }
  });
}

constexpr EvaluateRow kElementwiseRows[] = {
    {Neg, direct<Fn::Neg>},
    {Not, direct<Fn::Not>},
    {Abs, direct<Fn::Abs>},
    {Sign, direct<Fn::Sign>},
    {Square, direct<Fn::Square>},
    {Recip, direct<Fn::Recip>},
    {Sqrt, direct<Fn::Sqrt>},
    {Rsqrt, composed<rsqrt>},
    {Exp, direct<Fn::Exp>},
    {Exp2, direct<Fn::Exp2>},
    {Expm1, composed<expm1>},
    {Log, direct<Fn::Log>},
    {Log2, direct<Fn::Log2>},
    {Log10, composed<log10>},
    {Log1p, composed<log1p>},
    {Sin, direct<Fn::Sin>},
    {Cos, direct<Fn::Cos>},
    {Tan, direct<Fn::Tan>},
    {Asin, composed<asin>},
    {Acos, composed<acos>},
    {Atan, composed<atan>},
    {Sinh, composed<sinh>},
    {Cosh, composed<cosh>},
    {Tanh, composed<tanh>},
    {Asinh, composed<asinh>},
    {Acosh, composed<acosh>},
    {Atanh, composed<atanh>},
    {Erf, composed<erf>},
    {Sigmoid, composed<sigmoid>},
    {Relu, composed<relu>},
    {LeakyRelu, with_alpha<leaky_relu>},
    {Elu, with_alpha<elu>},
    {Selu, selu},
    {Celu, with_alpha<celu>},
    {Gelu, gelu_of},
    {Silu, composed<silu>},
    {Softplus, composed<softplus>},
    {Softsign, composed<softsign>},
    {Mish, composed<mish>},
    {HardSigmoid, hard_sigmoid_of},
    {HardSwish, composed<hard_swish>},
    {Floor, direct<Fn::Floor>},
    {Ceil, direct<Fn::Ceil>},
    {Round, direct<Fn::Round>},
    {Trunc, direct<Fn::Trunc>},
    {IsNan, direct<Fn::IsNan>},
    {IsInf, is_inf},
    {Cast, cast_of},
    {Add, direct<Fn::Add>},
    {Sub, direct<Fn::Sub>},
    {Mul, direct<Fn::Mul>},
    {Div, direct<Fn::Div>},
    {IDiv, direct<Fn::IDiv>},
    {Mod, direct<Fn::Mod>},
    {TDiv, direct<Fn::TDiv>},
    {TMod, direct<Fn::TMod>},
    {FMod, fmod_of},
    {Maximum, direct<Fn::Max>},
    {Minimum, direct<Fn::Min>},
    {Pow, direct<Fn::Pow>},
    {CopySign, direct<Fn::CopySign>},
    {And, direct<Fn::And>},
    {Or, direct<Fn::Or>},
    {Xor, direct<Fn::Xor>},
    {Shl, direct<Fn::Shl>},
    {Shr, direct<Fn::Shr>},
    {Lt, direct<Fn::Lt>},
    {Le, le_of},
    {Gt, gt_of},
    {Ge, ge_of},
    {Eq, direct<Fn::Eq>},
    {Ne, direct<Fn::Ne>},
    {Where, where},
    {Clip, clip},
    {Lerp, lerp_of},
};

}  // namespace

Result<Together> together(const Evaluating& e) {
  Together all;
  for (const Array* x : e.operands) {
    if (x == nullptr) continue;
    ASSAY_TRY(shape, broadcast(all.shape, x->shape));
    all.shape = std::move(shape);
  }
  ASSAY_TRY(elements, count_of(all.shape));
  ASSAY_TRY(spent, e.spend(elements));
  (void)spent;
  all.held.reserve(e.operands.size());
  for (const Array* x : e.operands) {
    if (x == nullptr) {
      all.operands.emplace_back();
      continue;
    }
    if (x->shape == all.shape || x->elements.size() == 1) {
      all.operands.push_back(span_of(x->elements));
      continue;
    }
    all.held.push_back(moved(*x, expanded(x->shape, all.shape)).elements);
    all.operands.push_back(span_of(std::as_const(all.held.back())));
  }
  return all;
}

std::span<const EvaluateRow> elementwise_rows() { return kElementwiseRows; }

}  // namespace assay::reference
