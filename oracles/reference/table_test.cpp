#include <gtest/gtest.h>

#include "oracles/reference/evaluating.h"
#include "oracles/reference/promote.h"

namespace assay::reference {
namespace {

TEST(Table, HoldsOneFunctionForEachOpInTheOrderOfOpsDef) {
  const std::span<const EvaluateRow> rows = all_evaluates();
  ASSERT_EQ(rows.size(), static_cast<size_t>(tensor::kOpCount));
  for (size_t i = 0; i < rows.size(); ++i) {
    const tensor::OpRow& row = tensor::all_ops()[i];
    EXPECT_EQ(rows[i].op, row.op) << row.text;
    const bool is_view = row.family == tensor::Family::View;
    EXPECT_EQ(rows[i].look != nullptr, is_view) << row.text;
    EXPECT_EQ(rows[i].evaluate != nullptr, !is_view) << row.text;
  }
}

// The written-out table of engine/uop/README.md, without index.
TEST(Promotion, IsTheTableOfTheTypes) {
  using enum uop::DType;
  constexpr uop::DType kTypes[] = {Bool, I8,   U8,   I16, U16,  I32, U32, I64,
                                   U64,  E4M3, E5M2, F16, BF16, F32, F64};
  constexpr std::string_view kTable[] = {
      "bool i8 u8 i16 u16 i32 u32 i64 u64 e4m3 e5m2 f16 bf16 f32 f64",
      "i8 i8 i16 i16 i32 i32 i64 i64 u64 e4m3 e5m2 f16 bf16 f32 f64",
      "u8 i16 u8 i16 u16 i32 u32 i64 u64 e4m3 e5m2 f16 bf16 f32 f64",
      "i16 i16 i16 i16 i32 i32 i64 i64 u64 e4m3 e5m2 f16 bf16 f32 f64",
      "u16 i32 u16 i32 u16 i32 u32 i64 u64 e4m3 e5m2 f16 bf16 f32 f64",
      "i32 i32 i32 i32 i32 i32 i64 i64 u64 e4m3 e5m2 f16 bf16 f32 f64",
      "u32 i64 u32 i64 u32 i64 u32 i64 u64 e4m3 e5m2 f16 bf16 f32 f64",
      "i64 i64 i64 i64 i64 i64 i64 i64 u64 e4m3 e5m2 f16 bf16 f32 f64",
      "u64 u64 u64 u64 u64 u64 u64 u64 u64 e4m3 e5m2 f16 bf16 f32 f64",
      "e4m3 e4m3 e4m3 e4m3 e4m3 e4m3 e4m3 e4m3 e4m3 e4m3 f16 f16 bf16 f32 f64",
      "e5m2 e5m2 e5m2 e5m2 e5m2 e5m2 e5m2 e5m2 e5m2 f16 e5m2 f16 bf16 f32 f64",
      "f16 f16 f16 f16 f16 f16 f16 f16 f16 f16 f16 f16 f32 f32 f64",
      "bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 f32 bf16 f32 f64",
      "f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 f64",
      "f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64",
  };
  for (size_t a = 0; a < std::size(kTypes); ++a) {
    std::string line;
    for (const uop::DType b : kTypes) {
      if (!line.empty()) line += ' ';
      line += to_text(joined(kTypes[a], b).value_or(Void));
    }
    EXPECT_EQ(line, kTable[a]);
  }
  EXPECT_EQ(joined(Index, Bool), std::nullopt);
  EXPECT_EQ(joined(Void, F32), std::nullopt);
}

}  // namespace
}  // namespace assay::reference
