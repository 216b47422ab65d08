#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/codegen/pipeline.h"
#include "engine/codegen/random_opts.h"
#include "engine/codegen/seen.h"
#include "engine/schedule/linear.h"
#include "engine/schedule/schedule.h"
#include "engine/tensor/builder.h"
#include "engine/tensor/program/text.h"
#include "engine/uop/watch.h"

// Kernels as the engine makes them of saved programs, for tests.
namespace assay::props {

using UseKernel = std::function<void(const codegen::KernelSeen& seen, const std::string& name)>;

// Gives each kernel a legal list of its own, or leaves it to the heuristic where the seed is 0, and
// hands on what became of it.
class KernelShower : public uop::Watch {
 public:
  KernelShower(const uop::Target& target, uint64_t seed, std::string name, const UseKernel& use)
      : target_(target), seed_(seed), random_(seed), name_(std::move(name)), use_(use) {}

  bool edits() const override { return seed_ != 0; }
  uop::Ref edit(std::string_view stage, uop::Graph& g, uop::Ref u) override {
    if (seed_ == 0 || stage != "simplify_ranges") return u;
    const auto opts = codegen::random_opts(g, target_, u, random_);
    return opts.ok() ? codegen::with_opts(g, u, opts.value()) : u;
  }
  using Watch::seen;
  void seen(const codegen::KernelSeen& seen) override {
    use_(seen, name_ + ":" + std::to_string(kernels_++));
  }

 private:
  const uop::Target& target_;
  const uint64_t seed_;
  uop::Random random_;
  const std::string name_;
  const UseKernel& use_;
  int kernels_ = 0;
};

inline std::vector<std::filesystem::path> program_files(std::span<const std::string_view> folders) {
  std::vector<std::filesystem::path> files;
  for (const std::string_view folder : folders) {
    const auto path = std::filesystem::path(ASSAY_SOURCE_DIR "/corpus") / folder;
    for (const auto& file : std::filesystem::directory_iterator(path)) {
      if (file.path().extension() == ".tp") files.push_back(file.path());
    }
  }
  std::ranges::sort(files);
  return files;
}

// Each kernel of a program, made for the target with lists of this seed.
inline void each_kernel(const std::filesystem::path& path, const uop::Target& target, uint64_t seed,
                        const UseKernel& use) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const Result<tensor::Program> program = tensor::from_text(text);
  ASSERT_TRUE(program.ok()) << path;
  tensor::Session session;
  tensor::Builder builder(session, program.value());
  KernelShower shower(target, seed, path.stem().string(), use);
  const auto made =
      builder.run([&](std::span<const tensor::Tensor* const> tensors) -> Result<bool> {
        ASSAY_TRY(scheduled, schedule::linear_with_vars(session, tensors));
        if (scheduled.linear == nullptr) return true;
        for (const uop::Ref call : scheduled.linear->src) {
          if (schedule::is_copy(call)) continue;
          uop::Run run(session.graph(), {}, &shower, target);
          // Kernels that the target has no types for are none.
          const Result<uop::Ref> linear = codegen::lower(run, call->src[0]);
          if (!linear.ok()) continue;
        }
        return true;
      });
  // What is to be refused makes no kernels.
  if (!made.ok()) return;
}

}  // namespace assay::props
