#include "props/kernel/problem.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay::props::kernel {

int32_t Problem::add_variable(Int128 lo, Int128 hi, bool is_primary) {
  variables_.push_back({lo, hi});
  const auto number = static_cast<int32_t>(variables_.size()) - 1;
  if (is_primary) primary_.push_back(number);
  return number;
}

int32_t Problem::add_linear(std::span<const Factor> sum, Int128 lo, Int128 hi, bool is_option) {
  const auto first = static_cast<uint32_t>(factors_.size());
  factors_.insert(factors_.end(), sum.begin(), sum.end());
  linears_.push_back({first, static_cast<uint32_t>(sum.size()), lo, hi});
  const auto number = static_cast<int32_t>(linears_.size()) - 1;
  if (!is_option) required_.push_back(number);
  return number;
}

void Problem::add_clause(std::vector<std::vector<int32_t>> options) {
  clauses_.push_back(std::move(options));
}

bool Problem::linear_holds(const Linear& l, std::span<const Int128> values) const {
  Int128 total = 0;
  for (const Factor& f : factors(l)) total += f.times * values[static_cast<size_t>(f.variable)];
  return l.lo <= total && total <= l.hi;
}

bool Problem::holds(std::span<const Int128> values) const {
  for (size_t i = 0; i < variables_.size(); i++) {
    if (values[i] < variables_[i].lo || values[i] > variables_[i].hi) return false;
  }
  const auto is_true = [&](int32_t l) {
    return linear_holds(linears_[static_cast<size_t>(l)], values);
  };
  if (!std::ranges::all_of(required_, is_true)) return false;
  for (const auto& clause : clauses_) {
    const auto holds_all = [&](const auto& option) { return std::ranges::all_of(option, is_true); };
    if (!std::ranges::any_of(clause, holds_all)) return false;
  }
  return std::ranges::all_of(products_, [&](const Product& p) {
    const auto value = [&](int32_t v) { return values[static_cast<size_t>(v)]; };
    return value(p.variable) == value(p.x) * value(p.y);
  });
}

smt::Term Problem::linear_term(smt::Formula& f, std::span<const smt::Term> variables,
                               const Linear& l) const {
  smt::Term total = f.integer(0);
  for (const Factor& factor : factors(l)) {
    const smt::Term times = f.integer(factor.times);
    total = f.add(total, f.mul(times, variables[static_cast<size_t>(factor.variable)]));
  }
  smt::Term holds = f.truth(true);
  if (l.lo > -kInfinity / 2) holds = f.le(f.integer(l.lo), total);
  if (l.hi >= kInfinity / 2) return holds;
  const smt::Term below = f.le(total, f.integer(l.hi));
  return f.both(holds, below);
}

smt::Formula Problem::formula() const {
  smt::Formula f;
  std::vector<smt::Term> variables;
  for (size_t i = 0; i < variables_.size(); i++)
    variables.push_back(f.bounded(fmt::format("v{}", i), variables_[i].lo, variables_[i].hi));
  const auto term = [&](int32_t l) {
    return linear_term(f, variables, linears_[static_cast<size_t>(l)]);
  };
  for (const int32_t l : required_) f.require(term(l));
  for (const auto& clause : clauses_) {
    smt::Term any = f.truth(false);
    for (const auto& option : clause) {
      smt::Term all = f.truth(true);
      for (const int32_t l : option) all = f.both(all, term(l));
      any = f.either(any, all);
    }
    f.require(any);
  }
  for (const Product& p : products_) {
    const auto variable = [&](int32_t v) { return variables[static_cast<size_t>(v)]; };
    const smt::Term product = f.mul(variable(p.x), variable(p.y));
    f.require(f.equal(variable(p.variable), product));
  }
  return f;
}

}  // namespace assay::props::kernel
