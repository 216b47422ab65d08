#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::oracles {

enum class Answer : uint8_t { Pass, Fail, Unknown };
// What a pass is worth.
enum class Strength : uint8_t { Sampled, Exhaustive, Proved };

inline std::string_view to_text(Answer answer) {
  static constexpr std::string_view kTexts[] = {"pass", "fail", "unknown"};
  return kTexts[static_cast<int>(answer)];
}
inline std::string_view to_text(Strength strength) {
  static constexpr std::string_view kTexts[] = {"sampled", "exhaustive", "proved"};
  return kTexts[static_cast<int>(strength)];
}

// Unknown is never folded into pass; its evidence says why nothing is known.
struct Verdict {
  Answer answer = Answer::Unknown;
  Strength strength = Strength::Sampled;
  std::string evidence;  // what was covered; the witness; the reason
};

}  // namespace assay::oracles
