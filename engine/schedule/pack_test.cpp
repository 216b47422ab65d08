#include "engine/schedule/pack.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

namespace assay::schedule {
namespace {

// The spans that share a position and overlap, or the height that is wrong.
std::string trouble(const std::vector<Span>& spans, const Packing& p) {
  int64_t height = 0;
  for (size_t i = 0; i < spans.size(); i++) {
    if (p.offsets[i] < 0) return "a negative offset";
    if (spans[i].size > 0) height = std::max(height, p.offsets[i] + spans[i].size);
    for (size_t j = 0; j < i; j++) {
      const bool meet = spans[i].begin < spans[j].end && spans[j].begin < spans[i].end;
      const bool overlap = p.offsets[i] < p.offsets[j] + spans[j].size &&
                           p.offsets[j] < p.offsets[i] + spans[i].size;
      const bool is_empty = spans[i].size == 0 || spans[j].size == 0;
      if (meet && overlap && !is_empty) return "overlap";
    }
  }
  return height == p.height ? "" : "another height";
}

TEST(Pack, NothingTakesNothing) {
  EXPECT_EQ(pack({}).height, 0);
  EXPECT_EQ(pack(std::vector<Span>{{0, 4, 0}, {2, 5, 0}}).height, 0);
}

TEST(Pack, OneAfterTheOtherTakesTheLargest) {
  const std::vector<Span> spans = {{0, 1, 3}, {1, 2, 8}, {2, 3, 5}};
  const Packing p = pack(spans);
  EXPECT_EQ(p.height, 8);
  EXPECT_EQ(trouble(spans, p), "");
}

TEST(Pack, AHoleIsLeftForWhatComesLater) {
  // An allocator puts the second 1 on top of the first and has no room for 4 in one piece.
  const std::vector<Span> spans = {{0, 2, 2}, {1, 6, 1}, {2, 4, 3}, {5, 8, 4}, {0, 1, 2}};
  const Packing p = pack(spans);
  EXPECT_EQ(p.height, lowest_height(spans));
  EXPECT_EQ(trouble(spans, p), "");
}

TEST(PackLaw, SpansThatMeetDoNotOverlap) {
  EXPECT_TRUE(rc::check([] {
    const auto spans = *rc::gen::container<std::vector<Span>>(rc::gen::map(
        rc::gen::tuple(rc::gen::inRange(0, 30), rc::gen::inRange(1, 12), rc::gen::inRange(0, 9)),
        [](std::tuple<int, int, int> t) {
          const auto& [begin, length, size] = t;
          return Span{begin, begin + length, size};
        }));
    const Packing p = pack(spans);
    RC_ASSERT(trouble(spans, p) == "");
    RC_ASSERT(p.height >= lowest_height(spans));
    RC_ASSERT(pack(spans).offsets == p.offsets);
  }));
}

TEST(PackLaw, TheLowestHeightIsTheMostAtOnePosition) {
  EXPECT_TRUE(rc::check([] {
    const auto numbers = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 10));
    std::vector<Span> spans;
    for (size_t i = 0; i + 2 < numbers.size(); i += 3) {
      spans.push_back({numbers[i], numbers[i] + numbers[i + 1] + 1, numbers[i + 2]});
    }
    int64_t most = 0;
    for (int32_t t = 0; t < 21; t++) {
      int64_t now = 0;
      for (const Span& s : spans) now += s.begin <= t && t < s.end ? s.size : 0;
      most = std::max(most, now);
    }
    RC_ASSERT(lowest_height(spans) == most);
  }));
}

}  // namespace
}  // namespace assay::schedule
