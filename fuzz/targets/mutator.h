#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "oracles/choices.h"

namespace assay::fuzz {

using oracles::Choices;

// What libFuzzer's custom mutator and cross-over make of texts (mutator.cpp): what they yield is an
// input of the target; of a text that is none they make a new one.
struct TextMutator {
  std::string (*mutated)(std::string_view text, Choices& choices);
  std::string (*crossed)(std::string_view a, std::string_view b, Choices& choices);
};
const TextMutator& case_mutator();
const TextMutator& term_mutator();

// No longer than may be: the text itself where nothing short enough comes of it.
std::string mutated_text(const TextMutator& how, std::string_view text, uint64_t seed,
                         size_t most_letters);
std::string crossed_text(const TextMutator& how, std::string_view a, std::string_view b,
                         uint64_t seed, size_t most_letters);

// That of a target, which links one of the files target_*.cpp.
const TextMutator& target_mutator();

}  // namespace assay::fuzz
