#include "engine/result.h"

#include <fmt/format.h>

namespace assay {

std::string to_string(const Error& error) {
  if (error.line == 0) return error.message;
  return fmt::format("{}:{}: {}", error.line, error.column, error.message);
}

}  // namespace assay
