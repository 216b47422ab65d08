#include <gtest/gtest.h>

#include <cmath>

#include "oracles/interpreter/test_program.h"

namespace assay::interpreter {
namespace {

using Ints = std::vector<int32_t>;

// Two copies, one each way, of parts of buffers.
constexpr std::string_view kCopies = R"(
%a = device void {"sim:0"}
%b = device void {"sim:1"}
%n4 = const index 4
%n3 = const index 3
%n2 = const index 2
%one = const index 1
%zero = const index 0
%p0 = param i32 %n4 {0}
%p1 = param i32 %n3 {1}
%to = shrink i32 %p0 %one %n2
%from = shrink i32 %p1 %zero %n2
%c = copy i32 %from %b
%s = store void %to %c
%body = sink void %s {"copy"}
%b0 = buffer i32 %n4 %b {0 global}
%b1 = buffer i32 %n3 %a {1 global}
%call = call void %body %b0 %b1
%l = linear void %call
)";

TEST(Run, CopiesMovePartsOfBuffers) {
  TestProgram p(kCopies);
  p.set<int32_t>(0, {1, 2, 3, 4});
  p.set<int32_t>(1, {10, 20, 30});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.get<int32_t>(0), (Ints{1, 10, 20, 4}));
}

TEST(Run, ACopyPastTheEndIsAnError) {
  std::string text(kCopies);
  text.replace(text.find("%one %n2"), 8, "%n3 %n2");
  EXPECT_EQ(
      TestProgram(text).run(),
      "call 0: kernel 'copy': copies 2 elements from 3 of argument 0 (buffer 0), which holds 4");
}

// b[i] = a[i] + 1, then a[i] = b[i] * 2, over parameters of the enclosing call and an arena.
constexpr std::string_view kTwo = R"(
%d = device void {"sim:0"}
%n = const index 4
%bytes = const index 64
%size = const index 16
%at = const index 32
%r = range index %n {0 weak}
%p0 = param i32 %n {0}
%p1 = param i32 %n {1}
%i0 = index i32 %p0 %r
%i1 = index i32 %p1 %r
%one = const i32 1
%two = const i32 2
%plus = add i32 %i1 %one
%twice = mul i32 %i1 %two
%s0 = store void %i0 %plus
%s1 = store void %i0 %twice
%e0 = end void %s0 %r
%e1 = end void %s1 %r
%k0 = sink void %e0 {"plus"}
%k1 = sink void %e1 {"twice"}
%arena = buffer u8 %bytes %d {5 global}
%v = shrink u8 %arena %at %size
%w = bitcast i32 %v
%a = param i32 %n %d {0}
%c0 = call void %k0 %w %a
%c1 = call void %k1 %a %w
%l = linear void %c0 %c1 {"" 0 1 0}
%b = buffer i32 %n %d {7 global}
%out = call void %l %b
)";

TEST(Run, ParametersStandForTheArgumentsOfTheEnclosingCall) {
  TestProgram p(kTwo);
  p.set<int32_t>(7, {1, 2, 3, 4});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.get<int32_t>(7), (Ints{4, 6, 8, 10}));
  const std::vector<int32_t> arena = p.get<int32_t>(5);
  EXPECT_EQ(Ints(arena.begin() + 8, arena.begin() + 12), (Ints{2, 3, 4, 5}));
}

TEST(Run, TheOrderGivenIsTheOrderRun) {
  TestProgram p(kTwo);
  p.set<int32_t>(7, {1, 2, 3, 4});
  const int order[] = {1, 0};
  EXPECT_EQ(p.run({}, order), "");
  const auto poisoned = static_cast<int32_t>(0xA5A5A5A5U * 2);
  EXPECT_EQ(p.get<int32_t>(7), Ints(4, poisoned));
}

TEST(Run, AnOrderThatIsNoneIsAnError) {
  for (const std::vector<int>& order : {std::vector<int>{0}, {0, 0}, {0, 2}, {-1, 0}}) {
    EXPECT_EQ(TestProgram(kTwo).run({}, order), "the order does not name 2 calls once each");
  }
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string now(text);
  return now.replace(now.find(from), from.size(), to);
}

TEST(Run, ArgumentsThatDoNotFitTheirParametersAreErrors) {
  EXPECT_EQ(
      TestProgram(replaced(kTwo, "%c1 = call void %k1 %a %w", "%c1 = call void %k1 %a")).run(),
      "call 1: kernel 'twice': takes 2 arguments, given 1");
  EXPECT_EQ(TestProgram(replaced(kTwo, "%size = const index 16", "%size = const index 12")).run(),
            "call 0: kernel 'plus': argument 0 (buffer 5) is 3 i32, the parameter 4 i32");
  EXPECT_EQ(TestProgram(replaced(kTwo, "%b = buffer i32 %n", "%b = buffer f32 %n")).run(),
            "call 0: kernel 'plus': argument 1 (buffer 7) is 4 f32, the parameter 4 i32");
  EXPECT_EQ(TestProgram(replaced(kTwo, "%at = const index 32", "%at = const index 52")).run(),
            "a view of 16 from 52 of buffer 5, which holds 64");
}

TEST(Run, AFreshArenaIsPoisonOfTheTypeItIsReadAs) {
  TestProgram p(R"(
%d = device void {"sim:0"}
%n = const index 2
%bytes = const index 8
%at = const index 0
%r = range index %n {0 weak}
%p0 = param f32 %n {0}
%p1 = param f32 %n {1}
%i0 = index f32 %p0 %r
%i1 = index f32 %p1 %r
%s = store void %i0 %i1
%e = end void %s %r
%k = sink void %e {"read"}
%arena = buffer u8 %bytes %d {5 global}
%v = shrink u8 %arena %at %bytes
%w = bitcast f32 %v
%b = buffer f32 %n %d {7 global}
%c = call void %k %b %w
%l = linear void %c
)");
  p.set<float>(7, {1, 2});
  EXPECT_EQ(p.run(), "");
  for (const float x : p.get<float>(7)) EXPECT_TRUE(std::isnan(x));
}

TEST(Memory, FreshStorageIsPoison) {
  TestProgram p(R"(
%d = device void {"sim:0"}
%n = const index 3
%f = buffer f16 %n %d {0 global}
%i = buffer i16 %n %d {1 global}
%g = group void %f %i
)");
  EXPECT_EQ(p.get<uint16_t>(0), (std::vector<uint16_t>{0x7E00, 0x7E00, 0x7E00}));
  EXPECT_EQ(p.get<uint16_t>(1), (std::vector<uint16_t>{0xA5A5, 0xA5A5, 0xA5A5}));
  EXPECT_TRUE(p.memory.has(0));
  p.memory.drop(0);
  EXPECT_FALSE(p.memory.has(0));
}

}  // namespace
}  // namespace assay::interpreter
