#include <string>

#include "engine/check.h"
#include "engine/tensor/program/text.h"
#include "fuzz/targets/target.h"

namespace assay::fuzz {

// Any bytes give a program, which prints and reads back as itself, or an error with a place.
void one_case(std::string_view text) {
  const Result<tensor::Program> parsed = tensor::from_text(text);
  if (!parsed.ok()) {
    const Error& error = parsed.error();
    ASSAY_CHECK(error.line > 0, "{}", error.message);
    ASSAY_CHECK(error.column > 0, "{}", error.message);
    ASSAY_CHECK(!error.message.empty());
    return;
  }
  const tensor::Program& program = parsed.value();
  for (const tensor::Output& output : tensor::outputs(program)) {
    tensor::storage_of(program, output.value);
  }
  const std::string printed = to_text(program);
  const Result<tensor::Program> again = tensor::from_text(printed);
  ASSAY_CHECK(again.ok(), "{}\n{}", to_string(again.error()), printed);
  const std::string twice = to_text(again.value());
  ASSAY_CHECK(twice == printed, "printed\n{}and then\n{}", printed, twice);
}

}  // namespace assay::fuzz
