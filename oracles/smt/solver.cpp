#include "oracles/smt/solver.h"

#include <z3++.h>

#include <algorithm>

#include "engine/check.h"
#include "engine/uop/value.h"

namespace assay::smt {
namespace {

using Kind = Sort::Kind;

// Whether all that is said of integers compares differences of two variables with numbers.
bool is_difference_logic(const Formula& f) {
  const auto is_plain = [&](Term t) {
    const Fn fn = f.node(t).fn;
    return fn == Fn::Variable || fn == Fn::Number;
  };
  const auto is_simple = [&](Term t) {
    const Fn fn = f.node(t).fn;
    const auto x = f.operands(t);
    return is_plain(t) || ((fn == Fn::Add || fn == Fn::Sub) && x.size() == 2 && is_plain(x[0]) &&
                           f.is_number(x[1]));
  };
  for (const uint32_t id : needed_nodes(f)) {
    const Term t = {id};
    const auto x = f.operands(t);
    if (x.empty() || f.sort(x.back()) != kInt) continue;
    const Fn fn = f.node(t).fn;
    if (fn != Fn::Lt && fn != Fn::Le && fn != Fn::Equal && !is_simple(t)) return false;
    if (f.sort(t) == kBool && !std::all_of(x.begin(), x.end(), is_simple)) return false;
  }
  return true;
}

// A formula as Z3's terms.
class Translation {
 public:
  Translation(z3::context& c, const Formula& f) : c_(c), f_(f), terms_(c) {
    c_.set_rounding_mode(z3::RNE);
    for (uint32_t id = 0; id < f.nodes().size(); id++) terms_.push_back(term(Term{id}));
  }

  z3::expr operator[](Term t) const { return terms_[static_cast<int>(t.id)]; }

  void add_to(z3::solver& solver) const {
    for (const Formula::Variable& v : f_.variables()) {
      if (!v.is_bounded) continue;
      solver.add((*this)[v.term] >= c_.int_val(decimal(v.lo).c_str()));
      solver.add((*this)[v.term] <= c_.int_val(decimal(v.hi).c_str()));
    }
    for (const Term t : f_.required()) solver.add((*this)[t]);
  }

 private:
  z3::sort sort(Sort s) const {
    switch (s.kind) {
      case Kind::Bool: return c_.bool_sort();
      case Kind::Int: return c_.int_sort();
      case Kind::Real: return c_.real_sort();
      case Kind::Bits: return c_.bv_sort(s.bits);
      case Kind::Float: break;
    }
    const FloatBits bits = float_bits(s.type);
    return c_.fpa_sort(bits.exponent, bits.significand);
  }

  z3::expr own(Z3_ast ast) const {
    c_.check_error();
    return {c_, ast};
  }

  z3::expr number(Sort s, Int128 n) const {
    const std::string text = decimal(n);
    switch (s.kind) {
      case Kind::Bool: return c_.bool_val(n != 0);
      case Kind::Int: return c_.int_val(text.c_str());
      case Kind::Real: return c_.real_val(text.c_str());
      case Kind::Bits: return c_.bv_val(text.c_str(), s.bits);
      case Kind::Float: break;
    }
    return own(Z3_mk_fpa_to_fp_bv(c_, c_.bv_val(text.c_str(), s.bits), sort(s)));
  }

  z3::expr term(Term t) const {
    const Formula::Node& node = f_.node(t);
    if (node.fn == Fn::Number) return number(node.sort, node.payload);
    if (node.fn == Fn::Variable) {
      return c_.constant(fmt::format("v{}", static_cast<uint32_t>(node.payload)).c_str(),
                         sort(node.sort));
    }
    std::vector<z3::expr> x;
    for (const Term operand : f_.operands(t)) x.push_back((*this)[operand]);
    if (node.fn == Fn::Opaque) return opaque(t, x);
    switch (f_.sort(f_.operands(t)[0]).kind) {
      case Kind::Float: return of_floats(node, x);
      case Kind::Bits: return of_bits(node, x);
      default: return plain(node.fn, x);
    }
  }

  z3::expr opaque(Term t, const std::vector<z3::expr>& x) const {
    z3::sort_vector domain(c_);
    z3::expr_vector arguments(c_);
    for (const z3::expr& e : x) {
      domain.push_back(e.get_sort());
      arguments.push_back(e);
    }
    const Formula::Node& node = f_.node(t);
    const std::string name = fmt::format("f{}", static_cast<uint32_t>(node.payload));
    return c_.function(name.c_str(), domain, sort(node.sort))(arguments);
  }

  z3::expr plain(Fn fn, const std::vector<z3::expr>& x) const {
    z3::expr_vector all(c_);
    for (const z3::expr& e : x) all.push_back(e);
    switch (fn) {
      case Fn::Not: return !x[0];
      case Fn::And: return z3::mk_and(all);
      case Fn::Or: return z3::mk_or(all);
      case Fn::Xor: return x[0] != x[1];
      case Fn::Ite: return z3::ite(x[0], x[1], x[2]);
      case Fn::Equal: return x[0] == x[1];
      case Fn::Add: return z3::sum(all);
      case Fn::Sub: return x[0] - x[1];
      case Fn::Neg: return -x[0];
      case Fn::Mul: return x[0] * x[1];
      case Fn::Lt: return x[0] < x[1];
      case Fn::Le: return x[0] <= x[1];
      case Fn::Div: return quotient(x[0], x[1]);
      case Fn::Mod: return remainder(x[0], x[1]);
      case Fn::Quotient: return x[0] / x[1];
      case Fn::ToReal: return own(Z3_mk_int2real(c_, x[0]));
      default: ASSAY_CHECK(false, "not a function of truths or numbers");
    }
  }

  // Z3 rounds such that remainders are not negative: down, where the divisor is positive.
  z3::expr quotient(const z3::expr& a, const z3::expr& b) const {
    if (b.is_numeral() && z3::expr(b > 0).simplify().is_true()) return a / b;
    return z3::ite(b == 0, c_.int_val(0), z3::ite(b > 0, a / b, (-a) / (-b)));
  }
  z3::expr remainder(const z3::expr& a, const z3::expr& b) const {
    if (b.is_numeral() && z3::expr(b > 0).simplify().is_true()) return z3::mod(a, b);
    return z3::ite(b == 0, a, z3::ite(b > 0, z3::mod(a, b), -z3::mod(-a, -b)));
  }

  z3::expr of_bits(const Formula::Node& node, const std::vector<z3::expr>& x) const {
    const unsigned wider =
        node.sort.bits - std::min<unsigned>(node.sort.bits, x[0].get_sort().bv_size());
    switch (node.fn) {
      case Fn::Equal: return x[0] == x[1];
      case Fn::BitAdd: return x[0] + x[1];
      case Fn::BitSub: return x[0] - x[1];
      case Fn::BitMul: return x[0] * x[1];
      case Fn::BitNeg: return -x[0];
      case Fn::BitAnd: return x[0] & x[1];
      case Fn::BitOr: return x[0] | x[1];
      case Fn::BitXor: return x[0] ^ x[1];
      case Fn::BitNot: return ~x[0];
      case Fn::Shl: return z3::shl(x[0], x[1]);
      case Fn::Lshr: return z3::lshr(x[0], x[1]);
      case Fn::Ashr: return z3::ashr(x[0], x[1]);
      case Fn::Udiv: return z3::udiv(x[0], x[1]);
      case Fn::Urem: return z3::urem(x[0], x[1]);
      case Fn::Sdiv: return x[0] / x[1];
      case Fn::Srem: return z3::srem(x[0], x[1]);
      case Fn::Ult: return z3::ult(x[0], x[1]);
      case Fn::Slt: return x[0] < x[1];
      case Fn::Extract: return x[0].extract(node.sort.bits - 1U, 0);
      case Fn::ZeroExtend: return z3::zext(x[0], wider);
      case Fn::SignExtend: return z3::sext(x[0], wider);
      case Fn::FloatOfS: return own(Z3_mk_fpa_to_fp_signed(c_, nearest(), x[0], sort(node.sort)));
      case Fn::FloatOfU: return own(Z3_mk_fpa_to_fp_unsigned(c_, nearest(), x[0], sort(node.sort)));
      case Fn::FloatOfBits: return own(Z3_mk_fpa_to_fp_bv(c_, x[0], sort(node.sort)));
      default: ASSAY_CHECK(false, "not a function of bits");
    }
  }

  z3::expr nearest() const { return own(Z3_mk_fpa_rne(c_)); }
  z3::expr whole(Z3_ast mode, const z3::expr& x) const {
    return own(Z3_mk_fpa_round_to_integral(c_, mode, x));
  }

  z3::expr of_floats(const Formula::Node& node, const std::vector<z3::expr>& x) const {
    switch (node.fn) {
      case Fn::Equal: return x[0] == x[1];
      case Fn::FloatAdd: return own(Z3_mk_fpa_add(c_, nearest(), x[0], x[1]));
      case Fn::FloatSub: return own(Z3_mk_fpa_sub(c_, nearest(), x[0], x[1]));
      case Fn::FloatMul: return own(Z3_mk_fpa_mul(c_, nearest(), x[0], x[1]));
      case Fn::FloatDiv: return own(Z3_mk_fpa_div(c_, nearest(), x[0], x[1]));
      case Fn::FloatFma: return own(Z3_mk_fpa_fma(c_, nearest(), x[0], x[1], x[2]));
      case Fn::FloatSqrt: return own(Z3_mk_fpa_sqrt(c_, nearest(), x[0]));
      case Fn::FloatNeg: return own(Z3_mk_fpa_neg(c_, x[0]));
      case Fn::FloatAbs: return own(Z3_mk_fpa_abs(c_, x[0]));
      case Fn::FloatLt: return own(Z3_mk_fpa_lt(c_, x[0], x[1]));
      case Fn::FloatLe: return own(Z3_mk_fpa_leq(c_, x[0], x[1]));
      case Fn::FloatEq: return own(Z3_mk_fpa_eq(c_, x[0], x[1]));
      case Fn::IsNan: return own(Z3_mk_fpa_is_nan(c_, x[0]));
      case Fn::IsInf: return own(Z3_mk_fpa_is_infinite(c_, x[0]));
      case Fn::IsZero: return own(Z3_mk_fpa_is_zero(c_, x[0]));
      case Fn::IsNegative: return own(Z3_mk_fpa_is_negative(c_, x[0]));
      case Fn::Round: return whole(nearest(), x[0]);
      case Fn::Floor: return whole(own(Z3_mk_fpa_rtn(c_)), x[0]);
      case Fn::Ceil: return whole(own(Z3_mk_fpa_rtp(c_)), x[0]);
      case Fn::Trunc: return whole(own(Z3_mk_fpa_rtz(c_)), x[0]);
      case Fn::FloatOfFloat:
        return own(Z3_mk_fpa_to_fp_float(c_, nearest(), x[0], sort(node.sort)));
      case Fn::FloatToS:
        return own(Z3_mk_fpa_to_sbv(c_, own(Z3_mk_fpa_rtz(c_)), x[0], node.sort.bits));
      case Fn::FloatToU:
        return own(Z3_mk_fpa_to_ubv(c_, own(Z3_mk_fpa_rtz(c_)), x[0], node.sort.bits));
      default: ASSAY_CHECK(false, "not a function of floats");
    }
  }

  z3::context& c_;
  const Formula& f_;
  z3::expr_vector terms_;
};

struct Uses {
  bool floats = false;
  bool bits = false;
  bool numbers = false;
  bool opaques = false;
};

Uses uses_of(const Formula& f) {
  Uses uses;
  for (const uint32_t id : needed_nodes(f)) {
    const Formula::Node& node = f.nodes()[id];
    uses.floats = uses.floats || node.sort.kind == Kind::Float;
    uses.bits = uses.bits || node.sort.kind == Kind::Bits;
    uses.numbers = uses.numbers || node.sort.kind == Kind::Int || node.sort.kind == Kind::Real;
    uses.opaques = uses.opaques || node.fn == Fn::Opaque;
  }
  return uses;
}

// The default solver combines several and deadlocks; these do not.
z3::solver solver_for(z3::context& c, const Formula& f) {
  const Uses uses = uses_of(f);
  if (uses.floats && !uses.numbers && !uses.opaques) return z3::solver(c, "QF_FPBV");
  if (uses.bits && !uses.floats && !uses.numbers && !uses.opaques) {
    const z3::tactic chain = z3::tactic(c, "simplify") & z3::tactic(c, "solve-eqs") &
                             z3::tactic(c, "bit-blast") & z3::tactic(c, "sat");
    return chain.mk_solver();
  }
  return {c, z3::solver::simple()};
}

Number value_in(z3::context& c, const z3::model& model, const z3::expr& variable, Sort sort) {
  z3::expr v = model.eval(variable, true);
  if (sort.kind == Kind::Bool) return {v.is_true() ? 1 : 0};
  if (sort.kind == Kind::Float) {
    const z3::expr is_nan(c, Z3_mk_fpa_is_nan(c, v));
    if (is_nan.simplify().is_true()) return {Int128{uop::nan_of(sort.type).bits}};
    v = z3::expr(c, Z3_mk_fpa_to_ieee_bv(c, v)).simplify();
  }
  if (sort.kind == Kind::Real) {
    return {from_decimal(v.numerator().to_string()), from_decimal(v.denominator().to_string())};
  }
  return {from_decimal(Z3_get_numeral_string(c, v))};
}

int64_t steps_of(const z3::solver& solver) {
  const z3::stats stats = solver.statistics();
  for (unsigned i = 0; i < stats.size(); i++) {
    if (stats.key(i) == "rlimit count" && stats.is_uint(i)) return stats.uint_value(i);
  }
  return 0;
}

}  // namespace

std::string decimal(Int128 n) {
  const bool is_negative = n < 0;
  auto rest = is_negative ? -static_cast<UInt128>(n) : static_cast<UInt128>(n);
  std::string text;
  do {
    text.insert(text.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
    rest /= 10;
  } while (rest != 0);
  return is_negative ? "-" + text : text;
}

Int128 from_decimal(std::string_view text) {
  Int128 n = 0;
  bool is_negative = false;
  for (const char c : text) {
    is_negative = is_negative || c == '-';
    if (c >= '0' && c <= '9') n = n * 10 + (c - '0');
  }
  return is_negative ? -n : n;
}

std::string solver_versions() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned build = 0;
  unsigned revision = 0;
  Z3_get_version(&major, &minor, &build, &revision);
  return fmt::format("Z3 {}.{}.{}, cvc5 {}", major, minor, build, cvc5_version());
}

FloatBits float_bits(uop::DType type) {
  switch (type) {
    case uop::DType::E5M2: return {5, 3};
    case uop::DType::F16: return {5, 11};
    case uop::DType::BF16: return {8, 8};
    case uop::DType::F32: return {8, 24};
    case uop::DType::F64: return {11, 53};
    default: ASSAY_CHECK(false, "{} is no sort of floats", to_text(type));
  }
}

Solved ask_z3(const Formula& f, int64_t steps) {
  Solved solved;
  try {
    z3::context c;
    z3::solver solver = solver_for(c, f);
    z3::params params(c);
    params.set("rlimit", static_cast<unsigned>(std::min<int64_t>(steps, UINT32_MAX)));
    if (is_difference_logic(f) && !uses_of(f).bits && !uses_of(f).floats) {
      params.set("arith.solver", 1U);
    }
    solver.set(params);
    const Translation terms(c, f);
    terms.add_to(solver);
    const z3::check_result result = solver.check();
    solved.steps = steps_of(solver);
    if (result == z3::unsat) solved.answer = Satisfiable::No;
    if (result == z3::unknown) solved.why = solver.reason_unknown();
    if (result != z3::sat) return solved;
    solved.answer = Satisfiable::Yes;
    const z3::model model = solver.get_model();
    for (const Formula::Variable& v : f.variables()) {
      solved.model.push_back(value_in(c, model, terms[v.term], v.sort));
    }
  } catch (const z3::exception& e) {
    solved.answer = Satisfiable::Unknown;
    solved.why = e.msg();
  }
  return solved;
}

}  // namespace assay::smt
