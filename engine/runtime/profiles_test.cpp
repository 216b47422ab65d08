#include "engine/runtime/profiles.h"

#include <gtest/gtest.h>

namespace assay::runtime {
namespace {

using uop::Op;
using uop::Subnormals;
using uop::Target;
using uop::TypeSet;

// Every profile, laid over a device without half arithmetic and over every other one.
TEST(Profiles, AreTargetsThatDoNotContradictThemselves) {
  for (const Profile& p : all_profiles()) {
    EXPECT_EQ(target_error(p.target), std::nullopt) << p.name;
    EXPECT_EQ(p.target.name, p.name);
    EXPECT_EQ(profile(p.name), &p.target);
    for (const Profile& other : all_profiles()) {
      const Target both = meet(p.target, other.target);
      EXPECT_EQ(target_error(both), std::nullopt) << both.name;
    }
  }
  EXPECT_EQ(profile("adreno"), nullptr);
}

TEST(Profiles, AnAdrenoComputesInHalfAndFlushes) {
  const Target& t = *profile("adreno-660");
  EXPECT_TRUE(t.arithmetic.has(uop::F16));
  EXPECT_FALSE(t.arithmetic.has(uop::F64));
  EXPECT_EQ(t.limits.group_size, 1024);
  EXPECT_EQ(t.limits.local_bytes, 32 << 10);
  EXPECT_EQ(t.math.subnormals, Subnormals::Flushed);
  EXPECT_EQ(ulp_limit(t, Op::Exp2, uop::F16), 2);
}

TEST(Meet, IsWhatBothCanDo) {
  Target device = uop::generic_target();
  device.name = "cl:some";
  device.limits.group_size = 4096;
  device.limits.item_sizes[0] = 64;
  device.limits.local_bytes = 1 << 20;
  device.limits.alignment = 256;
  device.view_alignment = 256;
  device.math.subnormals = Subnormals::Kept;
  add_double(device);
  const Target both = meet(*profile("adreno-660"), device);
  EXPECT_EQ(both.name, "adreno-660-on-cl:some");
  EXPECT_EQ(both.limits.group_size, 1024);
  EXPECT_EQ(both.limits.item_sizes[0], 64);
  EXPECT_EQ(both.limits.local_bytes, 32 << 10);
  EXPECT_EQ(both.limits.alignment, 256);
  EXPECT_EQ(both.view_alignment, 256);
  EXPECT_FALSE(both.arithmetic.has(uop::F16));
  EXPECT_TRUE(both.storage.has(uop::F16));
  EXPECT_FALSE(both.arithmetic.has(uop::F64));
  EXPECT_EQ(both.math.subnormals, Subnormals::Either);
  EXPECT_EQ(ulp_limit(both, Op::Exp2, uop::F16), std::nullopt);
  EXPECT_EQ(ulp_limit(both, Op::Exp2, uop::F32), 3);
}

TEST(Profiles, ANativeOneDiffersInItsFunctionsOnly) {
  for (const Profile& p : all_profiles()) {
    Target native = *profile(p.name, true);
    EXPECT_EQ(target_error(native), std::nullopt) << p.name;
    EXPECT_TRUE(native.math.native.has(Op::Exp)) << p.name;
    native.math.native = p.target.math.native;
    EXPECT_EQ(to_text(native), to_text(p.target));
  }
}

TEST(Meet, OfATargetWithItselfIsThatTarget) {
  for (const Profile& p : all_profiles()) {
    EXPECT_EQ(to_text(meet(p.target, p.target)), to_text(p.target));
  }
}

TEST(Meet, TakesTheLooserLimitAndTheStricterContract) {
  Target a = uop::generic_target();
  Target b = a;
  for (uop::UlpLimit& row : a.math.limits) {
    if (row.op == Op::Sin) row.ulps = 100;
  }
  a.math.native = {Op::Sin};
  b.memory->in_loop = uop::Standing::Nowhere;
  const Target both = meet(a, b);
  EXPECT_EQ(ulp_limit(both, Op::Sin, uop::F32), 100);
  EXPECT_EQ(both.memory->in_loop, uop::Standing::Nowhere);
  b.memory.reset();
  EXPECT_EQ(meet(a, b).limits.local_bytes, 0);
  b.views = false;
  b.view_alignment = 0;
  EXPECT_EQ(target_error(meet(a, b)), std::nullopt);
}

}  // namespace
}  // namespace assay::runtime
