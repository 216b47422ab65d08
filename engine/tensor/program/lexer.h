#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/result.h"

namespace assay::tensor {

// A piece of .tp text.
struct Token {
  enum class Kind : uint8_t {
    Word,    // a name or a keyword
    Number,  // digits, with a fraction and an exponent or without; the sign is a token of its own
    Quote,   // "…" with its quotes
    OpenQuote,  // one that its line does not close
    Sign,       // ( ) [ ] , : = := + - * // % ..
    Other,      // what no text has
    LineEnd,
    TextEnd,
  };
  Kind kind = Kind::TextEnd;
  std::string_view text;  // part of the text that is read

  bool is(std::string_view sign) const { return kind == Kind::Sign && text == sign; }
  bool is_word(std::string_view word) const { return kind == Kind::Word && text == word; }
  bool ends_line() const { return kind == Kind::LineEnd || kind == Kind::TextEnd; }
};

// The tokens of a text from front to back, with one of lookahead. Spaces and comments are skipped;
// a line break is a token, and after the last token there is only TextEnd.
class Tokens {
 public:
  // From a byte of the text on.
  explicit Tokens(std::string_view text, size_t at = 0);

  const Token& now() const { return now_; }
  const Token& next() const { return next_; }
  // Steps to the next token and returns the one that stood here.
  Token take();
  // Steps over the sign or word if it stands here.
  bool take_if(std::string_view text);
  // The line of the token that stands here, from 1.
  int line() const { return line_; }
  // The byte after the token that stands here.
  size_t end_of_now() const { return offset(now_.text) + now_.text.size(); }

  // The error that `what` should stand here.
  Error expected(std::string_view what) const;
  // An error at a piece of the text.
  Error error(std::string_view piece, std::string message) const;

 private:
  size_t offset(std::string_view piece) const {
    return static_cast<size_t>(piece.data() - text_.data());
  }
  Token lex();
  Token token(Token::Kind kind, size_t end);
  Token quote();
  size_t end_of_number() const;

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
  Token now_;
  Token next_;
};

}  // namespace assay::tensor
