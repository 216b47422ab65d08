#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace assay {

// What went wrong, and where in the text it was read from: line and column count from 1. A line of
// 0 means that the trouble has no place in a text, a column of 0 that it is with all of the line.
struct Error {
  std::string message;
  int line = 0;
  int column = 0;
};

// "3:14: expected an operand", or the message alone where there is no place.
std::string to_string(const Error& error);

// An error at a byte of the text that was read. A column is a byte of its line.
Error error_at(std::string_view text, size_t offset, std::string message);

// A piece of a text as messages quote it: 'add'. Bytes that do not print are escaped and a long
// piece is cut.
std::string quoted(std::string_view piece);

// A value, or the error that stood in its way.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return state_.index() == 0; }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

}  // namespace assay

// Declares `name` as the value of a Result, or returns the Result's error from this function.
#define ASSAY_TRY(name, expression)                      \
  auto name##_result = (expression);                     \
  if (!name##_result.ok()) return name##_result.error(); \
  auto name = std::move(name##_result).value()
