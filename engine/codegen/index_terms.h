#pragma once

#include <optional>
#include <span>

#include "engine/uop/rewrite.h"

namespace assay::codegen {

// The index arithmetic of a kernel: terms of type `index`, and conditions made of them.
class IndexTerms {
 public:
  // Terms are simplified by these rules.
  IndexTerms(uop::Run& run, std::span<const uop::RuleSet* const> rules)
      : g_(run.graph()), rewritten_(run, rules) {}

  // Takes a node in. Its sources have been before.
  void note(uop::Ref u);
  bool is_term(uop::Ref noted) const { return is_term_.has(noted); }
  // What the rules make of a term; sums of loops and variables are only put in order.
  uop::Ref simplified(uop::Ref u);
  // The same of a term that took the place of `before`.
  uop::Ref settled(uop::Ref before, uop::Ref now);

  // A term that was none has become a constant, so that what reads it can be simplified.
  bool has_decided() const { return has_decided_; }
  // What went wrong in the rules, if anything did.
  const std::optional<Error>& trouble() const { return rewritten_.trouble(); }

 private:
  uop::Graph& g_;
  uop::Rewritten rewritten_;
  uop::NodeMap<uint8_t> is_term_;
  bool has_decided_ = false;
};

}  // namespace assay::codegen
