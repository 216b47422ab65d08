#include "fuzz/mutate/known.h"

#include <algorithm>
#include <cmath>

#include "fuzz/mutate/edit.h"
#include "oracles/reference/reference.h"

namespace assay::fuzz {
namespace {

constexpr int64_t kMostEvaluated = 1 << 14;  // elements of all values together
constexpr std::string_view kAway = "sim:1";  // the second device of what is drawn

Known plainly_known(int32_t value, const ValueFact& fact) {
  Known k = {value, fact.base, fact.dtype, {}, 0, 0};
  for (const int64_t n : fact.shape) k.shape.push(n);
  settle(k, -HUGE_VAL, HUGE_VAL);
  k.is_exact = !k.is_float();
  k.is_special = k.is_float();
  k.depends = fact.depends;
  k.is_away = fact.device == kAway;
  return k;
}

// Sizes that are a variable are known as such.
void name_variables(const tensor::Program& program, Known& k) {
  const tensor::Define& d = program.define(k.value);
  for (size_t i = 0; i < d.shape.size(); i++) {
    const std::vector<tensor::SizeStep>& steps = d.shape[i].steps;
    if (steps.empty()) continue;
    const bool is_variable = steps.size() == 1 && steps[0].kind == tensor::SizeStep::Kind::Variable;
    if (is_variable) k.shape[i].variable = static_cast<int32_t>(steps[0].number);
    k.is_gone = k.is_gone || !is_variable;
  }
}

void learn_elements(const reference::Array& array, Known& k) {
  double lo = HUGE_VAL;
  double hi = -HUGE_VAL;
  k.is_exact = true;
  k.is_special = false;
  for (const reference::Bounded& x : array.elements) {
    k.is_exact = k.is_exact && x.is_exact();
    if (!k.is_float()) {
      const double n = k.dtype == DType::U64 ? static_cast<double>(static_cast<uint64_t>(x.integer))
                                             : static_cast<double>(x.integer);
      lo = std::min(lo, x.is_known() ? n : least_of(k.dtype));
      hi = std::max(hi, x.is_known() ? n : most_of(k.dtype));
      continue;
    }
    const bool is_finite = x.is_known() && std::isfinite(x.value);
    k.is_special = k.is_special || !is_finite;
    if (!is_finite) continue;
    lo = std::min(lo, reference::lowest_of(x));
    hi = std::max(hi, reference::highest_of(x));
  }
  if (lo > hi) lo = hi = 0;
  const bool was_special = k.is_special;
  settle(k, lo, hi);
  k.is_special = k.is_special || was_special;
}

}  // namespace

std::vector<Known> known_of(const tensor::Program& program, const Repaired& facts) {
  std::vector<Known> result;
  int64_t cost = 0;
  for (size_t i = 0; i < program.statements.size(); i++) {
    const ValueFact& fact = facts.values[i];
    if (!fact.is_there || fact.shape.size() > Dims::kMost - 2) continue;
    int64_t count = 1;
    for (const int64_t n : fact.shape) count *= n;
    cost += count;
    if (std::ranges::any_of(fact.shape, [](int64_t n) { return n < 0 || n > kMostEvaluated; })) {
      continue;
    }
    if (!fact.device.empty() && fact.device != kAway && fact.device != "sim:0") continue;
    result.push_back(plainly_known(static_cast<int32_t>(i), fact));
    name_variables(program, result.back());
  }
  std::erase_if(result, [](const Known& k) { return k.is_gone; });
  if (cost > kMostEvaluated || result.empty()) return result;
  tensor::Program asked = program;
  std::vector<int32_t> all;
  for (const Known& k : result) all.push_back(k.value);
  append_force(asked, std::move(all));
  const Result<std::vector<reference::Array>> arrays = reference::evaluate(asked);
  if (!arrays.ok()) return result;
  const size_t first = arrays.value().size() - result.size();
  for (size_t i = 0; i < result.size(); i++) learn_elements(arrays.value()[first + i], result[i]);
  return result;
}

}  // namespace assay::fuzz
