#include <fmt/format.h>

#include "oracles/smt/evaluate.h"
#include "oracles/smt/formula.h"
#include "oracles/smt/solver.h"

namespace assay::smt {
namespace {

using Kind = Sort::Kind;

// "(- 7)", as SMT-LIB writes what is below zero.
std::string numeral(Int128 n) { return n < 0 ? fmt::format("(- {})", decimal(-n)) : decimal(n); }

std::string text_of(Sort sort) {
  switch (sort.kind) {
    case Kind::Bool: return "Bool";
    case Kind::Int: return "Int";
    case Kind::Real: return "Real";
    case Kind::Bits: return fmt::format("(_ BitVec {})", sort.bits);
    case Kind::Float: {
      const FloatBits bits = float_bits(sort.type);
      return fmt::format("(_ FloatingPoint {} {})", bits.exponent, bits.significand);
    }
  }
  return "";
}

std::string text_of(Sort sort, Int128 payload) {
  switch (sort.kind) {
    case Kind::Bool: return payload != 0 ? "true" : "false";
    case Kind::Int: return numeral(payload);
    case Kind::Real: return fmt::format("(to_real {})", numeral(payload));
    case Kind::Bits: return fmt::format("(_ bv{} {})", decimal(payload), sort.bits);
    case Kind::Float: {
      const FloatBits bits = float_bits(sort.type);
      return fmt::format("((_ to_fp {} {}) (_ bv{} {}))", bits.exponent, bits.significand,
                         decimal(payload), sort.bits);
    }
  }
  return "";
}

std::string_view text_of(Fn fn) {
  switch (fn) {
#define FN(name, text, kind) \
  case Fn::name: return text;
#include "oracles/smt/function.def"
#undef FN
    default: return "";
  }
}

bool rounds(Fn fn) { return fn >= Fn::FloatAdd && fn <= Fn::FloatSqrt; }

// The function with what stands between it and its operands.
std::string head_of(const Formula& f, const Formula::Node& node, Sort operand) {
  const std::string_view text = text_of(node.fn);
  switch (node.fn) {
    case Fn::Extract: return fmt::format("(_ extract {} 0)", node.sort.bits - 1);
    case Fn::ZeroExtend:
    case Fn::SignExtend: return fmt::format("(_ {} {})", text, node.sort.bits - operand.bits);
    case Fn::FloatToS:
    case Fn::FloatToU: {
      const size_t blank = text.find(' ');
      return fmt::format("(_ {} {}){}", text.substr(0, blank), node.sort.bits, text.substr(blank));
    }
    case Fn::FloatOfFloat:
    case Fn::FloatOfS:
    case Fn::FloatOfU:
    case Fn::FloatOfBits: {
      const FloatBits bits = float_bits(node.sort.type);
      const size_t blank = text.find(' ');
      return fmt::format("(_ {} {} {}){}", text.substr(0, blank), bits.exponent, bits.significand,
                         blank == std::string_view::npos ? "" : text.substr(blank));
    }
    case Fn::Opaque: return fmt::format("|{}|", f.opaques()[static_cast<size_t>(node.payload)]);
    default: return rounds(node.fn) ? fmt::format("{} RNE", text) : std::string(text);
  }
}

// Division as formulas have it: down, and by zero as evaluate.h says.
std::string division(Fn fn, const std::string& a, const std::string& b) {
  if (fn == Fn::Div) {
    return fmt::format("(ite (= {1} 0) 0 (ite (> {1} 0) (div {0} {1}) (div (- {0}) (- {1}))))", a,
                       b);
  }
  return fmt::format("(ite (= {1} 0) {0} (ite (> {1} 0) (mod {0} {1}) (- (mod (- {0}) (- {1})))))",
                     a, b);
}

std::string name_of(const Formula& f, Term t) {
  const Formula::Node& node = f.node(t);
  if (node.fn == Fn::Number) return text_of(node.sort, node.payload);
  if (node.fn == Fn::Variable) {
    return fmt::format("|{}|", f.variables()[static_cast<size_t>(node.payload)].name);
  }
  return fmt::format("t{}", t.id);
}

std::string definition(const Formula& f, Term t) {
  const Formula::Node& node = f.node(t);
  const auto operands = f.operands(t);
  if (node.fn == Fn::Div || node.fn == Fn::Mod) {
    return division(node.fn, name_of(f, operands[0]), name_of(f, operands[1]));
  }
  std::string text = "(" + head_of(f, node, f.sort(operands[0]));
  for (const Term x : operands) text += " " + name_of(f, x);
  return text + ")";
}

void declare_opaques(const Formula& f, std::span<const uint32_t> order, std::string& text) {
  std::vector<uint8_t> is_declared(f.opaques().size(), 0);
  for (const uint32_t id : order) {
    const Formula::Node& node = f.nodes()[id];
    if (node.fn != Fn::Opaque || is_declared[static_cast<size_t>(node.payload)] != 0) continue;
    is_declared[static_cast<size_t>(node.payload)] = 1;
    text += fmt::format("(declare-fun {} (", head_of(f, node, node.sort));
    for (const Term x : f.operands(Term{id})) text += text_of(f.sort(x)) + " ";
    text += fmt::format(") {})\n", text_of(node.sort));
  }
}

}  // namespace

std::string to_smtlib(const Formula& f) {
  const std::vector<uint32_t> order = needed_nodes(f);
  std::string text = "(set-logic ALL)\n";
  for (const Formula::Variable& v : f.variables()) {
    text += fmt::format("(declare-const |{}| {})\n", v.name, text_of(v.sort));
    if (!v.is_bounded) continue;
    text += fmt::format("(assert (<= {} |{}| {}))\n", numeral(v.lo), v.name, numeral(v.hi));
  }
  declare_opaques(f, order, text);
  for (const uint32_t id : order) {
    const Formula::Node& node = f.nodes()[id];
    if (node.fn == Fn::Number || node.fn == Fn::Variable) continue;
    text +=
        fmt::format("(define-fun t{} () {} {})\n", id, text_of(node.sort), definition(f, Term{id}));
  }
  for (const Term t : f.required()) text += fmt::format("(assert {})\n", name_of(f, t));
  return text + "(check-sat)\n(get-model)\n";
}

}  // namespace assay::smt
