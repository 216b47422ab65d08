#include "props/rules/mutants.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "props/rules/guard.h"

namespace assay::props {
namespace {

using uop::Op;
using uop::Pat;
using uop::Rule;
using What = Pat::What;

// `pat` with some of its parts edited, all in one way: `edit` may give another term for a part.
template <typename Edit>
Pat edited(const Pat& pat, Edit& edit) {
  if (const std::optional<Pat> other = edit(pat)) return *other;
  if (pat->what != What::Apply || pat->args.empty()) return pat;
  std::vector<Pat> args;
  for (const Pat& arg : pat->args) args.push_back(edited(arg, edit));
  const Pat result(pat->op, args);
  return pat->type == uop::DType::Void ? result : result.as(pat->type);
}

// The term with its n-th part that `pick` changes changed, or nothing if there are fewer.
template <typename Pick>
std::optional<Pat> with_nth(const Pat& pat, int n, Pick pick) {
  int seen = 0;
  auto edit = [&](const Pat& part) -> std::optional<Pat> {
    const std::optional<Pat> other = pick(part);
    return other && seen++ == n ? other : std::nullopt;
  };
  const Pat result = edited(pat, edit);
  return seen > n ? std::optional(result) : std::nullopt;
}

std::optional<Pat> one_more(const Pat& part) {
  if (part->what != What::Literal) return std::nullopt;
  return Pat(part->literal + 1);
}

std::optional<Pat> one_less(const Pat& part) {
  if (part->what != What::Literal) return std::nullopt;
  return Pat(part->literal - 1);
}

std::optional<Pat> swapped(const Pat& part) {
  if (part->what != What::Apply || uop::commutes(part->op) || part->args.size() < 2) {
    return std::nullopt;
  }
  std::vector<Pat> args = part->args;
  std::swap(args[args.size() - 2], args[args.size() - 1]);
  const Pat result(part->op, args);
  return uop::to_text(result) == uop::to_text(part) ? std::nullopt : std::optional(result);
}

// a < b to a <= b, and a <= b, which is not (b < a), to a - 1 <= b.
std::optional<Pat> widened(const Pat& part) {
  if (part->what != What::Apply) return std::nullopt;
  if (part->op == Op::Lt) return !(part->args[1] < part->args[0]);
  if (part->op != Op::Not || part->args[0]->what != What::Apply) return std::nullopt;
  const Pat& less = part->args[0];
  if (less->op != Op::Lt) return std::nullopt;
  return !(less->args[0] < less->args[1] - 1);
}

void add_weaker_guards(const Rule& rule, std::vector<Mutant>& mutants) {
  const std::vector<Pat> parts = guard_parts(rule.when);
  for (size_t dropped = 0; dropped < parts.size(); dropped++) {
    Mutant m = {fmt::format("without {}", uop::to_text(parts[dropped])), rule, true};
    m.rule.when = {};
    for (size_t i = 0; i < parts.size(); i++) {
      if (i == dropped) continue;
      m.rule.when = m.rule.when.empty() ? parts[i] : m.rule.when && parts[i];
    }
    mutants.push_back(std::move(m));
  }
}

template <typename Pick>
void add_edits(const Rule& rule, Pat Rule::* side, const char* kind, Pick pick,
               std::vector<Mutant>& mutants) {
  if ((rule.*side).empty()) return;
  for (int n = 0;; n++) {
    const std::optional<Pat> other = with_nth(rule.*side, n, pick);
    if (!other) return;
    Mutant m = {fmt::format("{} {}", kind, uop::to_text(*other)), rule};
    m.rule.*side = *other;
    mutants.push_back(std::move(m));
  }
}

}  // namespace

std::vector<Mutant> mutants_of(const Rule& rule) {
  std::vector<Mutant> mutants;
  add_weaker_guards(rule, mutants);
  add_edits(rule, &Rule::replace, "one more in", one_more, mutants);
  add_edits(rule, &Rule::replace, "one less in", one_less, mutants);
  add_edits(rule, &Rule::replace, "swapped in", swapped, mutants);
  add_edits(rule, &Rule::replace, "widened in", widened, mutants);
  add_edits(rule, &Rule::when, "one more when", one_more, mutants);
  add_edits(rule, &Rule::when, "one less when", one_less, mutants);
  add_edits(rule, &Rule::when, "widened when", widened, mutants);
  return mutants;
}

}  // namespace assay::props
