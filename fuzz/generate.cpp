#include "fuzz/generate.h"

#include <span>

namespace assay::fuzz {

std::string draw_opts(Choices& choices) {
  const uint64_t way = choices.below(8);
  if (way == 0) return "none";
  if (way <= 2) return "";
  return "random:" + std::to_string(choices.below(1 << 16));
}

Case make_case(Choices& choices, const CaseOptions& options) {
  Case result;
  result.program = make_program(choices, options.program);
  result.opts = draw_opts(choices);
  if (!options.devices.empty()) {
    result.device = choices.pick(std::span<const std::string>(options.devices));
  }
  if (!options.profiles.empty() && choices.chance(1, 4)) {
    result.profile = choices.pick(std::span<const std::string>(options.profiles));
  }
  result.seed = 1 + choices.below(1 << 16);
  return result;
}

}  // namespace assay::fuzz
