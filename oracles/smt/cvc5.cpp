#include <cvc5/cvc5.h>
#include <fmt/format.h>

#include "engine/check.h"
#include "engine/uop/value.h"
#include "oracles/smt/solver.h"

namespace assay::smt {
namespace {

using Kind = Sort::Kind;

cvc5::Kind kind_of(Fn fn) {
  switch (fn) {
#define FN(name, text, kind) \
  case Fn::name: return cvc5::kind;
#include "oracles/smt/function.def"
#undef FN
    default: return cvc5::NULL_TERM;
  }
}

// A formula as cvc5's terms.
class Cvc5Terms {
 public:
  Cvc5Terms(cvc5::Solver& s, const Formula& f) : s_(s), f_(f) {
    for (uint32_t id = 0; id < f.nodes().size(); id++) terms_.push_back(term(Term{id}));
  }

  const cvc5::Term& operator[](Term t) const { return terms_[t.id]; }

  void assert_all() const {
    for (const Formula::Variable& v : f_.variables()) {
      if (!v.is_bounded) continue;
      const cvc5::Term lo = s_.mkInteger(decimal(v.lo));
      const cvc5::Term hi = s_.mkInteger(decimal(v.hi));
      s_.assertFormula(s_.mkTerm(cvc5::LEQ, {lo, (*this)[v.term], hi}));
    }
    for (const Term t : f_.required()) s_.assertFormula((*this)[t]);
  }

 private:
  using Terms = std::vector<cvc5::Term>;

  cvc5::Sort sort(Sort s) const {
    switch (s.kind) {
      case Kind::Bool: return s_.getBooleanSort();
      case Kind::Int: return s_.getIntegerSort();
      case Kind::Real: return s_.getRealSort();
      case Kind::Bits: return s_.mkBitVectorSort(s.bits);
      case Kind::Float: break;
    }
    const FloatBits bits = float_bits(s.type);
    return s_.mkFloatingPointSort(bits.exponent, bits.significand);
  }

  cvc5::Term number(Sort s, Int128 n) const {
    switch (s.kind) {
      case Kind::Bool: return s_.mkBoolean(n != 0);
      case Kind::Int: return s_.mkInteger(decimal(n));
      case Kind::Real: return s_.mkReal(decimal(n));
      case Kind::Bits: return s_.mkBitVector(s.bits, static_cast<uint64_t>(n));
      case Kind::Float: break;
    }
    const FloatBits bits = float_bits(s.type);
    return s_.mkFloatingPoint(bits.exponent, bits.significand,
                              s_.mkBitVector(s.bits, static_cast<uint64_t>(n)));
  }

  cvc5::Term mode(cvc5::RoundingMode m) const { return s_.mkRoundingMode(m); }

  cvc5::Term term(Term t) {
    const Formula::Node& node = f_.node(t);
    if (node.fn == Fn::Number) return number(node.sort, node.payload);
    if (node.fn == Fn::Variable) {
      return s_.mkConst(sort(node.sort), fmt::format("v{}", static_cast<uint32_t>(node.payload)));
    }
    Terms x;
    for (const Term operand : f_.operands(t)) x.push_back((*this)[operand]);
    if (node.fn == Fn::Opaque) return opaque(node, x);
    if (node.fn == Fn::Div || node.fn == Fn::Mod) return division(node.fn, x[0], x[1]);
    return apply_to(node, f_.sort(f_.operands(t)[0]), std::move(x));
  }

  cvc5::Term opaque(const Formula::Node& node, const Terms& x) {
    const auto place = static_cast<size_t>(node.payload);
    if (functions_.size() <= place) functions_.resize(place + 1);
    if (functions_[place].isNull()) {
      std::vector<cvc5::Sort> domain;
      for (const cvc5::Term& t : x) domain.push_back(t.getSort());
      functions_[place] =
          s_.mkConst(s_.mkFunctionSort(domain, sort(node.sort)), fmt::format("f{}", place));
    }
    Terms all = {functions_[place]};
    all.insert(all.end(), x.begin(), x.end());
    return s_.mkTerm(cvc5::APPLY_UF, all);
  }

  // cvc5 rounds such that remainders are not negative: down, where the divisor is positive.
  cvc5::Term division(Fn fn, const cvc5::Term& a, const cvc5::Term& b) const {
    const cvc5::Term zero = s_.mkInteger(0);
    const bool is_div = fn == Fn::Div;
    const auto minus = [&](const cvc5::Term& x) { return s_.mkTerm(cvc5::NEG, {x}); };
    const cvc5::Term up = s_.mkTerm(kind_of(fn), {a, b});
    if (b.isIntegerValue() && b.getRealOrIntegerValueSign() > 0) return up;
    const cvc5::Term turned = s_.mkTerm(kind_of(fn), {minus(a), minus(b)});
    const cvc5::Term is_zero = s_.mkTerm(cvc5::EQUAL, {b, zero});
    const cvc5::Term is_positive = s_.mkTerm(cvc5::GT, {b, zero});
    const cvc5::Term other =
        s_.mkTerm(cvc5::ITE, {is_positive, up, is_div ? turned : minus(turned)});
    return s_.mkTerm(cvc5::ITE, {is_zero, is_div ? zero : a, other});
  }

  cvc5::Term apply_to(const Formula::Node& node, Sort operand, Terms x) const {
    const cvc5::Kind kind = kind_of(node.fn);
    const auto with = [&](std::initializer_list<uint32_t> numbers) {
      return s_.mkTerm(s_.mkOp(kind, numbers), x);
    };
    const FloatBits bits =
        node.sort.kind == Kind::Float ? float_bits(node.sort.type) : FloatBits{0, 0};
    const auto round_by = [&](cvc5::RoundingMode m) { x.insert(x.begin(), mode(m)); };
    switch (node.fn) {
      case Fn::Extract: return with({node.sort.bits - 1U, 0});
      case Fn::ZeroExtend:
      case Fn::SignExtend: return with({static_cast<uint32_t>(node.sort.bits - operand.bits)});
      case Fn::FloatOfBits: return with({bits.exponent, bits.significand});
      case Fn::FloatOfFloat:
      case Fn::FloatOfS:
      case Fn::FloatOfU:
        round_by(cvc5::ROUND_NEAREST_TIES_TO_EVEN);
        return with({bits.exponent, bits.significand});
      case Fn::FloatToS:
      case Fn::FloatToU: round_by(cvc5::ROUND_TOWARD_ZERO); return with({node.sort.bits});
      case Fn::FloatAdd:
      case Fn::FloatSub:
      case Fn::FloatMul:
      case Fn::FloatDiv:
      case Fn::FloatFma:
      case Fn::FloatSqrt:
      case Fn::Round: round_by(cvc5::ROUND_NEAREST_TIES_TO_EVEN); break;
      case Fn::Floor: round_by(cvc5::ROUND_TOWARD_NEGATIVE); break;
      case Fn::Ceil: round_by(cvc5::ROUND_TOWARD_POSITIVE); break;
      case Fn::Trunc: round_by(cvc5::ROUND_TOWARD_ZERO); break;
      default: break;
    }
    return s_.mkTerm(kind, x);
  }

  cvc5::Solver& s_;
  const Formula& f_;
  Terms terms_;
  Terms functions_;
};

Number number_of(const cvc5::Term& v, Sort sort) {
  switch (sort.kind) {
    case Kind::Bool: return {v.getBooleanValue() ? 1 : 0};
    case Kind::Int: return {from_decimal(v.getIntegerValue())};
    case Kind::Bits: return {from_decimal(v.getBitVectorValue(10))};
    case Kind::Float: {
      if (v.isFloatingPointNaN()) return {Int128{uop::nan_of(sort.type).bits}};
      return {from_decimal(std::get<2>(v.getFloatingPointValue()).getBitVectorValue(10))};
    }
    case Kind::Real: break;
  }
  const std::string text = v.getRealValue();
  const size_t slash = text.find('/');
  if (slash == std::string::npos) return {from_decimal(text)};
  return {from_decimal(text.substr(0, slash)), from_decimal(text.substr(slash + 1))};
}

int64_t steps_of(const cvc5::Solver& solver) {
  const auto text = solver.getStatistics().get("resource::resourceUnitsUsed");
  return text.isInt() ? text.getInt() : 0;
}

}  // namespace

std::string cvc5_version() { return cvc5::Solver().getInfo("version"); }

Solved ask_cvc5(const Formula& f, int64_t steps) {
  Solved solved;
  try {
    cvc5::Solver solver;
    solver.setOption("produce-models", "true");
    solver.setOption("rlimit", std::to_string(steps));
    solver.setLogic("ALL");
    const Cvc5Terms terms(solver, f);
    terms.assert_all();
    const cvc5::Result result = solver.checkSat();
    solved.steps = steps_of(solver);
    if (result.isUnsat()) solved.answer = Satisfiable::No;
    if (result.isUnknown()) solved.why = "steps";
    if (!result.isSat()) return solved;
    solved.answer = Satisfiable::Yes;
    for (const Formula::Variable& v : f.variables()) {
      solved.model.push_back(number_of(solver.getValue(terms[v.term]), v.sort));
    }
  } catch (const std::exception& e) {
    solved.answer = Satisfiable::Unknown;
    solved.why = e.what();
  }
  return solved;
}

}  // namespace assay::smt
