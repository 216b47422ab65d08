#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "engine/tensor/program/text.h"

// The programs of corpus/, for tests.
namespace assay::fuzz {

inline std::filesystem::path corpus_folder(std::string_view folder) {
  return std::filesystem::path(ASSAY_CORPUS) / folder;
}

inline std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The names of a folder's programs, in order.
inline std::vector<std::string> saved_programs(std::string_view folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(corpus_folder(folder))) {
    if (entry.path().extension() == ".tp") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

inline std::string saved_text(std::string_view folder, const std::string& name) {
  return file_text(corpus_folder(folder) / (name + ".tp"));
}

inline tensor::Program saved_program(std::string_view folder, const std::string& name) {
  Result<tensor::Program> program = tensor::from_text(saved_text(folder, name));
  EXPECT_TRUE(program.ok()) << name << ": " << to_string(program.error());
  return program.ok() ? std::move(program).value() : tensor::Program();
}

}  // namespace assay::fuzz
