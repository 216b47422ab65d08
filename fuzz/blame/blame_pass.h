#pragma once

#include <optional>
#include <string>

#include "engine/uop/rewrite.h"
#include "fuzz/blame/bisect.h"
#include "oracles/smt/prover.h"

namespace assay::fuzz {

// Looks on while a program is compiled: the first pass that does not keep what it is given, by the
// property that says so, and which firing of it makes it so. For what the numbers of a case do not
// show.
class PassBlamer : public uop::Watch {
 public:
  PassBlamer(const uop::Target& target, const uop::Switches& switches, uop::Watch* watch);

  using Watch::seen;
  void seen(const uop::PassSeen& seen) override;

  const Blame& blame() const { return blame_; }

 private:
  std::optional<std::string> trouble_of(const uop::PassSeen& seen);

  smt::Prover prover_;
  const uop::Target& target_;
  const uop::Switches& switches_;
  uop::Watch* watch_;
  Blame blame_;
};

}  // namespace assay::fuzz
