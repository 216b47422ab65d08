#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::fuzz {

// What libFuzzer's custom mutator and cross-over make of texts (mutator.cpp is linked with the
// targets whose inputs are cases): of a text that is no case, a new case.
std::string mutated_text(std::string_view text, uint64_t seed, size_t most_letters);
std::string crossed_text(std::string_view a, std::string_view b, uint64_t seed,
                         size_t most_letters);

}  // namespace assay::fuzz
