#include "fuzz/campaign/whole_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace assay::fuzz {

Error trouble(const std::string& path) {
  return Error{fmt::format("{}: {}", path, std::strerror(errno))};
}

Result<bool> replace_file(const std::string& path, std::string_view text) {
  const std::string half = path + ".part";
  std::ofstream out(half, std::ios::binary);
  out << text;
  out.close();
  if (!out) return Error{fmt::format("{} cannot be written", half)};
  std::error_code error;
  std::filesystem::rename(half, path, error);
  if (error) return Error{fmt::format("{}: {}", path, error.message())};
  return true;
}

Result<bool> append(int file, const std::string& path, std::string_view text) {
  const ssize_t written = ::write(file, text.data(), text.size());
  if (written == static_cast<ssize_t>(text.size())) return true;
  if (written >= 0) errno = ENOSPC;
  return trouble(path);
}

}  // namespace assay::fuzz
