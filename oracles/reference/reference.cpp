#include "oracles/reference/reference.h"

#include <fmt/format.h>

#include <list>
#include <optional>
#include <utility>

#include "engine/tensor/program/default_device.h"
#include "oracles/reference/array.h"
#include "oracles/reference/evaluating.h"
#include "oracles/reference/operands.h"
#include "oracles/reference/promote.h"
#include "oracles/reference/storage.h"

namespace assay::reference {
namespace {

using tensor::Bind;
using tensor::Define;
using tensor::Operand;
using tensor::Output;
using tensor::Program;
using tensor::Size;
using tensor::Statement;
using tensor::Write;

class Evaluator {
 public:
  Evaluator(const Program& program, const Licence& licence)
      : program_(program),
        licence_(licence),
        values_(program.statements.size()),
        devices_(program.statements.size()) {
    for (const tensor::Variable& v : program.variables) variables_.push_back(v.value);
  }

  Result<bool> step(size_t k) {
    const auto& what = program_.statements[k].what;
    if (const auto* d = std::get_if<Define>(&what)) return define(*d, static_cast<int32_t>(k));
    if (const auto* w = std::get_if<Write>(&what)) return write(*w);
    if (const auto* b = std::get_if<Bind>(&what)) return bind(*b);
    if (const auto* f = std::get_if<tensor::Force>(&what)) return force(*f, k);
    return true;  // expect changes nothing
  }

  Array value(int32_t k) const {
    const View& view = at(k);
    return read(view, storage_[static_cast<size_t>(view.storage)]);
  }

 private:
  const View& at(int32_t k) const { return values_[static_cast<size_t>(k)]; }
  Array& storage_of(const View& view) { return storage_[static_cast<size_t>(view.storage)]; }

  Result<Dims> written_shape(const Define& d) const;
  bool has_fixed_sizes(const Define& d) const;
  // Operand k: where it lies in storage as it is, or a copy. A view op is shown no elements.
  std::vector<const Array*> operands_of(const Define& d, std::list<Array>& held);
  Result<bool> define(const Define& d, int32_t k);
  // The device that all values of a statement are on, "" where any would do.
  Result<std::string> device_of(std::span<const Operand> operands) const;
  Result<bool> place(const Define& d, int32_t k);
  Result<bool> force(const tensor::Force& f, size_t k);
  Result<bool> write(const Write& w);
  Result<bool> bind(const Bind& b);
  void keep(int32_t k, Array array);

  const Program& program_;
  const Licence& licence_;
  std::vector<View> values_;  // by statement
  std::vector<std::string> devices_;
  std::vector<Array> storage_ = std::vector<Array>(program_.statements.size());
  std::vector<int64_t> variables_;
  int64_t work_ = 0;
};

Result<Dims> Evaluator::written_shape(const Define& d) const {
  Dims shape;
  for (const Size& size : d.shape) {
    const std::optional<int64_t> n = tensor::evaluate(size, variables_);
    if (!n || *n < 0) {
      return Error{n ? fmt::format("the written shape has a size of {}", *n)
                     : std::string("a size of the written shape is no number of 64 bits"),
                   0, 0};
    }
    shape.push_back(*n);
  }
  return shape;
}

// Of the first operand.
bool Evaluator::has_fixed_sizes(const Define& d) const {
  if (d.operands.empty() || d.operands[0].value < 0) return true;
  return std::ranges::all_of(program_.define(d.operands[0].value).shape, &Size::is_number);
}

std::vector<const Array*> Evaluator::operands_of(const Define& d, std::list<Array>& held) {
  const bool is_view = tensor::row(d.op).family == tensor::Family::View;
  std::vector<const Array*> operands;
  for (const Operand& o : d.operands) {
    if (o.value < 0) {
      operands.push_back(nullptr);
      continue;
    }
    const View& view = at(o.value);
    const Array& storage = storage_of(view);
    if (is_view) {
      operands.push_back(&held.emplace_back(Array{view.dtype, view.shape, {}}));
    } else {
      operands.push_back(view.is_whole ? &storage : &held.emplace_back(read(view, storage)));
    }
  }
  return operands;
}

void Evaluator::keep(int32_t k, Array array) {
  values_[static_cast<size_t>(k)] = {k, array.dtype, array.shape, true, false, {}};
  storage_[static_cast<size_t>(k)] = std::move(array);
}

// What was written of a result must be what the op gives.
Result<bool> agree(const Define& d, DType dtype, const Dims& written, const Dims& shape) {
  const std::string_view op = tensor::row(d.op).text;
  if (dtype != d.dtype) {
    return Error{fmt::format("the written type is {}, {} gives {}", uop::to_text(d.dtype), op,
                             uop::to_text(dtype)),
                 0, 0};
  }
  if (shape != written) {
    return Error{
        fmt::format("the written shape is {}, {} gives {}", to_text(written), op, to_text(shape)),
        0, 0};
  }
  return true;
}

Result<std::string> Evaluator::device_of(std::span<const Operand> operands) const {
  std::string device;
  for (const Operand& o : operands) {
    if (o.value < 0) continue;
    const std::string& at = devices_[static_cast<size_t>(o.value)];
    if (at.empty() || at == device) continue;
    if (!device.empty()) {
      return Error{fmt::format("values on {} and {} meet; a copy of one has to", device, at), 0, 0};
    }
    device = at;
  }
  return device;
}

Result<bool> Evaluator::place(const Define& d, int32_t k) {
  ASSAY_TRY(device, device_of(d.operands));
  if (d.op == tensor::Op::Input || d.op == tensor::Op::Copy) {
    device = d.device.empty() ? std::string(tensor::kDefaultDevice) : d.device;
  }
  devices_[static_cast<size_t>(k)] = std::move(device);
  return true;
}

// What is computed of no storage is on any device, until it is kept on one, and with it all that is
// computed of it and is on none yet.
Result<bool> Evaluator::force(const tensor::Force& f, size_t k) {
  bool is_placed = false;
  for (const int32_t value : f.values) {
    std::string& device = devices_[static_cast<size_t>(value)];
    is_placed = is_placed || device.empty();
    if (device.empty()) device = tensor::kDefaultDevice;
  }
  for (size_t i = 0; is_placed && i < k; i++) {
    const auto* d = std::get_if<Define>(&program_.statements[i].what);
    if (d == nullptr || !devices_[i].empty()) continue;
    ASSAY_TRY(device, device_of(d->operands));
    devices_[i] = std::move(device);
  }
  return true;
}

Result<bool> Evaluator::define(const Define& d, int32_t k) {
  ASSAY_TRY(placed, place(d, k));
  (void)placed;
  if (d.dtype == uop::Void || d.dtype == uop::Index) {
    return Error{fmt::format("no value has type {}", uop::to_text(d.dtype)), 0, 0};
  }
  ASSAY_TRY(shape, written_shape(d));
  std::list<Array> held;
  const std::vector<const Array*> values = operands_of(d, held);
  ASSAY_TRY(prepared, prepare(d, values));
  const Evaluating e{d, prepared.operands, shape, variables_, licence_, has_fixed_sizes(d), work_};
  const EvaluateRow& row = all_evaluates()[static_cast<size_t>(d.op)];
  if (row.look == nullptr) {
    ASSAY_TRY(array, row.evaluate(e));
    ASSAY_TRY(agreed, agree(d, array.dtype, shape, array.shape));
    (void)agreed;
    keep(k, std::move(array));
    return true;
  }
  ASSAY_TRY(seen, row.look(e));
  ASSAY_TRY(agreed, agree(d, seen.dtype, shape, seen.shape));
  (void)agreed;
  const View& of = at(d.operands[0].value);
  values_[static_cast<size_t>(k)] = seen_through(of, storage_of(of).dtype, std::move(seen));
  return true;
}

Result<bool> Evaluator::write(const Write& w) {
  const Operand meeting[] = {{w.target, {}}, w.value};
  ASSAY_TRY(device, device_of(meeting));
  (void)device;
  const View& target = at(w.target);
  const std::string& name = program_.define(w.target).name;
  Array value{target.dtype, {}, {}};
  if (w.value.is_literal()) {
    const std::optional<Bounded> number = number_at(w.value.literal, target.dtype);
    if (!number) {
      return Error{fmt::format("{} is {}, which the number written to it is not", name,
                               uop::to_text(target.dtype)),
                   0, 0};
    }
    value.elements = Elements::Constant(1, *number);
  } else {
    value = Evaluator::value(w.value.value);
  }
  if (value.dtype != target.dtype) {
    return Error{fmt::format("{} is {}, what is written to it is {}", name,
                             uop::to_text(target.dtype), uop::to_text(value.dtype)),
                 0, 0};
  }
  const Result<Dims> shape = broadcast(value.shape, target.shape);
  if (!shape.ok() || shape.value() != target.shape) {
    return Error{fmt::format("{} is {}, what is written to it is {}", name, to_text(target.shape),
                             to_text(value.shape)),
                 0, 0};
  }
  if (value.shape != target.shape) value = moved(value, expanded(value.shape, target.shape));
  reference::write(target, storage_of(target), std::move(value.elements));
  return true;
}

Result<bool> Evaluator::bind(const Bind& b) {
  const auto k = static_cast<size_t>(b.variable);
  const tensor::Variable& v = program_.variables[k];
  if (b.value < v.lo || b.value > v.hi) {
    return Error{fmt::format("{} is outside {}..{} of {}", b.value, v.lo, v.hi, v.name), 0, 0};
  }
  variables_[k] = b.value;
  return true;
}

}  // namespace

Result<std::vector<Array>> evaluate(const Program& program, const Licence& licence) {
  Evaluator evaluator(program, licence);
  const std::vector<Output> outputs = tensor::outputs(program);
  std::vector<Array> results;
  size_t next = 0;
  for (size_t k = 0; k < program.statements.size(); ++k) {
    Result<bool> done = evaluator.step(k);
    if (!done.ok()) {
      Error error = done.error();
      error.line = program.statements[k].line;
      return error;
    }
    for (; next < outputs.size() && outputs[next].statement == static_cast<int32_t>(k); ++next) {
      results.push_back(evaluator.value(outputs[next].value));
    }
  }
  for (; next < outputs.size(); ++next) results.push_back(evaluator.value(outputs[next].value));
  return results;
}

}  // namespace assay::reference
