#pragma once

#include "engine/uop/rewrite.h"
#include "fuzz/blame/bisect.h"
#include "oracles/passes/judge.h"

namespace assay::fuzz {

// Looks on while a kernel is lowered: after which pass it first computes something else than as
// scheduled, and which firing of that pass makes it so.
class KernelBlamer : public uop::Watch {
 public:
  // `ulps`: how far floats may be off (oracles::Tolerance).
  KernelBlamer(uop::Graph& g, uop::Ref kernel, const oracles::KernelInputs& inputs, double ulps,
               const uop::Target& target, const uop::Switches& switches, uop::Watch* watch);

  using Watch::seen;
  void seen(const uop::PassSeen& seen) override;

  // The blame once it was lowered to `linear`: that of a pass, of one that refused what it was
  // given, or of a LINEAR that does something else than the kernel that it was made of, or that the
  // machine finds something wrong with; empty where it is right in every interleaving.
  Blame concluded(const Result<uop::Ref>& linear) const;

 private:
  bool has_blame() const { return !blame_.pass.empty(); }
  void look_for_shared_slots(const uop::PassSeen& seen);

  uop::Graph& g_;
  uop::Ref kernel_;
  const oracles::KernelInputs& inputs_;
  oracles::Tolerance tolerance_;
  const uop::Target& target_;
  const uop::Switches& switches_;
  uop::Watch* watch_;
  oracles::PassJudge judge_;
  Blame blame_;
  std::string last_;           // the last pass that ran
  bool has_slots_ = false;     // some pass has made LOCAL storage
  std::string sharer_;         // which gave two steps one slot of it, where it did
  uop::Ref looped_ = nullptr;  // what linearize was given
};

}  // namespace assay::fuzz
