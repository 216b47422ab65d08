#include "engine/runtime/opencl/program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <system_error>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace assay::runtime::opencl {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOptions = "-cl-std=CL1.2 -w";
constexpr std::string_view kUnoptimized = " -cl-opt-disable";
constexpr int kAround = 3;            // lines shown on each side
constexpr size_t kMostLog = 2000;     // bytes
constexpr size_t kMostTogether = 64;  // kernels of one program: more gain nothing

std::string hash_text(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

// The number of a line of the text that a line of a log gives: FILE:LINE:COLUMN:, where FILE is
// made up by the compiler.
std::optional<int> line_named_in(std::string_view said) {
  for (size_t colon = said.find(':'); colon != std::string_view::npos;
       colon = said.find(':', colon + 1)) {
    int line = 0;
    int column = 0;
    const char* end = said.data() + said.size();
    const auto first = std::from_chars(said.data() + colon + 1, end, line);
    if (first.ec != std::errc() || first.ptr == end || *first.ptr != ':') continue;
    const auto second = std::from_chars(first.ptr + 1, end, column);
    if (second.ec == std::errc() && second.ptr != end && *second.ptr == ':') return line;
  }
  return std::nullopt;
}

// The same of the first line of a log that speaks of an error.
std::optional<int> wrong_line(std::string_view log) {
  for (size_t begin = 0; begin < log.size();) {
    const size_t end = std::min(log.find('\n', begin), log.size());
    const std::string_view said = log.substr(begin, end - begin);
    begin = end + 1;
    if (said.find("error") == std::string_view::npos) continue;
    if (const std::optional<int> line = line_named_in(said)) return line;
  }
  return std::nullopt;
}

std::string lines_around(std::string_view text, int wrong) {
  std::string out;
  int number = 1;
  for (size_t begin = 0; begin < text.size(); number++) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    if (number >= wrong - kAround && number <= wrong + kAround) {
      out += fmt::format("{}{:5} {}\n", number == wrong ? '>' : ' ', number,
                         text.substr(begin, end - begin));
    }
    begin = end + 1;
  }
  return out;
}

}  // namespace

std::string build_failure(const std::string& text, const std::string& log) {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  const fs::path path = folder / fmt::format("assay-{}.cl", hash_text(text).substr(0, 16));
  std::string said;
  if (!error && std::ofstream(path, std::ios::binary) << text) {
    said = fmt::format("does not build; its text is in {}\n", path.string());
  } else {
    said = "does not build\n";
  }
  if (const std::optional<int> line = wrong_line(log)) said += lines_around(text, *line);
  return said + (log.size() > kMostLog ? log.substr(0, kMostLog) + "…" : log);
}

Compiler::Compiler(cl_context context, Found device, std::string binaries, bool optimize)
    : context_(context),
      device_(std::move(device)),
      binaries_(std::move(binaries)),
      options_(fmt::format("{}{}", kOptions, optimize ? "" : kUnoptimized)) {}

std::string Compiler::log_of(const Program& program) const {
  size_t size = 0;
  clGetProgramBuildInfo(program.get(), device_.device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
  std::string log(size, '\0');
  clGetProgramBuildInfo(program.get(), device_.device, CL_PROGRAM_BUILD_LOG, size, log.data(),
                        nullptr);
  log.resize(std::min(log.find('\0'), log.size()));
  return log;
}

std::string Compiler::binary_path(const std::string& text) const {
  const std::string key =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}", device_.platform_name, device_.version,
                  device_.device_name, device_.driver, options_, text);
  return (fs::path(binaries_) / (hash_text(key) + ".bin")).string();
}

Program Compiler::load_binary(const std::string& path) const {
  std::ifstream file(path, std::ios::binary);
  if (!file) return {};
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  const size_t size = bytes.size();
  cl_int of_device = CL_SUCCESS;
  cl_int code = CL_SUCCESS;
  Program program(
      clCreateProgramWithBinary(context_, 1, &device_.device, &size, &data, &of_device, &code));
  if (code != CL_SUCCESS || of_device != CL_SUCCESS || !program) return {};
  code = clBuildProgram(program.get(), 1, &device_.device, options_.c_str(), nullptr, nullptr);
  return code == CL_SUCCESS ? std::move(program) : Program();
}

// What cannot be kept is compiled again.
void Compiler::save_binary(const Program& program, const std::string& path) const {
  size_t size = 0;
  if (clGetProgramInfo(program.get(), CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr) !=
          CL_SUCCESS ||
      size == 0) {
    return;
  }
  std::string bytes(size, '\0');
  auto* data = reinterpret_cast<unsigned char*>(bytes.data());
  if (clGetProgramInfo(program.get(), CL_PROGRAM_BINARIES, sizeof data, static_cast<void*>(&data),
                       nullptr) != CL_SUCCESS) {
    return;
  }
  const std::string unfinished = fmt::format("{}.{}", path, getpid());
  std::error_code ignored;
  fs::create_directories(binaries_, ignored);
  if (std::ofstream(unfinished, std::ios::binary) << bytes) fs::rename(unfinished, path, ignored);
}

Result<const Program*> Compiler::compile(const std::string& text) {
  const std::string path = binaries_.empty() ? "" : binary_path(text);
  if (!path.empty()) {
    if (Program program = load_binary(path)) {
      loaded_++;
      return programs_.emplace_back(std::make_unique<Program>(std::move(program))).get();
    }
  }
  const char* data = text.data();
  const size_t size = text.size();
  cl_int code = CL_SUCCESS;
  Program program(clCreateProgramWithSource(context_, 1, &data, &size, &code));
  if (code != CL_SUCCESS) return Error{std::string(error_name(code)), 0, 0};
  code = clBuildProgram(program.get(), 1, &device_.device, options_.c_str(), nullptr, nullptr);
  if (code == CL_BUILD_PROGRAM_FAILURE) return Error{log_of(program), 0, 0};
  if (code != CL_SUCCESS) return Error{std::string(error_name(code)), 0, 0};
  compiled_++;
  if (!path.empty()) save_binary(program, path);
  return programs_.emplace_back(std::make_unique<Program>(std::move(program))).get();
}

// The texts as one program, in which each kernel has a name of its own: the preprocessor gives one
// to whoever comes later with a name that is taken.
void Compiler::compile_together(std::span<const KernelText* const> texts) {
  if (texts.size() < 2) return;
  std::string joined;
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const KernelText* t : texts) {
    std::string name = t->name;
    for (int i = 1; !taken.insert(name).second; i++) name = fmt::format("{}_{}", t->name, i);
    const bool is_other = name != t->name;
    if (is_other) joined += fmt::format("#define {} {}\n", t->name, name);
    joined += t->text;
    joined += '\n';
    if (is_other) joined += fmt::format("#undef {}\n", t->name);
    names.push_back(std::move(name));
  }
  const Result<const Program*> program = compile(joined);
  if (!program.ok()) {
    compile_together(texts.first(texts.size() / 2));
    compile_together(texts.subspan(texts.size() / 2));
    return;
  }
  for (size_t i = 0; i < texts.size(); i++) {
    by_text_[texts[i]->text] = {program.value(), names[i]};
  }
}

// Those that are not there yet, each text once.
void Compiler::compile_new(std::span<const KernelText> texts) {
  std::vector<const KernelText*> missing;
  std::set<std::string_view> seen;
  for (const KernelText& t : texts) {
    if (!by_text_.contains(t.text) && seen.insert(t.text).second) missing.push_back(&t);
  }
  for (size_t first = 0; first < missing.size(); first += kMostTogether) {
    const size_t count = std::min(kMostTogether, missing.size() - first);
    compile_together(std::span(missing).subspan(first, count));
  }
}

void Compiler::compile_foreseen() {
  const std::vector<KernelText> texts = std::exchange(foreseen_, {});
  compile_new(texts);
}

std::vector<Result<Kernel>> Compiler::kernels(std::span<const KernelText> texts) {
  compile_new(texts);
  std::vector<Result<Kernel>> made;
  made.reserve(texts.size());
  for (const KernelText& t : texts) {
    auto found = by_text_.find(t.text);
    if (found == by_text_.end()) {
      const Result<const Program*> program = compile(t.text);
      if (!program.ok()) {
        made.emplace_back(Error{build_failure(t.text, program.error().message), 0, 0});
        continue;
      }
      found = by_text_.emplace(t.text, Entry{program.value(), t.name}).first;
    }
    cl_int code = CL_SUCCESS;
    Kernel kernel(clCreateKernel(found->second.program->get(), found->second.name.c_str(), &code));
    if (code != CL_SUCCESS) {
      made.emplace_back(Error{fmt::format("{}: {}", found->second.name, error_name(code)), 0, 0});
    } else {
      made.emplace_back(std::move(kernel));
    }
  }
  return made;
}

}  // namespace assay::runtime::opencl
