#include "oracles/smt/encode.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::smt {
namespace {

using uop::Bool;
using uop::DType;
using uop::Index;
using uop::Op;
using uop::Ref;

bool is_signed_type(DType t) { return uop::kind_of(t) == uop::Kind::Signed || t == Index; }

}  // namespace

Term differs(Formula& f, const Encoded& before, const Encoded& after) {
  const Term equal = f.equal(before.value, after.value);
  const Term kept = f.both(after.is_defined, equal);
  const Term lost = f.both(before.is_defined, f.no(kept));
  const Term revived = f.both(before.is_invalid, f.no(after.is_invalid));
  return f.either(lost, revived);
}

void Encoder::set_wild(Ref leaf, bool may_be_unspecified, bool may_be_invalid) {
  wild_.set(leaf, {may_be_unspecified, may_be_invalid});
}

std::optional<Sort> Encoder::sort_of(DType t) const {
  if (t == Bool) return kBool;
  if (uop::is_int(t)) return view_ == View::AtWidth ? bits_sort(uop::bits_of(t)) : kInt;
  if (!uop::is_float(t)) return std::nullopt;
  if (view_ == View::Reals) return kReal;
  return t == DType::E4M3 ? bits_sort(8) : float_sort(t);
}

Term Encoder::number(uop::Value v) {
  if (v.dtype == Bool) return f_.truth(v.bits != 0);
  if (!uop::is_float(v.dtype)) {
    return view_ == View::AtWidth ? f_.number(*sort_of(v.dtype), Int128{v.bits})
                                  : f_.integer(uop::as_int(v));
  }
  if (view_ == View::Reals) return real(v);
  return f_.number(*sort_of(v.dtype), Int128{uop::is_nan(v) ? uop::nan_of(v.dtype).bits : v.bits});
}

bool Encoder::is_ieee(DType t) const {
  return uop::is_float(t) && view_ != View::Reals && t != DType::E4M3;
}

Term Encoder::small_key(Term x) {
  const Sort sort = bits_sort(8);
  const Term zero = f_.number(sort, 0);
  const Term magnitude = f_.number(sort, 0x7F);
  const Term turned = f_.make(Fn::BitXor, {x, magnitude});
  return f_.ite(f_.make(Fn::Slt, {x, zero}), turned, x);
}

Term Encoder::small_is_nan(Term x) { return f_.equal(x, f_.number(bits_sort(8), 0x7F)); }

// Whether a < b, or a is b: -0.0 is 0.0, and NaN is neither less than anything nor equal.
Term Encoder::small_compared(Op op, Term a, Term b) {
  const Term zero = f_.number(bits_sort(8), 0);
  const Term minus_zero = f_.number(bits_sort(8), 0x80);
  const auto with_one_zero = [&](Term x) { return f_.ite(f_.equal(x, minus_zero), zero, x); };
  const Term x = small_key(with_one_zero(a));
  const Term y = small_key(with_one_zero(b));
  const Term a_is_nan = small_is_nan(a);
  const Term b_is_nan = small_is_nan(b);
  const Term holds = op == Op::Lt ? f_.make(Fn::Slt, {x, y}) : f_.equal(x, y);
  return f_.both(f_.no(f_.either(a_is_nan, b_is_nan)), holds);
}

// Of e4m3 what rounds nothing.
bool Encoder::of_small_float(Ref u, Operands x, Encoded& out) {
  const Term a = x[0].value;
  const Term nan = f_.number(bits_sort(8), 0x7F);
  if (u->op == Op::Neg) {
    const Term sign = f_.number(bits_sort(8), 0x80);
    const Term turned = f_.make(Fn::BitXor, {a, sign});
    out.value = f_.ite(small_is_nan(a), nan, turned);
    return true;
  }
  if (u->op != Op::Max && u->op != Op::Min) return false;
  const Term b = x[1].value;
  const Term a_key = small_key(a);
  const Term b_key = small_key(b);
  const Term less =
      u->op == Op::Max ? f_.make(Fn::Slt, {a_key, b_key}) : f_.make(Fn::Slt, {b_key, a_key});
  const Term a_is_nan = small_is_nan(a);
  const Term b_is_nan = small_is_nan(b);
  const Term picked = f_.ite(less, b, a);
  out.value = f_.ite(f_.either(a_is_nan, b_is_nan), nan, picked);
  return true;
}

Term Encoder::less(DType t, Term a, Term b) {
  if (view_ != View::AtWidth) return f_.lt(a, b);
  return f_.make(is_signed_type(t) ? Fn::Slt : Fn::Ult, {a, b});
}

void Encoder::narrow_fits(Encoded& out, Term holds) {
  out.fits = f_.both(out.fits, f_.implies(out.is_defined, holds));
}

std::nullopt_t Encoder::no_meaning(Ref u) {
  why_ = fmt::format("{} at {}", uop::to_text(u->op), uop::to_text(u->dtype));
  return std::nullopt;
}

std::optional<Encoded> Encoder::encode(Ref root) {
  std::vector<Ref> stack = {root};
  while (!stack.empty()) {
    const Ref u = stack.back();
    bool ready = true;
    // The operands of what is no function (a load's index) are not looked at, but for a RANGE's
    // count.
    const bool looks = uop::is_scalar(u->op) || u->op == Op::Range || u->op == Op::Special;
    for (size_t i = known_.has(u) || !looks ? 0 : u->src.size(); i-- > 0;) {
      if (known_.has(u->src[i])) continue;
      stack.push_back(u->src[i]);
      ready = false;
    }
    if (!ready) continue;
    stack.pop_back();
    if (known_.has(u)) continue;
    const std::optional<Encoded> is = node(u);
    if (!is) return std::nullopt;
    known_.set(u, *is);
  }
  return known_.at(root);
}

std::optional<Encoded> Encoder::node(Ref u) {
  const std::optional<Sort> sort = sort_of(u->dtype);
  if (!sort) return no_meaning(u);
  const Term yes = f_.truth(true);
  const Term no = f_.truth(false);
  if (u->op == Op::Const) {
    if (view_ == View::Reals && uop::is_float(u->dtype) &&
        !(uop::as_double(u->value()) - uop::as_double(u->value()) == 0)) {
      return no_meaning(u);
    }
    return Encoded{number(u->value()), yes, no, yes};
  }
  if (u->op == Op::Invalid) {
    const Term any = sort->kind == Sort::Kind::Bool ? no : f_.number(*sort, 0);
    return Encoded{any, no, yes, yes};
  }
  if (!uop::is_scalar(u->op)) return leaf(u);
  std::vector<Encoded> operands;
  for (const Ref s : u->src) operands.push_back(known_.at(s));
  return u->op == Op::Where ? where(operands) : function(u, operands);
}

std::string Encoder::name_of(Ref u) {
  std::string name = u->op == Op::Variable || u->op == Op::Special
                         ? std::string(u->arg.name())
                         : fmt::format("{}{}", uop::to_text(u->op), leaves_.size());
  const auto is_taken = [&](const std::string& text) {
    const auto all = f_.variables();
    return std::any_of(all.begin(), all.end(),
                       [&](const Formula::Variable& v) { return v.name == text; });
  };
  if (!is_taken(name)) return name;
  int n = 2;
  while (is_taken(fmt::format("{}'{}", name, n))) n++;
  return fmt::format("{}'{}", name, n);
}

// A count that is no constant bounds the leaf by a fact of its own.
Term Encoder::leaf_value(Ref u, Sort sort) {
  const std::string name = name_of(u);
  Int128 lo = uop::is_int(u->dtype) ? uop::min_int(u->dtype) : 0;
  Int128 hi = uop::is_int(u->dtype) ? uop::max_int(u->dtype) : 0;
  const bool counts = u->op == Op::Range || u->op == Op::Special;
  const bool has_ends = u->op == Op::Variable && u->arg.numbers().size() == 2;
  if (counts) lo = 0;
  if (counts && uop::is_const(u->src[0])) hi = uop::as_int(u->src[0]->value()) - 1;
  if (has_ends && !uop::is_float(u->dtype)) {
    lo = uop::as_int({u->dtype, static_cast<uint64_t>(u->arg.numbers()[0])});
    hi = uop::as_int({u->dtype, static_cast<uint64_t>(u->arg.numbers()[1])});
  }
  const bool is_bounded = counts || has_ends || uop::is_fixed_int(u->dtype);
  if (lo > hi) facts_.push_back(f_.truth(false));
  if (sort == kInt) {
    return is_bounded && lo <= hi ? f_.bounded(name, lo, hi) : f_.variable(name, kInt);
  }
  const Term value = f_.variable(name, sort);
  if (sort.kind != Sort::Kind::Bits || !(counts || has_ends)) return value;
  const Term least = f_.number(sort, lo);
  const Term most = f_.number(sort, hi);
  facts_.push_back(f_.no(less(u->dtype, value, least)));
  facts_.push_back(f_.no(less(u->dtype, most, value)));
  return value;
}

std::optional<Encoded> Encoder::leaf(Ref u) {
  const Wild* wild = wild_.find(u);
  Encoded is;
  is.value = leaf_value(u, *sort_of(u->dtype));
  const std::string name = f_.variables()[static_cast<size_t>(f_.node(is.value).payload)].name;
  const auto state = [&](bool may_be, const char* what) {
    return may_be ? f_.variable(fmt::format("{} {}", name, what), kBool) : f_.truth(false);
  };
  is.is_invalid = state(wild != nullptr && wild->may_be_invalid, "is invalid");
  const Term lost = state(wild != nullptr && wild->may_be_unspecified, "is unspecified");
  is.is_defined = f_.no(f_.either(lost, is.is_invalid));
  is.fits = f_.truth(true);
  leaves_.push_back({u, is, lost});
  if (u->dtype == DType::E4M3 && view_ != View::Reals) {  // of two NaNs one stands for both
    const Term other_nan = f_.number(bits_sort(8), 0xFF);
    facts_.push_back(f_.no(f_.equal(is.value, other_nan)));
  }
  if ((u->op == Op::Range || u->op == Op::Special) && !uop::is_const(u->src[0])) {
    const Encoded count = known_.at(u->src[0]);
    facts_.push_back(less(u->dtype, is.value, count.value));
    facts_.push_back(count.is_defined);
  }
  return is;
}

std::optional<Encoded> Encoder::where(Operands x) {
  Encoded out;
  const Encoded& c = x[0];
  const auto picked = [&](Term a, Term b) { return f_.ite(c.value, a, b); };
  const Term invalid = picked(x[1].is_invalid, x[2].is_invalid);
  const Term defined = picked(x[1].is_defined, x[2].is_defined);
  const Term picked_fits = picked(x[1].fits, x[2].fits);
  const Term fits = f_.implies(c.is_defined, picked_fits);
  out.value = picked(x[1].value, x[2].value);
  out.is_invalid = f_.either(c.is_invalid, f_.both(c.is_defined, invalid));
  out.is_defined = f_.both(c.is_defined, defined);
  out.fits = f_.both(c.fits, fits);
  return out;
}

std::optional<Encoded> Encoder::function(Ref u, Operands x) {
  Encoded out = {{}, f_.truth(true), f_.truth(false), f_.truth(true)};
  for (const Encoded& operand : x) {
    out.is_defined = f_.both(out.is_defined, operand.is_defined);
    out.is_invalid = f_.either(out.is_invalid, operand.is_invalid);
    out.fits = f_.both(out.fits, operand.fits);
  }
  bool known = false;
  if (u->op == Op::Cast) {
    known = of_cast(u, x[0], out);
  } else if (u->op == Op::Bitcast) {
    known = of_bitcast(u, x[0].value, out);
  } else if (uop::info(u->op).typing == uop::Typing::Compare) {
    known = of_compare(u, x, out);
  } else if (u->dtype == Bool) {
    known = of_bool(u, x, out);
  } else if (uop::is_float(u->dtype)) {
    known = view_ == View::Reals ? of_real(u, x, out)
            : is_ieee(u->dtype)  ? of_float(u, x, out)
                                 : of_small_float(u, x, out);
  } else {
    known = view_ == View::AtWidth ? of_bits(u, x, out) : of_int(u, x, out);
  }
  if (!known) return no_meaning(u);
  return out;
}

bool Encoder::of_bool(Ref u, Operands x, Encoded& out) {
  switch (u->op) {
    case Op::Not: out.value = f_.no(x[0].value); return true;
    case Op::And:
    case Op::Min: out.value = f_.both(x[0].value, x[1].value); return true;
    case Op::Or:
    case Op::Max: out.value = f_.either(x[0].value, x[1].value); return true;
    case Op::Xor: out.value = f_.make(Fn::Xor, {x[0].value, x[1].value}); return true;
    default: return false;
  }
}

bool Encoder::of_compare(Ref u, Operands x, Encoded& out) {
  const DType t = u->src[0]->dtype;
  const Term a = x[0].value;
  const Term b = x[1].value;
  if (t == DType::E4M3 && view_ != View::Reals) {
    const Term holds = small_compared(u->op, a, b);
    out.value = u->op == Op::Ne ? f_.no(holds) : holds;
    return true;
  }
  if (u->op == Op::Lt) {
    if (t == Bool) {
      out.value = f_.both(f_.no(a), b);
    } else if (uop::is_float(t)) {
      out.value = f_.make(is_ieee(t) ? Fn::FloatLt : Fn::Lt, {a, b});
    } else {
      out.value = less(t, a, b);
    }
    return true;
  }
  const Term equal = is_ieee(t) ? f_.make(Fn::FloatEq, {a, b}) : f_.equal(a, b);
  out.value = u->op == Op::Eq ? equal : f_.no(equal);
  return true;
}

// By the table of conversions.
bool Encoder::of_cast(Ref u, const Encoded& x, Encoded& out) {
  const DType from = u->src[0]->dtype;
  const DType to = u->dtype;
  if (from == to) {
    out.value = x.value;
    return true;
  }
  if (to == Bool) {
    const Term zero = number(uop::zero_of(from));
    const bool is_small = from == DType::E4M3 && view_ != View::Reals;
    const Term is_zero = is_small        ? small_compared(Op::Eq, x.value, zero)
                         : is_ieee(from) ? f_.make(Fn::FloatEq, {x.value, zero})
                                         : f_.equal(x.value, zero);
    out.value = f_.no(is_zero);
    return true;
  }
  if (from == Bool) {
    const Term one = number(uop::one_of(to));
    const Term zero = number(uop::zero_of(to));
    out.value = f_.ite(x.value, one, zero);
    return true;
  }
  return uop::is_float(to) ? to_float(u, x.value, out) : to_integer(u, x.value, out);
}

}  // namespace assay::smt
