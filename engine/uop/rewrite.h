#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/result.h"
#include "engine/uop/facts.h"
#include "engine/uop/rule.h"
#include "engine/uop/target.h"
#include "engine/uop/walk.h"
#include "engine/uop/watch.h"

namespace assay::uop {

inline constexpr uint64_t kNoLimit = ~uint64_t{0};

// What a user may change about the rules of a run.
struct Switches {
  std::vector<std::string> off;  // full names of rules that do not fire
  uint64_t limit = kNoLimit;     // firings of the whole run
  // Tried before the set of the same name, wherever that is applied, in the place of its rules of
  // the same names.
  std::vector<const RuleSet*> substitutes;

  // The first name in `off` that none of `sets` has.
  std::optional<std::string> unknown_rule(std::span<const RuleSet* const> sets) const;
  // Equal for equal switches: part of every cache key.
  std::string digest() const;
};

enum class Order : uint8_t {
  BottomUp,  // sources before their users; a replacement is rewritten in turn
  TopDown,   // a node until no rule fires, then its sources; what they change is not tried again
};

struct RewriteOptions {
  Order order = Order::BottomUp;
  Extent extent = Extent::OutsideBodies;
  // Firings for each node of the graph before the rules are taken to run in circles.
  uint64_t firings_a_node = 256;
};

class Rewriter;

// One compilation: its graph, its switches, who watches, for which target, and the firings so far.
class Run {
 public:
  explicit Run(Graph& graph, Switches switches = {}, Watch* watch = nullptr,
               const Target& target = generic_target());
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  Graph& graph() { return graph_; }
  Watch* watch() { return watch_; }
  const Target& target() const { return target_; }
  const Switches& switches() const { return switches_; }
  uint64_t firings() const { return firings_; }
  // Nodes on which rules were tried.
  uint64_t visits() const { return visits_; }

  // The graph below root, with rules applied until none fires. An error names the rules that undo
  // one another, or that never come to an end.
  Result<Ref> rewrite(std::span<const RuleSet* const> sets, Ref root, RewriteOptions options = {});

 private:
  friend class Rewriter;
  bool is_off(const RuleSet& set, const Rule& rule) const;

  Graph& graph_;
  Switches switches_;
  Watch* watch_;
  const Target& target_;
  std::vector<std::string> switched_off_;  // rules that have a substitute
  uint64_t firings_ = 0;
  uint64_t visits_ = 0;
  // One a depth, since a rule may rewrite within a rewrite. Kept with their tables for the next
  // rewrite, so that a small one in a large graph is quick.
  std::vector<std::unique_ptr<Rewriter>> rewriters_;
  size_t depth_ = 0;
};

// What rules make of the terms of one run, each asked for once. What a term loads or folds is what
// others load and fold, and stays that.
class Rewritten {
 public:
  Rewritten(Run& run, std::span<const RuleSet* const> sets) : run_(run), sets_(sets) {}

  // u itself where the rules went wrong.
  Ref operator()(Ref u);
  // What went wrong first, if anything did.
  const std::optional<Error>& trouble() const { return trouble_; }

 private:
  Run& run_;
  std::span<const RuleSet* const> sets_;
  std::unordered_map<Ref, Ref> known_;
  std::optional<Error> trouble_;
};

}  // namespace assay::uop
