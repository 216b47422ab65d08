#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "oracles/workgroup/kernel_file.h"

// The files of corpus/kernels, for tests.
namespace assay::workgroup {

inline std::filesystem::path kernel_folder() { return ASSAY_SOURCE_DIR "/corpus/kernels"; }

inline std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(kernel_folder()))
    names.push_back(file.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

// The text of a kernel by name.
inline std::string kernel_text(const std::string& name) {
  std::ifstream file(kernel_folder() / (name + ".uop"));
  return {std::istreambuf_iterator<char>(file), {}};
}
inline void read_named(const std::string& name, KernelFile& k) {
  const Result<bool> read = read_kernel(kernel_text(name), k);
  ASSERT_TRUE(read.ok()) << name << ": " << to_string(read.error());
}

}  // namespace assay::workgroup
