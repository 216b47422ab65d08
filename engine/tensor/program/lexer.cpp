#include "engine/tensor/program/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace assay::tensor {
namespace {

bool is_digit(char c) { return '0' <= c && c <= '9'; }
bool is_letter(char c) { return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || c == '_'; }

constexpr std::string_view kOneCharSigns = "()[],:=+-*%";
constexpr std::string_view kPairs[] = {":=", "//", ".."};

}  // namespace

Tokens::Tokens(std::string_view text, size_t at) : text_(text), at_(at) {
  line_ = 1 + static_cast<int>(std::ranges::count(text.substr(0, at), '\n'));
  now_ = lex();
  next_ = lex();
}

Token Tokens::take() {
  const Token taken = now_;
  if (taken.kind == Token::Kind::LineEnd) line_++;
  now_ = next_;
  next_ = lex();
  return taken;
}

bool Tokens::take_if(std::string_view text) {
  if (!now_.is(text) && !now_.is_word(text)) return false;
  take();
  return true;
}

Token Tokens::lex() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) {
    at_++;
  }
  if (at_ < text_.size() && text_[at_] == '#') at_ = std::min(text_.find('\n', at_), text_.size());
  if (at_ == text_.size()) return token(Token::Kind::TextEnd, at_);
  const char c = text_[at_];
  size_t end = at_ + 1;
  if (is_letter(c)) {
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) end++;
    return token(Token::Kind::Word, end);
  }
  if (is_digit(c)) return token(Token::Kind::Number, end_of_number());
  if (c == '\n') return token(Token::Kind::LineEnd, end);
  if (c == '"') return quote();
  const std::string_view pair = text_.substr(at_, 2);
  if (std::ranges::find(kPairs, pair) != std::end(kPairs)) return token(Token::Kind::Sign, end + 1);
  const bool is_sign = kOneCharSigns.find(c) != std::string_view::npos;
  return token(is_sign ? Token::Kind::Sign : Token::Kind::Other, end);
}

// Digits, then ".5" but not "..", then "e-7"; letters that follow are part of it, so that 4x is no
// number followed by a name.
size_t Tokens::end_of_number() const {
  const auto at = [&](size_t i) { return i < text_.size() ? text_[i] : '\0'; };
  size_t end = at_;
  while (is_digit(at(end))) end++;
  if (at(end) == '.' && at(end + 1) != '.') {
    end++;
    while (is_digit(at(end))) end++;
  }
  const bool has_sign = at(end + 1) == '-' || at(end + 1) == '+';
  if ((at(end) == 'e' || at(end) == 'E') && has_sign) end += 2;
  while (is_digit(at(end)) || is_letter(at(end))) end++;
  return end;
}

Token Tokens::token(Token::Kind kind, size_t end) {
  const Token t = {kind, text_.substr(at_, end - at_)};
  at_ = end;
  return t;
}

Token Tokens::quote() {
  size_t end = at_ + 1;
  while (end < text_.size() && text_[end] != '\n') {
    if (text_[end] == '"') return token(Token::Kind::Quote, end + 1);
    const bool escapes = text_[end] == '\\' && end + 1 < text_.size() && text_[end + 1] != '\n';
    end += escapes ? 2 : 1;
  }
  return token(Token::Kind::OpenQuote, end);
}

Error Tokens::expected(std::string_view what) const {
  std::string shown = quoted(now_.text);
  if (now_.kind == Token::Kind::LineEnd) shown = "the end of the line";
  if (now_.kind == Token::Kind::TextEnd) shown = "the end of the text";
  return error(now_.text, fmt::format("expected {}, found {}", what, shown));
}

Error Tokens::error(std::string_view piece, std::string message) const {
  return error_at(text_, offset(piece), std::move(message));
}

}  // namespace assay::tensor
