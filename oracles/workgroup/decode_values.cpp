#include <algorithm>

#include "oracles/workgroup/decoder.h"

// Values, and what touches storage.
namespace assay::workgroup {

using interpreter::Operand;
using interpreter::Scalar;
using uop::Op;
using uop::Ref;

// What was computed in a loop or a branch is there only until it ends.
bool Decoder::is_usable(Register r) {
  if (r.file == File::Constant) return true;
  return !is_closed_[static_cast<size_t>(scopes_[r.file == File::Lane][r.number])] ||
         fail("uses what was computed in a loop or a branch that has ended");
}

bool Decoder::scalar_value(Ref u, Register& out) {
  const Meaning& m = meanings_.at(u);
  if (m.kind != Meaning::Kind::Value || m.count != 1)
    return fail(fmt::format("{} is no scalar", uop::to_text(u->op)));
  out = lane(m, 0);
  return is_usable(out);
}

bool Decoder::lanes_of(Ref u, int width, std::vector<Register>& out) {
  const Meaning& m = meanings_.at(u);
  if (m.kind != Meaning::Kind::Value || (m.count != 1 && m.count != width))
    return fail(fmt::format("{} has not the {} lanes it is to have", uop::to_text(u->op), width));
  for (int i = 0; i < m.count; i++) {
    out.push_back(lane(m, i));
    if (!is_usable(out.back())) return false;
  }
  return true;
}

bool Decoder::stack(Ref u) {
  std::vector<Register> lanes(u->src.size());
  for (size_t i = 0; i < lanes.size(); i++) {
    if (!scalar_value(u->src[i], lanes[i])) return false;
  }
  set_value(u, lanes);
  return true;
}

// A place in storage, or a lane of a vector.
bool Decoder::index(Ref u) {
  if (u->src.size() != 2) return fail("wants one index");
  Meaning m = meanings_.at(u->src[0]);
  if (m.kind == Meaning::Kind::Value) {
    const Ref k = u->src[1];
    const auto lane_number = static_cast<int64_t>(k->arg.bits);
    if (!uop::is_const(k) || lane_number < 0 || lane_number >= m.count)
      return fail(fmt::format("takes no lane of the vector of {}", m.count));
    const Register r = pool_[static_cast<size_t>(m.first + lane_number)];
    set_value(u, {&r, 1});
    return true;
  }
  if (m.kind != Meaning::Kind::Storage) return fail("indexes neither storage nor a vector");
  m.kind = Meaning::Kind::Place;
  if (!scalar_value(u->src[1], m.index)) return false;
  meanings_.set(u, m);
  return true;
}

bool Decoder::shrink(Ref u) {
  Meaning m = meanings_.at(u->src[0]);
  const bool is_vector =
      m.kind == Meaning::Kind::Storage && u->src.size() == 3 && uop::is_const(u->src[2]);
  if (!is_vector) return fail("wants a storage, where it begins, and a constant size");
  m.kind = Meaning::Kind::Place;
  m.width = static_cast<int>(u->src[2]->arg.bits);
  if (m.width < 1 || m.width > 16) return fail(fmt::format("vector of {} elements", m.width));
  if (!scalar_value(u->src[1], m.index)) return false;
  meanings_.set(u, m);
  return true;
}

bool Decoder::place_of(Ref u, Access& access) {
  const Meaning& m = meanings_.at(u);
  access.storage = m.storage;
  access.width = m.width;
  // codegen/README.md, Forms: vectors. Three elements lie packed, as vload3 reads them.
  const uop::AddrSpace space = p_.storages[static_cast<size_t>(m.storage)].space;
  access.is_aligned = m.width > 1 && m.width != 3 &&
                      (space == uop::AddrSpace::Local || maker_.target.aligned_vectors);
  access.index = m.index;
  if (m.kind == Meaning::Kind::Storage) {
    access.index = constant_register(0);
    return p_.storages[static_cast<size_t>(m.storage)].size == 1 || fail("wants an index");
  }
  if (m.kind != Meaning::Kind::Place) return fail("touches what is no place in storage");
  return is_usable(access.index);
}

bool Decoder::gate(Ref u, size_t source, Access& access) {
  access.is_gated = u->src.size() > source;
  return !access.is_gated || scalar_value(u->src[source], access.gate);
}

bool Decoder::load(Ref u) {
  Access access = {};
  if (!place_of(u->src[0], access) || !gate(u, 2, access)) return false;
  access.has_other = u->src.size() > 1;
  if (access.has_other && !lanes_of(u->src[1], access.width, access.other)) return false;
  for (int i = 0; i < access.width; i++) access.values.push_back(new_register(File::Lane));
  p_.storages[static_cast<size_t>(access.storage)].is_read = true;
  set_value(u, access.values);
  emit(Code::Load).access = static_cast<int32_t>(p_.accesses.size());
  p_.accesses.push_back(std::move(access));
  return true;
}

bool Decoder::store(Ref u) {
  meanings_.set(u, {});
  Access access = {};
  if (!place_of(u->src[0], access) || !gate(u, 2, access)) return false;
  if (!lanes_of(u->src[1], access.width, access.values)) return false;
  p_.storages[static_cast<size_t>(access.storage)].is_written = true;
  emit(Code::Store).access = static_cast<int32_t>(p_.accesses.size());
  p_.accesses.push_back(std::move(access));
  return true;
}

// A sum that is rounded once with the product it adds, where the adversary wants that; else a
// constant.
Register Decoder::contracted(Ref u, int lane_number) {
  const bool may = maker_.adversary != nullptr && (u->op == Op::Add || u->op == Op::Sub) &&
                   uop::is_float(u->dtype) && contracts(*maker_.adversary, maker_.target, node_);
  const size_t at = may && u->src[0]->op == Op::Mul ? 0 : 1;
  if (!may || u->src[at]->op != Op::Mul) return {};
  const Ref product = u->src[at];
  Register parts[3] = {lane(meanings_.at(product->src[0]), lane_number),
                       lane(meanings_.at(product->src[1]), lane_number),
                       lane(meanings_.at(u->src[1 - at]), lane_number)};
  const auto add = [&](Op op) -> Instruction& {
    const Register out = new_register(File::Lane);
    Instruction& i = emit(Code::Compute);
    i.scalar = *interpreter::scalar_of(op, {u->dtype, u->dtype});
    i.op = op;
    i.freedom = freedom_of(*maker_.adversary, maker_.target, op, u->dtype, node_);
    i.out = out;
    return i;
  };
  if (u->op == Op::Sub) {
    // a * b - c is a * b + -c, and c - a * b is -a * b + c.
    Register& negated = at == 0 ? parts[2] : parts[0];
    Instruction& minus = add(Op::Neg);
    minus.src[0] = negated;
    negated = minus.out;
  }
  Instruction& sum = add(Op::Fma);
  std::copy(parts, parts + 3, sum.src);
  return sum.out;
}

bool Decoder::compute_lane(Ref u, const Scalar& scalar, int lane_number, Register& out) {
  Register src[3] = {};
  bool is_constant = true;
  bool is_uniform = true;
  for (size_t k = 0; k < u->src.size(); k++) {
    src[k] = lane(meanings_.at(u->src[k]), lane_number);
    if (!is_usable(src[k])) return false;
    is_constant = is_constant && src[k].file == File::Constant;
    is_uniform = is_uniform && src[k].file != File::Lane;
  }
  Freedom freedom;
  if (maker_.adversary != nullptr)
    freedom = freedom_of(*maker_.adversary, maker_.target, u->op, u->dtype, node_);
  if (is_constant && !freedom.is_some()) {
    Operand operands[3] = {};
    for (size_t k = 0; k < u->src.size(); k++) operands[k] = {&p_.constants[src[k].number], 0};
    Slot result = 0;
    scalar.run(&result, operands, 1);
    scalar.finish(&result, 1);
    out = constant_register(result);
    return true;
  }
  out = contracted(u, lane_number);
  if (out.file != File::Constant) return true;
  out = new_register(is_uniform ? File::Uniform : File::Lane);
  Instruction& i = emit(Code::Compute);
  i.is_uniform = is_uniform;
  i.scalar = scalar;
  i.op = u->op;
  i.freedom = freedom;
  std::copy(src, src + 3, i.src);
  i.out = out;
  return true;
}

bool Decoder::compute(Ref u) {
  const std::optional<Scalar> scalar =
      uop::is_scalar(u->op) ? interpreter::scalar_of(u->op, {u->dtype, u->src[0]->dtype})
                            : std::nullopt;
  if (!scalar) return fail("does not belong into a LINEAR");
  int width = 1;
  for (const Ref s : u->src) {
    const Meaning& m = meanings_.at(s);
    if (m.kind != Meaning::Kind::Value)
      return fail(fmt::format("{} is no value", uop::to_text(s->op)));
    if (m.count != 1 && width != 1 && width != m.count)
      return fail(fmt::format("vectors of {} and {}", width, m.count));
    width = std::max(width, m.count);
  }
  std::vector<Register> lanes(static_cast<size_t>(width));
  for (int i = 0; i < width; i++) {
    if (!compute_lane(u, *scalar, i, lanes[static_cast<size_t>(i)])) return false;
  }
  set_value(u, lanes);
  return true;
}

}  // namespace assay::workgroup
