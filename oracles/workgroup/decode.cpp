#include "oracles/workgroup/decode.h"

#include <algorithm>

#include "engine/uop/node_map.h"
#include "engine/uop/text.h"
#include "engine/uop/verify.h"
#include "engine/uop/walk.h"
#include "oracles/interpreter/sizes.h"

namespace assay::workgroup {
namespace {

using interpreter::Operand;
using interpreter::Scalar;
using uop::AddrSpace;
using uop::DType;
using uop::Op;
using uop::Ref;

// What a node is to those that use it.
struct Meaning {
  enum class Kind : uint8_t { Effect, Value, Storage, Place };
  Kind kind = Kind::Effect;
  int first = 0;  // of a Value: its lanes, in the pool of registers
  int count = 0;
  int storage = -1;
  Register index;  // of a Place
  int width = 1;
};

class Decoder {
 public:
  Decoder(uop::Graph& g, const Maker& maker) : g_(g), maker_(maker) {}
  Result<Program> run(Ref linear);

 private:
  // A loop or an IF whose end is yet to come, and its place in the code.
  struct Open {
    Ref node;
    int at;
    int scope;
  };
  // Handlers return false, with the error set, where a node does not fit.
  using Handler = bool (Decoder::*)(Ref u);
  static Handler handler_of(Op op);

  bool constant(Ref u);
  bool variable(Ref u);
  bool special(Ref u);
  bool storage(Ref u);
  bool range(Ref u);
  bool end(Ref u);
  bool branch(Ref u);
  bool end_branch(Ref u);
  bool barrier(Ref u);
  bool after(Ref u);
  bool stack(Ref u);
  bool index(Ref u);
  bool shrink(Ref u);
  bool load(Ref u);
  bool store(Ref u);
  bool compute(Ref u);
  bool nothing(Ref) { return true; }

  bool fail(std::string why);
  bool decode_node(Ref u);
  bool place_of(Ref u, Access& access);
  bool scalar_value(Ref u, Register& out);
  bool lanes_of(Ref u, int width, std::vector<Register>& out);
  bool compute_lane(Ref u, const Scalar& scalar, int lane, Register& out);
  bool gate(Ref u, size_t source, Access& access);
  bool is_usable(Register r);
  Register contracted(Ref u, int lane, Register out);
  Register constant_register(Slot s);
  Register new_register(File file);
  void set_value(Ref u, std::span<const Register> lanes);
  Instruction& emit(Code code);
  Register lane(const Meaning& m, int i) const {
    return pool_[static_cast<size_t>(m.first + (m.count == 1 ? 0 : i))];
  }
  void open(Ref u, int at);
  void close();

  uop::Graph& g_;
  const Maker& maker_;
  Program p_;
  uop::NodeMap<Meaning> meanings_;
  std::vector<Register> pool_;
  std::vector<int> scopes_[2];  // where a Uniform and a Lane register was set
  std::vector<bool> is_closed_ = {false};
  std::vector<Open> open_;
  int loops_ = 0;
  int32_t node_ = 0;
  std::string error_;
};

bool Decoder::fail(std::string why) {
  error_ = fmt::format("{}: {}", p_.texts[static_cast<size_t>(node_)], why);
  return false;
}

Register Decoder::new_register(File file) {
  scopes_[file == File::Lane].push_back(open_.empty() ? 0 : open_.back().scope);
  uint32_t& count = file == File::Lane ? p_.lanes : p_.uniforms;
  return {file, count++};
}

Register Decoder::constant_register(Slot s) {
  p_.constants.push_back(s);
  return {File::Constant, static_cast<uint32_t>(p_.constants.size() - 1)};
}

void Decoder::set_value(Ref u, std::span<const Register> lanes) {
  Meaning m;
  m.kind = Meaning::Kind::Value;
  m.first = static_cast<int>(pool_.size());
  m.count = static_cast<int>(lanes.size());
  pool_.insert(pool_.end(), lanes.begin(), lanes.end());
  meanings_.set(u, m);
}

Instruction& Decoder::emit(Code code) {
  Instruction i;
  i.code = code;
  i.node = node_;
  i.loops = static_cast<uint8_t>(loops_);
  i.branches = static_cast<uint8_t>(open_.size());
  p_.code.push_back(i);
  return p_.code.back();
}

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

bool Decoder::constant(Ref u) {
  const Register r = constant_register(interpreter::constant_slot(u));
  set_value(u, {&r, 1});
  return true;
}

bool Decoder::variable(Ref u) {
  const Result<Slot> value = interpreter::variable_value(u, maker_.variables);
  if (!value.ok()) return fail(value.error().message);
  const Register r = constant_register(value.value());
  set_value(u, {&r, 1});
  return true;
}

bool Decoder::special(Ref u) {
  const std::string_view name = u->arg.name();
  const bool is_group = name.starts_with("gidx");
  const bool is_known = name.size() == 5 && (is_group || name.starts_with("lidx")) &&
                        name[4] >= '0' && name[4] <= '2';
  if (!is_known) return fail(fmt::format("no such work-item axis as {}", quoted(name)));
  const int axis = name[4] - '0';
  const Launch& launch = maker_.launch;
  const int64_t launched = (is_group ? launch.groups : launch.items)[static_cast<size_t>(axis)];
  const Result<int64_t> count = interpreter::size_value(g_, u->src[0], maker_.variables);
  if (!count.ok()) return fail(count.error().message);
  if (count.value() != launched)
    return fail(fmt::format("{} counts {} when the launch has {}", name, count.value(), launched));
  const bool is_uniform = is_group && maker_.is_one_group;
  const Register r = new_register(is_uniform ? File::Uniform : File::Lane);
  p_.positions.push_back({r, is_group, axis});
  set_value(u, {&r, 1});
  return true;
}

bool Decoder::storage(Ref u) {
  Storage s = {AddrSpace::Global, u->dtype, u->arg.number(), 1};
  if (u->op == Op::Buffer) {
    s.space = u->arg.addr_space();
    if (s.space == AddrSpace::Global) return fail("GLOBAL storage is a param");
  }
  for (const Ref size : u->src) {
    if (size->op == Op::Device) continue;
    const Result<int64_t> n = interpreter::size_value(g_, size, maker_.variables);
    if (!n.ok()) return fail(n.error().message);
    s.size *= n.value();
  }
  if (s.space == AddrSpace::Local && !maker_.target.memory)
    return fail(fmt::format("{} has no memory contract", maker_.target.name));
  Meaning m;
  m.kind = Meaning::Kind::Storage;
  m.storage = static_cast<int>(p_.storages.size());
  p_.storages.push_back(s);
  meanings_.set(u, m);
  return true;
}

void Decoder::open(Ref u, int at) {
  open_.push_back({u, at, static_cast<int>(is_closed_.size())});
  is_closed_.push_back(false);
  p_.branches = std::max(p_.branches, static_cast<int>(open_.size()));
  p_.loops = std::max(p_.loops, loops_);
  Instruction& i = p_.code[static_cast<size_t>(at)];
  i.loops = static_cast<uint8_t>(loops_);
  i.branches = static_cast<uint8_t>(open_.size());
}

// The innermost loop or branch ends at the instruction that was emitted last.
void Decoder::close() {
  const Open& innermost = open_.back();
  const int at = static_cast<int>(p_.code.size()) - 1;
  p_.code[static_cast<size_t>(at)].partner = innermost.at;
  p_.code[static_cast<size_t>(innermost.at)].partner = at;
  is_closed_[static_cast<size_t>(innermost.scope)] = true;
  open_.pop_back();
}

bool Decoder::range(Ref u) {
  Register count;
  if (!scalar_value(u->src[0], count)) return false;
  if (open_.size() == 200) return fail("stands in more than 200 loops and branches");
  const int at = static_cast<int>(p_.code.size());
  emit(Code::Loop).src[0] = count;
  loops_++;
  open(u, at);
  const Register counter = new_register(File::Uniform);
  p_.code.back().out = counter;
  set_value(u, {&counter, 1});
  return true;
}

bool Decoder::end(Ref u) {
  meanings_.set(u, {});
  const auto named = u->src.subspan(1);
  for (size_t closed = 0; closed < named.size(); closed++) {
    const bool is_here =
        !open_.empty() && std::find(named.begin(), named.end(), open_.back().node) != named.end();
    if (!is_here) return fail("does not end the innermost loop");
    emit(Code::EndLoop).src[0] = p_.code[static_cast<size_t>(open_.back().at)].src[0];
    close();
    loops_--;
  }
  return true;
}

bool Decoder::branch(Ref u) {
  meanings_.set(u, {});
  Register condition;
  if (!scalar_value(u->src[0], condition)) return false;
  if (open_.size() == 200) return fail("stands in more than 200 loops and branches");
  const int at = static_cast<int>(p_.code.size());
  emit(Code::If).src[0] = condition;
  open(u, at);
  return true;
}

bool Decoder::end_branch(Ref u) {
  meanings_.set(u, {});
  if (open_.empty() || open_.back().node != u->src[0]) return fail("does not end the innermost if");
  emit(Code::EndIf);
  close();
  return true;
}

bool Decoder::barrier(Ref u) {
  meanings_.set(u, {});
  if (!maker_.target.memory)
    return fail(fmt::format("{} has no memory contract", maker_.target.name));
  emit(Code::Barrier);
  p_.barriers++;
  return true;
}

bool Decoder::after(Ref u) {
  meanings_.set(u, meanings_.at(u->src[0]));
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

// A sum that is rounded once with the product it adds, where the adversary wants that.
Register Decoder::contracted(Ref u, int lane_number, Register out) {
  const bool may = maker_.adversary != nullptr && (u->op == Op::Add || u->op == Op::Sub) &&
                   uop::is_float(u->dtype) && contracts(*maker_.adversary, maker_.target, node_);
  if (!may) return {};
  const size_t at = u->src[0]->op == Op::Mul ? 0 : 1;
  const Ref product = u->src[at];
  if (product->op != Op::Mul) return {};
  Register parts[3] = {lane(meanings_.at(product->src[0]), lane_number),
                       lane(meanings_.at(product->src[1]), lane_number),
                       lane(meanings_.at(u->src[1 - at]), lane_number)};
  if (!is_usable(parts[0]) || !is_usable(parts[1])) return {};
  if (u->op == Op::Sub) {
    // a * b - c is a * b + -c, and c - a * b is -a * b + c.
    Register& negated = at == 0 ? parts[2] : parts[0];
    const Register minus = new_register(File::Lane);
    Instruction& i = emit(Code::Compute);
    i.scalar = *interpreter::scalar_of(Op::Neg, {u->dtype, u->dtype});
    i.op = Op::Neg;
    i.src[0] = negated;
    i.out = minus;
    negated = minus;
  }
  out = new_register(File::Lane);
  Instruction& i = emit(Code::Compute);
  i.scalar = *interpreter::scalar_of(Op::Fma, {u->dtype, u->dtype});
  i.op = Op::Fma;
  i.freedom = freedom_of(*maker_.adversary, maker_.target, Op::Fma, u->dtype, node_);
  std::copy(parts, parts + 3, i.src);
  i.out = out;
  return out;
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
  out = contracted(u, lane_number, out);
  if (out.file != File::Constant || !error_.empty()) return error_.empty();
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

Decoder::Handler Decoder::handler_of(Op op) {
  struct Row {
    Op op;
    Handler handler;
  };
  static constexpr Row kRows[] = {
      {Op::Const, &Decoder::constant},   {Op::Variable, &Decoder::variable},
      {Op::Special, &Decoder::special},  {Op::Param, &Decoder::storage},
      {Op::Buffer, &Decoder::storage},   {Op::Range, &Decoder::range},
      {Op::End, &Decoder::end},          {Op::If, &Decoder::branch},
      {Op::EndIf, &Decoder::end_branch}, {Op::Barrier, &Decoder::barrier},
      {Op::After, &Decoder::after},      {Op::Stack, &Decoder::stack},
      {Op::Index, &Decoder::index},      {Op::Shrink, &Decoder::shrink},
      {Op::Load, &Decoder::load},        {Op::Store, &Decoder::store},
      {Op::Device, &Decoder::nothing},
  };
  for (const Row& row : kRows) {
    if (row.op == op) return row.handler;
  }
  return &Decoder::compute;
}

bool Decoder::decode_node(Ref u) {
  if (u->op != Op::Device) {
    const std::optional<std::string> trouble = uop::verify_node(u);
    if (trouble) return fail(*trouble);
  }
  return (this->*handler_of(u->op))(u);
}

Result<Program> Decoder::run(Ref linear) {
  const std::vector<Ref> nodes = uop::toposort(g_, linear);
  uop::NodeMap<int32_t> places;
  for (size_t i = 0; i < nodes.size(); i++) {
    places.set(nodes[i], static_cast<int32_t>(i));
    p_.texts.push_back(fmt::format("%{} = {}", i, uop::to_text(nodes[i]->op)));
  }
  for (size_t i = 1; i < linear->src.size(); i++) {
    if (places.at(linear->src[i - 1]) < places.at(linear->src[i])) continue;
    return Error{fmt::format("%{} stands after its user or twice", places.at(linear->src[i]))};
  }
  for (const Ref u : nodes) {
    node_ = places.at(u);
    if (u != linear && !decode_node(u)) return Error{std::move(error_)};
  }
  if (!open_.empty()) {
    node_ = places.at(open_.back().node);
    fail("has no end");
    return Error{std::move(error_)};
  }
  return std::move(p_);
}

}  // namespace

Result<Program> decode(uop::Graph& g, Ref linear, const Maker& maker) {
  if (linear->op != Op::Linear)
    return Error{fmt::format("{} is no linear", uop::to_text(linear->op))};
  Decoder decoder(g, maker);
  Result<Program> program = decoder.run(linear);
  if (!program.ok()) return program;
  Program p = std::move(program).value();
  allocate(p);
  return p;
}

}  // namespace assay::workgroup
