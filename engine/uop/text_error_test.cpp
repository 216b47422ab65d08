#include <gtest/gtest.h>

#include <string>

#include "engine/uop/text.h"

namespace assay::uop {
namespace {

// What is wrong with a text, with its place; empty where nothing is.
std::string trouble_of(std::string_view text) {
  Graph g;
  const auto parsed = from_text(g, text);
  return parsed.ok() ? "" : to_string(parsed.error());
}

struct Bad {
  std::string_view text;
  std::string_view trouble;
};

TEST(TextError, NamesWhatIsWrongWithTheFirstLine) {
  constexpr Bad kBad[] = {
      {"", "1:1: expected 'uop', found the end of the text"},
      {"\n\n# only\n", "4:1: expected 'uop', found the end of the text"},
      {"%0 = noop void", "1:1: expected 'uop', found '%0'"},
      {"uop", "1:4: expected the version of the format, found the end of the text"},
      {"uop one x", "1:5: expected the version of the format, found 'one'"},
      {"uop 2 x", "1:5: version 2 of the format is not known, only 1 is"},
      {"uop 01 x", "1:5: version 01 of the format is not known, only 1 is"},
      {"uop 1\n", "1:6: expected the name of a stage, found the end of the line"},
      {"uop 1 Kernel", "1:7: expected the name of a stage, found 'Kernel'"},
      {"uop 1 \"x\"", "1:7: expected the name of a stage, found '\"x\"'"},
      {"uop 1 a b", "1:9: expected the end of the line, found 'b'"},
      {"uop 1 a\n", "2:1: expected a node, found the end of the text"},
  };
  for (const Bad& bad : kBad) EXPECT_EQ(trouble_of(bad.text), bad.trouble) << bad.text;
}

TEST(TextError, NamesWhatIsWrongWithANode) {
  constexpr Bad kBad[] = {
      {"add", "2:1: expected a node, found 'add'"},
      {"% = noop void", "2:1: expected the name of a node after '%'"},
      {"%0 noop void", "2:4: expected '=', found 'noop'"},
      {"%a-b = noop void", "2:3: expected '=', found '-b'"},
      {"%0 =", "2:5: expected an operation, found the end of the text"},
      {"%0 = {", "2:6: expected an operation, found '{'"},
      {"%0 = ad i32", "2:6: unknown operation 'ad'"},
      {"%0 = \x01\xff i32", "2:6: unknown operation '\\x01\\xff'"},
      {"%0 = aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeee i32",
       "2:6: unknown operation 'aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd...'"},
      {"%0 = const f33 1", "2:12: expected a type, found 'f33'"},
      {"%0 = const", "2:11: expected a type, found the end of the text"},
      {"%0 = const i8", "2:14: expected a value of type i8, found the end of the text"},
      {"%0 = const i8 128", "2:15: expected a value of type i8, found '128'"},
      {"%0 = const f32 nan:0x1", "2:16: expected a value of type f32, found 'nan:0x1'"},
      {"%0 = const void 0", "2:17: expected a value of type void, found '0'"},
      {"%0 = const i8 1 {1}", "2:17: expected the end of the line, found '{'"},
      {"%0 = neg i8 %0", "2:13: %0 is not defined yet"},
      {"%0 = neg i8 %", "2:13: % is not defined yet"},
      {"%0 = const i8 1\n%1 = add i8 %0 %7", "3:16: %7 is not defined yet"},
      {"%0 = const i8 1\n%0 = const i8 2", "3:1: %0 is defined already"},
      {"%x = const i8 1\n%x = const i8 2", "3:1: %x is defined already"},
      {"%0 = noop void noop", "2:16: expected a source or the end of the line, found 'noop'"},
      {"%0 = const i8 1\n  %1 = add i8 %0 # x", "3:8: add takes 2 sources, found 1"},
      {"%0 = const i8 1\n%1 = add f32 %0 %0", "3:6: source 1 of add has type i8, expected f32"},
      {"%0 = param f32 {0}\n%1 = reduce f32 %0 {lt 1}",
       "3:6: reduce folds by lt, which has no unit"},
  };
  for (const Bad& bad : kBad) {
    EXPECT_EQ(trouble_of("uop 1 t\n" + std::string(bad.text)), bad.trouble) << bad.text;
  }
}

TEST(TextError, NamesWhatIsWrongWithAnArgument) {
  constexpr Bad kBad[] = {
      {"%0 = param f32", "1:15: expected a source or '{', found the end of the text"},
      {"%0 = param f32 0", "1:16: expected a source or '{', found '0'"},
      {"%0 = sink void 0", "1:16: expected a source or '{', found '0'"},
      {"%0 = noop void {}", "1:16: expected a source or the end of the line, found '{'"},
      {"%0 = param f32 {}", "1:17: expected a number of 64 bits, found '}'"},
      {"%0 = param f32 {1e3}", "1:17: expected a number of 64 bits, found '1e3'"},
      {"%0 = param f32 {9223372036854775808}",
       "1:17: expected a number of 64 bits, found '9223372036854775808'"},
      {"%0 = param f32 {1 2}", "1:19: expected '}', found '2'"},
      {"%0 = param f32 {1", "1:18: expected '}', found the end of the text"},
      {"%0 = param f32 {1} {2}", "1:20: expected the end of the line, found '{'"},
      {"%0 = range i8 {2147483648 loop}", "1:16: expected a number of 32 bits, found '2147483648'"},
      {"%0 = range i8 {1 up}", "1:18: expected a type of axis, found 'up'"},
      {"%0 = buffer i8 {1}", "1:18: expected an address space, found '}'"},
      {"%0 = reduce i8 {1 add}", "1:17: unknown operation '1'"},
      {"%0 = reduce i8 {\"\"}", "1:17: expected an operation, found '\"\"'"},
      {"%0 = reduce i8 {add}", "1:20: expected a number of 32 bits, found '}'"},
      {"%0 = flip i8 {0 x}", "1:17: expected a number of 64 bits, found 'x'"},
      {"%0 = flip i8 {0\n}", "1:16: expected a number of 64 bits, found the end of the line"},
      {"%0 = device void {a}", "1:19: expected a name between quotes, found 'a'"},
      {"%0 = device void {\"a}\n", "1:19: the quote is not closed"},
      {"%0 = device void {\"", "1:19: the quote is not closed"},
      {"%0 = device void {\"\\\"\n", "1:19: the quote is not closed"},
      {"%0 = device void {\"\\", "1:19: the quote is not closed"},
      {"%0 = device void {\"a\\q\"}", "1:21: unknown escape '\\q'"},
      {"%0 = device void {\"\\xg1\"}", "1:20: unknown escape '\\xg1'"},
      {"%0 = device void {\"\\x1\"}", "1:20: unknown escape '\\x1'"},
      {"%0 = device void {\"a\" 1}", "1:23: expected '}', found '1'"},
      {"%0 = var i8 {\"a\" 1 128}", "1:20: expected a value of type i8, found '128'"},
      {"%0 = var i8 {\"a\" 1}", "1:6: var has no bounds or 2, found 1"},
      {"%0 = sink void {1}", "1:17: expected a name between quotes, found '1'"},
      {"%0 = sink void {\"a\" b}", "1:21: expected a number of 64 bits, found 'b'"},
  };
  for (const Bad& bad : kBad) {
    std::string trouble = trouble_of("uop 1 t\n" + std::string(bad.text));
    ASSERT_EQ(trouble.substr(0, 2), "2:") << bad.text;
    trouble[0] = '1';
    EXPECT_EQ(trouble, bad.trouble) << bad.text;
  }
}

}  // namespace
}  // namespace assay::uop
