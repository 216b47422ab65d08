#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/tensor/program/ops.h"

namespace assay::tensor {

using uop::Int128;

// A size, position or count: a number, or a term of the program's variables. Terms are kept as
// written, in postfix order.
struct SizeStep {
  enum class Kind : uint8_t { Number, Variable, Add, Sub, Mul, Div, Mod };  // Div, Mod round down
  Kind kind;
  int64_t number;  // of a Variable: its place in Program::variables
  bool operator==(const SizeStep&) const = default;
};
struct Size {
  int64_t number = 0;           // where steps is empty
  std::vector<SizeStep> steps;  // else
  bool is_number() const { return steps.empty(); }
  bool operator==(const Size&) const = default;
};
// The value where variable k is values[k]; nothing past 64 bits or by a division by zero.
std::optional<int64_t> evaluate(const Size& size, const std::vector<int64_t>& values);

// A number as a text says it, of no type yet.
struct Literal {
  enum class Kind : uint8_t { Bool, Int, Float, Any };  // Any: `_`, expected to be anything
  Kind kind = Kind::Int;
  Int128 integer = 0;  // of Bool and Int
  double real = 0;     // of Float: the double nearest to the decimal; nan, inf
};
// The bits of a literal at type t: integers that fit, floats rounded to nearest even (from the
// double), whole floats as integers. Nothing where t cannot hold it (2.5 or nan as an integer).
std::optional<uint64_t> bits_at(const Literal& literal, DType t);
// The literal whose bits at t these are; NaNs all read nan.
Literal literal_of(uint64_t bits, DType t);
// Whether two literals print alike: NaNs do, 1 and 1.0 do not, nor do 0.0 and -0.0.
bool same(const Literal& a, const Literal& b);

// The number of elements of a shape; nothing where a size is negative or has no value, or past 64
// bits.
std::optional<int64_t> element_count(const std::vector<Size>& shape,
                                     const std::vector<int64_t>& values);

// begin:end:step of one axis; an absent end is the axis's own.
struct Slice {
  Size begin;
  std::optional<Size> end;
  Size step{1, {}};
};

// The value of an attribute by its kind: monostate absent; Axis, Int: int64_t; Axes:
// vector<int64_t>; Size: Size; Sizes: vector<Size>; Bool: bool; Number: Literal; Type: DType; Word,
// Text: string; Slices: vector<Slice>; Data: vector<Literal>.
using AttrValue =
    std::variant<std::monostate, bool, int64_t, std::vector<int64_t>, Size, std::vector<Size>,
                 Literal, DType, std::string, std::vector<Slice>, std::vector<Literal>>;

// The value of each attribute of the op's row where a statement does not write it.
const std::vector<AttrValue>& default_attrs(Op op);

// What an op works on: the value that an earlier statement defines, or a number. A number takes the
// type of the other operands; one with a point joins integers at f32; alone it has no type.
struct Operand {
  int32_t value = -1;  // place of the Define among Program::statements, -1 for a literal, -2 absent
  Literal literal;
  bool is_literal() const { return value == -1; }
  bool is_absent() const { return value == -2; }
};

// name: dtype[shape] = op(operands, attr=value) on DEVICE
struct Define {
  std::string name;
  DType dtype = DType::Void;
  std::vector<Size> shape;
  Op op = Op::Input;
  std::vector<Operand>
      operands;  // as many as the row names (absent ones too), or more if it repeats
  std::vector<AttrValue> attrs;  // one for each of the row's, defaults filled in
  std::string device;            // "" is the default one
};
// target := value. The value broadcasts to the target's shape and has its type.
struct Write {
  int32_t target;
  Operand value;
};
// force v, w
struct Force {
  std::vector<int32_t> values;
};
// bind n = 3: from here on the variable has another value.
struct Bind {
  int32_t variable;
  int64_t value;
};
// expect y = […] or error "…"; either may be missing. An error alone has no value.
struct Expect {
  int32_t value = -1;
  std::vector<Literal> data;         // one for each element, or one for all
  std::optional<std::string> error;  // part of the message that building or scheduling may give
  bool may_be_value() const { return value >= 0; }
};

struct Statement {
  int line = 0;
  std::variant<Define, Write, Force, Bind, Expect> what;
};

// var n in 1..16 = 5
struct Variable {
  std::string name;
  int64_t lo, hi, value;
  int line = 0;
};

// kernel 3: LOCAL(0,8) UPCAST(1,4)
// How a kernel is to be made, counted over the whole program in the order in which they run. It
// changes no value.
struct Hint {
  int64_t kernel;
  std::string opts;  // engine/codegen/README.md, Opts
  int line = 0;
};

struct Program {
  std::string header;  // the comment lines before the first statement, kept as they are
  std::vector<Variable> variables;
  std::vector<Hint> hints;  // by kernel, one for each
  std::vector<Statement> statements;

  const Define& define(int32_t value) const {
    return std::get<Define>(statements[static_cast<size_t>(value)].what);
  }
};

// What a program computes, where it is read: every value in a force and every expected value, at
// that place; if there is neither, each value that no other statement uses, at the end.
struct Output {
  int32_t value;
  int32_t statement;  // the force or expect; statements.size() for the end
};
std::vector<Output> outputs(const Program& program);

// The storage a value names: itself, or where it is a view the value that it is a view of.
int32_t storage_of(const Program& program, int32_t value);

}  // namespace assay::tensor
