#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "engine/check.h"
#include "engine/uop/shape.h"
#include "oracles/interpreter/interpreter.h"
#include "oracles/interpreter/lowered.h"

namespace assay::interpreter {
namespace {

using uop::Graph;
using uop::Op;
using uop::Ref;

Ref device(Graph& g) { return g.make(Op::Device, uop::Void, {}, g.name("sim:0")); }
Ref buffer(Graph& g, int32_t number, int64_t size) {
  return g.make(Op::Buffer, uop::F32, {g.constant(uop::Index, size), device(g)},
                uop::Arg::place(number, uop::AddrSpace::Global));
}
Ref param(Graph& g, int64_t slot, int64_t size) {
  return g.make(Op::Param, uop::F32, {g.constant(uop::Index, size)}, uop::Arg::number(slot));
}
Ref range(Graph& g, int32_t number, int64_t size, uop::AxisType type = uop::AxisType::Weak) {
  return g.make(Op::Range, uop::Index, {g.constant(uop::Index, size)},
                uop::Arg::axis(number, type));
}
Ref kernel(Graph& g, Ref address, Ref value, std::span<const Ref> ranges, int64_t name) {
  std::vector<Ref> end = {g.make(Op::Store, uop::Void, {address, value})};
  end.insert(end.end(), ranges.begin(), ranges.end());
  const int64_t number[] = {name};
  return g.make(Op::Sink, uop::Void, {g.make(Op::End, uop::Void, end)}, g.info("k", number));
}

// A LINEAR of `count` kernels that differ, each of about twenty nodes over n elements.
Ref small_kernels(Graph& g, int count, int64_t n) {
  std::vector<Ref> calls;
  const Ref r = range(g, 0, n);
  for (int k = 0; k < count; k++) {
    const Ref turned =
        g.alu(Op::Mod, {g.alu(Op::Add, {r, g.constant(uop::Index, k)}), g.constant(uop::Index, n)});
    Ref x = g.make(Op::Index, uop::F32, {param(g, 1, n), r});
    const Ref y = g.make(Op::Index, uop::F32, {param(g, 2, n), turned});
    for (int i = 0; i < 4; i++) {
      x = g.alu(Op::Add, {g.alu(Op::Mul, {x, y}), g.constant(uop::of_double(uop::F32, i + 0.5))});
    }
    const Ref body =
        kernel(g, g.make(Op::Index, uop::F32, {param(g, 0, n), r}), x, std::span(&r, 1), k);
    calls.push_back(
        g.make(Op::Call, uop::Void, {body, buffer(g, 3, n), buffer(g, 1, n), buffer(g, 2, n)}));
  }
  return g.make(Op::Linear, uop::Void, calls, g.info("", {}));
}

void run_small_kernels(benchmark::State& state) {
  constexpr int kCount = 100;
  Graph g;
  const Ref linear = small_kernels(g, kCount, state.range(0));
  Memory memory;
  while (state.KeepRunning()) {
    const auto ran = run(g, linear, {}, memory);
    ASSAY_CHECK(ran.ok(), "{}", ran.error().message);
  }
  state.SetItemsProcessed(state.iterations() * kCount);
}
BENCHMARK(run_small_kernels)->Arg(16)->Arg(256)->Unit(benchmark::kMicrosecond);

void run_matmul(benchmark::State& state) {
  const int64_t n = state.range(0);
  Graph g;
  const Ref i = range(g, 0, n);
  const Ref j = range(g, 1, n);
  const Ref k = range(g, 2, n, uop::AxisType::Reduce);
  const Ref size = g.constant(uop::Index, n);
  const auto at = [&](int64_t slot, Ref row, Ref column) {
    const Ref place = g.alu(Op::Add, {g.alu(Op::Mul, {row, size}), column});
    return g.make(Op::Index, uop::F32, {param(g, slot, n * n), place});
  };
  const Ref product = g.alu(Op::Mul, {at(1, i, k), at(2, k, j)});
  const Ref sum = g.make(Op::Reduce, uop::F32, {product, k}, uop::Arg::fold(Op::Add, 0));
  const Ref ranges[] = {i, j};
  const Ref body = kernel(g, at(0, i, j), sum, ranges, 0);
  const Ref call = g.make(Op::Call, uop::Void,
                          {body, buffer(g, 0, n * n), buffer(g, 1, n * n), buffer(g, 2, n * n)});
  const Ref linear = g.make(Op::Linear, uop::Void, {call}, g.info("", {}));
  Memory memory;
  while (state.KeepRunning()) {
    const auto ran = run(g, linear, {}, memory);
    ASSAY_CHECK(ran.ok(), "{}", ran.error().message);
  }
  state.SetItemsProcessed(state.iterations() * n * n * n);
}
BENCHMARK(run_matmul)->Arg(16)->Arg(256)->Unit(benchmark::kMillisecond);

void run_sum(benchmark::State& state) {
  const int64_t n = state.range(0);
  Graph g;
  const Ref k = range(g, 0, n, uop::AxisType::Reduce);
  const Ref x = g.make(Op::Index, uop::F32, {param(g, 1, n), k});
  const Ref sum = g.make(Op::Reduce, uop::F32, {x, k}, uop::Arg::fold(Op::Add, 0));
  const Ref body = kernel(
      g, g.make(Op::Index, uop::F32, {param(g, 0, 1), g.constant(uop::Index, 0)}), sum, {}, 0);
  const Ref call = g.make(Op::Call, uop::Void, {body, buffer(g, 0, 1), buffer(g, 1, n)});
  const Ref linear = g.make(Op::Linear, uop::Void, {call}, g.info("", {}));
  Memory memory;
  while (state.KeepRunning()) {
    const auto ran = run(g, linear, {}, memory);
    ASSAY_CHECK(ran.ok(), "{}", ran.error().message);
  }
  state.SetItemsProcessed(state.iterations() * n);
}
BENCHMARK(run_sum)->Arg(1 << 20)->Unit(benchmark::kMillisecond);

// A tensor graph of a hundred nodes over 256 elements.
void evaluate_tensors(benchmark::State& state) {
  Graph g;
  const auto sizes = std::vector<Ref>{g.constant(uop::Index, 16), g.constant(uop::Index, 16)};
  Ref x = uop::reshape(g, buffer(g, 0, 256), sizes);
  for (int i = 0; i < 20; i++) {
    const int64_t order[] = {1, 0};
    const Ref turned = uop::permute(g, x, order);
    const Ref row = g.make(Op::Reduce, uop::F32, {x}, uop::Arg::fold(Op::Max, 1));
    const Ref scale = g.constant(uop::of_double(uop::F32, i + 0.5));
    x = g.alu(Op::Add, {g.alu(Op::Mul, {turned, scale}), row});
  }
  Memory memory;
  while (state.KeepRunning()) {
    const auto got = evaluate(g, std::span(&x, 1), {}, memory);
    ASSAY_CHECK(got.ok(), "{}", got.error().message);
  }
  state.SetItemsProcessed(state.iterations() * 100);
}
BENCHMARK(evaluate_tensors)->Unit(benchmark::kMicrosecond);

// A kernel of 1,000 nodes for 4,096 lanes, or one lane that runs them 4,096 times.
void run_lowered(benchmark::State& state) {
  constexpr int64_t kCount = 4096;
  const auto type = state.range(0) == 0 ? uop::AxisType::Global : uop::AxisType::Loop;
  Graph g;
  const Ref i = range(g, 0, kCount, type);
  const Ref from = g.make(Op::Index, uop::F32, {param(g, 1, kCount), i});
  Ref x = from;
  for (int k = 0; k < 500; k++) {
    const Ref scale = g.constant(uop::of_double(uop::F32, k + 0.5));
    const Ref product = g.alu(Op::Mul, {x, scale});
    x = g.alu(Op::Sub, {product, from});
  }
  const Ref to = g.make(Op::Index, uop::F32, {param(g, 0, kCount), i});
  const Ref body = kernel(g, to, x, std::span(&i, 1), 0);
  std::vector<std::byte> out(kCount * 4);
  std::vector<std::byte> in(kCount * 4);
  const Argument arguments[] = {{out, uop::F32, kCount, true, 0}, {in, uop::F32, kCount, true, 1}};
  while (state.KeepRunning()) {
    const auto ran = run_kernel(g, body, arguments, {});
    ASSAY_CHECK(ran.ok(), "{}", ran.error().message);
  }
  state.SetItemsProcessed(state.iterations() * kCount * 1000);
}
BENCHMARK(run_lowered)->ArgName("serial")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace assay::interpreter
