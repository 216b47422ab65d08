#pragma once

#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/check.h"
#include "engine/uop/text.h"
#include "engine/uop/walk.h"
#include "oracles/interpreter/lowered.h"
#include "oracles/interpreter/sizes.h"

// A kernel of any form as .uop text, with storage for its parameters, for tests.
namespace assay::interpreter {

struct TestKernel {
  uop::Graph g;
  uop::Ref root = nullptr;
  std::vector<std::vector<std::byte>> bytes;  // by slot
  std::vector<Argument> arguments;
  Variables variables;

  // The text without its first line.
  explicit TestKernel(std::string_view text, Variables values = {}) : variables(std::move(values)) {
    const auto parsed = uop::from_text(g, "uop 1 test\n" + std::string(text));
    ASSAY_CHECK(parsed.ok(), "{}", to_string(parsed.error()));
    root = parsed.value().root;
    for (const uop::Ref u : uop::toposort(g, root)) {
      if (u->op == uop::Op::Param) add(u);
    }
  }

  template <typename T>
  void set(size_t slot, const std::vector<T>& values) {
    ASSAY_CHECK(bytes[slot].size() == values.size() * sizeof(T), "{}", bytes[slot].size());
    std::memcpy(bytes[slot].data(), values.data(), bytes[slot].size());
  }
  template <typename T>
  std::vector<T> get(size_t slot) const {
    std::vector<T> values(bytes[slot].size() / sizeof(T));
    std::memcpy(values.data(), bytes[slot].data(), bytes[slot].size());
    return values;
  }
  // What went wrong, or nothing.
  std::string run(StepOrder order = StepOrder::FirstSourceFirst) {
    const auto ran = run_kernel(g, root, arguments, variables, order);
    return ran.ok() ? "" : ran.error().message;
  }

 private:
  void add(uop::Ref param) {
    const auto slot = static_cast<size_t>(param->arg.number());
    const auto size = size_value(g, param->src[0], variables);
    ASSAY_CHECK(size.ok());
    if (slot >= bytes.size()) {
      bytes.resize(slot + 1);
      arguments.resize(slot + 1);
    }
    bytes[slot].resize(static_cast<size_t>(size.value() * uop::bytes_of(param->dtype)));
    fill_poison(param->dtype, bytes[slot].data(), size.value());
    arguments[slot] = {bytes[slot], param->dtype, size.value(), true, param->arg.number()};
  }
};

}  // namespace assay::interpreter
