#include "engine/codegen/linear_order.h"

#include <fmt/format.h>

#include <vector>

#include "engine/uop/node_map.h"

namespace assay::codegen {
namespace {

using uop::Graph;
using uop::NodeMap;
using uop::Op;
using uop::Ref;
using Trouble = std::optional<std::string>;

class Reader {
 public:
  Trouble read(Ref root) {
    if (root->op != Op::Linear) return "the root is no linear";
    for (const Ref u : root->src) {
      if (lines_.has(u)) return at("stands there twice", u);
      if (Trouble bad = sources(u)) return bad;
      if (Trouble bad = nesting(u)) return bad;
      if (Trouble bad = parameters(u)) return bad;
      lines_.set(u, {count_++, scope()});
    }
    if (open_.empty()) return {};
    return at("is not closed", open_.back().opener);
  }

 private:
  struct Line {
    uint32_t place;
    uint32_t scope;
  };
  struct Scope {
    Ref opener;  // RANGE or IF
    uint32_t number;
  };

  Trouble at(std::string_view what, Ref u) const {
    const Line* line = lines_.find(u);
    return fmt::format("line {}: {} {}", line != nullptr ? line->place : count_, to_text(u->op),
                       what);
  }

  uint32_t scope() const { return open_.empty() ? 0 : open_.back().number; }
  bool is_open(uint32_t scope) const {
    if (scope == 0) return true;
    for (const Scope& s : open_) {
      if (s.number == scope) return true;
    }
    return false;
  }

  // Stores of a branch are named behind it as what has happened.
  bool is_store_of_branch(Ref s) const {
    return s->op == Op::Store && branch_of_store_.has(s) && is_open(branch_of_store_.at(s));
  }

  Trouble sources(Ref u) {
    for (const Ref s : u->src) {
      const Line* line = lines_.find(s);
      if (line == nullptr) return at(fmt::format("stands before its source {}", to_text(s->op)), u);
      if (is_open(line->scope) || is_store_of_branch(s)) continue;
      return at(fmt::format("names {}, which is in a scope that has ended", to_text(s->op)), u);
    }
    return {};
  }

  // Opens and closes scopes. A RANGE and an IF stand in the scope that they open, an END and an
  // ENDIF around it.
  Trouble nesting(Ref u) {
    const bool in_branch = !open_.empty() && open_.back().opener->op == Op::If;
    switch (u->op) {
      case Op::If:
      case Op::Range:
      case Op::Barrier:
        if (in_branch) return at("stands in an if", u);
        if (u->op != Op::Barrier) open_.push_back({u, ++scopes_});
        return {};
      case Op::End: return closes(u, u->src.size() == 2 ? u->src[1] : nullptr);
      case Op::EndIf: return closes(u, u->src[0]);
      case Op::Store:
        if (in_branch) branch_of_store_.set(u, outer_scope());
        return {};
      default: return {};
    }
  }

  uint32_t outer_scope() const { return open_.size() < 2 ? 0 : open_[open_.size() - 2].number; }

  Trouble closes(Ref u, Ref opener) {
    if (open_.empty() || open_.back().opener != opener) return at("closes what is not open", u);
    open_.pop_back();
    return {};
  }

  Trouble parameters(Ref u) {
    if (u->op == Op::Const) return {};
    if (u->op != Op::Param) {
      only_params_ = false;
      return {};
    }
    if (!only_params_) return at("stands behind what is no param", u);
    if (u->arg.number() <= last_slot_) return at("is out of order", u);
    last_slot_ = u->arg.number();
    return {};
  }

  NodeMap<Line> lines_;
  NodeMap<uint32_t> branch_of_store_;  // the scope around the IF
  std::vector<Scope> open_;
  uint32_t count_ = 0;
  uint32_t scopes_ = 0;
  int64_t last_slot_ = -1;
  bool only_params_ = true;
};

Trouble breach(Graph& /*g*/, Ref root) { return Reader().read(root); }

}  // namespace

const uop::Invariant& linear_order() {
  static const uop::Invariant invariant = {"linear_order", breach};
  return invariant;
}

}  // namespace assay::codegen
