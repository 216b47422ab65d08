#include "oracles/reference/evaluating.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "oracles/reference/promote.h"

namespace assay::reference {
namespace {

using tensor::Literal;
using tensor::Size;

Result<int64_t> from_zero(std::string_view name, int64_t n) {
  if (n < 0) return Error{fmt::format("{} is {}", name, n), 0, 0};
  return n;
}

Result<int64_t> counted(int64_t axis, size_t rank) {
  const int64_t n = std::max<int64_t>(1, static_cast<int64_t>(rank));
  if (axis < -n || axis >= n) {
    return Error{fmt::format("axis {} is not one of the {} axes", axis, rank), 0, 0};
  }
  return axis < 0 ? axis + n : axis;
}

}  // namespace

Result<Bounded> Evaluating::number(std::string_view name, DType t) const {
  const auto& literal = std::get<Literal>(attr(name));
  const std::optional<Bounded> value = number_at(literal, t);
  if (!value) return Error{fmt::format("{} is no number of {}", name, uop::to_text(t)), 0, 0};
  return *value;
}

Type Evaluating::accumulator(DType t) const {
  for (const tensor::AttrValue& written : define.attrs) {
    // The only attribute that is a type.
    if (const auto* acc = std::get_if<DType>(&written)) return at(*acc);
  }
  if (uop::is_float(t)) return at(uop::bits_of(t) < 32 ? uop::F32 : t);
  if (row().family == tensor::Family::Contract || uop::bits_of(t) > 32) return at(t);
  return at(uop::is_unsigned(t) && t != uop::Bool ? uop::U32 : uop::I32);
}

Result<int64_t> Evaluating::size(std::string_view name) const {
  const std::optional<int64_t> n = tensor::evaluate(std::get<Size>(attr(name)), variables);
  if (!n) return Error{fmt::format("{} is no number of 64 bits", name), 0, 0};
  return from_zero(name, *n);
}

Result<std::vector<int64_t>> Evaluating::integers(std::string_view name) const {
  std::vector<int64_t> all;
  for (const Size& size : std::get<std::vector<Size>>(attr(name))) {
    const std::optional<int64_t> n = tensor::evaluate(size, variables);
    if (!n) return Error{fmt::format("{} holds no number of 64 bits", name), 0, 0};
    all.push_back(*n);
  }
  return all;
}

Result<Dims> Evaluating::sizes(std::string_view name) const {
  ASSAY_TRY(all, integers(name));
  for (const int64_t n : all) {
    const Result<int64_t> size = from_zero(name, n);
    if (!size.ok()) return size.error();
  }
  return all;
}

Result<Dims> Evaluating::sizes_or(std::string_view name, size_t axes, int64_t fallback) const {
  if (!has(name)) return Dims(axes, fallback);
  ASSAY_TRY(all, sizes(name));
  if (all.size() != axes) {
    return Error{fmt::format("{} names {} sizes, there are {}", name, all.size(), axes), 0, 0};
  }
  return all;
}

Result<int64_t> Evaluating::axis(std::string_view name, size_t rank) const {
  return counted(integer(name), rank);
}

Result<std::vector<int64_t>> Evaluating::axes(std::string_view name, size_t rank) const {
  if (!has(name)) return steps(static_cast<int64_t>(rank), 1);
  std::vector<int64_t> all;
  for (const int64_t written : std::get<std::vector<int64_t>>(attr(name))) {
    ASSAY_TRY(axis, counted(written, rank));
    if (std::find(all.begin(), all.end(), axis) != all.end()) {
      return Error{fmt::format("axis {} is named twice", axis), 0, 0};
    }
    all.push_back(axis);
  }
  if (rank == 0) all.clear();
  return all;
}

Result<bool> Evaluating::spend(int64_t elements) const {
  if (elements > kMaxWork - work) {
    return Error{"the program is too large to evaluate", 0, 0};
  }
  work += elements;
  return true;
}

}  // namespace assay::reference
