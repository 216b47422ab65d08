#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/uop/dtype.h"

namespace assay::smt {

using uop::Int128;
using uop::UInt128;

// What a term ranges over.
struct Sort {
  enum class Kind : uint8_t { Bool, Int, Real, Bits, Float };
  Kind kind = Kind::Bool;
  uint8_t bits = 0;                    // of Bits, at most 64, and of Float
  uop::DType type = uop::DType::Void;  // of Float: e5m2, f16, bf16, f32 or f64
  bool operator==(const Sort&) const = default;
};
inline constexpr Sort kBool = {Sort::Kind::Bool};
inline constexpr Sort kInt = {Sort::Kind::Int};
inline constexpr Sort kReal = {Sort::Kind::Real};
Sort bits_sort(int bits);
// e4m3 has no infinity, so no solver knows it: it has no sort.
Sort float_sort(uop::DType type);

enum class Fn : uint8_t {
  Variable,
  Number,
  Opaque,  // a function of which nothing is known but that equal operands give equal results
#define FN(name, text, kind) name,
#include "oracles/smt/function.def"
#undef FN
};

// A term of one Formula: a place in its list.
struct Term {
  uint32_t id = 0;
  bool operator==(const Term&) const = default;
};

// What is asked of a solver: are there values of the variables for which all that is required
// holds? Terms are made once each and folded where they are numbers, so that what no solver is
// needed for needs none. Equal floats are equal as values: all NaNs are one, zeros two.
class Formula {
 public:
  struct Node {
    Fn fn;
    Sort sort;
    uint32_t first = 0;  // of its operands, in operands()
    uint32_t count = 0;
    // A Number: its value (Bits zero-extended, Floats as bits, Real a whole number). A Variable or
    // Opaque: the number of it.
    Int128 payload = 0;
  };
  struct Variable {
    std::string name;
    Term term;
    Sort sort;
    bool is_bounded = false;  // an Int between lo and hi, both inclusive
    Int128 lo = 0;
    Int128 hi = 0;
  };

  // The variable of this name; the same name is the same variable, and has one sort.
  Term variable(std::string_view name, Sort sort);
  // An Int from lo to hi.
  Term bounded(std::string_view name, Int128 lo, Int128 hi);
  Term number(Sort sort, Int128 value);
  Term integer(Int128 value) { return number(kInt, value); }
  Term truth(bool value) { return number(kBool, value ? 1 : 0); }

  // The result's sort follows from the operands, but for functions that convert.
  Term make(Fn fn, std::span<const Term> operands);
  Term make(Fn fn, std::initializer_list<Term> operands) {
    return make(fn, std::span(operands.begin(), operands.size()));
  }
  Term convert(Fn fn, Sort to, Term x);
  Term opaque(std::string_view name, Sort sort, std::span<const Term> operands);
  // As it stands: nothing is folded.
  Term raw(Fn fn, Sort sort, std::span<const Term> operands) {
    return intern({fn, sort}, operands);
  }

  Term no(Term a) { return make(Fn::Not, {a}); }
  Term both(Term a, Term b) { return make(Fn::And, {a, b}); }
  Term either(Term a, Term b) { return make(Fn::Or, {a, b}); }
  Term implies(Term a, Term b) { return either(no(a), b); }
  Term equal(Term a, Term b) { return make(Fn::Equal, {a, b}); }
  Term ite(Term c, Term a, Term b) { return make(Fn::Ite, {c, a, b}); }
  Term add(Term a, Term b) { return make(Fn::Add, {a, b}); }
  Term sub(Term a, Term b) { return make(Fn::Sub, {a, b}); }
  Term mul(Term a, Term b) { return make(Fn::Mul, {a, b}); }
  Term lt(Term a, Term b) { return make(Fn::Lt, {a, b}); }
  Term le(Term a, Term b) { return make(Fn::Le, {a, b}); }
  // lo <= x <= hi, of Ints.
  Term within(Term x, Int128 lo, Int128 hi);

  void require(Term truth) { required_.push_back(truth); }
  // Drops what was required since there were `count` requirements: many questions of one context.
  void keep(size_t count) { required_.resize(count); }

  const Node& node(Term t) const { return nodes_[t.id]; }
  Sort sort(Term t) const { return nodes_[t.id].sort; }
  bool is_number(Term t) const { return nodes_[t.id].fn == Fn::Number; }
  bool is_true(Term t) const {
    return is_number(t) && sort(t) == kBool && nodes_[t.id].payload == 1;
  }
  bool is_false(Term t) const {
    return is_number(t) && sort(t) == kBool && nodes_[t.id].payload == 0;
  }
  std::span<const Term> operands(Term t) const;
  std::span<const Node> nodes() const { return nodes_; }
  std::span<const Variable> variables() const { return variables_; }
  std::span<const std::string> opaques() const { return opaques_; }
  std::span<const Term> required() const { return required_; }

 private:
  Term intern(Node node, std::span<const Term> operands);
  Term folded(Fn fn, Sort sort, std::span<const Term> operands);
  Term junction(Fn fn, bool decisive, std::span<const Term> operands);
  std::optional<Term> simplified(Fn fn, std::span<const Term> operands);

  std::vector<Node> nodes_;  // operands before their users
  std::vector<Term> operands_;
  std::vector<Variable> variables_;
  std::vector<std::string> opaques_;
  std::vector<Term> required_;
  std::unordered_multimap<uint64_t, uint32_t> known_;  // by hash; only searched
};

inline bool commutes(Fn fn) {
  switch (fn) {
    case Fn::And:
    case Fn::Or:
    case Fn::Xor:
    case Fn::Equal:
    case Fn::Add:
    case Fn::Mul:
    case Fn::BitAdd:
    case Fn::BitMul:
    case Fn::BitAnd:
    case Fn::BitOr:
    case Fn::BitXor:
    case Fn::FloatAdd:
    case Fn::FloatMul:
    case Fn::FloatEq: return true;
    default: return false;
  }
}

// The question in SMT-LIB 2, as a person or another solver reads it.
std::string to_smtlib(const Formula& f);

}  // namespace assay::smt
