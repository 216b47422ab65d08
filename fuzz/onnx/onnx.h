#pragma once

#include <optional>
#include <span>
#include <string>

#include "engine/result.h"
#include "fuzz/onnx/writer.h"

namespace assay::fuzz::onnx {

// What a case becomes: the text of a program that expects its outputs, or why there is none.
struct Imported {
  std::string name;
  std::string text;
  std::optional<std::string> reason;
};
// A line of a file of cases. An error says why it is no case.
Result<Imported> import_line(std::string_view line);

// How one operator is written.
struct OpRow {
  std::string_view op;
  void (*write)(Writer& w);
};
std::span<const OpRow> elementwise_ops();
std::span<const OpRow> reduce_ops();
std::span<const OpRow> shape_ops();
std::span<const OpRow> index_ops();
std::span<const OpRow> window_ops();
std::span<const OpRow> norm_ops();

}  // namespace assay::fuzz::onnx
