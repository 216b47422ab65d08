// Loops and branches that work-items take differently: in lockstep they are masks, one by one they
// are jumps, and both must come to the same.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "oracles/workgroup/test_launch.h"

namespace assay::workgroup {
namespace {

constexpr int kBranchItems = 8;

// A kernel of nested loops and branches around an accumulator, written as it is drawn.
class Draw {
 public:
  std::string run() {
    const int items = add(fmt::format("const i32 {}", kBranchItems));
    const int two = add("const i32 2");
    l_ = add(fmt::format("special i32 %{} {{\"lidx0\"}}", items));
    const int g = add(fmt::format("special i32 %{} {{\"gidx0\"}}", two));
    const int all = add(fmt::format("const i32 {}", 2 * kBranchItems));
    const int out = add(fmt::format("param i32 %{} {{0}}", all));
    const int one = add("const i32 1");
    acc_ = add(fmt::format("buffer i32 %{} {{0 reg}}", one));
    zero_ = add("const i32 0");
    three_ = add("const i32 3");
    four_ = add("const i32 4");
    hundred_ = add("const i32 100");
    const int first = add(fmt::format("mul i32 %{} %{}", g, items));
    place_ = add(fmt::format("add i32 %{} %{}", first, l_));
    values_ = {l_, g, two, one, zero_, place_};
    const int cell = add(fmt::format("index i32 %{} %{}", acc_, zero_));
    last_ = add(fmt::format("store void %{} %{}", cell, l_));
    for (int i = 0; i < 3; i++) statement(0);
    const int result = load();
    const int to = add(fmt::format("index i32 %{} %{}", out, place_));
    add(fmt::format("store void %{} %{}", to, result));
    return body_ + fmt::format("%k = linear void{} {{\"k\"}}\n", list_);
  }

 private:
  int add(const std::string& node) {
    const auto [at, is_new] = names_.emplace(node, static_cast<int>(names_.size()));
    if (!is_new) return at->second;
    body_ += fmt::format("%{} = {}\n", at->second, node);
    list_ += fmt::format(" %{}", at->second);
    return at->second;
  }
  int value() { return values_[*rc::gen::inRange<size_t>(0, values_.size())]; }
  // A value that no other scope has.
  int fresh_value() {
    const int number = add(fmt::format("const i32 {}", 100 + fresh_++));
    const int sum = add(fmt::format("add i32 %{} %{}", value(), number));
    return add(fmt::format("sub i32 %{} %{}", sum, hundred_));
  }
  int cell() {
    const int state = add(fmt::format("after i32 %{} %{}", acc_, last_));
    return add(fmt::format("index i32 %{} %{}", state, zero_));
  }
  int load() { return add(fmt::format("load i32 %{}", cell())); }
  // acc = 3 * acc + value
  void step() {
    const int at = cell();
    const int before = add(fmt::format("load i32 %{}", at));
    const int scaled = add(fmt::format("mul i32 %{} %{}", before, three_));
    const int after = add(fmt::format("add i32 %{} %{}", scaled, value()));
    last_ = add(fmt::format("store void %{} %{}", at, after));
  }
  void statement(int depth) {
    const int kind = depth == 3 ? 0 : *rc::gen::inRange(0, 4);
    if (kind == 0) return step();
    // What is computed within is not there afterwards.
    const std::map<std::string, int> names = names_;
    const size_t values = values_.size();
    const int opened = kind == 1 ? branch() : loop();
    for (int i = 0, n = *rc::gen::inRange(1, 3); i < n; i++) statement(depth + 1);
    last_ = kind == 1 ? add(fmt::format("endif void %{}", opened))
                      : add(fmt::format("end void %{} %{}", last_, opened));
    values_.resize(values);
    forget(names);
  }
  int branch() {
    const int count = load();
    const bool is_below = *rc::gen::arbitrary<bool>();
    const bool is_stored = *rc::gen::arbitrary<bool>();
    const int x = fresh_value();
    const int condition =
        add(fmt::format("{} bool %{} %{}", is_below ? "lt" : "ne", x, is_stored ? count : l_));
    return add(fmt::format("if void %{} %{}", condition, last_));
  }
  int loop() {
    const int x = fresh_value();
    const int count = add(fmt::format("mod i32 %{} %{}", x, four_));
    const int opened = add(fmt::format("range i32 %{} {{{} loop}}", count, ranges_++));
    last_ = add(fmt::format("after i32 %{} %{} %{}", acc_, last_, opened));
    values_.push_back(opened);
    return opened;
  }
  // Nodes of a scope that has ended are never met again: each gets a name of its own.
  void forget(const std::map<std::string, int>& names) {
    std::map<std::string, int> kept = names;
    for (const auto& [node, number] : names_) {
      const bool is_kept = names.count(node) != 0 || node.starts_with("const");
      kept.emplace(is_kept ? node : fmt::format("gone {}", number), number);
    }
    names_ = std::move(kept);
  }

  std::string body_ = "uop 1 linear\n";
  std::string list_;
  std::map<std::string, int> names_;
  std::vector<int> values_;
  int l_ = 0;
  int acc_ = 0;
  int zero_ = 0;
  int place_ = 0;
  int last_ = 0;
  int three_ = 0;
  int four_ = 0;
  int hundred_ = 0;
  int ranges_ = 0;
  int fresh_ = 5;
};

TEST(Branches, ComeToTheSameInEveryInterleaving) {
  ASSERT_TRUE(rc::check("masks are jumps", [] {
    const std::string text = Draw().run();
    std::vector<std::vector<int32_t>> results;
    for (const Schedule& schedule : interleavings()) {
      TestLaunch launch(text);
      launch.add<int32_t>(std::vector<int32_t>(2 * kBranchItems));
      launch.launch = {{2, 1, 1}, {kBranchItems, 1, 1}};
      launch.options.schedule = schedule;
      const std::string found = launch.findings();
      RC_ASSERT(found == "");
      results.push_back(launch.get<int32_t>(0));
      RC_ASSERT(results.back() == results.front());
    }
  }));
}

}  // namespace
}  // namespace assay::workgroup
