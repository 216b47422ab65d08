#include "engine/uop/rule.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/check.h"
#include "engine/uop/bounds.h"
#include "engine/uop/rewrite.h"

namespace assay::uop {
namespace {

bool is_unread(const Pat& pat, std::string_view hole) {
  if (pat->what == Pat::What::Hole && pat->name == hole) return pat->unread;
  return std::any_of(pat->args.begin(), pat->args.end(),
                     [&](const Pat& arg) { return is_unread(arg, hole); });
}

// Holes that the replacement does not mention, though the value of the match depends on them.
std::vector<uint8_t> forgotten_holes(const Rule& rule) {
  const std::vector<std::string_view> before = hole_names(rule.match);
  const std::vector<std::string_view> after = hole_names(rule.replace);
  std::vector<uint8_t> forgotten;
  for (size_t i = 0; i < before.size(); i++) {
    const bool kept = std::find(after.begin(), after.end(), before[i]) != after.end();
    if (!kept && !is_unread(rule.match, before[i])) forgotten.push_back(static_cast<uint8_t>(i));
  }
  return forgotten;
}

}  // namespace

Rule by(std::string_view name, TypeSet over, OpSet roots, By function, std::string_view says,
        OpSet needs) {
  Rule rule;
  rule.name = name;
  rule.over = over;
  rule.by = function;
  rule.roots = roots;
  rule.needs = needs;
  rule.says = says;
  return rule;
}

RuleSet::RuleSet(std::string_view name, std::vector<Rule> rules)
    : name_(name), rules_(std::move(rules)) {
  for (const Rule& rule : rules_) compile(rule);
}

void RuleSet::compile(const Rule& rule) {
  auto compiled = std::make_unique<Compiled>();
  compiled->rule = &rule;
  if (rule.by == nullptr) {
    const std::vector<std::string_view> holes = hole_names(rule.match);
    compiled->programs = compile_match(rule.match);
    compiled->replace = Builder(rule.replace, holes);
    if (!rule.when.empty()) compiled->when = Builder(rule.when, holes);
    compiled->forgotten = forgotten_holes(rule);
    roots_.insert(rule.match->op);
    for (const MatchProgram& p : compiled->programs) {
      table_[static_cast<int>(rule.match->op)].push_back(
          {p.first, p.second, OpSet::all(), rule.over, compiled.get(), &p});
    }
  } else {
    for (int i = 0; i < kOpCount; i++) {
      if (!rule.roots.has(static_cast<Op>(i))) continue;
      table_[i].push_back(
          {OpSet::all(), OpSet::all(), rule.needs, rule.over, compiled.get(), nullptr});
    }
    roots_ = roots_ | rule.roots;
  }
  compiled_.push_back(std::move(compiled));
}

std::string full_name(const RuleSet& set, const Rule& rule) {
  return fmt::format("{}.{}", set.name(), rule.name);
}

Ref apply(Run& run, const RuleSet::Entry& entry, Ref node) {
  const RuleSet::Compiled& c = *entry.compiled;
  if (entry.program == nullptr) return c.rule->by(run, node);
  Graph& g = run.graph();
  Match match;
  if (!run_match(*entry.program, node, match)) return nullptr;
  if (!c.when.empty() && !c.when.holds(g, match)) return nullptr;
  for (const uint8_t hole : c.forgotten) {
    if (may_be_invalid(g, match.holes[hole])) return nullptr;
  }
  return c.replace.build(g, match, node->dtype);
}

}  // namespace assay::uop
