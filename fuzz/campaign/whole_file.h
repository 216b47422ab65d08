#pragma once

#include <string>
#include <string_view>

#include "engine/result.h"

// Files that are whole at any moment, whatever kills the writer. Errors name the file.
namespace assay::fuzz {

// What went wrong last in the system, with the file.
Error trouble(const std::string& path);
// Writes the file, which has its place only once it is complete.
Result<bool> replace_file(const std::string& path, std::string_view text);
// One write to the end of the file at `path` that was opened for that.
Result<bool> append(int file, const std::string& path, std::string_view text);

}  // namespace assay::fuzz
