#include "props/rules/repair.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "engine/uop/rules/predicates.h"
#include "props/rules/guard.h"
#include "props/rules/rule_text.h"

namespace assay::props {
namespace {

using oracles::Answer;
using oracles::Strength;
using uop::Cell;
using uop::DType;
using uop::Pat;
using uop::Rule;
using What = Pat::What;
using Point = std::vector<std::pair<std::string, Cell>>;

// Enough for a rule of three holes and two constants; no candidate is tried that a point refutes.
constexpr size_t kMostTrials = 60;
// What takes solvers long once does so again and again.
constexpr size_t kMostUnknown = 3;
// Samples that a guard must leave, of 2000: one that leaves fewer names a case and no condition.
constexpr uint64_t kLeastSamples = 60;

void collect_holes_of(const Pat& pat, std::map<std::string_view, Pat>& holes) {
  if (pat->what == What::Hole || pat->what == What::Constant) holes.try_emplace(pat->name, pat);
  for (const Pat& arg : pat->args) collect_holes_of(arg, holes);
}

// The numbers that a rule writes and that something can be a multiple of.
void collect_literals_of(const Pat& pat, std::set<int64_t>& literals) {
  if (pat->what == What::Literal && pat->literal > 1) literals.insert(pat->literal);
  for (const Pat& arg : pat->args) collect_literals_of(arg, literals);
}

void add_of_constant(const Pat& c, bool is_float, std::vector<Pat>& all) {
  if (is_float) {
    for (const uop::Predicate* p :
         {&uop::kIsPowerOfTwo, &uop::kIsMinusZero, &uop::kIsLowest, &uop::kIsHighest}) {
      all.push_back(uop::test(*p, {c}));
    }
    return;
  }
  const Pat more[] = {c != 0, c != -1, c >= 0, c <= 0, c > 0, c < 0, 0 <= c && c < 63};
  all.insert(all.end(), std::begin(more), std::end(more));
}

void add_of_two_constants(const Pat& c, const Pat& d, std::vector<Pat>& all) {
  const Pat more[] = {c != d,     c <= d,     d <= c,     c < d,       d < c,      d % c == 0,
                      c % d == 0, c % d != 0, d % c != 0, (0 - c) < d, d <= c + 1, c == d};
  all.insert(all.end(), std::begin(more), std::end(more));
}

void add_of_hole(const Pat& x, std::vector<Pat>& all) {
  const Pat more[] = {uop::test(uop::kNeverInvalid, {x}),
                      uop::test(uop::kNeverUnspecified, {x}),
                      uop::test(uop::kNeverInvalid, {x}) && uop::test(uop::kNeverUnspecified, {x}),
                      lo(x) >= 0,
                      hi(x) <= 0,
                      lo(x) > 0,
                      hi(x) < 0};
  all.insert(all.end(), std::begin(more), std::end(more));
}

void add_of_hole_and_constant(const Pat& x, const Pat& c, std::vector<Pat>& all) {
  const Pat more[] = {lo(x) >= c, hi(x) <= c, lo(x) > c,     hi(x) < c,
                      lo(x) < c,  c < hi(x),  0 - c < lo(x), 0 <= lo(x) && hi(x) < c};
  all.insert(all.end(), std::begin(more), std::end(more));
}

void add_of_two_holes(const Pat& x, const Pat& y, std::vector<Pat>& all) {
  const Pat more[] = {hi(x) <= lo(y), hi(y) <= lo(x), hi(x) < lo(y), hi(y) < lo(x)};
  all.insert(all.end(), std::begin(more), std::end(more));
}

// The vocabulary over a rule's holes; constants first, since a guard on them costs least.
std::vector<Pat> vocabulary(const Rule& rule, DType over) {
  std::map<std::string_view, Pat> holes;
  collect_holes_of(rule.match, holes);
  std::vector<Pat> constants;
  std::vector<Pat> terms;
  for (const std::string_view name : uop::hole_names(rule.match)) {
    const Pat& hole = holes.at(name);
    (hole->what == What::Constant ? constants : terms).push_back(hole);
  }
  const bool is_float = uop::is_float(over);
  std::set<int64_t> literals;
  collect_literals_of(rule.match, literals);
  collect_literals_of(rule.replace, literals);
  std::vector<Pat> all;
  for (const Pat& c : constants) {
    add_of_constant(c, is_float, all);
    for (const int64_t n : literals) {
      if (!is_float) all.push_back(c % n == 0);
    }
  }
  for (size_t i = 0; i < constants.size() && !is_float; i++) {
    for (size_t j = i + 1; j < constants.size(); j++) {
      add_of_two_constants(constants[i], constants[j], all);
    }
  }
  for (const Pat& x : terms) {
    add_of_hole(x, all);
    for (const Pat& c : constants) add_of_hole_and_constant(x, c, all);
  }
  for (size_t i = 0; i < terms.size(); i++) {
    for (size_t j = i + 1; j < terms.size(); j++) add_of_two_holes(terms[i], terms[j], all);
  }
  return all;
}

class Repair {
 public:
  Repair(const Rule& rule, DType over, const RuleProof& failed, const RuleJudge& judge)
      : rule_(rule), over_(over), judge_(judge) {
    points_.push_back(failed.point);
  }

  std::optional<std::string> find() {
    const std::vector<Pat> words = vocabulary(rule_, over_);
    for (const Pat& word : words) {
      if (repairs(word)) return to_infix(word);
    }
    for (size_t i = 0; i < words.size(); i++) {
      for (size_t j = i + 1; j < words.size(); j++) {
        const Pat both = words[i] && words[j];
        if (repairs(both)) return to_infix(words[i]) + " && " + to_infix(words[j]);
      }
    }
    return std::nullopt;
  }

 private:
  // The value of a leaf at a point; a bound that the point does not have may be the tightest.
  static Cell at(const Point& point, std::string_view name) {
    for (const auto& [leaf, cell] : point) {
      if (leaf == name) return cell;
    }
    if (name.size() < 4 || name.back() != ')') return {};
    return at(point, name.substr(3, name.size() - 4));
  }

  // Whether a condition holds at a point that refutes the rule, so that it repairs nothing.
  static bool allows(const Pat& condition, const Point& point) {
    return guard_holds(condition, [&](std::string_view name) { return at(point, name); });
  }

  bool repairs(const Pat& condition) {
    for (const Point& point : points_) {
      if (allows(condition, point)) return false;
    }
    if (trials_++ >= kMostTrials || unknown_ >= kMostUnknown) return false;
    Rule guarded = rule_;
    guarded.when = rule_.when.empty() ? condition : rule_.when && condition;
    const RuleProof proof = prove_rule(guarded, over_, judge_);
    if (proof.verdict.answer == Answer::Fail) points_.push_back(proof.point);
    if (proof.verdict.answer == Answer::Unknown) unknown_++;
    return proof.verdict.answer == Answer::Pass && proof.judged >= kLeastSamples;
  }

  const Rule& rule_;
  DType over_;
  const RuleJudge& judge_;
  std::vector<Point> points_;  // that refute the rule
  size_t trials_ = 0;
  size_t unknown_ = 0;
};

}  // namespace

std::optional<std::string> missing_guard(const Rule& rule, DType over, const RuleProof& failed,
                                         const RuleJudge& judge) {
  if (failed.verdict.answer != Answer::Fail || failed.point.empty()) return std::nullopt;
  return Repair(rule, over, failed, judge).find();
}

}  // namespace assay::props
