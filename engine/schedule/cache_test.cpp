#include "engine/schedule/cache.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/schedule/order.h"
#include "engine/schedule/sample_graph.h"
#include "engine/uop/key.h"
#include "engine/uop/watch.h"

namespace assay::schedule {
namespace {

using Compilation = uop::Run;  // within a TEST, Run is a function of GoogleTest

class Looking : public uop::Watch {
 public:
  using uop::Watch::seen;
  bool edits() const override { return may_edit; }
  void seen(const CacheSeen& seen) override {
    lookups +=
        fmt::format("{} {}/{}/{};", to_text(seen.lookup), seen.hits, seen.misses, seen.skipped);
  }
  bool may_edit = false;
  std::string lookups;
};

// A session of its own that asks for a schedule.
class Asking : public SampleGraph {
 public:
  // x := fill; y := sum(x, z), all parameters but the buffer x.
  Ref program(int64_t first_slot, int64_t count = 4) {
    const Ref x = buffer(4);
    const Ref y = param(first_slot, count);
    const Ref z = param(first_slot + 1, count);
    const Ref x1 = after(x, {writes("fill", {x})});
    return sink({after(y, {writes("sum", {y, x1, z})})});
  }
  // The key of the LINEAR.
  std::string ask(Cache* cache, Ref what, uop::Switches switches = {},
                  const uop::Target& target = uop::generic_target()) {
    Compilation run(g, std::move(switches), &watch);
    const auto linear = lower_sink_to_linear(run, cache, target, what, [&](Ref canonical) {
      lowered++;
      return create_schedule(g, canonical);
    });
    return linear.ok() ? uop::to_text(uop::key(g, linear.value())) : linear.error().message;
  }

  Looking watch;
  int lowered = 0;
};

// Programs without CALLs, as a session makes them: renumbered.
Ref tensors(Asking& a, int64_t slot, int32_t range) {
  const Ref r = a.range(range, 4);
  const Ref iota = a.g.make(uop::Op::Stage, uop::Index, {r, r}, uop::Arg::place(0, {}));
  return a.sink({a.param(slot, 4), a.param(slot + 2, 4), iota});
}
Result<Ref> in_turn(Asking& a, Ref canonical) {
  const Ref x = canonical->src[0];
  const Ref y = canonical->src[1];
  const Ref calls[] = {a.writes("one", {x, y}), a.writes("two", {y, x})};
  return make_linear(a.g, calls, {{0, 1, EdgeKind::Raw}});
}

TEST(Cache, ASecondSessionGetsWhatTheFirstOneMade) {
  Cache cache;
  Asking one;
  Asking two;
  two.range(0, 9);  // other ids
  const std::string first = one.ask(&cache, one.program(0));
  EXPECT_EQ(two.ask(&cache, two.program(0)), first);
  EXPECT_EQ(one.lowered, 1);
  EXPECT_EQ(two.lowered, 0);
}

TEST(Cache, CountsAreShown) {
  Cache cache;
  Asking a;
  const Ref what = a.program(0);
  a.ask(&cache, what);
  a.ask(&cache, what);
  a.ask(nullptr, what);
  a.ask(&cache, what, {.off = {}, .limit = 5, .substitutes = {}});
  a.watch.may_edit = true;
  a.ask(&cache, what);
  EXPECT_EQ(a.watch.lookups, "miss 0/1/0;hit 1/1/0;off 0/0/0;limited 1/1/1;edited 1/1/2;");
  EXPECT_EQ(a.lowered, 4);
  EXPECT_EQ(cache.size(), 1U);
}

TEST(Cache, WhatChangesTheScheduleIsInTheKey) {
  Cache cache;
  Asking a;
  a.ask(&cache, a.program(0));
  uop::Target larger = uop::generic_target();
  larger.limits.buffers++;
  a.ask(&cache, a.sink({a.param(0, 4)}));
  a.ask(&cache, a.sink({a.param(0, 5)}));
  a.ask(&cache, a.sink({a.param(0, 4, uop::I32)}));
  a.ask(&cache, a.sink({a.param(0, 4, uop::F32, "sim:1")}));
  a.ask(&cache, a.sink({a.param(0, 4)}),
        {.off = {"fold.constants"}, .limit = uop::kNoLimit, .substitutes = {}});
  a.ask(&cache, a.sink({a.param(0, 4)}), {}, larger);
  EXPECT_EQ(cache.misses, 7U);
  EXPECT_EQ(cache.hits, 0U);
  EXPECT_EQ(cache.size(), 7U);
}

TEST(Cache, NumbersHandedOutDifferentlyAreOneProgram) {
  Cache cache;
  Asking a;
  std::vector<Ref> made;
  for (const auto& [slot, range] : {std::pair<int64_t, int32_t>{0, 0}, {5, 3}, {1, 7}}) {
    Compilation run(a.g, {}, &a.watch);
    const auto linear =
        lower_sink_to_linear(run, &cache, uop::generic_target(), tensors(a, slot, range),
                             [&](Ref canonical) { return in_turn(a, canonical); });
    ASSERT_TRUE(linear.ok());
    const Ref list = linear.value();
    EXPECT_EQ(brief(list), "one two; 0 RAW 1");
    EXPECT_EQ(list->src[0]->src[1], a.param(slot, 4));
    EXPECT_EQ(list->src[0]->src[2], a.param(slot + 2, 4));
    EXPECT_EQ(list->src[1]->src[1], a.param(slot + 2, 4));
    EXPECT_EQ(list->src[0]->src[0], a.sum_kernel("one", 1));  // kernels keep their own
  }
  EXPECT_EQ(a.watch.lookups, "miss 0/1/0;hit 1/1/0;hit 2/1/0;");
}

TEST(Cache, AnEntryOfAnotherStructureUnderTheKeyIsNotTaken) {
  Cache cache;
  Asking a;
  const Cache::Key key = {{1, 2}, {3, 4}, ""};
  const Ref calls[] = {a.writes("one", {a.param(0, 4)})};
  const Ref linear = make_linear(a.g, calls, {});
  cache.keep(a.g, a.sink({a.param(0, 4)}), key, linear);
  EXPECT_EQ(cache.find(a.g, a.sink({a.param(0, 4)}), key), linear);
  EXPECT_EQ(cache.find(a.g, a.sink({a.param(0, 5)}), key), nullptr);
}

TEST(Cache, ErrorsAreNotKept) {
  Cache cache;
  Asking a;
  const Ref p = a.param(0, 4);
  const Ref one = a.g.constant(uop::of_int(uop::F32, 1));
  const Ref bad = a.sink({a.after(p, {one})});
  EXPECT_EQ(a.ask(&cache, bad), "after takes const, expected a call or a state");
  EXPECT_EQ(a.ask(&cache, bad), "after takes const, expected a call or a state");
  EXPECT_EQ(cache.size(), 0U);
  EXPECT_EQ(cache.misses, 2U);
}

}  // namespace
}  // namespace assay::schedule
