#include "engine/uop/text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>
#include <string>
#include <vector>

#include "engine/uop/key.h"
#include "engine/uop/verify.h"
#include "engine/uop/walk.h"

namespace assay::uop {
namespace {

// Reads a text and prints it; the trouble where there is some.
std::string reprinted(std::string_view text) {
  Graph g;
  const auto parsed = from_text(g, text);
  if (!parsed.ok()) return to_string(parsed.error());
  return to_text(g, parsed.value().root, parsed.value().stage);
}

// A smallest graph for every operation, whose last line is that operation.
constexpr std::string_view kSamples[] = {
    "%0 = const bf16 nan:0xffc1\n",
    "%0 = invalid index\n",
    "%0 = var u64 {\"n\" 0 18446744073709551615}\n",
    "%0 = var index {\"n\"}\n",
    "%0 = const index 8\n%1 = range index %0 {-3 group_reduce}\n",
    "%0 = const i32 8\n%1 = special i32 %0 {\"gid0\"}\n",
    "%0 = param f32 {-9223372036854775808}\n",
    "%0 = device void {\"gpu:\\\"\\\\\\n\\t\\x00\\xff\"}\n%1 = buffer f16 %0 {7 local}\n",
    "%0 = device void {\"\"}\n",
    "%0 = const i8 -128\n%1 = neg i8 %0\n",
    "%0 = const bool true\n%1 = not bool %0\n",
    "%0 = const e4m3 nan\n%1 = recip e4m3 %0\n",
    "%0 = const f64 -0.0\n%1 = sqrt f64 %0\n",
    "%0 = const f64 1e-300\n%1 = exp f64 %0\n",
    "%0 = const f16 0.0999755859375\n%1 = exp2 f16 %0\n",
    "%0 = const f32 inf\n%1 = log f32 %0\n",
    "%0 = const f32 -inf\n%1 = log2 f32 %0\n",
    "%0 = const f32 0.1\n%1 = sin f32 %0\n",
    "%0 = const f32 1e+30\n%1 = cos f32 %0\n",
    "%0 = const f32 1.0\n%1 = tan f32 %0\n",
    "%0 = const f32 1.0\n%1 = trunc f32 %0\n",
    "%0 = const f32 1.0\n%1 = floor f32 %0\n",
    "%0 = const f32 1.0\n%1 = ceil f32 %0\n",
    "%0 = const f32 1.0\n%1 = round f32 %0\n",
    "%0 = const f32 1.0\n%1 = cast bool %0\n",
    "%0 = const f32 1.0\n%1 = bitcast u8 %0\n",
    "%0 = const i32 1\n%1 = add i32 %0 %0\n",
    "%0 = const i32 1\n%1 = sub i32 %0 %0\n",
    "%0 = const i32 1\n%1 = mul i32 %0 %0\n",
    "%0 = const f32 1.0\n%1 = fdiv f32 %0 %0\n",
    "%0 = const i32 1\n%1 = div i32 %0 %0\n",
    "%0 = const i32 1\n%1 = mod i32 %0 %0\n",
    "%0 = const i32 1\n%1 = tdiv i32 %0 %0\n",
    "%0 = const i32 1\n%1 = tmod i32 %0 %0\n",
    "%0 = const bool false\n%1 = max bool %0 %0\n",
    "%0 = const i32 1\n%1 = min i32 %0 %0\n",
    "%0 = const bool false\n%1 = and bool %0 %0\n",
    "%0 = const i32 1\n%1 = or i32 %0 %0\n",
    "%0 = const i32 1\n%1 = xor i32 %0 %0\n",
    "%0 = const i32 1\n%1 = shl i32 %0 %0\n",
    "%0 = const i32 1\n%1 = shr i32 %0 %0\n",
    "%0 = const i32 1\n%1 = lt bool %0 %0\n",
    "%0 = const bool true\n%1 = eq bool %0 %0\n",
    "%0 = const f32 1.0\n%1 = ne bool %0 %0\n",
    "%0 = const f32 1.0\n%1 = pow f32 %0 %0\n",
    "%0 = const u64 1\n%1 = threefry u64 %0 %0\n",
    "%0 = const bool true\n%1 = const i64 -1\n%2 = const i64 2\n%3 = where i64 %0 %1 %2\n",
    "%0 = const f32 1.0\n%1 = fma f32 %0 %0 %0\n",
    "%0 = param f32 {0}\n%1 = const index 4\n%2 = reshape f32 %0 %1 %1\n",
    "%0 = param f32 {0}\n%1 = const index 4\n%2 = expand f32 %0 %1\n",
    "%0 = param f32 {0}\n%1 = permute f32 %0 {2 0 1}\n",
    "%0 = param f32 {0}\n%1 = permute f32 %0 {}\n",
    "%0 = param f32 {0}\n%1 = flip f32 %0 {5 0}\n",
    "%0 = param f32 {0}\n%1 = const index 1\n%2 = pad f32 %0 %1 %1\n",
    "%0 = param f32 {0}\n%1 = const index 1\n%2 = shrink f32 %0 %1 %1\n",
    "%0 = stack i32\n",
    "%0 = param f32 {0}\n%1 = reduce f32 %0 {add 1}\n",
    "%0 = param f32 {0}\n%1 = device void {\"a\"}\n%2 = allreduce f32 %0 %1 {max 0}\n",
    "%0 = param f16 {0}\n%1 = param f32 {1}\n%2 = wmma f32 %0 %0 %1 {\"tile\" 8 -8 16}\n",
    "%0 = param f16 {0}\n%1 = param f32 {1}\n%2 = wmma f32 %0 %0 %1\n",
    "%0 = param f32 {0}\n%1 = const i64 3\n%2 = index f32 %0 %1\n",
    "%0 = param f32 {0}\n%1 = const bool true\n%2 = load f32 %0 %0 %1\n",
    "%0 = param f32 {0}\n%1 = const bool true\n%2 = store void %0 %0 %1\n",
    "%0 = param f32 {0}\n%1 = stage f32 %0 {2147483647 reg}\n",
    "%0 = param f32 {0}\n%1 = device void {\"a\"}\n%2 = copy f32 %0 %1\n",
    "%0 = param f32 {0}\n%1 = contiguous f32 %0\n",
    "%0 = param f32 {0}\n%1 = mselect f32 %0 {1}\n",
    "%0 = param f32 {0}\n%1 = mstack f32 %0 %0\n",
    "%0 = param f32 {0}\n%1 = multi f32 %0 {0}\n",
    "%0 = param f32 {0}\n%1 = noop void\n%2 = after f32 %0 %1\n",
    "%0 = noop void\n%1 = const index 2\n%2 = range index %1 {0 loop}\n%3 = end void %0 %2\n",
    "%0 = barrier void\n",
    "%0 = const bool true\n%1 = if void %0\n",
    "%0 = const bool true\n%1 = if void %0\n%2 = endif void %1\n",
    "%0 = noop void\n%1 = group void %0 %0\n",
    "%0 = noop void\n",
    "%0 = var i32 {\"n\" -1 16}\n%1 = const i32 3\n%2 = bind i32 %0 %1\n",
    "%0 = sink void\n%1 = param f32 {0}\n%2 = call void %0 %1 {\"kernel\"}\n",
    "%0 = linear void {\"\"}\n",
    "%0 = sink void {\"r 4\" 1 2 3}\n",
};

TEST(Text, EveryOperationHasASample) {
  std::set<std::string_view> shown;
  for (const std::string_view sample : kSamples) {
    const std::string_view last = sample.substr(sample.rfind('%', sample.rfind(" = ")) + 1);
    const std::string_view op = last.substr(last.find(" = ") + 3);
    shown.insert(op.substr(0, op.find(' ')));
  }
  for (const OpInfo& row : detail::kOps) EXPECT_TRUE(shown.contains(row.text)) << row.text;
  EXPECT_EQ(shown.size(), size_t{kOpCount});
}

TEST(Text, EveryOperationReadsAndPrintsAsItself) {
  for (const std::string_view sample : kSamples) {
    const std::string text = "uop 1 any-stage_0.1\n" + std::string(sample);
    EXPECT_EQ(reprinted(text), text);
  }
}

TEST(Text, PrintsWhatWasBuilt) {
  Graph g;
  const Ref n = g.variable("n", of_int(I32, 1), of_int(I32, 16));
  const Ref range = g.make(Op::Range, I32, {n}, Arg::axis(0, AxisType::Loop));
  const Ref unbound = g.variable("x y", F32);
  const Ref out = g.make(Op::Buffer, F32, {}, Arg::place(2, AddrSpace::Global));
  const Ref index = g.make(Op::Index, F32, {out, range});
  const Ref sum = g.alu(Op::Add, {unbound, g.constant(of_double(F32, 0.5))});
  const Ref store = g.make(Op::Store, Void, {index, sum});
  const Ref end = g.make(Op::End, Void, {store, range});
  const int64_t opts[] = {4, -1};
  const Ref sink = g.make(Op::Sink, Void, {end}, g.info("k", opts));
  EXPECT_EQ(to_text(g, sink, "kernel"),
            "uop 1 kernel\n"
            "%0 = buffer f32 {2 global}\n"
            "%1 = var i32 {\"n\" 1 16}\n"
            "%2 = range i32 %1 {0 loop}\n"
            "%3 = index f32 %0 %2\n"
            "%4 = var f32 {\"x y\"}\n"
            "%5 = const f32 0.5\n"
            "%6 = add f32 %4 %5\n"
            "%7 = store void %3 %6\n"
            "%8 = end void %7 %2\n"
            "%9 = sink void %8 {\"k\" 4 -1}\n");
}

TEST(Text, ReadsAnyNamesCommentsAndSpaces) {
  EXPECT_EQ(reprinted("# found by hand: \"x\"\r\n"
                      "\r\n"
                      "\tuop  1 kernel# a stage\r\n"
                      "  # nothing\r\n"
                      "%unused = const i8 1\r\n"
                      "%007=const index 8#eight\r\n"
                      "%1 = const index 3   \r\n"
                      "%Sum_1 = add index %1 %007\r\n"
                      "%0 = special index%Sum_1{ \"a#b}\\\" c\" }#\r\n"
                      "%2 = mul index %0 %0"),
            "uop 1 kernel\n"
            "%0 = const index 3\n"
            "%1 = const index 8\n"
            "%2 = add index %0 %1\n"
            "%3 = special index %2 {\"a#b}\\\" c\"}\n"
            "%4 = mul index %3 %3\n");
}

TEST(Text, ReadsAllBytesOfAName) {
  std::string name;
  for (int c = 0; c < 256; c++) name += static_cast<char>(c);
  Graph g;
  const Ref device = g.make(Op::Device, Void, {}, g.name(name));
  Graph other;
  const auto parsed = from_text(other, to_text(g, device, "t"));
  ASSERT_TRUE(parsed.ok()) << to_string(parsed.error());
  EXPECT_EQ(parsed.value().root->arg.name(), name);
}

TEST(Text, ReadsHugeListsAndNames) {
  std::string text = "uop 1 t\n%0 = param f32 {0}\n%1 = permute f32 %0 {";
  for (int i = 0; i < 200'000; i++) text += (i == 0 ? "" : " ") + std::to_string(i);
  text += "}\n%2 = sink void %1 {\"" + std::string(1'000'000, 'x') + "\"}\n";
  EXPECT_TRUE(reprinted(text) == text);
}

// 1,000,000 additions one upon another, and one node with 100,000 sources.
Ref large_graph(Graph& g) {
  const Ref one = g.constant(Index, 1);
  Ref chain = g.variable("n", Index);
  for (int i = 0; i < 1'000'000; i++) chain = g.alu(Op::Add, {chain, one});
  std::vector<Ref> sources = {chain};
  for (int i = 1; i < 100'000; i++) sources.push_back(g.constant(Index, i));
  return g.make(Op::Stack, Index, sources);
}

TEST(Text, KeepsLargeGraphs) {
  Graph g;
  const Ref root = large_graph(g);
  const std::string text = to_text(g, root, "t");
  Graph other;
  const auto parsed = from_text(other, text);
  ASSERT_TRUE(parsed.ok()) << to_string(parsed.error());
  EXPECT_EQ(key(other, parsed.value().root), key(g, root));
  EXPECT_TRUE(to_text(other, parsed.value().root, "t") == text);
}

TEST(Text, ReadsNamesThatDoNotCount) {
  std::string text = "uop 1 t\n%last = const index 0\n";
  std::string before = "%last";
  constexpr int kNodes = 100'000;
  for (int i = 0; i < kNodes; i++) {
    const std::string name = "%" + std::to_string(kNodes - i);
    text += name;
    text += " = neg index " + before + "\n";
    before = name;
  }
  Graph g;
  const auto parsed = from_text(g, text);
  ASSERT_TRUE(parsed.ok()) << to_string(parsed.error());
  EXPECT_EQ(toposort(g, parsed.value().root).size(), size_t{kNodes} + 1);
}

// Random well-formed graphs: nodes of random parts, of which those that verify are kept.
Value random_value(DType t) {
  const auto bits = *rc::gen::arbitrary<uint64_t>();
  if (t == Void) return {};
  if (!is_float(t)) return of_int(t, static_cast<int64_t>(bits));
  const int spare = 64 - bits_of(t);
  return {t, bits << spare >> spare};
}

Arg random_arg(Graph& g, ArgKind kind, DType t) {
  const auto small = *rc::gen::inRange<int32_t>(-1, 3);
  const auto any = *rc::gen::arbitrary<int64_t>();
  const auto bytes = *rc::gen::container<std::string>(rc::gen::arbitrary<char>());
  const auto numbers = *rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(0, 3));
  const auto code = *rc::gen::inRange<int>(0, 100);
  switch (kind) {
    case ArgKind::None: return {};
    case ArgKind::Value: return Arg::value(random_value(t));
    case ArgKind::Number: return Arg::number(any);
    case ArgKind::Axis: return Arg::axis(small, static_cast<AxisType>(code % 9));
    case ArgKind::Place: return Arg::place(small, static_cast<AddrSpace>(code % 3));
    case ArgKind::Fold: return Arg::fold(static_cast<Op>(code % kOpCount), small);
    case ArgKind::Numbers: return g.numbers(numbers);
    case ArgKind::Name: return g.name(bytes);
    case ArgKind::Symbol: {
      const int64_t bounds[] = {static_cast<int64_t>(random_value(t).bits),
                                static_cast<int64_t>(random_value(t).bits)};
      return g.symbol(bytes, std::span(bounds).first(code % 2 == 0 ? 0 : 2));
    }
    case ArgKind::Info: return code % 2 == 0 ? Arg() : g.info(bytes, numbers);
  }
  return {};
}

Ref random_graph(Graph& g) {
  std::vector<Ref> made = {g.make(Op::Noop, Void, {})};
  for (const DType t : {Bool, Index, I8, F32}) made.push_back(g.constant(random_value(t)));
  for (int tries = 0; tries < 150; tries++) {
    const auto op = static_cast<Op>(*rc::gen::inRange(0, kOpCount));
    const OpInfo& row = info(op);
    const int most = row.max_sources == kMany ? row.min_sources + 3 : row.max_sources;
    std::vector<Ref> src(*rc::gen::inRange<size_t>(row.min_sources, most + 1));
    for (Ref& s : src) s = made[*rc::gen::inRange<size_t>(0, made.size())];
    const bool is_free = row.typing == Typing::Leaf || row.typing == Typing::Convert;
    DType t = static_cast<DType>(*rc::gen::inRange(0, kDTypeCount));
    if (!is_free && !src.empty()) t = src.back()->dtype;
    if (row.typing == Typing::First) t = src[0]->dtype;
    if (row.typing == Typing::Compare) t = Bool;
    if (row.typing == Typing::Effect) t = Void;
    const UOp probe = {op, t, 0, random_arg(g, row.arg, t), src};
    if (!verify_node(&probe)) made.push_back(g.make(op, t, src, probe.arg));
  }
  return g.make(Op::Sink, Void, made);
}

TEST(Text, KeepsRandomGraphs) {
  EXPECT_TRUE(rc::check([] {
    Graph g;
    const Ref root = random_graph(g);
    const std::string text = to_text(g, root, "t");
    Graph other;
    const auto parsed = from_text(other, text);
    RC_ASSERT(parsed.ok());
    RC_ASSERT(key(other, parsed.value().root) == key(g, root));
    RC_ASSERT(to_text(other, parsed.value().root, "t") == text);
  }));
}

TEST(Text, DoesNotShowWhatElseAGraphHolds) {
  EXPECT_TRUE(rc::check([] {
    Graph g;
    const Ref root = random_graph(g);
    const std::string text = to_text(g, root, "t");
    Graph other;
    random_graph(other);
    const auto parsed = from_text(other, text);
    RC_ASSERT(parsed.ok());
    RC_ASSERT(to_text(other, parsed.value().root, "t") == text);
    RC_ASSERT(key(other, parsed.value().root) == key(g, root));
  }));
}

}  // namespace
}  // namespace assay::uop
