#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/onnx/case.h"

namespace assay::fuzz::onnx {

// A value of the program that is written.
struct Val {
  std::string name;
  DType type = DType::Void;
  Sizes shape;

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  // 1 of an axis that is none.
  int64_t size(int64_t axis) const {
    return 0 <= axis && axis < rank() ? shape[static_cast<size_t>(axis)] : 1;
  }
  // The shape with another size of an axis, if that is one.
  Sizes with(int64_t axis, int64_t size) const {
    Sizes result = shape;
    if (0 <= axis && axis < rank()) result[static_cast<size_t>(axis)] = size;
    return result;
  }
};

// Writes the program of one case, a statement at a time. The first thing that goes wrong is kept
// and what is asked for after it is harmless, so that who writes an operator reads as the operator
// does.
class Writer {
 public:
  explicit Writer(const Case& c) : case_(c), inputs_(c.inputs.size()) {}

  const Case& source() const { return case_; }

  // Inputs: as values of the program, or as the numbers that they hold.
  bool has(size_t i) const { return i < case_.inputs.size() && case_.inputs[i].has_value(); }
  Val in(size_t i);
  Sizes integers(size_t i);
  Sizes any_integers(size_t i);  // also those past what sizes are computed with
  tensor::Literal scalar(size_t i);
  const Tensor* constant(size_t i);

  // Attributes.
  bool has_attr(std::string_view name) const { return case_.attrs.contains(name); }
  int64_t integer(std::string_view name, int64_t fallback);
  double real(std::string_view name, double fallback);
  std::string text(std::string_view name, std::string_view fallback);
  std::optional<Sizes> list(std::string_view name);
  // An axis of a value of this rank, from 0.
  int64_t axis(int64_t axis, int64_t rank);

  // A statement: "op(arguments)".
  Val emit(DType type, Sizes shape, std::string_view op, std::string_view arguments);
  // Element-wise; the type is that of x.
  Val map(std::string_view op, const Val& x, std::string_view attributes = "");
  Val map(std::string_view op, const Val& x, const Val& y);
  Val map(std::string_view op, const Val& x, double number);
  Val compare(std::string_view op, const Val& x, const Val& y);
  Val cast(const Val& x, DType type);
  Val reshape(const Val& x, Sizes shape);
  Val permute(const Val& x, const Sizes& order);
  // One axis from begin to end.
  Val slice(const Val& x, int64_t axis, int64_t begin, int64_t end);
  Val reduce(std::string_view op, const Val& x, const Sizes& axes, bool keep,
             std::string_view attributes = "");

  // That the case's output is this value, at the type of the output.
  void gives(size_t output, const Val& x);
  // What stands in the way.
  void cannot(std::string reason);   // the language has no words for it
  void malformed(std::string what);  // the case is none

  const std::optional<std::string>& reason() const { return reason_; }
  const std::optional<Error>& error() const { return error_; }
  // The text; an output that nothing gives is an error.
  std::string finish();

 private:
  const Case& case_;
  std::string statements_;
  std::string expected_;
  std::vector<std::optional<Val>> inputs_;
  size_t values_ = 0;
  size_t given_ = 0;
  std::optional<std::string> reason_;
  std::optional<Error> error_;
};

// The shape that two broadcast to; nothing where they do not.
std::optional<Sizes> broadcast(const Sizes& a, const Sizes& b);
// "4, 8"
inline std::string listed(const Sizes& sizes) { return fmt::format("{}", fmt::join(sizes, ", ")); }
int64_t product(const Sizes& sizes, size_t begin, size_t end);

}  // namespace assay::fuzz::onnx
