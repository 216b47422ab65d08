#include "fuzz/onnx/onnx.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/check.h"
#include "engine/tensor/program/text.h"

namespace assay::fuzz::onnx {
namespace {

const OpRow* row_of(std::string_view op) {
  for (const auto rows :
       {elementwise_ops(), reduce_ops(), shape_ops(), index_ops(), window_ops(), norm_ops()}) {
    const auto found = std::ranges::find(rows, op, &OpRow::op);
    if (found != rows.end()) return &*found;
  }
  return nullptr;
}

}  // namespace

Result<Imported> import_line(std::string_view line) {
  ASSAY_TRY(source, case_from_json(line));
  const OpRow* row = row_of(source.op);
  if (row == nullptr) {
    return Imported{source.name, "", fmt::format("{} is not imported", source.op)};
  }
  Writer w(source);
  row->write(w);
  if (w.error()) return *w.error();
  if (w.reason()) return Imported{source.name, "", fmt::format("{}: {}", source.op, *w.reason())};
  const std::string text = w.finish();
  if (w.error()) return *w.error();
  const auto program = tensor::from_text(text);
  if (!program.ok()) {
    return Error{
        fmt::format("the program of {} is none: {}", source.name, to_string(program.error()))};
  }
  return Imported{source.name, to_text(program.value()), std::nullopt};
}

}  // namespace assay::fuzz::onnx
