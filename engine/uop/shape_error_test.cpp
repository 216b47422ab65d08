#include <gtest/gtest.h>

#include "engine/uop/shape.h"
#include "engine/uop/test_terms.h"

namespace assay::uop {
namespace {

using Sizes = std::vector<int64_t>;

Ref param_of(Graph& g, const std::vector<Ref>& sizes, DType t = F32) {
  return g.make(Op::Param, t, sizes, Arg::number(0));
}

Ref param(Graph& g, const Sizes& sizes, DType t = F32) {
  std::vector<Ref> made;
  for (const int64_t size : sizes) made.push_back(dim(g, size));
  return param_of(g, made, t);
}

std::string fault(Graph& g, Ref u) { return shape_error(g, u).value_or("none"); }

TEST(ShapeError, LetsWellFormedNodesPass) {
  Graph g;
  const Ref x = param(g, Sizes{2, 3, 4});
  const Ref r = g.make(Op::Range, Index, {dim(g, 2)}, Arg::axis(0, AxisType::Loop));
  const Ref element = g.make(Op::Index, F32, {x, r, r, r});
  const std::vector<Ref> nodes = {
      x,
      r,
      reshape(g, x, dims(g, {4, 6})),
      expand(g, param(g, Sizes{2, 1}), dims(g, {5, 2, 3})),
      expand(g, param(g, Sizes{1}), dims(g, {0})),
      expand(g, g.constant(F32, 1), dims(g, {3})),
      permute(g, x, Sizes{1, 2, 0}),
      flip(g, x, Sizes{0, 2}),
      pad(g, x, dims(g, {0, 1, 2, 3, 0, 0})),
      shrink(g, x, dims(g, {0, 2, 3, 0, 1, 3})),
      g.make(Op::Stack, F32, {x, x, g.make(Op::Invalid, F32, {})}),
      g.make(Op::Reduce, F32, {x}, Arg::fold(Op::Max, 3)),
      g.make(Op::Store, Void, {element, g.constant(F32, 1)}),
      g.make(Op::Load, F32, {element, g.constant(F32, 0), g.constant(of_bool(true))}),
      g.make(Op::Bitcast, U8, {x}),
      g.make(Op::Bitcast, U32, {g.constant(F32, 1)}),
      g.make(Op::Sink, Void, {x}),
  };
  for (const Ref u : nodes) EXPECT_EQ(fault(g, u), "none") << to_text(u->op);
}

TEST(ShapeError, NamesAReshapeThatChangesTheSize) {
  Graph g;
  const Ref n = variable(g, "n", 1, 16);
  const Ref x = param(g, Sizes{3, 4});
  const Ref y = param_of(g, {n, dim(g, 4)});
  const auto to = [&](Ref from, std::vector<Ref> sizes) {
    return fault(g, reshape(g, from, sizes));
  };
  EXPECT_EQ(to(x, dims(g, {5})), "reshape of [3, 4] to [5] changes the number of elements");
  EXPECT_EQ(to(x, {}), "reshape of [3, 4] to [] changes the number of elements");
  EXPECT_EQ(to(x, dims(g, {-3, -4})), "reshape has an axis of size -3");
  EXPECT_EQ(to(y, {dim(g, 2), n, dim(g, 2)}), "none");
  EXPECT_EQ(to(y, {dim_mul(g, n, dim(g, 4))}), "none");
  EXPECT_EQ(to(y, dims(g, {12})), "none");  // n may be 3
  EXPECT_EQ(to(y, dims(g, {13})), "reshape of [n, 4] to [13] changes the number of elements");
  EXPECT_EQ(to(y, {n, dim(g, 3)}), "reshape of [n, 4] to [n, 3] changes the number of elements");
  EXPECT_EQ(to(y, dims(g, {128})), "reshape of [n, 4] to [128] changes the number of elements");
  EXPECT_EQ(to(x, {g.constant(I32, 12)}), "size 0 of reshape is i32, not index");
  EXPECT_EQ(to(x, {param(g, Sizes{1}, Index)}), "size 0 of reshape has shape [1]");
}

TEST(ShapeError, NamesAnExpandOfMoreThanOne) {
  Graph g;
  const Ref n = variable(g, "n", 2, 16);
  EXPECT_EQ(fault(g, expand(g, param(g, Sizes{3, 1}), dims(g, {4, 5}))),
            "expand of [3, 1] to [4, 5] repeats an axis of size 3");
  EXPECT_EQ(fault(g, expand(g, param(g, Sizes{0}), dims(g, {5}))),
            "expand of [0] to [5] repeats an axis of size 0");
  EXPECT_EQ(fault(g, expand(g, param(g, Sizes{3, 1}), dims(g, {3}))),
            "expand of [3, 1] to [3] drops an axis");
  EXPECT_EQ(fault(g, expand(g, param_of(g, {n}), dims(g, {17}))),
            "expand of [n] to [17] repeats an axis of size n");
  EXPECT_EQ(fault(g, expand(g, param_of(g, {n}), dims(g, {16}))), "none");
}

TEST(ShapeError, NamesAxesThatAreNotThere) {
  Graph g;
  const Ref x = param(g, Sizes{3, 4});
  EXPECT_EQ(fault(g, permute(g, x, Sizes{0})), "permute of [3, 4] names 1 axes");
  EXPECT_EQ(fault(g, permute(g, x, Sizes{0, 2})), "permute of [3, 4] has no axis 2");
  EXPECT_EQ(fault(g, permute(g, x, Sizes{1, 1})), "permute of [3, 4] names axis 1 twice");
  EXPECT_EQ(fault(g, flip(g, x, Sizes{-1})), "flip of [3, 4] has no axis -1");
  EXPECT_EQ(fault(g, flip(g, x, Sizes{0, 0})), "flip of [3, 4] names axis 0 twice");
}

TEST(ShapeError, NamesAPadOfLessThanNothing) {
  Graph g;
  const Ref n = variable(g, "n", 1, 16);
  const Ref x = param(g, Sizes{3});
  EXPECT_EQ(fault(g, pad(g, x, dims(g, {0, -1}))), "pad of [3] adds -1 to axis 0");
  EXPECT_EQ(fault(g, pad(g, x, dims(g, {1}))), "pad of [3] has 1 amounts when 2 are needed");
  const Ref m = dim_sub(g, n, dim(g, 17));
  EXPECT_EQ(fault(g, pad(g, x, std::vector{m, n})), "pad of [3] adds (+ n -17) to axis 0");
  EXPECT_EQ(fault(g, pad(g, x, std::vector{dim_sub(g, n, dim(g, 16)), n})), "none");
}

TEST(ShapeError, NamesAShrinkOutOfBounds) {
  Graph g;
  const Ref n = variable(g, "n", 1, 16);
  const Ref x = param(g, Sizes{4});
  const auto from = [&](Ref u, std::vector<Ref> bounds) { return fault(g, shrink(g, u, bounds)); };
  EXPECT_EQ(from(x, dims(g, {2, 3})), "shrink of [4] takes 3 from 2 of axis 0");
  EXPECT_EQ(from(x, dims(g, {-1, 3})), "shrink of [4] takes 3 from -1 of axis 0");
  EXPECT_EQ(from(x, dims(g, {1, -1})), "shrink of [4] takes -1 from 1 of axis 0");
  EXPECT_EQ(from(x, {dim(g, 0), n}), "none");
  EXPECT_EQ(from(param_of(g, {n}), {dim(g, 1), n}), "shrink of [n] takes n from 1 of axis 0");
  EXPECT_EQ(from(param_of(g, {n}), {dim(g, 1), dim_sub(g, n, dim(g, 1))}), "none");
}

TEST(ShapeError, NamesSourcesThatDoNotGoTogether) {
  Graph g;
  const Ref x = param(g, Sizes{3, 4});
  const Ref y = param(g, Sizes{3, 5});
  const Ref r = g.make(Op::Range, Index, {dim(g, 2)}, Arg::axis(0, AxisType::Loop));
  EXPECT_EQ(fault(g, g.alu(Op::Add, {x, y})), "shapes [3, 4] and [3, 5] do not broadcast");
  EXPECT_EQ(fault(g, g.make(Op::Stack, F32, {x, y})), "stack of shapes [3, 4] and [3, 5]");
  EXPECT_EQ(fault(g, g.make(Op::MStack, F32, {x, y})), "mstack of shapes [3, 4] and [3, 5]");
  EXPECT_EQ(fault(g, g.make(Op::Index, F32, {x, r, r, r})), "index of [3, 4] takes 3 indices");
  EXPECT_EQ(fault(g, g.make(Op::Store, Void, {g.make(Op::Index, F32, {x, r}), y})),
            "store of [4] has a source of shape [3, 5]");
  EXPECT_EQ(fault(g, g.make(Op::Store, Void, {g.make(Op::Index, F32, {x, r, r}), x})),
            "store of [] has a source of shape [3, 4]");
  EXPECT_EQ(fault(g, g.make(Op::Param, F32, {g.constant(F32, 1)}, Arg::number(0))),
            "param has a source const that is neither a size nor a device");
}

TEST(ShapeError, NamesABitcastThatCutsAnElement) {
  Graph g;
  EXPECT_EQ(fault(g, g.make(Op::Bitcast, F32, {param(g, Sizes{2, 6}, U8)})),
            "bitcast of u8 [2, 6] to f32 cuts an element");
  EXPECT_EQ(fault(g, g.make(Op::Bitcast, U8, {g.constant(F32, 1)})),
            "bitcast of f32 [] to u8 changes the width of an element");
  EXPECT_EQ(fault(g, g.make(Op::Bitcast, Bool, {param(g, Sizes{2}, U8)})),
            "bitcast of u8 [2] to bool changes the width of an element");
}

TEST(ShapeError, NamesMoreElementsThan64BitsCount) {
  Graph g;
  const int64_t big = int64_t{1} << 40;
  EXPECT_EQ(fault(g, param(g, Sizes{big, big})),
            "param of shape [1099511627776, 1099511627776] has more elements than 64 bits count");
  EXPECT_EQ(fault(g, param(g, Sizes{big, big, 0})), "none");
}

using Check = bool (*)(Graph&, Ref);

bool is_refused(Graph& g, Ref u) { return shape_error(g, u).has_value(); }

// The mutant of bug B170: no check where there is no axis.
bool is_refused_unless_scalar(Graph& g, Ref u) {
  return !shape(g, u->src[0]).empty() && is_refused(g, u);
}

// A scalar has no axis to fold: over none it is itself, over one or more an error.
bool checks_scalars(Check check) {
  Graph g;
  const Ref x = g.constant(F32, 2);
  const auto fold = [&](Ref from, int32_t axes) {
    return g.make(Op::Reduce, F32, {from}, Arg::fold(Op::Add, axes));
  };
  const Ref row = param(g, Sizes{3});
  return !check(g, fold(x, 0)) && check(g, fold(x, 1)) && check(g, fold(x, -1)) &&
         !check(g, fold(row, 1)) && check(g, fold(row, 2));
}

TEST(ShapeError, RefusesToFoldAxesOfAScalarAsInB170) {
  EXPECT_TRUE(checks_scalars(is_refused));
  EXPECT_FALSE(checks_scalars(is_refused_unless_scalar));
  Graph g;
  const Ref x = g.constant(F32, 2);
  const Ref one = g.make(Op::Reduce, F32, {x}, Arg::fold(Op::Add, 1));
  EXPECT_EQ(fault(g, one), "reduce of [] folds 1 axes");
  EXPECT_TRUE(shape(g, g.make(Op::Reduce, F32, {x}, Arg::fold(Op::Add, 0))).empty());
}

}  // namespace
}  // namespace assay::uop
