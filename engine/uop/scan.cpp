#include "engine/uop/scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace assay::uop {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr std::string_view kTokenEnds = " \t\r\n{}=#\"%";

bool is_name_char(char c) {
  return ('0' <= c && c <= '9') || ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || c == '_';
}

}  // namespace

Token Scanner::next() {
  at_ = std::min(text_.find_first_not_of(kBlanks, at_), text_.size());
  if (at_ < text_.size() && text_[at_] == '#') at_ = std::min(text_.find('\n', at_), text_.size());
  if (at_ == text_.size()) return token(Token::Kind::TextEnd, at_);
  switch (text_[at_]) {
    case '\n': return token(Token::Kind::LineEnd, at_ + 1);
    case '{': return token(Token::Kind::Open, at_ + 1);
    case '}': return token(Token::Kind::Close, at_ + 1);
    case '=': return token(Token::Kind::Equals, at_ + 1);
    case '"': return quote();
    case '%': {
      size_t end = at_ + 1;
      while (end < text_.size() && is_name_char(text_[end])) end++;
      return token(Token::Kind::Name, end);
    }
    default:
      return token(Token::Kind::Word, std::min(text_.find_first_of(kTokenEnds, at_), text_.size()));
  }
}

Token Scanner::token(Token::Kind kind, size_t end) {
  const Token t = {kind, text_.substr(at_, end - at_)};
  at_ = end;
  return t;
}

Token Scanner::quote() {
  size_t end = at_ + 1;
  while (end < text_.size() && text_[end] != '\n') {
    if (text_[end] == '"') return token(Token::Kind::Quote, end + 1);
    const bool escapes = text_[end] == '\\' && end + 1 < text_.size() && text_[end + 1] != '\n';
    end += escapes ? 2 : 1;
  }
  return token(Token::Kind::OpenQuote, end);
}

Error Scanner::expected(std::string_view what, Token found) const {
  std::string shown = quoted(found.text);
  if (found.kind == Token::Kind::LineEnd) shown = "the end of the line";
  if (found.kind == Token::Kind::TextEnd) shown = "the end of the text";
  return error(found.text, fmt::format("expected {}, found {}", what, shown));
}

Error Scanner::error(std::string_view piece, std::string message, size_t skip) const {
  const auto offset = static_cast<size_t>(piece.data() - text_.data());
  return error_at(text_, offset + skip, std::move(message));
}

void append_quoted(std::string& out, std::string_view bytes) {
  out += '"';
  for (const char c : bytes) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c >= ' ' && c <= '~') {
      out += c;
    } else {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  out += '"';
}

}  // namespace assay::uop
