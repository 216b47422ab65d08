#include "engine/codegen/launch.h"

#include <gtest/gtest.h>

#include "engine/codegen/kernel_sample.h"

namespace assay::codegen {
namespace {

using uop::DType;
using uop::Op;
using uop::Ref;

class LaunchSizes : public testing::Test {
 protected:
  Ref special(const char* name, Ref size) {
    return g_.make(Op::Special, size->dtype, {size}, g_.name(name));
  }
  Ref linear(std::initializer_list<Ref> nodes) {
    return g_.make(Op::Linear, DType::Void, nodes, g_.info("kernel", {}));
  }

  uop::Graph g_;
  Maker make_{g_};
};

TEST_F(LaunchSizes, AreOneWhereThereIsNoSpecial) {
  EXPECT_EQ(launch_sizes(g_, linear({})).value(), (Launch{{1, 1, 1}, {1, 1, 1}}));
}

TEST_F(LaunchSizes, AreThoseOfTheSpecials) {
  const Ref gidx2 = special("gidx2", make_.number(5));
  const Ref gidx0 = special("gidx0", g_.constant(DType::I32, 7));
  const Ref lidx1 = special("lidx1", g_.constant(DType::I64, 3));
  EXPECT_EQ(launch_sizes(g_, linear({gidx2, gidx0, lidx1})).value(),
            (Launch{{7, 1, 5}, {1, 3, 1}}));
}

TEST_F(LaunchSizes, DependOnVariables) {
  const Ref n = g_.variable("n", uop::of_int(DType::I32, 0), uop::of_int(DType::I32, 100));
  const Ref m = g_.variable("m", uop::of_int(DType::I32, 1), uop::of_int(DType::I32, 100));
  const Ref size = g_.alu(Op::Mul, {n, m});
  const Ref kernel = linear({special("gidx1", size)});
  const std::pair<std::string, int64_t> values[] = {{"k", 9}, {"m", 3}, {"n", 4}};
  EXPECT_EQ(launch_sizes(g_, kernel, values).value(), (Launch{{1, 12, 1}, {1, 1, 1}}));
  const std::pair<std::string, int64_t> nothing[] = {{"m", 3}, {"n", 0}};
  EXPECT_EQ(launch_sizes(g_, kernel, nothing).value().groups[1], 0);
}

TEST_F(LaunchSizes, NameWhatIsMissing) {
  const Ref n = g_.variable("n", uop::of_int(DType::I32, 1), uop::of_int(DType::I32, 100));
  const Ref kernel = linear({special("gidx1", n)});
  EXPECT_EQ(launch_sizes(g_, kernel).error().message,
            "the size of gidx1 depends on n, which has no value");
  const std::pair<std::string, int64_t> negative[] = {{"n", -2}};
  EXPECT_EQ(launch_sizes(g_, kernel, negative).error().message, "the size of gidx1 is -2");
}

TEST_F(LaunchSizes, KnowTheirAxesByName) {
  EXPECT_TRUE(launch_axis("gidx0")->of_groups);
  EXPECT_EQ(launch_axis("lidx2")->axis, 2U);
  EXPECT_FALSE(launch_axis("lidx2")->of_groups);
  for (const char* name : {"gidx3", "gidx", "idx0", "lidx00", ""}) {
    EXPECT_FALSE(launch_axis(name)) << name;
  }
}

}  // namespace
}  // namespace assay::codegen
