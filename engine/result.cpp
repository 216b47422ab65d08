#include "engine/result.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay {

std::string to_string(const Error& error) {
  if (error.line == 0) return error.message;
  if (error.column == 0) return fmt::format("{}: {}", error.line, error.message);
  return fmt::format("{}:{}: {}", error.line, error.column, error.message);
}

Error error_at(std::string_view text, size_t offset, std::string message) {
  const std::string_view before = text.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t line_start = before.rfind('\n') + 1;  // 0 where there is none
  return {std::move(message), static_cast<int>(line), static_cast<int>(offset - line_start + 1)};
}

std::string quoted(std::string_view piece) {
  constexpr size_t kMostShown = 40;
  std::string shown = "'";
  for (const char c : piece.substr(0, kMostShown)) {
    const bool prints = c >= ' ' && c <= '~';
    shown += prints ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return shown + (piece.size() > kMostShown ? "...'" : "'");
}

}  // namespace assay
