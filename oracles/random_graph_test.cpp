// What a tensor graph denotes and what its kernels compute is the same, for thousands of random
// ones.
#include "oracles/random_graph.h"

#include <gtest/gtest.h>

#include <cstring>

#include "engine/schedule/kernel_graph.h"
#include "engine/schedule/kernel_text.h"
#include "engine/schedule/order.h"
#include "engine/schedule/snapshot.h"
#include "engine/tensor/session.h"
#include "engine/uop/text.h"
#include "oracles/interpreter/interpreter.h"

namespace assay::schedule {
namespace {

using uop::DType;
using uop::Graph;

// Whether both have a NaN where byte k lies. Which NaN comes out of an operation is open, and a
// reduce of one element may be none.
bool are_nan(DType t, std::span<const std::byte> a, std::span<const std::byte> b, size_t k) {
  if (!uop::is_float(t)) return false;
  const auto width = static_cast<size_t>(uop::bytes_of(t));
  const auto is_nan = [&](std::span<const std::byte> bytes) {
    uop::Value v{t, 0};
    std::memcpy(&v.bits, &bytes[k / width * width], width);
    return uop::is_nan(v);
  };
  return is_nan(a) && is_nan(b);
}

void fill(std::span<std::byte> bytes, DType t, std::mt19937_64& random) {
  const auto size = static_cast<size_t>(uop::bytes_of(t));
  for (size_t i = 0; i < bytes.size(); i += size) {
    const auto n = static_cast<int64_t>(random() % 9) - (t == DType::U8 || t == DType::U32 ? 0 : 4);
    const uint64_t bits = uop::of_int(t, n).bits;
    std::memcpy(&bytes[i], &bits, size);
  }
}

Result<Ref> linear_of(Graph& g, Ref graph) {
  for (int tries = 0; tries < 20; ++tries) {
    std::vector<Cycle> cycles;
    Result<Ref> linear = create_schedule(g, graph, &cycles);
    if (linear.ok() || cycles.empty()) return linear;
    graph = break_cycles(g, graph, cycles);
  }
  return Error{"circles without end"};
}

class RandomGraphs : public testing::TestWithParam<int> {};

std::string trouble(uint64_t seed, const uop::Target& target) {
  Graph g;
  RandomGraph random(g, seed);
  const Ref sink = random.make();
  interpreter::Memory memory;
  std::mt19937_64 numbers(seed);
  for (const Ref b : random.inputs()) fill(memory.of(g, b), b->dtype, numbers);
  std::vector<Ref> nodes(sink->src.begin(), sink->src.end());
  const auto wanted = interpreter::evaluate(g, nodes, {}, memory);
  if (!wanted.ok()) return "evaluate: " + to_string(wanted.error());
  uop::Run run(g);
  const Result<Ref> graph = get_kernel_graph(run, sink, target);
  if (!graph.ok()) return "graph: " + to_string(graph.error());
  const Result<Ref> linear = linear_of(g, graph.value());
  if (!linear.ok()) return "order: " + to_string(linear.error());
  const std::string text = KernelText::of(g, graph.value()) + uop::to_text(g, sink, "tensor");
  const auto done = interpreter::run(g, linear.value(), {}, memory);
  if (!done.ok()) return "run: " + to_string(done.error()) + "\n" + text;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Ref storage = tensor::storage_of(nodes[i]);
    const auto got = memory.at(storage->arg.number());
    const auto& bytes = wanted.value()[i].bytes;
    for (size_t k = 0; k < bytes.size(); ++k) {
      if (got[k] == bytes[k] || are_nan(nodes[i]->dtype, got, bytes, k)) continue;
      return fmt::format("state {} differs at byte {}: {} when it is {}\n{}", i, k,
                         static_cast<int>(got[k]), static_cast<int>(bytes[k]), text);
    }
  }
  return "";
}

TEST_P(RandomGraphs, ComputeWhatTheyDenote) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const uint64_t number = seed + 500 * static_cast<uint64_t>(GetParam());
    const std::string wrong = trouble(number, uop::generic_target());
    ASSERT_EQ(wrong, "") << "seed " << number;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomGraphs, testing::Range(0, 8));

TEST(RandomGraphs, ComputeTheSameWithFewBuffersAKernel) {
  uop::Target target = uop::generic_target();
  target.limits.buffers = 4;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    ASSERT_EQ(trouble(seed, target), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace assay::schedule
