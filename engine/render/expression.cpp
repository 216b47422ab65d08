#include "engine/render/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "engine/render/places.h"
#include "engine/uop/bounds.h"

namespace assay::render {

using uop::Bounds;
using uop::DType;
using uop::Int128;
using uop::Op;
using uop::Ref;

namespace {

bool is_narrow(DType t) { return uop::is_fixed_int(t) && uop::bits_of(t) < 32; }
bool is_signed(DType t) { return uop::kind_of(t) == uop::Kind::Signed; }

struct Infix {
  Op op;
  std::string_view symbol;
  Precedence holds;
};
constexpr Infix kInfix[] = {
    {Op::Add, "+", kSum},      {Op::Sub, "-", kSum},      {Op::Mul, "*", kProduct},
    {Op::FDiv, "/", kProduct}, {Op::Div, "/", kProduct},  {Op::TDiv, "/", kProduct},
    {Op::Mod, "%", kProduct},  {Op::TMod, "%", kProduct}, {Op::Shl, "<<", kShift},
    {Op::Shr, ">>", kShift},   {Op::And, "&", kAnd},      {Op::Or, "|", kOr},
    {Op::Xor, "^", kXor},      {Op::Lt, "<", kLess},      {Op::Eq, "==", kEqual},
    {Op::Ne, "!=", kEqual},
};

const Infix* infix_of(Op op) {
  const auto* row = std::find_if(std::begin(kInfix), std::end(kInfix),
                                 [op](const Infix& r) { return r.op == op; });
  return row == std::end(kInfix) ? nullptr : row;
}

}  // namespace

std::optional<Text> Expressions::refuse(std::string message) {
  trouble_ = std::move(message);
  return std::nullopt;
}

Text Expressions::put(Ref u, std::string_view text, Precedence holds, bool is_typed) {
  uint8_t depth = 0;
  for (const Ref s : u->src) {
    if (const Text* source = texts_.find(s)) depth = std::max(depth, source->depth);
  }
  const Text result = {static_cast<uint32_t>(pool_.size()), static_cast<uint32_t>(text.size()),
                       holds, is_typed, static_cast<uint8_t>(depth + 1)};
  pool_ += text;
  return result;
}

Text Expressions::name(std::string_view text) {
  const Text result = {static_cast<uint32_t>(pool_.size()), static_cast<uint32_t>(text.size())};
  pool_ += text;
  return result;
}

void Expressions::append(std::string& out, Ref u, Precedence least) const {
  const Text text = texts_.at(u);
  const bool brackets = text.holds < least;
  if (brackets) out += '(';
  out.append(pool_, text.from, text.size);
  if (brackets) out += ')';
}

void Expressions::append_typed(std::string& out, Ref u) const {
  if (texts_.at(u).is_typed) return append(out, u, kTernary);
  out += fmt::format("({})", c_type(u->dtype));
  append(out, u, kUnary);
}

std::string Expressions::type(Ref u) const {
  const int64_t lanes = lanes_of(u);
  const DType held = held_as(target_, u->dtype);
  if (lanes < 2) return std::string(c_type(held));
  return fmt::format("{}{}", c_type(stored_as(held)), lanes);
}

std::optional<Text> Expressions::make(Ref u) {
  text_.clear();
  if (c_type(u->dtype) == "void") {
    return refuse(fmt::format("{} has type {}, which OpenCL C does not have", to_text(u->op),
                              to_text(u->dtype)));
  }
  switch (u->op) {
    case Op::Const: return constant(u);
    case Op::Where: return select(u);
    case Op::Cast: return cast(u);
    case Op::Bitcast: return bitcast(u);
    case Op::Stack: return stack(u);
    case Op::Index: return lane(u);
    default: break;
  }
  if (!uop::is_scalar(u->op)) {
    return refuse(fmt::format("{} has no text in OpenCL C", to_text(u->op)));
  }
  if (is_packed_half(target_, u->dtype)) {
    return refuse(fmt::format("{} of f16, which the target only stores", to_text(u->op)));
  }
  return arithmetic(u);
}

Text Expressions::constant(Ref u) {
  const uop::Value v = u->value();
  // A half that is only stored is held as the float of its value.
  const DType held = held_as(target_, v.dtype);
  const Precedence holds = append_literal(text_, held == v.dtype ? v : *uop::cast(v, held));
  return put(u, text_, holds, !is_narrow(v.dtype));
}

std::optional<Text> Expressions::arithmetic(Ref u) {
  const DType t = u->dtype;
  switch (u->op) {
    case Op::Neg: return negated(u);
    case Op::Not: {
      text_ += t == DType::Bool ? '!' : '~';
      append(text_, u->src[0], kPostfix);
      return is_narrow(t) ? narrowed(u, {}, kUnary) : put(u, text_, kUnary);
    }
    case Op::Max:
    case Op::Min: return extreme(u);
    case Op::Fma: return fused(u);
    default: break;
  }
  if (uop::is_fixed_int(t)) return integer(u);
  const std::string_view function = function_name(target_, u->op, t);
  if (!function.empty()) return call(u, function);
  if (u->op == Op::Recip) {
    append_literal(text_, uop::one_of(t));
    text_ += " / ";
    append(text_, u->src[0], kUnary);
    return put(u, text_, kProduct);
  }
  const Infix* row = infix_of(u->op);
  if (row == nullptr) {
    return refuse(fmt::format("{} of {} has no text in OpenCL C", to_text(u->op), to_text(t)));
  }
  return infix(u, row->symbol, row->holds);
}

// Signed integers overflow in C, and narrow ones are computed as int: what may leave the range is
// computed unsigned, and what is narrow is cut to its width after each operation.
std::optional<Text> Expressions::integer(Ref u) {
  const DType t = u->dtype;
  const Infix* row = infix_of(u->op);
  if (row == nullptr) {
    return refuse(fmt::format("{} of {} has no text in OpenCL C", to_text(u->op), to_text(t)));
  }
  switch (u->op) {
    case Op::Div:
    case Op::Mod: return divided(u);
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Shl: {
      const bool is_safe = (!is_signed(t) && !is_narrow(t)) || stays_in_range(u);
      if (!is_safe) return wrapped(u, row->symbol, row->holds);
      break;
    }
    default: break;
  }
  return is_narrow(t) ? narrowed(u, row->symbol, row->holds) : infix(u, row->symbol, row->holds);
}

std::optional<Text> Expressions::divided(Ref u) {
  const Bounds a = uop::bounds(g_, u->src[0]);
  const Bounds b = uop::bounds(g_, u->src[1]);
  if (a.lo < 0 || b.lo < 0) {
    return refuse(fmt::format("{} of numbers that may be negative is not C's", to_text(u->op)));
  }
  const Infix* row = infix_of(u->op);
  return is_narrow(u->dtype) ? narrowed(u, row->symbol, row->holds)
                             : infix(u, row->symbol, row->holds);
}

Text Expressions::infix(Ref u, std::string_view symbol, Precedence holds) {
  append(text_, u->src[0], holds);
  text_ += ' ';
  text_ += symbol;
  text_ += ' ';
  append(text_, u->src[1], static_cast<Precedence>(holds + 1));
  return put(u, text_, holds);
}

// A result that is an int, at the type of u. Without a symbol it stands in text_ already.
Text Expressions::narrowed(Ref u, std::string_view symbol, Precedence holds) {
  std::string inner = std::move(text_);
  text_.clear();
  text_ += '(';
  text_ += c_type(u->dtype);
  text_ += ')';
  if (!symbol.empty()) {
    text_ += '(';
    append(text_, u->src[0], holds);
    text_ += fmt::format(" {} ", symbol);
    append(text_, u->src[1], static_cast<Precedence>(holds + 1));
    text_ += ')';
  } else {
    text_ += inner;
  }
  return put(u, text_, kUnary);
}

Text Expressions::wrapped(Ref u, std::string_view symbol, Precedence holds) {
  text_ += fmt::format("({})(", c_type(u->dtype));
  append_unsigned(text_, u->src[0]);
  text_ += fmt::format(" {} ", symbol);
  if (u->op == Op::Shl) {
    append(text_, u->src[1], static_cast<Precedence>(holds + 1));
  } else {
    append_unsigned(text_, u->src[1]);
  }
  text_ += ')';
  return put(u, text_, kUnary);
}

void Expressions::append_unsigned(std::string& out, Ref u) const {
  const DType t = unsigned_type(u->dtype);
  if (is_const(u)) {
    append_literal(out, uop::of_int(t, uop::as_int(u->value())));
  } else if (u->dtype == t) {
    append(out, u, kUnary);
  } else {
    out += fmt::format("({})", c_type(t));
    append(out, u, kUnary);
  }
}

// Whether the exact result is a value of the type, whatever the operands are.
bool Expressions::stays_in_range(Ref u) const {
  const Bounds a = uop::bounds(g_, u->src[0]);
  const Bounds b = uop::bounds(g_, u->src[1]);
  const DType t = u->dtype;
  const auto holds = [t](Int128 lo, Int128 hi) { return uop::fits(t, lo) && uop::fits(t, hi); };
  switch (u->op) {
    case Op::Add: return holds(a.lo + b.lo, a.hi + b.hi);
    case Op::Sub: return holds(a.lo - b.hi, a.hi - b.lo);
    case Op::Mul: {
      const auto [lo, hi] = std::minmax({a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi});
      return holds(lo, hi);
    }
    case Op::Shl:
      return a.lo >= 0 && b.lo >= 0 && b.hi < uop::bits_of(t) && holds(a.lo, a.hi << int(b.hi));
    default: return false;
  }
}

Text Expressions::call(Ref u, std::string_view function) {
  text_ += function;
  char before = '(';
  for (const Ref s : u->src) {
    text_ += before;
    if (before == ',') text_ += ' ';
    append_typed(text_, s);
    before = ',';
  }
  text_ += ')';
  return put(u, text_, kPostfix);
}

Text Expressions::extreme(Ref u) {
  if (uop::is_float(u->dtype)) return float_extreme(u);
  if (u->dtype != DType::Bool) return call(u, to_text(u->op));
  return u->op == Op::Max ? infix(u, "|", kOr) : infix(u, "&", kAnd);
}

// A NaN where either is one, and -0.0 below 0.0: of equal operands the bits are joined.
Text Expressions::float_extreme(Ref u) {
  const bool is_max = u->op == Op::Max;
  const std::string_view bits = u->dtype == DType::F32   ? "uint"
                                : u->dtype == DType::F64 ? "ulong"
                                                         : "ushort";
  std::string a;
  std::string b;
  append(a, u->src[0], kUnary);
  append(b, u->src[1], kUnary);
  text_ = fmt::format("{0} {2} {1} ? {0} : {1} {2} {0} ? {1} : {0} == {1} ? ", a, b,
                      is_max ? '>' : '<');
  text_ += fmt::format("as_{3}(({4})(as_{4}({0}) {2} as_{4}({1}))) : {0} + {1}", a, b,
                       is_max ? '&' : '|', c_type(u->dtype), bits);
  return put(u, text_, kTernary);
}

Text Expressions::select(Ref u) {
  append(text_, u->src[0], kOr);
  text_ += " ? ";
  append(text_, u->src[1], kOr);
  text_ += " : ";
  append(text_, u->src[2], kTernary);
  return put(u, text_, kTernary, !is_narrow(u->dtype));
}

Text Expressions::negated(Ref u) {
  const DType t = u->dtype;
  const bool is_safe = uop::is_float(t) || (!is_narrow(t) && !is_signed(t)) ||
                       (is_signed(t) && uop::bounds(g_, u->src[0]).lo > uop::min_int(t));
  if (!is_safe) {
    text_ += fmt::format("({})(0{} - ", c_type(t), unsigned_type(t) == DType::U64 ? "UL" : "u");
    append_unsigned(text_, u->src[0]);
    text_ += ')';
    return put(u, text_, kUnary);
  }
  text_ += '-';
  append(text_, u->src[0], kPostfix);
  return is_narrow(t) ? narrowed(u, {}, kUnary) : put(u, text_, kUnary);
}

Text Expressions::fused(Ref u) {
  if (uop::is_float(u->dtype)) return call(u, function_name(target_, u->op, u->dtype));
  text_ += fmt::format("({})(", c_type(u->dtype));
  append_unsigned(text_, u->src[0]);
  text_ += " * ";
  append_unsigned(text_, u->src[1]);
  text_ += " + ";
  append_unsigned(text_, u->src[2]);
  text_ += ')';
  return put(u, text_, kUnary);
}

std::optional<Text> Expressions::cast(Ref u) {
  const Ref x = u->src[0];
  const int64_t lanes = lanes_of(x);
  const bool from_packed = is_packed_half(target_, x->dtype);
  const DType from = held_as(target_, x->dtype);
  const DType to = held_as(target_, u->dtype);
  if (from_packed && without_order(x)->op == Op::Cast) {
    return refuse("f16 that the target only stores is read before it is stored");
  }
  // What is stored as a half is rounded by the store, and what was loaded is exact.
  if (from == u->dtype || is_packed_half(target_, u->dtype)) return texts_.at(x);
  if (lanes > 1) {
    if (from == DType::Bool || to == DType::Bool) return refuse("cast of a vector of bool");
    text_ += fmt::format("convert_{}{}(", c_type(to), lanes);
    append(text_, x, kTernary);
    text_ += ')';
    return put(u, text_, kPostfix);
  }
  if (to == DType::Bool) {
    append(text_, x, kEqual);
    text_ += " != ";
    append_literal(text_, uop::zero_of(from));
    return put(u, text_, kEqual);
  }
  text_ += fmt::format("({})", c_type(to));
  append(text_, x, kUnary);
  return put(u, text_, kUnary);
}

std::optional<Text> Expressions::bitcast(Ref u) {
  const Ref x = u->src[0];
  if (x->dtype == u->dtype) return texts_.at(x);
  if (uop::bits_of(x->dtype) != uop::bits_of(u->dtype)) {
    return refuse(fmt::format("bitcast from {} to {} changes the number of elements",
                              to_text(x->dtype), to_text(u->dtype)));
  }
  if (is_packed_half(target_, x->dtype) || is_packed_half(target_, u->dtype)) {
    return refuse("bitcast of f16, which the target only stores");
  }
  text_ += fmt::format("as_{}(", type(u));
  append_typed(text_, x);
  text_ += ')';
  return put(u, text_, kPostfix);
}

Text Expressions::stack(Ref u) {
  text_ += u->src.size() > 1 ? fmt::format("({})(", type(u)) : "(";
  std::string_view before;
  for (const Ref s : u->src) {
    text_ += before;
    append(text_, s, kTernary);
    before = ", ";
  }
  text_ += ')';
  return put(u, text_, u->src.size() > 1 ? kUnary : kPrimary);
}

std::optional<Text> Expressions::lane(Ref u) {
  const Ref x = u->src[0];
  const int64_t lanes = lanes_of(x);
  const Int128 k = u->src.size() == 2 && is_const(u->src[1]) ? uop::as_int(u->src[1]->value()) : -1;
  if (lanes == 0 || k < 0 || k >= lanes) {
    return refuse(fmt::format("index of {} is no lane of a vector", to_text(x->op)));
  }
  if (lanes == 1) return texts_.at(x);
  append(text_, x, kPostfix);
  text_ += fmt::format(".s{:x}", static_cast<int>(k));
  if (u->dtype != DType::Bool) return put(u, text_, kPostfix);
  text_ += " != 0";
  return put(u, text_, kEqual);
}

int64_t Expressions::factor(Ref u) {
  constexpr int64_t kMost = 1 << 20;
  return uop::derive(factors_, u, [&](Ref v) -> int64_t {
    const auto of = [&](size_t i) { return factors_.at(v->src[i]); };
    switch (v->op) {
      case Op::Const: {
        const uint64_t bits = v->value().bits | kMost;
        return static_cast<int64_t>(bits & (~bits + 1));
      }
      case Op::Add:
      case Op::Sub: return std::min(of(0), of(1));
      case Op::Where: return std::min(of(1), of(2));
      case Op::Mul: return std::min(of(0) * of(1), kMost);
      case Op::Shl:
        if (!is_const(v->src[1]) || v->src[1]->value().bits > 20) return of(0);
        return std::min(of(0) << v->src[1]->value().bits, kMost);
      case Op::Cast: return uop::is_int(v->src[0]->dtype) ? of(0) : 1;
      default: return 1;
    }
  });
}

}  // namespace assay::render
