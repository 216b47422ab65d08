#include "oracles/workgroup/decode.h"

#include <algorithm>

#include "engine/uop/verify.h"
#include "engine/uop/walk.h"
#include "oracles/interpreter/sizes.h"
#include "oracles/workgroup/decoder.h"

namespace assay::workgroup {

using uop::AddrSpace;
using uop::Op;
using uop::Ref;

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
    const Register count = p_.code[static_cast<size_t>(open_.back().at)].src[0];
    emit(Code::EndLoop).src[0] = count;
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
  // Leaves are the same wherever they stand: the size of a PARAM may be listed behind it.
  int32_t last = -1;
  for (const Ref u : linear->src) {
    if (u->src.empty()) continue;
    if (places.at(u) <= last)
      return Error{fmt::format("%{} stands after its user or twice", places.at(u))};
    last = places.at(u);
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
