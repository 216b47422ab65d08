#pragma once

#include "engine/uop/rewrite.h"
#include "fuzz/bisect.h"
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

  bool has_blame() const { return !blame_.pass.empty(); }
  const Blame& blame() const { return blame_; }
  // The last pass that ran.
  const std::string& last_pass() const { return last_; }
  // What linearize was given.
  uop::Ref looped() const { return looped_; }

 private:
  uop::Graph& g_;
  uop::Ref kernel_;
  const oracles::KernelInputs& inputs_;
  oracles::Tolerance tolerance_;
  const uop::Target& target_;
  const uop::Switches& switches_;
  uop::Watch* watch_;
  oracles::PassJudge judge_;
  Blame blame_;
  std::string last_;
  uop::Ref looped_ = nullptr;
};

// The blame for a LINEAR that does something else than the kernel that it was made of, or that the
// machine finds something wrong with; empty where it is right in every interleaving.
Blame blame_linear(uop::Graph& g, uop::Ref kernel, uop::Ref looped, uop::Ref linear,
                   const oracles::KernelInputs& inputs, double ulps, const uop::Target& target);

}  // namespace assay::fuzz
