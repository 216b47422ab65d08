#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "engine/codegen/pipeline.h"
#include "engine/schedule/schedule.h"
#include "engine/tensor/builder.h"
#include "engine/tensor/program/text.h"
#include "engine/tensor/session.h"
#include "engine/uop/walk.h"

// Programs compiled with somebody looking on, for tests.
namespace assay::props {

inline std::string corpus_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The files of a folder of corpus/, by name.
inline std::vector<std::filesystem::path> corpus_files(std::string_view folder,
                                                       std::string_view extension) {
  std::vector<std::filesystem::path> files;
  const auto root = std::filesystem::path(ASSAY_SOURCE_DIR) / "corpus" / folder;
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    if (entry.path().extension() == extension) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

// Schedules all that the program forces and lowers each kernel for the target. An error is that of
// whoever refused.
inline Result<bool> compile_text(const std::string& text, const uop::Target& target,
                                 uop::Watch* watch, const uop::Switches& switches = {}) {
  ASSAY_TRY(program, tensor::from_text(text));
  tensor::Session session;
  tensor::Builder builder(session, program);
  return builder.run([&](std::span<const tensor::Tensor* const> tensors) -> Result<bool> {
    const schedule::Options options = {.target = target, .switches = switches, .watch = watch};
    ASSAY_TRY(made, schedule::linear_with_vars(session, tensors, options));
    if (made.linear == nullptr) return true;
    for (const uop::Ref call : made.linear->src) {
      const auto nodes = uop::toposort(session.graph(), call->src[0]);
      const auto is_copy = [](uop::Ref u) { return u->op == uop::Op::Copy; };
      if (std::ranges::any_of(nodes, is_copy)) continue;
      uop::Run run(session.graph(), switches, watch, target);
      ASSAY_TRY(linear, codegen::lower(run, call->src[0]));
      (void)linear;
    }
    return true;
  });
}

}  // namespace assay::props
