#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "engine/schedule/schedule.h"
#include "engine/tensor/builder.h"
#include "engine/tensor/program/text.h"

// Schedules of the programs of corpus/, for tests and benchmarks.
namespace assay::props {

inline std::filesystem::path corpus_path(std::string_view folder) {
  return std::filesystem::path(ASSAY_SOURCE_DIR "/corpus") / folder;
}

inline std::vector<std::string> corpus_files(std::string_view folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(corpus_path(folder))) {
    if (entry.path().extension() == ".tp") names.push_back(entry.path().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

inline tensor::Program read_program(const std::string& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  Result<tensor::Program> program = tensor::from_text(text.str());
  EXPECT_TRUE(program.ok()) << file;
  return program.ok() ? std::move(program).value() : tensor::Program();
}

// Schedules all that the program forces, and runs nothing. The watch sees it.
inline void schedule_program(const tensor::Program& program, const schedule::Options& options) {
  tensor::Session session;
  tensor::Builder builder(session, program);
  const Result<bool> done =
      builder.run([&](std::span<const tensor::Tensor* const> tensors) -> Result<bool> {
        const auto made = schedule::linear_with_vars(session, tensors, options);
        if (!made.ok()) return made.error();
        return true;
      });
  static_cast<void>(done);  // a program may be one that is refused
}

}  // namespace assay::props
