#include "engine/uop/text.h"
#include "fuzz/mutate/mutate_term.h"
#include "fuzz/targets/mutator.h"
#include "fuzz/targets/term_text.h"
#include "fuzz/trial/term_trial.h"

namespace assay::fuzz {
namespace {

std::string text_of_term(uop::Graph& g, uop::Ref term) { return to_text(g, term, "term"); }

// A random term that may be tried; of many, nearly all may.
uop::Ref new_term(uop::Graph& g, Choices& choices) {
  for (int i = 0; i < 16; i++) {
    const uop::Ref made = make_term(g, choices);
    if (is_term_to_try(g, made)) return made;
  }
  return g.constant(uop::Index, 0);
}

std::string mutated_term(std::string_view text, Choices& choices) {
  uop::Graph g;
  const uop::Ref term = term_to_try(g, text);
  return text_of_term(g, term != nullptr ? mutate_term(g, term, choices) : new_term(g, choices));
}

std::string crossed_terms(std::string_view a, std::string_view b, Choices& choices) {
  uop::Graph g;
  const uop::Ref one = term_to_try(g, a);
  const uop::Ref other = term_to_try(g, b);
  if (one == nullptr || other == nullptr) return mutated_term(one != nullptr ? a : b, choices);
  return text_of_term(g, splice_terms(g, one, other, choices));
}

}  // namespace

const TextMutator& term_mutator() {
  static constexpr TextMutator kMutator = {mutated_term, crossed_terms};
  return kMutator;
}

}  // namespace assay::fuzz
