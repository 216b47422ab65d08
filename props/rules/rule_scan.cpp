#include "props/rules/rule_scan.h"

#include <fmt/format.h>

namespace assay::props {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool RuleScan::is_name(std::string_view word) { return !word.empty() && is_letter(word[0]); }

void RuleScan::skip() {
  while (at_ < text_.size() &&
         std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
    at_++;
}

size_t RuleScan::length() const {
  const std::string_view rest = text_.substr(at_);
  if (rest.empty()) return 0;
  size_t n = 0;
  while (n < rest.size() && (is_letter(rest[n]) || is_digit(rest[n]))) n++;
  if (n > 0) return n;
  for (const std::string_view two : {"=>", "&&", "||", "<=", ">=", "==", "!=", "<<", ">>"}) {
    if (rest.substr(0, 2) == two) return 2;
  }
  return 1;
}

std::string_view RuleScan::next() {
  const std::string_view word = peek();
  at_ += word.size();
  skip();
  return word;
}

bool RuleScan::take(std::string_view word) {
  if (peek() != word) return false;
  next();
  return true;
}

std::optional<Error> RuleScan::expect(std::string_view word) {
  if (take(word)) return std::nullopt;
  return error(fmt::format("expected {}", word));
}

std::optional<std::string_view> RuleScan::label() {
  RuleScan ahead = *this;
  const std::string_view name = ahead.next();
  if (!is_name(name) || !ahead.take(":")) return std::nullopt;
  *this = ahead;
  return name;
}

}  // namespace assay::props
