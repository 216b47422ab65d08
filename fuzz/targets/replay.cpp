// Shows saved cases to a fuzz target: every file named on the command line, and every file below a
// folder named there. Exit code: 0 when all were shown, 2 when one cannot be read or none is there.
// A breach aborts.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "fuzz/targets/target.h"

namespace {

namespace fs = std::filesystem;

// The files at or below `path`, in the order of their names.
std::vector<fs::path> files_at(const fs::path& path, std::error_code& trouble) {
  if (!fs::is_directory(path, trouble)) return {path};
  std::vector<fs::path> files;
  const fs::recursive_directory_iterator end;
  for (fs::recursive_directory_iterator i(path, trouble); !trouble && i != end;
       i.increment(trouble)) {
    std::error_code ignored;
    if (i->is_regular_file(ignored)) files.push_back(i->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool replay(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in.is_open() || in.bad()) return false;
  assay::fuzz::one_case(text);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  size_t shown = 0;
  for (const std::string& path : std::vector<std::string>(argv + 1, argv + argc)) {
    std::error_code trouble;
    for (const fs::path& file : files_at(path, trouble)) {
      if (!replay(file)) {
        fmt::print(stderr, "{} cannot be read\n", file.string());
        return 2;
      }
      shown++;
    }
    if (trouble) {
      fmt::print(stderr, "{} cannot be read: {}\n", path, trouble.message());
      return 2;
    }
  }
  fmt::print("replayed {} cases\n", shown);
  return shown == 0 ? 2 : 0;
}
