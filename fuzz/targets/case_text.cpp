#include "fuzz/targets/case_text.h"

#include "fuzz/mutate/repair.h"

namespace assay::fuzz {

std::optional<Case> case_to_try(std::string_view text) {
  Result<Case> c = case_from_text(text);
  if (!c.ok() || !c.value().device.starts_with("sim:")) return std::nullopt;
  const tensor::Program& p = c.value().program;
  if (p.statements.empty() || p.statements.size() > 2 * kMostStatementsTried) return std::nullopt;
  if (most_elements_of(p) > kMostElementsTried) return std::nullopt;
  return std::move(c).value();
}

}  // namespace assay::fuzz
