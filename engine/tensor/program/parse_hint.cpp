#include <fmt/format.h>

#include <algorithm>

#include "engine/tensor/program/parser.h"

namespace assay::tensor {
namespace {

// The words of lists of opts, and whether two numbers follow. What they do, and which are legal, is
// for code generation to say.
struct OptWord {
  std::string_view text;
  bool has_numbers;
};
constexpr OptWord kOpts[] = {
    {"LOCAL", true},    {"UPCAST", true}, {"UNROLL", true}, {"GROUP", true},
    {"GROUPTOP", true}, {"PADTO", true},  {"SWAP", true},   {"NOLOCALS", false},
};
constexpr std::string_view kNone = "NONE";
constexpr std::string_view kLater = "TC";

}  // namespace

// kernel 3: LOCAL(0,8) UPCAST(1,4)
Parser::Done Parser::hint() {
  const int line = tokens_.line();
  const Token word = tokens_.take();
  if (!program_.statements.empty()) {
    return tokens_.error(word.text, "opts of kernels stand before all other statements");
  }
  const std::string_view piece = tokens_.now().text;
  const auto kernel = read_int(tokens_, "the number of a kernel");
  if (!kernel.ok()) return kernel.error();
  if (kernel.value() < 0) return tokens_.error(piece, "kernels are counted from 0");
  const auto at = std::ranges::lower_bound(program_.hints, kernel.value(), {}, &Hint::kernel);
  if (at != program_.hints.end() && at->kernel == kernel.value()) {
    return tokens_.error(
        piece, fmt::format("kernel {} has its opts on line {}", kernel.value(), at->line));
  }
  if (!tokens_.take_if(":")) return tokens_.expected("':'");
  auto list = opts();
  if (!list.ok()) return list.error();
  program_.hints.insert(at, {kernel.value(), std::move(list).value(), line});
  return std::nullopt;
}

Result<std::string> Parser::opts() {
  if (tokens_.take_if(kNone)) return std::string(kNone);
  std::string list;
  do {
    ASSAY_TRY(one, opt());
    if (!list.empty()) list += ' ';
    list += one;
  } while (!tokens_.now().ends_line());
  return list;
}

Result<std::string> Parser::opt() {
  const Token word = tokens_.now();
  if (word.kind != Token::Kind::Word) return tokens_.expected("an opt");
  if (word.text == kLater) {
    return tokens_.error(word.text, fmt::format("'{}' is not in this engine yet", kLater));
  }
  const auto* row = std::ranges::find(kOpts, word.text, &OptWord::text);
  if (row == std::end(kOpts)) {
    return tokens_.error(word.text, fmt::format("there is no opt {}", quoted(word.text)));
  }
  tokens_.take();
  if (!row->has_numbers) return std::string(word.text);
  int64_t numbers[2] = {0, 0};
  for (int64_t& number : numbers) {
    const std::string_view sign = &number == numbers ? "(" : ",";
    if (!tokens_.take_if(sign)) return tokens_.expected(fmt::format("'{}'", sign));
    const std::string_view piece = tokens_.now().text;
    ASSAY_TRY(n, read_int(tokens_, "a number"));
    if (n < 0) return tokens_.error(piece, fmt::format("{} is negative", n));
    number = n;
  }
  if (!tokens_.take_if(")")) return tokens_.expected("')'");
  return fmt::format("{}({},{})", word.text, numbers[0], numbers[1]);
}

}  // namespace assay::tensor
