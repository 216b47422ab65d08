#include "oracles/smt/linear.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "oracles/smt/evaluate.h"

namespace assay::smt {
namespace {

// The factors of a product, in order; of none it is 1.
using Monomial = std::vector<uint32_t>;
using Polynomial = std::map<Monomial, Int128>;

constexpr size_t kMostMonomials = 64;
constexpr Int128 kMostFactor = Int128{1} << 90;

class Linearizer {
 public:
  explicit Linearizer(const Formula& f) : f_(f) {}

  std::optional<Formula> run() {
    const std::vector<uint32_t> order = needed_nodes(f_);
    terms_.resize(f_.nodes().size());
    numbers_.resize(f_.nodes().size());
    for (const uint32_t id : order) convert({id});
    if (products_.empty() && quotients_.empty()) return std::nullopt;
    for (const Term t : f_.required()) out_.require(terms_[t.id]);
    return std::move(out_);
  }

 private:
  void convert(Term t) {
    if (f_.sort(t) == kInt) {
      numbers_[t.id] = polynomial(t);
    } else {
      terms_[t.id] = rebuilt(t);
    }
  }

  // Of a node as it is, the operands of which have been converted.
  Term rebuilt(Term t) {
    const Formula::Node& n = f_.node(t);
    if (n.fn == Fn::Variable) {
      const Formula::Variable& v = f_.variables()[static_cast<size_t>(n.payload)];
      return v.is_bounded ? out_.bounded(v.name, v.lo, v.hi) : out_.variable(v.name, v.sort);
    }
    if (n.fn == Fn::Number) return out_.number(n.sort, n.payload);
    std::vector<Term> operands;
    for (const Term x : f_.operands(t)) {
      operands.push_back(f_.sort(x) == kInt ? sum(numbers_[x.id]) : terms_[x.id]);
    }
    if (n.fn == Fn::Opaque) {
      return out_.opaque(f_.opaques()[static_cast<size_t>(n.payload)], n.sort, operands);
    }
    const bool converts = operands.size() == 1 && !(n.sort == f_.sort(f_.operands(t)[0])) &&
                          n.sort.kind != Sort::Kind::Bool;
    return converts ? out_.convert(n.fn, n.sort, operands[0]) : out_.make(n.fn, operands);
  }

  Polynomial polynomial(Term t) {
    const Formula::Node& n = f_.node(t);
    const auto operand = [&](size_t i) -> const Polynomial& {
      return numbers_[f_.operands(t)[i].id];
    };
    switch (n.fn) {
      case Fn::Number: return constant(n.payload);
      case Fn::Add: {
        Polynomial all = operand(0);
        for (size_t i = 1; i < n.count; i++) all = added(all, operand(i), 1);
        return all;
      }
      case Fn::Sub: return added(operand(0), operand(1), -1);
      case Fn::Neg: return added({}, operand(0), -1);
      case Fn::Mul: return times(operand(0), operand(1));
      case Fn::Div:
      case Fn::Mod:
        if (!is_constant(operand(1))) return atom(quotient(n.fn, operand(0), operand(1)));
        return atom(rebuilt(t));
      default: return atom(rebuilt(t));
    }
  }

  static Polynomial constant(Int128 value) {
    return value == 0 ? Polynomial{} : Polynomial{{{}, value}};
  }
  static bool is_constant(const Polynomial& p) {
    return p.empty() || (p.size() == 1 && p.begin()->first.empty());
  }

  Polynomial atom(Term t) {
    if (out_.is_number(t)) return constant(out_.node(t).payload);
    return {{{t.id}, 1}};
  }

  Polynomial added(const Polynomial& a, const Polynomial& b, Int128 sign) {
    Polynomial all = a;
    for (const auto& [monomial, factor] : b) {
      Int128& at = all[monomial];
      at += sign * factor;
      if (at == 0) all.erase(monomial);
    }
    return bounded(all);
  }

  Polynomial times(const Polynomial& a, const Polynomial& b) {
    Polynomial all;
    for (const auto& [left, x] : a) {
      for (const auto& [right, y] : b) {
        Monomial both = left;
        both.insert(both.end(), right.begin(), right.end());
        std::sort(both.begin(), both.end());
        Int128 product = 0;
        if (__builtin_mul_overflow(x, y, &product)) return atom(out_.mul(sum(a), sum(b)));
        Int128& at = all[both];
        at += product;
        if (at == 0) all.erase(both);
      }
    }
    return bounded(all);
  }

  // What grows too large is a number of its own.
  Polynomial bounded(const Polynomial& p) {
    const bool is_small = std::all_of(p.begin(), p.end(), [](const Polynomial::value_type& part) {
      return part.second < kMostFactor && part.second > -kMostFactor;
    });
    if (p.size() <= kMostMonomials && is_small) return p;
    return atom(out_.variable(fmt::format("large {}", large_++), kInt));
  }

  Term product(const Monomial& factors) {
    if (factors.size() == 1) return {factors[0]};
    const auto [at, is_new] = products_.try_emplace(factors, Term{});
    if (is_new) at->second = out_.variable(fmt::format("product {}", products_.size()), kInt);
    return at->second;
  }

  Term quotient(Fn fn, const Polynomial& a, const Polynomial& b) {
    const auto key = std::make_tuple(fn, a, b);
    const auto [at, is_new] = quotients_.try_emplace(key, Term{});
    if (is_new) at->second = out_.variable(fmt::format("quotient {}", quotients_.size()), kInt);
    return at->second;
  }

  Term sum(const Polynomial& p) {
    std::vector<Term> parts;
    for (const auto& [monomial, factor] : p) {
      const Term number = out_.integer(factor);
      parts.push_back(monomial.empty() ? number : out_.mul(number, product(monomial)));
    }
    if (parts.empty()) return out_.integer(0);
    return parts.size() == 1 ? parts[0] : out_.make(Fn::Add, parts);
  }

  const Formula& f_;
  Formula out_;
  std::vector<Term> terms_;          // of nodes that are no integers
  std::vector<Polynomial> numbers_;  // of those that are
  std::map<Monomial, Term> products_;
  std::map<std::tuple<Fn, Polynomial, Polynomial>, Term> quotients_;
  size_t large_ = 0;
};

}  // namespace

std::optional<Formula> linearized(const Formula& f) { return Linearizer(f).run(); }

}  // namespace assay::smt
