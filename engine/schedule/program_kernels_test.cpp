// The programs whose kernel counts another compiler's are known of: corpus/seeds/program/*.tp, each
// with a line "# kernels: N". Ours are none larger.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "engine/schedule/call.h"
#include "engine/schedule/kernel_graph.h"
#include "engine/schedule/kernel_text.h"
#include "engine/tensor/builder.h"
#include "engine/tensor/program/text.h"

namespace assay::schedule {
namespace {

const std::filesystem::path kPrograms = ASSAY_SOURCE_DIR "/corpus/seeds/program";

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kPrograms)) {
    if (text_of(entry.path()).find("# kernels: ") == std::string::npos) continue;
    names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

// The body of the call that realizes what the program asks for.
Result<Ref> body_of(Session& session, const tensor::Program& program) {
  tensor::Builder builder(session, program);
  for (size_t k = 0; k < program.statements.size(); ++k) {
    const Result<bool> done = builder.step(k);
    if (!done.ok()) return done.error();
    // What no later statement names is dropped.
    if (k + 1 < program.statements.size()) builder.finish(k);
  }
  std::vector<const Tensor*> tensors;
  for (const tensor::Output& o : tensor::outputs(program)) {
    tensors.push_back(&builder.tensor(o.value));
  }
  return transform_to_call(session.graph(), pick_outputs(session, tensors).sink)->src[0];
}

class ProgramKernels : public testing::TestWithParam<std::string> {};

TEST_P(ProgramKernels, AreNoMoreThanThePeers) {
  const std::string text = text_of(kPrograms / (GetParam() + ".tp"));
  const size_t at = text.find("# kernels: ") + 11;
  const size_t expected = std::stoul(text.substr(at));
  const Result<tensor::Program> program = tensor::from_text(text);
  ASSERT_TRUE(program.ok()) << to_string(program.error());
  Session session;
  const Result<Ref> body = body_of(session, program.value());
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
