#include "engine/uop/target.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace assay::uop {
namespace {

TEST(Target, GenericIsWhatOpenCl12Promises) {
  const Target& t = generic_target();
  EXPECT_EQ(target_error(t), std::nullopt);
  EXPECT_EQ(ulp_limit(t, Op::Add, F32), 0);
  EXPECT_EQ(ulp_limit(t, Op::Fma, F32), 0);
  EXPECT_EQ(ulp_limit(t, Op::FDiv, F32), 2.5);
  EXPECT_EQ(ulp_limit(t, Op::Sqrt, F32), 3);
  EXPECT_EQ(ulp_limit(t, Op::Tan, F32), 5);
  EXPECT_EQ(ulp_limit(t, Op::Pow, F32), 16);
  EXPECT_EQ(ulp_limit(t, Op::Exp, F64), std::nullopt);
  EXPECT_EQ(ulp_limit(t, Op::Threefry, U64), std::nullopt);
  EXPECT_EQ(widths_of(t, F32).size(), 5U);
  EXPECT_TRUE(widths_of(t, Bool).empty());
  EXPECT_FALSE(t.arithmetic.has(F16));
  EXPECT_TRUE(t.storage.has(F16));
}

// Every scalar function of floats but casts and comparisons has a limit at f32, so a new operation
// asks for one.
TEST(Target, GenericLimitsEachFunctionOfFloats) {
  for (int i = 0; i < kOpCount; i++) {
    const OpInfo& row = info(Op(i));
    const bool function = is_scalar(row.op) && row.typing == Typing::Same && row.over.has(F32);
    EXPECT_EQ(ulp_limit(generic_target(), row.op, F32).has_value(), function) << row.text;
  }
}

TEST(Target, PrintsAllItSays) {
  const std::string head =
      "target generic\n"
      "group size 1\n"
      "item sizes 1 1 1\n"
      "global sizes 4294967295 4294967295 4294967295\n"
      "local bytes 32768\n"
      "buffers 128\n"
      "allocation bytes 134217728\n"
      "alignment 128\n"
      "arithmetic bool i8 u8 i16 u16 i32 u32 i64 u64 f32\n"
      "storage f16\n"
      "vectors of i8 u8 i16 u16 i32 u32 i64 u64 f16 f32: 2 3 4 8 16\n"
      "aligned vectors false\n"
      "ulps of neg at f32: 0\n";
  const std::string tail =
      "ulps of pow at f32: 16\n"
      "contracts false\n"
      "subnormals either\n"
      "native\n"
      "queues 1 compute 1 copy\n"
      "images false\n"
      "views true at 128\n"
      "sharding false\n"
      "tuned for items 128 busy 2048 share 16 lanes 4 tile 16\n"
      "items are lanes false\n"
      "local stores seen after barrier\n"
      "barrier reached by group\n"
      "barrier in branch uniform\n"
      "barrier in loop uniform\n";
  const std::string text = to_text(generic_target());
  EXPECT_EQ(text.substr(0, head.size()), head);
  EXPECT_EQ(text.substr(text.size() - tail.size()), tail);
}

struct Edit {
  const char* what;
  void (*edit)(Target&);
  const char* error;  // what target_error() says of the edited target, "" where it is sound
};

constexpr Edit kEdits[] = {
    {"name", [](Target& t) { t.name = "other"; }, ""},
    {"no name", [](Target& t) { t.name = ""; }, "a target has no name"},
    {"two names", [](Target& t) { t.name = "a b"; }, "target name \"a b\" holds white space"},
    {"group", [](Target& t) { t.limits.group_size = 256; }, ""},
    {"no group", [](Target& t) { t.limits.group_size = 0; },
     "group size is 0 when it is at least 1"},
    {"items", [](Target& t) { t.limits.item_sizes[2] = 64; }, ""},
    {"no items", [](Target& t) { t.limits.item_sizes[2] = 0; },
     "item size 2 is 0 when it is at least 1"},
    {"launch", [](Target& t) { t.limits.global_sizes[1] = 65535; }, ""},
    {"local", [](Target& t) { t.limits.local_bytes = 65536; }, ""},
    {"no local", [](Target& t) { t.limits.local_bytes = 0; }, ""},
    {"less than no local", [](Target& t) { t.limits.local_bytes = -1; },
     "local memory is -1 when it is at least 0"},
    {"buffers", [](Target& t) { t.limits.buffers = 8; }, ""},
    {"allocation", [](Target& t) { t.limits.allocation_bytes = 1; }, ""},
    {"alignment", [](Target& t) { t.limits.alignment = 256; }, ""},
    {"odd alignment", [](Target& t) { t.limits.alignment = 96; },
     "alignment 96 is no power of two"},
    {"f64", [](Target& t) { t.arithmetic = t.arithmetic | TypeSet{F64}; }, ""},
    {"f16 twice", [](Target& t) { t.arithmetic = t.arithmetic | TypeSet{F16}; },
     "f16 is both computed in and only stored"},
    {"index", [](Target& t) { t.arithmetic = t.arithmetic | kIndex; },
     "index is no type of a device"},
    {"bf16", [](Target& t) { t.storage = t.storage | TypeSet{BF16}; }, ""},
    {"widths", [](Target& t) { t.widths[0].lanes = {4}; }, ""},
    {"no widths", [](Target& t) { t.widths.clear(); }, ""},
    {"aligned vectors", [](Target& t) { t.aligned_vectors = true; }, ""},
    {"falling widths", [](Target& t) { t.widths[0].lanes = {4, 2}; }, "vector width 2 follows 4"},
    {"scalar widths", [](Target& t) { t.widths[0].lanes = {1}; }, "vector width 1 follows 1"},
    {"widths twice", [](Target& t) { t.widths.push_back({{F32}, {4}}); },
     "vectors of f32 are listed twice"},
    {"widths of f64", [](Target& t) { t.widths.push_back({{F64}, {2}}); },
     "vectors of f64 are of a type that the target has not"},
    {"limit", [](Target& t) { t.math.limits[0].ulps = 0.5; }, ""},
    {"no limit", [](Target& t) { t.math.limits.pop_back(); }, ""},
    {"limit twice", [](Target& t) { t.math.limits.push_back({Op::Sin, {F32}, 1}); },
     "sin has two limits at f32"},
    {"limit below none", [](Target& t) { t.math.limits[0].ulps = -1; }, "neg is -1 ulps off"},
    {"limit of no number",
     [](Target& t) { t.math.limits[0].ulps = std::numeric_limits<double>::quiet_NaN(); },
     "neg is nan ulps off"},
    {"limit at f64", [](Target& t) { t.math.limits[0].over = {F64}; },
     "neg at f64 is no function of floats that the target has"},
    {"limit of a load", [](Target& t) { t.math.limits[0].op = Op::Load; },
     "load at f32 is no function of floats that the target has"},
    {"limit of an integer function", [](Target& t) { t.math.limits[0].op = Op::Mod; },
     "mod at f32 is no function of floats that the target has"},
    {"contraction", [](Target& t) { t.math.contracts = true; }, ""},
    {"subnormals", [](Target& t) { t.math.subnormals = Subnormals::Flushed; }, ""},
    {"native", [](Target& t) { t.math.native = {Op::Exp2}; }, ""},
    {"native load", [](Target& t) { t.math.native = {Op::Load}; }, "native load has no limit"},
    {"compute queues", [](Target& t) { t.compute_queues = 2; }, ""},
    {"no compute queues", [](Target& t) { t.compute_queues = 0; },
     "0 compute queues run no kernel"},
    {"copy queues", [](Target& t) { t.copy_queues = 0; }, ""},
    {"fewer copy queues", [](Target& t) { t.copy_queues = -1; }, "-1 copy queues"},
    {"images", [](Target& t) { t.images = true; }, ""},
    {"no views", [](Target& t) { t.views = false; }, "view alignment 128 without views"},
    {"view alignment", [](Target& t) { t.view_alignment = 256; }, ""},
    {"odd view alignment", [](Target& t) { t.view_alignment = 0; },
     "view alignment 0 is no power of two"},
    {"sharding", [](Target& t) { t.sharding = true; }, ""},
    {"items aimed at", [](Target& t) { t.tuning.items = 64; }, ""},
    {"no items aimed at", [](Target& t) { t.tuning.items = 0; }, "tuned for 0 items"},
    {"busy", [](Target& t) { t.tuning.busy = 1; }, ""},
    {"never busy", [](Target& t) { t.tuning.busy = 0; }, "tuned for 0 busy"},
    {"share", [](Target& t) { t.tuning.share = 32; }, ""},
    {"no share", [](Target& t) { t.tuning.share = -1; }, "tuned for -1 share"},
    {"lanes", [](Target& t) { t.tuning.lanes = 8; }, ""},
    {"no lanes", [](Target& t) { t.tuning.lanes = 0; }, "tuned for 0 lanes"},
    {"tile", [](Target& t) { t.tuning.tile = 32; }, ""},
    {"no tile", [](Target& t) { t.tuning.tile = 0; }, "tuned for 0 tile"},
    {"items are lanes", [](Target& t) { t.tuning.items_are_lanes = true; }, ""},
    {"no contract", [](Target& t) { t.memory.reset(); },
     "32768 bytes of local memory without a memory contract"},
    {"visibility", [](Target& t) { t.memory->local = Visibility::AtOnce; }, ""},
    {"reach", [](Target& t) { t.memory->barrier = Reach::Subgroup; }, ""},
    {"branch", [](Target& t) { t.memory->in_branch = Standing::Nowhere; }, ""},
    {"loop", [](Target& t) { t.memory->in_loop = Standing::Anywhere; }, ""},
};

class TargetEdit : public testing::TestWithParam<Edit> {};

TEST_P(TargetEdit, IsSeenByTheDigestAndJudged) {
  Target edited = generic_target();
  EXPECT_EQ(digest(edited), digest(generic_target()));
  GetParam().edit(edited);
  EXPECT_NE(digest(edited), digest(generic_target()));
  EXPECT_EQ(target_error(edited).value_or(""), GetParam().error);
}

std::string edit_name(const testing::TestParamInfo<Edit>& row) {
  std::string name = row.param.what;
  std::ranges::replace(name, ' ', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(EveryField, TargetEdit, testing::ValuesIn(kEdits), edit_name);

TEST(Target, DigestsDifferBetweenAllEdits) {
  std::set<Key> digests;
  for (const Edit& edit : kEdits) {
    Target edited = generic_target();
    edit.edit(edited);
    digests.insert(digest(edited));
  }
  EXPECT_EQ(digests.size(), std::size(kEdits));
}

}  // namespace
}  // namespace assay::uop
