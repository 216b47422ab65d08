#include "oracles/workgroup/kernel_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <sstream>

#include "engine/codegen/launch.h"
#include "engine/uop/text.h"
#include "engine/uop/walk.h"
#include "oracles/interpreter/numbers.h"
#include "oracles/interpreter/sizes.h"

namespace assay::workgroup {

using uop::Op;
using uop::Ref;

namespace {

// What the kernels of a file may do: LOCAL storage, barriers, vectors at multiples of their widths.
uop::Target file_target() {
  uop::Target target = uop::generic_target();
  target.name = "file";
  target.limits.group_size = 1024;
  target.limits.local_bytes = 32768;
  target.memory = uop::MemoryContract{};
  target.aligned_vectors = true;
  return target;
}

std::optional<uop::Standing> standing(const std::string& word) {
  if (word == "nowhere") return uop::Standing::Nowhere;
  if (word == "uniform") return uop::Standing::Uniform;
  if (word == "anywhere") return uop::Standing::Anywhere;
  return std::nullopt;
}

// The rest of a line without the blanks it begins with.
std::string rest_of(std::istringstream& line) {
  std::string rest;
  std::getline(line >> std::ws, rest);
  return rest;
}

bool read_launch(std::istringstream& line, Launch& launch) {
  std::string times;
  for (int64_t& n : launch.groups) line >> n;
  line >> times;
  for (int64_t& n : launch.items) line >> n;
  return !line.fail() && times == "x";
}

bool read_contract(std::istringstream& line, uop::MemoryContract& contract) {
  std::string where;
  std::string who;
  line >> where >> who;
  const std::optional<uop::Standing> s = standing(who);
  if (!s || (where != "in_loop" && where != "in_branch")) return false;
  (where == "in_loop" ? contract.in_loop : contract.in_branch) = *s;
  return true;
}

bool read_numbers(std::istringstream& line, std::map<int, std::vector<double>>& results) {
  std::string slot;
  line >> slot;
  if (slot.empty() || slot.back() != ':') return false;
  std::vector<double>& numbers = results[std::atoi(slot.c_str())];
  for (double x = 0; line >> x;) numbers.push_back(x);
  return line.eof();
}

bool read_line(const std::string& text, KernelFile& k, bool& has_launch) {
  std::istringstream line(text);
  std::string word;
  line >> word;
  if (word == "launch") return has_launch = true, read_launch(line, k.launch);
  if (word == "contract") return read_contract(line, *k.target.memory);
  if (word == "out") return read_numbers(line, k.results);
  if (word == "in") return read_numbers(line, k.contents);
  if (word == "expect") return k.expected.push_back(rest_of(line)), true;
  if (word == "may") return k.allowed.push_back(rest_of(line)), true;
  if (word == "set") {
    std::string name;
    line >> name;
    return static_cast<bool>(line >> k.variables[name]);
  }
  int slot = -1;
  line >> slot;
  if (word == "unknown") return k.unknown.insert(slot).second;
  KernelFile::Alias& alias = k.aliases[slot];
  return word == "alias" && line >> alias.slot >> alias.offset;
}

}  // namespace

Result<bool> read_kernel(std::string_view text, KernelFile& k) {
  k.target = file_target();
  std::istringstream lines{std::string(text)};
  std::string line;
  bool has_launch = false;
  for (int n = 1; std::getline(lines, line) && line.starts_with("# "); n++) {
    if (n == 1 || read_line(line.substr(2), k, has_launch)) continue;
    return Error{fmt::format("{} says nothing of a kernel", quoted(line)), n};
  }
  ASSAY_TRY(parsed, uop::from_text(k.graph, text));
  if (parsed.root->op != Op::Linear) {
    return Error{fmt::format("{} is no list of instructions", uop::to_text(parsed.root->op))};
  }
  k.linear = parsed.root;
  if (has_launch) return true;
  const std::vector<std::pair<std::string, int64_t>> variables(k.variables.begin(),
                                                               k.variables.end());
  ASSAY_TRY(launch, codegen::launch_sizes(k.graph, k.linear, variables));
  k.launch = launch;
  return true;
}

namespace {

// The PARAM of a slot.
Ref param_of(KernelFile& k, int slot) {
  for (const Ref u : uop::toposort(k.graph, k.linear)) {
    if (u->op == Op::Param && u->arg.number() == slot) return u;
  }
  return nullptr;
}

Result<int64_t> size_of(KernelFile& k, Ref param) {
  int64_t size = 1;
  for (const Ref s : param->src) {
    ASSAY_TRY(n, interpreter::size_value(k.graph, s, k.variables));
    size *= n;
  }
  return size;
}

}  // namespace

Result<KernelArguments> arguments_of(KernelFile& k) {
  KernelArguments all;
  std::vector<Ref> params;
  for (int slot = 0; Ref param = param_of(k, slot); slot++) params.push_back(param);
  for (size_t slot = 0; slot < params.size(); slot++) {
    const uop::DType t = params[slot]->dtype;
    ASSAY_TRY(size, size_of(k, params[slot]));
    std::vector<interpreter::Slot> values(static_cast<size_t>(size));
    for (size_t i = 0; i < values.size(); i++) {
      const uint64_t n = (7 * i + 3 * slot) % 11;
      values[i] = uop::is_float(t) ? interpreter::slot(static_cast<double>(n)) : n;
    }
    const auto said = k.contents.find(static_cast<int>(slot));
    for (size_t i = 0; said != k.contents.end() && i < said->second.size(); i++) {
      if (i >= values.size()) return Error{fmt::format("argument {} has {} elements", slot, size)};
      const double x = said->second[i];
      values[i] = uop::is_float(t) ? interpreter::slot(x)
                                   : static_cast<interpreter::Slot>(static_cast<int64_t>(x));
    }
    all.bytes.emplace_back(static_cast<size_t>(size * uop::bytes_of(t)));
    interpreter::encode(t, values.data(), all.bytes.back().data(), size);
  }
  for (size_t slot = 0; slot < params.size(); slot++) {
    std::span<std::byte> bytes = all.bytes[slot];
    const auto alias = k.aliases.find(static_cast<int>(slot));
    if (alias != k.aliases.end()) {
      const auto offset = static_cast<size_t>(alias->second.offset);
      bytes = std::span(all.bytes[static_cast<size_t>(alias->second.slot)])
                  .subspan(offset, bytes.size());
    }
    const bool is_unknown = k.unknown.count(static_cast<int>(slot)) != 0;
    all.known.emplace_back(is_unknown ? bytes.size() : 0);
    all.arguments.push_back({bytes, all.known.back()});
  }
  return all;
}

std::vector<double> numbers_of(KernelFile& k, const KernelArguments& all, int slot) {
  const Ref param = param_of(k, slot);
  const auto size = static_cast<size_t>(size_of(k, param).value());
  std::vector<interpreter::Slot> values(size);
  interpreter::decode(param->dtype, all.arguments[static_cast<size_t>(slot)].bytes.data(),
                      values.data(), static_cast<int64_t>(size));
  std::vector<double> numbers;
  for (const interpreter::Slot s : values) {
    const bool is_float = uop::is_float(param->dtype);
    numbers.push_back(is_float ? interpreter::number(s)
                               : static_cast<double>(static_cast<int64_t>(s)));
  }
  return numbers;
}

std::string brief(const Finding& finding) {
  std::string text(to_text(finding.fault));
  for (const int node : finding.nodes) text += fmt::format(" %{}", node);
  return text;
}

namespace {

// What was found that need not be, and what was not that must.
std::string difference(const KernelFile& k, const Report& report, std::string_view schedule) {
  std::set<std::string> missing(k.expected.begin(), k.expected.end());
  const std::set<std::string> allowed(k.allowed.begin(), k.allowed.end());
  std::string text;
  for (const Finding& f : report.findings) {
    const std::string found = brief(f);
    if (missing.erase(found) == 0 && allowed.count(found) == 0)
      text += fmt::format("{}: not expected: {}: {}\n", schedule, found, f.text);
  }
  for (const std::string& one : missing) text += fmt::format("{}: not found: {}\n", schedule, one);
  return text;
}

}  // namespace

std::string difference(KernelFile& k, const KernelArguments& arguments) {
  std::string text;
  for (const auto& [slot, expected] : k.results) {
    const std::vector<double> numbers = numbers_of(k, arguments, slot);
    if (numbers == expected) continue;
    text += fmt::format("argument {} is {}, not {}\n", slot, fmt::join(numbers, " "),
                        fmt::join(expected, " "));
  }
  return text;
}

Result<std::string> difference(KernelFile& k) {
  std::string text;
  for (const Schedule& schedule : interleavings()) {
    ASSAY_TRY(arguments, arguments_of(k));
    Options options;
    options.schedule = schedule;
    ASSAY_TRY(report, execute(k.graph, k.linear, arguments.arguments, k.variables, k.launch,
                              k.target, options));
    text += difference(k, report, schedule.name);
    const std::string wrong = difference(k, arguments);
    if (!wrong.empty()) text += fmt::format("{}: {}", schedule.name, wrong);
  }
  return text;
}

}  // namespace assay::workgroup
