// Kernels in each form that stands between two passes (engine/codegen/README.md), written by hand:
// all forms of a kernel compute the same.
#include "engine/codegen/forms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "engine/uop/spec.h"
#include "engine/uop/text.h"
#include "engine/uop/walk.h"
#include "oracles/interpreter/lowered.h"

namespace assay::oracles {
namespace {

using interpreter::StepOrder;
using uop::Graph;
using uop::Ref;

std::filesystem::path folder() { return ASSAY_SOURCE_DIR "/oracles/interpreter/testdata/forms"; }

std::vector<std::string> kernels() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder()))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

// "0_scheduled.uop" and so on, by their numbers.
std::vector<std::filesystem::path> forms_of(const std::string& kernel) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder() / kernel))
    files.push_back(entry.path());
  const auto number = [](const std::filesystem::path& p) {
    return std::stoi(p.filename().string());
  };
  std::sort(files.begin(), files.end(),
            [&](const auto& a, const auto& b) { return number(a) < number(b); });
  return files;
}

std::string read(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

const uop::Spec* form(std::string_view name) {
  for (const uop::Spec* spec :
       {&codegen::scheduled_form(), &codegen::tiled_form(), &codegen::expanded_form(),
        &codegen::reduced_form(), &codegen::unstaged_form(), &codegen::placed_form(),
        &codegen::loads_form(), &codegen::scalar_form(), &codegen::vectors_form(),
        &codegen::lowered_form(), &codegen::gated_form()}) {
    if (spec->name == name) return spec;
  }
  return nullptr;
}

// Small integers, at the type.
void fill(std::span<std::byte> bytes, uop::DType t) {
  const auto width = static_cast<size_t>(uop::bytes_of(t));
  for (size_t i = 0; i * width < bytes.size(); ++i) {
    const uint64_t bits = uop::of_int(t, static_cast<int64_t>(i * 7 % 13) - 4).bits;
    std::memcpy(&bytes[i * width], &bits, width);
  }
}

// Storage for the parameters of a kernel, by slot.
struct Storage {
  std::vector<std::vector<std::byte>> bytes;
  std::vector<interpreter::Argument> arguments;

  Storage(Graph& g, Ref kernel) {
    for (const Ref u : uop::toposort(g, kernel)) {
      if (u->op != uop::Op::Param) continue;
      const auto slot = static_cast<size_t>(u->arg.number());
      const auto size = static_cast<int64_t>(u->src[0]->arg.bits);
      if (slot >= bytes.size()) {
        bytes.resize(slot + 1);
        arguments.resize(slot + 1);
      }
      bytes[slot].resize(static_cast<size_t>(size * uop::bytes_of(u->dtype)));
      fill(bytes[slot], u->dtype);
      arguments[slot] = {bytes[slot], u->dtype, size, true, u->arg.number()};
    }
  }
};

class Forms : public testing::TestWithParam<std::string> {};

TEST_P(Forms, ComputeTheSame) {
  std::vector<std::byte> wanted;
  for (const std::filesystem::path& path : forms_of(GetParam())) {
    SCOPED_TRACE(path.filename().string());
    Graph g;
    const auto parsed = uop::from_text(g, read(path));
    ASSERT_TRUE(parsed.ok()) << to_string(parsed.error());
    const Ref kernel = parsed.value().root;
    const uop::Spec* spec = form(parsed.value().stage);
    ASSERT_NE(spec, nullptr) << parsed.value().stage;
    EXPECT_EQ(uop::breach(*spec, g, kernel), std::nullopt);
    for (const StepOrder order : {StepOrder::FirstSourceFirst, StepOrder::LastSourceFirst}) {
      Storage storage(g, kernel);
      const auto ran = interpreter::run_kernel(g, kernel, storage.arguments, {}, order);
      ASSERT_TRUE(ran.ok()) << to_string(ran.error());
      if (wanted.empty()) wanted = storage.bytes[0];
      EXPECT_EQ(storage.bytes[0], wanted);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, Forms, testing::ValuesIn(kernels()),
                         [](const auto& p) { return p.param; });

}  // namespace
}  // namespace assay::oracles
