#include "oracles/workgroup/kernel_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "engine/uop/walk.h"
#include "oracles/interpreter/numbers.h"
#include "oracles/interpreter/sizes.h"

namespace assay::workgroup {

using uop::Op;
using uop::Ref;

namespace {

std::filesystem::path folder() { return ASSAY_SOURCE_DIR "/corpus/kernels"; }

uop::Target test_target() {
  uop::Target target = uop::generic_target();
  target.name = "test";
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

bool read_line(const std::string& text, KernelFile& k) {
  std::istringstream line(text);
  std::string word;
  line >> word;
  if (word == "launch") return read_launch(line, k.launch);
  if (word == "contract") return read_contract(line, *k.target.memory);
  if (word == "out") return read_numbers(line, k.results);
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

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(folder()))
    names.push_back(file.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

void read_kernel(std::string_view name, KernelFile& k) {
  k.name = name;
  k.target = test_target();
  std::ifstream file(folder() / fmt::format("{}.uop", name));
  k.text = {std::istreambuf_iterator<char>(file), {}};
  std::istringstream lines(k.text);
  std::string line;
  for (int n = 0; std::getline(lines, line) && line.starts_with("# "); n++) {
    if (n > 0 && !read_line(line.substr(2), k)) k.trouble = "cannot read: " + line;
  }
  const auto parsed = uop::from_text(k.graph, k.text);
  if (!parsed.ok()) {
    k.trouble = to_string(parsed.error());
    return;
  }
  k.linear = parsed.value().root;
}

namespace {

// The PARAM of a slot.
Ref param_of(KernelFile& k, int slot) {
  for (const Ref u : uop::toposort(k.graph, k.linear)) {
    if (u->op == Op::Param && u->arg.number() == slot) return u;
  }
  return nullptr;
}

int64_t size_of(KernelFile& k, Ref param) {
  int64_t size = 1;
  for (const Ref s : param->src) size *= interpreter::size_value(k.graph, s, k.variables).value();
  return size;
}

}  // namespace

KernelArguments arguments_of(KernelFile& k) {
  KernelArguments all;
  std::vector<Ref> params;
  for (int slot = 0; Ref param = param_of(k, slot); slot++) params.push_back(param);
  for (size_t slot = 0; slot < params.size(); slot++) {
    const uop::DType t = params[slot]->dtype;
    const int64_t size = size_of(k, params[slot]);
    std::vector<interpreter::Slot> values(static_cast<size_t>(size));
    for (size_t i = 0; i < values.size(); i++) {
      const uint64_t n = (7 * i + 3 * slot) % 11;
      values[i] = uop::is_float(t) ? interpreter::slot(static_cast<double>(n)) : n;
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
  const auto size = static_cast<size_t>(size_of(k, param));
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

}  // namespace assay::workgroup
