#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/uop/sample.h"

// Random lists of instructions, for tests: few work-items that write and read LOCAL and GLOBAL
// storage, in loops, branches and between barriers, at indices of all that index arithmetic knows.
namespace assay::props {

class RandomList {
 public:
  RandomList(uint64_t seed, bool has_data) : random_(seed), has_data_(has_data) {}

  // The text of a .uop file.
  std::string make() {
    levels_.resize(1);
    const auto items = int64_t{1} << static_cast<int>(random_.between(1, 3));
    const auto groups = static_cast<int64_t>(random_.between(1, 2));
    zero_ = number(0);
    f_one_ = pure("const f32 1.0", 0);
    f_zero_ = pure("const f32 0.0", 0);
    out_ = pure(fmt::format("param f32 {} {{0}}", number(kGlobal)), 0);
    in_ = pure(fmt::format("param i32 {} {{1}}", number(kGlobal)), 0);
    item_ = pure(fmt::format("special i32 {} {{\"lidx0\"}}", number(items)), 0);
    terms_ = {item_, item_, item_};
    if (groups > 1) {
      terms_.push_back(pure(fmt::format("special i32 {} {{\"gidx0\"}}", number(groups)), 0));
    }
    local_ = pure(fmt::format("buffer f32 {} {{0 local}}", number(kLocal)), 0);
    effect_ = effect(fmt::format("store void {} {}", place(local_, item_), f_zero_));
    // So that most reads find what somebody wrote.
    if (random_.once_in(2)) {
      for (int64_t i = items; i < kLocal; i += items) {
        const std::string at = binary("add", item_, number(i));
        effect_ = effect(fmt::format("store void {} {}", place(local_, at), f_zero_));
      }
      barrier();
    }
    block(static_cast<int>(random_.between(2, 5)), 2);
    const std::string lines = levels_[0].head + levels_[0].body;
    std::string names;
    for (size_t at = 0; at < lines.size(); at = lines.find('\n', at) + 1) {
      names += " " + lines.substr(at, lines.find(' ', at) - at);
    }
    return "uop 1 linear\n" + lines + "%list = linear void" + names + " {\"random\"}\n";
  }

 private:
  static constexpr int64_t kLocal = 16;
  static constexpr int64_t kGlobal = 32;

  // The lines of a loop, or of all: what depends on nothing further in stands at their head.
  struct Level {
    std::string head;
    std::string body;
  };

  std::string named(const std::string& what, std::string& to) {
    std::string name = fmt::format("%{}", lines_++);
    to += fmt::format("{} = {}\n", name, what);
    return name;
  }
  // A line that does something, or that is somewhere for a reason.
  std::string effect(const std::string& what) { return named(what, levels_.back().body); }
  // Nodes are unique: a term that is there already is not written again.
  std::string pure(const std::string& what, size_t level) {
    const auto known = known_.find(what);
    if (known != known_.end()) return known->second;
    std::string name = named(what, levels_[level].head);
    level_of_[name] = level;
    known_.emplace(what, name);
    return name;
  }
  std::string term_of(const std::string& what, std::initializer_list<std::string> operands) {
    size_t level = 0;
    std::string text = what;
    for (const std::string& o : operands) {
      level = std::max(level, level_of_.at(o));
      text += " " + o;
    }
    return pure(text, level);
  }
  // Whether it is the first time that this is asked of a line, which no list has twice.
  bool is_first(const std::string& what) { return met_.insert(what).second; }

  std::string number(int64_t n) { return pure(fmt::format("const i32 {}", n), 0); }
  std::string binary(const char* op, const std::string& a, const std::string& b) {
    return term_of(fmt::format("{} i32", op), {a, b});
  }
  std::string place(const std::string& storage, const std::string& at) {
    return term_of("index f32", {storage, at});
  }

  std::string any_term() { return terms_[random_.below(terms_.size())]; }
  std::string term() {
    std::string t = any_term();
    for (auto steps = random_.below(3); steps > 0; steps--) t = step(t);
    return t;
  }
  std::string step(const std::string& t) {
    const auto small = [&](int64_t from, int64_t to) {
      return number(static_cast<int64_t>(random_.between(from, to)));
    };
    switch (random_.below(12)) {
      case 0: return binary("add", t, small(1, 5));
      case 1: return binary("mul", t, small(2, 5));
      case 2: return binary("mod", t, small(2, 8));
      case 3: return binary("div", t, small(2, 4));
      case 4: return binary("xor", t, small(1, 7));
      case 5: return binary("and", t, small(1, 7));
      case 6: return binary("min", t, small(1, 6));
      case 7: return binary("max", t, small(1, 4));
      case 8: return binary("shl", t, small(1, 2));
      case 9: return binary("sub", small(3, 7), t);
      case 10: return binary("add", t, any_term());
      default: {
        const std::string other = any_term();
        return term_of("where i32", {gate(), t, other});
      }
    }
  }
  std::string gate() {
    const char* const kOps[] = {"lt", "eq", "ne"};
    const std::string a = any_term();
    const std::string b = number(static_cast<int64_t>(random_.between(0, 4)));
    return term_of(fmt::format("{} bool", kOps[random_.below(3)]), {a, b});
  }
  std::string index(int64_t size) {
    const std::string t = random_.once_in(3) ? item_ : term();
    return random_.once_in(12) ? t : binary("mod", t, number(size));
  }

  void barrier() { effect_ = effect(fmt::format("barrier void {}", effect_)); }

  void store() {
    const bool is_local = !random_.once_in(4);
    const std::string value =
        values_.empty() || random_.once_in(2) ? f_one_ : values_[random_.below(values_.size())];
    const std::string to = place(is_local ? local_ : out_, index(is_local ? kLocal : kGlobal));
    const std::string when = random_.once_in(3) ? " " + gate() : "";
    const std::string what = fmt::format("store void {} {}{}", to, value, when);
    if (is_first(what)) effect_ = effect(what);
  }
  void load() {
    const std::string at = index(kLocal);
    const std::string when = random_.once_in(4) ? fmt::format(" {} {}", f_zero_, gate()) : "";
    if (!is_first(fmt::format("load {} {}{}", effect_, at, when))) return;
    if (is_first("after " + effect_)) {
      now_ = effect(fmt::format("after f32 {} {}", local_, effect_));
      now_of_ = effect_;
    }
    if (now_of_ != effect_ || !is_first(fmt::format("index {} {}", now_, at))) return;
    const std::string from = effect(fmt::format("index f32 {} {}", now_, at));
    values_.push_back(effect(fmt::format("load f32 {}{}", from, when)));
  }
  // A small number that the kernel is given.
  std::string datum() {
    const std::string at = random_.once_in(2) ? zero_ : any_term();
    const std::string loaded = term_of("load i32", {term_of("index i32", {in_, at})});
    return binary("mod", loaded, number(static_cast<int64_t>(random_.between(2, 4))));
  }

  // What is made inside is not named outside.
  template <typename Body>
  void inside(Body body) {
    const size_t terms = terms_.size();
    const size_t values = values_.size();
    body();
    terms_.resize(terms);
    values_.resize(values);
  }

  void loop(int depth) {
    std::string count = number(static_cast<int64_t>(random_.between(1, 3)));
    if (has_data_ && random_.once_in(2)) count = datum();
    if (!has_data_ && random_.once_in(6)) count = binary("add", item_, number(1));
    const std::string r = effect(fmt::format("range i32 {} {{{} loop}}", count, ranges_++));
    level_of_[r] = levels_.size();
    levels_.emplace_back();
    effect_ = r;
    inside([&] {
      terms_.push_back(r);
      terms_.push_back(r);
      block(static_cast<int>(random_.between(1, 3)), depth - 1);
    });
    if (effect_ == r) barrier();
    const Level mine = levels_.back();
    levels_.pop_back();
    levels_.back().body += mine.head + mine.body;
    effect_ = effect(fmt::format("end void {} {}", effect_, r));
  }
  void branch(int depth) {
    const std::string condition = gate();
    if (!is_first("if " + condition)) return;
    const std::string open = effect(fmt::format("if void {}", condition));
    effect_ = open;
    inside([&] { block(static_cast<int>(random_.between(1, 2)), depth - 1); });
    effect_ = effect(fmt::format("endif void {}", open));
  }

  void block(int statements, int depth) {
    for (int i = 0; i < statements; i++) {
      if (has_data_ && random_.once_in(4)) terms_.push_back(datum());
      const auto kind = random_.below(10);
      if (kind < 3) store();
      if (kind >= 3 && kind < 5) load();
      if (kind >= 5 && kind < 8) barrier();
      if (kind == 8 && depth > 0) loop(depth);
      if (kind == 9 && depth > 0) branch(depth);
    }
    store();
  }

  uop::Random random_;
  const bool has_data_;
  int lines_ = 0;
  int ranges_ = 0;
  std::vector<Level> levels_;
  std::string zero_, f_one_, f_zero_, out_, in_, item_, local_;
  std::string effect_;               // the last one
  std::string now_, now_of_;         // LOCAL storage after it
  std::vector<std::string> terms_;   // of i32
  std::vector<std::string> values_;  // of f32
  std::map<std::string, std::string> known_;
  std::map<std::string, size_t> level_of_;
  std::set<std::string> met_;
};

}  // namespace assay::props
