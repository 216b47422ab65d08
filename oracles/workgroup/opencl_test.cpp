// The kernels of corpus/kernels as OpenCL C under Oclgrind: it finds what the machine finds.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "engine/render/opencl_runner.h"
#include "engine/render/renderer.h"
#include "oracles/workgroup/corpus_kernel.h"

namespace assay::workgroup {
namespace {

// Kernels of which Oclgrind says otherwise, and why.
const std::map<std::string, std::string, std::less<>>& skipped() {
  static const std::map<std::string, std::string, std::less<>> kernels = {
      {"aliased_arguments", "the runner gives each argument bytes of its own"},
      {"aliased_arguments_own_element_safe", "the runner gives each argument bytes of its own"},
      {"aliased_bytes", "the runner gives each argument bytes of its own"},
      {"tail_gate_off_by_one", "the renderer wants no variable before a PARAM, not even its size"},
      {"tail_gated_safe", "the renderer wants no variable before a PARAM, not even its size"},
      {"tail_not_gated", "the renderer wants no variable before a PARAM, not even its size"},
  };
  return kernels;
}

// What Oclgrind's log says where the machine finds a fault of this name.
std::string_view words_of(std::string_view fault) {
  if (fault == "race") return "data race";
  if (fault == "divergence") return "divergence";
  if (fault == "bounds") return "nvalid ";  // Invalid read, Invalid write
  return "";
}

class Oclgrind : public testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() { setenv("OCLGRIND_UNIFORM_WRITES", "1", 1); }
};

TEST_P(Oclgrind, FindsWhatIsExpected) {
  const auto skip = skipped().find(GetParam());
  if (skip != skipped().end()) GTEST_SKIP() << skip->second;
  KernelFile k;
  read_named(GetParam(), k);
  const auto source = render::render(k.graph, k.linear, k.target, "k");
  // A barrier in a branch is refused, since some drivers get it wrong, and so is a branch in one.
  if (!source.ok() && source.error().message.find("stands in an if") != std::string::npos)
    GTEST_SKIP() << source.error().message;
  ASSERT_TRUE(source.ok()) << source.error().message;
  KernelArguments arguments = arguments_of(k).value();
  std::vector<render::Launch> launches(1);
  launches[0].source = source.value();
  for (const std::vector<std::byte>& bytes : arguments.bytes) {
    const auto* first = reinterpret_cast<const uint8_t*>(bytes.data());
    launches[0].buffers.emplace_back(first, first + bytes.size());
  }
  for (const auto& [name, value] : k.variables)
    launches[0].variables.push_back(render::bytes_of<int32_t>({static_cast<int32_t>(value)}));
  const std::string log = render::run_all("Oclgrind", launches, render::Build::Quick);
  bool is_faulty = false;
  for (const std::string& expected : k.expected) {
    const std::string_view words = words_of(expected.substr(0, expected.find(' ')));
    is_faulty = is_faulty || !words.empty();
    EXPECT_NE(log.find(words), std::string::npos) << expected << " in the log: " << log;
  }
  if (is_faulty) return;
  EXPECT_EQ(log, "");
  for (size_t slot = 0; slot < arguments.bytes.size(); slot++) {
    const render::Bytes& bytes = launches[0].buffers[slot];
    std::memcpy(arguments.bytes[slot].data(), bytes.data(), bytes.size());
  }
  EXPECT_EQ(difference(k, arguments), "");
}

INSTANTIATE_TEST_SUITE_P(Corpus, Oclgrind, testing::ValuesIn(kernel_names()),
                         [](const auto& kernel) { return kernel.param; });

}  // namespace
}  // namespace assay::workgroup
