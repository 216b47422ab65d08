#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/uop/node_map.h"
#include "oracles/workgroup/decode.h"

namespace assay::workgroup {

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
  Result<Program> run(uop::Ref linear);

 private:
  // A loop or an IF whose end is yet to come, and its place in the code.
  struct Open {
    uop::Ref node;
    int at;
    int scope;
  };
  // Handlers return false, with the error set, where a node does not fit.
  using Handler = bool (Decoder::*)(uop::Ref u);
  static Handler handler_of(uop::Op op);

  bool constant(uop::Ref u);
  bool variable(uop::Ref u);
  bool special(uop::Ref u);
  bool storage(uop::Ref u);
  bool range(uop::Ref u);
  bool end(uop::Ref u);
  bool branch(uop::Ref u);
  bool end_branch(uop::Ref u);
  bool barrier(uop::Ref u);
  bool after(uop::Ref u);
  bool stack(uop::Ref u);
  bool index(uop::Ref u);
  bool shrink(uop::Ref u);
  bool load(uop::Ref u);
  bool store(uop::Ref u);
  bool compute(uop::Ref u);
  bool nothing(uop::Ref) { return true; }

  bool fail(std::string why);
  bool decode_node(uop::Ref u);
  bool place_of(uop::Ref u, Access& access);
  bool scalar_value(uop::Ref u, Register& out);
  bool lanes_of(uop::Ref u, int width, std::vector<Register>& out);
  bool compute_lane(uop::Ref u, const interpreter::Scalar& scalar, int lane, Register& out);
  bool gate(uop::Ref u, size_t source, Access& access);
  bool is_usable(Register r);
  Register contracted(uop::Ref u, int lane);
  Register constant_register(Slot s);
  Register new_register(File file);
  void set_value(uop::Ref u, std::span<const Register> lanes);
  Instruction& emit(Code code);
  Register lane(const Meaning& m, int i) const {
    return pool_[static_cast<size_t>(m.first + (m.count == 1 ? 0 : i))];
  }
  void open(uop::Ref u, int at);
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

}  // namespace assay::workgroup
