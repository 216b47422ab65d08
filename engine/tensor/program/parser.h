#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/tensor/program/text_values.h"

namespace assay::tensor {

// Reads statements one after the other into a program.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), tokens_(text) {}

  Result<Program> run();

 private:
  using Done = std::optional<Error>;

  Done version();
  Done variable();
  Done hint();
  Result<std::string> opts();
  Result<std::string> opt();
  Done statement();
  Done define_or_write();
  Done define(const Token& name);
  Done arguments(Define& define);
  Done argument(Define& define);
  Done attribute(Define& define);
  Done check_arguments(const Define& define, const Token& op, size_t given) const;
  Done place_on_device(Define& define);
  Done write();
  Done force();
  Done bind();
  Done expect();
  Done expected_error(Expect& expect);
  Done line_end();

  Result<Token> new_name(std::string_view what);
  Result<int32_t> value(std::string_view what);
  Result<Operand> operand(DType t);
  Done check_count(const std::vector<Literal>& data, const Define& define,
                   std::string_view piece) const;

  void add(int line, decltype(Statement::what) what) {
    program_.statements.push_back({line, std::move(what)});
  }

  std::string_view text_;
  Tokens tokens_;
  Program program_;
  Names names_;
  std::vector<int64_t> bound_;  // the variables' values at this statement
};

// Words of later engines.
bool is_reserved(std::string_view word);

}  // namespace assay::tensor
