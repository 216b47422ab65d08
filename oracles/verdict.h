#pragma once

#include <cstdint>
#include <string>

namespace assay::oracles {

enum class Answer : uint8_t { Pass, Fail, Unknown };
// What a pass is worth.
enum class Strength : uint8_t { Sampled, Exhaustive, Proved };

// Unknown is never folded into pass; its evidence says why nothing is known.
struct Verdict {
  Answer answer = Answer::Unknown;
  Strength strength = Strength::Sampled;
  std::string evidence;  // what was covered; the witness; the reason
};

}  // namespace assay::oracles
