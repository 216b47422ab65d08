// What every kernel of the saved programs is made of, with its count of barriers: one too many, or
// one too few, is a line that differs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "engine/codegen/opt.h"
#include "engine/codegen/pipeline.h"
#include "engine/runtime/profiles.h"
#include "engine/schedule/linear.h"
#include "engine/schedule/schedule.h"
#include "engine/tensor/builder.h"
#include "engine/tensor/program/text.h"
#include "fuzz/programs/saved_programs.h"

namespace assay::fuzz {
namespace {

using uop::Ref;

constexpr std::string_view kProfile = "adreno-660";

// "r_64_64 GROUP(0,16): 1 local, 1 barriers", or why the target has no such kernel.
std::string describe(uop::Graph& g, Ref kernel) {
  uop::Run run(g, {}, nullptr, *runtime::profile(kProfile));
  const Result<Ref> linear = codegen::lower(run, kernel);
  if (!linear.ok()) return "refused: " + linear.error().message;
  int locals = 0;
  int barriers = 0;
  for (const Ref u : linear.value()->src) {
    locals += u->op == uop::Op::Buffer && u->arg.addr_space() == uop::AddrSpace::Local ? 1 : 0;
    barriers += u->op == uop::Op::Barrier ? 1 : 0;
  }
  const codegen::KernelName name = codegen::kernel_name(linear.value());
  return fmt::format("{} {}: {} local, {} barriers", name.name, name.opts.value_or(""), locals,
                     barriers);
}

// A line for each kernel of a program, counted over all its schedules.
std::string kernels_of(const std::string& name, const tensor::Program& program) {
  tensor::Session session;
  tensor::Builder builder(session, program);
  std::string text;
  int count = 0;
  const auto add = [&](std::span<const tensor::Tensor* const> tensors) -> Result<bool> {
    ASSAY_TRY(made, schedule::linear_with_vars(session, tensors));
    for (size_t i = 0; made.linear != nullptr && i < made.linear->src.size(); ++i) {
      const Ref call = made.linear->src[i];
      if (schedule::is_copy(call)) continue;
      text += fmt::format("{} {}: {}\n", name, count++, describe(session.graph(), call->src[0]));
    }
    return true;
  };
  const Result<bool> ran = builder.run(add);
  EXPECT_TRUE(ran.ok()) << name << ": " << to_string(ran.error());
  return text;
}

std::string lists_of(std::string_view folder) {
  std::string text;
  for (const std::string& name : saved_programs(folder)) {
    text += kernels_of(name, saved_program(folder, name));
  }
  return text;
}

// Lines of one text alone, marked by whose they are.
std::string difference(const std::string& expected, const std::string& actual) {
  const auto lines = [](const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> all;
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  };
  const std::vector<std::string> a = lines(expected);
  const std::vector<std::string> b = lines(actual);
  std::string text;
  for (const std::string& line : a) {
    if (std::ranges::find(b, line) == b.end()) text += "expected " + line + "\n";
  }
  for (const std::string& line : b) {
    if (std::ranges::find(a, line) == a.end()) text += "     got " + line + "\n";
  }
  return text.empty() && expected != actual ? "lines in another order\n" : text;
}

class KernelLists : public testing::TestWithParam<std::string> {};

// Where ASSAY_WRITE_EXPECTED is set, what is expected becomes what is.
TEST_P(KernelLists, AreAsExpected) {
  const std::string actual = lists_of(GetParam());
  const std::filesystem::path file = corpus_folder(GetParam()) / "kernels.txt";
  if (std::getenv("ASSAY_WRITE_EXPECTED") != nullptr) std::ofstream(file) << actual;
  EXPECT_EQ(difference(file_text(file), actual), "") << file;
}

INSTANTIATE_TEST_SUITE_P(Corpus, KernelLists, testing::Values("seeds/program", "ops", "models"),
                         [](const auto& folder) {
                           return folder.param.substr(folder.param.find('/') + 1);
                         });

}  // namespace
}  // namespace assay::fuzz
