// Every kernel of corpus/kernels, in every interleaving.
#include <gtest/gtest.h>

#include "engine/uop/text.h"
#include "oracles/workgroup/corpus_kernel.h"

namespace assay::workgroup {
namespace {

class Kernels : public testing::TestWithParam<std::string> {};

TEST_P(Kernels, HaveWhatIsExpectedInEveryInterleaving) {
  KernelFile k;
  read_named(GetParam(), k);
  const Result<std::string> different = difference(k);
  ASSERT_TRUE(different.ok()) << different.error().message;
  EXPECT_EQ(different.value(), "");
}

// Names in files are what findings call nodes by.
TEST_P(Kernels, AreWrittenAsTheyArePrinted) {
  KernelFile k;
  read_named(GetParam(), k);
  const std::string written = kernel_text(GetParam());
  const std::string text = uop::to_text(k.graph, k.linear, "linear");
  KernelFile again;
  const auto parsed = uop::from_text(again.graph, text);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(written.substr(written.find("uop 1")), text);
}

INSTANTIATE_TEST_SUITE_P(Corpus, Kernels, testing::ValuesIn(kernel_names()),
                         [](const auto& kernel) { return kernel.param; });

TEST(Corpus, HoldsRacyAndSafeKernels) {
  size_t racy = 0;
  const std::vector<std::string> names = kernel_names();
  for (const std::string& name : names) {
    KernelFile k;
    read_named(name, k);
    if (!k.expected.empty()) racy++;
    EXPECT_TRUE(!k.expected.empty() || !k.results.empty()) << name << " expects nothing";
  }
  EXPECT_GE(racy, 30);
  EXPECT_GE(names.size() - racy, 30);
}

// A kernel whose comments say what does not hold, or nothing that can be read.
TEST(KernelFiles, AreJudgedByWhatTheySay) {
  const std::string racy = kernel_text("reverse_no_barrier");
  const std::string unsaid = racy.substr(racy.find("uop 1"));
  KernelFile bare;
  ASSERT_TRUE(read_kernel(unsaid, bare).ok());
  EXPECT_EQ(bare.launch, (Launch{{1, 1, 1}, {8, 1, 1}}));
  EXPECT_NE(difference(bare).value().find("not expected: race %9 %13"), std::string::npos);
  KernelFile wrong;
  ASSERT_TRUE(read_kernel("# Title\n# expect race %1 %2\n# out 0: 8\n" + unsaid, wrong).ok());
  EXPECT_NE(difference(wrong).value().find("not found: race %1 %2"), std::string::npos);
  EXPECT_NE(difference(wrong).value().find("argument 0 is "), std::string::npos);
  KernelFile unreadable;
  const Result<bool> read = read_kernel("# Title\n# exepct race %1 %2\n" + unsaid, unreadable);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(to_string(read.error()), "2: '# exepct race %1 %2' says nothing of a kernel");
}

}  // namespace
}  // namespace assay::workgroup
