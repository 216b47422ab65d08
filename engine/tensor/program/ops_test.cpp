#include "engine/tensor/program/ops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

namespace assay::tensor {
namespace {

TEST(Ops, AreARowEach) {
  ASSERT_EQ(all_ops().size(), static_cast<size_t>(kOpCount));
  for (size_t i = 0; i < all_ops().size(); i++) {
    EXPECT_EQ(static_cast<size_t>(all_ops()[i].op), i);
    EXPECT_EQ(op_from_text(all_ops()[i].text), all_ops()[i].op);
    EXPECT_FALSE(all_ops()[i].says.empty() && all_ops()[i].op != Op::Undefined);
    EXPECT_FALSE(all_ops()[i].over.empty());
  }
  EXPECT_EQ(op_from_text("summ"), std::nullopt);
  EXPECT_EQ(op_from_text(""), std::nullopt);
}

TEST(Ops, HaveTextsAndAttributesOfTheirOwn) {
  std::set<std::string_view> texts;
  for (const OpRow& r : all_ops()) {
    EXPECT_TRUE(texts.insert(r.text).second) << r.text;
    std::set<std::string_view> names;
    for (const AttrRow& a : r.attrs) EXPECT_TRUE(names.insert(a.name).second) << r.text;
  }
}

TEST(Ops, TakeTheirSignaturesApart) {
  const OpRow& clip = row(Op::Clip);
  EXPECT_EQ(clip.min_operands(), size_t{1});
  EXPECT_EQ(clip.max_operands(), size_t{3});
  const OpRow& stack = row(Op::Stack);
  EXPECT_EQ(stack.min_operands(), size_t{1});
  EXPECT_EQ(stack.max_operands(), std::numeric_limits<size_t>::max());
  EXPECT_EQ(row(Op::Full).max_operands(), size_t{0});

  const OpRow& pad = row(Op::Pad);
  const AttrRow& mode = pad.attrs[pad.attr("mode")];
  EXPECT_EQ(mode.kind, AttrKind::Word);
  EXPECT_EQ(mode.fallback, "constant");
  EXPECT_EQ(mode.words, (std::vector<std::string_view>{"constant", "reflect", "edge", "wrap"}));
  EXPECT_FALSE(pad.attrs[pad.attr("low")].optional);

  const OpRow& input = row(Op::Input);
  const AttrRow& random = input.attrs[input.attr("random")];
  EXPECT_TRUE(random.optional);
  EXPECT_EQ(random.words.size(), size_t{4});
}

}  // namespace
}  // namespace assay::tensor
