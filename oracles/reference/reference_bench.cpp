#include <benchmark/benchmark.h>

#include <string_view>

#include "engine/check.h"
#include "engine/tensor/program/text.h"
#include "oracles/reference/reference.h"

namespace assay::reference {
namespace {

// Ten statements on 256 elements, of the kinds that programs are made of.
constexpr std::string_view kTen = R"(tp 1
x: f32[16, 16] = input(random=normal, seed=1)
y: f32[16, 16] = input(random=normal, seed=2)
a: f32[16, 16] = mul(x, y)
b: f32[16, 16] = add(a, 0.5)
v: f32[16, 8] = slice(b, at=[0:16, 0:16:2])
v := 1
c: f32[16, 1] = sum(b, axes=[1], keep=true)
d: f32[16, 16] = div(b, c)
e: f32[16, 16] = maximum(d, x)
f: f32[16, 16] = permute(e)
g: f32[16, 16] = tanh(f)
force g
)";

constexpr std::string_view kConv = R"(tp 1
x: f32[1, 16, 32, 32] = input(random=normal, seed=1)
w: f32[32, 16, 3, 3] = input(random=normal, seed=2)
y: f32[1, 32, 30, 30] = conv(x, w)
)";

constexpr std::string_view kMatMul = R"(tp 1
x: f32[128, 128] = input(random=normal, seed=1)
y: f32[128, 128] = input(random=normal, seed=2)
z: f32[128, 128] = matmul(x, y)
)";

constexpr std::string_view kSort = R"(tp 1
x: f32[4096] = input(random=normal, seed=1)
e: f32[4096] = exp(x)
z: f32[4096] = sort(e)
)";

constexpr std::string_view kNorm = R"(tp 1
x: f32[8, 32] = input(random=normal, seed=1)
a: f32[8, 32] = layer_norm(x, axes=[1])
b: f32[8, 32] = gelu(a)
c: f32[8, 32] = softmax(b)
)";

void evaluates(benchmark::State& state, std::string_view text) {
  const Result<tensor::Program> program = tensor::from_text(text);
  ASSAY_CHECK(program.ok(), "{}", program.ok() ? "" : to_string(program.error()));
  for (auto _ : state) {
    const Result<std::vector<Array>> values = evaluate(program.value());
    ASSAY_CHECK(values.ok(), "{}", values.ok() ? "" : to_string(values.error()));
    benchmark::DoNotOptimize(values);
  }
}

BENCHMARK_CAPTURE(evaluates, ten_statements, kTen);
BENCHMARK_CAPTURE(evaluates, conv, kConv);
BENCHMARK_CAPTURE(evaluates, matmul, kMatMul);
BENCHMARK_CAPTURE(evaluates, sort, kSort);
BENCHMARK_CAPTURE(evaluates, norm, kNorm);

}  // namespace
}  // namespace assay::reference
