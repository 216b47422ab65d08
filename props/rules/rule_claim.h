#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/uop/rule.h"
#include "oracles/smt/claim.h"

namespace assay::props {

// One way to give types to what a rule matches.
struct Typing {
  uop::DType root = uop::DType::Void;                          // of the node
  uop::DType operands = uop::DType::Void;                      // of a comparison at the root
  std::vector<std::pair<std::string_view, uop::DType>> holes;  // in the order of hole_names()
};

// All ways for a rule at one of the types that its `over` speaks of: a comparison's operands below
// the root may have any type.
std::vector<Typing> typings(const uop::Rule& rule, uop::DType over);

// What a rule promises, as a claim: holes and constants are variables, and the rewriter's own
// Builder makes both sides. What may be Invalid or unspecified is so in the claim: holes, but for
// those that the rule forgets, which the rewriter asks not to be Invalid. A part that the rewriter
// folds stands unfolded, and is one of claim.valued.
class RuleClaim {
 public:
  RuleClaim(const uop::Rule& rule, const Typing& typing);
  RuleClaim(const RuleClaim&) = delete;
  RuleClaim& operator=(const RuleClaim&) = delete;

  enum class State : uint8_t {
    Claims,
    NeverFires,  // a part without holes has no value at this type
    IllTyped,    // the replacement is no term, or of another type
    Unknown,     // a predicate without a meaning
  };
  State state() const { return state_; }
  const std::string& why() const { return why_; }  // of IllTyped and Unknown
  // state() is Claims.
  const smt::Claim& claim() const { return *claim_; }

 private:
  void add_leaves(const uop::Rule& rule, const Typing& typing);
  void add_ends(const uop::Pat& pat);
  void add_valued(const uop::Pat& pat, uop::Ref u);
  uop::Pat opened(const uop::Pat& pat, uop::DType type, uop::DType operands);
  bool build(const uop::Rule& rule, const Typing& typing);
  void add_guard(const uop::Rule& rule);
  size_t place_of(std::string_view name) const;
  std::string_view kept(std::string name);

  uop::Graph g_;
  std::deque<std::string> names_;  // what patterns' names point into
  std::vector<std::string_view> holes_;
  std::vector<smt::Claim::Leaf> leaves_;
  std::optional<smt::Claim> claim_;
  State state_ = State::Claims;
  std::string why_;
};

}  // namespace assay::props
