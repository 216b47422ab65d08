#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <functional>
#include <numeric>

#include "engine/tensor/build_check.h"
#include "engine/uop/elements.h"

namespace assay::tensor {
namespace {

using Numbers = std::vector<int64_t>;

std::string text_of(const Numbers& n) { return fmt::format("[{}]", fmt::join(n, ", ")); }

Numbers drawn_shape(int least_rank, int64_t least_size = 0) {
  const int rank = *rc::gen::inRange(least_rank, 4);
  Numbers shape;
  shape.reserve(static_cast<size_t>(rank));
  for (int i = 0; i < rank; i++) shape.push_back(*rc::gen::inRange<int64_t>(least_size, 7));
  return shape;
}

int64_t below(int64_t n) { return *rc::gen::inRange<int64_t>(0, n); }

// Where an element of the result comes from, by its indices.
using From = std::function<Numbers(const Numbers& at)>;

// The op of x [sizes], whose result is to be `shape`, moves elements as `from` says.
void expect_moves(const Numbers& sizes, std::string_view op, const Numbers& shape,
                  const From& from) {
  Graph g;
  const Ref root = built(
      g, fmt::format("x: i32{} = input()\ny: i32{} = {}", text_of(sizes), text_of(shape), op));
  ASSERT_NE(root, nullptr);
  const uop::Elements found = uop::elements_of(g, root);
  ASSERT_EQ(found.sizes, shape);
  for (int64_t flat = 0; flat < uop::count_of(shape); flat++) {
    Numbers at(shape.size());
    int64_t rest = flat;
    for (size_t i = at.size(); i-- > 0; rest /= shape[i]) at[i] = rest % shape[i];
    const Numbers source = from(at);
    int64_t place = 0;
    for (size_t i = 0; i < sizes.size(); i++) place = place * sizes[i] + source[i];
    ASSERT_EQ(found.values[static_cast<size_t>(flat)], place)
        << op << " of " << text_of(sizes) << " at " << text_of(at);
  }
}

void check_law(const std::function<void()>& law) {
  EXPECT_TRUE(rc::check([&] {
    law();
    RC_ASSERT(!testing::Test::HasFailure());
  }));
}

TEST(Movement, SliceTakesEachStepFromBeginToEnd) {
  check_law([] {
    const Numbers sizes = drawn_shape(1);
    Numbers begins;
    Numbers steps;
    Numbers shape;
    std::vector<std::string> slices;
    for (const int64_t n : sizes) {
      const int64_t begin = below(n + 1);
      const int64_t end = begin + below(n - begin + 1);
      const int64_t step = 1 + below(5);
      begins.push_back(begin);
      steps.push_back(step);
      shape.push_back((end - begin + step - 1) / step);
      slices.push_back(fmt::format("{}:{}:{}", begin, end, step));
    }
    expect_moves(sizes, fmt::format("slice(x, at=[{}])", fmt::join(slices, ", ")), shape,
                 [&](const Numbers& at) {
                   Numbers from(at.size());
                   for (size_t i = 0; i < at.size(); i++) from[i] = begins[i] + at[i] * steps[i];
                   return from;
                 });
  });
}

TEST(Movement, PermutePutsAxesInOrder) {
  check_law([] {
    const Numbers sizes = drawn_shape(0);
    Numbers order(sizes.size());
    std::iota(order.begin(), order.end(), int64_t{0});
    for (size_t i = order.size(); i > 1; i--) {
      std::swap(order[i - 1], order[static_cast<size_t>(below(static_cast<int64_t>(i)))]);
    }
    Numbers shape;
    shape.reserve(order.size());
    for (const int64_t axis : order) shape.push_back(sizes[static_cast<size_t>(axis)]);
    expect_moves(sizes, fmt::format("permute(x, order={})", text_of(order)), shape,
                 [&](const Numbers& at) {
                   Numbers from(at.size());
                   for (size_t i = 0; i < at.size(); i++)
                     from[static_cast<size_t>(order[i])] = at[i];
                   return from;
                 });
  });
}

TEST(Movement, RollMovesElementsAroundTheirAxis) {
  check_law([] {
    const Numbers sizes = drawn_shape(1);
    const auto axis = static_cast<size_t>(below(static_cast<int64_t>(sizes.size())));
    const int64_t shift = below(30) - 15;
    expect_moves(sizes, fmt::format("roll(x, shifts=[{}], axes=[{}])", shift, axis), sizes,
                 [&](const Numbers& at) {
                   Numbers from = at;
                   const int64_t n = sizes[axis];
                   from[axis] = ((at[axis] - shift) % n + n) % n;
                   return from;
                 });
  });
}

TEST(Movement, RepeatRepeatsTheWhole) {
  check_law([] {
    const Numbers sizes = drawn_shape(0);
    Numbers times;
    Numbers shape;
    for (const int64_t n : sizes) {
      times.push_back(below(4));
      shape.push_back(n * times.back());
    }
    expect_moves(sizes, fmt::format("repeat(x, times={})", text_of(times)), shape,
                 [&](const Numbers& at) {
                   Numbers from(at.size());
                   for (size_t i = 0; i < at.size(); i++) from[i] = at[i] % sizes[i];
                   return from;
                 });
  });
}

TEST(Movement, DiagonalGoesDownAndRight) {
  check_law([] {
    const Numbers sizes = drawn_shape(2);
    const int64_t offset = below(18) - 9;
    const size_t row = sizes.size() - 2;
    const int64_t down = std::min(sizes[row], std::max<int64_t>(0, -offset));
    const int64_t right = std::min(sizes[row + 1], std::max<int64_t>(0, offset));
    Numbers shape = sizes;
    shape.pop_back();
    shape[row] = std::min(sizes[row] - down, sizes[row + 1] - right);
    expect_moves(sizes, fmt::format("diagonal(x, offset={})", offset), shape,
                 [&](const Numbers& at) {
                   Numbers from = at;
                   from[row] = at[row] + down;
                   from.push_back(at[row] + right);
                   return from;
                 });
  });
}

TEST(Movement, UnfoldTakesWindowsInStepsOfAnAxis) {
  check_law([] {
    const Numbers sizes = drawn_shape(1, 1);
    const auto axis = static_cast<size_t>(below(static_cast<int64_t>(sizes.size())));
    const int64_t size = below(sizes[axis] + 1);
    const int64_t step = 1 + below(9);
    Numbers shape = sizes;
    shape[axis] = (sizes[axis] - size) / step + 1;
    shape.push_back(size);
    expect_moves(sizes, fmt::format("unfold(x, axis={}, size={}, step={})", axis, size, step),
                 shape, [&](const Numbers& at) {
                   Numbers from = at;
                   from.pop_back();
                   from[axis] = at[axis] * step + at.back();
                   return from;
                 });
  });
}

}  // namespace
}  // namespace assay::tensor
