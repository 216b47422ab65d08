#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/result.h"
#include "engine/runtime/opencl/object.h"
#include "engine/runtime/opencl/platform.h"
#include "engine/runtime/source.h"

namespace assay::runtime::opencl {

// Compiles for one device of a context, and keeps what it has compiled: by text, in memory, and
// where a folder is given as binaries, by text, options, device and driver.
class Compiler {
 public:
  // `binaries` is a folder, or "". Without `optimize` programs are compiled as they stand.
  Compiler(cl_context context, Found device, std::string binaries, bool optimize = true);

  // A kernel for each text, in the same order. All that are new are compiled as one program, since
  // most of the time goes into what programs have in common; where that fails, in halves, down to
  // one by one, so that an error is its own kernel's. It holds the text around the line at fault,
  // and says where the whole of it lies.
  std::vector<Result<Kernel>> kernels(std::span<const KernelText> texts);
  // A text that kernels() will be asked for. Those that were foreseen are compiled together by
  // compile_foreseen(), and those that do not compile are left for whoever asks.
  void foresee(KernelText text) { foreseen_.push_back(std::move(text)); }
  void compile_foreseen();

  // Programs compiled so far, and those found as binaries.
  int64_t compiled() const { return compiled_; }
  int64_t loaded() const { return loaded_; }

 private:
  struct Entry {
    const Program* program = nullptr;
    std::string name;
  };

  // An error is the compiler's log.
  Result<const Program*> compile(const std::string& text);
  void compile_new(std::span<const KernelText> texts);
  void compile_together(std::span<const KernelText* const> texts);
  std::string log_of(const Program& program) const;
  std::string binary_path(const std::string& text) const;
  Program load_binary(const std::string& path) const;
  void save_binary(const Program& program, const std::string& path) const;

  cl_context context_;
  Found device_;
  std::string binaries_;
  std::string options_;
  std::vector<std::unique_ptr<Program>> programs_;
  std::map<std::string, Entry> by_text_;
  std::vector<KernelText> foreseen_;
  int64_t compiled_ = 0;
  int64_t loaded_ = 0;
};

// The lines of a text around the first one that a compiler's log calls wrong, which is marked, and
// the log. The whole is kept in a file, whose path comes first.
std::string build_failure(const std::string& text, const std::string& log);

}  // namespace assay::runtime::opencl
