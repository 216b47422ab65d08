#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/uop/eval.h"
#include "engine/uop/test_numbers.h"

// The claims of op.def: unit, and the traits kCommutes, kAssociates and kIdempotent.
namespace assay::uop {
namespace {

std::optional<Value> run(Op op, DType result, Value a, Value b) {
  const Value src[] = {a, b};
  return eval(op, result, src);
}

std::vector<OpInfo> binary_ops() {
  std::vector<OpInfo> ops;
  for (int i = 0; i < kOpCount; i++) {
    const OpInfo& row = info(static_cast<Op>(i));
    if (is_scalar(row.op) && row.max_sources == 2) ops.push_back(row);
  }
  return ops;
}

Value unit_of(Unit unit, DType t) {
  const bool is_signed = kSigned.has(t) || t == Index;
  const int bits = bits_of(t);
  const uint64_t all = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  if (is_float(t)) {
    const long double top = t == E4M3 ? 448 : INFINITY;
    if (unit == Unit::Lowest) return nearest(t, -top);
    if (unit == Unit::Highest) return nearest(t, top);
    return nearest(t, unit == Unit::One ? 1 : 0);
  }
  switch (unit) {
    case Unit::One: return {t, 1};
    case Unit::Lowest: return {t, is_signed ? ~uint64_t{0} << (bits - 1) : 0};
    case Unit::Highest: return {t, is_signed ? all >> 1 : all};
    case Unit::Ones: return {t, is_signed ? ~uint64_t{0} : all};
    default: return {t, 0};
  }
}

// f(a, unit) = a, but that a NaN comes out as the default one, and that -0.0 + 0.0 is 0.0.
TEST(Unit, LeavesEveryValueAsItIs) {
  Ledger ledger;
  int rows = 0;
  for (const OpInfo& row : binary_ops()) {
    if (row.unit == Unit::None) continue;
    for (const DType t : kAllScalars) {
      if (!row.over.has(t)) continue;
      rows++;
      const Value unit = unit_of(row.unit, t);
      EXPECT_EQ(unit_of(row.op, t), unit) << row.text << " at " << to_text(t);
      for (const Value a : some_values(t)) {
        Value want = a;
        if (std::isnan(decode(a)) && is_float(t)) want = default_nan(t);
        if (row.op == Op::Add && is_float(t) && decode(a) == 0) want = nearest(t, 0);
        ledger.same(row.text, {{a, unit}}, run(row.op, t, a, unit), want);
        ledger.same(row.text, {{unit, a}}, run(row.op, t, unit, a), want);
      }
    }
  }
  EXPECT_EQ(ledger.trouble(), "");
  // add and mul at 15 types, max and min at 16, and, or, xor at 10.
  EXPECT_EQ(rows, 2 * 15 + 2 * 16 + 3 * 10);
}

// All results of a binary operation at a type of at most 8 bits, and what tells its arguments.
struct Table {
  size_t size;
  std::vector<std::optional<Value>> cells;
  const std::optional<Value>& at(size_t a, size_t b) const { return cells[a * size + b]; }
  bool total() const {
    return std::ranges::all_of(cells, [](const auto& cell) { return cell.has_value(); });
  }
  // The results as places in the table.
  std::vector<uint8_t> places() const {
    std::vector<uint8_t> all(cells.size());
    std::ranges::transform(cells, all.begin(),
                           [](const auto& cell) { return static_cast<uint8_t>(sure(cell).bits); });
    return all;
  }
};

Table table_of(const OpInfo& row, DType t) {
  const std::vector<Value> all = all_values(t);
  const DType result = row.typing == Typing::Compare ? Bool : t;
  Table table = {all.size(), {}};
  for (const Value a : all) {
    for (const Value b : all) table.cells.push_back(run(row.op, result, a, b));
  }
  return table;
}

bool table_commutes(const Table& t) {
  for (size_t a = 0; a < t.size; a++) {
    for (size_t b = 0; b < a; b++) {
      if (t.at(a, b) != t.at(b, a)) return false;
    }
  }
  return true;
}

bool table_associates(const Table& t) {
  const std::vector<uint8_t> places = t.places();
  const uint8_t* f = places.data();
  for (size_t a = 0; a < t.size; a++) {
    for (size_t b = 0; b < t.size; b++) {
      const uint8_t* left = f + f[a * t.size + b] * t.size;
      for (size_t c = 0; c < t.size; c++) {
        if (left[c] != f[a * t.size + f[b * t.size + c]]) return false;
      }
    }
  }
  return true;
}

bool table_is_idempotent(const Table& t, DType type) {
  size_t a = 0;
  for (const Value v : all_values(type)) {
    const bool nan = is_float(type) && std::isnan(decode(v));
    if (t.at(a, a) != (nan ? default_nan(type) : v)) return false;
    a++;
  }
  return true;
}

constexpr DType kByteTypes[] = {Bool, I8, U8, E4M3, E5M2};

// A trait is claimed exactly where it holds, so the table misses none either.
TEST(Traits, CommutesIsClaimedWhereItHolds) {
  for (const OpInfo& row : binary_ops()) {
    bool holds = true;
    bool tried = false;
    for (const DType t : kByteTypes) {
      if (!row.over.has(t)) continue;
      tried = true;
      holds = holds && table_commutes(table_of(row, t));
    }
    if (!tried) continue;
    EXPECT_EQ((row.traits & kCommutes) != 0, holds) << row.text;
  }
}

TEST(Traits, AssociatesIsClaimedWhereItHolds) {
  for (const OpInfo& row : binary_ops()) {
    if (row.typing == Typing::Compare) continue;
    bool holds = true;
    bool tried = false;
    for (const DType t : {Bool, I8, U8}) {
      if (!row.over.has(t)) continue;
      const Table table = table_of(row, t);
      tried = true;
      holds = holds && table.total() && table_associates(table);
    }
    if (!tried) continue;
    EXPECT_EQ((row.traits & kAssociates) != 0, holds) << row.text;
  }
}

// max and min associate for floats too; sums and products do not.
TEST(Traits, AssociatesIsForIntegersOnly) {
  for (const DType t : {E4M3, E5M2}) {
    EXPECT_TRUE(table_associates(table_of(info(Op::Max), t))) << to_text(t);
    EXPECT_TRUE(table_associates(table_of(info(Op::Min), t)));
    EXPECT_FALSE(table_associates(table_of(info(Op::Add), t)));
    EXPECT_FALSE(table_associates(table_of(info(Op::Mul), t)));
  }
}

TEST(Traits, IdempotentIsClaimedWhereItHolds) {
  for (const OpInfo& row : binary_ops()) {
    if (row.typing == Typing::Compare) continue;
    bool holds = true;
    bool tried = false;
    for (const DType t : kByteTypes) {
      if (!row.over.has(t)) continue;
      tried = true;
      holds = holds && table_is_idempotent(table_of(row, t), t);
    }
    if (!tried) continue;
    EXPECT_EQ((row.traits & kIdempotent) != 0, holds) << row.text;
  }
}

}  // namespace
}  // namespace assay::uop
