#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/result.h"

namespace assay::props {

// The words of a rule's text, one after the other: names, numbers, operators.
class RuleScan {
 public:
  explicit RuleScan(std::string_view text) : text_(text) { skip(); }

  // The next word, which is left where it is; "" at the end.
  std::string_view peek() const { return text_.substr(at_, length()); }
  std::string_view next();
  bool take(std::string_view word);
  // An error unless the next word is this one.
  std::optional<Error> expect(std::string_view word);
  // "name" of "name: match => …", unless the colon is the one before the types.
  std::optional<std::string_view> label();
  bool at_end() const { return at_ == text_.size(); }
  size_t offset() const { return at_; }

  Error error(std::string message) const { return error_at(at_, std::move(message)); }
  Error error_at(size_t offset, std::string message) const {
    return assay::error_at(text_, offset, std::move(message));
  }

  static bool is_name(std::string_view word);

 private:
  size_t length() const;
  void skip();

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace assay::props
