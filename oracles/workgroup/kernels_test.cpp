// Every kernel of corpus/kernels, in every interleaving.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "oracles/workgroup/kernel_file.h"

namespace assay::workgroup {
namespace {

class Kernels : public testing::TestWithParam<std::string> {};

// What was found that need not be, and what was not that must.
std::string difference(const KernelFile& k, const Report& report) {
  std::set<std::string> missing(k.expected.begin(), k.expected.end());
  const std::set<std::string> allowed(k.allowed.begin(), k.allowed.end());
  std::string text;
  for (const Finding& f : report.findings) {
    const std::string found = brief(f);
    if (missing.erase(found) == 0 && allowed.count(found) == 0)
      text += fmt::format("not expected: {}: {}\n", found, f.text);
  }
  for (const std::string& one : missing) text += fmt::format("not found: {}\n", one);
  return text;
}

TEST_P(Kernels, HaveWhatIsExpectedInEveryInterleaving) {
  KernelFile k;
  read_kernel(GetParam(), k);
  ASSERT_EQ(k.trouble, "");
  for (const Schedule& schedule : interleavings()) {
    KernelArguments arguments = arguments_of(k);
    Options options;
    options.schedule = schedule;
    const auto report =
        execute(k.graph, k.linear, arguments.arguments, k.variables, k.launch, k.target, options);
    ASSERT_TRUE(report.ok()) << schedule.name << ": " << report.error().message;
    EXPECT_EQ(difference(k, report.value()), "") << schedule.name;
    for (const auto& [slot, numbers] : k.results)
      EXPECT_EQ(numbers_of(k, arguments, slot), numbers) << schedule.name << ", argument " << slot;
  }
}

// Names in files are what findings call nodes by.
TEST_P(Kernels, AreWrittenAsTheyArePrinted) {
  KernelFile k;
  read_kernel(GetParam(), k);
  ASSERT_EQ(k.trouble, "");
  std::string text = uop::to_text(k.graph, k.linear, "linear");
  KernelFile again;
  const auto parsed = uop::from_text(again.graph, text);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(k.text.substr(k.text.find("uop 1")), text);
}

INSTANTIATE_TEST_SUITE_P(Corpus, Kernels, testing::ValuesIn(kernel_names()),
                         [](const auto& kernel) { return kernel.param; });

TEST(Corpus, HoldsRacyAndSafeKernels) {
  size_t racy = 0;
  const std::vector<std::string> names = kernel_names();
  for (const std::string& name : names) {
    KernelFile k;
    read_kernel(name, k);
    if (!k.expected.empty()) racy++;
    EXPECT_TRUE(!k.expected.empty() || !k.results.empty()) << name << " expects nothing";
  }
  EXPECT_GE(racy, 30);
  EXPECT_GE(names.size() - racy, 30);
}

}  // namespace
}  // namespace assay::workgroup
