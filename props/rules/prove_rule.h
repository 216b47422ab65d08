#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/uop/rule.h"
#include "oracles/smt/claim.h"
#include "oracles/smt/prover.h"
#include "oracles/verdict.h"

namespace assay::props {

// How far a proof of a rule goes.
enum class Widths : uint8_t {
  Commit,  // floats of 16 bits and more: all values of one hole, else samples
  All,     // and solvers
};

// Who proves rules. Each thread has its own.
struct RuleJudge {
  smt::Prover& prover;
  smt::Tables& tables;
  Widths widths = Widths::Commit;
  uint64_t seed = 1;
};

// What is known of a rule at one of the types of its `over`.
struct RuleProof {
  oracles::Verdict verdict;
  // "enumeration", "z3", …; of an unknown verdict its cause; "no instance" of a rule that has no
  // instance at this type.
  std::string method;
  // Of a failure at a point: what stands for each hole and bound there, by name ("x", "lo(x)").
  std::vector<std::pair<std::string, uop::Cell>> point = {};
  // At how many of the samples (Effort) there was something to judge: none if none met the guard.
  uint64_t judged = 0;
};

// Proves or refutes a rule without `by` at one type: whatever terms stand for its holes (Invalid
// and unspecified ones too), wherever its guard holds, and whatever bounds of them lo() and hi()
// are. The evidence of a failure is a point, evaluated: "x // c is 1 and not 2 where x = 3, c = 2".
// A float rule of 16 bits and more that no method reaches passes as sampled if it was proved at a
// narrower one, which its evidence names.
RuleProof prove_rule(const uop::Rule& rule, uop::DType over, const RuleJudge& judge);

}  // namespace assay::props
