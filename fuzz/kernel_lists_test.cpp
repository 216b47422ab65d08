// What every kernel of the saved programs is made of, with its count of barriers: one too many, or
// one too few, is a line that differs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
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

namespace assay::fuzz {
namespace {

namespace fs = std::filesystem;
using uop::Ref;

constexpr std::string_view kProfile = "adreno-660";

std::string text_of_file(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

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
  const std::vector<tensor::Output> outputs = tensor::outputs(program);
  std::string text;
  int count = 0;
  size_t next = 0;
  for (size_t k = 0; k <= program.statements.size(); ++k) {
    const bool is_end = k == program.statements.size();
    if (!is_end) {
      EXPECT_TRUE(builder.step(k).ok()) << name;
    }
    std::vector<const tensor::Tensor*> tensors;
    for (; next < outputs.size() && static_cast<size_t>(outputs[next].statement) == k; ++next)
      tensors.push_back(&builder.tensor(outputs[next].value));
    if (!tensors.empty()) {
      const auto made = schedule::linear_with_vars(session, tensors);
      EXPECT_TRUE(made.ok()) << name << ": " << to_string(made.error());
      const Ref linear = made.ok() ? made.value().linear : nullptr;
      for (size_t i = 0; linear != nullptr && i < linear->src.size(); ++i) {
        if (schedule::is_copy(linear->src[i])) continue;
        text += fmt::format("{} {}: {}\n", name, count++,
                            describe(session.graph(), linear->src[i]->src[0]));
      }
    }
    if (!is_end) builder.finish(k);
  }
  return text;
}

std::string lists_of(const fs::path& folder) {
  std::set<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".tp") paths.insert(entry.path());
  }
  std::string text;
  for (const fs::path& path : paths) {
    const auto program = tensor::from_text(text_of_file(path));
    EXPECT_TRUE(program.ok()) << path;
    if (program.ok()) text += kernels_of(path.stem().string(), program.value());
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
  const fs::path folder = fs::path(ASSAY_CORPUS) / GetParam();
  const std::string actual = lists_of(folder);
  const fs::path file = folder / "kernels.txt";
  if (std::getenv("ASSAY_WRITE_EXPECTED") != nullptr) std::ofstream(file) << actual;
  EXPECT_EQ(difference(text_of_file(file), actual), "") << file;
}

INSTANTIATE_TEST_SUITE_P(Corpus, KernelLists, testing::Values("seeds/program", "ops", "models"),
                         [](const auto& folder) {
                           return folder.param.substr(folder.param.find('/') + 1);
                         });

}  // namespace
}  // namespace assay::fuzz
