#pragma once

#include <string>
#include <vector>

#include "engine/result.h"
#include "engine/tensor/program/program.h"
#include "engine/uop/rewrite.h"

namespace CLI {
class App;
}

namespace assay::fuzz {

// The .tp files that arguments name: files as they are, folders with all that lie below them, in
// the order of their names. An error names what is not there.
Result<std::vector<std::string>> program_files(const std::vector<std::string>& arguments);

Result<std::string> read_file(const std::string& path);
// An error has its place in the file.
Result<tensor::Program> read_program(const std::string& path);

// --off RULE and --limit N.
void add_switches(CLI::App& app, uop::Switches& switches);

}  // namespace assay::fuzz
