// The files of corpus/kernels: each fault that one expects is refuted, and nothing else is.
#include <gtest/gtest.h>

#include <string>

#include "oracles/workgroup/corpus_kernel.h"
#include "props/kernel/kernel_props.h"

namespace assay::props {
namespace {

class CorpusKernels : public testing::TestWithParam<std::string> {};

TEST_P(CorpusKernels, AreJudgedAsTheMachineFindsThem) {
  workgroup::KernelFile file;
  workgroup::read_named(GetParam(), file);
  smt::Prover prover;
  Context context = {prover, file.target};
  const Result<KernelFileChecked> checked = check_kernel_file(file, context);
  ASSERT_TRUE(checked.ok()) << to_string(checked.error());
  EXPECT_EQ(checked.value().difference, "");
}

INSTANTIATE_TEST_SUITE_P(Corpus, CorpusKernels, testing::ValuesIn(workgroup::kernel_names()),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace assay::props
