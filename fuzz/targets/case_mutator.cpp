#include "fuzz/generate.h"
#include "fuzz/mutate.h"
#include "fuzz/repair.h"
#include "fuzz/targets/case_text.h"
#include "fuzz/targets/mutator.h"

namespace assay::fuzz {
namespace {

MutateOptions how_mutated() {
  MutateOptions how;
  how.most_statements = kMostStatementsTried;
  return how;
}

// The first of a few that is short enough; else the text itself.
template <typename Make>
std::string first_that_fits(std::string_view text, size_t most_letters, Make make) {
  for (int i = 0; i < 4; i++) {
    std::string made = make();
    if (made.size() <= most_letters) return made;
  }
  return std::string(text.substr(0, most_letters));
}

}  // namespace

std::string mutated_text(std::string_view text, uint64_t seed, size_t most_letters) {
  Choices choices(seed);
  const MutateOptions how = how_mutated();
  const std::optional<Case> c = case_to_try(text);
  return first_that_fits(text, most_letters, [&] {
    return to_text(c ? mutate(*c, choices, how) : make_case(choices, how.cases));
  });
}

std::string crossed_text(std::string_view a, std::string_view b, uint64_t seed,
                         size_t most_letters) {
  const std::optional<Case> one = case_to_try(a);
  const std::optional<Case> other = case_to_try(b);
  if (!one || !other) return mutated_text(one ? a : b, seed, most_letters);
  Choices choices(seed);
  const MutateOptions how = how_mutated();
  return first_that_fits(a, most_letters,
                         [&] { return to_text(splice(*one, *other, choices, how)); });
}

}  // namespace assay::fuzz
