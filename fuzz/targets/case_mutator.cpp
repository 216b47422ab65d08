#include "fuzz/mutate/generate.h"
#include "fuzz/mutate/mutate.h"
#include "fuzz/mutate/repair.h"
#include "fuzz/targets/case_text.h"
#include "fuzz/targets/mutator.h"

namespace assay::fuzz {
namespace {

MutateOptions how_mutated() {
  MutateOptions how;
  how.most_statements = kMostStatementsTried;
  return how;
}

std::string mutated_case(std::string_view text, Choices& choices) {
  const MutateOptions how = how_mutated();
  const std::optional<Case> c = case_to_try(text);
  return to_text(c ? mutate(*c, choices, how) : make_case(choices, how.cases));
}

std::string crossed_cases(std::string_view a, std::string_view b, Choices& choices) {
  const std::optional<Case> one = case_to_try(a);
  const std::optional<Case> other = case_to_try(b);
  if (!one || !other) return mutated_case(one ? a : b, choices);
  return to_text(splice(*one, *other, choices, how_mutated()));
}

}  // namespace

const TextMutator& case_mutator() {
  static constexpr TextMutator kMutator = {mutated_case, crossed_cases};
  return kMutator;
}

}  // namespace assay::fuzz
