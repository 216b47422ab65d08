#include <gtest/gtest.h>

#include <numeric>

#include "engine/render/device_test.h"

namespace assay::render {
namespace {

using uop::AxisType;
using uop::DType;
using uop::Op;
using uop::Ref;

constexpr DType kTypes[] = {DType::Bool, DType::I8,  DType::U8,  DType::I16,
                            DType::U16,  DType::I32, DType::U32, DType::I64,
                            DType::U64,  DType::F16, DType::F32, DType::F64};

class Kernels : public Device {
 protected:
  static std::vector<float> count(size_t n) {
    std::vector<float> values(n);
    std::iota(values.begin(), values.end(), 0.0F);
    return values;
  }
  std::vector<float> floats(size_t launch, size_t slot = 0) {
    return values_of<float>(result(launch, slot));
  }
};

TEST_P(Kernels, ReadAndWriteVectorsOfEveryWidthAlignedOrNot) {
  constexpr int64_t kWidths[] = {2, 3, 4, 8, 16};
  std::vector<std::vector<Bytes>> expected;  // by type and width
  for (const DType t : kTypes) {
    std::vector<Ref> stores;
    std::vector<Bytes> buffers;
    expected.emplace_back();
    for (const int64_t width : kWidths) {
      const int64_t size = 3 * width + 1;
      const int slot = static_cast<int>(buffers.size());
      const auto bytes = static_cast<size_t>(uop::bytes_of(t));
      Bytes in(static_cast<size_t>(size) * bytes);
      for (size_t i = 0; i < in.size(); i++) {
        in[i] = static_cast<uint8_t>(t == DType::Bool ? i / 2 % 2 : i * 7 % 60 + 1);
      }
      Bytes out(in.size());
      // Lanes are reversed on the way from a place that is a multiple to one that is not, and back.
      for (const auto& [from, to] : {std::pair<int64_t, int64_t>{width, 1}, {1, 2 * width}}) {
        const Ref vector = load(run(param(slot + 1, size, t), i32(from), width));
        std::vector<Ref> lanes;
        for (int64_t k = width; k-- > 0;) {
          Ref lane = index(vector, i32(k));
          if (t == DType::F16) {
            lane = g.make(Op::Cast, t, {g.make(Op::Cast, DType::F32, {lane})});
          }
          lanes.push_back(lane);
          std::copy_n(&in[static_cast<size_t>(from + k) * bytes], bytes,
                      &out[static_cast<size_t>(to + width - 1 - k) * bytes]);
        }
        const Ref place = run(param(slot, size, t), i32(to), width);
        stores.push_back(store(place, g.make(Op::Stack, t, lanes)));
      }
      buffers.insert(buffers.end(), {Bytes(in.size()), in});
      expected.back().push_back(out);
    }
    kernel(sink(stores), buffers);
  }
  run_launches(Build::Quick);
  for (size_t k = 0; k < launches.size(); k++) {
    for (size_t w = 0; w < std::size(kWidths); w++) {
      EXPECT_EQ(result(k, 2 * w), expected[k][w]) << kWidths[w] << text(k);
    }
  }
}

TEST_P(Kernels, ReadNothingWhereTheGateIsClosed) {
  const Ref r = range(0, 8, AxisType::Loop);
  const Ref gate = lt(r, i32(4));
  // A place far out of bounds, which only a closed gate leads to.
  const Ref far = alu(Op::Where, {gate, r, i32(1 << 28)});
  const Ref x = load(index(param(1, 4), far), f32(-1), gate);
  const size_t scalar =
      kernel(sink({end(store(index(param(0, 8), r), x), {r})}), {Bytes(32), bytes_of(count(4))});
  const Ref wide = load(run(param(1, 16), mul(far, i32(4)), 4), f32(-2), gate);
  const Ref out = run(param(0, 32), mul(r, i32(4)), 4);
  std::vector<Ref> lanes;
  for (int64_t k = 0; k < 4; k++) lanes.push_back(index(wide, i32(k)));
  const size_t vector = kernel(sink({end(store(out, g.make(Op::Stack, DType::F32, lanes)), {r})}),
                               {Bytes(128), bytes_of(count(16))});
  const Ref place = index(param(0, 8), far);
  const size_t stored = kernel(sink({end(store(place, f32(3), gate), {r})}), {bytes_of(count(8))});
  run_launches(Build::Optimized);
  EXPECT_EQ(floats(scalar), (std::vector<float>{0, 1, 2, 3, -1, -1, -1, -1}));
  std::vector<float> expected = count(16);
  expected.resize(32, -2);
  EXPECT_EQ(floats(vector), expected);
  EXPECT_EQ(floats(stored), (std::vector<float>{3, 3, 3, 3, 4, 5, 6, 7}));
}

TEST_P(Kernels, ShareLocalStorageBetweenBarriers) {
  // Work-item l stores 8 partial sums in turn; item 0 adds them up each time.
  const Ref item = special("lidx0", 8);
  const Ref group_of = special("gidx0", 3);
  const Ref k = range(0, 4, AxisType::Loop);
  const Ref shared = local(0, 8);
  const Ref at = add(add(mul(group_of, i32(32)), mul(k, i32(8))), item);
  const Ref put = store(index(after(shared, {k}), item), load(index(param(1, 96), at)));
  const Ref ready = after(shared, {put});
  const Ref j = range(1, 8);
  const Ref total = load(sum(1, load(index(ready, j)), {j}, {k}), 0);
  const Ref out = index(param(0, 12), add(mul(group_of, i32(4)), k));
  const size_t launch =
      kernel(sink({end(store(out, total, is_zero(item)), {k})}), {Bytes(48), bytes_of(count(96))});
  run_launches(Build::Optimized);
  std::vector<float> expected;
  for (int i = 0; i < 12; i++) expected.push_back(static_cast<float>(64 * i + 28));
  EXPECT_EQ(floats(launch), expected) << text(launch);
  EXPECT_EQ(launches[launch].source.items[0], i32(8));
  EXPECT_EQ(launches[launch].source.groups[0], i32(3));
}

// Two hundred times a * b + 1, and a chain and a tree of ten thousand nodes, each used once.
TEST_P(Kernels, OfAnyDepthAreCompiled) {
  const Ref a = load(param(1, 1), 0);
  const Ref b = load(param(2, 1), 0);
  Ref x = a;
  for (int i = 0; i < 200; i++) x = add(mul(x, b), f32(1));
  const Bytes one = bytes_of(std::vector<float>{1});
  const size_t steps = kernel(sink({store(index(param(0, 1), i32(0)), x)}), {Bytes(4), one, one});
  Ref chain = a;
  for (int i = 0; i < 10000; i++) chain = i % 2 == 0 ? alu(Op::Sub, {b, chain}) : add(chain, b);
  const size_t deep =
      kernel(sink({store(index(param(0, 1), i32(0)), chain)}), {Bytes(4), one, one});
  std::vector<Ref> tree;
  for (int i = 0; i < 4096; i++) tree.push_back(alu(Op::Mul, {a, f32(i % 5)}));
  for (int i = 0; i < 4096; i++) tree[static_cast<size_t>(i)] = add(f32(i % 3), mul(b, tree[i]));
  while (tree.size() > 1) {
    std::vector<Ref> pairs;
    for (size_t i = 0; i < tree.size(); i += 2) pairs.push_back(add(tree[i], tree[i + 1]));
    tree = pairs;
  }
  const size_t wide =
      kernel(sink({store(index(param(0, 1), i32(0)), tree[0])}), {Bytes(4), one, one});
  run_launches(Build::Quick);
  EXPECT_EQ(floats(steps), std::vector<float>{201});
  EXPECT_EQ(floats(deep), std::vector<float>{1});
  float sum = 0;
  for (int i = 0; i < 4096; i++) sum += static_cast<float>(i % 5 + i % 3);
  EXPECT_EQ(floats(wide), std::vector<float>{sum});
}

TEST_P(Kernels, MayBeNamedByAnyWord) {
  const std::vector<std::string> words = {"int", "data0", "val0",  "max",
                                          "n.m", "n m",   "half4", "v_1"};
  Ref total = i32(0);
  std::vector<std::string> sorted = words;
  std::sort(sorted.begin(), sorted.end());
  int weight = 1;
  std::vector<Bytes> values;
  for (const std::string& word : sorted) {
    total = add(total, mul(variable(word, 0, 9), i32(weight)));
    values.push_back(bytes_of(std::vector<int32_t>{static_cast<int32_t>(values.size() % 10)}));
    weight *= 10;
  }
  const Ref out = store(index(param(0, 1, DType::I32), i32(0)), total);
  for (const char* name : {"main", "float4", "", "9 NONE", "a-b", "__kernel"}) {
    uop::Run run(g);
    const Result<Ref> linear = uop::run_passes(codegen::late_passes(), run, sink({out}, name));
    const Result<Source> source = render(g, linear.value(), test_target());
    ASSERT_TRUE(source.ok()) << source.error().message;
    launches.push_back({source.value(), {Bytes(4)}, values});
  }
  run_launches(Build::Quick);
  for (size_t k = 0; k < launches.size(); k++) {
    EXPECT_EQ(values_of<int32_t>(result(k)), std::vector<int32_t>{76543210}) << text(k);
  }
}

TEST_P(Kernels, CountLoopsInTheTypeOfTheRange) {
  struct Case {
    DType t;
    int64_t count;
  };
  const Case cases[] = {{DType::U8, 255}, {DType::I8, 127}, {DType::U16, 300},
                        {DType::I64, 5},  {DType::U64, 7},  {DType::I32, 0}};
  for (const Case& c : cases) {
    const Ref r = range(0, g.constant(c.t, c.count), AxisType::Loop);
    const Ref i = c.t == DType::I32 ? r : g.make(Op::Cast, DType::I32, {r});
    const Ref x = g.make(Op::Cast, DType::F32, {r});
    kernel(sink({end(store(index(param(0, 300), i), x), {r})}), {Bytes(1200)});
  }
  // The inner loop runs to what the outer one says, and both to what the caller says.
  const Ref n = variable("n", 0, 6);
  const Ref row = range(0, n, AxisType::Loop);
  const Ref column = range(1, add(row, i32(1)), AxisType::Loop);
  const Ref at = add(mul(row, i32(6)), column);
  const size_t triangle =
      kernel(sink({end(store(index(param(0, 36), at), f32(1)), {column, row})}), {Bytes(144)});
  launches[triangle].variables = {bytes_of(std::vector<int32_t>{4})};
  run_launches(Build::Quick);
  for (size_t k = 0; k < std::size(cases); k++) {
    std::vector<float> expected(300);
    for (size_t i = 0; i < static_cast<size_t>(cases[k].count); i++) expected[i] = float(i);
    EXPECT_EQ(floats(k), expected) << text(k);
  }
  std::vector<float> expected(36);
  for (size_t i = 0; i < 4; i++) std::fill_n(&expected[6 * i], i + 1, 1.0F);
  EXPECT_EQ(floats(triangle), expected) << text(triangle);
}

// Loads of a register that is stored to before their value is used; swapped values.
TEST_P(Kernels, ReadRegistersWhenTheListSays) {
  const Ref two = reg(0, 2);
  const Ref start =
      after(two, {store(index(two, i32(0)), f32(1)), store(index(two, i32(1)), f32(1))});
  const Ref r = range(0, 10);
  const Ref in = after(start, {r});
  const Ref a = load(in, 0);
  const Ref b = load(in, 1);
  const Ref first = store(index(after(in, {a}), i32(0)), b);
  const Ref second = store(index(after(in, {first}), i32(1)), add(a, b));
  const Ref all = after(two, {end(group({first, second}), {r})});
  const Ref out = param(0, 2);
  const size_t launch = kernel(
      sink({store(index(out, i32(0)), load(all, 0)), store(index(out, i32(1)), load(all, 1))}),
      {Bytes(8)});
  run_launches(Build::Optimized);
  EXPECT_EQ(floats(launch), (std::vector<float>{89, 144})) << text(launch);
}

INSTANTIATE_TEST_SUITE_P(Platforms, Kernels, ::testing::Values("Portable", "Oclgrind"));

}  // namespace
}  // namespace assay::render
