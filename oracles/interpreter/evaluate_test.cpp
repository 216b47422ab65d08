#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>

#include "engine/uop/shape.h"
#include "engine/uop/walk.h"
#include "oracles/interpreter/test_program.h"

namespace assay::interpreter {
namespace {

using uop::Op;
using uop::Ref;
using Ints = std::vector<int32_t>;
using Shape = std::vector<int64_t>;

template <typename T>
std::vector<T> values(const Elements& e) {
  std::vector<T> list(e.bytes.size() / sizeof(T));
  if (!list.empty()) std::memcpy(list.data(), e.bytes.data(), e.bytes.size());
  return list;
}

// The root of a text (without its first line) as i32, or the trouble.
std::string shown(std::string_view text, const Variables& variables = {}) {
  TestProgram p(text);
  const auto got = evaluate(p.g, std::span(&p.root, 1), variables, p.memory);
  if (!got.ok()) return got.error().message;
  const Elements& e = got.value()[0];
  return fmt::format("{} {}", fmt::join(e.shape, "x"), fmt::join(values<int32_t>(e), " "));
}

constexpr std::string_view kBase = R"(
%d = device void {"sim:0"}
%c0 = const index 0
%c1 = const index 1
%c2 = const index 2
%c3 = const index 3
%c6 = const index 6
%r = range index %c6 {0 loop}
%ri = cast i32 %r
%iota = stage i32 %ri %r {0 global}
%x = reshape i32 %iota %c2 %c3
)";
std::string with(std::string_view more) { return fmt::format("{}{}", kBase, more); }

TEST(Evaluate, AStageIsItsTermOverItsRanges) {
  EXPECT_EQ(shown(with("%y = add i32 %iota %iota")), "6 0 2 4 6 8 10");
  EXPECT_EQ(shown(with("%s = range index %c2 {1 loop}\n%si = cast i32 %s\n%t = mul i32 %ri %si\n"
                       "%y = stage i32 %t %r %s {0 global}")),
            "6x2 0 0 0 1 0 2 0 3 0 4 0 5");
  EXPECT_EQ(
      shown(with(
          "%one = const i32 7\n%s = range index %c2 {1 loop}\n%y = stage i32 %one %s {0 global}")),
      "2 7 7");
}

TEST(Evaluate, MovementFollowsItsDefinition) {
  EXPECT_EQ(shown(with("%y = permute i32 %x {1 0}")), "3x2 0 3 1 4 2 5");
  EXPECT_EQ(shown(with("%y = flip i32 %x {1}")), "2x3 2 1 0 5 4 3");
  EXPECT_EQ(shown(with("%y = pad i32 %x %c1 %c0 %c0 %c1")), "3x4 0 0 0 0 0 1 2 0 3 4 5 0");
  EXPECT_EQ(shown(with("%y = shrink i32 %x %c0 %c2 %c1 %c2")), "2x2 1 2 4 5");
  EXPECT_EQ(shown(with("%y = expand i32 %x %c2 %c2 %c3")), "2x2x3 0 1 2 3 4 5 0 1 2 3 4 5");
  EXPECT_EQ(shown(with("%y = stack i32 %x %x")), "2x2x3 0 1 2 3 4 5 0 1 2 3 4 5");
  EXPECT_EQ(shown(with("%y = reduce i32 %x {add 1}")), "3 3 5 7");
  EXPECT_EQ(shown(with("%y = reduce i32 %x {mul 2}")), " 0");
  EXPECT_EQ(shown(with("%e = shrink i32 %x %c0 %c0 %c0 %c3\n%y = reduce i32 %e {max 1}")),
            "3 -2147483648 -2147483648 -2147483648");
}

TEST(Evaluate, WhatDoesNotFitIsAnError) {
  EXPECT_EQ(shown(with("%y = reshape i32 %x %c3 %c3")), "reshape of [2, 3] by [3, 3]");
  EXPECT_EQ(shown(with("%y = shrink i32 %x %c0 %c3 %c0 %c3")), "shrink of [2, 3] by [0, 3, 0, 3]");
  EXPECT_EQ(shown(with("%z = permute i32 %x {1 0}\n%y = add i32 %x %z")), "add of [2, 3] [3, 2]");
  EXPECT_EQ(shown(with("%y = index i32 %x %c0 %c0")), "index is no value of a tensor graph");
  EXPECT_EQ(shown(with("%y = add index %r %c1")), "range is no value of a tensor graph");
}

TEST(Evaluate, SizesAreTermsOfVariables) {
  const std::string text = with("%n = var index {\"n\" 1 3}\n%y = shrink i32 %x %c0 %c2 %c0 %n");
  EXPECT_EQ(shown(text, {{"n", 2}}), "2x2 0 1 3 4");
  EXPECT_EQ(shown(text, {{"n", 4}}), "variable 'n' is 4, not in 1..3");
  EXPECT_EQ(shown(text), "variable 'n' has no value");
  EXPECT_EQ(
      shown(with(
          "%n = var index {\"n\" 1 3}\n%b = bind index %n %c1\n%y = shrink i32 %x %c0 %c2 %c0 %b")),
      "2x1 0 3");
}

// Versions of a buffer of six elements.
std::string versions(std::string_view more) {
  return with(fmt::format(
      "%b = buffer i32 %c2 %c3 %d {{0 global}}\n%s0 = store void %b %x\n%v0 = after i32 %b %s0\n{}",
      more));
}

TEST(Evaluate, AVersionIsTheOneBeforeWithAViewReplaced) {
  EXPECT_EQ(shown(versions("%y = neg i32 %v0")), "2x3 0 -1 -2 -3 -4 -5");
  const std::string_view next =
      "%part = shrink i32 %v0 %c0 %c2 %c1 %c2\n%turned = permute i32 %part {1 0}\n"
      "%new = permute i32 %p2 {1 0}\n%s1 = store void %turned %new\n%v1 = after i32 %v0 %s1\n";
  const std::string_view value =
      "%k = const i32 10\n%p1 = shrink i32 %x %c0 %c2 %c0 %c2\n%p2 = add i32 %p1 %k\n";
  const std::string both = fmt::format("{}{}", value, next);
  EXPECT_EQ(shown(versions(both)), "2x3 0 10 11 3 13 14");
  // A reader of the version before keeps it.
  EXPECT_EQ(shown(versions(fmt::format("{}%y = sub i32 %v1 %v0", both))), "2x3 0 9 9 0 9 9");
}

TEST(Evaluate, APaddedViewStoresOnlyWhatIsInside) {
  EXPECT_EQ(
      shown(versions(
          "%part = pad i32 %v0 %c0 %c0 %c1 %c0\n%k = const i32 9\n%e = expand i32 %k %c2 %c1\n"
          "%four = add index %c3 %c1\n%n = expand i32 %k %c2 %four\n%s1 = store void %part %n\n%v1 "
          "= after i32 %v0 %s1")),
      "2x3 9 9 9 9 9 9");
}

TEST(Evaluate, AViewMayReadBytesAsAnotherType) {
  // The upper halves of the elements of the first row.
  EXPECT_EQ(
      shown(versions(
          "%row = shrink i32 %v0 %c0 %c1 %c0 %c3\n%h = bitcast i16 %row\n%h3 = reshape i16 %h %c3 "
          "%c2\n"
          "%up = shrink i16 %h3 %c0 %c3 %c1 %c1\n%k = const i16 1\n%n = expand i16 %k %c3 %c1\n"
          "%s1 = store void %up %n\n%v1 = after i32 %v0 %s1")),
      "2x3 65536 65537 65538 3 4 5");
  EXPECT_EQ(shown(with("%h = bitcast i16 %x\n%b = bitcast i32 %h\n%y = sub i32 %b %x")),
            "2x3 0 0 0 0 0 0");
  EXPECT_EQ(shown(with("%h = bitcast i64 %x")), "bitcast of i32 [2, 3] to i64");
}

TEST(Evaluate, AStoreThroughAViewOfAnotherStateIsAnError) {
  EXPECT_EQ(shown(versions("%s1 = store void %b %x\n%v1 = after i32 %v0 %s1")),
            "a store through a view of another state than its version is made from");
  EXPECT_EQ(shown(versions("%k = const i32 1\n%s1 = store void %v0 %k\n%v1 = after i32 %v0 %s1")),
            "a store of [] through a view of [2, 3]");
}

// A kernel that adds one to each element.
constexpr std::string_view kKernel = R"(
%r1 = range index %c6 {0 weak}
%p0 = param i32 %c6 {0}
%p1 = param i32 %c6 {1}
%i0 = index i32 %p0 %r1
%i1 = index i32 %p1 %r1
%one = const i32 1
%sum = add i32 %i1 %one
%st = store void %i0 %sum
%en = end void %st %r1
%kern = sink void %en {"inc"}
)";

TEST(Evaluate, AVersionThatAKernelMakesReadsTheVersionsItTakes) {
  const std::string text = versions(fmt::format(
      "{}{}", kKernel,
      "%o = buffer i32 %c2 %c3 %d {1 global}\n%call = call void %kern %o %v0\n"
      "%v1 = after i32 %o %call\n%call2 = call void %kern %v1 %v1\n%v2 = after i32 %v1 %call2\n"
      "%y = stack i32 %v1 %v2"));
  EXPECT_EQ(shown(text), "2x2x3 1 2 3 4 5 6 2 3 4 5 6 7");
}

TEST(Evaluate, ParametersStandForArguments) {
  TestProgram p(
      with("%p = param i32 %c2 %c3 %d {0}\n%b = buffer i32 %c2 %c3 %d {4 global}\n%y = add i32 %p "
           "%p\n%g = group void %y %b"));
  p.set<int32_t>(4, {1, 2, 3, 4, 5, 6});
  const Ref nodes[] = {p.root->src[0]};
  const Ref arguments[] = {p.root->src[1]};
  const auto got = evaluate(p.g, nodes, {}, p.memory, arguments);
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ(values<int32_t>(got.value()[0]), (Ints{2, 4, 6, 8, 10, 12}));
  EXPECT_FALSE(evaluate(p.g, nodes, {}, p.memory).ok());
}

TEST(Evaluate, ADeepGraphNeedsNoStack) {
  uop::Graph g;
  Ref u = g.constant(uop::I32, 0);
  const Ref one = g.constant(uop::I32, 1);
  for (int i = 0; i < 100'000; i++) u = g.make(Op::Add, uop::I32, {u, one});
  Memory memory;
  const auto got = evaluate(g, std::span(&u, 1), {}, memory);
  EXPECT_EQ(values<int32_t>(got.value()[0]), Ints{100'000});
}

// Movement by brute force: the coordinates of each element, from the definition of each operation.
struct Brute {
  Shape shape;
  std::vector<int32_t> data;

  int64_t at(const Shape& i) const {
    int64_t place = 0;
    for (size_t k = 0; k < shape.size(); k++) place = place * shape[k] + i[k];
    return place;
  }
};
template <typename F>
Brute brute(Shape shape, F f) {
  Brute made = {shape, {}};
  const int64_t n = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
  for (int64_t e = 0; e < n; e++) {
    Shape i(shape.size());
    int64_t rest = e;
    for (size_t k = shape.size(); k-- > 0;) {
      i[k] = rest % shape[k];
      rest /= shape[k];
    }
    made.data.push_back(f(i));
  }
  return made;
}

struct Both {
  Ref node;
  Brute want;
};
int64_t draw(int64_t lo, int64_t hi) { return *rc::gen::inRange<int64_t>(lo, hi + 1); }
std::vector<Ref> dims(uop::Graph& g, const Shape& sizes) {
  std::vector<Ref> list;
  for (const int64_t s : sizes) list.push_back(g.constant(uop::Index, s));
  return list;
}

int32_t element(const Both& x, const Shape& i) {
  return x.want.data[static_cast<size_t>(x.want.at(i))];
}

Both any_reshape(uop::Graph& g, const Both& x) {
  const Shape& old = x.want.shape;
  const size_t rank = old.size();
  Shape now = old;
  if (rank > 1 && draw(0, 1) == 0) {
    now[0] *= now[1];
    now.erase(now.begin() + 1);
  } else {
    now.insert(now.begin() + draw(0, static_cast<int64_t>(rank)), 1);
  }
  return {uop::reshape(g, x.node, dims(g, now)), {now, x.want.data}};
}

Both any_expand(uop::Graph& g, const Both& x) {
  const Shape& old = x.want.shape;
  const size_t rank = old.size();
  Shape now = old;
  for (int64_t& s : now) s = s == 1 ? draw(1, 3) : s;
  if (rank < 4) now.insert(now.begin(), 2);
  const size_t added = now.size() - rank;
  return {uop::expand(g, x.node, dims(g, now)), brute(now, [&](Shape i) {
            i.erase(i.begin(), i.begin() + static_cast<int64_t>(added));
            for (size_t k = 0; k < rank; k++) i[k] = old[k] == 1 ? 0 : i[k];
            return element(x, i);
          })};
}

Both any_permute(uop::Graph& g, const Both& x) {
  const Shape& old = x.want.shape;
  const size_t rank = old.size();
  Shape order(rank);
  std::iota(order.begin(), order.end(), 0);
  for (size_t k = rank; k > 1; k--)
    std::swap(order[k - 1], order[static_cast<size_t>(draw(0, static_cast<int64_t>(k) - 1))]);
  Shape now;
  for (const int64_t axis : order) now.push_back(old[static_cast<size_t>(axis)]);
  return {uop::permute(g, x.node, order), brute(now, [&](const Shape& i) {
            Shape from(rank);
            for (size_t k = 0; k < rank; k++) from[static_cast<size_t>(order[k])] = i[k];
            return element(x, from);
          })};
}

Both any_flip(uop::Graph& g, const Both& x) {
  const Shape& old = x.want.shape;
  const size_t rank = old.size();
  Shape axes;
  for (size_t k = 0; k < rank; k++) {
    if (draw(0, 1) == 0) axes.push_back(static_cast<int64_t>(k));
  }
  return {uop::flip(g, x.node, axes), brute(old, [&](Shape i) {
            for (const int64_t k : axes)
              i[static_cast<size_t>(k)] =
                  old[static_cast<size_t>(k)] - 1 - i[static_cast<size_t>(k)];
            return element(x, i);
          })};
}

Both any_shrink(uop::Graph& g, const Both& x) {
  const Shape& old = x.want.shape;
  const size_t rank = old.size();
  Shape bounds;
  Shape now;
  for (const int64_t s : old) {
    const int64_t begin = draw(0, s);
    // Seldom nothing, where there is something.
    const int64_t least = s == 0 || draw(0, 3) == 0 ? 0 : std::min<int64_t>(1, s - begin);
    now.push_back(draw(least, s - begin));
    bounds.insert(bounds.end(), {begin, now.back()});
  }
  return {uop::shrink(g, x.node, dims(g, bounds)), brute(now, [&](Shape i) {
            for (size_t k = 0; k < rank; k++) i[k] += bounds[2 * k];
            return element(x, i);
          })};
}

Both any_pad(uop::Graph& g, const Both& x) {
  const Shape& old = x.want.shape;
  const size_t rank = old.size();
  Shape amounts;
  Shape now;
  for (const int64_t s : old) {
    amounts.insert(amounts.end(), {draw(0, 2), draw(0, 2)});
    now.push_back(s + amounts[amounts.size() - 2] + amounts.back());
  }
  return {uop::pad(g, x.node, dims(g, amounts)), brute(now, [&](Shape i) {
            for (size_t k = 0; k < rank; k++) {
              i[k] -= amounts[2 * k];
              if (i[k] < 0 || i[k] >= old[k]) return 0;
            }
            return element(x, i);
          })};
}

Both any_move(uop::Graph& g, const Both& x) {
  constexpr Both (*kMoves[])(uop::Graph&, const Both&) = {any_reshape, any_expand, any_permute,
                                                          any_flip,    any_shrink, any_pad};
  return kMoves[draw(0, 5)](g, x);
}

TEST(Movement, ChainsAgreeWithBruteForce) {
  rc::check([] {
    uop::Graph g;
    Memory memory;
    const Shape shape = {draw(0, 3), draw(1, 4), draw(1, 3)};
    std::vector<Ref> sizes = dims(g, shape);
    sizes.push_back(g.make(Op::Device, uop::Void, {}, g.name("sim:0")));
    const Ref buffer =
        g.make(Op::Buffer, uop::I32, sizes, uop::Arg::place(0, uop::AddrSpace::Global));
    int32_t next = 1;
    Both now = {buffer, brute(shape, [&](const Shape& /*i*/) { return next++; })};
    const auto contents = std::as_bytes(std::span(now.want.data));
    std::ranges::copy(contents, memory.of(g, buffer).begin());
    const int64_t count = draw(1, 6);
    for (int64_t i = 0; i < count; i++) now = any_move(g, now);
    const auto got = evaluate(g, std::span(&now.node, 1), {}, memory);
    RC_ASSERT(got.ok());
    RC_ASSERT(got.value()[0].shape == now.want.shape);
    RC_ASSERT(values<int32_t>(got.value()[0]) == now.want.data);
  });
}

// Writing through a chain of views and reading through it gives back what was written, and touches
// nothing else: what the view does not have is as it was.
TEST(Movement, WhatIsStoredThroughAViewIsReadThroughIt) {
  rc::check([] {
    uop::Graph g;
    Memory memory;
    const Shape shape = {draw(1, 4), draw(1, 4), draw(1, 3)};
    std::vector<Ref> sizes = dims(g, shape);
    sizes.push_back(g.make(Op::Device, uop::Void, {}, g.name("sim:0")));
    const Ref buffer =
        g.make(Op::Buffer, uop::I32, sizes, uop::Arg::place(0, uop::AddrSpace::Global));
    int32_t next = 0;
    Both view = {buffer, brute(shape, [&](const Shape& /*i*/) { return next++; })};
    const std::vector<int32_t> before(view.want.data.size(), -5);
    std::ranges::copy(std::as_bytes(std::span(before)), memory.of(g, buffer).begin());
    const int64_t count = draw(0, 5);
    for (int64_t i = 0; i < count; i++) {
      Both more = any_move(g, view);
      const bool is_view = more.node->op != Op::Expand && more.node->op != Op::Pad;
      if (is_view) view = std::move(more);
    }
    // The value is 100, 101, … in the view's order.
    const auto n = static_cast<int64_t>(view.want.data.size());
    const Ref size = g.constant(uop::Index, n);
    const Ref r = g.make(Op::Range, uop::Index, {size}, uop::Arg::axis(0, uop::AxisType::Loop));
    const Ref term = g.alu(Op::Add, {g.make(Op::Cast, uop::I32, {r}), g.constant(uop::I32, 100)});
    const Ref flat =
        g.make(Op::Stage, uop::I32, {term, r}, uop::Arg::place(0, uop::AddrSpace::Global));
    const Ref value = uop::reshape(g, flat, dims(g, view.want.shape));
    const Ref after =
        g.make(Op::After, uop::I32, {buffer, g.make(Op::Store, uop::Void, {view.node, value})});
    const auto got = evaluate(g, std::span(&after, 1), {}, memory);
    RC_ASSERT(got.ok());
    std::vector<int32_t> want = before;
    for (size_t i = 0; i < view.want.data.size(); i++)
      want[static_cast<size_t>(view.want.data[i])] = 100 + static_cast<int32_t>(i);
    RC_ASSERT(values<int32_t>(got.value()[0]) == want);
  });
}

}  // namespace
}  // namespace assay::interpreter
