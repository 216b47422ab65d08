#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/uop/pattern.h"

namespace assay::uop {

// What a rule promises of its replacement where the match is defined: the same value, or the same
// number if floats did not round.
enum class Claim : uint8_t { Exact, Real };

class Run;

// A rewrite that no term can say: the replacement of a node, or null. It may rewrite parts of the
// graph through the run, whose watch then sees what fired there.
using By = Ref (*)(Run& run, Ref node);

// One thing the compiler claims: where `match` is found at one of the types in `over` and `when`
// holds, `replace` may stand in its place. `over` speaks of the node's type, for comparisons and
// casts of that of their operand.
struct Rule {
  std::string_view name;
  TypeSet over;
  Pat match;
  Pat replace;
  // From here on a rule may leave things out, which compilers allow where there is an initializer.
  // NOLINTBEGIN(readability-redundant-member-init)
  Pat when = {};
  Claim claim = Claim::Exact;
  By by = nullptr;
  // Of a `by` rule: the operations it looks at, those of which one of the node's sources must have
  // one, and its contract in words.
  OpSet roots = {};
  OpSet needs = OpSet::all();
  std::string_view says = {};
  // NOLINTEND(readability-redundant-member-init)
};

Rule by(std::string_view name, TypeSet over, OpSet roots, By function, std::string_view says,
        OpSet needs = OpSet::all());

// Rules that are applied together; earlier ones are tried first. Compiled when made.
class RuleSet {
 public:
  // A rule made ready: `programs` are its ways to match.
  struct Compiled {
    const Rule* rule;
    std::vector<MatchProgram> programs;
    Builder replace;
    Builder when;
    std::vector<uint8_t> forgotten;  // holes that must not be Invalid
  };
  struct Entry {          // a row of the dispatch table
    OpSet first, second;  // operations that sources 0 and 1 may have
    OpSet any;            // operations of which some source must have one
    TypeSet over;
    const Compiled* compiled;
    const MatchProgram* program;  // null for a `by` rule
  };

  RuleSet(std::string_view name, std::vector<Rule> rules);
  RuleSet(const RuleSet&) = delete;
  RuleSet& operator=(const RuleSet&) = delete;

  std::string_view name() const { return name_; }
  std::span<const Rule> rules() const { return rules_; }
  // The operations that some rule looks at.
  OpSet roots() const { return roots_; }
  std::span<const Entry> entries(Op op) const { return table_[static_cast<int>(op)]; }

 private:
  void compile(const Rule& rule);

  std::string_view name_;
  std::vector<Rule> rules_;
  std::vector<std::unique_ptr<Compiled>> compiled_;
  std::vector<Entry> table_[kOpCount];
  OpSet roots_;
};

// "div_mod.mod_of_mod".
std::string full_name(const RuleSet& set, const Rule& rule);

// The type that `over` speaks of.
inline DType judged_type(Ref u) {
  const Typing typing = info(u->op).typing;
  return typing == Typing::Compare || typing == Typing::Convert ? u->src[0]->dtype : u->dtype;
}

// Tries one row on a node of its operation and type: the replacement, or null.
Ref apply(Run& run, const RuleSet::Entry& entry, Ref node);

}  // namespace assay::uop
