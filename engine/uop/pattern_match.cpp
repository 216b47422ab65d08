#include <algorithm>

#include "engine/check.h"
#include "engine/uop/pattern.h"

namespace assay::uop {
namespace {

using Code = MatchProgram::Code;
using Step = MatchProgram::Step;

// Commuting operands that differ can stand either way.
bool can_swap(const Pat& pat) {
  return pat->what == Pat::What::Apply && commutes(pat->op) && pat->args.size() == 2 &&
         to_text(pat->args[0]) != to_text(pat->args[1]);
}

int count_swaps(const Pat& pat) {
  int n = can_swap(pat) ? 1 : 0;
  for (const Pat& arg : pat->args) n += count_swaps(arg);
  return n;
}

OpSet ops_of(const Pat& pat) {
  switch (pat->what) {
    case Pat::What::Apply: return {pat->op};
    case Pat::What::Constant:
    case Pat::What::Literal: return {Op::Const};
    default: return OpSet::all();
  }
}

class MatchCompiler {
 public:
  MatchCompiler(std::vector<std::string_view> holes, unsigned swaps)
      : holes_(std::move(holes)), swaps_(swaps) {
    program_.hole_registers.assign(holes_.size(), kUnset);
  }

  MatchProgram compile(const Pat& root) {
    ASSAY_CHECK(root->what == Pat::What::Apply, "a rule matches an operation");
    emit(root, 0);
    ASSAY_CHECK(next_ <= kMaxRegisters, "{} needs {} registers", to_text(root), next_);
    return std::move(program_);
  }

 private:
  static constexpr uint8_t kUnset = 0xFF;

  void add(Code code, uint8_t reg) { program_.steps.push_back({code, reg, 0, {}, {}, 0, 0, {}}); }

  void emit(const Pat& pat, uint8_t reg) {
    switch (pat->what) {
      case Pat::What::Apply: return emit_apply(pat, reg);
      case Pat::What::Constant: add(Code::Constant, reg); return emit_hole(pat, reg);
      case Pat::What::Hole: return emit_hole(pat, reg);
      case Pat::What::Literal:
        add(Code::Literal, reg);
        program_.steps.back().literal = pat->literal;
        return;
      default: ASSAY_CHECK(false, "{} cannot be matched", to_text(pat));
    }
  }

  void emit_apply(const Pat& pat, uint8_t reg) {
    add(Code::Expand, reg);
    Step& step = program_.steps.back();
    step.op = pat->op;
    step.other = next_;
    step.arity = static_cast<uint8_t>(pat->args.size());
    step.type = pat->type;
    const uint8_t first = next_;
    next_ = static_cast<uint8_t>(next_ + pat->args.size());
    const bool swap = can_swap(pat) && take_swap();
    if (reg == 0) set_first_ops(pat, swap);
    for (size_t i = 0; i < pat->args.size(); i++) {
      emit(pat->args[i], static_cast<uint8_t>(first + (swap ? 1 - i : i)));
    }
  }

  void emit_hole(const Pat& pat, uint8_t reg) {
    const auto found = std::find(holes_.begin(), holes_.end(), pat->name);
    uint8_t& hole = program_.hole_registers[static_cast<size_t>(found - holes_.begin())];
    if (hole != kUnset) {
      add(Code::Same, reg);
      program_.steps.back().other = hole;
      return;
    }
    hole = reg;
    if (pat->over == kScalars) return;
    add(Code::Type, reg);
    program_.steps.back().over = pat->over;
  }

  bool take_swap() {
    const bool swap = (swaps_ & 1) != 0;
    swaps_ >>= 1;
    return swap;
  }

  void set_first_ops(const Pat& root, bool swap) {
    const OpSet a = root->args.empty() ? OpSet::all() : ops_of(root->args[0]);
    const OpSet b = root->args.size() < 2 ? OpSet::all() : ops_of(root->args[1]);
    program_.first = swap ? b : a;
    program_.second = swap ? a : b;
  }

  std::vector<std::string_view> holes_;
  unsigned swaps_;
  uint8_t next_ = 1;
  MatchProgram program_;
};

bool is_literal(Ref u, int64_t literal) {
  return is_const(u) && u->value() == of_int(u->dtype, literal);
}

bool run_step(const Step& step, Ref* regs) {
  const Ref u = regs[step.reg];
  switch (step.code) {
    case Code::Expand:
      if (u->op != step.op || u->src.size() != step.arity) return false;
      if (step.type != DType::Void && u->dtype != step.type) return false;
      std::copy(u->src.begin(), u->src.end(), regs + step.other);
      return true;
    case Code::Constant: return is_const(u);
    case Code::Literal: return is_literal(u, step.literal);
    case Code::Same: return u == regs[step.other];
    case Code::Type: return step.over.has(u->dtype);
  }
  return false;
}

}  // namespace

std::vector<MatchProgram> compile_match(const Pat& pat) {
  const int swaps = count_swaps(pat);
  ASSAY_CHECK(swaps <= 5, "{} has too many orders", to_text(pat));
  std::vector<MatchProgram> programs;
  programs.reserve(size_t{1} << swaps);
  for (unsigned mask = 0; mask < 1U << swaps; mask++) {
    programs.push_back(MatchCompiler(hole_names(pat), mask).compile(pat));
  }
  return programs;
}

bool run_match(const MatchProgram& program, Ref node, Match& match) {
  Ref regs[kMaxRegisters];
  regs[0] = node;
  for (const Step& step : program.steps) {
    if (!run_step(step, regs)) return false;
  }
  match.root = node;
  for (size_t i = 0; i < program.hole_registers.size(); i++) {
    match.holes[i] = regs[program.hole_registers[i]];
  }
  return true;
}

}  // namespace assay::uop
