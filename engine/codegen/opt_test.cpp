#include "engine/codegen/opt.h"

#include <gtest/gtest.h>

#include "engine/codegen/scheduled_sample.h"

namespace assay::codegen {
namespace {

std::string error_of(std::string_view text) {
  const Result<std::vector<Opt>> opts = opts_from_text(text);
  return opts.ok() ? "" : to_string(opts.error());
}

TEST(OptText, IsReadAsItIsPrinted) {
  for (const std::string_view text :
       {"NONE", "NOLOCALS", "LOCAL(0,8)", "GROUP(0,16) UPCAST(1,4) UNROLL(0,0)",
        "GROUPTOP(2,4) PADTO(10,32) SWAP(0,1) LOCAL(3,9223372036854775807)"}) {
    const Result<std::vector<Opt>> opts = opts_from_text(text);
    ASSERT_TRUE(opts.ok()) << to_string(opts.error());
    EXPECT_EQ(to_text(opts.value()), text);
  }
}

TEST(OptText, HasAnErrorForAllElse) {
  EXPECT_EQ(error_of(""), "1:1: expected an opt");
  EXPECT_EQ(error_of("LOCAL(0,8) "), "1:12: expected an opt");
  EXPECT_EQ(error_of("LOCAL(0,8)  UPCAST(0,4)"), "1:12: expected an opt");
  EXPECT_EQ(error_of("NONE LOCAL(0,8)"), "1:1: there is no opt 'NONE'");
  EXPECT_EQ(error_of("LOCAL(0,8) TILE(0,8)"), "1:12: there is no opt 'TILE'");
  EXPECT_EQ(error_of("local(0,8)"), "1:1: expected an opt");
  EXPECT_EQ(error_of("LOCAL"), "1:6: expected ( after LOCAL");
  EXPECT_EQ(error_of("LOCAL(0)"), "1:8: expected ,");
  EXPECT_EQ(error_of("LOCAL(-1,8)"), "1:7: expected a number that is not negative");
  EXPECT_EQ(error_of("LOCAL(0,9223372036854775808)"),
            "1:9: expected a number that is not negative");
  EXPECT_EQ(error_of("LOCAL(0,8"), "1:10: expected )");
  EXPECT_EQ(error_of("LOCAL(0,8)UPCAST(0,4)"), "1:11: expected a blank after LOCAL");
  EXPECT_EQ(error_of("NOLOCALS()"), "1:9: expected a blank after NOLOCALS");
  EXPECT_EQ(error_of("TC(0,0)"), "1:1: opt TC is not in this engine yet");
}

TEST(OptText, StandsBesideTheNameOfAKernel) {
  uop::Graph g;
  ScheduledSample k{g};
  const uop::Ref r = k.loop(8);
  const uop::Ref bare = k.kernel("E_8", {k.end(k.at(0, 8, "r0"), k.at(1, 8, "r0"), {r})});
  EXPECT_EQ(kernel_name(bare).name, "E_8");
  EXPECT_EQ(kernel_name(bare).opts, std::nullopt);

  const Opt opts[] = {{OptKind::Local, 0, 4}, {OptKind::Upcast, 0, 2}};
  const uop::Ref listed = with_opts(g, bare, opts);
  EXPECT_EQ(kernel_name(listed).name, "E_8");
  EXPECT_EQ(kernel_name(listed).opts, "LOCAL(0,4) UPCAST(0,2)");
  EXPECT_EQ(kernel_name(with_opts(g, listed, {})).opts, "NONE");
}

}  // namespace
}  // namespace assay::codegen
