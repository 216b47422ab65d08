#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/result.h"
#include "engine/tensor/program/program.h"
#include "oracles/reference/array.h"
#include "oracles/reference/storage.h"

namespace assay::reference {

// What the function of an op is given: its operands as arrays, promoted to one type where the row
// says so (its condition, positions and bool masks apart), numbers at the type they take; nullptr
// where an optional one is absent.
struct Evaluating {
  const tensor::Define& define;
  std::span<const Array* const> operands;
  const Dims& shape;  // as written; what the function gives must have it
  const std::vector<int64_t>& variables;
  const Licence& licence;
  bool is_fixed;  // the sizes of the first operand are numbers: none depends on a variable
  int64_t& work;  // what the program has cost so far

  const tensor::OpRow& row() const { return tensor::row(define.op); }
  const Array& x() const { return *operands[0]; }
  const Array& y() const { return *operands[1]; }
  bool has_operand(size_t k) const { return k < operands.size() && operands[k] != nullptr; }

  // Attributes by name; the kind is the row's and the attribute is there unless `has` is asked.
  const tensor::AttrValue& attr(std::string_view name) const {
    return define.attrs[row().attr(name)];
  }
  bool has(std::string_view name) const { return attr(name).index() != 0; }
  bool flag(std::string_view name) const { return std::get<bool>(attr(name)); }
  int64_t integer(std::string_view name) const { return std::get<int64_t>(attr(name)); }
  const std::string& word(std::string_view name) const { return std::get<std::string>(attr(name)); }
  // A number at a type that can hold it.
  Result<Bounded> number(std::string_view name, DType t) const;
  // A type with what devices may do there, and that of the first operand.
  Type at(DType t) const { return {t, licence}; }
  Type type() const { return at(x().dtype); }
  // The type to accumulate in: as written, or as the row's family has it by default.
  Type accumulator(DType t) const;
  // A size or a list of them, none negative.
  Result<int64_t> size(std::string_view name) const;
  Result<Dims> sizes(std::string_view name) const;
  // As many sizes as there are axes; `fallback` for all where the attribute is absent.
  Result<Dims> sizes_or(std::string_view name, size_t axes, int64_t fallback) const;
  // A list of whole numbers of either sign.
  Result<std::vector<int64_t>> integers(std::string_view name) const;
  // An axis of a value of this rank, from 0. A value without axes has an axis 0 to name, which is
  // then as if it were of size 1.
  Result<int64_t> axis(std::string_view name, size_t rank) const;
  // Axes in the order written, each once; all where the attribute is absent. Of a value without
  // axes there are none.
  Result<std::vector<int64_t>> axes(std::string_view name, size_t rank) const;

  // Says that this many elements more are read and written.
  Result<bool> spend(int64_t elements) const;
};

// What an op gives: an array, or where it is a view what it picks of its operand, of which it is
// shown type and shape only. An error says which rule is broken, without place.
using Evaluate = Result<Array> (*)(const Evaluating&);
using Look = Result<Seen> (*)(const Evaluating&);
struct EvaluateRow {
  tensor::Op op;
  Evaluate evaluate;    // of all but views
  Look look = nullptr;  // of views
};

// The rows of each file, in the order of ops.def.
std::span<const EvaluateRow> source_rows();
std::span<const EvaluateRow> elementwise_rows();
std::span<const EvaluateRow> view_rows();
std::span<const EvaluateRow> movement_rows();
std::span<const EvaluateRow> reduce_rows();
std::span<const EvaluateRow> scan_rows();
std::span<const EvaluateRow> contract_rows();
std::span<const EvaluateRow> window_rows();
std::span<const EvaluateRow> norm_rows();
std::span<const EvaluateRow> attention_rows();
std::span<const EvaluateRow> indexing_rows();
std::span<const EvaluateRow> order_rows();

// One row an op, by Op.
std::span<const EvaluateRow> all_evaluates();

}  // namespace assay::reference
