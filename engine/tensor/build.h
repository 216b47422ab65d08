#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/result.h"
#include "engine/tensor/program/program.h"
#include "engine/uop/shape.h"
#include "engine/uop/uop.h"

namespace assay::tensor {

using uop::Graph;
using uop::Ref;
using uop::Shape;

// What the builder of an op is given: its operands as nodes of the tensor graph
// (engine/schedule/README.md, Forms), promoted to one type where the row's result is Promoted or
// Bool, literals as constants; nullptr where an optional one is absent.
struct Building {
  Graph& g;
  const Program& program;
  const Define& define;
  std::vector<Ref> operands;
  std::span<const Ref> variables;  // BIND(VARIABLE, CONST), as Program::variables

  const OpRow& row() const { return tensor::row(define.op); }
  DType dtype() const { return define.dtype; }
  Ref x() const { return operands[0]; }
  Shape shape_of(size_t operand) const;
  // The written shape, and any size, as dims.
  Shape shape() const;
  Ref dim(const Size& size) const;
  // Attributes by name; the kind is the row's and the attribute is there unless `has` is asked.
  bool has(std::string_view name) const;
  bool flag(std::string_view name) const;
  int64_t integer(std::string_view name) const;
  double number(std::string_view name) const;
  // A Number as a constant; an error names a type that cannot hold it.
  Result<Ref> constant(std::string_view name, DType t) const;
  std::string_view word(std::string_view name) const;
  DType type(std::string_view name) const;
  Ref size(std::string_view name) const;               // of a Size
  std::vector<Ref> dims(std::string_view name) const;  // of Sizes
  const std::vector<Slice>& slices(std::string_view name) const;
  // An axis of a value of this rank, from 0; an error names the axis and the rank. A scalar has
  // axis 0, of one element, for those that ask.
  Result<int64_t> axis(std::string_view name, size_t rank) const;
  // Axes in rising order, each once; all where the attribute is absent. Of a scalar there are none.
  Result<std::vector<int64_t>> axes(std::string_view name, size_t rank) const;
  // Axes as they are written, each once.
  Result<std::vector<int64_t>> listed_axes(std::string_view name, size_t rank) const;

 private:
  const AttrValue& attr(std::string_view name) const;
};

// The node that an op denotes. An error says which rule is broken, without place.
using Build = Result<Ref> (*)(const Building&);
struct BuildRow {
  Op op;
  Build build;
};
// One row an op, by Op: what parts of the table the files beside this one add up to.
std::span<const BuildRow> all_builds();

// The node that a statement defines: its operands, null where they are numbers or absent, are given
// their types, its op is built, and what is built has the written type and, where the variables are
// what they are bound to, the written shape. An error says which rule is broken, without place. Of
// a view the first operand may be any node that stands for the value; what is built over it is
// movement, but no EXPAND, and BITCAST. A COPY is left to the caller, who knows the devices, and so
// is an input, which is storage.
Result<Ref> build(Graph& g, const Program& program, const Define& define, std::vector<Ref> operands,
                  std::span<const Ref> variables);
// The same whatever type and shape are written, where the op does not ask for them: what is to be
// written.
Result<Ref> build_as_follows(Graph& g, const Program& program, const Define& define,
                             std::vector<Ref> operands, std::span<const Ref> variables);

}  // namespace assay::tensor
