#include "engine/schedule/function.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "engine/uop/text.h"

namespace assay::schedule {
namespace {

// The root of a tensor graph in .uop text, its functions resolved.
std::string resolved(std::string_view text) {
  Graph g;
  const Result<uop::Parsed> parsed = uop::from_text(g, text);
  EXPECT_TRUE(parsed.ok()) << to_string(parsed.error());
  const Result<Ref> made = resolve_functions(g, parsed.value().root);
  return made.ok() ? uop::to_text(g, made.value(), "tensor") : made.error().message;
}

constexpr std::string_view kTwice =
    "uop 1 tensor\n%n = const index 3\n%p = param f32 %n {0}\n%two = const f32 2.0\n"
    "%body = mul f32 %p %two\n%x = buffer f32 %n {0 global}\n";

TEST(ResolveFunction, PutsTheArgumentInThePlaceOfItsSlot) {
  EXPECT_EQ(
      resolved(fmt::format("{}%c = call f32 %body %x {{\"twice\"}}\n%y = neg f32 %c\n", kTwice)),
      "uop 1 tensor\n%0 = const index 3\n%1 = buffer f32 %0 {0 global}\n%2 = const f32 2.0\n"
      "%3 = mul f32 %1 %2\n%4 = neg f32 %3\n");
}

TEST(ResolveFunction, ResolvesInnerFunctionsInTheirOwnScope) {
  // The inner function's slot 0 is the outer one's result, not its argument.
  EXPECT_EQ(resolved(fmt::format("{}%c = call f32 %body %x {{\"twice\"}}\n"
                                 "%d = call f32 %body %c {{\"twice\"}}\n",
                                 kTwice)),
            "uop 1 tensor\n%0 = const index 3\n%1 = buffer f32 %0 {0 global}\n%2 = const f32 2.0\n"
            "%3 = mul f32 %1 %2\n%4 = mul f32 %3 %2\n");
}

TEST(ResolveFunction, LeavesWhatIsCompiled) {
  constexpr std::string_view kText =
      "uop 1 tensor\n%0 = const index 3\n%1 = param f32 %0 {0}\n%2 = sink void {\"k\"}\n"
      "%3 = call void %2 %1 {\"\"}\n%4 = after f32 %1 %3\n";
  EXPECT_EQ(resolved(kText), kText);
}

TEST(ResolveFunction, NamesTheSlotThatDoesNotFit) {
  EXPECT_EQ(resolved(fmt::format("{}%c = call f32 %body {{\"twice\"}}\n", kTwice)),
            "function 'twice' takes slot 0, given 0 arguments");
  EXPECT_EQ(resolved(fmt::format("{}%i = buffer i32 %n {{1 global}}\n"
                                 "%c = call f32 %body %i {{\"twice\"}}\n",
                                 kTwice)),
            "slot 0 of function 'twice' takes f32, given i32");
  EXPECT_EQ(resolved(fmt::format("{}%m = const index 4\n%i = buffer f32 %m {{1 global}}\n"
                                 "%c = call f32 %body %i {{\"twice\"}}\n",
                                 kTwice)),
            "slot 0 of function 'twice' takes shape [3], given [4]");
}

TEST(ResolveFunction, AsksForTheLargestSymbolicShape) {
  EXPECT_EQ(resolved(fmt::format("{}%v = var index {{\"n\" 1 3}}\n%i = buffer f32 %v {{1 global}}\n"
                                 "%c = call f32 %body %i {{\"twice\"}}\n",
                                 kTwice)),
            "uop 1 tensor\n%0 = var index {\"n\" 1 3}\n%1 = buffer f32 %0 {1 global}\n"
            "%2 = const f32 2.0\n%3 = mul f32 %1 %2\n");
}

}  // namespace
}  // namespace assay::schedule
