#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/tensor/program/program.h"

// Edits of the list of statements, in which values are named by place.
namespace assay::fuzz {

// Calls `use(value)` for every value that a statement names, which `use` may change.
template <typename Statement, typename Use>
void for_each_value(Statement& statement, Use use) {
  std::visit(
      [&](auto& s) {
        using What = std::remove_cvref_t<decltype(s)>;
        if constexpr (std::is_same_v<What, tensor::Define>) {
          for (auto& o : s.operands) {
            if (o.value >= 0) use(o.value);
          }
        } else if constexpr (std::is_same_v<What, tensor::Write>) {
          use(s.target);
          if (s.value.value >= 0) use(s.value.value);
        } else if constexpr (std::is_same_v<What, tensor::Force>) {
          for (auto& value : s.values) use(value);
        } else if constexpr (std::is_same_v<What, tensor::Expect>) {
          if (s.may_be_value()) use(s.value);
        }
      },
      statement.what);
}

inline const tensor::Define* define_at(const tensor::Program& p, size_t at) {
  return std::get_if<tensor::Define>(&p.statements[at].what);
}
inline tensor::Define* define_at(tensor::Program& p, size_t at) {
  return std::get_if<tensor::Define>(&p.statements[at].what);
}

// Leaves out the statements that are not kept; what is kept names none of them.
void keep_only(tensor::Program& program, const std::vector<char>& is_kept);
// Marks also whatever cannot be without what is marked: in defines and writes that name it. A force
// loses the values that are gone, and is gone with the last.
void drop_with_users(tensor::Program& program, std::vector<char> is_dropped);
// Which statements are needed for those that are wanted: values that they name, and writes to the
// storage of what is needed.
std::vector<char> needed_by(const tensor::Program& program, std::vector<char> wanted);
// Puts statements before place `at`. They name their own values by the places that they get.
void insert_at(tensor::Program& program, size_t at, std::vector<tensor::Statement> statements);
// Asks for values at the end.
void append_force(tensor::Program& program, std::vector<int32_t> values);
// The statement at `from` goes to `to`, all others keeping their order; false, and nothing is
// done, where a value would be named before it is defined.
bool move_statement(tensor::Program& program, size_t from, size_t to);
// Statements that say what is expected become forces, and hints for kernels that may no longer be
// there are left out: what a program keeps that is about to be changed.
void forget_expectations(tensor::Program& program);
// Values and variables whose names are taken by an earlier one get others.
void make_names_unique(tensor::Program& program);

}  // namespace assay::fuzz
