// The kernels of corpus/kernels as OpenCL C: Oclgrind finds what the machine finds, and PoCL
// computes what is expected of those without a fault.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <deque>

#include "engine/render/opencl_runner.h"
#include "engine/render/renderer.h"
#include "oracles/workgroup/corpus_kernel.h"

namespace assay::workgroup {
namespace {

using uop::Op;
using uop::Ref;

// What Oclgrind's log says where the machine finds a fault of this name.
std::string_view words_of(std::string_view fault) {
  if (fault == "race") return "data race";
  if (fault == "divergence") return "divergence";
  if (fault == "bounds") return "nvalid ";  // Invalid read, Invalid write
  return "";
}

// Whether a branch encloses more than stores and what they store.
bool has_branch_around_more(Ref linear) {
  bool in_branch = false;
  for (const Ref u : linear->src) {
    const bool is_more = u->op == Op::If || u->op == Op::Range || u->op == Op::Barrier;
    if (in_branch && is_more) return true;
    if (u->op == Op::If || u->op == Op::EndIf) in_branch = u->op == Op::If;
  }
  return false;
}

// A kernel of the corpus as text, with its arguments.
render::Launch launch_of(KernelFile& k, const KernelArguments& arguments, render::Source source) {
  render::Launch launch;
  launch.source = std::move(source);
  for (const std::vector<std::byte>& bytes : arguments.bytes) {
    const auto* first = reinterpret_cast<const uint8_t*>(bytes.data());
    launch.buffers.emplace_back(first, first + bytes.size());
  }
  for (const auto& [slot, alias] : k.aliases) {
    launch.aliases.push_back({static_cast<size_t>(slot), static_cast<size_t>(alias.slot),
                              static_cast<size_t>(alias.offset)});
  }
  for (const auto& [name, value] : k.variables)
    launch.variables.push_back(render::bytes_of<int32_t>({static_cast<int32_t>(value)}));
  return launch;
}

void expect_results(std::string_view name, KernelFile& k, KernelArguments& arguments,
                    const render::Launch& launch) {
  for (size_t slot = 0; slot < arguments.bytes.size(); slot++) {
    const render::Bytes& bytes = launch.buffers[slot];
    std::memcpy(arguments.bytes[slot].data(), bytes.data(), bytes.size());
  }
  EXPECT_EQ(difference(k, arguments), "") << name;
}

class Oclgrind : public testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() { setenv("OCLGRIND_UNIFORM_WRITES", "1", 1); }
};

TEST_P(Oclgrind, FindsWhatIsExpected) {
  KernelFile k;
  read_named(GetParam(), k);
  const auto source = render::render(k.graph, k.linear, k.target, "k");
  // Some drivers get a barrier in a branch wrong (B141): what a branch encloses beside stores has
  // no text.
  if (has_branch_around_more(k.linear)) {
    ASSERT_FALSE(source.ok());
    EXPECT_NE(source.error().message.find("stands in an if"), std::string::npos);
    return;
  }
  ASSERT_TRUE(source.ok()) << source.error().message;
  KernelArguments arguments = arguments_of(k).value();
  std::vector<render::Launch> launches = {launch_of(k, arguments, source.value())};
  const std::string log = render::run_all("Oclgrind", launches, render::Build::Quick);
  bool is_faulty = false;
  for (const std::string& expected : k.expected) {
    const std::string_view words = words_of(expected.substr(0, expected.find(' ')));
    is_faulty = is_faulty || !words.empty();
    EXPECT_NE(log.find(words), std::string::npos) << expected << " in the log: " << log;
  }
  if (is_faulty) return;
  EXPECT_EQ(log, "");
  expect_results(GetParam(), k, arguments, launches[0]);
}

// All kernels that have no fault, as one program.
TEST(Pocl, ComputesWhatIsExpectedOfSafeKernels) {
  const std::vector<std::string> names = kernel_names();
  std::vector<std::string> names_run;
  std::deque<KernelFile> kernels;
  std::vector<render::Launch> launches;
  for (const std::string& name : names) {
    KernelFile& k = kernels.emplace_back();
    read_named(name, k);
    auto source = render::render(k.graph, k.linear, k.target, fmt::format("k{}", launches.size()));
    if (!k.expected.empty() || !source.ok()) {
      kernels.pop_back();
      continue;
    }
    names_run.push_back(name);
    launches.push_back(launch_of(k, arguments_of(k).value(), std::move(source).value()));
  }
  EXPECT_GE(kernels.size(), 50);
  ASSERT_EQ(render::run_all("Portable", launches, render::Build::Quick), "");
  for (size_t i = 0; i < kernels.size(); i++) {
    KernelArguments arguments = arguments_of(kernels[i]).value();
    expect_results(names_run[i], kernels[i], arguments, launches[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, Oclgrind, testing::ValuesIn(kernel_names()),
                         [](const auto& kernel) { return kernel.param; });

}  // namespace
}  // namespace assay::workgroup
