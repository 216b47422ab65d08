#include "fuzz/targets/mutator.h"

namespace assay::fuzz {
namespace {

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

std::string mutated_text(const TextMutator& how, std::string_view text, uint64_t seed,
                         size_t most_letters) {
  Choices choices(seed);
  return first_that_fits(text, most_letters, [&] { return how.mutated(text, choices); });
}

std::string crossed_text(const TextMutator& how, std::string_view a, std::string_view b,
                         uint64_t seed, size_t most_letters) {
  Choices choices(seed);
  return first_that_fits(a, most_letters, [&] { return how.crossed(a, b, choices); });
}

}  // namespace assay::fuzz
