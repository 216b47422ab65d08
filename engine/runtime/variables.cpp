#include "engine/runtime/variables.h"

#include <fmt/format.h>

#include <vector>

#include "engine/uop/eval.h"

namespace assay::runtime {

const int64_t* find_variable(Variables variables, std::string_view name) {
  for (const auto& [key, value] : variables) {
    if (key == name) return &value;
  }
  return nullptr;
}

Result<int64_t> size_value(uop::Graph& g, uop::Ref size, Variables variables) {
  if (is_const(size)) return static_cast<int64_t>(uop::as_int(size->value()));
  uop::Evaluator evaluator(g, size);
  std::vector<uop::Value> values;
  values.reserve(evaluator.leaves().size());
  for (const uop::Ref leaf : evaluator.leaves()) {
    const int64_t* value = find_variable(variables, leaf->arg.name());
    if (value == nullptr) {
      return Error{fmt::format("variable {} has no value", leaf->arg.name()), 0, 0};
    }
    values.push_back(uop::of_int(leaf->dtype, *value));
  }
  const uop::Cell cell = evaluator.run(values);
  if (!cell.defined()) return Error{"a size is unspecified", 0, 0};
  return static_cast<int64_t>(uop::as_int(cell.value));
}

}  // namespace assay::runtime
