#pragma once

#include <string_view>
#include <unordered_map>

#include "engine/result.h"
#include "engine/tensor/program/lexer.h"
#include "engine/tensor/program/program.h"

namespace assay::tensor {

// What a name of a program stands for.
struct Named {
  bool is_variable;
  int32_t place;  // among the variables or the statements
  int line;
};
using Names = std::unordered_map<std::string_view, Named>;

// Words that no value may be called.
bool is_keyword(std::string_view word);
bool starts_literal(const Token& token);

// Each reads one thing from where the tokens stand, and leaves them behind it.
Result<int64_t> read_int(Tokens& tokens, std::string_view what);
// A literal that type t can hold; void takes them all.
Result<Literal> read_literal(Tokens& tokens, DType t);
// As read_literal, or `_`.
Result<Literal> read_expected(Tokens& tokens, DType t);
Result<Size> read_size(Tokens& tokens, const Names& names);
// [4, n]
Result<std::vector<Size>> read_sizes(Tokens& tokens, const Names& names);
Result<DType> read_type(Tokens& tokens);
Result<std::string> read_text(Tokens& tokens);
// "sim:0"
Result<std::string> read_device(Tokens& tokens);
// [1, 2] or 1
Result<std::vector<Literal>> read_data(Tokens& tokens, DType t,
                                       Result<Literal> (*read)(Tokens&, DType));
// The value of an attribute of an op whose written type is t.
Result<AttrValue> read_attr(Tokens& tokens, const OpRow& row, const AttrRow& attr, DType t,
                            const Names& names);

}  // namespace assay::tensor
