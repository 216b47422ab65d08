// Races as the shadow finds them against a comparison of all pairs of accesses.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

#include "oracles/workgroup/test_launch.h"

namespace assay::workgroup {
namespace {

constexpr int kRaceItems = 4;
constexpr int kElements = 6;

// One line of a kernel without branches: a barrier, or an access of element (factor * l + offset)
// mod kElements, which only work-items from `from` on do.
struct Line {
  bool is_barrier;
  bool is_store;
  bool is_local;
  int factor;
  int offset;
  int from;

  int element(int item) const { return (factor * item + offset) % kElements; }
};

Line line() {
  using rc::gen::inRange;
  Line l;
  l.is_barrier = *inRange(0, 5) == 0;
  l.is_store = *rc::gen::arbitrary<bool>();
  l.is_local = *inRange(0, 3) != 0;
  l.factor = *inRange(0, 4);
  l.offset = *inRange(0, kElements);
  l.from = *inRange(0, 3) == 0 ? *inRange(0, kRaceItems) : 0;
  return l;
}

struct Kernel {
  std::string text;
  std::vector<int> nodes;  // of each line
};

Kernel kernel(const std::vector<Line>& lines) {
  Kernel k;
  std::string body = "uop 1 linear\n";
  std::string list;
  int count = 0;
  std::map<std::string, int> names;
  const auto add = [&](const std::string& node) {
    const auto [at, is_new] = names.emplace(node, count);
    if (!is_new) return at->second;
    body += fmt::format("%{} = {}\n", count, node);
    list += fmt::format(" %{}", count);
    return count++;
  };
  const int n = add(fmt::format("const i32 {}", kElements));
  const int global = add(fmt::format("param i32 %{} {{0}}", n));
  const int local = add(fmt::format("buffer i32 %{} {{0 local}}", n));
  const int items = add(fmt::format("const i32 {}", kRaceItems));
  const int l = add(fmt::format("special i32 %{} {{\"lidx0\"}}", items));
  int last = -1;
  for (size_t i = 0; i < lines.size(); i++) {
    const Line& line = lines[i];
    if (line.is_barrier) {
      last = last < 0 ? add("barrier void") : add(fmt::format("barrier void %{}", last));
      k.nodes.push_back(last);
      continue;
    }
    const int storage = line.is_local ? local : global;
    const int after = last < 0 ? storage : add(fmt::format("after i32 %{} %{}", storage, last));
    const int factor = add(fmt::format("const i32 {}", line.factor));
    const int offset = add(fmt::format("const i32 {}", line.offset));
    const int product = add(fmt::format("mul i32 %{} %{}", l, factor));
    const int sum = add(fmt::format("add i32 %{} %{}", product, offset));
    const int element = add(fmt::format("mod i32 %{} %{}", sum, n));
    const int from = add(fmt::format("const i32 {}", line.from - 1));
    const int gate = add(fmt::format("lt bool %{} %{}", from, l));
    const int at = add(fmt::format("index i32 %{} %{}", after, element));
    last = line.is_store ? add(fmt::format("store void %{} %{} %{}", at, l, gate))
                         : add(fmt::format("load i32 %{} %{} %{}", at, l, gate));
    k.nodes.push_back(last);
  }
  k.text = body + fmt::format("%k = linear void{} {{\"k\"}}\n", list);
  return k;
}

using Cell = std::pair<bool, int>;  // whether LOCAL; the element

// The cells that two work-items race for.
std::set<Cell> racing_cells(const std::vector<Line>& lines) {
  std::set<Cell> cells;
  for (size_t a = 0; a < lines.size(); a++) {
    bool is_ordered = false;
    for (size_t b = a; b < lines.size(); b++) {
      is_ordered = is_ordered || lines[b].is_barrier;
      const bool conflicts = !lines[a].is_barrier && !lines[b].is_barrier &&
                             lines[a].is_local == lines[b].is_local &&
                             (lines[a].is_store || lines[b].is_store);
      if (!conflicts || (is_ordered && lines[a].is_local)) continue;
      for (int i = lines[a].from; i < kRaceItems; i++) {
        for (int j = lines[b].from; j < kRaceItems; j++) {
          if (i != j && lines[a].element(i) == lines[b].element(j))
            cells.insert({lines[a].is_local, lines[a].element(i)});
        }
      }
    }
  }
  return cells;
}

TEST(Races, AreThoseOfAllPairsInEveryInterleaving) {
  ASSERT_TRUE(rc::check("the cells that race are the same", [] {
    std::vector<Line> lines;
    for (int i = 0, n = *rc::gen::inRange(1, 12); i < n; i++) lines.push_back(line());
    const Kernel k = kernel(lines);
    const std::set<Cell> expected = racing_cells(lines);
    for (const Schedule& schedule : interleavings()) {
      TestLaunch launch(k.text);
      launch.add<int32_t>(std::vector<int32_t>(kElements));
      launch.launch.items[0] = kRaceItems;
      launch.options.schedule = schedule;
      const auto report = launch.run();
      RC_ASSERT(report.ok());
      bool is_racy = false;
      for (const Finding& f : report.value().findings) {
        if (f.fault != Fault::Race) continue;
        is_racy = true;
        const bool is_local = f.text.find("at local") != std::string::npos;
        RC_ASSERT(expected.count({is_local, static_cast<int>(f.element)}) == 1);
      }
      RC_ASSERT(is_racy == !expected.empty());
    }
  }));
}

}  // namespace
}  // namespace assay::workgroup
