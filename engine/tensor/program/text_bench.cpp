#include <benchmark/benchmark.h>

#include <string>

#include "engine/check.h"
#include "engine/tensor/program/text.h"

namespace assay::tensor {
namespace {

constexpr std::string_view kTenStatements = R"(tp 1
# ten statements
var n in 1..16 = 5
a: f32[4, n] = input(random=normal, seed=7)
b: f32[4, n] = input(data=[1, 2.5, 3, -4, 5, 6, 7, 8, 9, 10, 1, 2.5, 3, -4, 5, 6, 7, 8, 9, 10])
c: f32[4, n] = add(a, b)
d: f32[4] = sum(c, axes=[1])
e: f32[2] = slice(d, at=[0:4:2])
e := 0
f: f32[4, n] = where(true, c, 1.5)
g: f32[4, 2 * n] = cat(c, f, axis=1)
force g, d
expect d = [0, 1.5, 0, _]
)";

void read_text(benchmark::State& state) {
  for (auto _ : state) {
    auto program = from_text(kTenStatements);
    ASSAY_CHECK(program.ok(), "{}", to_string(program.error()));
    benchmark::DoNotOptimize(program);
  }
}
BENCHMARK(read_text);

void print_text(benchmark::State& state) {
  const auto program = from_text(kTenStatements);
  for (auto _ : state) benchmark::DoNotOptimize(to_text(program.value()));
}
BENCHMARK(print_text);

}  // namespace
}  // namespace assay::tensor
