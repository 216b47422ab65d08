#include "engine/schedule/history.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

#include "engine/schedule/extension.h"
#include "engine/schedule/sample_history.h"

namespace assay::schedule {
namespace {

std::string text(std::span<const Dependency> dependencies) {
  std::string out;
  for (const Dependency& d : dependencies) {
    out += fmt::format("{}{} {} {}", out.empty() ? "" : ", ", d.from, to_text(d.kind), d.to);
  }
  return out;
}

std::string edges(const History& h) { return text(h.dependencies()); }

TEST(History, HoldsAReaderAgainstTheOneKernelThatOverwritesItsVersion) {  // B001
  History h;
  const int32_t x0 = h.start(0);
  const int32_t y0 = h.start(1);
  const int32_t doubles = h.kernel(std::vector{x0}, std::vector{x0});
  const int32_t x1 = h.version(x0, std::vector{doubles});
  const int32_t adds = h.kernel(std::vector{x1}, std::vector{x1});
  h.version(x1, std::vector{adds});
  const int32_t reader = h.kernel(std::vector{y0}, std::vector{x0});
  h.version(y0, std::vector{reader});
  EXPECT_EQ(edges(h), "0 RAW 1, 2 WAR 0");
}

TEST(History, JoinedKernelsAreNotHeldAgainstEachOther) {
  History h;
  const int32_t a0 = h.start(0);
  const int32_t b0 = h.start(1);
  const int32_t left = h.kernel(std::vector{a0}, {});
  const int32_t right = h.kernel(std::vector{a0}, {});
  const int32_t a1 = h.version(a0, std::vector{left, right});
  const int32_t reader = h.kernel(std::vector{b0}, std::vector{a1});
  h.version(b0, std::vector{reader});
  EXPECT_EQ(edges(h), "0 RAW 2, 1 RAW 2");
}

TEST(History, AJoinMemberThatIsInThePriorVersionIsNoNewWriter) {
  History h;
  const int32_t a0 = h.start(0);
  const int32_t b0 = h.start(1);
  const int32_t first = h.kernel(std::vector{a0}, {});
  const int32_t a1 = h.version(a0, std::vector{first});
  const int32_t a2 = h.version(a1, std::vector{h.kernel(std::vector{a1}, {})});
  const int32_t reader = h.kernel(std::vector{b0}, std::vector{a2});
  const int32_t third = h.kernel(std::vector{a2}, {});
  const int32_t a3 = h.version(a2, std::vector{first, third});
  EXPECT_EQ(h.writers(a3).size(), 1U);
  h.version(b0, std::vector{reader});
  EXPECT_EQ(edges(h), "0 RAW 1, 1 RAW 2, 1 RAW 3, 2 WAR 3");
}

TEST(History, ANewWriterThatDidNotTakeThePriorVersionComesAfterItsMakers) {
  History h;
  const int32_t a0 = h.start(0);
  const int32_t left = h.kernel(std::vector{a0}, {});
  const int32_t right = h.kernel(std::vector{a0}, {});
  const int32_t a1 = h.version(a0, std::vector{left});
  h.version(a1, std::vector{right});
  EXPECT_EQ(edges(h), "0 WAW 1");
}

TEST(History, NestedJoinsAreUnited) {  // B003
  History h;
  const int32_t a0 = h.start(0);
  const int32_t b0 = h.start(1);
  const int32_t k[] = {h.kernel(std::vector{a0}, {}), h.kernel(std::vector{a0}, {}),
                       h.kernel(std::vector{a0}, {})};
  const int32_t one = h.version(a0, std::vector{k[0]});
  const int32_t two = h.version(one, std::vector{k[1]});
  const int32_t all = h.version(a0, std::vector{k[2]}, std::vector{two});
  const int32_t reader = h.kernel(std::vector{b0}, std::vector{all});
  EXPECT_EQ(h.writers(all).size(), 3U);
  EXPECT_EQ(reader, 3);
  EXPECT_EQ(edges(h), "0 WAW 1, 0 RAW 3, 1 RAW 3, 2 RAW 3");
}

TEST(History, WhatOnlyOrdersHoldsWritersAndReaders) {  // B003
  History h;
  const int32_t a0 = h.start(0);
  const int32_t b0 = h.start(1);
  const int32_t c0 = h.start(2);
  const int32_t writes_b = h.kernel(std::vector{b0}, {});
  h.version(b0, std::vector{writes_b});
  const int32_t writes_a = h.kernel(std::vector{a0}, {});
  const int32_t a1 = h.version(a0, std::vector{writes_a}, {}, std::vector{writes_b});
  const int32_t reads_a0 =
      h.kernel(std::vector{c0}, std::vector{h.version(a0, {}, {}, std::vector{writes_b})});
  h.kernel(std::vector{c0}, std::vector{a1});
  EXPECT_EQ(reads_a0, 2);
  EXPECT_EQ(edges(h), "0 RAW 1, 0 RAW 2, 1 RAW 3, 2 WAR 1");
}

TEST(History, AKernelThatNeedsTwoVersionsIsInACircleOfItsOwnMaking) {  // B010
  History h;
  const int32_t a0 = h.start(0);
  const int32_t b0 = h.start(1);
  const int32_t writes = h.kernel(std::vector{a0}, {});
  const int32_t a1 = h.version(a0, std::vector{writes});
  const int32_t both = h.kernel(std::vector{b0}, std::vector{a0, a1});
  h.version(b0, std::vector{both});
  const Extension e = linear_extension(h.kernels(), h.dependencies());
  ASSERT_EQ(e.circles.size(), 1U);
  EXPECT_EQ(text(e.circles[0]), "0 RAW 1, 1 WAR 0");
  EXPECT_EQ(e.circles[0][1].version, a0);
}

TEST(History, CirclesAreFoundEachOnceAndShort) {  // B010, twice
  History h;
  std::vector<int32_t> start;
  for (int32_t b = 0; b < 4; b++) start.push_back(h.start(b));
  for (const int32_t b : {0, 2}) {
    const auto x = start[static_cast<size_t>(b)];
    const auto y = start[static_cast<size_t>(b) + 1];
    h.version(x, std::vector{h.kernel(std::vector{x}, std::vector{x, y})});
    h.version(y, std::vector{h.kernel(std::vector{y}, std::vector{x, y})});
  }
  const Extension e = linear_extension(h.kernels(), h.dependencies());
  ASSERT_EQ(e.circles.size(), 2U);
  EXPECT_EQ(text(e.circles[0]), "0 WAR 1, 1 WAR 0");
  EXPECT_EQ(text(e.circles[1]), "2 WAR 3, 3 WAR 2");
}

TEST(History, AnOrderThatIsRightStays) {
  History h;
  for (int32_t b = 0; b < 5; b++) {
    const int32_t v = h.start(b);
    h.version(v, std::vector{h.kernel(std::vector{v}, {})});
  }
  const Extension e = linear_extension(h.kernels(), h.dependencies());
  EXPECT_EQ(e.order, (std::vector<int32_t>{0, 1, 2, 3, 4}));
}

Choices drawn_choices(size_t most) {
  return Choices(*rc::gen::resize(
      static_cast<int>(most),
      rc::gen::container<std::vector<uint32_t>>(rc::gen::inRange<uint32_t>(0, 1 << 16))));
}

// Whether some order of the kernels gives every version its value.
bool some_order_is_right(const SampleHistory& s) {
  bool found = false;
  each_extension(s.history.kernels(), {}, [&](std::span<const int32_t> order) {
    found = !s.trouble(order).has_value();
    return !found;
  });
  return found;
}

TEST(HistoryLaw, EveryExtensionGivesEachReaderItsVersion) {
  int circular = 0;
  EXPECT_TRUE(rc::check([&] {
    Choices choose = drawn_choices(60);
    const int32_t kernels = 1 + choose.below(6);
    const int32_t buffers = 1 + choose.below(3);
    const auto writes = static_cast<Writes>(choose.below(3));
    const SampleHistory s = sample_history(choose, kernels, buffers, writes);
    const auto dependencies = s.history.dependencies();
    if (!linear_extension(kernels, dependencies).circles.empty()) {
      circular++;
      if (writes == Writes::InPlace) RC_ASSERT(!some_order_is_right(s));
      return;
    }
    each_extension(kernels, dependencies, [&](std::span<const int32_t> order) {
      const auto trouble = s.trouble(order);
      if (trouble) RC_FAIL(*trouble);
      return true;
    });
  }));
  EXPECT_GT(circular, 0);
}

// Whether the dependency follows from the others.
bool is_implied(int32_t kernels, std::vector<Dependency> rest, const Dependency& d) {
  std::vector<char> reached(static_cast<size_t>(kernels));
  reached[static_cast<size_t>(d.from)] = 1;
  for (int32_t round = 0; round < kernels; round++) {
    for (const Dependency& e : rest) {
      if (reached[static_cast<size_t>(e.from)] != 0) reached[static_cast<size_t>(e.to)] = 1;
    }
  }
  return reached[static_cast<size_t>(d.to)] != 0;
}

TEST(HistoryLaw, WhereAllIsReadADependencyThatNoOtherImpliesIsNeeded) {
  EXPECT_TRUE(rc::check([] {
    Choices choose = drawn_choices(60);
    const int32_t kernels = 2 + choose.below(4);
    const SampleHistory s = sample_history(choose, kernels, 1 + choose.below(3), Writes::InPlace);
    const auto dependencies = s.history.dependencies();
    if (!linear_extension(kernels, dependencies).circles.empty()) return;
    for (size_t i = 0; i < dependencies.size(); i++) {
      std::vector<Dependency> rest = dependencies;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
      if (is_implied(kernels, rest, dependencies[i])) continue;
      bool fails = false;
      each_extension(kernels, rest, [&](std::span<const int32_t> order) {
        fails = s.trouble(order).has_value();
        return !fails;
      });
      if (!fails)
        RC_FAIL(text(dependencies) + ": not needed is " + text(std::span(&dependencies[i], 1)));
    }
  }));
}

TEST(HistoryLaw, SampledExtensionsOfLongHistoriesAreRight) {
  int circular = 0;
  for (uint64_t seed = 0; seed < 200; seed++) {
    Choices choose(numbers_of(seed, 4000));
    const SampleHistory s = sample_history(choose, 60, 12, static_cast<Writes>(seed % 3), 200);
    const auto dependencies = s.history.dependencies();
    const Extension e = linear_extension(60, dependencies);
    if (!e.circles.empty()) {
      circular++;
      continue;
    }
    EXPECT_EQ(s.trouble(e.order).value_or(""), "") << seed;
    for (int i = 0; i < 10; i++) {
      EXPECT_EQ(s.trouble(draw_extension(choose, 60, dependencies)).value_or(""), "") << seed;
    }
  }
  EXPECT_LT(circular, 100);
}

TEST(HistoryLaw, CirclesAreOfDependenciesAndTakingTheirReadersAwayLeavesNone) {
  int circular = 0;
  for (uint64_t seed = 0; seed < 300; seed++) {
    Choices choose(numbers_of(seed, 1000));
    const SampleHistory s = sample_history(choose, 12, 3, Writes::Any);
    std::vector<Dependency> rest = s.history.dependencies();
    const Extension e = linear_extension(12, rest);
    circular += e.circles.empty() ? 0 : 1;
    for (const Circle& circle : e.circles) {
      const Dependency* broken = nullptr;
      for (size_t i = 0; i < circle.size(); i++) {
        EXPECT_EQ(circle[i].to, circle[(i + 1) % circle.size()].from);
        const bool is_one = std::any_of(rest.begin(), rest.end(), [&](const Dependency& d) {
          return d.from == circle[i].from && d.to == circle[i].to && d.kind == circle[i].kind;
        });
        EXPECT_TRUE(is_one) << text(circle);
        if (broken == nullptr && circle[i].kind == EdgeKind::War) broken = &circle[i];
      }
      ASSERT_NE(broken, nullptr) << text(circle);
      std::erase_if(rest, [&](const Dependency& d) {
        return d.kind == EdgeKind::War && d.from == broken->from && d.version == broken->version;
      });
    }
    EXPECT_TRUE(linear_extension(12, rest).circles.empty()) << seed;
  }
  EXPECT_GT(circular, 10);
}

}  // namespace
}  // namespace assay::schedule
