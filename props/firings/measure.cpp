#include "props/firings/measure.h"

#include <algorithm>
#include <map>

namespace assay::props {
namespace {

using uop::Op;
using uop::OpSet;
using uop::Pat;

constexpr OpSet kShifts = {Op::Shl, Op::Shr, Op::Pow};
constexpr OpSet kTruncations = {Op::TDiv, Op::TMod};
constexpr OpSet kDivisions = {Op::Div, Op::Mod, Op::FDiv};
constexpr OpSet kConversions = {Op::Cast, Op::Bitcast};
constexpr OpSet kExtremes = {Op::Max, Op::Min, Op::Fma, Op::Neg, Op::Sub};
constexpr OpSet kLeaves = {Op::Const, Op::Invalid};

int shifts(Op op) { return kShifts.has(op) ? 1 : 0; }
int truncations(Op op) { return kTruncations.has(op) ? 1 : 0; }
int divisions(Op op) { return kDivisions.has(op) ? 1 : 0; }
int conversions(Op op) { return kConversions.has(op) ? 1 : 0; }
int extremes(Op op) { return kExtremes.has(op) ? 1 : 0; }
int choices_made(Op op) { return op == Op::Where ? 1 : 0; }
int products(Op op) { return op == Op::Mul ? 1 : 0; }
int operations(Op op) { return kLeaves.has(op) ? 0 : 1; }
int nodes(Op) { return 1; }

constexpr Measure kMeasures[] = {
    {"shifts", shifts, 0},           {"truncations", truncations, 0}, {"divisions", divisions, 0},
    {"conversions", conversions, 0}, {"extremes", extremes, 0},       {"choices", choices_made, 0},
    {"products", products, 0},       {"operations", operations, 0},   {"nodes", nodes, 1},
};

// A term's weight: that of what the pattern says, and how often each hole occurs.
struct Weight {
  int own = 0;
  std::map<std::string_view, int> holes;
};

bool is_constant(const Pat& pat) {
  if (pat->what == Pat::What::Literal || pat->what == Pat::What::Constant) return true;
  return pat->what == Pat::What::Apply && !pat->args.empty() &&
         std::all_of(pat->args.begin(), pat->args.end(), is_constant);
}

// What holds only constants is one constant once it is built.
void weigh(const Pat& pat, const Measure& measure, Weight& total) {
  if (is_constant(pat)) {
    total.own += measure.weight(Op::Const);
  } else if (pat->what == Pat::What::Hole) {
    total.holes[pat->name]++;
  } else {
    total.own += measure.weight(pat->op);
    for (const Pat& arg : pat->args) weigh(arg, measure, total);
  }
}

// How much the measure goes down at least, where it goes down by some number for all terms.
std::optional<int> drop(const uop::Rule& rule, const Measure& measure) {
  Weight before;
  Weight after;
  weigh(rule.match, measure, before);
  weigh(rule.replace, measure, after);
  int least = before.own - after.own;
  for (const auto& [hole, count] : after.holes) {
    if (count > before.holes[hole]) return std::nullopt;
  }
  for (const auto& [hole, count] : before.holes) {
    const auto kept = after.holes.find(hole);
    least += measure.least * (count - (kept == after.holes.end() ? 0 : kept->second));
  }
  return least;
}

}  // namespace

std::span<const Measure> all_measures() { return kMeasures; }

std::optional<std::string_view> lowered_measure(const uop::Rule& rule) {
  if (rule.by != nullptr) return std::nullopt;
  for (const Measure& measure : kMeasures) {
    const std::optional<int> lowered = drop(rule, measure);
    if (!lowered || *lowered < 0) return std::nullopt;
    if (*lowered > 0) return measure.name;
  }
  return std::nullopt;
}

}  // namespace assay::props
