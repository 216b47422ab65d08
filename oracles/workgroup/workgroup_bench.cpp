// Node executions a second of the work-group machine.
#include <benchmark/benchmark.h>

#include <map>
#include <string>

#include "engine/uop/text.h"
#include "oracles/workgroup/workgroup.h"

namespace assay::workgroup {
namespace {

using uop::Ref;

// A LINEAR that is written node by node, each once.
struct Writer {
  std::string text = "uop 1 linear\n";
  std::map<std::string, std::string, std::less<>> names;
  std::string list;

  std::string operator()(const std::string& node) {
    const auto [at, is_new] = names.emplace(node, fmt::format("%{}", names.size()));
    if (is_new) {
      text += fmt::format("{} = {}\n", at->second, node);
      list += " " + at->second;
    }
    return at->second;
  }
  std::string done() { return text + fmt::format("%l = linear void{} {{\"\"}}\n", list); }
};

// out[i] = some hundred sums and products of in[i], at a type.
std::string arithmetic(std::string_view type, int items, int groups) {
  Writer w;
  const std::string size = w(fmt::format("const i32 {}", items * groups));
  const std::string out = w(fmt::format("param {} {} {{0}}", type, size));
  const std::string in = w(fmt::format("param {} {} {{1}}", type, size));
  const std::string n = w(fmt::format("const i32 {}", items));
  const std::string l = w(fmt::format("special i32 {} {{\"lidx0\"}}", n));
  std::string at = l;
  if (groups > 1) {
    const std::string many = w(fmt::format("const i32 {}", groups));
    const std::string g = w(fmt::format("special i32 {} {{\"gidx0\"}}", many));
    const std::string first = w(fmt::format("mul i32 {} {}", g, n));
    at = w(fmt::format("add i32 {} {}", first, l));
  }
  const std::string from = w(fmt::format("index {} {} {}", type, in, at));
  std::string x = w(fmt::format("load {} {}", type, from));
  for (int i = 0; i < 100; i++) {
    const std::string y = w(fmt::format("mul {} {} {}", type, x, x));
    x = w(fmt::format("add {} {} {}", type, y, x));
  }
  const std::string to = w(fmt::format("index {} {} {}", type, out, at));
  w(fmt::format("store void {} {}", to, x));
  return w.done();
}

// A product of 64 x 64 matrices by tiles of 16 x 16 in LOCAL storage, with two barriers a tile.
std::string tiles() {
  Writer w;
  const std::string size = w("const i32 4096");
  const std::string out = w(fmt::format("param f32 {} {{0}}", size));
  const std::string a = w(fmt::format("param f32 {} {{1}}", size));
  const std::string b = w(fmt::format("param f32 {} {{2}}", size));
  const std::string tile = w("const i32 256");
  const std::string ta = w(fmt::format("buffer f32 {} {{0 local}}", tile));
  const std::string tb = w(fmt::format("buffer f32 {} {{1 local}}", tile));
  const std::string one = w("const i32 1");
  const std::string acc = w(fmt::format("buffer f32 {} {{2 reg}}", one));
  const std::string c0 = w("const i32 0");
  const std::string c4 = w("const i32 4");
  const std::string c16 = w("const i32 16");
  const std::string c64 = w("const i32 64");
  const std::string gj = w(fmt::format("special i32 {} {{\"gidx0\"}}", c4));
  const std::string gi = w(fmt::format("special i32 {} {{\"gidx1\"}}", c4));
  const std::string j = w(fmt::format("special i32 {} {{\"lidx0\"}}", c16));
  const std::string i = w(fmt::format("special i32 {} {{\"lidx1\"}}", c16));
  const auto madd = [&](const std::string& x, const std::string& n, const std::string& y) {
    const std::string product = w(fmt::format("mul i32 {} {}", x, n));
    return w(fmt::format("add i32 {} {}", product, y));
  };
  const std::string row = madd(gi, c16, i);
  const std::string column = madd(gj, c16, j);
  const std::string place = madd(row, c64, column);
  const std::string here = madd(i, c16, j);
  const std::string zero = w("const f32 0.0");
  const std::string cell = w(fmt::format("index f32 {} {}", acc, c0));
  const std::string start = w(fmt::format("store void {} {}", cell, zero));
  const std::string o = w(fmt::format("range i32 {} {{0 reduce}}", c4));
  const std::string a_column = madd(o, c16, j);
  const std::string a_at = madd(row, c64, a_column);
  const std::string b_row = madd(o, c16, i);
  const std::string b_at = madd(b_row, c64, column);
  const auto load = [&](const std::string& from, const std::string& at) {
    const std::string from_at = w(fmt::format("index f32 {} {}", from, at));
    return w(fmt::format("load f32 {}", from_at));
  };
  const auto store = [&](const std::string& to, const std::string& at, const std::string& x) {
    const std::string to_at = w(fmt::format("index f32 {} {}", to, at));
    return w(fmt::format("store void {} {}", to_at, x));
  };
  const std::string a_in = load(a, a_at);
  const std::string b_in = load(b, b_at);
  const std::string wa = store(ta, here, a_in);
  const std::string wb = store(tb, here, b_in);
  const std::string first = w(fmt::format("barrier void {} {}", wa, wb));
  const std::string k = w(fmt::format("range i32 {} {{1 reduce}}", c16));
  const std::string sa = w(fmt::format("after f32 {} {} {}", ta, first, k));
  const std::string sb = w(fmt::format("after f32 {} {} {}", tb, first, k));
  const std::string x = load(sa, madd(i, c16, k));
  const std::string y = load(sb, madd(k, c16, j));
  const std::string product = w(fmt::format("mul f32 {} {}", x, y));
  const std::string in = w(fmt::format("after f32 {} {} {} {}", acc, start, o, k));
  const std::string in_at = w(fmt::format("index f32 {} {}", in, c0));
  const std::string before = w(fmt::format("load f32 {}", in_at));
  const std::string sum = w(fmt::format("add f32 {} {}", before, product));
  const std::string step = w(fmt::format("store void {} {}", in_at, sum));
  const std::string inner = w(fmt::format("end void {} {}", step, k));
  const std::string second = w(fmt::format("barrier void {}", inner));
  const std::string outer = w(fmt::format("end void {} {}", second, o));
  const std::string all = w(fmt::format("after f32 {} {}", acc, outer));
  const std::string result = load(all, c0);
  store(out, place, result);
  return w.done();
}

void run(benchmark::State& state, const std::string& text, const Launch& launch,
         std::vector<std::vector<std::byte>> bytes, bool is_checked, int width = 0) {
  uop::Graph g;
  const auto parsed = uop::from_text(g, text);
  ASSAY_CHECK(parsed.ok(), "{}", to_string(parsed.error()));
  uop::Target target = uop::generic_target();
  target.memory = uop::MemoryContract{};
  std::vector<Argument> arguments;
  for (auto& b : bytes) arguments.push_back({b, {}});
  Options options;
  options.is_checked = is_checked;
  options.schedule.width = width;
  int64_t executed = 0;
  for (auto _ : state) {
    const auto report = execute(g, parsed.value().root, arguments, {}, launch, target, options);
    ASSAY_CHECK(report.ok(), "{}", report.error().message);
    for (const Finding& f : report.value().findings) ASSAY_CHECK(false, "{}", f.text);
    executed += report.value().executed;
  }
  state.counters["nodes"] =
      benchmark::Counter(static_cast<double>(executed), benchmark::Counter::kIsRate);
}

void elementwise(benchmark::State& state, std::string_view type, int items, int groups,
                 bool is_checked) {
  Launch launch;
  launch.items[0] = items;
  launch.groups[0] = groups;
  const std::vector<std::byte> bytes(static_cast<size_t>(items * groups) * 8, std::byte{1});
  run(state, arithmetic(type, items, groups), launch, {bytes, bytes}, is_checked);
}

void matmul(benchmark::State& state, bool is_checked, int width) {
  Launch launch;
  launch.items = {16, 16, 1};
  launch.groups = {4, 4, 1};
  const std::vector<std::byte> bytes(4096 * 4);
  run(state, tiles(), launch, {bytes, bytes, bytes}, is_checked, width);
}

BENCHMARK_CAPTURE(elementwise, f32_groups_of_64, "f32", 64, 64, false);
BENCHMARK_CAPTURE(elementwise, f32_groups_of_1, "f32", 1, 4096, false);
BENCHMARK_CAPTURE(elementwise, f32_checked, "f32", 64, 64, true);
BENCHMARK_CAPTURE(elementwise, i32_groups_of_64, "i32", 64, 64, false);
BENCHMARK_CAPTURE(elementwise, f16_groups_of_64, "f16", 64, 64, false);
BENCHMARK_CAPTURE(elementwise, f64_groups_of_64, "f64", 64, 64, false);
BENCHMARK_CAPTURE(matmul, tiles_unchecked, false, 0);
BENCHMARK_CAPTURE(matmul, tiles_checked, true, 0);
BENCHMARK_CAPTURE(matmul, tiles_checked_one_by_one, true, 1);

}  // namespace
}  // namespace assay::workgroup
