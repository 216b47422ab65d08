#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/result.h"

namespace assay::uop {

// A piece of .uop text.
struct Token {
  enum class Kind : uint8_t {
    Word,       // an operation, a type, a number, …: what no other kind holds
    Name,       // %7; the sign alone is one too
    Quote,      // "n" with its quotes
    OpenQuote,  // one that its line does not close
    Open,
    Close,
    Equals,
    LineEnd,
    TextEnd,
  };
  Kind kind;
  std::string_view text;  // part of the text that is scanned

  bool ends_line() const { return kind == Kind::LineEnd || kind == Kind::TextEnd; }
};

// Takes a text apart from front to back. Spaces and comments are skipped; a line break is a token,
// and after the last token there is only TextEnd.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  Token next();
  // The error that `expected` should stand where the token does.
  Error expected(std::string_view what, Token found) const;
  // An error at a piece of the text, or where that begins and `skip` bytes on.
  Error error(std::string_view piece, std::string message, size_t skip = 0) const;

 private:
  Token token(Token::Kind kind, size_t end);
  Token quote();

  std::string_view text_;
  size_t at_ = 0;
};

// Between quotes, with \" \\ \n \t for what they stand for and \xHH for all other bytes that ASCII
// does not print.
void append_quoted(std::string& out, std::string_view bytes);

}  // namespace assay::uop
