#include "oracles/reference/operands.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "oracles/reference/promote.h"

namespace assay::reference {
namespace {

using tensor::Define;
using tensor::OpRow;
using tensor::ResultType;

// What an operand is to its op.
enum class Role : uint8_t {
  Value,      // of the type of the op
  Condition,  // bool
  Position,   // an integer
  Mask,       // bool, or as a Value
};

Role role_of(const OpRow& row, size_t operand) {
  const size_t named = std::min(operand, row.operands.size() - 1);
  const std::string_view name = row.operands[named].name;
  if (name == "c") return Role::Condition;
  if (name == "i") return Role::Position;
  return name == "mask" ? Role::Mask : Role::Value;
}

// Whether an operand has the type of the op. What is absent has none.
bool is_typed(const Define& define, size_t k, const Array* value) {
  if (define.operands[k].is_absent()) return false;
  const Role role = role_of(tensor::row(define.op), k);
  if (role == Role::Mask) return value == nullptr || value->dtype != uop::Bool;
  return role == Role::Value;
}

bool is_promoted(const OpRow& row) {
  return row.result == ResultType::Promoted || row.result == ResultType::Bool;
}

// The type of an op: that of its operands together, or where they are not promoted of the first.
// Nothing where no operand has it.
Result<DType> type_of(const Define& define, std::span<const Array* const> values) {
  const OpRow& row = tensor::row(define.op);
  DType t = uop::Void;
  bool is_alone = true;
  for (size_t k = 0; k < values.size(); ++k) {
    if (!is_typed(define, k, values[k]) || values[k] == nullptr) continue;
    is_alone = false;
    const std::optional<DType> both =
        t == uop::Void ? values[k]->dtype : joined(t, values[k]->dtype);
    if (!both) return Error{fmt::format("{} joins no other type", uop::to_text(t)), 0, 0};
    t = *both;
    if (!is_promoted(row)) break;
  }
  for (size_t k = 0; k < values.size(); ++k) {
    if (!is_typed(define, k, values[k])) continue;
    if (is_alone) {
      return Error{fmt::format("{} of numbers alone, which have no type", row.text), 0, 0};
    }
    if (is_promoted(row) && define.operands[k].is_literal()) {
      t = beside(define.operands[k].literal, t);
    }
  }
  return t;
}

Error misfit(const OpRow& row, std::string_view what, uop::TypeSet over) {
  return Error{fmt::format("{} takes {}, not {}", row.text, uop::to_text(over), what), 0, 0};
}

// The type that operand k has to have, or is cast to.
Result<DType> wanted(const Define& define, size_t k, const Array* value, DType t) {
  const OpRow& row = tensor::row(define.op);
  const Role role = role_of(row, k);
  if (role == Role::Condition || (role == Role::Mask && !is_typed(define, k, value))) {
    return uop::Bool;
  }
  if (role != Role::Position) return t;
  if (value == nullptr) return uop::I32;
  if (!uop::is_fixed_int(value->dtype)) {
    return misfit(row, fmt::format("positions of type {}", uop::to_text(value->dtype)),
                  uop::kFixedInts);
  }
  return value->dtype;
}

// Operand k at the type it has to have.
Result<const Array*> prepared(const Define& define, size_t k, const Array* value, DType t,
                              std::list<Array>& held) {
  const OpRow& row = tensor::row(define.op);
  ASSAY_TRY(type, wanted(define, k, value, t));
  if (value == nullptr) {
    const std::optional<Bounded> number = number_at(define.operands[k].literal, type);
    if (!number) {
      return Error{fmt::format("operand {} is no number of {}", k + 1, uop::to_text(type)), 0, 0};
    }
    return &held.emplace_back(Array{type, {}, Elements::Constant(1, *number)});
  }
  if (value->dtype == type) return value;
  if (!is_promoted(row) || role_of(row, k) == Role::Condition) {
    return Error{
        fmt::format("{} of {} beside {}", row.text, uop::to_text(value->dtype), uop::to_text(type)),
        0, 0};
  }
  return &held.emplace_back(Array{type, value->shape, cast(value->elements, value->dtype, type)});
}

// The type to accumulate in, if one is written: floats are not summed as integers.
Result<bool> judge_accumulator(const Define& define, DType t) {
  const OpRow& row = tensor::row(define.op);
  for (size_t k = 0; k < row.attrs.size(); ++k) {
    const auto* acc = std::get_if<DType>(&define.attrs[k]);
    if (row.attrs[k].name != "acc" || acc == nullptr) continue;
    if (uop::is_float(*acc) || (uop::is_fixed_int(*acc) && !uop::is_float(t))) continue;
    return Error{fmt::format("{} of {} cannot accumulate in {}", row.text, uop::to_text(t),
                             uop::to_text(*acc)),
                 0, 0};
  }
  return true;
}

}  // namespace

Result<Prepared> prepare(const Define& define, std::span<const Array* const> values) {
  const OpRow& row = tensor::row(define.op);
  ASSAY_TRY(t, type_of(define, values));
  const DType judged = row.operands.empty() ? define.dtype : t;
  if (judged != uop::Void && (judged == uop::Index || !row.over.has(judged))) {
    return misfit(row, uop::to_text(judged), row.over);
  }
  ASSAY_TRY(accumulates, judge_accumulator(define, t));
  (void)accumulates;
  Prepared result;
  for (size_t k = 0; k < values.size(); ++k) {
    result.operands.push_back(nullptr);
    if (define.operands[k].is_absent()) continue;
    ASSAY_TRY(operand, prepared(define, k, values[k], t, result.held));
    result.operands.back() = operand;
  }
  return result;
}

}  // namespace assay::reference
