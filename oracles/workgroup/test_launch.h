#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "engine/uop/text.h"
#include "oracles/workgroup/workgroup.h"

namespace assay::workgroup {

// A LINEAR of one group: out[i] = op(a[i], b[i], c[i]).
inline std::string elementwise(uop::Op op, uop::DType result, const std::vector<uop::DType>& types,
                               int items) {
  std::string text = fmt::format("uop 1 linear\n%n = const i32 {}\n", items);
  text += "%i = special i32 %n {\"lidx0\"}\n";
  text += fmt::format("%p0 = param {} %n {{0}}\n", uop::to_text(result));
  std::string list = "%n %i %p0";
  std::string sources;
  for (size_t k = 0; k < types.size(); k++) {
    const auto t = uop::to_text(types[k]);
    text += fmt::format("%p{0} = param {1} %n {{{0}}}\n", k + 1, t);
    text += fmt::format("%at{0} = index {1} %p{0} %i\n%x{0} = load {1} %at{0}\n", k + 1, t);
    list += fmt::format(" %p{0} %at{0} %x{0}", k + 1);
    sources += fmt::format(" %x{}", k + 1);
  }
  text += fmt::format("%y = {} {}{}\n", uop::to_text(op), uop::to_text(result), sources);
  text += fmt::format("%to = index {} %p0 %i\n%s = store void %to %y\n", uop::to_text(result));
  return text + fmt::format("%l = linear void {} %y %to %s {{\"\"}}\n", list);
}

// A LINEAR given as text, and a launch of it over arguments that are vectors of numbers.
class TestLaunch {
 public:
  explicit TestLaunch(std::string_view text) {
    target = uop::generic_target();
    target.memory = uop::MemoryContract{};
    const auto parsed = uop::from_text(graph, text);
    if (parsed.ok()) linear = parsed.value().root;
    EXPECT_TRUE(parsed.ok()) << to_string(parsed.error());
  }

  template <typename T>
  void add(const std::vector<T>& values) {
    bytes.emplace_back(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(bytes.back().data(), values.data(), bytes.back().size());
  }
  template <typename T>
  std::vector<T> get(size_t slot) const {
    std::vector<T> values(bytes[slot].size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes[slot].data(), bytes[slot].size());
    return values;
  }

  Result<Report> run() {
    std::vector<Argument> arguments;
    for (std::vector<std::byte>& b : bytes) arguments.push_back({b, {}});
    return execute(graph, linear, arguments, variables, launch, target, options);
  }
  // The texts of what was found, a line each; or the error.
  std::string findings() {
    const Result<Report> report = run();
    if (!report.ok()) return report.error().message;
    std::string text;
    for (const Finding& f : report.value().findings) text += f.text + "\n";
    return text;
  }

  uop::Graph graph;
  uop::Ref linear = nullptr;
  std::vector<std::vector<std::byte>> bytes;
  Variables variables;
  Launch launch;
  uop::Target target;
  Options options;
};

}  // namespace assay::workgroup
