// The programs whose kernel counts another compiler's are known of: corpus/seeds/program/*.tp, each
// with a line "# kernels: N". Ours are none larger.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/schedule/kernel_graph.h"
#include "engine/schedule/kernel_text.h"
#include "engine/schedule/seed_program.h"

namespace assay::schedule {
namespace {

constexpr std::string_view kMark = "# kernels: ";

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(ASSAY_SOURCE_DIR "/corpus/seeds/program")) {
    const std::string name = entry.path().stem().string();
    if (seed_text(name).find(kMark) != std::string::npos) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

class ProgramKernels : public testing::TestWithParam<std::string> {};

TEST_P(ProgramKernels, AreNoMoreThanThePeers) {
  const std::string text = seed_text(GetParam());
  const size_t expected = std::stoul(text.substr(text.find(kMark) + kMark.size()));
  const Result<tensor::Program> program = tensor::from_text(text);
  ASSERT_TRUE(program.ok()) << to_string(program.error());
  Session session;
  const Result<Ref> body = seed_body(session, program.value());
  ASSERT_TRUE(body.ok()) << to_string(body.error());
  Graph& g = session.graph();
  uop::Run run(g);
  const Result<Ref> graph = get_kernel_graph(run, body.value(), uop::generic_target());
  ASSERT_TRUE(graph.ok()) << to_string(graph.error());
  EXPECT_LE(KernelText::count(g, graph.value()), expected) << KernelText::of(g, graph.value());
}

INSTANTIATE_TEST_SUITE_P(Peer, ProgramKernels, testing::ValuesIn(names()),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace assay::schedule
