#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/uop/dtype.h"

namespace assay::tensor {

using uop::DType;
using uop::TypeSet;

enum class Op : uint8_t {
#define TP(name, text, family, over, result, signature, says) name,
#include "engine/tensor/program/ops.def"
#undef TP
};

#define TP(name, text, family, over, result, signature, says) +1
inline constexpr int kOpCount = 0
#include "engine/tensor/program/ops.def"
    ;
#undef TP

// What an op does, for those that treat ops alike by it.
enum class Family : uint8_t {
  Source,
  Random,
  Unary,
  Convert,
  Binary,
  Compare,
  Select,
  Ternary,
  View,
  Move,
  Reduce,
  Scan,
  Contract,
  Window,
  Norm,
  Index,
  Order,
  State,
};

// How the type of a result follows.
enum class ResultType : uint8_t {
  Promoted,     // the least type that all operands promote to
  Bool,         // bool; operands are promoted among themselves
  Operand,      // that of the first operand
  Written,      // the statement says
  Accumulated,  // floats: that of the operand; else the type to accumulate in
  Position,     // i32
};

enum class AttrKind : uint8_t {
  Axis,
  Axes,
  Int,
  Size,
  Sizes,
  Bool,
  Number,
  Type,
  Word,
  Text,
  Slices,
  Data,
};

struct OperandRow {
  std::string_view name;
  bool optional = false;
  bool repeats = false;  // one or more; always the last
};

struct AttrRow {
  std::string_view name;
  AttrKind kind;
  bool optional = false;                // may be absent, which has a meaning of its own
  std::string_view fallback;            // as text; "" where there is none
  std::vector<std::string_view> words;  // of a Word
};

// A row of ops.def, its signature taken apart.
struct OpRow {
  Op op;
  std::string_view text;
  Family family;
  TypeSet over;
  ResultType result;
  std::vector<OperandRow> operands;
  std::vector<AttrRow> attrs;
  std::string_view signature;
  std::string_view says;

  size_t min_operands() const;
  size_t max_operands() const;  // SIZE_MAX where the last repeats
  // The place of an attribute among attrs; it is there.
  size_t attr(std::string_view name) const;
};

std::span<const OpRow> all_ops();  // by Op
inline const OpRow& row(Op op) { return all_ops()[static_cast<size_t>(op)]; }
std::optional<Op> op_from_text(std::string_view text);

}  // namespace assay::tensor
