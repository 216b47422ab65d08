#include "oracles/smt/claim.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/uop/bounds.h"
#include "engine/uop/sample.h"
#include "engine/uop/walk.h"

namespace assay::smt {
namespace {

using uop::Cell;
using uop::DType;
using uop::Random;
using uop::Ref;
using uop::Value;

constexpr Cell kUnspecifiedCell = {Cell::State::Unspecified, {}};
constexpr Cell kInvalidCell = {Cell::State::Invalid, {}};

// The ends of a leaf's values; of a float its bits.
uop::Bounds ends_of(uop::Graph& g, Ref u) {
  if (uop::is_float(u->dtype)) return {0, (uop::Int128{1} << uop::bits_of(u->dtype)) - 1};
  const uop::Bounds b = uop::bounds(g, u);
  return {std::max(b.lo, uop::min_int(u->dtype)), std::min(b.hi, uop::max_int(u->dtype))};
}

// A NaN is the one that arithmetic yields: which one it is nobody compares.
Value value_at(DType t, uop::Int128 x) {
  if (!uop::is_float(t)) return uop::of_int(t, x);
  const Value v = {t, static_cast<uint64_t>(x)};
  return uop::is_nan(v) ? uop::nan_of(t) : v;
}

bool is_below(Value a, Value b) {
  if (uop::is_float(a.dtype)) return uop::as_double(a) < uop::as_double(b);
  return uop::as_int(a) < uop::as_int(b);
}

std::vector<Ref> refs_of(std::span<const Claim::Leaf> leaves) {
  std::vector<Ref> refs;
  for (const Claim::Leaf& leaf : leaves) refs.push_back(leaf.u);
  return refs;
}

std::vector<Ref> conditions_of(const Claim& claim) {
  std::vector<Ref> all = claim.when;
  all.insert(all.end(), claim.valued.begin(), claim.valued.end());
  return all;
}

}  // namespace

bool agrees(const Claim& claim, const Cell& before, const Cell& after) {
  if (before.state == Cell::State::Unspecified) return true;
  if (before.state != after.state) return false;
  if (!before.defined() || before.value == after.value) return true;
  if (!uop::is_float(before.value.dtype)) return false;
  if (!claim.is_real) return uop::is_nan(before.value) && uop::is_nan(after.value);
  const double a = uop::as_double(before.value);
  const double b = uop::as_double(after.value);
  if (!std::isfinite(a) || !std::isfinite(b)) return true;
  const int digits = uop::format_of(before.value.dtype).mantissa_bits / 2;
  return std::fabs(a - b) <= std::ldexp(std::max({std::fabs(a), std::fabs(b), 1.0}), -digits);
}

ClaimPoints::ClaimPoints(const Claim& claim, Tables& tables)
    : claim_(claim),
      conditions_(claim.g, conditions_of(claim), refs_of(claim.leaves), tables),
      sides_(claim.g, std::vector<Ref>{claim.before, claim.after}, refs_of(claim.leaves), tables) {
  std::vector<Ref> roots = conditions_of(claim);
  roots.push_back(claim.before);
  roots.push_back(claim.after);
  for (const Ref root : roots) {
    for (const Ref u : uop::toposort(claim.g, root)) {
      const bool is_looked_up = uop::bits_of(u->dtype) <= 8 && u->src.size() <= 2;
      is_narrow_ = is_narrow_ && (is_looked_up || u->op == uop::Op::Where);
    }
  }
}

std::vector<Cell> ClaimPoints::domain(size_t leaf) const {
  const Claim::Leaf& l = claim_.leaves[leaf];
  std::vector<Cell> cells;
  for (const Value v : l.values) cells.push_back(Cell::of(v));
  if (l.values.empty()) {
    const uop::Bounds ends = ends_of(claim_.g, l.u);
    bool has_nan = false;
    for (uop::Int128 x = ends.lo; x <= ends.hi; x++) {
      const Value v = value_at(l.u->dtype, x);
      if (uop::is_nan(v) && has_nan) continue;
      has_nan = has_nan || uop::is_nan(v);
      cells.push_back(Cell::of(v));
    }
  }
  if (l.may_be_unspecified) cells.push_back(kUnspecifiedCell);
  if (l.may_be_invalid) cells.push_back(kInvalidCell);
  return cells;
}

uint64_t ClaimPoints::count(uint64_t most) const {
  uop::UInt128 count = 1;
  for (const Claim::Leaf& leaf : claim_.leaves) {
    const uop::Bounds ends = ends_of(claim_.g, leaf.u);
    uop::UInt128 width = leaf.values.size();
    if (leaf.values.empty()) {
      width = ends.hi < ends.lo ? 0 : static_cast<uop::UInt128>(ends.hi - ends.lo) + 1;
    }
    width += (leaf.may_be_unspecified ? 1U : 0U) + (leaf.may_be_invalid ? 1U : 0U);
    count *= std::min(width, uop::UInt128{most} + 1);
    if (count > most) return most + 1;
  }
  return static_cast<uint64_t>(count);
}

// Leaves that are ordered, terms that hold, and the condition.
bool ClaimPoints::is_admitted(std::span<const Cell> point) {
  for (size_t i = 0; i < claim_.leaves.size(); i++) {
    const Claim::Leaf& leaf = claim_.leaves[i];
    const int of = leaf.least_of >= 0 ? leaf.least_of : leaf.most_of;
    if (of < 0 || !point[i].defined() || !point[static_cast<size_t>(of)].defined()) continue;
    const Value end = point[i].value;
    const Value x = point[static_cast<size_t>(of)].value;
    if (leaf.least_of >= 0 ? is_below(x, end) : is_below(end, x)) return false;
  }
  if (claim_.condition && !claim_.condition->holds(point)) return false;
  if (claim_.when.empty() && claim_.valued.empty()) return true;
  conditions_.run(point, conditions_from_);
  conditions_from_ = claim_.leaves.size();
  for (size_t i = 0; i < claim_.when.size(); i++) {
    const Cell c = conditions_.root(i);
    if (!c.defined() || c.value.bits == 0) return false;
  }
  for (size_t i = 0; i < claim_.valued.size(); i++) {
    if (!conditions_.root(claim_.when.size() + i).defined()) return false;
  }
  return true;
}

bool ClaimPoints::fails_at(std::span<const Cell> point, size_t from) {
  conditions_from_ = std::min(conditions_from_, from);
  sides_from_ = std::min(sides_from_, from);
  if (!is_admitted(point)) return false;
  sides_.run(point, sides_from_);
  sides_from_ = claim_.leaves.size();
  if (sides_.root(0).state == Cell::State::Unspecified) return false;
  judged_++;
  return !agrees(claim_, sides_.root(0), sides_.root(1)) && !has_left_64_bits(sides_.root(1));
}

std::optional<std::vector<Cell>> ClaimPoints::search_all() {
  const size_t n = claim_.leaves.size();
  std::vector<std::vector<Cell>> domains;
  std::vector<Cell> point;
  for (size_t i = 0; i < n; i++) {
    domains.push_back(domain(i));
    if (domains[i].empty()) return std::nullopt;
    point.push_back(domains[i][0]);
  }
  std::vector<size_t> at(n, 0);
  size_t changed = 0;
  while (true) {
    if (fails_at(point, changed)) return point;
    size_t i = n;
    while (i > 0 && at[i - 1] + 1 == domains[i - 1].size()) {
      i--;
      at[i] = 0;
      point[i] = domains[i][0];
    }
    if (i == 0) return std::nullopt;
    changed = i - 1;
    point[changed] = domains[changed][++at[changed]];
  }
}

// Of an end of another leaf's values one that holds, most often the tightest.
Cell ClaimPoints::sample(size_t leaf, uint64_t seed, std::span<const Cell> point) const {
  const Claim::Leaf& l = claim_.leaves[leaf];
  Random random(seed);
  if (l.may_be_unspecified && random.once_in(10)) return kUnspecifiedCell;
  if (l.may_be_invalid && random.once_in(10)) return kInvalidCell;
  if (!l.values.empty()) return Cell::of(l.values[random.below(l.values.size())]);
  const DType t = l.u->dtype;
  if (uop::is_float(t) && claim_.is_real) return Cell::of(uop::of_int(t, random.between(-9, 9)));
  if (uop::is_float(t)) return Cell::of(uop::any_float(random, t));
  uop::Bounds ends = ends_of(claim_.g, l.u);
  if (ends.hi < ends.lo) return kUnspecifiedCell;
  const int of = l.least_of >= 0 ? l.least_of : l.most_of;
  if (of >= 0 && point[static_cast<size_t>(of)].defined()) {
    const uop::Int128 x = uop::as_int(point[static_cast<size_t>(of)].value);
    if (random.once_in(2)) return Cell::of(uop::of_int(t, x));
    (l.least_of >= 0 ? ends.hi : ends.lo) = x;
    const uop::Int128 near = x + (l.least_of >= 0 ? -1 : 1) * uop::Int128{random.below(20)};
    if (random.once_in(2)) return Cell::of(uop::of_int(t, std::clamp(near, ends.lo, ends.hi)));
  }
  if (t == uop::Bool) {
    return Cell::of(uop::of_int(t, ends.lo == ends.hi ? ends.lo : uop::Int128{random.below(2)}));
  }
  const Value v = uop::any_int(random, t);
  if (uop::as_int(v) >= ends.lo && uop::as_int(v) <= ends.hi) return Cell::of(v);
  if (random.once_in(4)) return Cell::of(uop::of_int(t, random.once_in(2) ? ends.lo : ends.hi));
  return Cell::of(uop::of_int(t, random.between(ends.lo, ends.hi)));
}

std::optional<std::vector<Cell>> ClaimPoints::search_samples(uint64_t seed, size_t samples) {
  Random random(seed);
  std::vector<Cell> point(claim_.leaves.size());
  for (size_t n = 0; n < samples; n++) {
    for (size_t i = 0; i < point.size(); i++) point[i] = sample(i, random.next(), point);
    if (fails_at(point)) return point;
    sampled_ = judged_;
  }
  return std::nullopt;
}

std::string cell_text(const Cell& c) {
  if (c.state == Cell::State::Invalid) return "invalid";
  return c.defined() ? uop::to_text(c.value) : "unspecified";
}

std::string point_text(const Claim& claim, std::span<const Cell> point) {
  std::string text;
  for (size_t i = 0; i < point.size(); i++) {
    const Ref u = claim.leaves[i].u;
    const bool has_name = u->op == uop::Op::Variable || u->op == uop::Op::Special;
    const std::string name =
        has_name ? std::string(u->arg.name()) : fmt::format("{} {}", uop::to_text(u->op), i);
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, cell_text(point[i]));
  }
  return text;
}

}  // namespace assay::smt
