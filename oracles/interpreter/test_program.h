#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "engine/check.h"
#include "engine/uop/text.h"
#include "oracles/interpreter/interpreter.h"
#include "oracles/interpreter/numbers.h"

// A .uop text with memory for its buffers, for tests.
namespace assay::interpreter {

// The text with the first `from` replaced.
inline std::string edited(std::string_view text, std::string_view from, std::string_view to) {
  std::string now(text);
  const size_t at = now.find(from);
  ASSAY_CHECK(at != std::string::npos, "{}", from);
  return now.replace(at, from.size(), to);
}

struct TestProgram {
  uop::Graph g;
  Memory memory;
  uop::Ref root = nullptr;

  // The text without its first line.
  explicit TestProgram(std::string_view text) {
    const auto parsed = uop::from_text(g, "uop 1 test\n" + std::string(text));
    ASSAY_CHECK(parsed.ok(), "{}", to_string(parsed.error()));
    root = parsed.value().root;
  }

  uop::Ref buffer(int64_t number) const {
    for (size_t i = 0; i < g.size(); i++) {
      const uop::Ref u = g.at(static_cast<uint32_t>(i));
      if (u->op == uop::Op::Buffer && u->arg.number() == number) return u;
    }
    ASSAY_CHECK(false, "no buffer {}", number);
  }
  template <typename T>
  void set(int64_t number, const std::vector<T>& values) {
    const auto bytes = memory.of(g, buffer(number));
    ASSAY_CHECK(bytes.size() == values.size() * sizeof(T), "{} bytes", bytes.size());
    std::memcpy(bytes.data(), values.data(), bytes.size());
  }
  template <typename T>
  std::vector<T> get(int64_t number) {
    const auto bytes = memory.of(g, buffer(number));
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  // What went wrong, or nothing.
  std::string run(const Variables& variables = {}, std::span<const int> order = {}) {
    const auto ran = interpreter::run(g, root, variables, memory, order);
    return ran.ok() ? "" : ran.error().message;
  }
};

}  // namespace assay::interpreter
