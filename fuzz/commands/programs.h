#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"
#include "engine/tensor/program/program.h"
#include "engine/uop/rewrite.h"

namespace CLI {
class App;
}

namespace assay::fuzz {

// The files that arguments name: files as they are, folders with all programs (.tp) and kernels
// (.uop, of the stages kernel, scheduled, linear and lines) that lie below them, in the order of
// their names. An error names what is not there.
Result<std::vector<std::string>> program_files(const std::vector<std::string>& arguments);

// A .uop file, which holds a kernel; all others hold programs.
bool is_kernel_file(std::string_view path);

Result<std::string> read_file(const std::string& path);
// An error has its place in the file.
Result<tensor::Program> read_program(const std::string& path);

// --off RULE and --limit N.
void add_switches(CLI::App& app, uop::Switches& switches);
// --opts, which runtime/kernel_lists.h reads.
void add_opts(CLI::App& app, std::vector<std::string>& opts);

}  // namespace assay::fuzz
