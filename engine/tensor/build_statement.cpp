#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "engine/check.h"
#include "engine/tensor/build.h"
#include "engine/tensor/nodes.h"
#include "engine/tensor/program/text.h"
#include "engine/uop/eval.h"
#include "engine/uop/walk.h"

namespace assay::tensor {
namespace {

using Done = Result<bool>;

const Operand* literal_at(const Building& b, size_t i) {
  const Operand& o = b.define.operands[i];
  return o.is_literal() ? &o : nullptr;
}

std::string_view name_of(const Building& b, size_t i) {
  const std::vector<OperandRow>& rows = b.row().operands;
  return rows[std::min(i, rows.size() - 1)].name;
}

Result<Ref> typed_literal(const Building& b, size_t i, DType t) {
  const Literal& literal = b.define.operands[i].literal;
  const std::optional<uint64_t> bits = bits_at(literal, t);
  if (bits) return b.g.constant(uop::Value{t, *bits});
  return Error{
      fmt::format("{} is {}, which is no {}", name_of(b, i), to_text(literal), uop::to_text(t))};
}

// Whether an operand of an op that promotes is promoted: conditions and masks that are bool are
// not.
bool is_promoted(const Building& b, size_t i) {
  if (b.define.op == Op::Where) return i != 0;
  if (b.define.op != Op::Attention || i != 3) return true;
  return b.operands[i] != nullptr && b.operands[i]->dtype != uop::Bool;
}

Error wrong_type(const Building& b, DType t, size_t values) {
  const std::string takes = fmt::format("{} takes {}", b.row().text, uop::to_text(b.row().over));
  if (values > 1) {
    return Error{fmt::format("{}; its operands promote to {}", takes, uop::to_text(t))};
  }
  const auto first = std::ranges::find_if(b.operands, [](Ref u) { return u != nullptr; });
  const auto i = static_cast<size_t>(first - b.operands.begin());
  return Error{
      fmt::format("{}; {} is {}", takes, name_of(b, i), uop::to_text(b.operands[i]->dtype))};
}

// The type that the promoted operands get.
Result<DType> promoted_type(const Building& b) {
  DType t = uop::Void;
  size_t values = 0;
  for (size_t i = 0; i < b.operands.size(); i++) {
    if (b.operands[i] == nullptr || !is_promoted(b, i)) continue;
    const DType next = b.operands[i]->dtype;
    t = values++ == 0 ? next : uop::promote(t, next).value_or(uop::Void);
  }
  if (values == 0) return Error{fmt::format("{} of numbers alone has no type", b.row().text)};
  for (size_t i = 0; i < b.operands.size(); i++) {
    const Operand* o = literal_at(b, i);
    if (o == nullptr || !is_promoted(b, i)) continue;
    if (o->literal.kind == Literal::Kind::Float && !uop::is_float(t)) t = uop::F32;
  }
  if (b.row().over.has(t)) return t;
  return wrong_type(b, t, values);
}

Done promote_operands(Building& b) {
  ASSAY_TRY(t, promoted_type(b));
  for (size_t i = 0; i < b.operands.size(); i++) {
    const DType own = is_promoted(b, i) ? t : uop::Bool;
    if (literal_at(b, i) != nullptr) {
      ASSAY_TRY(literal, typed_literal(b, i, own));
      b.operands[i] = literal;
    } else if (b.operands[i] == nullptr) {
      continue;
    } else if (is_promoted(b, i)) {
      b.operands[i] = cast(operand(b, i), t).u;
    } else if (b.operands[i]->dtype != uop::Bool) {
      return Error{fmt::format("{} takes a bool {}; it is {}", b.row().text, name_of(b, i),
                               uop::to_text(b.operands[i]->dtype))};
    }
  }
  return true;
}

bool is_position(const Building& b, size_t i) { return name_of(b, i) == "i"; }

// Operands that are not promoted: positions are integers of any type, and all others have one that
// the op works on.
Done check_operands(Building& b) {
  if (b.operands.empty()) {
    if (b.row().over.has(b.dtype())) return true;
    return Error{fmt::format("{} gives {}; the written type is {}", b.row().text,
                             uop::to_text(b.row().over), uop::to_text(b.dtype()))};
  }
  size_t first = 0;
  while (first < b.operands.size() && (b.operands[first] == nullptr || is_position(b, first))) {
    first++;
  }
  const bool has_type = first < b.operands.size();
  if (!has_type && !is_position(b, 0)) {
    return Error{fmt::format("{} of a number alone has no type", b.row().text)};
  }
  const DType t = has_type ? b.operands[first]->dtype : uop::I32;
  if (has_type && !b.row().over.has(t)) return wrong_type(b, t, 1);
  for (size_t i = 0; i < b.operands.size(); i++) {
    if (literal_at(b, i) != nullptr) {
      ASSAY_TRY(literal, typed_literal(b, i, is_position(b, i) ? uop::I32 : t));
      b.operands[i] = literal;
    }
    if (b.operands[i] == nullptr) continue;
    const DType own = b.operands[i]->dtype;
    if (is_position(b, i) ? uop::is_fixed_int(own) : own == t) continue;
    if (is_position(b, i)) {
      return Error{fmt::format("{} takes integers as positions; {} is {}", b.row().text,
                               name_of(b, i), uop::to_text(own))};
    }
    return Error{fmt::format("{} takes operands of one type; {} is {}, {} is {}", b.row().text,
                             name_of(b, first), uop::to_text(t), name_of(b, i), uop::to_text(own))};
  }
  return true;
}

// A size where each variable is what it was bound to.
Ref size_now(Graph& g, Ref size) {
  if (uop::is_const(size)) return size;
  uop::Substitution bound;
  for (const Ref u : uop::toposort(g, size)) {
    if (u->op == Fn::Bind) bound.emplace(u, u->src[1]);
  }
  uop::Evaluator evaluator(g, uop::substitute(g, size, bound));
  ASSAY_CHECK(evaluator.leaves().empty(), "a size depends on what is not bound");
  const uop::Cell cell = evaluator.run({});
  return cell.defined() ? g.constant(cell.value) : uop::dim(g, -1);
}

bool is_constant(Shape shape) { return std::ranges::all_of(shape, uop::is_const); }

bool has_symbolic_size(const Define& define) {
  const auto symbolic = [](const Size& s) { return !s.is_number(); };
  if (std::ranges::any_of(define.shape, symbolic)) return true;
  for (const AttrValue& attr : define.attrs) {
    if (const auto* one = std::get_if<Size>(&attr); one && symbolic(*one)) return true;
    const auto* sizes = std::get_if<std::vector<Size>>(&attr);
    if (sizes != nullptr && std::ranges::any_of(*sizes, symbolic)) return true;
    const auto* slices = std::get_if<std::vector<Slice>>(&attr);
    if (slices == nullptr) continue;
    for (const Slice& s : *slices) {
      if (symbolic(s.begin) || symbolic(s.step) || (s.end && symbolic(*s.end))) return true;
    }
  }
  return false;
}

bool is_symbolic(const Building& b) {
  if (b.variables.empty()) return false;
  for (size_t i = 0; i < b.operands.size(); i++) {
    if (b.operands[i] != nullptr && !is_constant(b.shape_of(i))) return true;
  }
  return has_symbolic_size(b.define);
}

// What is wrong with a node, or with what lies between it and the operands: of the first that was
// made.
std::optional<std::string> fault_above_operands(const Building& b, Ref node) {
  std::unordered_set<Ref> known(b.operands.begin(), b.operands.end());  // only searched
  std::vector<Ref> open = {node};
  Ref first = nullptr;
  while (!open.empty()) {
    const Ref u = open.back();
    open.pop_back();
    if (!known.insert(u).second) continue;
    const bool is_earlier = first == nullptr || u->id < first->id;
    if (is_earlier && uop::shape_error(b.g, u)) first = u;
    open.insert(open.end(), u->src.begin(), u->src.end());
  }
  return first == nullptr ? std::nullopt : uop::shape_error(b.g, first);
}

// The op's node, all that was made for it being well formed, and all that it is made of: a
// statement that was refused before has left nodes in the graph.
Result<Ref> built(const Building& b) {
  const size_t before = b.g.size();
  ASSAY_TRY(node, all_builds()[static_cast<size_t>(b.define.op)].build(b));
  for (size_t id = before; id < b.g.size(); id++) {
    const std::optional<std::string> fault =
        uop::shape_error(b.g, b.g.at(static_cast<uint32_t>(id)));
    if (fault) return Error{*fault};
  }
  if (const std::optional<std::string> fault = fault_above_operands(b, node)) return Error{*fault};
  return node;
}

Done check_result(const Building& b, Ref node) {
  if (node->dtype != b.dtype()) {
    return Error{fmt::format("the written type is {}, {} gives {}", uop::to_text(b.dtype()),
                             b.row().text, uop::to_text(node->dtype))};
  }
  const Shape written = b.shape();
  const Shape shape = uop::shape(b.g, node);
  if (std::ranges::equal(written, shape)) return true;
  return Error{fmt::format("the written shape is {}, {} gives {}", uop::shape_text(written),
                           b.row().text, uop::shape_text(shape))};
}

// The same statement where all sizes are what they are now: operands of symbolic shape stand for
// themselves as PARAMs.
Done check_now(const Building& b) {
  std::vector<Ref> values;
  values.reserve(b.variables.size());
  for (const Ref v : b.variables) values.push_back(size_now(b.g, uop::as_dim(b.g, v)));
  Building now{b.g, b.program, b.define, b.operands, values};
  for (size_t i = 0; i < now.operands.size(); i++) {
    if (now.operands[i] == nullptr || is_constant(now.shape_of(i))) continue;
    std::vector<Ref> sizes;
    for (const Ref size : now.shape_of(i)) sizes.push_back(size_now(b.g, size));
    now.operands[i] = b.g.make(Fn::Param, now.operands[i]->dtype, sizes,
                               uop::Arg::number(static_cast<int64_t>(i)));
  }
  ASSAY_TRY(node, built(now));
  return check_result(now, node);
}

// Operands have the types that the op works on.
Done type_operands(Building& b) {
  if (b.dtype() == uop::Index || b.dtype() == uop::Void) {
    return Error{fmt::format("no value is of type {}", uop::to_text(b.dtype()))};
  }
  const ResultType result = b.row().result;
  const bool promotes =
      !b.operands.empty() && (result == ResultType::Promoted || result == ResultType::Bool);
  return promotes ? promote_operands(b) : check_operands(b);
}

}  // namespace

Result<Ref> build(Graph& g, const Program& program, const Define& define, std::vector<Ref> operands,
                  std::span<const Ref> variables) {
  Building b{g, program, define, std::move(operands), variables};
  if (const Done typed = type_operands(b); !typed.ok()) return typed.error();
  if (is_symbolic(b)) {
    if (const Done now = check_now(b); !now.ok()) return now.error();
    return built(b);
  }
  ASSAY_TRY(node, built(b));
  if (const Done checked = check_result(b, node); !checked.ok()) return checked.error();
  return node;
}

Result<Ref> build_as_follows(Graph& g, const Program& program, const Define& define,
                             std::vector<Ref> operands, std::span<const Ref> variables) {
  Building b{g, program, define, std::move(operands), variables};
  if (const Done typed = type_operands(b); !typed.ok()) return typed.error();
  return built(b);
}

}  // namespace assay::tensor
