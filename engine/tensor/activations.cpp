#include "engine/tensor/families.h"
#include "engine/tensor/functions.h"
#include "engine/tensor/nodes.h"

namespace assay::tensor {
namespace {

Term positive(Term x) { return maximum(x, number(x, 0)); }

Term sigmoid(Term x) { return recip(exp(-x) + 1); }
Term tanh(Term x) { return sigmoid(x * 2) * 2 - 1; }
Term silu(Term x) { return x * sigmoid(x); }
Term softplus(Term x) { return positive(x) + log(exp(-abs_of(x)) + 1); }
Term softsign(Term x) { return x / (abs_of(x) + 1); }
Term mish(Term x) { return x * tanh(softplus(x)); }
Term unit_clip(Term x) { return minimum(positive(x), number(x, 1)); }
Term hard_swish(Term x) { return x * unit_clip(x / 6 + 0.5); }
Term elu(Term x, double alpha) { return where(lt(number(x, 0), x), x, (exp(x) - 1) * alpha); }

Result<Ref> leaky_relu(const Building& b) {
  const Term x = operand(b, 0);
  return where(le(number(x, 0), x), x, x * b.number("alpha")).u;
}

Result<Ref> elu_of(const Building& b) { return elu(operand(b, 0), b.number("alpha")).u; }

Result<Ref> selu(const Building& b) {
  return (elu(operand(b, 0), b.number("alpha")) * b.number("gamma")).u;
}

Result<Ref> celu(const Building& b) {
  const Term x = operand(b, 0);
  const double alpha = b.number("alpha");
  const Term below = (exp(x / alpha) - 1) * alpha;
  return (positive(x) + minimum(number(x, 0), below)).u;
}

Result<Ref> gelu(const Building& b) {
  const Term x = operand(b, 0);
  if (b.word("approximate") == "none") {
    return (x * (erf_of(x / 1.4142135623730951) + 1) / 2).u;
  }
  const Term cubic = x + x * x * x * 0.044715;
  return (x * (tanh(cubic * 0.7978845608028654) + 1) / 2).u;
}

Result<Ref> hard_sigmoid(const Building& b) {
  return unit_clip(operand(b, 0) * b.number("alpha") + b.number("beta")).u;
}

constexpr BuildRow kActivationsRows[] = {
    {Op::Tanh, of_one<tanh>},
    {Op::Sigmoid, of_one<sigmoid>},
    {Op::Relu, of_one<positive>},
    {Op::LeakyRelu, leaky_relu},
    {Op::Elu, elu_of},
    {Op::Selu, selu},
    {Op::Celu, celu},
    {Op::Gelu, gelu},
    {Op::Silu, of_one<silu>},
    {Op::Softplus, of_one<softplus>},
    {Op::Softsign, of_one<softsign>},
    {Op::Mish, of_one<mish>},
    {Op::HardSigmoid, hard_sigmoid},
    {Op::HardSwish, of_one<hard_swish>},
};

}  // namespace

std::span<const BuildRow> activation_builds() { return kActivationsRows; }

}  // namespace assay::tensor
