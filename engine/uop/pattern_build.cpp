#include <algorithm>

#include "engine/check.h"
#include "engine/uop/bounds.h"
#include "engine/uop/eval.h"
#include "engine/uop/pattern.h"

namespace assay::uop {
namespace {

using What = Pat::What;

std::optional<Int128> exact_binary(Op op, Int128 a, Int128 b) {
  Int128 result = 0;
  switch (op) {
    case Op::Add:
      return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Op::Sub:
      return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Op::Mul:
      return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Op::Div: return b == 0 ? std::nullopt : std::optional(floor_div(a, b));
    case Op::Mod: return b == 0 ? std::nullopt : std::optional(a - floor_div(a, b) * b);
    case Op::Min: return std::min(a, b);
    case Op::Max: return std::max(a, b);
    case Op::Lt: return a < b;
    case Op::Eq: return a == b;
    case Op::Ne: return a != b;
    default: ASSAY_CHECK(false, "a guard has no {}", to_text(op));
  }
}

std::optional<Int128> exact_constant(Ref u) {
  if (!is_const(u) || is_float(u->dtype)) return std::nullopt;
  return as_int(u->value());
}

std::optional<Int128> exact_end(Graph& g, What what, Ref u) {
  if (is_float(u->dtype)) return std::nullopt;
  const Bounds b = bounds(g, u);
  const Int128 end = what == What::Lo ? b.lo : b.hi;
  if (end <= -kInfinite || end >= kInfinite) return std::nullopt;
  return end;
}

}  // namespace

Builder::Builder(const Pat& pat, const std::vector<std::string_view>& holes) { add(pat, holes); }

uint16_t Builder::add(const Pat& pat, const std::vector<std::string_view>& holes) {
  Step step = {};
  step.what = pat->what;
  step.op = pat->op;
  step.type = pat->type;
  step.literal = pat->literal;
  step.predicate = pat->predicate;
  step.arity = static_cast<uint8_t>(pat->args.size());
  const auto hole_index = [&](std::string_view name) {
    const auto found = std::find(holes.begin(), holes.end(), name);
    ASSAY_CHECK(found != holes.end(), "{} is no hole of the match", name);
    return static_cast<uint8_t>(found - holes.begin());
  };
  const bool leaf = step.what == What::Hole || step.what == What::Constant;
  if (leaf) step.hole = hole_index(pat->name);
  step.constant = step.what != What::Hole;
  ASSAY_CHECK(pat->args.size() <= 3, "{} has more than 3 operands", to_text(pat));
  for (size_t i = 0; i < pat->args.size(); i++) {
    if (step.what == What::Lo || step.what == What::Hi) step.hole = hole_index(pat->args[i]->name);
    if (step.what == What::Test) step.predicate_holes[i] = hole_index(pat->args[i]->name);
    if (step.what != What::Apply) continue;
    step.args[i] = add(pat->args[i], holes);
    step.constant = step.constant && steps_[step.args[i]].constant;
  }
  if (step.what == What::Apply && step.arity == 0) step.constant = false;
  steps_.push_back(step);
  return static_cast<uint16_t>(steps_.size() - 1);
}

DType Builder::own_type(uint16_t index, const Match& match) const {
  const Step& s = steps_[index];
  if (s.what == What::Hole || s.what == What::Constant || s.what == What::Lo ||
      s.what == What::Hi) {
    return match.holes[s.hole]->dtype;
  }
  if (s.what != What::Apply) return DType::Void;
  if (info(s.op).typing == Typing::Compare) return DType::Bool;
  if (info(s.op).typing == Typing::Convert) return s.type;
  for (int i = s.op == Op::Where ? 1 : 0; i < s.arity; i++) {
    if (const DType t = own_type(s.args[i], match); t != DType::Void) return t;
  }
  return DType::Void;
}

Ref Builder::make_apply(Graph& g, const Match& match, const Step& s, DType t) const {
  const Typing typing = info(s.op).typing;
  DType operand = t;
  if (typing == Typing::Compare || typing == Typing::Convert) {
    operand = DType::Void;
    for (int i = 0; i < s.arity && operand == DType::Void; i++)
      operand = own_type(s.args[i], match);
  }
  Ref sources[3] = {};
  for (int i = 0; i < s.arity; i++) {
    const bool condition = s.op == Op::Where && i == 0;
    sources[i] = make(g, match, s.args[i], condition ? DType::Bool : operand);
    if (sources[i] == nullptr) return nullptr;
  }
  const DType type = typing == Typing::Compare ? DType::Bool : (s.type != DType::Void ? s.type : t);
  if (!s.constant) return g.make(s.op, type, std::span(sources, s.arity));
  Value values[3];
  for (int i = 0; i < s.arity; i++) values[i] = sources[i]->value();
  const std::optional<Value> folded = eval(s.op, type, std::span(values, s.arity));
  return folded ? g.constant(*folded) : nullptr;
}

Ref Builder::make(Graph& g, const Match& match, uint16_t index, DType t) const {
  const Step& s = steps_[index];
  if (s.what == What::Hole || s.what == What::Constant) return match.holes[s.hole];
  // What is compared with nothing but literals has no type.
  if (s.what == What::Literal) return t == DType::Void ? nullptr : g.constant(t, s.literal);
  if (s.what == What::Apply) {
    return make_apply(g, match, s, t == DType::Void ? own_type(index, match) : t);
  }
  const std::optional<Int128> end = exact(g, match, index);
  return end && fits(t, *end) ? g.constant(of_int(t, *end)) : nullptr;
}

Ref Builder::build(Graph& g, const Match& match, DType t) const {
  return make(g, match, static_cast<uint16_t>(steps_.size() - 1), t);
}

std::optional<Int128> Builder::exact(Graph& g, const Match& match, uint16_t index) const {
  const Step& s = steps_[index];
  switch (s.what) {
    case What::Literal: return s.literal;
    case What::Hole:
    case What::Constant: return exact_constant(match.holes[s.hole]);
    case What::Lo:
    case What::Hi: return exact_end(g, s.what, match.holes[s.hole]);
    case What::Test: {
      Ref operands[3];
      for (int i = 0; i < s.arity; i++) operands[i] = match.holes[s.predicate_holes[i]];
      return s.predicate->holds(g, std::span(operands, s.arity));
    }
    default: return exact_apply(g, match, s);
  }
}

// A side that decides `and` or `or` by itself does so whether or not the other is known.
std::optional<Int128> Builder::exact_apply(Graph& g, const Match& match, const Step& s) const {
  const std::optional<Int128> a = exact(g, match, s.args[0]);
  if (s.op == Op::Not) return a ? std::optional<Int128>(*a == 0) : std::nullopt;
  const bool logic = s.op == Op::And || s.op == Op::Or;
  const auto decides = [&](std::optional<Int128> side) {
    return logic && side && (*side != 0) == (s.op == Op::Or);
  };
  if (decides(a)) return a;
  const std::optional<Int128> b = exact(g, match, s.args[1]);
  if (decides(b)) return b;
  if (!a || !b) return std::nullopt;
  return logic ? b : exact_binary(s.op, *a, *b);
}

bool Builder::holds(Graph& g, const Match& match) const {
  const std::optional<Int128> truth = exact(g, match, static_cast<uint16_t>(steps_.size() - 1));
  return truth && *truth != 0;
}

}  // namespace assay::uop
