#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include <nlohmann/json.hpp>

#include "fuzz/bench/foreign.h"

// index.json of a folder of kernels.
namespace assay::fuzz::bench {
namespace {

using Json = nlohmann::ordered_json;

struct TypeRow {
  std::string_view name;
  int64_t bytes;
};
constexpr TypeRow kTypes[] = {
    {"bool", 1}, {"char", 1}, {"uchar", 1}, {"short", 2}, {"ushort", 2}, {"half", 2},
    {"int", 4},  {"uint", 4}, {"float", 4}, {"long", 8},  {"ulong", 8},  {"double", 8},
};
// Numbers in an index lie below it, so that no size overflows.
constexpr int64_t kMost = int64_t{1} << 40;

Result<std::string> text_of(const Json& object, const char* key) {
  const auto at = object.is_object() ? object.find(key) : object.end();
  if (at == object.end() || !at->is_string()) return Error{fmt::format("\"{}\" is no text", key)};
  return at->get<std::string>();
}

std::optional<int64_t> number_of(const Json& value, int64_t least) {
  if (!value.is_number_integer() || value < least || value > kMost) return std::nullopt;
  return value.get<int64_t>();
}

Result<int64_t> number_of(const Json& object, const char* key, int64_t least) {
  const auto at = object.is_object() ? object.find(key) : object.end();
  const std::optional<int64_t> number = at == object.end() ? std::nullopt : number_of(*at, least);
  if (!number) return Error{fmt::format("\"{}\" is no number from {} on", key, least)};
  return *number;
}

// A list that is there and not empty.
Result<const Json*> list_of(const Json& object, const char* key) {
  const auto at = object.is_object() ? object.find(key) : object.end();
  if (at == object.end() || !at->is_array() || at->empty()) {
    return Error{fmt::format("\"{}\" is no list, or an empty one", key)};
  }
  return &*at;
}

Result<std::array<int64_t, 3>> sizes_of(const Json& object, const char* key) {
  ASSAY_TRY(list, list_of(object, key));
  std::array<int64_t, 3> sizes = {1, 1, 1};
  for (size_t i = 0; i < list->size(); ++i) {
    const std::optional<int64_t> size = i < 3 ? number_of((*list)[i], 1) : std::nullopt;
    if (!size) return Error{fmt::format("\"{}\" is no list of up to three sizes", key)};
    sizes[i] = *size;
  }
  return sizes;
}

// Takes an argument into the kernel, and its buffer into the program.
std::optional<Error> add_argument(const Json& json, ForeignKernel& kernel,
                                  ForeignProgram& program) {
  ASSAY_TRY(buffer, number_of(json, "buffer", 0));
  ASSAY_TRY(elements, number_of(json, "elements", 1));
  ASSAY_TRY(type, text_of(json, "dtype"));
  const auto* row = std::ranges::find(kTypes, type, &TypeRow::name);
  if (row == std::end(kTypes))
    return Error{fmt::format("no type is named {}", assay::quoted(type))};
  const int64_t bytes = elements * row->bytes;
  const auto at = program.bytes.emplace(buffer, bytes).first;
  if (at->second != bytes) {
    return Error{fmt::format("buffer {} has {} bytes and {}", buffer, at->second, bytes)};
  }
  kernel.buffers.push_back(buffer);
  return std::nullopt;
}

Result<ForeignKernel> kernel_of(const Json& json, ForeignProgram& program) {
  ForeignKernel kernel;
  ASSAY_TRY(file, text_of(json, "file"));
  if (file.find('/') != std::string::npos) {
    return Error{fmt::format("{} is not in the folder", assay::quoted(file))};
  }
  kernel.file = std::move(file);
  ASSAY_TRY(name, text_of(json, "name"));
  kernel.name = std::move(name);
  ASSAY_TRY(groups, sizes_of(json, "global"));
  ASSAY_TRY(items, sizes_of(json, "local"));
  kernel.sizes = {groups, items};
  ASSAY_TRY(arguments, list_of(json, "args"));
  for (const Json& argument : *arguments) {
    if (std::optional<Error> error = add_argument(argument, kernel, program)) return *error;
  }
  return kernel;
}

Result<ForeignProgram> program_of(const Json& json) {
  ForeignProgram program;
  ASSAY_TRY(name, text_of(json, "program"));
  program.name = std::move(name);
  const Result<const Json*> kernels = list_of(json, "kernels");
  if (!kernels.ok()) return Error{fmt::format("{}: {}", program.name, kernels.error().message)};
  for (const Json& k : *kernels.value()) {
    Result<ForeignKernel> kernel = kernel_of(k, program);
    if (!kernel.ok()) {
      return Error{fmt::format("{}, kernel {}: {}", program.name, program.kernels.size(),
                               kernel.error().message)};
    }
    program.kernels.push_back(std::move(kernel).value());
  }
  return program;
}

}  // namespace

Result<std::vector<ForeignProgram>> foreign_programs(std::string_view index) {
  const Json json = Json::parse(index, nullptr, false);
  if (!json.is_array()) return Error{"it is no JSON list of programs"};
  std::vector<ForeignProgram> programs;
  for (const Json& entry : json) {
    ASSAY_TRY(program, program_of(entry));
    programs.push_back(std::move(program));
  }
  return programs;
}

}  // namespace assay::fuzz::bench
