#include "oracles/smt/cells.h"

#include <algorithm>
#include <unordered_map>

#include "engine/check.h"
#include "engine/uop/walk.h"

namespace assay::smt {
namespace {

using uop::Cell;
using uop::DType;
using uop::Int128;
using uop::Op;
using uop::Ref;
using uop::Value;

bool is_narrow(DType t) { return t != DType::Void && uop::bits_of(t) <= 8; }

// The value whose low 8 bits are these.
Value narrow_value(DType t, unsigned low) {
  if (uop::is_float(t)) return {t, low};
  if (t == DType::Bool) return uop::of_bool(low != 0);
  return uop::of_int(t, Int128{low});
}

// An unspecified cell says in its value, which nobody else reads, why it is.
Cell left_64_bits() { return {Cell::State::Unspecified, {uop::Index, 1}}; }

// Whether a function of `index` without a value has none because it is large.
bool leaves_64_bits(Ref u, const Value* operands) {
  static constexpr uop::OpSet kGrow = {Op::Neg, Op::Add, Op::Sub, Op::Mul,
                                       Op::Shl, Op::Fma, Op::Pow};
  if (u->dtype != uop::Index || !uop::is_scalar(u->op)) return false;
  if (u->op == Op::Div || u->op == Op::TDiv) return uop::as_int(operands[1]) != 0;
  if (u->op == Op::Shl) return uop::as_int(operands[1]) >= 0 && uop::as_int(operands[1]) < 64;
  if (u->op == Op::Pow) return uop::as_int(operands[1]) >= 0;
  return kGrow.has(u->op);
}

}  // namespace

bool has_left_64_bits(const Cell& c) {
  return c.state == Cell::State::Unspecified && c.value == left_64_bits().value;
}

const std::vector<uint16_t>& Tables::of(Op op, DType t, DType from, size_t arity) {
  std::vector<uint16_t>& table =
      made_[{static_cast<int>(op), static_cast<int>(t), static_cast<int>(from), int(arity)}];
  if (!table.empty()) return table;
  const unsigned size = from == DType::Bool ? 2 : 256;
  table.assign(arity == 1 ? 256 : 65536, kNone);
  for (unsigned a = 0; a < size; a++) {
    for (unsigned b = 0; b < (arity == 1 ? 1 : size); b++) {
      const Value operands[] = {narrow_value(from, a), narrow_value(from, b)};
      const std::optional<Value> v = uop::eval(op, t, std::span(operands, arity));
      if (v) table[a | b << 8] = static_cast<uint16_t>(v->bits & 0xFF);
    }
  }
  return table;
}

Cells::Cells(uop::Graph& g, std::span<const Ref> roots, std::span<const Ref> leaves,
             Tables& tables) {
  std::unordered_map<Ref, uint32_t> place;
  for (const Ref root : roots) {
    for (const Ref u : uop::toposort(g, root)) {
      if (place.contains(u)) continue;
      place[u] = static_cast<uint32_t>(steps_.size());
      Step s = {u, static_cast<uint32_t>(operands_.size()), 0, -1, nullptr};
      const bool is_leaf = u->op == Op::Variable || u->op == Op::Range || u->op == Op::Special;
      ASSAY_CHECK(is_leaf || uop::is_const(u) || u->op == Op::Invalid || uop::is_scalar(u->op),
                  "{} is no part of a scalar term", uop::to_text(u->op));
      for (const Ref source : u->src) {
        operands_.push_back(place.at(source));
        s.latest = std::max(s.latest, steps_[place.at(source)].latest);
      }
      if (is_leaf) {
        const auto at = std::find(leaves.begin(), leaves.end(), u);
        ASSAY_CHECK(at != leaves.end(), "a leaf that has no values");
        s.leaf = static_cast<uint32_t>(at - leaves.begin());
        s.latest = static_cast<int32_t>(s.leaf);
      } else if (uop::is_scalar(u->op) && u->op != Op::Where && u->src.size() <= 2 &&
                 is_narrow(u->dtype) && is_narrow(u->src[0]->dtype)) {
        s.table = &tables.of(u->op, u->dtype, u->src[0]->dtype, u->src.size());
      }
      steps_.push_back(s);
    }
    roots_.push_back(place.at(root));
  }
  cells_.resize(steps_.size());
}

void Cells::run(std::span<const Cell> leaves, size_t from) {
  const auto first = static_cast<int32_t>(from);
  for (size_t i = 0; i < steps_.size(); i++) {
    if (from == 0 || steps_[i].latest >= first) cells_[i] = step(steps_[i], leaves);
  }
}

Cell Cells::step(const Step& s, std::span<const Cell> leaves) const {
  switch (s.u->op) {
    case Op::Const: return Cell::of(s.u->value());
    case Op::Invalid: return {Cell::State::Invalid, {}};
    case Op::Variable:
    case Op::Range:
    case Op::Special: return leaves[s.leaf];
    case Op::Where: {
      const Cell& condition = cells_[operands_[s.first]];
      if (!condition.defined()) return condition;
      return cells_[operands_[s.first + (condition.value.bits != 0 ? 1 : 2)]];
    }
    default: return function(s);
  }
}

// Of an Invalid operand Invalid, else of an unspecified one unspecified, for their reason.
Cell Cells::function(const Step& s) const {
  const size_t arity = s.u->src.size();
  Cell lost = left_64_bits();
  bool is_defined = true;
  for (size_t i = 0; i < arity; i++) {
    const Cell& operand = cells_[operands_[s.first + i]];
    if (operand.state == Cell::State::Invalid) return {Cell::State::Invalid, {}};
    if (operand.defined()) continue;
    is_defined = false;
    if (!has_left_64_bits(operand)) lost = {};
  }
  if (!is_defined) return lost;
  if (s.table != nullptr) {
    const uint64_t a = cells_[operands_[s.first]].value.bits & 0xFF;
    const uint64_t b = arity == 2 ? cells_[operands_[s.first + 1]].value.bits & 0xFF : 0;
    const uint16_t found = (*s.table)[a | b << 8];
    return found == Tables::kNone ? Cell{} : Cell::of(narrow_value(s.u->dtype, found));
  }
  Value values[3];
  for (size_t i = 0; i < arity; i++) values[i] = cells_[operands_[s.first + i]].value;
  const std::optional<Value> v = uop::eval(s.u->op, s.u->dtype, std::span(values, arity));
  if (v) return Cell::of(*v);
  return leaves_64_bits(s.u, values) ? left_64_bits() : Cell{};
}

}  // namespace assay::smt
